/* SPDX-License-Identifier: MIT */
#include "winobj/process/streams.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

#ifdef __GLIBC__
void win_streams_write_out(void)
{
    fcloseall(); /* fflush(NULL) would wait for a thread that reads */
}
#else
enum { HELD_S = 1 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool written;

static void *write_out(void *condition)
{
    fflush(NULL);
    pthread_mutex_lock(&lock);
    written = true;
    pthread_cond_signal(condition);
    pthread_mutex_unlock(&lock);
    return NULL;
}

void win_streams_write_out(void)
{
    static pthread_cond_t condition;
    struct timespec end;
    pthread_condattr_t attr;
    pthread_t thread;

    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&condition, &attr);
    if (pthread_create(&thread, NULL, write_out, &condition))
        return;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += HELD_S;
    pthread_mutex_lock(&lock);
    while (!written && pthread_cond_timedwait(&condition, &lock, &end) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&lock);
}
#endif
