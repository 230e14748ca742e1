/* SPDX-License-Identifier: MIT */
/*
 * test_alert.c - a thread that the kernel shows asleep in an alertable wait: what came first ends the wait, and what
 * came second stays.
 */
#include "tests/support/asleep.h"
#include "tests/support/win32_test.h"

#include <sched.h>
#include <stdatomic.h>

struct sleeper {
    HANDLE thread, object;
    atomic_int number;
    DWORD result, error;
    unsigned called;
};

static void CALLBACK call(ULONG_PTR data)
{
    ((struct sleeper *)data)->called++;
}

static DWORD WINAPI wait_for_object(LPVOID argument)
{
    struct sleeper *sleeper = argument;

    atomic_store(&sleeper->number, thread_number());
    sleeper->result = WaitForSingleObjectEx(sleeper->object, INFINITE, TRUE);
    return 0;
}

static DWORD WINAPI wait_at_port(LPVOID argument)
{
    struct sleeper *sleeper = argument;
    OVERLAPPED_ENTRY entry;
    ULONG taken;

    atomic_store(&sleeper->number, thread_number());
    sleeper->result =
        GetQueuedCompletionStatusEx(sleeper->object, &entry, 1, &taken, INFINITE, TRUE);
    sleeper->error = GetLastError();
    return 0;
}

static DWORD WINAPI sleep_on(LPVOID argument)
{
    struct sleeper *sleeper = argument;

    atomic_store(&sleeper->number, thread_number());
    sleeper->result = SleepEx(INFINITE, TRUE);
    return 0;
}

/* Returns when the thread sleeps; it does nothing but its wait. */
static void start(struct sleeper *sleeper, HANDLE object, LPTHREAD_START_ROUTINE wait)
{
    *sleeper = (struct sleeper){ .object = object };
    assert_non_null(sleeper->thread = CreateThread(NULL, 0, wait, sleeper, 0, NULL));
    while (!atomic_load(&sleeper->number) || !thread_is_asleep(atomic_load(&sleeper->number)))
        sched_yield();
}

static void queue(struct sleeper *sleeper)
{
    assert_int_equal(QueueUserAPC(call, sleeper->thread, (ULONG_PTR)sleeper), 1);
}

static void join(struct sleeper *sleeper)
{
    assert_wait(WaitForSingleObject(sleeper->thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(sleeper->thread));
}

static void test_call_wakes_a_sleeping_thread(void **state)
{
    struct sleeper sleeper;

    (void)state;
    start(&sleeper, NULL, sleep_on);
    queue(&sleeper);
    join(&sleeper);
    assert_int_equal(sleeper.result, SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(sleeper.called, 1);
}

static void test_signal_after_the_call_stays(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);
    struct sleeper sleeper;

    (void)state;
    start(&sleeper, event, wait_for_object);
    queue(&sleeper);
    assert_true(SetEvent(event));
    join(&sleeper);
    assert_int_equal(sleeper.result, SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(sleeper.called, 1);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(event));
}

static void test_call_after_the_signal_stays(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);
    struct sleeper sleeper;

    (void)state;
    start(&sleeper, event, wait_for_object);
    assert_true(SetEvent(event));
    QueueUserAPC(call, sleeper.thread, (ULONG_PTR)&sleeper); /* fails once the thread has ended */
    join(&sleeper);
    assert_int_equal(sleeper.result, WAIT_OBJECT_0);
    assert_int_equal(sleeper.called, 0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(event));
}

static void test_packet_after_the_call_stays(void **state)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    struct sleeper sleeper;
    OVERLAPPED *overlapped;
    ULONG_PTR key;
    DWORD bytes;

    (void)state;
    start(&sleeper, port, wait_at_port);
    queue(&sleeper);
    assert_true(PostQueuedCompletionStatus(port, 1, 2, NULL));
    join(&sleeper);
    assert_int_equal(sleeper.result, FALSE);
    assert_int_equal(sleeper.error, SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(sleeper.called, 1);
    assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, 0));
    assert_int_equal(key, 2);
    assert_true(CloseHandle(port));
}

static void test_call_after_the_packet_stays(void **state)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    struct sleeper sleeper;

    (void)state;
    start(&sleeper, port, wait_at_port);
    assert_true(PostQueuedCompletionStatus(port, 1, 2, NULL));
    QueueUserAPC(call, sleeper.thread, (ULONG_PTR)&sleeper);
    join(&sleeper);
    assert_int_equal(sleeper.result, TRUE);
    assert_int_equal(sleeper.called, 0);
    assert_true(CloseHandle(port));
}

/* The packet goes to the thread below, whose wait began before that of the one that the call takes away. */
static void test_packet_passes_over_a_thread_that_a_call_took(void **state)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    struct sleeper first, second;

    (void)state;
    start(&first, port, wait_at_port);
    start(&second, port, wait_at_port);
    queue(&second);
    assert_true(PostQueuedCompletionStatus(port, 1, 2, NULL));
    join(&second);
    join(&first);
    assert_int_equal(second.result, FALSE);
    assert_int_equal(second.error, SPEC_WAIT_IO_COMPLETION);
    assert_int_equal(first.result, TRUE);
    assert_true(CloseHandle(port));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_call_wakes_a_sleeping_thread),
        cmocka_unit_test(test_signal_after_the_call_stays),
        cmocka_unit_test(test_call_after_the_signal_stays),
        cmocka_unit_test(test_packet_after_the_call_stays),
        cmocka_unit_test(test_call_after_the_packet_stays),
        cmocka_unit_test(test_packet_passes_over_a_thread_that_a_call_took),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
