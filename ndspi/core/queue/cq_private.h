/* SPDX-License-Identifier: MIT */
/*
 * cq_private.h - what the files of the completion queue share: cq.c, completion.c, notify.c, get_results.c. LOCK_CQ is
 * held wherever a name says so.
 */
#ifndef NDSPI_CORE_QUEUE_CQ_PRIVATE_H
#define NDSPI_CORE_QUEUE_CQ_PRIVATE_H

#include "ndspi/core/queue/cq.h"

/* A kind of Notify in nd_cq.waiting. */
#define ND_CQ_WAITS(type) (1u << (type))

/* Returns whether more results may come than the client asked for room for: then all are counted. */
static inline bool nd_cq_may_pass_locked(const struct nd_cq *cq)
{
    return cq->most > cq->depth;
}

/*
 * Returns whether the library itself waits for the last completions of a released queue pair; otherwise it relies on
 * the program's polling.
 */
static inline bool nd_cq_drains_closing_locked(const struct nd_cq *cq)
{
    return cq->adapter->dialect->closing_drains && !list_empty(&cq->closing);
}

/* Finds the list that has the queue pair of this number. Devices number queue pairs in a row, or nearly so. */
static inline struct list_head *nd_cq_shared_place(
    const struct nd_cq_shared *shared, uint32_t number)
{
    return &shared->places[(number ^ number >> 12) & shared->mask];
}

/* ---- cq.c ---- */

void nd_cq_fail_locked(struct nd_cq *cq, HRESULT status);
/*
 * Drops the lock; then executes what was decided under it: delivers requests, destroys the dead, flushes broken queue
 * pairs.
 */
void nd_cq_unlock_and_deliver(struct nd_cq *cq);
/* Submits each open batch once. Drops the lock meanwhile. */
void nd_cq_submit_batches_locked(struct nd_cq *cq);

/* A result leaves the software queue, or never enters it: if it is a failure, its queue counts it. */
static inline void nd_cq_count_end(const struct nd_cq_entry *entry)
{
    if (ND_UNLIKELY(FAILED(entry->result.Status)) && entry->queue) {
        if (entry->result.Status == ND_CANCELED)
            entry->queue->flushed++;
        else
            entry->queue->failed++;
    }
}

/* ---- completion.c ---- */

/* Handles one completion of the device. */
void nd_cq_take_locked(struct nd_cq *cq, const struct ibv_wc *wc);
/* Handles all completions that the device has. */
void nd_cq_drain_locked(struct nd_cq *cq);
/* Ends refused requests: all before `until`; NULL: those whose turn it is. */
void nd_cq_end_refused_locked(
    struct nd_cq *cq, struct nd_queue *queue, const struct nd_request *until);

/* Release: the records are the posting side's again; pairs with nd_queue_take_locked. */
static inline void nd_cq_free_up_to(struct nd_queue *queue, struct nd_request *next)
{
    atomic_store_explicit(&queue->freed, next, memory_order_release);
}

/* ---- notify.c ---- */

/*
 * Ends the requests that the new arrivals complete. unsure: if the device marks none, a Receive that may be solicited
 * counts.
 */
bool nd_cq_match_notifies_locked(struct nd_cq *cq, bool unsure);
/* Arms the device for the waiting requests, and drains again. */
void nd_cq_rearm_locked(struct nd_cq *cq);

#endif
