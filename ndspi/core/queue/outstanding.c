/* SPDX-License-Identifier: MIT */
/* outstanding.c - how many requests of a queue the device still has, for the checker of programs. */
#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/qp.h"

/*
 * Returns whether the completion queue takes the device's completions, so that a request that is not retired has not
 * ended.
 */
static bool is_exact_locked(const struct nd_queue *queue)
{
    const struct nd_cq *cq = queue->cq;

    return !cq->failed && !cq->closed && !cq->taking && !queue->refused &&
           (queue->mode == ND_QUEUE_OPEN || queue->mode == ND_QUEUE_CLOSED);
}

bool nd_queue_outstanding(struct nd_queue *queue, uint32_t *count)
{
    struct nd_cq *cq = queue->cq;
    bool exact;

    if (nd_adapter_removed(queue->qp->adapter))
        return false;
    nd_cq_look(cq);
    if (nd_qp_flushed(queue->qp))
        return false; /* some devices flush late */
    lock_acquire(&queue->lock);
    lock_acquire(&cq->poll.lock);
    if ((exact = is_exact_locked(queue)))
        *count = nd_queue_distance(queue, nd_queue_oldest_locked(queue), queue->next);
    lock_release(&cq->poll.lock);
    lock_release(&queue->lock);
    return exact;
}
