/* SPDX-License-Identifier: MIT */
/*
 * datapath.h - the usual Send, Receive and GetResults, inline so that a facade's method is one function.
 *
 * Usual: one entry, no flags; results polled straight from the device into the caller's array. Everything else goes to
 * the general forms (qp_post.c, cq_drain.c), which also explain. Each call takes one lock; none allocates or makes a
 * system call of ours. The number of instructions is measured (tests/bench): look at the machine code after a change.
 */
#ifndef NDSPI_CORE_DATAPATH_H
#define NDSPI_CORE_DATAPATH_H

#include "ndspi/core/cq.h"
#include "ndspi/core/qp.h"
#include "ndspi/core/queue.h"

_Static_assert(sizeof(void *) != 8 ||
                   (sizeof(ND2_SGE) == sizeof(struct ibv_sge) &&
                       offsetof(ND2_SGE, Buffer) == offsetof(struct ibv_sge, addr) &&
                       offsetof(ND2_SGE, BufferLength) == offsetof(struct ibv_sge, length) &&
                       offsetof(ND2_SGE, MemoryRegionToken) == offsetof(struct ibv_sge, lkey)),
    "an ND2_SGE array is an ibv_sge array");

/* The next record, taken; NULL: none, or the queue is not open. */
static inline struct nd_request *nd_queue_take_locked(struct nd_queue *queue)
{
    struct nd_request *request = queue->next;
    struct nd_request *next = request->next;

    if (ND_UNLIKELY(next == queue->stop))
        return NULL;
    queue->next = next;
    return request;
}

/* The device refused: the record is the next one again. Drops the lock. */
HRESULT nd_queue_refused(struct nd_queue *queue, struct nd_request *request, int error);

/* IND2QueuePair::Send. */
static inline HRESULT nd_qp_send(
    struct nd_qp *qp, void *context, const ND2_SGE *sge, uint32_t n, uint32_t flags)
{
    struct nd_queue *queue = &qp->initiator;
    struct nd_request *request;
    int error;

    if (ND_UNLIKELY((n ^ 1) | flags) || ND_UNLIKELY(!sge) ||
        ND_UNLIKELY(sge->BufferLength - 1 >= queue->max_usual))
        return nd_qp_send_general(qp, context, sge, n, flags);
    lock_acquire(&queue->lock);
    request = nd_queue_take_locked(queue);
    if (ND_UNLIKELY(!request)) {
        lock_release(&queue->lock);
        return nd_qp_send_general(qp, context, sge, n, flags);
    }
    request->result.RequestContext = context;
    request->result.RequestType = Nd2RequestTypeSend;
    request->special = 0;
    queue->send_wr.wr_id = (uintptr_t)request;
    queue->send_wr.sg_list = (struct ibv_sge *)(uintptr_t)sge;
    error = ibv_post_send(queue->ibv, &queue->send_wr, &queue->bad_send);
    if (ND_UNLIKELY(error))
        return nd_queue_refused(queue, request, error);
    lock_release(&queue->lock);
    return ND_SUCCESS;
}

/* IND2QueuePair::Receive. */
static inline HRESULT nd_qp_receive(struct nd_qp *qp, void *context, const ND2_SGE *sge, uint32_t n)
{
    struct nd_queue *queue = &qp->receive;
    struct nd_request *request;
    int error;

    if (ND_UNLIKELY(n != 1) || ND_UNLIKELY(!sge) ||
        ND_UNLIKELY(sge->BufferLength - 1 >= queue->max_usual))
        return nd_qp_receive_general(qp, context, sge, n);
    lock_acquire(&queue->lock);
    request = nd_queue_take_locked(queue);
    if (ND_UNLIKELY(!request)) {
        lock_release(&queue->lock);
        return nd_qp_receive_general(qp, context, sge, n);
    }
    request->result.RequestContext = context;
    queue->recv_wr.wr_id = (uintptr_t)request;
    queue->recv_wr.sg_list = (struct ibv_sge *)(uintptr_t)sge;
    error = ibv_post_recv(queue->ibv, &queue->recv_wr, &queue->bad_recv);
    if (ND_UNLIKELY(error))
        return nd_queue_refused(queue, request, error);
    lock_release(&queue->lock);
    return ND_SUCCESS;
}

/* One completion into the caller's array; false: it needs the slow path, nothing was done. CQ lock held. */
static inline bool nd_cq_translate_locked(const struct ibv_wc *wc, ND2_RESULT *result)
{
    struct nd_request *request = (struct nd_request *)(uintptr_t)wc->wr_id;
    struct nd_queue *queue = request->queue;

    if (ND_UNLIKELY((uint32_t)wc->status | request->special))
        return false;
    *result = request->result;
    if (request->result.RequestType == Nd2RequestTypeReceive) {
        if (ND_UNLIKELY(wc->wc_flags & IBV_WC_WITH_INV))
            return false;
        result->BytesTransferred = wc->byte_len;
    }
    queue->seen = request->next;
    /* Release: the record is the posting side's again; pairs with queue.c. */
    atomic_store_explicit(&queue->freed, request->next, memory_order_release);
    return true;
}

/* IND2CompletionQueue::GetResults. */
static inline unsigned nd_cq_results(struct nd_cq *cq, ND2_RESULT *results, unsigned room)
{
    int polled;

    if (ND_UNLIKELY(!results))
        return 0;
    lock_acquire(&cq->lock);
    if (ND_UNLIKELY(cq->slow) || ND_UNLIKELY(room > ND_CQ_BATCH))
        return nd_cq_results_slow(cq, results, room, 0, 0, 0);
    polled = ibv_poll_cq(cq->ibv, (int)room, cq->wc);
    for (int i = 0; i < polled; i++)
        if (!nd_cq_translate_locked(&cq->wc[i], &results[i]))
            return nd_cq_results_slow(
                cq, results, room, (unsigned)i, (unsigned)i, (unsigned)polled);
    if (ND_UNLIKELY(polled < 0))
        return nd_cq_results_slow(cq, results, room, 0, 0, 0);
    lock_release(&cq->lock);
    return (unsigned)polled;
}

#endif
