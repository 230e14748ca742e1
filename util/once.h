/* SPDX-License-Identifier: MIT */
/*
 * once.h - initialisation by the first caller. Unlike pthread_once it does not remember a failure: the next caller
 * tries again. The child of a fork does not wait for a thread of its parent: it begins anew what that thread had not
 * finished.
 */
#ifndef UTIL_ONCE_H
#define UTIL_ONCE_H

#include "util/futex.h"

#include <limits.h>
#include <stdbool.h>

enum { ONCE_NEVER, ONCE_DONE, ONCE_RUNS /* plus the id of the process in which prepare runs */ };

struct once {
    _Atomic uint32_t state;
};

#define ONCE_INIT                                                                                  \
    {                                                                                              \
        ONCE_NEVER                                                                                 \
    }

/* Whether prepare has succeeded. */
static inline bool once_done(struct once *once)
{
    return atomic_load_explicit(&once->state, memory_order_acquire) == ONCE_DONE;
}

/* The slow path of once_run: prepare has not succeeded yet. */
static inline int once_run_slowly(struct once *once, int (*prepare)(void))
{
    const uint32_t here = ONCE_RUNS + (uint32_t)getpid();
    uint32_t seen = atomic_load_explicit(&once->state, memory_order_acquire);
    int error;

    for (;;) {
        if (seen == ONCE_DONE)
            return 0;
        if (seen == here) {
            futex_wait(&once->state, here, NULL);
            seen = atomic_load_explicit(&once->state, memory_order_acquire);
        } else if (atomic_compare_exchange_strong_explicit(
                       &once->state, &seen, here, memory_order_acquire, memory_order_acquire)) {
            break;
        }
    }
    error = prepare();
    atomic_store_explicit(&once->state, error ? ONCE_NEVER : ONCE_DONE, memory_order_release);
    futex_wake(&once->state, INT_MAX);
    return error;
}

/*
 * once_run - calls prepare, unless it has succeeded before.
 * prepare  in: returns 0, or an error and leaves nothing behind. Called by one thread at a time; must not call once_run
 *          with the same once. In the child of a fork it may find that a thread of the parent had done a part of it
 * Returns 0, or what prepare returned. Threads: any.
 */
static inline int once_run(struct once *once, int (*prepare)(void))
{
    return once_done(once) ? 0 : once_run_slowly(once, prepare);
}

#endif
