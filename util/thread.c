/* SPDX-License-Identifier: MIT */
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_LENGTH = 15 }; /* the kernel's TASK_COMM_LEN, less the terminating zero */

struct start {
    const char *name;
    void (*entry)(void *argument);
    void *argument;
};

/* The thread names itself, since it might end before its creator could name it. */
static void *thread_run(void *argument)
{
    struct start start = *(struct start *)argument;

    free(argument);
    pthread_setname_np(pthread_self(), start.name);
    start.entry(start.argument);
    return NULL;
}

int thread_start_detached(const char *name, void (*entry)(void *argument), void *argument)
{
    struct start *start;
    sigset_t all, before;
    pthread_attr_t attr;
    pthread_t thread;
    int error;

    if (strlen(name) > NAME_LENGTH)
        return -EINVAL;
    if (!(start = malloc(sizeof(*start))))
        return -ENOMEM;
    *start = (struct start){ .name = name, .entry = entry, .argument = argument };
    if ((error = pthread_attr_init(&attr)))
        goto free_start;
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    /* The kernel ends a process whose thread has a fault while it blocks the fault's signal; guard.h needs its turn. */
    sigdelset(&all, SIGSEGV);
    sigdelset(&all, SIGBUS);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &attr, thread_run, start);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (!error)
        return 0;

free_start:
    free(start);
    return -error;
}
