/* SPDX-License-Identifier: MIT */
/* test_timer_queue.c - timer queues, and the forms of deleting what is in them. */
#include "tests/unit/win32/threads/calls.h"

#define NOW INVALID_HANDLE_VALUE

static VOID CALLBACK note(PVOID parameter, BOOLEAN timed_out)
{
    if (parameter != &calls || timed_out != TRUE)
        return;
    InterlockedIncrement(&calls);
    SetEvent(called);
}

/* Waits for leave to go on, and takes its time after that. */
static VOID CALLBACK stay(PVOID parameter, BOOLEAN timed_out)
{
    note(parameter, timed_out);
    WaitForSingleObject(go, LONG_MS);
    Sleep(20);
    InterlockedIncrement(&ended);
}

/* Calls how many of it run at once. */
static VOID CALLBACK count_inside(PVOID parameter, BOOLEAN timed_out)
{
    LONG now = InterlockedIncrement(&inside);

    if (now > most)
        most = now;
    SwitchToThread();
    InterlockedDecrement(&inside);
    note(parameter, timed_out);
}

/* What a timer that is set now for so many milliseconds would have done has been done. */
static void pass(DWORD ms)
{
    HANDLE timer;
    LONG before = now_in(&calls);

    assert_true(CreateTimerQueueTimer(&timer, NULL, note, (PVOID)&calls, ms, 0, WT_EXECUTEDEFAULT));
    await_calls(before + 1);
    assert_true(DeleteTimerQueueTimer(NULL, timer, NOW));
    assert_int_equal(calls, before + 1);
    calls = before;
}

static void test_timer_calls_once(void **state)
{
    HANDLE queue = CreateTimerQueue(), timer = NULL;
    ULONGLONG start = GetTickCount64();

    forget_calls(state);
    assert_non_null(queue);
    assert_true(
        CreateTimerQueueTimer(&timer, queue, note, (PVOID)&calls, 40, 0, WT_EXECUTEDEFAULT));
    assert_non_null(timer);
    await_calls(1);
    assert_true(GetTickCount64() - start + 17 >= 40); /* Windows' tick lasts up to 16 ms */
    pass(40);
    assert_int_equal(calls, 1);
    assert_true(DeleteTimerQueueTimer(queue, timer, NOW));
    assert_true(DeleteTimerQueueEx(queue, NOW));
}

static void test_timer_with_a_period_calls_until_it_is_deleted(void **state)
{
    HANDLE queue = CreateTimerQueue(), timer;
    ULONGLONG start = GetTickCount64();

    forget_calls(state);
    assert_true(CreateTimerQueueTimer(&timer, queue, note, (PVOID)&calls, 0, 10, 0));
    await_calls(5);
    assert_true(GetTickCount64() - start + 17 >= 40);
    assert_true(DeleteTimerQueueTimer(queue, timer, NOW));
    calls = 0;
    pass(50);
    assert_int_equal(calls, 0);
    assert_true(DeleteTimerQueueEx(queue, NOW));
}

static void test_flags_of_kinds_of_threads(void **state)
{
    static const ULONG flags[] = { WT_EXECUTEDEFAULT, WT_EXECUTEINTIMERTHREAD, WT_EXECUTEINIOTHREAD,
        WT_EXECUTEINPERSISTENTTHREAD, WT_EXECUTELONGFUNCTION, WT_EXECUTEONLYONCE };
    HANDLE timers[6];

    forget_calls(state);
    for (int i = 0; i < 6; i++)
        assert_true(
            CreateTimerQueueTimer(&timers[i], NULL, note, (PVOID)&calls, (DWORD)i, 0, flags[i]));
    await_calls(6);
    for (int i = 0; i < 6; i++)
        assert_true(DeleteTimerQueueTimer(NULL, timers[i], NOW));
    assert_int_equal(calls, 6);
}

static void test_delete_waits_for_the_call_that_runs(void **state)
{
    HANDLE timer;

    forget_calls(state);
    assert_true(CreateTimerQueueTimer(&timer, NULL, stay, (PVOID)&calls, 0, 0, 0));
    await_calls(1);
    assert_true(SetEvent(go));
    assert_true(DeleteTimerQueueTimer(NULL, timer, NOW));
    assert_int_equal(ended, 1);
}

