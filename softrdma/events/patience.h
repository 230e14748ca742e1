/* SPDX-License-Identifier: MIT */
/*
 * patience.h - a thread that is about to sleep first polls, for a while, the source that last woke a sleeping thread.
 * An answer that comes at once then costs neither end a system call.
 *
 * How long it polls depends on how long the last sleep took: where two ends wake each other, that is the kernel's time
 * to wake a thread, and if one end polls for that time, neither sleeps again.
 *
 * The process polls one source in this way. After SRD_PATIENCE_WAITS waits in a row whose poll found nothing, only
 * every sixteenth wait polls: the program's messages come at longer intervals. An idle source is not polled any more.
 */
#ifndef SOFTRDMA_EVENTS_PATIENCE_H
#define SOFTRDMA_EVENTS_PATIENCE_H

#include "softrdma/events/source.h"

enum {
    SRD_PATIENCE_NS = 20000,      /* the shortest time that a wait polls */
    SRD_PATIENCE_MAX_NS = 100000, /* the longest time that a wait polls */
    SRD_PATIENCE_WAITS = 8,   /* waits in a row that poll in vain before most waits do not poll */
    SRD_PATIENCE_RARELY = 16, /* one wait in this number polls then */
    SRD_PATIENCE_ASKS = 64    /* waits of a thread between two reads of its affinity */
};

/*
 * How long a wait polls; tests set it. UINT64_MAX: as long as srd_patience_after says, and not at all if the thread may
 * run on one processor only and its peer does not run on another.
 */
extern _Atomic uint64_t srd_patience_ns;

/* How long a wait polls if the last one that slept took slept_ns in all: that time and half as much again. */
uint64_t srd_patience_after(uint64_t slept_ns);

/*
 * srd_patience_awaited  a source with poll and left has received octets for a thread that sleeps: the wait ends
 * srd_patience_forget   the source is idle, or it ends: the next waits do not poll it
 * No lock of LOCK_SRD_CHANNEL or above is held; the caller has a reference.
 */
void srd_patience_awaited(struct srd_source *source);
void srd_patience_forget(struct srd_source *source);

/*
 * srd_patience_wait - the calling thread is about to wait in the reactor: polls until it is signalled.
 * waiter       in: the thread's
 * deadline_ns  in: the deadline of the wait
 */
void srd_patience_wait(struct reactor_waiter *waiter, uint64_t deadline_ns);

#endif
