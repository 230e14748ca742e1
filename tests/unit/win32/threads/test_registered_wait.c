/* SPDX-License-Identifier: MIT */
/* test_registered_wait.c - RegisterWaitForSingleObject, and the forms of UnregisterWaitEx. */
#include "tests/unit/win32/threads/calls.h"

#include <stdio.h>

#define NOW INVALID_HANDLE_VALUE

static volatile LONG timeouts;

static void forget(void **state)
{
    forget_calls(state);
    timeouts = 0;
}

static VOID CALLBACK note(PVOID context, BOOLEAN timed_out)
{
    if (context != &calls)
        return;
    if (timed_out)
        InterlockedIncrement(&timeouts);
    InterlockedIncrement(&calls);
    SetEvent(called);
}

/* Waits for leave to go on, and takes its time after that. */
static VOID CALLBACK stay(PVOID context, BOOLEAN timed_out)
{
    note(context, timed_out);
    WaitForSingleObject(go, LONG_MS);
    Sleep(20);
    InterlockedIncrement(&ended);
}

static VOID CALLBACK count_inside(PVOID context, BOOLEAN timed_out)
{
    LONG now = InterlockedIncrement(&inside);

    if (now > most)
        most = now;
    SwitchToThread();
    InterlockedDecrement(&inside);
    note(context, timed_out);
}

static HANDLE wait_for(HANDLE object, WAITORTIMERCALLBACK function, ULONG timeout_ms, ULONG flags)
{
    HANDLE wait = NULL;

    assert_true(
        RegisterWaitForSingleObject(&wait, object, function, (PVOID)&calls, timeout_ms, flags));
    assert_non_null(wait);
    return wait;
}

static void test_each_signal_of_an_event_makes_a_call(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL), wait;

    forget(state);
    wait = wait_for(event, note, INFINITE, WT_EXECUTEDEFAULT);
    for (LONG i = 1; i <= 50; i++) {
        assert_true(SetEvent(event));
        await_calls(i);
        assert_int_equal(now_in(&calls), i);
    }
    assert_int_equal(timeouts, 0);
    assert_true(UnregisterWaitEx(wait, NOW));
    assert_true(SetEvent(event));
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0); /* no wait took it */
    assert_int_equal(calls, 50);
    assert_true(CloseHandle(event));
}

static void test_signal_that_was_there_makes_a_call(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, TRUE, NULL), wait;

    forget(state);
    wait = wait_for(event, note, LONG_MS, WT_EXECUTEDEFAULT);
    await_calls(1);
    assert_true(UnregisterWaitEx(wait, NOW));
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_int_equal(calls, 1);
    assert_int_equal(timeouts, 0);
    assert_true(CloseHandle(event));
}

static void test_each_time_makes_a_call(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL), wait;
    const LONG times = DIFFERS(3, 1, "Wine calls for the first time only");
    ULONGLONG start = GetTickCount64();

    forget(state);
    wait = wait_for(event, note, 20, WT_EXECUTEDEFAULT);
    await_calls(times);
    assert_true(GetTickCount64() - start + 17 >=
                20 * (ULONGLONG)times); /* Windows' tick lasts up to 16 ms */
    assert_true(UnregisterWaitEx(wait, NOW));
    assert_int_equal(timeouts, calls);
    assert_true(CloseHandle(event));
}

static void test_no_time_makes_a_call_at_once(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL), wait;

    forget(state);
    wait = wait_for(event, note, 0, WT_EXECUTEONLYONCE);
    await_calls(1);
    assert_true(UnregisterWaitEx(wait, NOW));
    assert_int_equal(calls, 1);
    assert_int_equal(timeouts, 1);
    assert_true(CloseHandle(event));
}

static void test_once_takes_one_signal(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL), wait, another;

    forget(state);
    wait = wait_for(event, note, INFINITE, WT_EXECUTEONLYONCE);
    assert_true(SetEvent(event));
    await_calls(1);
    assert_true(SetEvent(event));
    another = wait_for(event, note, INFINITE, WT_EXECUTEONLYONCE); /* takes the second */
    await_calls(2);
    assert_true(UnregisterWaitEx(another, NOW));
    assert_true(UnregisterWaitEx(wait, NOW));
    assert_int_equal(calls, 2);
    assert_int_equal(timeouts, 0);
    assert_true(CloseHandle(event));
}

static void test_object_that_stays_signalled_is_for_once(void **state)
{
    HANDLE event = CreateEventW(NULL, TRUE, TRUE, NULL), wait;

    forget(state);
    wait = wait_for(event, note, INFINITE, WT_EXECUTEONLYONCE);
    await_calls(1);
    assert_true(UnregisterWaitEx(wait, NOW));
    assert_int_equal(calls, 1);
    wait = wait_for(event, note, INFINITE, WT_EXECUTEDEFAULT); /* over and over */
    await_calls(20);
    assert_true(ResetEvent(event));
    assert_true(UnregisterWaitEx(wait, NOW));
    assert_true(CloseHandle(event));
}

