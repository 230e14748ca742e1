/* SPDX-License-Identifier: MIT */
#include "ndspi/core/queue.h"

#include "ndspi/core/cq.h"

#include <stdlib.h>
#include <string.h>

HRESULT nd_queue_init(struct nd_queue *queue, uint32_t depth, ND2_REQUEST_TYPE type,
    void *queue_pair_context, enum nd_queue_mode mode)
{
    size_t records = (size_t)depth + 1;

    lock_init(&queue->lock, LOCK_QP_QUEUE, "request queue");
    list_node_init(&queue->closing_link);
    if (!depth)
        return ND_SUCCESS;
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
    queue->next = queue->seen = queue->records;
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
    if (!queue->records)
        return;
    lock_acquire(&queue->lock);
    queue->mode = mode;
    /* Open: the next post finds room or not by itself. Otherwise: no post passes. */
    queue->stop = queue->next->next;
    lock_release(&queue->lock);
}

/* Acquire: what the fetching thread did with the record comes before it is used anew; pairs with cq_drain.c. */
static bool refresh_locked(struct nd_queue *queue)
{
    queue->stop = atomic_load_explicit(&queue->freed, memory_order_acquire);
    return queue->next->next != queue->stop;
}

static HRESULT mode_status(enum nd_queue_mode mode)
{
    switch (mode) {
    case ND_QUEUE_OPEN: return ND_SUCCESS;
    case ND_QUEUE_CLOSED: return ND_CONNECTION_INVALID;
    default: return ND_DEVICE_REMOVED;
    }
}

HRESULT nd_queue_room_locked(struct nd_queue *queue)
{
    HRESULT status = mode_status(queue->mode);

    lock_assert_held(&queue->lock);
    if (FAILED(status) || refresh_locked(queue))
        return status;
    lock_release(&queue->lock);
    nd_cq_look(queue->cq);
    lock_acquire(&queue->lock);
    status = mode_status(queue->mode);
    if (FAILED(status) || refresh_locked(queue))
        return status;
    return ND_NO_MORE_ENTRIES;
}
