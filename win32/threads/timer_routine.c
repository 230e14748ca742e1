/* SPDX-License-Identifier: MIT */
/* timer_routine.c - SetWaitableTimer, whose completion routine the calling thread calls. */
#include "win32/threads/thread.h"
#include "winobj/waits/timer.h"

/*
 * SetWaitableTimer - sets a timer, which is not signalled until then.
 * due        in units of 100 ns: below 0 the time from now on; else a date as FILETIME has it, in UTC, which follows
 *            the system's clock. A date in the past signals at once
 * period_ms  the interval of further signals; 0: none
 * routine    NULL; or called with context and the time of the signal as FILETIME has it, in an alertable wait of the
 *            calling thread, once for all signals since that thread called it last. The end of that thread cancels the
 *            timer; to set or cancel the timer, or close its last handle, takes back the call that has not begun
 * resume     TRUE sets the last error to ERROR_NOT_SUPPORTED: a timer does not wake the system from sleep. As on
 *            Windows that is no failure
 * Returns    FALSE with ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER (no due time, a negative period),
 *            ERROR_NO_SYSTEM_RESOURCES (no descriptor or thread), ERROR_NOT_ENOUGH_MEMORY. Any thread.
 * Source: SetWaitableTimer function (synchapi.h).
 */
BOOL WINAPI SetWaitableTimer(HANDLE handle, const LARGE_INTEGER *due, LONG period_ms,
    PTIMERAPCROUTINE routine, LPVOID context, BOOL resume)
{
    struct win_timer_routine of = { .function = routine, .context = context };

    if (!due || period_ms < 0) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    if (routine && !(of.thread = win_thread_self_pin(&of.apcs)))
        return FALSE;
    if (!win_timer_set(handle, due->QuadPart, period_ms, &of))
        return FALSE;
    if (resume)
        SetLastError(ERROR_NOT_SUPPORTED);
    return TRUE;
}
