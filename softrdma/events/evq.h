/* SPDX-License-Identifier: MIT */
/*
 * evq.h - a queue of events behind a descriptor: completion channel, event channel, asynchronous events.
 *
 * The descriptor is readable while events are queued, except those for an attached source or a blocked thread. Whether
 * fetching from an empty queue blocks is the O_NONBLOCK flag of the descriptor, the program's to set, as with
 * libibverbs. A thread that blocks moves the device meanwhile.
 */
#ifndef SOFTRDMA_EVENTS_EVQ_H
#define SOFTRDMA_EVENTS_EVQ_H

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
    bool readable;                 /* what fd shows */
    atomic_bool closed;            /* being destroyed: written under the lock */
    struct srd_count sleepers;     /* threads that block in srd_evq_get */
    unsigned generation;           /* of the process that made it */
    int fd;                        /* eventfd, close-on-exec */
};

/* Returns 0 or a negative errno (descriptor limit). */
int srd_evq_init(struct srd_evq *q, const char *name);
/* On return no thread in srd_evq_get uses the queue any more; a blocked one sleeps on, see there. No lock held. */
void srd_evq_fini(struct srd_evq *q);

/* From now on (NULL: no longer) source is run (reactor_run) while events are queued, and the descriptor shows none. */
void srd_evq_attach(struct srd_evq *q, struct reactor_source *source);

/* Lock held. */
void srd_evq_push_locked(struct srd_evq *q, struct list_node *node);
/* Wakes a thread that waits, or sets the descriptor, to match the queue. Called after nodes were unlinked by hand. */
void srd_evq_settle_locked(struct srd_evq *q);

/*
 * srd_evq_get - fetch the next event and apply take to it, under the lock.
 * take  in: may queue the node again (srd_evq_push_locked); must not block
 * Returns 0, or -1 with errno: EAGAIN (empty and non-blocking), EINTR (where a handler is installed without
 * SA_RESTART), EIO (made before a fork). Destroying the queue ends no sleep, as closing a kernel device's descriptor
 * ends no read(2): the thread sleeps until the process ends or a signal arrives. Of these calls the sleep alone is a
 * cancellation point.
 */
int srd_evq_get(struct srd_evq *q,
    void (*take)(struct srd_evq *q, struct list_node *node, void *arg), void *arg);

#endif
