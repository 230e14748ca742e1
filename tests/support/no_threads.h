/* SPDX-License-Identifier: MIT */
/* no_threads.h - a thread that can start no others (link refuse.c): what it calls finds a limit on threads. */
#ifndef TESTS_SUPPORT_NO_THREADS_H
#define TESTS_SUPPORT_NO_THREADS_H

#include "tests/support/refuse.h"

#include <errno.h>
#include <pthread.h>
#include <sys/syscall.h>

struct no_threads_call {
    void (*function)(void);
    bool refused;
};

static inline void *no_threads_run(void *argument)
{
    static const struct refused_call calls[] = { { SYS_clone, -1, 0, EAGAIN },
        { SYS_clone3, -1, 0, EAGAIN } };
    struct no_threads_call *call = argument;

    call->refused = refuse_calls(calls, sizeof(calls) / sizeof(calls[0]));
    if (call->refused)
        call->function();
    return NULL;
}

/* Calls the function in such a thread, which has ended then. False: the kernel takes no filter, nothing was called. */
static inline bool without_threads(void (*function)(void))
{
    struct no_threads_call call = { .function = function };
    pthread_t thread;

    if (pthread_create(&thread, NULL, no_threads_run, &call))
        return false;
    pthread_join(thread, NULL);
    return call.refused;
}

#endif
