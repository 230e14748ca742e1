/* SPDX-License-Identifier: MIT */
/*
 * test_asleep.c - threads that the kernel shows asleep in their wait before anything happens: which one is woken, by
 * what, and in which order.
 */
#include "tests/support/win32_test.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

enum { SLEEPERS = 4 };

struct sleeper {
    HANDLE object;
    atomic_int tid;
    DWORD result, error;
    ULONG_PTR key;
    pthread_t thread;
};

static bool is_asleep(struct sleeper *sleeper)
{
    char path[64], state = 0;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", atomic_load(&sleeper->tid));
    if (!(file = fopen(path, "r")))
        return false;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    fclose(file);
    return state == 'S';
}

/* Returns when the thread sleeps; it does nothing but to wait for the object. */
static void start(struct sleeper *sleeper, HANDLE object, void *(*wait)(void *))
{
    *sleeper = (struct sleeper){ .object = object };
    assert_int_equal(pthread_create(&sleeper->thread, NULL, wait, sleeper), 0);
    while (!atomic_load(&sleeper->tid) || !is_asleep(sleeper))
        sched_yield();
}

static void *wait_for_object(void *argument)
{
    struct sleeper *sleeper = argument;

    atomic_store(&sleeper->tid, gettid());
    sleeper->result = WaitForSingleObject(sleeper->object, INFINITE);
    return NULL;
}

static void *wait_at_port(void *argument)
{
    struct sleeper *sleeper = argument;
    OVERLAPPED *overlapped;
    DWORD bytes;

    atomic_store(&sleeper->tid, gettid());
    sleeper->result =
        GetQueuedCompletionStatus(sleeper->object, &bytes, &sleeper->key, &overlapped, INFINITE);
    sleeper->error = GetLastError();
    return NULL;
}

static void test_one_signal_wakes_every_wait_it_satisfies(void **state)
{
    HANDLE event = CreateEventA(NULL, TRUE, FALSE, NULL);
    struct sleeper sleepers[SLEEPERS];

    (void)state;
    for (int i = 0; i < SLEEPERS; i++)
        start(&sleepers[i], event, wait_for_object);
    assert_true(SetEvent(event));
    for (int i = 0; i < SLEEPERS; i++) {
        pthread_join(sleepers[i].thread, NULL);
        assert_wait(sleepers[i].result, WAIT_OBJECT_0);
    }
    assert_true(CloseHandle(event));
}

/* The handle that a wait began with is not needed for its end. */
static void test_a_wait_outlives_its_handle(void **state)
{
    HANDLE event = CreateEventA(NULL, TRUE, FALSE, NULL), other, here = GetCurrentProcess();
    struct sleeper sleeper;

    (void)state;
    assert_true(DuplicateHandle(here, event, here, &other, 0, FALSE, DUPLICATE_SAME_ACCESS));
    start(&sleeper, other, wait_for_object);
    assert_true(CloseHandle(other));
    assert_true(SetEvent(event));
    pthread_join(sleeper.thread, NULL);
    assert_wait(sleeper.result, WAIT_OBJECT_0);
    assert_true(CloseHandle(event));
}

/* Its caches are warm. */
static void test_a_port_serves_the_thread_that_came_last(void **state)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    struct sleeper sleepers[SLEEPERS];

    (void)state;
    for (int i = 0; i < SLEEPERS; i++)
        start(&sleepers[i], port, wait_at_port);
    for (int i = SLEEPERS - 1; i >= 0; i--) {
        assert_true(PostQueuedCompletionStatus(port, 0, 100 + (ULONG_PTR)i, NULL));
        pthread_join(sleepers[i].thread, NULL);
        assert_true(sleepers[i].result);
        assert_int_equal(sleepers[i].key, 100 + i);
    }
    assert_true(CloseHandle(port));
}

static void test_closing_a_port_wakes_who_waits(void **state)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    struct sleeper sleepers[SLEEPERS];

    (void)state;
    for (int i = 0; i < SLEEPERS; i++)
        start(&sleepers[i], port, wait_at_port);
    assert_true(CloseHandle(port));
    for (int i = 0; i < SLEEPERS; i++) {
        pthread_join(sleepers[i].thread, NULL);
        assert_false(sleepers[i].result);
        assert_int_equal(sleepers[i].error, SPEC_ERROR_ABANDONED_WAIT_0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_signal_wakes_every_wait_it_satisfies),
        cmocka_unit_test(test_a_wait_outlives_its_handle),
        cmocka_unit_test(test_a_port_serves_the_thread_that_came_last),
        cmocka_unit_test(test_closing_a_port_wakes_who_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
