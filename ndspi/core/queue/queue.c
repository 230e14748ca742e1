/* SPDX-License-Identifier: MIT */
#include "ndspi/core/queue/queue.h"

#include "ndspi/core/status.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

HRESULT nd_queue_init(struct nd_queue *queue, uint32_t depth, ND2_REQUEST_TYPE type,
    void *queue_pair_context, enum nd_queue_mode mode)
{
    size_t records = (size_t)depth + 1;

    lock_init(&queue->lock, LOCK_QP_QUEUE, "request queue");
    list_node_init(&queue->closing_link);
    list_node_init(&queue->batch_link);
    queue->records = aligned_alloc(sizeof(struct nd_request), records * sizeof(struct nd_request));
    if (!queue->records)
        return ND_NO_MEMORY;
    memset(queue->records, 0, records * sizeof(struct nd_request));
    for (size_t i = 0; i < records; i++) {
        struct nd_request *request = &queue->records[i];

        request->result.QueuePairContext = queue_pair_context;
        request->result.RequestType = type;
        request->queue = queue;
        request->operation = nd_operations[type];
        request->wc_length = type == Nd2RequestTypeReceive ? UINT32_MAX : 0;
        request->next = &queue->records[(i + 1) % records];
    }
    queue->next = queue->records;
    queue->counts.base = queue->records;
    atomic_init(&queue->freed, queue->records);
    queue->known = ND_QUEUE_UNKNOWN;
    queue->mode = mode;
    queue->slow = mode != ND_QUEUE_OPEN;
    queue->stop = queue->slow ? queue->next->next : queue->next;
    queue->depth = depth;
    queue->receives = type == Nd2RequestTypeReceive;
    queue->silent_run_max = (depth + 1) / 2;
    return ND_SUCCESS;
}

void nd_queue_fini(struct nd_queue *queue)
{
    free(queue->batch);
    free(queue->bounce);
    free(queue->sges);
    free(queue->records);
}

void nd_queue_know(struct nd_queue *queue, uint32_t token, uint32_t lkey)
{
    lock_acquire(&queue->lock);
    queue->known = token;
    queue->sge.lkey = lkey;
    lock_release(&queue->lock);
}

void nd_queue_forget(struct nd_queue *queue, uint32_t token)
{
    lock_acquire(&queue->lock);
    if (queue->known == token)
        queue->known = ND_QUEUE_UNKNOWN;
    lock_release(&queue->lock);
}

void nd_queue_park_locked(struct nd_queue *queue)
{
    queue->slow = queue->mode != ND_QUEUE_OPEN || queue->batching || !queue->max_sge;
    queue->stop = queue->next->next;
}

void nd_queue_set_mode_locked(struct nd_queue *queue, enum nd_queue_mode mode)
{
    lock_assert_held(&queue->lock);
    queue->mode = mode;
    nd_queue_park_locked(queue);
}

void nd_queue_set_mode(struct nd_queue *queue, enum nd_queue_mode mode)
{
    lock_acquire(&queue->lock);
    nd_queue_set_mode_locked(queue, mode);
    lock_release(&queue->lock);
}

void nd_queue_set_flushed(struct nd_queue *queue)
{
    lock_acquire(&queue->lock);
    if (queue->mode == ND_QUEUE_OPEN)
        nd_queue_set_mode_locked(queue, ND_QUEUE_FLUSHED);
    lock_release(&queue->lock);
}

static HRESULT mode_status(enum nd_queue_mode mode)
{
    switch (mode) {
    case ND_QUEUE_OPEN: return ND_SUCCESS;
    case ND_QUEUE_CLOSED:
    case ND_QUEUE_FLUSHED: return ND_CONNECTION_INVALID;
    default: return ND_DEVICE_REMOVED;
    }
}

static struct nd_request *take_any_locked(struct nd_queue *queue)
{
    struct nd_request *request = queue->next;

    if (!queue->slow)
        return nd_queue_take_locked(queue);
    if (FAILED(mode_status(queue->mode)) ||
        request->next == atomic_load_explicit(&queue->freed, memory_order_acquire))
        return NULL;
    nd_queue_count_locked(queue);
    queue->next = request->next;
    nd_queue_park_locked(queue);
    return request;
}

HRESULT nd_queue_try_take_locked(struct nd_queue *queue, struct nd_request **request)
{
    HRESULT status = mode_status(queue->mode);

    lock_assert_held(&queue->lock);
    if ((*request = take_any_locked(queue)))
        return ND_SUCCESS;
    return FAILED(status) ? status : ND_NO_MORE_ENTRIES;
}

void nd_queue_untake_locked(struct nd_queue *queue, struct nd_request *request)
{
    lock_assert_held(&queue->lock);
    queue->next = request;
    if (queue->slow)
        nd_queue_park_locked(queue);
}

HRESULT nd_queue_release(struct nd_queue *queue)
{
    lock_release_rest(&queue->lock);
    return ND_SUCCESS;
}

/* The device's queue cannot be full while our ring has room, unless the device takes fewer than it promised. */
HRESULT nd_queue_refusal(const struct nd_queue *queue, int error)
{
    if (error == ENOMEM)
        return ND_NO_MORE_ENTRIES;
    log_limited(LOG_WARN, LOG_QP, "queue pair %u refuses a request: %s", queue->ibv->qp_num,
        strerror(error));
    return error == EINVAL ? ND_INVALID_DEVICE_REQUEST : nd_status_from_errno(error);
}

HRESULT nd_queue_refused_send(struct nd_queue *queue, uint64_t wr_id, int error)
{
    queue->octets -= queue->send_wr.sg_list->length;
    return nd_queue_refused(queue, wr_id, error);
}

HRESULT nd_queue_refused(struct nd_queue *queue, uint64_t wr_id, int error)
{
    nd_queue_untake_locked(queue, (struct nd_request *)(uintptr_t)wr_id);
    lock_release(&queue->lock);
    return nd_queue_refusal(queue, error);
}
