/* SPDX-License-Identifier: MIT */
/*
 * patience.h - a thread that is about to sleep first looks for a while at the source that had something last for a
 * thread that slept. An answer that comes at once costs neither end a system call then.
 *
 * It is one source of the process, and the patience is used up by looks in vain: a program whose messages come at
 * longer intervals looks only at every sixteenth wait, and an idle source is forgotten.
 */
#ifndef SOFTRDMA_EVENTS_PATIENCE_H
#define SOFTRDMA_EVENTS_PATIENCE_H

#include "softrdma/events/source.h"

enum {
    SRD_PATIENCE_NS = 20000,  /* of one wait */
    SRD_PATIENCE_WAITS = 8,   /* in a row that looked in vain, until it is used up */
    SRD_PATIENCE_RARELY = 16, /* of so many waits one looks then */
    SRD_PATIENCE_ASKS = 64    /* after so many waits a thread asks anew where it may run */
};

/* How long a wait looks; UINT64_MAX: SRD_PATIENCE_NS, but a thread that may run on one processor alone does not. */
extern _Atomic uint64_t srd_patience_ns;

/*
 * srd_patience_awaited  something has come for a thread that sleeps, from a source with poll and left
 * srd_patience_forget   the source is idle, or it ends: the next waits do not look at it
 * No lock of LOCK_SRD_CHANNEL or above is held; the caller has a reference.
 */
void srd_patience_awaited(struct srd_source *source);
void srd_patience_forget(struct srd_source *source);

/*
 * srd_patience_wait - the calling thread is about to wait in the reactor: it looks, until it is signalled.
 * waiter       in: the thread's
 * deadline_ns  in: of its wait
 */
void srd_patience_wait(struct reactor_waiter *waiter, uint64_t deadline_ns);

#endif
