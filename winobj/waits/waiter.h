/* SPDX-License-Identifier: MIT */
/*
 * waiter.h - waits of winobj, whose threads sleep in the reactor (reactor/reactor.h): times and errors as Windows has
 * them.
 */
#ifndef WINOBJ_WAITER_H
#define WINOBJ_WAITER_H

#include "reactor/reactor.h"

#include "util/clock.h"

#include <windows.h>

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* The calling thread's waiter; NULL with the last error ERROR_NOT_ENOUGH_MEMORY. */
static inline struct reactor_waiter *win_waiter_self(void)
{
    struct reactor_waiter *waiter = reactor_waiter_self();

    if (!waiter)
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return waiter;
}

/* A deadline: absolute, in clock_now_ns() time. */
static inline uint64_t win_deadline_ns(uint32_t timeout_ms)
{
    return timeout_ms == INFINITE ? REACTOR_NEVER
                                  : clock_now_ns() + (uint64_t)timeout_ms * 1000000u;
}

/*
 * Sleeps, and does the library's work meanwhile, until signalled or the deadline has passed. Returns false at the
 * deadline. Spurious returns of true happen. No lock held.
 */
static inline bool win_wait_sleep(struct reactor_waiter *waiter, uint64_t deadline_ns)
{
    return reactor_wait(waiter, deadline_ns, PTHREAD_CANCEL_DISABLE) != -ETIMEDOUT;
}

#endif
