/* SPDX-License-Identifier: MIT */
/* test_wait.c - waits for several objects. */
#include "tests/support/win32_test.h"

#include <pthread.h>

static HANDLE manual(BOOL signalled)
{
    return CreateEventW(NULL, TRUE, signalled, NULL);
}

static HANDLE automatic(BOOL signalled)
{
    return CreateEventW(NULL, FALSE, signalled, NULL);
}

static void close_all(HANDLE *handles, unsigned count)
{
    while (count)
        assert_true(CloseHandle(handles[--count]));
}

static void test_wait_any_takes_the_lowest(void **state)
{
    HANDLE events[3] = { automatic(FALSE), automatic(TRUE), automatic(TRUE) };

    (void)state;
    assert_wait(WaitForMultipleObjects(3, events, FALSE, INFINITE), WAIT_OBJECT_0 + 1);
    assert_wait(WaitForMultipleObjects(3, events, FALSE, INFINITE), WAIT_OBJECT_0 + 2);
    assert_wait(WaitForMultipleObjects(3, events, FALSE, 0), WAIT_TIMEOUT);
    close_all(events, 3);
}

static void test_wait_all_takes_all_or_none(void **state)
{
    HANDLE events[3] = { automatic(TRUE), automatic(FALSE), manual(TRUE) };

    (void)state;
    assert_wait(WaitForMultipleObjects(3, events, TRUE, 20), WAIT_TIMEOUT);
    assert_wait(WaitForSingleObject(events[0], 0), WAIT_OBJECT_0); /* was left alone */
    assert_true(SetEvent(events[0]));
    assert_true(SetEvent(events[1]));
    assert_wait(WaitForMultipleObjects(3, events, TRUE, INFINITE), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(events[0], 0), WAIT_TIMEOUT);
    assert_wait(WaitForSingleObject(events[1], 0), WAIT_TIMEOUT);
    assert_wait(WaitForSingleObject(events[2], 0), WAIT_OBJECT_0);
    close_all(events, 3);
}

static void test_wait_bad_arguments(void **state)
{
    HANDLE event = manual(TRUE), handles[65];

    (void)state;
    for (int i = 0; i < 65; i++)
        handles[i] = event;
    SetLastError(0);
    assert_wait(WaitForMultipleObjects(0, handles, FALSE, 0), WAIT_FAILED);
    assert_win_error(SPEC_ERROR_INVALID_PARAMETER);
    SetLastError(0);
    assert_wait(WaitForMultipleObjects(65, handles, FALSE, 0), WAIT_FAILED);
    assert_win_error(SPEC_ERROR_INVALID_PARAMETER);
#ifndef _WIN32 /* handles at NULL end the program there */
    SetLastError(0);
    assert_wait(WaitForMultipleObjects(1, NULL, FALSE, 0), WAIT_FAILED);
    assert_win_error(SPEC_ERROR_INVALID_PARAMETER);
#endif
    /* One object twice: fine for any, not for all. */
    assert_wait(WaitForMultipleObjects(64, handles, FALSE, 0), WAIT_OBJECT_0);
    SetLastError(0);
    assert_wait(WaitForMultipleObjects(2, handles, TRUE, 0),
        DIFFERS(WAIT_FAILED, WAIT_OBJECT_0, "one object twice, wait for all: Windows refuses it"));
    assert_win_error(DIFFERS(
        SPEC_ERROR_INVALID_PARAMETER, 0, "one object twice, wait for all: Windows refuses it"));
    handles[1] = NULL;
    SetLastError(0);
    assert_wait(WaitForMultipleObjects(2, handles, FALSE, 0), WAIT_FAILED);
    assert_win_error(SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(event));
}

static void test_wait_any_of_64(void **state)
{
    HANDLE events[64];

    (void)state;
    for (int i = 0; i < 64; i++)
        events[i] = automatic(FALSE);
    for (unsigned i = 0; i < 64; i += 9) {
        assert_true(SetEvent(events[i]));
        assert_wait(WaitForMultipleObjects(64, events, FALSE, INFINITE), WAIT_OBJECT_0 + i);
    }
    assert_wait(WaitForMultipleObjects(64, events, FALSE, 1), WAIT_TIMEOUT);
    close_all(events, 64);
}

static void *set_in_turn(void *argument)
{
    HANDLE *events = argument;

    for (int i = 0; i < 3; i++)
        SetEvent(events[i]);
    return NULL;
}

static void test_wait_all_is_ended_by_the_last_signal(void **state)
{
    HANDLE events[3] = { automatic(FALSE), automatic(FALSE), automatic(FALSE) };

    (void)state;
    for (int i = 0; i < 200; i++) {
        pthread_t thread;

        assert_int_equal(pthread_create(&thread, NULL, set_in_turn, events), 0);
        assert_wait(WaitForMultipleObjects(3, events, TRUE, LONG_MS), WAIT_OBJECT_0);
        pthread_join(thread, NULL);
        assert_wait(WaitForMultipleObjects(3, events, FALSE, 0), WAIT_TIMEOUT);
    }
    close_all(events, 3);
}

static void *set_and_reset(void *argument)
{
    HANDLE *events = argument;

    WaitForSingleObject(events[1], LONG_MS);
    SetEvent(events[0]);
    ResetEvent(events[0]);
    return NULL;
}

struct brief {
    HANDLE event, waiting;
    DWORD result;
};

static void *wait_briefly(void *argument)
{
    struct brief *brief = argument;

    SetEvent(brief->waiting);
    brief->result = WaitForSingleObject(brief->event, 200);
    return NULL;
}

/* A thread that is in its wait when the event is set is released even if the event is reset at once. */
static void test_wait_ends_though_the_event_is_reset(void **state)
{
    HANDLE events[2] = { manual(FALSE), automatic(FALSE) };
    struct brief brief = { events[0], events[1], WAIT_FAILED };
    int released = 0;

    (void)state;
    /* Whether the thread is in its wait already cannot be seen from outside: some of many rounds must hit it. */
    for (int i = 0; i < 50 && !released; i++) {
        pthread_t waiting, setting;

        assert_int_equal(pthread_create(&waiting, NULL, wait_briefly, &brief), 0);
        assert_int_equal(pthread_create(&setting, NULL, set_and_reset, events), 0);
        pthread_join(waiting, NULL);
        pthread_join(setting, NULL);
        released = brief.result == WAIT_OBJECT_0;
        assert_true(released || brief.result == WAIT_TIMEOUT);
        assert_true(ResetEvent(events[1]));
    }
    assert_true(released);
    close_all(events, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wait_any_takes_the_lowest),
        cmocka_unit_test(test_wait_all_takes_all_or_none),
        cmocka_unit_test(test_wait_bad_arguments),
        cmocka_unit_test(test_wait_any_of_64),
        cmocka_unit_test(test_wait_all_is_ended_by_the_last_signal),
        cmocka_unit_test(test_wait_ends_though_the_event_is_reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
