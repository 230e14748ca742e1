/* SPDX-License-Identifier: MIT */
/*
 * source.h - a connection's or listener's socket as a source of the reactor (reactor/reactor.h), with softrdma's
 * additions: polls that bypass the reactor, and deadlines that are set often and seldom needed. One word says which
 * thread watches it (paused, attentive, attended, soon): watch.h.
 *
 *   soon   the source owes an acknowledgement, is paused, or is attentive
 *   idle   a source that is soon owes nothing any more, since its acknowledgement went out with data
 *   spent  it is idle, and no sleeping thread need wake for it, so it may leave the list
 *   left   the thread that polled the source stops (srd_source_leave): the reactor serves it at once
 *   apart  the peer runs on another processor than the calling thread
 */
#ifndef SOFTRDMA_EVENTS_SOURCE_H
#define SOFTRDMA_EVENTS_SOURCE_H

#include "reactor/reactor.h"
#include "softrdma/events/watch.h"
#include "util/list.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct srd_source;

struct srd_source_ops {
    /*
     * The descriptor is ready (EPOLL* bits). background: the background thread calls it, since no thread of the program
     * waits or polls. Returns false when another thread has read what was ready, or is reading it: then the descriptor
     * may stay ready until that thread is done.
     */
    bool (*ready)(struct srd_source *source, uint32_t events, bool background);
    /*
     * A thread that polls a completion queue looks once at this source alone. again: the thread will look again before
     * it sleeps, so nothing need wake it meanwhile. Returns whether the look received or sent anything. NULL where no
     * queue knows the source.
     */
    bool (*poll)(struct srd_source *source, bool again);
    /*
     * poll in two steps, for a thread that finds the source in a queue and has no reference. NULL: use poll.
     * enter         LOCK_SRD_CQ is held: begins a look, unless another thread serves the source. Returns whether the
     *               caller has to call poll_entered; the source is not freed before that returns
     * poll_entered  looks, as poll does
     */
    bool (*enter)(struct srd_source *source);
    bool (*poll_entered)(struct srd_source *source, bool again);
    /*
     * The deadline has passed, and is unset when this is called; or the source was soon, and has left the list. No lock
     * is held.
     */
    void (*expired)(struct srd_source *source);
    /* Whether the source is idle. NULL: it never is. Takes no lock. */
    bool (*idle)(struct srd_source *source);
    /* Whether the source is spent. NULL: it never is. Takes no lock. */
    bool (*spent)(struct srd_source *source);
    /* The events to watch now, EPOLLIN and EPOLLOUT; 0: leave the set, where errors would stay ready. Takes no lock. */
    uint32_t (*interest)(struct srd_source *source);
    /* Whether the source is known to be apart. NULL: it is not known. Takes no lock. */
    bool (*apart)(struct srd_source *source);
    /* srd_source_leave was called. NULL: nothing is to be done. */
    void (*left)(struct srd_source *source);
    void (*free)(struct srd_source *source); /* the last reference was dropped */
};

struct srd_source {
    struct reactor_source reactor; /* must be first */
    const struct srd_source_ops *ops;
    /* the source that the program polls, if this is a second descriptor of it; NULL: this source */
    struct srd_source *of;
    int fd;           /* -1: closed */
    unsigned process; /* srd_generation of the process that made it */
    bool added;
    srd_watch watch;              /* SRD_WATCH_*; ops->left ends that it is attentive */
    _Atomic(const void *) looker; /* srd_source_here of the thread that made it attentive */
    _Atomic uint64_t deadline_ms; /* UINT64_MAX: none; source.c's lock guards writes */
    uint64_t soon_ms;             /* when it has to be served, while it is soon */
    struct list_node soon_node;
    /* the completion queues that poll it, each sets and reads its own; NULL: none */
    _Atomic(const void *) queues[2];
};

/* The source has one reference, the caller's. The reactor does not know it yet. */
void srd_source_init(struct srd_source *source, const struct srd_source_ops *ops, int fd);

