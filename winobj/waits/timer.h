/* SPDX-License-Identifier: MIT */
/* timer.h - what SetWaitableTimer does once it knows the calling thread. */
#ifndef WINOBJ_TIMER_H
#define WINOBJ_TIMER_H

#include "winobj/exported.h"
#include "winobj/waits/alert.h"
#include "winobj/waits/dispatch.h"

/* A completion routine, and the thread that calls it. */
struct win_timer_routine {
    PTIMERAPCROUTINE function; /* NULL: none, and the other members mean nothing */
    LPVOID context;
    struct win_apcs *apcs;
    struct win_object *thread; /* has apcs; the timer takes over the caller's reference */
};

/*
 * win_timer_set - SetWaitableTimer, with its errors.
 * due      in units of 100 ns, as SetWaitableTimer takes it
 */
BOOL win_timer_set(
    HANDLE handle, int64_t due, LONG period_ms, const struct win_timer_routine *routine);

#endif