static void test_each_unit_of_a_semaphore_makes_a_call(void **state)
{
    HANDLE semaphore = CreateSemaphoreW(NULL, 2, 100, NULL), wait;

    forget(state);
    wait = wait_for(semaphore, note, INFINITE, WT_EXECUTEDEFAULT);
    assert_true(ReleaseSemaphore(semaphore, 8, NULL));
    await_calls(10);
    assert_wait(WaitForSingleObject(semaphore, 0), WAIT_TIMEOUT);
    assert_true(UnregisterWaitEx(wait, NOW));
    assert_int_equal(calls, 10);
    assert_true(CloseHandle(semaphore));
}

static void test_calls_in_the_wait_thread_do_not_overlap(void **state)
{
    HANDLE semaphore = CreateSemaphoreW(NULL, 0, 100, NULL), wait;

    forget(state);
    wait = wait_for(semaphore, count_inside, INFINITE, WT_EXECUTEINWAITTHREAD);
    assert_true(ReleaseSemaphore(semaphore, 100, NULL));
    await_calls(100);
    assert_true(UnregisterWaitEx(wait, NOW));
    assert_int_equal(calls, 100);
    assert_int_equal(most, 1);
    assert_true(CloseHandle(semaphore));
}

static DWORD WINAPI end_at_once(LPVOID parameter)
{
    (void)parameter;
    return 0;
}

static void test_end_of_a_thread_makes_a_call(void **state)
{
    HANDLE thread = CreateThread(NULL, 0, end_at_once, NULL, CREATE_SUSPENDED, NULL), wait;

    forget(state);
    assert_non_null(thread);
    wait = wait_for(thread, note, INFINITE, WT_EXECUTEONLYONCE);
    assert_int_equal(now_in(&calls), 0);
    assert_int_equal(ResumeThread(thread), 1);
    await_calls(1);
    assert_true(UnregisterWaitEx(wait, NOW));
    assert_true(CloseHandle(thread));
}

static void test_object_with_a_name(void **state)
{
    char name[64];
    HANDLE event, other, wait;

    forget(state);
    snprintf(name, sizeof(name), "ndspi.registered.%lu", (unsigned long)GetCurrentProcessId());
    assert_non_null(event = CreateEventA(NULL, FALSE, FALSE, name));
    assert_non_null(other = OpenEventA(EVENT_ALL_ACCESS, FALSE, name));
    wait = wait_for(event, note, LONG_MS, WT_EXECUTEDEFAULT);
    for (LONG i = 1; i <= 20; i++) {
        assert_true(SetEvent(other));
        await_calls(i);
    }
    assert_true(UnregisterWaitEx(wait, NOW));
    assert_true(SetEvent(other));
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    wait = wait_for(event, note, 1, WT_EXECUTEONLYONCE);
    await_calls(21);
    assert_int_equal(timeouts, 1);
    assert_true(UnregisterWaitEx(wait, NOW));
    assert_int_equal(calls, 21);
    assert_true(CloseHandle(other));
    assert_true(CloseHandle(event));
}

static void test_unregister_waits_for_the_call_that_runs(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, TRUE, NULL), wait;

    forget(state);
    wait = wait_for(event, stay, INFINITE, WT_EXECUTEDEFAULT);
    await_calls(1);
    assert_true(SetEvent(go));
    assert_true(UnregisterWaitEx(wait, NOW));
    assert_int_equal(ended, 1);
    assert_true(CloseHandle(event));
}

