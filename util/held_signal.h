/* SPDX-License-Identifier: MIT */
/*
 * held_signal.h - keeps a signal that a write raises in its own thread, SIGPIPE or SIGXFSZ, from the program, whatever
 * the program does with it.
 */
#ifndef UTIL_HELD_SIGNAL_H
#define UTIL_HELD_SIGNAL_H

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

struct held_signal {
    sigset_t set, before;
    bool pending; /* the signal was pending before: the program's */
};

/*
 * held_signal_begin - block a signal in the calling thread.
 * held    out: for held_signal_end, in the same thread
 * number  in: the signal
 */
static inline void held_signal_begin(struct held_signal *held, int number)
{
    sigset_t pending;

    sigemptyset(&held->set);
    sigaddset(&held->set, number);
    pthread_sigmask(SIG_BLOCK, &held->set, &held->before);
    sigpending(&pending);
    held->pending = sigismember(&pending, number);
}

/*
 * held_signal_end - unblock the signal again.
 * raised  in: whether the write failed in the way that raises the signal, which is then removed from this thread
 * errno stays.
 */
static inline void held_signal_end(const struct held_signal *held, bool raised)
{
    static const struct timespec now;
    int error = errno;

    if (raised && !held->pending)
        sigtimedwait(&held->set, NULL, &now);
    pthread_sigmask(SIG_SETMASK, &held->before, NULL);
    errno = error;
}

#endif
