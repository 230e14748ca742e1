/* SPDX-License-Identifier: MIT */
/* test_event.c - manual- and auto-reset events. */
#include "tests/support/win32_test.h"

#include <pthread.h>

static void test_event_manual_stays_signalled(void **state)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);

    (void)state;
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_true(SetEvent(event));
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(event, INFINITE), WAIT_OBJECT_0);
    assert_true(ResetEvent(event));
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(event));
}

static void test_event_auto_is_taken_by_one_wait(void **state)
{
    HANDLE event = CreateEventA(NULL, FALSE, TRUE, NULL);

    (void)state;
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_true(SetEvent(event));
    assert_true(SetEvent(event)); /* a signal, not a count */
    assert_wait(WaitForSingleObject(event, 10), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(event));
}

static void test_event_create_clears_the_last_error(void **state)
{
    HANDLE event;

    (void)state;
    SetLastError(87);
    event = CreateEventW(NULL, TRUE, FALSE, NULL);
    assert_win_error(0);
    assert_true(CloseHandle(event));
}

static void test_event_timeout_lasts_as_long(void **state)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);
    ULONGLONG before = GetTickCount64();

    (void)state;
    assert_wait(WaitForSingleObject(event, 50), WAIT_TIMEOUT);
    assert_true(GetTickCount64() - before >= 49); /* the tick may be up to one millisecond old */
    assert_true(CloseHandle(event));
}

struct release {
    HANDLE event, ready;
    volatile LONG released;
    LONG threads;
};

static void *wait_and_count(void *argument)
{
    struct release *release = argument;

    if (WaitForSingleObject(release->event, LONG_MS) == WAIT_OBJECT_0 &&
        InterlockedIncrement(&release->released) == release->threads)
        SetEvent(release->ready);
    return NULL;
}

static void test_event_manual_releases_all(void **state)
{
    enum { THREADS = 20 };
    struct release release = { .event = CreateEventW(NULL, TRUE, FALSE, NULL),
        .ready = CreateEventW(NULL, TRUE, FALSE, NULL),
        .threads = THREADS };
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_and_count, &release), 0);
    assert_true(SetEvent(release.event));
    assert_wait(WaitForSingleObject(release.ready, LONG_MS), WAIT_OBJECT_0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(release.released, THREADS);
    assert_true(CloseHandle(release.event));
    assert_true(CloseHandle(release.ready));
}

/* Each signal of an auto-reset event releases one thread: all of them need as many signals as there are threads. */
static void test_event_auto_releases_one_each(void **state)
{
    enum { THREADS = 8 };
    struct release release = { .event = CreateEventW(NULL, FALSE, FALSE, NULL),
        .ready = CreateEventW(NULL, FALSE, FALSE, NULL) };
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, wait_and_count, &release), 0);
    for (LONG i = 1; i <= THREADS; i++) {
        release.threads = i;
        assert_true(SetEvent(release.event));
        assert_wait(WaitForSingleObject(release.ready, LONG_MS), WAIT_OBJECT_0);
        assert_int_equal(release.released, i);
        assert_wait(WaitForSingleObject(release.event, 0), WAIT_TIMEOUT);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_true(CloseHandle(release.event));
    assert_true(CloseHandle(release.ready));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event_manual_stays_signalled),
        cmocka_unit_test(test_event_auto_is_taken_by_one_wait),
        cmocka_unit_test(test_event_create_clears_the_last_error),
        cmocka_unit_test(test_event_timeout_lasts_as_long),
        cmocka_unit_test(test_event_manual_releases_all),
        cmocka_unit_test(test_event_auto_releases_one_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
