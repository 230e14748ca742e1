/* SPDX-License-Identifier: MIT */
#include "ndspi/core/queue/batch.h"

#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/qp.h"

#include "util/log.h"

#include <stdlib.h>
#include <string.h>

/* One block: work requests, entries, data. Depth is that of the ring. */
static struct nd_batch *make_batch(const struct nd_queue *queue)
{
    uint32_t most = queue->defers ? ND_CHAIN_MOST : ND_BATCH_MOST;
    uint32_t room = queue->depth < most ? queue->depth : most;
    size_t wr = queue->receives ? sizeof(struct ibv_recv_wr) : sizeof(struct ibv_send_wr);
    size_t sges = (size_t)queue->max_sge * sizeof(struct ibv_sge);
    struct nd_batch *batch = malloc(sizeof(*batch) + room * (wr + sges + queue->max_inline));

    if (!batch)
        return NULL;
    batch->room = room;
    batch->count = 0;
    batch->send = (struct ibv_send_wr *)(batch + 1);
    batch->sges = (struct ibv_sge *)((uint8_t *)(batch + 1) + room * wr);
    batch->data = (uint8_t *)batch->sges + room * sges;
    return batch;
}

struct ibv_sge *nd_batch_sges_locked(const struct nd_queue *queue)
{
    const struct nd_batch *batch = queue->batch;

    return queue->batching ? batch->sges + (size_t)batch->count * queue->max_sge : NULL;
}

uint8_t *nd_batch_data_locked(const struct nd_queue *queue)
{
    const struct nd_batch *batch = queue->batch;

    return queue->batching ? batch->data + (size_t)batch->count * queue->max_inline : NULL;
}

int nd_queue_post_send_locked(struct nd_queue *queue, struct ibv_send_wr *wr)
{
    struct nd_batch *batch = queue->batch;

    lock_assert_held(&queue->lock);
    if (!queue->batching)
        return ibv_post_send(queue->ibv, wr, &queue->bad_send);
    batch->send[batch->count] = *wr;
    batch->send[batch->count].next = &batch->send[batch->count + 1];
    batch->count++;
    return 0;
}

int nd_queue_post_receive_locked(struct nd_queue *queue, struct ibv_recv_wr *wr)
{
    struct nd_batch *batch = queue->batch;
    struct ibv_recv_wr *bad;

    lock_assert_held(&queue->lock);
    if (!queue->batching)
        return ibv_post_recv(queue->ibv, wr, &bad);
    batch->receive[batch->count] = *wr;
    batch->receive[batch->count].next = &batch->receive[batch->count + 1];
    batch->count++;
    return 0;
}

/* One call of the device. Returns an errno, and the record of the first request that the device did not take. */
static int post_list_locked(struct nd_queue *queue, struct nd_request **refused)
{
    struct nd_batch *batch = queue->batch;
    uint32_t last = batch->count - 1;
    int error;

    if (queue->receives) {
        struct ibv_recv_wr *bad = NULL;

        batch->receive[last].next = NULL;
        if ((error = ibv_post_recv(queue->ibv, batch->receive, &bad)))
            *refused = (struct nd_request *)(uintptr_t)bad->wr_id;
    } else {
        struct ibv_send_wr *bad = NULL;

        batch->send[last].next = NULL;
        if ((error = ibv_post_send(queue->ibv, batch->send, &bad)))
            *refused = (struct nd_request *)(uintptr_t)bad->wr_id;
    }
    return error;
}

/*
 * Returns whether the device refused some. No other post comes in between, so all later records of the ring belong to
 * the batch.
 */
static bool submit_locked(struct nd_queue *queue)
{
    struct nd_request *refused = NULL;
    HRESULT status = ND_CANCELED;
    int error;

    if (!queue->batch || !queue->batch->count)
        return false;
    if ((error = post_list_locked(queue, &refused))) {
        status = nd_queue_refusal(queue, error);
        if (!queue->fence.special)
            queue->fence.next = refused;
    }
    queue->batch->count = 0;
    if (refused)
        nd_cq_refuse(queue->cq, refused, queue->next, status);
    return refused;
}

/*
 * Posted after the flush: its completion says that all requests before the first refused one are done. Receives always
 * complete, and so do requests posted to a flushed queue; so one fence is enough. Another thread may still be flushing,
 * so it is a zero-length Write, which a peer does not see.
 */
static void post_fence(struct nd_queue *queue)
{
    struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED }, *bad;

    lock_acquire(&queue->lock);
    if (!queue->receives && !queue->fence.special) {
        queue->fence.special = ND_REQUEST_FENCE;
        queue->fence.queue = queue;
        wr.wr_id = (uintptr_t)&queue->fence;
        if (ibv_post_send(queue->ibv, &wr, &bad))
            log_limited(LOG_WARN, LOG_QP,
                "queue pair %u takes no request after a refused batch: results may come late",
                queue->ibv->qp_num);
    }
    lock_release(&queue->lock);
}

static void end_refusal(struct nd_queue *queue)
{
    nd_cq_end_refused(queue->cq, queue);
    if (SUCCEEDED(nd_qp_to_error(queue->qp)))
        post_fence(queue);
}

static void submit(struct nd_queue *queue, bool end)
{
    bool refused;

    lock_acquire(&queue->lock);
    refused = submit_locked(queue);
    if (end && queue->batching) {
        queue->batching = false;
        nd_queue_park_locked(queue);
        if (!queue->defers)
            nd_cq_batch_ends(queue->cq, queue);
    }
    lock_release(&queue->lock);
    if (refused)
        end_refusal(queue);
}

void nd_queue_submit(struct nd_queue *queue)
{
    submit(queue, false);
}

void nd_queue_end_batch(struct nd_queue *queue)
{
    submit(queue, true);
}

void nd_queue_start_batch(struct nd_queue *queue)
{
    struct nd_batch *batch = NULL;

    lock_acquire(&queue->lock);
    if (!queue->batch) {
        lock_release(&queue->lock);
        batch = make_batch(queue);
        lock_acquire(&queue->lock);
        if (!queue->batch) {
            queue->batch = batch;
            batch = NULL;
        }
    }
    if (!queue->batching && queue->batch && queue->batch->room) {
        queue->batching = true;
        nd_queue_park_locked(queue);
        if (!queue->defers)
            nd_cq_batch_begins(queue->cq, queue);
    }
    lock_release(&queue->lock);
    free(batch); /* another thread opened a batch first */
}

void nd_chain_begin(struct nd_queue *queue, uint32_t flags)
{
    if (!(flags & ND_POST_DEFER) || atomic_load_explicit(&queue->chain, memory_order_relaxed))
        return;
    atomic_store_explicit(&queue->chain, true, memory_order_relaxed);
    nd_queue_start_batch(queue);
}

HRESULT nd_chain_end(struct nd_queue *queue, uint32_t flags, HRESULT status)
{
    if (ND_LIKELY(!atomic_load_explicit(&queue->chain, memory_order_relaxed)) ||
        (SUCCEEDED(status) && flags & ND_POST_DEFER))
        return status;
    atomic_store_explicit(&queue->chain, false, memory_order_relaxed);
    nd_queue_end_batch(queue);
    return status;
}
