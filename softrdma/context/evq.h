/* SPDX-License-Identifier: MIT */
/*
 * evq.h - a queue of events behind a descriptor: completion channel, event channel, asynchronous events.
 *
 * The descriptor is readable while events are queued, except those for an attached source or a blocked thread. Whether
 * fetching from an empty queue blocks is the O_NONBLOCK flag of the descriptor, the program's to set, as with
 * libibverbs. A thread that blocks moves the device meanwhile.
 */
#ifndef SOFTRDMA_CONTEXT_EVQ_H
#define SOFTRDMA_CONTEXT_EVQ_H

#include "softrdma/count.h"
#include "reactor/reactor.h"
#include "util/list.h"
#include "util/lock.h"

#include <stdbool.h>

struct srd_evq {
    struct lock lock; /* LOCK_SRD_CHANNEL */
    struct list_head queue;
    struct list_head waiters;      /* threads that block in srd_evq_get */
    struct reactor_source *source; /* srd_evq_attach */
    bool readable;                 /* fd is readable */
    atomic_bool closed;            /* the queue is being destroyed; written under the lock */
    struct srd_count sleepers;     /* number of threads that block in srd_evq_get */
    unsigned generation;           /* srd_generation of the process that made it */
    int fd;                        /* eventfd, close-on-exec */
};

/* Returns 0 or a negative errno (descriptor limit). */
int srd_evq_init(struct srd_evq *q, const char *name);
/* Returns when no thread uses the queue any more; one that blocks in srd_evq_get sleeps on, see there. No lock held. */
void srd_evq_fini(struct srd_evq *q);

/* Has source run (reactor_run) from now on while events are queued, and the descriptor unreadable; NULL ends that. */
void srd_evq_attach(struct srd_evq *q, struct reactor_source *source);

/* Queues an event. The queue's lock is held. */
void srd_evq_push_locked(struct srd_evq *q, struct list_node *node);
/*
 * Announces a queued event: runs the source, wakes a thread that waits, or makes the descriptor readable; or makes it
 * unreadable. To be called after nodes were unlinked by hand.
 */
void srd_evq_announce_locked(struct srd_evq *q);

/*
 * srd_evq_get - fetch the next event and apply take to it, under the lock.
 * take  in: may queue the node again (srd_evq_push_locked); must not block
 * Returns 0, or -1 with errno: EAGAIN (empty and non-blocking), EINTR (a handler without SA_RESTART is installed), EIO
 * (the queue was made before a fork). Destroying the queue ends no sleep, as closing a kernel device's descriptor ends
 * no read(2): the thread sleeps until the process ends or a signal arrives. The sleep is the only cancellation point.
 */
int srd_evq_get(struct srd_evq *q,
    void (*take)(struct srd_evq *q, struct list_node *node, void *arg), void *arg);

#endif
