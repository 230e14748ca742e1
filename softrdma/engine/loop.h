/* SPDX-License-Identifier: MIT */
/*
 * loop.h - who waits for the device's sockets: one engine per process, two epoll sets over the same
 * sources.
 *
 *   the foreground set   level-triggered; for threads of the program that poll several connections, or sleep
 *   the background set   one-shot; the progress thread sleeps in it
 *
 * A source that fires in the background set while a thread of the program works on it stays disarmed there ("aside").
 * The progress thread looks at it again every STANDBY_TICK_US, and arms it when no thread works on it (util/standby.h).
 * Deadlines are the background thread's; those that are soon also belong to threads that are about to sleep.
 */
#ifndef SOFTRDMA_ENGINE_LOOP_H
#define SOFTRDMA_ENGINE_LOOP_H

#include "util/list.h"
#include "util/lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct srd_source;

struct srd_source_ops {
    /*
     * The descriptor is ready (EPOLL* bits). background: called by the progress thread, nobody else is at work. Returns
     * false when another thread is in the middle of it: what is ready may stay so until that one goes on.
     */
    bool (*ready)(struct srd_source *source, uint32_t events, bool background);
    /*
     * One look by a thread that polls a completion queue, at this source alone. Returns whether anything moved. NULL
     * where no queue knows the source.
     */
    bool (*poll)(struct srd_source *source);
    /*
     * The deadline has passed, or one of those that are soon is served before its time; it is unset when this is
     * called. No lock is held. Progress thread, or who is about to sleep.
     */
    void (*expired)(struct srd_source *source);
    /*
     * Whether there is nothing to serve before the time of a deadline that is soon. NULL: there always is. Timer lock
     * held: it takes no lock.
     */
    bool (*idle)(struct srd_source *source);
    /* EPOLLIN and EPOLLOUT as wanted now; 0: out of both sets (errors and hang-ups would show for
     * ever). */
    uint32_t (*interest)(struct srd_source *source);
    void (*free)(struct srd_source *source); /* last reference gone */
};

struct srd_source {
    const struct srd_source_ops *ops;
    int fd; /* -1: closed */
    atomic_uint refs;
    atomic_uint activity; /* bumped by a thread that polls this very source */
    unsigned seen;        /* progress thread: activity at the last look */
    unsigned left;        /* activity when it was left last; engine lock */
    bool handed;          /* left while it was aside; engine lock */
    /* on the progress thread's list, to be looked at every tick; engine lock to write */
    atomic_bool aside;
    atomic_bool attended; /* the progress thread is at it */
    bool in_all, in_prog; /* registered in the sets; engine lock, as the rest */
    uint32_t events;      /* as registered */
    uint32_t slot, generation;
    unsigned process;             /* srd_generation of its maker */
    _Atomic uint64_t deadline_ms; /* UINT64_MAX: none; timer lock to write */
    atomic_uint soon; /* 1: who is about to sleep serves it before its time; timer lock to change */
    int heap_index;   /* -1: none */
    struct list_node aside_node;
};

/* One reference, the caller's. Not known to the engine yet. */
void srd_source_init(struct srd_source *source, const struct srd_source_ops *ops, int fd);
void srd_source_ref(struct srd_source *source);
void srd_source_unref(struct srd_source *source);

/*
 * srd_source_add - hand it to the engine (which takes a reference); starts the progress thread at
 * need. srd_source_update - interest may have changed. srd_source_remove - out of the engine: no
 * call of ready or expired begins after this (one may be running). The last two do nothing on a
 * source that is not known. Any lock below LOCK_SRD_LOOP may be held. Returns 0 or a negative
 * errno.
 */
int srd_source_add(struct srd_source *source);
void srd_source_update(struct srd_source *source);
void srd_source_remove(struct srd_source *source);

/* Sets (UINT64_MAX: clears) the deadline, clock_now_ms() units. Any lock below LOCK_SRD_CHANNEL may
 * be held. */
void srd_source_deadline(struct srd_source *source, uint64_t deadline_ms);

/*
 * For a source whose deadlines change often: it never clears one, and what expires too early is nothing to it.
 * srd_source_is_soon  whether the source is soon served anyway. To be asked after what decides on its deadlines was
 *                     stored, and before that is read: if it is, who serves it sees what was stored.
 * srd_source_due      the deadline is that at the latest. Costs a load where it is.
 * srd_source_soon     it is SRD_SOON_MS from now at the latest, and who is about to sleep serves it before
 * (srd_timer_run_soon). Any lock below LOCK_SRD_CHANNEL may be held.
 */
enum {
    SRD_SOON_MS = 1,
    /*
     * A thread that polls serves it after so many looks, too: the program's answer, which would have carried an
     * acknowledgement, is not coming at once. A program that was woken has looked once or twice when it answers.
     */
    SRD_SOON_LOOKS = 3
};
static inline bool srd_source_is_soon(struct srd_source *source)
{
    return atomic_fetch_or(
        &source->soon, 0); /* an update: it comes before that of the expiry, or after it */
}
void srd_source_soon(struct srd_source *source);
void srd_timer_due(struct srd_source *source, uint64_t deadline_ms);
static inline void srd_source_due(struct srd_source *source, uint64_t deadline_ms)
{
    if (deadline_ms < atomic_load_explicit(&source->deadline_ms, memory_order_relaxed))
        srd_timer_due(source, deadline_ms);
}

/*
 * Serves what is soon. A thread of the program that is about to sleep, or has polled in vain for a while; no lock held.
 */
void srd_timer_run_soon(void);

/*
 * srd_source_leave, srd_loop_leave - the calling thread ends its looks at a source, or at the foreground set, without a
 * sleep here: the progress thread takes over at once what nobody looks at since. No system call unless it has to be
 * told of one aside. No lock above LOCK_SRD_LOOP - 1 held.
 */
void srd_source_leave(struct srd_source *source);
void srd_loop_leave(void);

/* Whether the caller is the progress thread. */
bool srd_progress_is_self(void);

/* Moves what is ready in the foreground set; never blocks. Returns whether anything was ready. */
bool srd_loop_run(void);
/*
 * Sleeps until fd is readable or a source is ready.
 * cancel_state  of the thread while it sleeps (pthread_setcancelstate)
 * Returns 0 or a negative errno (-EINTR).
 */
int srd_loop_wait(int fd, int cancel_state);
/*
 * Sleeps in the foreground set itself until a source is ready or a descriptor watched there is (srd_progress_watch),
 * and moves the sources. The caller has told the engine that it sleeps. Returns whether a watched descriptor is
 * readable.
 */
bool srd_loop_sleep(int timeout_ms);

#endif