static void test_delete_signals_an_event_after_the_call_that_runs(void **state)
{
    HANDLE done = CreateEventW(NULL, TRUE, FALSE, NULL), timer;

    forget_calls(state);
    assert_true(CreateTimerQueueTimer(&timer, NULL, stay, (PVOID)&calls, 0, 0, 0));
    await_calls(1);
    assert_fails(DeleteTimerQueueTimer(NULL, timer, done), SPEC_ERROR_IO_PENDING);
    assert_wait(WaitForSingleObject(done, 20), WAIT_TIMEOUT);
    assert_true(SetEvent(go));
    assert_wait(WaitForSingleObject(done, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(ended, 1);
    assert_true(ResetEvent(done));
    assert_true(CreateTimerQueueTimer(&timer, NULL, note, (PVOID)&calls, LONG_MS, 0, 0));
    assert_true(DeleteTimerQueueTimer(NULL, timer, done)); /* no call */
    assert_wait(WaitForSingleObject(done, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(calls, 1);
    assert_true(CloseHandle(done));
}

static struct {
    HANDLE queue, timer, ready;
    BOOL result;
    DWORD error;
} own;

static VOID CALLBACK delete_own(PVOID parameter, BOOLEAN timed_out)
{
    WaitForSingleObject(own.ready, LONG_MS);
    SetLastError(0xdead);
    own.result = DeleteTimerQueueTimer(own.queue, own.timer, NULL);
    own.error = GetLastError();
    note(parameter, timed_out);
}

static void test_timer_is_deleted_in_its_own_call(void **state)
{
    forget_calls(state);
    own.ready = CreateEventW(NULL, TRUE, FALSE, NULL);
    own.queue = CreateTimerQueue();
    assert_true(
        CreateTimerQueueTimer(&own.timer, own.queue, delete_own, (PVOID)&calls, 1, LONG_MS, 0));
    assert_true(SetEvent(own.ready));
    await_calls(1);
    assert_false(own.result);
    assert_int_equal(own.error, SPEC_ERROR_IO_PENDING);
    assert_true(DeleteTimerQueueEx(own.queue, NOW));
    assert_int_equal(calls, 1);
    assert_true(CloseHandle(own.ready));
}

static VOID CALLBACK set_go(PVOID parameter, BOOLEAN timed_out)
{
    (void)parameter;
    (void)timed_out;
    SetEvent(go);
}

/* Makes another timer of the queue, whose time comes before that of a third one, which it waits for. */
static VOID CALLBACK delete_another(PVOID parameter, BOOLEAN timed_out)
{
    HANDLE other = NULL, later = NULL;

    own.result = CreateTimerQueueTimer(
                     &other, own.queue, count_inside, parameter, 0, 1, WT_EXECUTEINTIMERTHREAD) &&
                 CreateTimerQueueTimer(&later, NULL, set_go, NULL, 20, 0, 0) &&
                 !WaitForSingleObject(go, LONG_MS) &&
                 DeleteTimerQueueTimer(own.queue, other, NOW) &&
                 DeleteTimerQueueTimer(NULL, later, NOW);
    note(parameter, timed_out);
}

static void test_call_in_the_timer_thread_deletes_a_timer_that_has_expired(void **state)
{
    HANDLE timer;

    forget_calls(state);
    own.result = FALSE;
    own.queue = CreateTimerQueue();
    assert_true(CreateTimerQueueTimer(
        &timer, own.queue, delete_another, (PVOID)&calls, 0, 0, WT_EXECUTEINTIMERTHREAD));
    await_calls(1);
    assert_true(own.result);
    assert_true(DeleteTimerQueueEx(own.queue, NOW));
    assert_int_equal(calls, 1); /* none of the deleted one */
}

static void test_queue_is_deleted_with_its_timers(void **state)
{
    HANDLE queue = CreateTimerQueue(), timers[3];

    forget_calls(state);
    assert_true(CreateTimerQueueTimer(&timers[0], queue, stay, (PVOID)&calls, 0, 0, 0));
    assert_true(CreateTimerQueueTimer(&timers[1], queue, note, (PVOID)&calls, LONG_MS, 0, 0));
    assert_true(CreateTimerQueueTimer(&timers[2], queue, note, (PVOID)&calls, LONG_MS, 7, 0));
    await_calls(1);
    assert_true(SetEvent(go));
    assert_true(DeleteTimerQueueEx(queue, NOW));
    assert_int_equal(ended, 1);
    assert_int_equal(calls, 1);
    assert_non_null(queue = CreateTimerQueue());
    assert_true(DeleteTimerQueueEx(queue, NOW));
}

static void test_timer_is_changed(void **state)
{
    HANDLE queue = CreateTimerQueue(), timer;

    forget_calls(state);
    assert_true(CreateTimerQueueTimer(&timer, queue, note, (PVOID)&calls, LONG_MS, LONG_MS, 0));
    assert_true(ChangeTimerQueueTimer(queue, timer, 0, LONG_MS));
    await_calls(1);
    assert_true(ChangeTimerQueueTimer(queue, timer, 5, 5));
    await_calls(4);
    assert_true(ChangeTimerQueueTimer(queue, timer, 1, 0));
    assert_true(DeleteTimerQueueTimer(queue, timer, NOW));
    assert_true(DeleteTimerQueueEx(queue, NOW));
}

static void test_timer_that_called_for_the_last_time_is_not_changed(void **state)
{
    HANDLE queue = CreateTimerQueue(), timer;

    forget_calls(state);
    assert_true(CreateTimerQueueTimer(&timer, queue, note, (PVOID)&calls, 0, 0, 0));
    await_calls(1);
    assert_true(ChangeTimerQueueTimer(queue, timer, 0, 1));
    pass(30);
    assert_int_equal(calls, 1);
    assert_true(DeleteTimerQueueEx(queue, NOW));
}

static VOID CALLBACK meet(PVOID parameter, BOOLEAN timed_out)
{
    note(parameter, timed_out);
    if (InterlockedIncrement(&inside) == 2)
        SetEvent(go);
    if (!WaitForSingleObject(go, LONG_MS))
        InterlockedIncrement(&ended);
}

static void test_calls_that_last_longer_than_the_period_overlap(void **state)
{
    HANDLE timer;

    forget_calls(state);
    assert_true(CreateTimerQueueTimer(&timer, NULL, meet, (PVOID)&calls, 0, 5, 0));
    await_calls(2);
    assert_true(DeleteTimerQueueTimer(NULL, timer, NOW));
    assert_true(ended >= 2);
    assert_int_equal(ended, calls);
}

static void test_calls_in_the_timer_thread_do_not_overlap(void **state)
{
    HANDLE queue = CreateTimerQueue(), timers[4];

    forget_calls(state);
    for (int i = 0; i < 4; i++)
        assert_true(CreateTimerQueueTimer(&timers[i], queue, count_inside, (PVOID)&calls,
            (DWORD)i % 2, 1, WT_EXECUTEINTIMERTHREAD));
    await_calls(100);
    assert_true(DeleteTimerQueueEx(queue, NOW));
    assert_int_equal(most, 1);
    calls = 0;
    pass(5);
    assert_int_equal(calls, 0);
}

#ifndef _WIN32 /* Wine 8 has stood still in it, on a busy machine */
enum { MANY = 500 };

static void test_many_timers(void **state)
{
    static HANDLE timers[MANY];
    HANDLE queue = CreateTimerQueue();

    forget_calls(state);
    for (int i = 0; i < MANY; i++)
        assert_true(CreateTimerQueueTimer(
            &timers[i], queue, note, (PVOID)&calls, (DWORD)(i % 20), 0, i % 3 ? 0 : 0x20));
    await_calls(MANY);
    assert_true(DeleteTimerQueueEx(queue, NOW));
    assert_int_equal(calls, MANY);
}
#endif

static void test_timers_deleted_while_they_expire(void **state)
{
    LONG last;

    forget_calls(state);
    for (int i = 0; i < 300; i++) {
        HANDLE timer;

        assert_true(CreateTimerQueueTimer(&timer, NULL, note, (PVOID)&calls, (DWORD)(i % 2), 1, 0));
        if (i % 3)
            SwitchToThread();
        assert_true(DeleteTimerQueueTimer(NULL, timer, NOW));
        last = calls;
        SwitchToThread();
        assert_int_equal(calls, last);
    }
}

static void test_bad_arguments(void **state)
{
    forget_calls(state);
    assert_fails(DeleteTimerQueueTimer(NULL, NULL, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(DeleteTimerQueueEx(NULL, NULL), SPEC_ERROR_INVALID_HANDLE);
}

#ifndef _WIN32 /* Wine: answers differ, any flag and deleted value is taken, or the call does not return */
static VOID CALLBACK wait_for_own(PVOID parameter, BOOLEAN timed_out)
{
    WaitForSingleObject(own.ready, LONG_MS);
    SetLastError(0xdead);
    own.result = DeleteTimerQueueTimer(own.queue, own.timer, NOW) ||
                 GetLastError() != ERROR_POSSIBLE_DEADLOCK || DeleteTimerQueueEx(own.queue, NOW);
    own.error = GetLastError();
    note(parameter, timed_out);
}

static void test_a_call_does_not_wait_for_its_own_end(void **state)
{
    forget_calls(state);
    own.ready = CreateEventW(NULL, TRUE, FALSE, NULL);
    own.queue = CreateTimerQueue();
    assert_true(CreateTimerQueueTimer(
        &own.timer, own.queue, wait_for_own, (PVOID)&calls, 0, 1, WT_EXECUTEINTIMERTHREAD));
    assert_true(SetEvent(own.ready));
    await_calls(2); /* it was not deleted */
    assert_true(DeleteTimerQueueEx(own.queue, NOW));
    assert_false(own.result);
    assert_int_equal(own.error, SPEC_ERROR_POSSIBLE_DEADLOCK);
    assert_true(CloseHandle(own.ready));
}

static void test_queue_signals_an_event_after_the_calls_that_run(void **state)
{
    HANDLE queue = CreateTimerQueue(), done = CreateEventW(NULL, TRUE, FALSE, NULL), timers[2];

    forget_calls(state);
    for (int i = 0; i < 2; i++)
        assert_true(CreateTimerQueueTimer(&timers[i], queue, stay, (PVOID)&calls, 0, LONG_MS, 0));
    await_calls(2);
    assert_fails(DeleteTimerQueueEx(queue, done), SPEC_ERROR_IO_PENDING);
    assert_fails(DeleteTimerQueueTimer(queue, timers[0], NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(CreateTimerQueueTimer(&timers[0], queue, stay, (PVOID)&calls, 0, 0, 0),
        SPEC_ERROR_INVALID_HANDLE);
    assert_null(timers[0]);
    assert_wait(WaitForSingleObject(done, 20), WAIT_TIMEOUT);
    assert_true(SetEvent(go));
    assert_wait(WaitForSingleObject(done, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(ended, 2);
    assert_fails(DeleteTimerQueueEx(queue, done), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(done));
}

static void test_delete_without_a_call_has_ended(void **state)
{
    HANDLE queue = CreateTimerQueue(), timer;

    forget_calls(state);
    assert_true(CreateTimerQueueTimer(&timer, queue, note, (PVOID)&calls, LONG_MS, 0, 0));
    assert_true(DeleteTimerQueueTimer(queue, timer, NULL));
    assert_fails(DeleteTimerQueueTimer(queue, timer, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(ChangeTimerQueueTimer(queue, timer, 0, 0), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CreateTimerQueueTimer(&timer, queue, stay, (PVOID)&calls, 0, 0, 0));
    await_calls(1);
    assert_true(DeleteTimerQueue(queue)); /* its call goes on */
    assert_true(SetEvent(go));
    while (!now_in(&ended))
        SwitchToThread();
    assert_non_null(queue = CreateTimerQueue());
    assert_true(DeleteTimerQueueEx(queue, NULL));
}

static void test_values_are_no_handles(void **state)
{
    HANDLE queue = CreateTimerQueue(), event = CreateEventW(NULL, TRUE, FALSE, NULL), timer, copy;

    forget_calls(state);
    assert_true(CreateTimerQueueTimer(&timer, queue, note, (PVOID)&calls, INFINITE, 0, 0));
    assert_fails(CloseHandle(timer), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(CloseHandle(queue), SPEC_ERROR_INVALID_HANDLE);
    assert_wait(WaitForSingleObject(timer, 0), WAIT_FAILED);
    assert_fails(DeleteTimerQueueEx(timer, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(DeleteTimerQueueTimer(NULL, queue, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(DeleteTimerQueueTimer(NULL, event, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_true(DuplicateHandle(
        GetCurrentProcess(), event, GetCurrentProcess(), &copy, 0, FALSE, DUPLICATE_SAME_ACCESS));
    assert_fails(DeleteTimerQueueTimer(NULL, copy, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(copy));
    assert_fails(
        DeleteTimerQueueTimer(NULL, (HANDLE)(LONG_PTR)-7, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(
        DeleteTimerQueueTimer(queue, timer, queue), SPEC_ERROR_INVALID_HANDLE); /* no event */
    assert_true(ChangeTimerQueueTimer(NULL, timer, 0, 0));
    await_calls(1);
    assert_true(DeleteTimerQueueEx(queue, NOW));
    assert_true(CloseHandle(event));
}

static void test_bad_arguments_that_are_refused_here(void **state)
{
    HANDLE timer = &timer, once;

    forget_calls(state);
    assert_fails(
        CreateTimerQueueTimer(NULL, NULL, note, NULL, 0, 0, 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        CreateTimerQueueTimer(&timer, NULL, NULL, NULL, 0, 0, 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_null(timer);
    assert_fails(
        CreateTimerQueueTimer(&timer, NULL, note, NULL, 0, 0, 0x200), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CreateTimerQueueTimer(&timer, NULL, note, NULL, 0, 0, WT_EXECUTEINWAITTHREAD),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CreateTimerQueueTimer(&timer, NULL, note, NULL, 0, 1, WT_EXECUTEONLYONCE),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CreateTimerQueueTimer(&timer, GetCurrentProcess(), note, NULL, 0, 0, 0),
        SPEC_ERROR_INVALID_HANDLE);
    assert_true(
        CreateTimerQueueTimer(&once, NULL, note, (PVOID)&calls, INFINITE, 0, WT_EXECUTEONLYONCE));
    assert_fails(ChangeTimerQueueTimer(NULL, once, 0, 1), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(ChangeTimerQueueTimer(NULL, NULL, 0, 1), SPEC_ERROR_INVALID_PARAMETER);
    assert_true(DeleteTimerQueueTimer(NULL, once, NULL));
    assert_int_equal(calls, 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timer_calls_once),
        cmocka_unit_test(test_timer_with_a_period_calls_until_it_is_deleted),
        cmocka_unit_test(test_flags_of_kinds_of_threads),
        cmocka_unit_test(test_delete_waits_for_the_call_that_runs),
        cmocka_unit_test(test_delete_signals_an_event_after_the_call_that_runs),
        cmocka_unit_test(test_timer_is_deleted_in_its_own_call),
        cmocka_unit_test(test_call_in_the_timer_thread_deletes_a_timer_that_has_expired),
        cmocka_unit_test(test_queue_is_deleted_with_its_timers),
        cmocka_unit_test(test_timer_is_changed),
        cmocka_unit_test(test_timer_that_called_for_the_last_time_is_not_changed),
        cmocka_unit_test(test_calls_that_last_longer_than_the_period_overlap),
        cmocka_unit_test(test_calls_in_the_timer_thread_do_not_overlap),
        cmocka_unit_test(test_timers_deleted_while_they_expire),
        cmocka_unit_test(test_bad_arguments),
#ifndef _WIN32
        cmocka_unit_test(test_many_timers),
        cmocka_unit_test(test_a_call_does_not_wait_for_its_own_end),
        cmocka_unit_test(test_queue_signals_an_event_after_the_calls_that_run),
        cmocka_unit_test(test_delete_without_a_call_has_ended),
        cmocka_unit_test(test_values_are_no_handles),
        cmocka_unit_test(test_bad_arguments_that_are_refused_here),
#endif
    };

    called = CreateEventW(NULL, FALSE, FALSE, NULL);
    go = CreateEventW(NULL, TRUE, FALSE, NULL);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
