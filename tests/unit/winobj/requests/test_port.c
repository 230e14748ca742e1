/* SPDX-License-Identifier: MIT */
/* test_port.c - completion ports with packets of the program's own. */
#include "tests/support/win32_test.h"

#include <pthread.h>

static HANDLE port_new(void)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);

    assert_non_null(port);
    return port;
}

static void test_port_is_first_in_first_out(void **state)
{
    HANDLE port = port_new();
    OVERLAPPED overlapped[3];

    (void)state;
    for (unsigned i = 0; i < 3; i++)
        assert_true(PostQueuedCompletionStatus(port, 10 + i, 20 + i, &overlapped[i]));
    for (unsigned i = 0; i < 3; i++) {
        OVERLAPPED *got = NULL;
        ULONG_PTR key = 0;
        DWORD bytes = 0;

        assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0));
        assert_int_equal(bytes, 10 + i);
        assert_int_equal(key, 20 + i);
        assert_ptr_equal(got, &overlapped[i]);
    }
    assert_true(CloseHandle(port));
}

static void test_port_null_overlapped_passes(void **state)
{
    HANDLE port = port_new();
    OVERLAPPED *got = (OVERLAPPED *)8;
    ULONG_PTR key = 0;
    DWORD bytes = 0;

    (void)state;
    assert_true(PostQueuedCompletionStatus(port, 1, 2, NULL));
    assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &got, INFINITE));
    assert_null(got);
    assert_int_equal(bytes, 1);
    assert_int_equal(key, 2);
    assert_true(CloseHandle(port));
}

static void test_port_empty_times_out(void **state)
{
    HANDLE port = port_new();
    OVERLAPPED *got = (OVERLAPPED *)8;
    ULONG_PTR key = 77;
    DWORD bytes = 78;

    (void)state;
    assert_fails(GetQueuedCompletionStatus(port, &bytes, &key, &got, 0), SPEC_WAIT_TIMEOUT);
    assert_null(got);
    got = (OVERLAPPED *)8;
    assert_fails(GetQueuedCompletionStatus(port, &bytes, &key, &got, 20), SPEC_WAIT_TIMEOUT);
    assert_null(got);
    assert_int_equal(key, 77);
    assert_int_equal(bytes, 78);
    assert_true(CloseHandle(port));
}

