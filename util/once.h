/* SPDX-License-Identifier: MIT */
/*
 * once.h - initialisation by the first caller. If it fails for want of memory or descriptors, the next caller tries
 * again: unlike pthread_once, it does not remember a failure.
 */
#ifndef UTIL_ONCE_H
#define UTIL_ONCE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct once {
    atomic_bool done;
    pthread_mutex_t mutex;
};

#define ONCE_INIT                                                                                  \
    {                                                                                              \
        .mutex = PTHREAD_MUTEX_INITIALIZER                                                         \
    }

/*
 * once_run - prepare it, unless that has been done.
 * prepare  in: returns 0, or an error and leaves nothing behind. Called by one thread at a time; must not call
 *          once_run again
 * Returns 0, or what prepare returned. Threads: any.
 */
static inline int once_run(struct once *once, int (*prepare)(void))
{
    int error = 0;

    if (atomic_load_explicit(&once->done, memory_order_acquire))
        return 0;
    pthread_mutex_lock(&once->mutex);
    if (!atomic_load_explicit(&once->done, memory_order_relaxed) && !(error = prepare()))
        atomic_store_explicit(&once->done, true, memory_order_release);
    pthread_mutex_unlock(&once->mutex);
    return error;
}

#endif
