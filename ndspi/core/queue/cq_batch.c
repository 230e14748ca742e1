/* SPDX-License-Identifier: MIT */
/* cq_batch.c - what a completion queue knows of its queues' batches: the open ones, and what the device refused. */
#include "ndspi/core/queue/cq_private.h"

#include "ndspi/core/queue/batch.h"
#include "ndspi/core/queue/qp.h"

void nd_cq_batch_begins(struct nd_cq *cq, struct nd_queue *queue)
{
    lock_acquire(&cq->poll.lock);
    list_add_tail(&cq->batches, &queue->batch_link);
    nd_cq_leave(cq);
}

void nd_cq_batch_ends(struct nd_cq *cq, struct nd_queue *queue)
{
    lock_acquire(&cq->poll.lock);
    list_del(&queue->batch_link);
    nd_cq_leave(cq);
}

/*
 * Each open batch once. A queue leaves the list before its queue pair's last pin goes (nd_qp_close). The queue's lock
 * comes before ours, hence without it.
 */
void nd_cq_submit_batches_locked(struct nd_cq *cq)
{
    unsigned open = 0;

    lock_assert_held(&cq->poll.lock);
    list_for_each (&cq->batches, node)
        open++;
    for (; open && !list_empty(&cq->batches); open--) {
        struct list_node *node = list_pop(&cq->batches);
        struct nd_queue *queue = list_entry(node, struct nd_queue, batch_link);
        struct nd_qp *qp = queue->qp;

        list_add_tail(&cq->batches, node);
        nd_object_pin(&qp->object);
        nd_cq_leave(cq);
        nd_queue_submit(queue);
        nd_object_unpin(&qp->object);
        lock_acquire(&cq->poll.lock);
    }
}

void nd_cq_refuse(
    struct nd_cq *cq, struct nd_request *first, const struct nd_request *end, HRESULT status)
{
    struct nd_queue *queue = first->queue;

    lock_acquire(&cq->poll.lock);
    for (struct nd_request *request = first; request != end; request = request->next) {
        request->special |= ND_REQUEST_REFUSED;
        request->result.Status = status;
        status = ND_CANCELED;
        queue->refused++;
        cq->refused++;
    }
    nd_cq_leave(cq);
}

bool nd_cq_is_turn_of(struct nd_cq *cq, const struct nd_request *request)
{
    bool is_turn;

    lock_acquire(&cq->poll.lock);
    is_turn = nd_queue_oldest_locked(request->queue) == request;
    nd_cq_leave(cq);
    return is_turn;
}

void nd_cq_end_refused(struct nd_cq *cq, struct nd_queue *queue)
{
    lock_acquire(&cq->poll.lock);
    nd_cq_drain_locked(cq);
    nd_cq_end_refused_locked(cq, queue, NULL);
    nd_cq_trigger_locked(cq, true);
    nd_cq_leave(cq);
}
