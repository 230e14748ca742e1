/* SPDX-License-Identifier: MIT */
/* sleep.c - Sleep, SleepEx, SwitchToThread. */
#include "winobj/waits/alert.h"
#include "winobj/waits/dispatch.h"
#include "winobj/waits/waiter.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <time.h>

/* Sleep - sleeps at least timeout_ms milliseconds; 0 gives up the rest of the time slice, INFINITE never returns. */
void WINAPI Sleep(DWORD timeout_ms)
{
    struct timespec left = { .tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000L };

    if (!timeout_ms) {
        sched_yield();
        return;
    }
    do {
        while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
            ;
        left.tv_sec = INT_MAX;
    } while (timeout_ms == INFINITE);
}

/* Sleeps to the end, or until an APC ends it; returns whether one did. */
static bool sleep_alertably(struct reactor_waiter *waiter, DWORD timeout_ms)
{
    uint64_t deadline_ns = win_deadline_ns(timeout_ms);
    struct win_alert alert;

    if (!win_alert_begin(&alert, waiter, NULL))
        return true;
    while (!win_alert_came(&alert) && win_wait_sleep(waiter, deadline_ns))
        ;
    return win_alert_end(&alert);
}

/*
 * SleepEx - Sleep; if alertable, APCs of the calling thread (QueueUserAPC) end it: they run, and it returns
 * WAIT_IO_COMPLETION, also of 0 ms. Else 0. An alertable sleep does the library's pending work, as waits do.
 */
DWORD WINAPI SleepEx(DWORD timeout_ms, BOOL alertable)
{
    struct reactor_waiter *waiter = alertable && timeout_ms ? reactor_waiter_self() : NULL;
    bool came;

    if (waiter)
        came = sleep_alertably(waiter, timeout_ms);
    else if (!(came = alertable && win_apcs_pending()))
        Sleep(timeout_ms);
    if (!came)
        return 0;
    win_apcs_run();
    return WAIT_IO_COMPLETION;
}

/* SwitchToThread - lets another thread run. Always FALSE: Linux does not report whether one ran. */
BOOL WINAPI SwitchToThread(void)
{
    sched_yield();
    return FALSE;
}
