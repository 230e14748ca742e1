/* SPDX-License-Identifier: MIT */
/*
 * patience.h - a thread that is about to sleep first polls, for a while, the source that last woke a sleeping thread.
 * An answer that comes at once then costs neither end a system call.
 *
 * How long it polls depends on how long the last sleep took: where two ends wake each other, that is the kernel's time
 * to wake a thread, and if one of them polls for so long, neither sleeps again.
 *
 * There is one such source in the process. Polls that find nothing use the patience up: a program whose messages come
 * at longer intervals polls only in every sixteenth wait, and an idle source is dropped.
 */
#ifndef SOFTRDMA_EVENTS_PATIENCE_H
#define SOFTRDMA_EVENTS_PATIENCE_H

#include "softrdma/events/source.h"

enum {
    SRD_PATIENCE_NS = 20000,      /* how long a wait polls at least ... */
    SRD_PATIENCE_MAX_NS = 100000, /* ... and at most */
    SRD_PATIENCE_WAITS = 8,       /* in a row that polled in vain, until it is used up */
    SRD_PATIENCE_RARELY = 16,     /* then one of so many waits polls */
    SRD_PATIENCE_ASKS = 64        /* after so many waits a thread reads its affinity again */
};

/*
 * How long a wait polls. UINT64_MAX: as srd_patience_after says, and not at all if the thread may run on one processor
 * only and its peer does not run on another.
 */
extern _Atomic uint64_t srd_patience_ns;

/* How long a wait polls if the last one that slept took slept_ns in all: that time and half as much again. */
uint64_t srd_patience_after(uint64_t slept_ns);

/*
 * srd_patience_awaited  something has come for a thread that sleeps, from a source with poll and left: its wait ends
 * srd_patience_forget   the source is idle, or it ends: the next waits do not poll it
 * No lock of LOCK_SRD_CHANNEL or above is held; the caller has a reference.
 */
void srd_patience_awaited(struct srd_source *source);
void srd_patience_forget(struct srd_source *source);

/*
 * srd_patience_wait - the calling thread is about to wait in the reactor: polls until it is signalled.
 * waiter       in: the thread's
 * deadline_ns  in: of its wait
 */
void srd_patience_wait(struct reactor_waiter *waiter, uint64_t deadline_ns);

#endif
