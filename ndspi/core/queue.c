/* SPDX-License-Identifier: MIT */
#include "ndspi/core/queue.h"

#include "ndspi/core/datapath.h"
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
    queue->records = aligned_alloc(sizeof(struct nd_request), records * sizeof(struct nd_request));
    if (!queue->records)
        return ND_NO_MEMORY;
    memset(queue->records, 0, records * sizeof(struct nd_request));
    for (size_t i = 0; i < records; i++) {
        struct nd_request *request = &queue->records[i];

        request->result.QueuePairContext = queue_pair_context;
        request->result.RequestType = type;
        request->queue = queue;
        request->next = &queue->records[(i + 1) % records];
    }
    queue->next = queue->records;
    atomic_init(&queue->freed, queue->records);
    queue->mode = mode;
    queue->stop = mode == ND_QUEUE_OPEN ? queue->next : queue->next->next;
    queue->silent_run_max = (depth + 1) / 2;
    return ND_SUCCESS;
}

void nd_queue_fini(struct nd_queue *queue)
{
    free(queue->bounce);
    free(queue->records);
}

void nd_queue_set_mode(struct nd_queue *queue, enum nd_queue_mode mode)
{
    lock_acquire(&queue->lock);
    queue->mode = mode;
    /* Open: the next post finds room or not by itself. Otherwise: no post passes. */
    queue->stop = queue->next->next;
    lock_release(&queue->lock);
}

static HRESULT mode_status(enum nd_queue_mode mode)
{
    switch (mode) {
    case ND_QUEUE_OPEN: return ND_SUCCESS;
    case ND_QUEUE_CLOSED: return ND_CONNECTION_INVALID;
    default: return ND_DEVICE_REMOVED;
    }
}

HRESULT nd_queue_take(struct nd_queue *queue, struct nd_request **request)
{
    HRESULT status;

    lock_acquire(&queue->lock);
    if ((*request = nd_queue_take_locked(queue)))
        return ND_SUCCESS;
    status = mode_status(queue->mode);
    lock_release(&queue->lock);
    if (FAILED(status))
        return status;
    nd_cq_look(queue->cq);
    lock_acquire(&queue->lock);
    if ((*request = nd_queue_take_locked(queue)))
        return ND_SUCCESS;
    status = mode_status(queue->mode);
    lock_release(&queue->lock);
    return FAILED(status) ? status : ND_NO_MORE_ENTRIES;
}

HRESULT nd_queue_release(struct nd_queue *queue)
{
    lock_release_rest(&queue->lock);
    return ND_SUCCESS;
}

/* A full device queue cannot happen while ours has room, unless the device gives less than it said. */
HRESULT nd_queue_refused(struct nd_queue *queue, uint64_t wr_id, int error)
{
    queue->next = (struct nd_request *)(uintptr_t)wr_id;
    lock_release(&queue->lock);
    error = abs(error);
    if (error == ENOMEM)
        return ND_NO_MORE_ENTRIES;
    log_write(LOG_WARN, LOG_QP, "queue pair %u refuses a request: %s", queue->ibv->qp_num,
        strerror(error));
    return error == EINVAL ? ND_INVALID_DEVICE_REQUEST : nd_status_from_errno(error);
}
