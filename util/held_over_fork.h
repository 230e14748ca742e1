/* SPDX-License-Identifier: MIT */
/* held_over_fork.h - locks that a fork waits for: no thread of the child would ever release them. */
#ifndef UTIL_HELD_OVER_FORK_H
#define UTIL_HELD_OVER_FORK_H

#include "util/lock.h"

#include <pthread.h>
#include <sched.h>

/* Takes a lock that has no place in the order here; its holder is about to drop it. */
static inline void lock_acquire_for_fork(struct lock *held)
{
    while (!lock_try(held))
        sched_yield();
}

/*
 * LOCK_HELD_OVER_FORK(held) - at file scope, once in a file: the thread that forks holds this lock meanwhile, so what
 * it guards is whole in the child. For locks whose holders wait for no other thread.
 */
#define LOCK_HELD_OVER_FORK(held)                                                                  \
    static void hold_over_fork(void)                                                               \
    {                                                                                              \
        lock_acquire_for_fork(held);                                                               \
    }                                                                                              \
    static void drop_after_fork(void)                                                              \
    {                                                                                              \
        lock_release(held);                                                                        \
    }                                                                                              \
    __attribute__((constructor)) static void watch_forks(void)                                     \
    {                                                                                              \
        pthread_atfork(hold_over_fork, drop_after_fork, drop_after_fork);                          \
    }

#endif
