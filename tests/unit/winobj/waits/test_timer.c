/* SPDX-License-Identifier: MIT */
/* test_timer.c - waitable timers. */
#include "tests/support/win32_test.h"

static LARGE_INTEGER in_ms(LONGLONG ms)
{
    return (LARGE_INTEGER){ .QuadPart = -ms * 10000 };
}

static LARGE_INTEGER at_ms_from_now(LONGLONG ms)
{
    FILETIME now;

    GetSystemTimePreciseAsFileTime(&now);
    return (LARGE_INTEGER){
        .QuadPart = (LONGLONG)((ULONGLONG)now.dwHighDateTime << 32 | now.dwLowDateTime) + ms * 10000
    };
}

/* The timer signals, not before so many milliseconds have passed since a tick. */
static void expect_after(HANDLE timer, ULONGLONG since, ULONGLONG ms)
{
    assert_wait(WaitForSingleObject(timer, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetTickCount64() - since + 17 >= ms); /* Windows' tick lasts up to 16 ms */
}

static void test_timer_signals_once(void **state)
{
    HANDLE timer = CreateWaitableTimerA(NULL, FALSE, NULL);
    LARGE_INTEGER due = in_ms(60);
    ULONGLONG start = GetTickCount64();

    (void)state;
    assert_non_null(timer);
    assert_wait(WaitForSingleObject(timer, 20), WAIT_TIMEOUT); /* not set */
    start = GetTickCount64();
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
    expect_after(timer, start, 60);
    assert_wait(WaitForSingleObject(timer, 20), WAIT_TIMEOUT);
    due = at_ms_from_now(60);
    start = GetTickCount64();
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
    expect_after(timer, start, 60);
    assert_wait(WaitForSingleObject(timer, 20), WAIT_TIMEOUT);
    assert_true(CloseHandle(timer));
}

static void test_timer_that_is_over_signals_at_once(void **state)
{
    HANDLE timer = CreateWaitableTimerW(NULL, TRUE, NULL);
    LARGE_INTEGER due = at_ms_from_now(-1000);

    (void)state;
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
    assert_wait(WaitForSingleObject(timer, LONG_MS), WAIT_OBJECT_0);
    due.QuadPart = 0;
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
    assert_wait(WaitForSingleObject(timer, LONG_MS), WAIT_OBJECT_0);
    due = at_ms_from_now(-1000000000000ll); /* before 1970 */
    assert_true(due.QuadPart > 0);
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
    assert_wait(WaitForSingleObject(timer, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(timer));
}

static void test_timer_of_manual_reset_stays_signalled(void **state)
{
    HANDLE timer = CreateWaitableTimerW(NULL, TRUE, NULL);
    LARGE_INTEGER due = in_ms(1);

    (void)state;
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
    assert_wait(WaitForSingleObject(timer, LONG_MS), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(timer, 0), WAIT_OBJECT_0);
    assert_true(CancelWaitableTimer(timer));
    assert_wait(WaitForSingleObject(timer, 0), WAIT_OBJECT_0); /* cancelled, but signalled */
    due = in_ms(LONG_MS);
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
    assert_wait(WaitForSingleObject(timer, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(timer));
}

static void test_timer_with_a_period(void **state)
{
    HANDLE timer = CreateWaitableTimerW(NULL, FALSE, NULL);
    LARGE_INTEGER due = in_ms(5);
    ULONGLONG start = GetTickCount64();

    (void)state;
    assert_true(SetWaitableTimer(timer, &due, 20, NULL, NULL, FALSE));
    for (int i = 0; i < 5; i++)
        expect_after(timer, start, 5 + 20 * (ULONGLONG)i);
    assert_true(CancelWaitableTimer(timer));
    WaitForSingleObject(timer, 0); /* may have signalled before */
    assert_wait(WaitForSingleObject(timer, 60), WAIT_TIMEOUT);
    due = at_ms_from_now(5);
    start = GetTickCount64();
    assert_true(SetWaitableTimer(timer, &due, 20, NULL, NULL, FALSE));
    for (int i = 0; i < 3; i++)
        expect_after(timer, start, 5 + 20 * (ULONGLONG)i);
    assert_true(CloseHandle(timer));
}

static void test_timer_set_again_or_cancelled(void **state)
{
    HANDLE timer = CreateWaitableTimerW(NULL, FALSE, NULL);
    LARGE_INTEGER due = in_ms(30);
    ULONGLONG start;

    (void)state;
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
    due = at_ms_from_now(120); /* the other kind of time takes the place of the first */
    start = GetTickCount64();
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
    expect_after(timer, start, 120);
    due = in_ms(20);
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
    assert_true(CancelWaitableTimer(timer));
    WaitForSingleObject(timer, 0); /* may have signalled before */
    assert_wait(WaitForSingleObject(timer, 60), WAIT_TIMEOUT);
    assert_true(CloseHandle(timer));
}

/* A date that was set before does not signal for the span that is set now: another timer with a later date has. */
static void test_timer_forgets_the_date_it_had(void **state)
{
    HANDLE timer = CreateWaitableTimerW(NULL, FALSE, NULL),
           other = CreateWaitableTimerW(NULL, FALSE, NULL);
    LARGE_INTEGER due = at_ms_from_now(40);

    (void)state;
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
    due = in_ms(LONG_MS);
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
    due = at_ms_from_now(80);
    assert_true(SetWaitableTimer(other, &due, 0, NULL, NULL, FALSE));
    assert_wait(WaitForSingleObject(other, LONG_MS), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(timer, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(timer));
    assert_true(CloseHandle(other));
}

/* Each is closed a little before, while or after it expires. */
static void test_timer_closed_while_it_expires(void **state)
{
    LARGE_INTEGER due = { .QuadPart = -1 }, now, end, frequency;

    (void)state;
    assert_true(QueryPerformanceFrequency(&frequency));
    for (int i = 0; i < 3000; i++) {
        HANDLE timer = CreateWaitableTimerW(NULL, FALSE, NULL);

        assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
        assert_true(QueryPerformanceCounter(&end));
        end.QuadPart += frequency.QuadPart * (i % 100) / 1000000; /* up to 0.1 ms */
        do
            assert_true(QueryPerformanceCounter(&now));
        while (now.QuadPart < end.QuadPart);
        assert_true(CloseHandle(timer));
    }
}

static void test_timer_together_with_others(void **state)
{
    HANDLE handles[2] = { CreateEventW(NULL, TRUE, FALSE, NULL),
        CreateWaitableTimerW(NULL, FALSE, NULL) };
    LARGE_INTEGER due = in_ms(10);

    (void)state;
    assert_true(SetWaitableTimer(handles[1], &due, 0, NULL, NULL, FALSE));
    assert_wait(WaitForMultipleObjects(2, handles, FALSE, LONG_MS), WAIT_OBJECT_0 + 1);
    assert_true(SetEvent(handles[0]));
    assert_true(SetWaitableTimer(handles[1], &due, 0, NULL, NULL, FALSE));
    assert_wait(WaitForMultipleObjects(2, handles, TRUE, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(handles[0]));
    assert_true(CloseHandle(handles[1]));
}

static struct {
    volatile LONG count;
    LPVOID context;
    DWORD thread;
    LONGLONG time;
} calls;

static VOID CALLBACK routine(LPVOID context, DWORD low, DWORD high)
{
    calls.context = context;
    calls.thread = GetCurrentThreadId();
    calls.time = (LONGLONG)((ULONGLONG)high << 32 | low);
    calls.count++;
}

static void sleep_until_called(LONG count)
{
    while (calls.count < count)
        SleepEx(LONG_MS, TRUE);
}

static void test_timer_calls_a_routine(void **state)
{
    HANDLE timer = CreateWaitableTimerW(NULL, TRUE, NULL);
    LARGE_INTEGER due = in_ms(10), before = at_ms_from_now(10 - 17), after;

    (void)state;
    calls.count = 0;
    assert_true(SetWaitableTimer(timer, &due, 0, routine, &due, FALSE));
    assert_wait(WaitForSingleObject(timer, LONG_MS), WAIT_OBJECT_0); /* not alertable */
    assert_int_equal(calls.count, 0);
    assert_wait(SleepEx(LONG_MS, TRUE), WAIT_IO_COMPLETION);
    after = at_ms_from_now(17);
    assert_int_equal(calls.count, 1);
    assert_ptr_equal(calls.context, &due);
    assert_int_equal(calls.thread, GetCurrentThreadId());
    assert_true(DIFFERS(false, true, "Wine gives another time") ||
                (calls.time >= before.QuadPart && calls.time <= after.QuadPart));
    assert_wait(SleepEx(20, TRUE), 0);
    assert_wait(WaitForSingleObject(timer, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(timer));
}

static VOID CALLBACK cancelling_routine(LPVOID context, DWORD low, DWORD high)
{
    routine(context, low, high);
    CancelWaitableTimer(context);
}

static void test_timer_with_a_period_calls_its_routine_again(void **state)
{
    HANDLE timer = CreateWaitableTimerW(NULL, FALSE, NULL);
    LARGE_INTEGER due = in_ms(1);

    (void)state;
    calls.count = 0;
    assert_true(SetWaitableTimer(timer, &due, 5, routine, NULL, FALSE));
    sleep_until_called(3);
    calls.count = 0;
    assert_true(SetWaitableTimer(timer, &due, 1, cancelling_routine, timer, FALSE));
    for (int i = 0; i < 5; i++)
        assert_wait(WaitForSingleObject(timer, LONG_MS), WAIT_OBJECT_0);
    assert_wait(SleepEx(LONG_MS, TRUE), WAIT_IO_COMPLETION);
    assert_wait(SleepEx(20, TRUE), 0);
    assert_int_equal(calls.count, 1); /* for all five times */
    assert_true(CloseHandle(timer));
}

#ifndef _WIN32 /* Wine calls it all the same, and does not cancel a timer with its thread */
/* By setting it again, cancelling it, and closing it. */
static void test_call_that_has_not_begun_is_taken_back(void **state)
{
    HANDLE timer = CreateWaitableTimerW(NULL, TRUE, NULL);
    LARGE_INTEGER due = in_ms(1), late = in_ms(LONG_MS);

    (void)state;
    calls.count = 0;
    assert_true(SetWaitableTimer(timer, &due, 0, routine, NULL, FALSE));
    assert_wait(WaitForSingleObject(timer, LONG_MS), WAIT_OBJECT_0);
    assert_true(SetWaitableTimer(timer, &late, 0, routine, NULL, FALSE));
    assert_wait(SleepEx(10, TRUE), 0);
    assert_true(SetWaitableTimer(timer, &due, 0, routine, NULL, FALSE));
    assert_wait(WaitForSingleObject(timer, LONG_MS), WAIT_OBJECT_0);
    assert_true(CancelWaitableTimer(timer));
    assert_wait(SleepEx(10, TRUE), 0);
    assert_true(SetWaitableTimer(timer, &due, 0, routine, NULL, FALSE));
    assert_wait(WaitForSingleObject(timer, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(timer));
    assert_wait(SleepEx(10, TRUE), 0);
    assert_int_equal(calls.count, 0);
}

static DWORD WINAPI set_in_thread(LPVOID timer)
{
    LARGE_INTEGER due = in_ms(20);

    return !SetWaitableTimer(timer, &due, 0, routine, NULL, FALSE);
}

static void set_in_thread_that_ends(HANDLE timer)
{
    HANDLE thread = CreateThread(NULL, 0, set_in_thread, timer, 0, NULL);
    DWORD code = 1;

    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, 0);
    assert_true(CloseHandle(thread));
}

/* Another timer that is set later has signalled by then. */
static void test_end_of_the_routines_thread_cancels_the_timer(void **state)
{
    HANDLE timer = CreateWaitableTimerW(NULL, TRUE, NULL);
    HANDLE other = CreateWaitableTimerW(NULL, TRUE, NULL);
    LARGE_INTEGER due = in_ms(60);

    (void)state;
    calls.count = 0;
    do
        set_in_thread_that_ends(timer);
    while (WaitForSingleObject(timer, 0) == WAIT_OBJECT_0); /* the thread was slow */
    assert_true(SetWaitableTimer(other, &due, 0, NULL, NULL, FALSE));
    assert_wait(WaitForSingleObject(other, LONG_MS), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(timer, 0), WAIT_TIMEOUT);
    assert_int_equal(calls.count, 0);
    due = in_ms(1);
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, FALSE));
    assert_wait(WaitForSingleObject(timer, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(other));
    assert_true(CloseHandle(timer));
}
#endif

static void test_timer_bad_arguments(void **state)
{
    HANDLE timer = CreateWaitableTimerExA(NULL, NULL, CREATE_WAITABLE_TIMER_MANUAL_RESET, 0x1F0003);
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);
    LARGE_INTEGER due = in_ms(LONG_MS);

    (void)state;
    assert_non_null(timer);
    assert_fails(SetWaitableTimer(event, &due, 0, NULL, NULL, FALSE), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(SetWaitableTimer(event, &due, 0, routine, NULL, FALSE), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(CancelWaitableTimer(event), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(timer));
    assert_fails(CancelWaitableTimer(timer), SPEC_ERROR_INVALID_HANDLE);
    assert_non_null(timer = CreateWaitableTimerExW(NULL, NULL, 0, 0x1F0003));
    assert_true(CloseHandle(timer));
    assert_true(CloseHandle(event));
    assert_true(CreateWaitableTimer == CreateWaitableTimerA &&
                CreateWaitableTimerEx == CreateWaitableTimerExA);
#ifndef _WIN32 /* there timers have names; Wine takes any flag and period; a due time at NULL ends programs */
    assert_non_null(timer = CreateWaitableTimerExW(
                        NULL, NULL, CREATE_WAITABLE_TIMER_HIGH_RESOLUTION, 0x1F0003));
    assert_fails(
        SetWaitableTimer(timer, &due, -1, NULL, NULL, FALSE), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(SetWaitableTimer(timer, NULL, 0, NULL, NULL, FALSE), SPEC_ERROR_INVALID_PARAMETER);
    SetLastError(0);
    assert_true(SetWaitableTimer(timer, &due, 0, NULL, NULL, TRUE)); /* no machine is woken */
    assert_win_error(SPEC_ERROR_NOT_SUPPORTED);
    assert_true(CloseHandle(timer));
    assert_fails(CreateWaitableTimerA(NULL, FALSE, "name"), SPEC_ERROR_NOT_SUPPORTED);
    assert_fails(CreateWaitableTimerExW(NULL, NULL, 4, 0x1F0003), SPEC_ERROR_INVALID_PARAMETER);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_timer_signals_once),
        cmocka_unit_test(test_timer_that_is_over_signals_at_once),
        cmocka_unit_test(test_timer_of_manual_reset_stays_signalled),
        cmocka_unit_test(test_timer_with_a_period),
        cmocka_unit_test(test_timer_set_again_or_cancelled),
        cmocka_unit_test(test_timer_forgets_the_date_it_had),
        cmocka_unit_test(test_timer_closed_while_it_expires),
        cmocka_unit_test(test_timer_together_with_others),
        cmocka_unit_test(test_timer_calls_a_routine),
        cmocka_unit_test(test_timer_with_a_period_calls_its_routine_again),
#ifndef _WIN32 /* as above */
        cmocka_unit_test(test_call_that_has_not_begun_is_taken_back),
        cmocka_unit_test(test_end_of_the_routines_thread_cancels_the_timer),
#endif
        cmocka_unit_test(test_timer_bad_arguments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
