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

/*
 * Makes the compiler forget where a pointer came from: it would keep the interface, the object and the queue in a
 * register each, and save and restore them all.
 */
#define ND_ALONE(pointer) __asm__("" : "+r"(pointer))

/*
 * The next record, taken; NULL: the queue is not open, or full. `stop` may be an old copy of `freed`: acquire, since what
 * the fetching thread did with the record comes before it is used anew; pairs with nd_cq_translate_locked, cq_drain.c.
 */
static inline struct nd_request *nd_queue_take_locked(struct nd_queue *queue)
{
    struct nd_request *request = queue->next;
    struct nd_request *next = request->next;

    if (ND_UNLIKELY(next == queue->stop)) {
        if (queue->mode != ND_QUEUE_OPEN)
            return NULL;
        queue->stop = atomic_load_explicit(&queue->freed, memory_order_acquire);
        if (next == queue->stop)
            return NULL;
    }
    queue->next = next;
    return request;
}

/*
 * The rare exits of the functions below. All are last calls, so that nothing needs to be kept for them.
 * refused        the device did not take the request of the record `wr_id`; status of the post
 * send, receive  the general form after the record was not to be had; drops the lock first
 * release        somebody waits for the lock; ND_SUCCESS, or the count
 * count          none or several completions were polled (negative: the queue failed); how many results
 */
HRESULT nd_queue_refused(struct nd_queue *queue, uint64_t wr_id, int error);
HRESULT nd_queue_send_full(
    struct nd_queue *queue, void *context, const ND2_SGE *sge, uint32_t n, uint32_t flags);
HRESULT nd_queue_receive_full(
    struct nd_queue *queue, void *context, const ND2_SGE *sge, uint32_t n);
HRESULT nd_queue_release(struct nd_queue *queue);
unsigned nd_cq_results_count(struct nd_cq_poll *poll, int polled);
unsigned nd_cq_results_release(struct nd_cq_poll *poll, unsigned count);

/* IND2QueuePair::Send. */
static inline HRESULT nd_queue_send(
    struct nd_queue *queue, void *context, const ND2_SGE *sge, uint32_t n, uint32_t flags)
{
    struct nd_request *request;
    int error;

    ND_ALONE(queue);
    if (ND_UNLIKELY((n ^ 1) | flags) || ND_UNLIKELY(!sge) ||
        ND_UNLIKELY(sge->BufferLength > queue->max_length) ||
        ND_UNLIKELY(!lock_acquire_quick(&queue->lock)))
        return nd_queue_send_general(queue, context, sge, n, flags);
    request = nd_queue_take_locked(queue);
    if (ND_UNLIKELY(!request))
        return nd_queue_send_full(queue, context, sge, n, flags);
    request->result.RequestContext = context;
    request->result.RequestType = Nd2RequestTypeSend;
    request->special = 0;
    queue->send_wr.wr_id = (uintptr_t)request;
    queue->send_wr.sg_list = (struct ibv_sge *)(uintptr_t)sge;
    error = ibv_post_send(queue->ibv, &queue->send_wr, &queue->bad_send);
    if (ND_UNLIKELY(error))
        return nd_queue_refused(queue, queue->send_wr.wr_id, error);
    if (ND_UNLIKELY(!lock_release_quick(&queue->lock)))
        return nd_queue_release(queue);
    return ND_SUCCESS;
}

/* IND2QueuePair::Receive. */
static inline HRESULT nd_queue_receive(
    struct nd_queue *queue, void *context, const ND2_SGE *sge, uint32_t n)
{
    struct nd_request *request;
    int error;

    ND_ALONE(queue);
    if (ND_UNLIKELY(n != 1) || ND_UNLIKELY(!sge) ||
        ND_UNLIKELY(sge->BufferLength > queue->max_length) ||
        ND_UNLIKELY(!lock_acquire_quick(&queue->lock)))
        return nd_queue_receive_general(queue, context, sge, n);
    request = nd_queue_take_locked(queue);
    if (ND_UNLIKELY(!request))
        return nd_queue_receive_full(queue, context, sge, n);
    request->result.RequestContext = context;
    queue->recv_wr.wr_id = (uintptr_t)request;
    queue->recv_wr.sg_list = (struct ibv_sge *)(uintptr_t)sge;
    error = ibv_post_recv(queue->ibv, &queue->recv_wr, &queue->bad_recv);
    if (ND_UNLIKELY(error))
        return nd_queue_refused(queue, queue->recv_wr.wr_id, error);
    if (ND_UNLIKELY(!lock_release_quick(&queue->lock)))
        return nd_queue_release(queue);
    return ND_SUCCESS;
}

/*
 * One completion into the caller's array; false: it needs the general way, nothing was done. CQ lock held.
 * Lengths mean something for Receives alone, and a peer's invalidation comes with those alone; asking for the kind would
 * cost more than it saves.
 */
static inline bool nd_cq_translate_locked(const struct ibv_wc *wc, ND2_RESULT *result)
{
    struct nd_request *request = (struct nd_request *)(uintptr_t)wc->wr_id;

    if (ND_UNLIKELY((uint32_t)wc->status | request->special | (wc->wc_flags & IBV_WC_WITH_INV)))
        return false;
    *result = request->result;
    result->BytesTransferred = wc->byte_len;
    /* Release: the record is the posting side's again; pairs with nd_queue_take_locked. */
    atomic_store_explicit(&request->queue->freed, request->next, memory_order_release);
    return true;
}

/*
 * IND2CompletionQueue::GetResults. A program that polls finds one completion most of the time: that has a path of its
 * own.
 */
static inline unsigned nd_cq_results(struct nd_cq_poll *poll, ND2_RESULT *results, unsigned room)
{
    int polled;

    ND_ALONE(poll);
    if (ND_UNLIKELY(!lock_acquire_quick(&poll->lock)))
        return nd_cq_results_general(poll, results, room);
    poll->results = results;
    poll->room = room;
    if (ND_UNLIKELY(room > poll->usual_room))
        return nd_cq_results_rest(poll, 0, 0);
    polled = ibv_poll_cq(poll->ibv, (int)room, poll->wc);
    ND_ALONE(poll);
    if (ND_UNLIKELY(polled != 1))
        return nd_cq_results_count(poll, polled);
    if (!nd_cq_translate_locked(poll->wc, poll->results))
        return nd_cq_results_rest(poll, 1, 1);
    if (ND_UNLIKELY(!lock_release_quick(&poll->lock)))
        return nd_cq_results_release(poll, 1);
    return 1;
}

#endif
