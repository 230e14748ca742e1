/* SPDX-License-Identifier: MIT */
/*
 * streams.c - see streams.h. A thread that reads a stream holds its lock, and what writes all streams out waits for it:
 * fflush(NULL) everywhere, glibc's fcloseall since 2.41, exit there, too. So another thread does it, for a moment.
 */
#include "win32/process/streams.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

enum { HELD_S = 1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool written;

static void *write_out(void *condition)
{
#ifdef __GLIBC__
    fcloseall();
#else
    fflush(NULL);
#endif
    pthread_mutex_lock(&lock);
    written = true;
    pthread_cond_signal(condition);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* First of all, since a stream that is held may stand before it. */
static void write_output(void)
{
    if (ftrylockfile(stdout))
        return;
    fflush_unlocked(stdout);
    funlockfile(stdout);
}

void win_streams_write_out(void)
{
    static pthread_cond_t condition;
    struct timespec end;
    pthread_condattr_t attr;
    pthread_t thread;

    write_output();
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&condition, &attr);
    if (pthread_create(&thread, NULL, write_out, &condition))
        return;
    pthread_detach(thread);
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += HELD_S;
    pthread_mutex_lock(&lock);
    while (!written && pthread_cond_timedwait(&condition, &lock, &end) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&lock);
}
