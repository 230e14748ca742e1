/* SPDX-License-Identifier: MIT */
/*
 * srq.h - shared receive queue.
 *
 * Its records form no ring: queue pairs complete them in any order, and several threads return them through completion
 * queues. So the posting side has a list of free records, which it refills from a stack onto which completions push.
 * Two counts: `posted` falls when a result is fetched (depth), `held` when its completion is seen (threshold).
 *
 * On a device that cannot make one deeper, it is created deeper from the start, as room for Modify (verbs/depth.h).
 *
 * Locks: LOCK_QP_QUEUE. LOCK_SRQ_LIMIT over the device's limit: a thread that arms or disarms it knows which requests
 * wait.
 */
#ifndef NDSPI_CORE_QUEUE_SRQ_H
#define NDSPI_CORE_QUEUE_SRQ_H

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/base.h"
#include "ndspi/core/object.h"
#include "ndspi/core/pending.h"
#include "ndspi/core/queue/queue.h"

struct nd_srq_chunk;

struct nd_srq {
    struct nd_object object;    /* first */
    struct nd_adapter *adapter; /* pinned */
    struct nd_child child;
    struct ibv_pd *pd; /* set before nd_srq_init; NULL: it takes the adapter's */
    struct ibv_srq *ibv;
    struct nd_pending pending; /* one kind, 0 */
    uintptr_t affinity;
    uint32_t max_sge, max_length;
    uint32_t room; /* Receives that the device's queue takes, as it was made */

    struct lock limit_lock; /* LOCK_SRQ_LIMIT; depth and threshold change under both */
    struct lock lock;       /* guards the members down to failed */
    uint32_t depth, threshold;
    uint32_t records; /* how many records were made so far, in chunks */
    struct nd_srq_chunk *chunks;
    struct nd_request *free;
    HRESULT failed;

    _Atomic(struct nd_request *) returned;
    atomic_uint posted, held;
};

/* Parameters checked by the facade. Returns ND_SUCCESS, ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES, ND_DEVICE_REMOVED. */
HRESULT nd_srq_init(struct nd_srq *srq, struct nd_adapter *adapter, struct nd_sink_file *file,
    uint32_t depth, uint32_t sge, uint32_t threshold, uintptr_t affinity,
    void (*destroy)(struct nd_object *object));
/* The last Release: cancels, drops the application's pin. */
void nd_srq_close(struct nd_srq *srq);
void nd_srq_fini(struct nd_srq *srq);

/*
 * nd_srq_modify - 0 keeps a value. Returns ND_SUCCESS; ND_INVALID_PARAMETER: depth above the limit, or threshold above
 * depth, also if it is the one that is kept; ND_BUFFER_OVERFLOW: more Receives are posted; ND_INSUFFICIENT_RESOURCES:
 * the device has not that many, or cannot make it deeper than it is; ND_NO_MEMORY; ND_DEVICE_REMOVED.
 */
HRESULT nd_srq_modify(struct nd_srq *srq, uint32_t depth, uint32_t threshold);
/* Returns ND_PENDING, or a failure. */
HRESULT nd_srq_notify(struct nd_srq *srq, OVERLAPPED *overlapped);
/*
 * nd_srq_arm - a Notify that merges and cannot fail, for a dialect that arms.
 * request  in: always the same one of a queue; begins unless it is under way. It ends as a Notify does; also with
 *          ND_INTERNAL_ERROR: the device cannot watch the queue
 */
void nd_srq_arm(struct nd_srq *srq, OVERLAPPED *request);
/* Ends its Notify requests with ND_CANCELED. */
void nd_srq_cancel(struct nd_srq *srq);
HRESULT nd_srq_receive(struct nd_srq *srq, void *context, const ND2_SGE *sge, uint32_t n);

/* counts.c: adds what it has now. Takes LOCK_QP_QUEUE. */
void nd_srq_count(struct nd_srq *srq, struct nd_counts *counts);

/* The device says the limit was reached. */
void nd_srq_event(struct nd_srq *srq);
void nd_srq_fail(struct nd_srq *srq, HRESULT status);

/* A completion was seen: its record is free. Any lock. */
void nd_srq_seen(struct nd_srq *srq, struct nd_request *request);
/* A Receive's result was fetched: its place is free. */
static inline void nd_srq_fetched(struct nd_srq *srq)
{
    atomic_fetch_sub_explicit(&srq->posted, 1, memory_order_release);
}

#endif
