/* SPDX-License-Identifier: MIT */
/*
 * source.h - a connection's or listener's socket as a source of the reactor (reactor/reactor.h), with softrdma's
 * additions: polls that bypass the reactor, and deadlines that are set often and seldom needed.
 *
 * A source is paused when the reactor would find it ready over and over: another thread polls it directly, or is
 * serving it. The set does not watch a paused source; it is checked again every SRD_SOON_MS.
 */
#ifndef SOFTRDMA_EVENTS_SOURCE_H
#define SOFTRDMA_EVENTS_SOURCE_H

#include "reactor/reactor.h"
#include "util/list.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct srd_source;

struct srd_source_ops {
    /*
     * The descriptor is ready (EPOLL* bits). background: called by the background thread, no thread of the program is
     * at work. Returns false when another thread has taken what was ready, or is taking it: then the source may stay
     * ready until that thread is done.
     */
    bool (*ready)(struct srd_source *source, uint32_t events, bool background);
    /*
     * One look by a thread that polls a completion queue, at this source alone. again: it will look again before it
     * sleeps, so nothing need wake it meanwhile. Returns whether anything moved. NULL where no queue knows the source.
     */
    bool (*poll)(struct srd_source *source, bool again);
    /*
     * The same for who knows the source by its queue alone, without a reference. NULL: nothing is to be done.
     * enter         LOCK_SRD_CQ held: begins a look, unless another thread is at it. Returns whether poll_entered is to
     *               follow; until that returns the source stays
     * poll_entered  as poll
     */
    bool (*enter)(struct srd_source *source);
    bool (*poll_entered)(struct srd_source *source, bool again);
    /*
     * The deadline has passed, or the source is soon and served now; it is unset when this is called. No lock is held.
     */
    void (*expired)(struct srd_source *source);
    /* Whether the source needs no service before its soon time. NULL: it always does. Takes no lock. */
    bool (*idle)(struct srd_source *source);
    /* Whether it is idle and no sleeping thread need wake for it: it need not stay soon. NULL: it has to. No lock. */
    bool (*spent)(struct srd_source *source);
    /* EPOLLIN and EPOLLOUT as wanted now; 0: out of the set (errors and hang-ups would stay ready). No lock. */
    uint32_t (*interest)(struct srd_source *source);
    /* Whether its peer runs, as far as known, on another processor than the caller. NULL: not known. Takes no lock. */
    bool (*apart)(struct srd_source *source);
    /* srd_source_leave was called. NULL: nothing is to be done. */
    void (*left)(struct srd_source *source);
    void (*free)(struct srd_source *source); /* last reference gone */
};

/* Whether a thread polls a source. A poll leads to the last of these, each expiry one step back. */
enum srd_polled { SRD_POLLED_NOT, SRD_POLLED_BEFORE, SRD_POLLED_SINCE };

struct srd_source {
    struct reactor_source reactor; /* first */
    const struct srd_source_ops *ops;
    /* what the program polls where this is its second descriptor; NULL: itself */
    struct srd_source *of;
    int fd;           /* -1: closed */
    unsigned process; /* srd_generation of its maker */
    bool added;
    atomic_uint polls; /* counted by threads that poll this very source */
    atomic_uint seen;  /* polls when the reactor looked last, or the program left it */
    /* a thread that polls has found it in the set since (reactor_poll), and needs it there */
    atomic_bool looked_at;
    atomic_bool paused;
    /* a thread polls it, so the reactor does not see what comes; ops->left ends that */
    _Atomic(enum srd_polled) attentive;
    /* While attentive: the thread that looked last (srd_source_here). */
    _Atomic(const void *) looker;
    atomic_bool attended;         /* the background thread is serving it */
    _Atomic uint64_t deadline_ms; /* UINT64_MAX: none; the lock to write */
    atomic_uint soon;             /* 1: in the list of sources due soon; the lock to change */
    uint64_t soon_ms;             /* when it is due */
    struct list_node soon_node;
    /* the completion queues that poll it, each sets and reads its own; NULL */
    _Atomic(const void *) queues[2];
};

/* One reference, the caller's. Not known to the reactor yet. */
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
 * srd_source_add     from now on its calls come; the reactor has a reference. Returns 0 or a negative errno.
 * srd_source_update  interest may have changed
 * srd_source_remove  no call of ready or expired begins after this (one may be running)
 * The last two do nothing on a source that is not added. Any lock below LOCK_SRD_CHANNEL may be held.
 */
int srd_source_add(struct srd_source *source);
void srd_source_update(struct srd_source *source);
void srd_source_remove(struct srd_source *source);

/* What stands for the calling thread in "looker". */
static inline const void *srd_source_here(void)
{
    return (const void *)pthread_self();
}

/* A thread of the program looks at this very source. */
static inline void srd_source_polled(struct srd_source *source)
{
    atomic_store_explicit(&source->polls,
        atomic_load_explicit(&source->polls, memory_order_relaxed) + 1, memory_order_relaxed);
}
/* Whether it was since the reactor found it ready, or since it was left; or is paused, or attentive. */
static inline bool srd_source_was_polled(struct srd_source *source)
{
    return atomic_load_explicit(&source->polls, memory_order_relaxed) !=
               atomic_load_explicit(&source->seen, memory_order_relaxed) ||
           atomic_load_explicit(&source->paused, memory_order_relaxed) ||
           atomic_load_explicit(&source->attentive, memory_order_relaxed);
}
/* Whether it was since the last such question, since the reactor found it ready, or since it was left. */
bool srd_source_polls_since(struct srd_source *source);
/* The thread that polled it stops polling: the reactor serves it at once. */
void srd_source_leave(struct srd_source *source);

/*
 * srd_sources_poll - runs what is ready, as reactor_poll does.
 * only  out: the one source that was ready, referenced; NULL: none was, or several were
 * Returns whether any was.
 */
bool srd_sources_poll(struct srd_source **only);

/* Sets (UINT64_MAX: clears) the deadline of a source that is added, clock_now_ms() units. */
void srd_source_deadline(struct srd_source *source, uint64_t deadline_ms);

/*
 * For a source whose deadlines change often: it never clears one, and an early expiry does no harm.
 * srd_source_is_soon  whether the source is soon served anyway. Call it after what decides on its deadlines was stored,
 *                     and before that is read: if it is soon, the thread that serves it sees what was stored.
 * srd_source_due      sets the deadline unless an earlier one is set; then it costs a load.
 * srd_source_soon     it is served SRD_SOON_MS from now at the latest, or before that by a thread that is about to
 *                     sleep (srd_run_soon)
 * Any lock below LOCK_SRD_CHANNEL may be held.
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
void srd_source_set_due(struct srd_source *source, uint64_t deadline_ms);
static inline void srd_source_due(struct srd_source *source, uint64_t deadline_ms)
{
    if (deadline_ms < atomic_load_explicit(&source->deadline_ms, memory_order_relaxed))
        srd_source_set_due(source, deadline_ms);
}

/*
 * srd_run_soon  serves what is soon: a thread of the program that has polled in vain for a while; no lock held
 * srd_end_soon  the same for a thread that is about to sleep: what is spent is not soon any more, so that the thread is
 *               not woken for nothing; and what expects this thread to poll it is left (srd_source_leave)
 */
void srd_run_soon(void);
void srd_end_soon(void);

/* Whether the caller is the background thread, in a call of a source. */
bool srd_in_background(void);

#endif