static void test_unregister_signals_an_event_after_the_call_that_runs(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, TRUE, NULL), wait;
    HANDLE done = CreateEventW(NULL, TRUE, FALSE, NULL);

    forget(state);
    wait = wait_for(event, stay, INFINITE, WT_EXECUTELONGFUNCTION);
    await_calls(1);
    assert_fails(UnregisterWaitEx(wait, done), SPEC_ERROR_IO_PENDING);
    assert_wait(WaitForSingleObject(done, 20), WAIT_TIMEOUT);
    assert_true(SetEvent(go));
    assert_wait(WaitForSingleObject(done, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(ended, 1);
    assert_true(ResetEvent(done));
    wait = wait_for(event, note, INFINITE, WT_EXECUTEDEFAULT);
    assert_true(UnregisterWaitEx(wait, done)); /* no call */
    assert_wait(WaitForSingleObject(done, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(calls, 1);
    wait = wait_for(event, note, INFINITE, WT_EXECUTEDEFAULT);
    assert_true(UnregisterWait(wait));
    assert_true(CloseHandle(done));
    assert_true(CloseHandle(event));
}

static struct {
    HANDLE wait, ready;
    BOOL result;
    DWORD error;
} own;

static VOID CALLBACK unregister_own(PVOID context, BOOLEAN timed_out)
{
    WaitForSingleObject(own.ready, LONG_MS);
    SetLastError(0xdead);
    own.result = UnregisterWait(own.wait);
    own.error = GetLastError();
    note(context, timed_out);
}

static void test_wait_is_unregistered_in_its_own_call(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL);

    forget(state);
    own.ready = CreateEventW(NULL, TRUE, FALSE, NULL);
    own.wait = wait_for(event, unregister_own, INFINITE, WT_EXECUTEDEFAULT);
    assert_true(SetEvent(own.ready));
    assert_true(SetEvent(event));
    await_calls(1);
    assert_false(own.result);
    assert_int_equal(own.error, SPEC_ERROR_IO_PENDING);
    assert_true(SetEvent(event));
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(own.ready));
    assert_true(CloseHandle(event));
}

enum { MANY = 200 };

static void test_more_waits_than_one_thread_could_have(void **state)
{
    static HANDLE events[MANY], waits[MANY];

    forget(state);
    for (int i = 0; i < MANY; i++) {
        events[i] = CreateEventW(NULL, i % 2, FALSE, NULL);
        waits[i] = wait_for(events[i], note, i % 3 ? INFINITE : LONG_MS, WT_EXECUTEONLYONCE);
    }
    for (int i = 0; i < MANY; i++)
        assert_true(SetEvent(events[i]));
    await_calls(MANY);
    for (int i = 0; i < MANY; i++) {
        assert_true(UnregisterWaitEx(waits[i], NOW));
        assert_true(CloseHandle(events[i]));
    }
    assert_int_equal(calls, MANY);
    assert_int_equal(timeouts, 0);
}

static void test_bad_arguments(void **state)
{
#ifndef _WIN32 /* Wine takes any handle, function, flag, and ended wait; a value that is no wait ends programs */
    HANDLE closed = CreateEventW(NULL, TRUE, FALSE, NULL), wait;

    assert_true(CloseHandle(closed));
    assert_fails(RegisterWaitForSingleObject(&wait, NULL, note, NULL, INFINITE, 0),
        SPEC_ERROR_INVALID_HANDLE);
    assert_fails(RegisterWaitForSingleObject(&wait, closed, note, NULL, INFINITE, 0),
        SPEC_ERROR_INVALID_HANDLE);
    assert_fails(RegisterWaitForSingleObject(NULL, called, note, NULL, INFINITE, 0),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(RegisterWaitForSingleObject(&wait, called, NULL, NULL, INFINITE, 0),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(RegisterWaitForSingleObject(&wait, called, note, NULL, INFINITE, 0x200),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(UnregisterWait(called), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(UnregisterWait(NOW), SPEC_ERROR_INVALID_HANDLE);
    wait = wait_for(go, note, INFINITE, 0);
    assert_fails(CloseHandle(wait), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(UnregisterWaitEx(wait, wait), SPEC_ERROR_INVALID_HANDLE); /* no event */
    assert_true(UnregisterWait(wait));
    assert_fails(UnregisterWait(wait), SPEC_ERROR_INVALID_HANDLE);
#endif
    forget(state);
    assert_fails(UnregisterWait(NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(UnregisterWaitEx(NULL, NULL), SPEC_ERROR_INVALID_HANDLE);
}

#ifndef _WIN32 /* Wine drops calls that have not begun, takes mutexes, and a call may wait for its own end */
static DWORD WINAPI set_it(LPVOID event)
{
    SetEvent(event);
    return 0;
}

/* The signal goes to the call, or stays with the event. */
static void test_no_signal_is_lost_by_the_end_of_a_wait(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL), wait;

    for (int i = 0; i < 500; i++) {
        forget(state);
        wait = wait_for(event, note, i % 5 ? INFINITE : 0, i % 2 ? WT_EXECUTEONLYONCE : 0);
        assert_true(QueueUserWorkItem(set_it, event, 0));
        if (i % 3)
            SwitchToThread();
        assert_true(UnregisterWaitEx(wait, NOW));
        if (calls == timeouts)
            assert_wait(WaitForSingleObject(event, LONG_MS), WAIT_OBJECT_0);
        else
            assert_int_equal(calls, timeouts + 1);
        assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    }
    assert_true(CloseHandle(event));
}

/* A wait for a mutex would acquire it for a thread that never comes back to it. */
static void test_mutex_is_refused(void **state)
{
    HANDLE mutex = CreateMutexW(NULL, FALSE, NULL), wait = &mutex;

    forget(state);
    assert_fails(RegisterWaitForSingleObject(&wait, mutex, note, (PVOID)&calls, INFINITE, 0),
        SPEC_ERROR_NOT_SUPPORTED);
    assert_null(wait);
    assert_true(CloseHandle(mutex));
}

static VOID CALLBACK wait_for_own(PVOID context, BOOLEAN timed_out)
{
    WaitForSingleObject(own.ready, LONG_MS);
    SetLastError(0xdead);
    own.result = UnregisterWaitEx(own.wait, NOW);
    own.error = GetLastError();
    note(context, timed_out);
}

static void test_a_call_does_not_wait_for_its_own_end(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, TRUE, NULL);

    forget(state);
    own.ready = CreateEventW(NULL, TRUE, FALSE, NULL);
    own.wait = wait_for(event, wait_for_own, INFINITE, 0);
    assert_true(SetEvent(own.ready));
    await_calls(1);
    assert_true(SetEvent(event)); /* it goes on */
    await_calls(2);
    assert_true(UnregisterWaitEx(own.wait, NOW));
    assert_false(own.result);
    assert_int_equal(own.error, SPEC_ERROR_POSSIBLE_DEADLOCK);
    assert_true(CloseHandle(own.ready));
    assert_true(CloseHandle(event));
}

/* The wait holds the object: its handle is closed, a second one signals. */
static void test_object_lives_as_long_as_the_wait(void **state)
{
    HANDLE event = CreateEventW(NULL, FALSE, FALSE, NULL), wait, second;

    forget(state);
    assert_true(DuplicateHandle(
        GetCurrentProcess(), event, GetCurrentProcess(), &second, 0, FALSE, DUPLICATE_SAME_ACCESS));
    wait = wait_for(event, note, INFINITE, 0);
    assert_true(CloseHandle(event));
    assert_true(SetEvent(second));
    await_calls(1);
    assert_true(CloseHandle(second));
    assert_true(UnregisterWaitEx(wait, NOW));
}
/* The wait has the last reference of the object: with the wait the name goes. */
static void test_name_is_free_when_the_wait_is_unregistered(void **state)
{
    enum { ROUNDS = 2000 };
    char name[64];

    (void)state;
    snprintf(name, sizeof(name), "registered.%u", (unsigned)GetCurrentProcessId());
    for (int i = 0; i < ROUNDS; i++) {
        HANDLE event = CreateEventA(NULL, FALSE, FALSE, name), wait;

        forget(state);
        assert_non_null(event);
        assert_win_error(SPEC_ERROR_SUCCESS);
        wait = wait_for(event, note, INFINITE, WT_EXECUTEDEFAULT);
        if (i % 2) {
            assert_true(SetEvent(event));
            await_calls(1);
        }
        assert_true(CloseHandle(event));
        assert_true(UnregisterWaitEx(wait, NOW));
        assert_fails(OpenEventA(EVENT_ALL_ACCESS, FALSE, name), SPEC_ERROR_FILE_NOT_FOUND);
    }
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_signal_of_an_event_makes_a_call),
        cmocka_unit_test(test_signal_that_was_there_makes_a_call),
        cmocka_unit_test(test_each_time_makes_a_call),
        cmocka_unit_test(test_no_time_makes_a_call_at_once),
        cmocka_unit_test(test_once_takes_one_signal),
        cmocka_unit_test(test_object_that_stays_signalled_is_for_once),
        cmocka_unit_test(test_each_unit_of_a_semaphore_makes_a_call),
        cmocka_unit_test(test_calls_in_the_wait_thread_do_not_overlap),
        cmocka_unit_test(test_end_of_a_thread_makes_a_call),
        cmocka_unit_test(test_object_with_a_name),
        cmocka_unit_test(test_unregister_waits_for_the_call_that_runs),
        cmocka_unit_test(test_unregister_signals_an_event_after_the_call_that_runs),
        cmocka_unit_test(test_wait_is_unregistered_in_its_own_call),
        cmocka_unit_test(test_more_waits_than_one_thread_could_have),
        cmocka_unit_test(test_bad_arguments),
#ifndef _WIN32
        cmocka_unit_test(test_no_signal_is_lost_by_the_end_of_a_wait),
        cmocka_unit_test(test_mutex_is_refused),
        cmocka_unit_test(test_a_call_does_not_wait_for_its_own_end),
        cmocka_unit_test(test_object_lives_as_long_as_the_wait),
        cmocka_unit_test(test_name_is_free_when_the_wait_is_unregistered),
#endif
    };

    called = CreateEventW(NULL, FALSE, FALSE, NULL);
    go = CreateEventW(NULL, TRUE, FALSE, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