static void test_port_bad_arguments(void **state)
{
    HANDLE port = port_new(), event = CreateEventW(NULL, TRUE, FALSE, NULL);
    OVERLAPPED_ENTRY entry;
    ULONG_PTR key = 0;
    ULONG removed;
    DWORD bytes = 0;

    (void)state;
    (void)key;
    (void)bytes;
    assert_fails(
        CreateIoCompletionPort(INVALID_HANDLE_VALUE, port, 0, 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CreateIoCompletionPort(event, NULL, 0, 0), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(CreateIoCompletionPort(event, port, 0, 0), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(CreateIoCompletionPort(NULL, port, 0, 0), SPEC_ERROR_INVALID_HANDLE);
#ifndef _WIN32 /* no place for results, or for none: Wine does not look */
    assert_fails(
        GetQueuedCompletionStatus(port, &bytes, &key, NULL, 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(GetQueuedCompletionStatusEx(port, &entry, 0, &removed, 0, FALSE),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(GetQueuedCompletionStatusEx(port, NULL, 1, &removed, 0, FALSE),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        GetQueuedCompletionStatusEx(port, &entry, 1, NULL, 0, FALSE), SPEC_ERROR_INVALID_PARAMETER);
#endif
    assert_fails(GetQueuedCompletionStatusEx(event, &entry, 1, &removed, 0, FALSE),
        SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(port));
    assert_true(CloseHandle(event));
}

static void test_port_several_at_once(void **state)
{
    HANDLE port = port_new();
    OVERLAPPED overlapped;
    OVERLAPPED_ENTRY entries[100];
    ULONG removed = 99;

    (void)state;
    assert_fails(
        GetQueuedCompletionStatusEx(port, entries, 100, &removed, 0, FALSE), SPEC_WAIT_TIMEOUT);
    assert_int_equal(removed, DIFFERS(0, 1, "the count after a timeout: Windows gives either"));
    for (unsigned i = 0; i < 150; i++)
        assert_true(PostQueuedCompletionStatus(port, i, i, &overlapped));
    assert_true(GetQueuedCompletionStatusEx(port, entries, 100, &removed, INFINITE, FALSE));
    assert_int_equal(removed, 100);
    for (unsigned i = 0; i < 100; i++) {
        assert_int_equal(entries[i].lpCompletionKey, i);
        assert_int_equal(entries[i].dwNumberOfBytesTransferred, i);
        assert_ptr_equal(entries[i].lpOverlapped, &overlapped);
        assert_int_equal((LONG)entries[i].Internal, 0);
    }
    assert_true(GetQueuedCompletionStatusEx(port, entries, 100, &removed, INFINITE, TRUE));
    assert_int_equal(removed, 50);
    assert_int_equal(entries[49].lpCompletionKey, 149);
    assert_true(CloseHandle(port));
}

#ifndef _WIN32 /* the port is closed during waits: Windows ends them the same way, in Wine they go on */
#include "tests/support/asleep.h"

#include <stdatomic.h>

struct taker {
    HANDLE port;
    atomic_int thread;
    BOOL result;
    DWORD error;
    OVERLAPPED *overlapped;
};

static void *take_one(void *argument)
{
    struct taker *taker = argument;
    ULONG_PTR key;
    DWORD bytes;

    atomic_store(&taker->thread, thread_number());
    taker->overlapped = (OVERLAPPED *)8;
    taker->result =
        GetQueuedCompletionStatus(taker->port, &bytes, &key, &taker->overlapped, INFINITE);
    taker->error = GetLastError();
    return NULL;
}

/* Closing the port wakes the waiting threads; a thread that begins too late, in every other round, finds no handle. */
static void test_port_close_ends_waits(void **state)
{
    enum { THREADS = 4 };

    (void)state;
    for (int round = 0; round < 20; round++) {
        struct taker takers[THREADS];
        pthread_t threads[THREADS];
        HANDLE port = port_new();

        for (int i = 0; i < THREADS; i++) {
            takers[i].port = port;
            atomic_init(&takers[i].thread, 0);
            assert_int_equal(pthread_create(&threads[i], NULL, take_one, &takers[i]), 0);
        }
        for (int i = 0; round % 2 && i < THREADS; i++)
            assert_true(SETTLES(thread_is_asleep(atomic_load(&takers[i].thread))));
        assert_true(CloseHandle(port));
        for (int i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            assert_false(takers[i].result);
            assert_null(takers[i].overlapped);
            assert_true(takers[i].error == SPEC_ERROR_ABANDONED_WAIT_0 ||
                        (!(round % 2) && takers[i].error == SPEC_ERROR_INVALID_HANDLE));
        }
    }
}
#endif

struct many {
    HANDLE port;
    volatile LONG taken;
    volatile LONG64 sum;
};

static void *take_until_end(void *argument)
{
    struct many *many = argument;
    OVERLAPPED *overlapped;
    ULONG_PTR key;
    DWORD bytes;

    while (GetQueuedCompletionStatus(many->port, &bytes, &key, &overlapped, LONG_MS) && key) {
        InterlockedExchangeAdd64(&many->sum, (LONG64)key);
        InterlockedIncrement(&many->taken);
    }
    return NULL;
}

static void *post_many(void *argument)
{
    struct many *many = argument;

    for (ULONG_PTR i = 1; i <= 2000; i++)
        if (!PostQueuedCompletionStatus(many->port, 0, i, NULL))
            return many;
    return NULL;
}

static void test_port_many_threads_lose_nothing(void **state)
{
    enum { POSTERS = 4, TAKERS = 6 };
    struct many many = { .port = port_new() };
    pthread_t posters[POSTERS], takers[TAKERS];
    void *failed;

    (void)state;
    for (int i = 0; i < TAKERS; i++)
        assert_int_equal(pthread_create(&takers[i], NULL, take_until_end, &many), 0);
    for (int i = 0; i < POSTERS; i++)
        assert_int_equal(pthread_create(&posters[i], NULL, post_many, &many), 0);
    for (int i = 0; i < POSTERS; i++) {
        pthread_join(posters[i], &failed);
        assert_null(failed);
    }
    for (int i = 0; i < TAKERS; i++)
        assert_true(PostQueuedCompletionStatus(many.port, 0, 0, NULL));
    for (int i = 0; i < TAKERS; i++)
        pthread_join(takers[i], NULL);
    assert_int_equal(many.taken, POSTERS * 2000);
    assert_int_equal(many.sum, POSTERS * (LONG64)2000 * 2001 / 2);
    assert_true(CloseHandle(many.port));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_port_is_first_in_first_out),
        cmocka_unit_test(test_port_null_overlapped_passes),
        cmocka_unit_test(test_port_empty_times_out),
        cmocka_unit_test(test_port_bad_arguments),
        cmocka_unit_test(test_port_several_at_once),
#ifndef _WIN32
        cmocka_unit_test(test_port_close_ends_waits),
#endif
        cmocka_unit_test(test_port_many_threads_lose_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