static inline void srd_source_ref(struct srd_source *source)
{
    reactor_ref(&source->reactor);
}

static inline void srd_source_unref(struct srd_source *source)
{
    reactor_unref(&source->reactor);
}

/*
 * srd_source_add     has the reactor call ops from now on; it has a reference. Returns 0 or a negative errno
 * srd_source_update  has the reactor watch for what ops->interest returns now
 * srd_source_remove  no call of ready or expired begins after this (one may be running)
 * The last two do nothing on a source that is not added. Any lock below LOCK_SRD_CHANNEL may be held.
 */
int srd_source_add(struct srd_source *source);
void srd_source_update(struct srd_source *source);
void srd_source_remove(struct srd_source *source);

/* Returns the value of looker for the calling thread. */
static inline const void *srd_source_here(void)
{
    return (const void *)pthread_self();
}

/* A thread of the program looks at this source alone. */
static inline void srd_source_polled(struct srd_source *source)
{
    srd_watch_note(&source->watch, SRD_WATCH_POLLED);
}
/* Whether it was polled since the reactor found it ready, or since it was left; or is paused, or attentive. */
static inline bool srd_source_was_polled(struct srd_source *source)
{
    return srd_watch_has(&source->watch, SRD_WATCH_POLLED | SRD_WATCH_PAUSED | SRD_WATCH_ATTENTIVE);
}
/* The thread that polled the source stops polling: from now on the reactor serves it at once. */
void srd_source_leave(struct srd_source *source);

/*
 * srd_sources_poll - serves the sources that are ready, as reactor_poll does.
 * only  out: the only source that was ready, referenced; NULL: none was, or several were
 * Returns whether any was ready.
 */
bool srd_sources_poll(struct srd_source **only);

/* Sets the deadline of a source that is added, in units of clock_now_ms(); UINT64_MAX clears it. */
void srd_source_deadline(struct srd_source *source, uint64_t deadline_ms);

/*
 * These are for a source whose deadlines change often: it never clears one, and an early expiry does no harm.
 * srd_source_is_soon  whether the source is soon, and so needs no deadline. The caller stores what decides on the
 *                     deadline before this call, and reads it after: if the source is soon, the thread that serves it
 *                     sees what was stored
 * srd_source_due      sets the deadline, unless an earlier one is set; then the call costs a load
 * srd_source_soon     makes the source soon: it is served SRD_SOON_MS from now at the latest, or before that by a
 *                     thread that polls in vain or is about to sleep (srd_run_soon, srd_end_soon)
 * Any lock below LOCK_SRD_CHANNEL may be held.
 */
enum {
    SRD_SOON_MS = 1,
    /*
     * A thread that has polled in vain this number of times serves it, too: the program's answer, which would have
     * carried the acknowledgement, is not coming at once. A program that was woken polls once or twice, then answers.
     */
    SRD_SOON_LOOKS = 3
};
static inline bool srd_source_is_soon(struct srd_source *source)
{
    /* It is an update, so that it comes before the update of the thread that serves the source, or after it. */
    return srd_watch_touch(&source->watch) & SRD_WATCH_SOON;
}
void srd_source_soon(struct srd_source *source);
void srd_source_set_due(struct srd_source *source, uint64_t deadline_ms);
static inline void srd_source_due(struct srd_source *source, uint64_t deadline_ms)
{
    if (deadline_ms < atomic_load_explicit(&source->deadline_ms, memory_order_relaxed))
        srd_source_set_due(source, deadline_ms);
}

/*
 * srd_run_soon  serves the sources that are soon; a thread of the program calls it that has polled in vain for a while
 * srd_end_soon  serves them for a thread that is about to sleep: it also takes spent sources out of the list, so that
 *               the thread is not woken for nothing, and leaves (srd_source_leave) those that it made attentive
 * No lock is held.
 */
void srd_run_soon(void);
void srd_end_soon(void);

/* Whether the calling thread is the background thread, inside ready or expired of a source. */
bool srd_in_background(void);

#endif
