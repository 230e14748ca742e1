/* SPDX-License-Identifier: MIT */
/* post.h - what all requests of a queue pair share: how they begin and end. post.c, bind.c. */
#ifndef NDSPI_CORE_QUEUE_POST_H
#define NDSPI_CORE_QUEUE_POST_H

#include "ndspi/core/queue/queue.h"

/*
 * nd_queue_take - takes the lock and the next record, the long way.
 * Returns ND_SUCCESS with the lock held. Otherwise it is not held: ND_CONNECTION_INVALID; ND_NO_MORE_ENTRIES, after
 * draining the completion queue (silent requests may be done); ND_DEVICE_REMOVED. Submits a full batch, and any batch
 * when the ring is full.
 */
HRESULT nd_queue_take(struct nd_queue *queue, struct nd_request **request);
/* Submits batches and drains completions: a post does that before it reports that there is no room. No lock held. */
void nd_queue_make_room(struct nd_queue *queue);

/* Takes the lock and a record for an initiator request; on failure neither is held. */
HRESULT nd_post_begin(struct nd_queue *queue, void *context, ND2_REQUEST_TYPE type, uint32_t flags,
    struct nd_request **request);
/*
 * The device's flags. Of silent requests one in half a queue is signaled, so that the ring moves on, and a staged one,
 * so that its slot is freed; the client does not see these completions.
 */
unsigned nd_post_flags_locked(
    struct nd_queue *queue, const struct nd_request *request, uint32_t flags);
/* The request was posted, or kept: drops the lock. Returns ND_SUCCESS. */
static inline HRESULT nd_post_done(struct nd_queue *queue)
{
    lock_release(&queue->lock);
    return ND_SUCCESS;
}
/* The device never gets the request: it ends with this result in its turn. Drops the lock. Returns ND_SUCCESS. */
HRESULT nd_post_end_here(struct nd_queue *queue, struct nd_request *request, HRESULT result);
/* Undoes nd_post_begin: gives the record back, drops the lock. Returns the status. */
HRESULT nd_post_abandon(struct nd_queue *queue, struct nd_request *request, HRESULT status);
/* Ends a post: refused by the device (error), refused by us (status), or posted. Drops the lock. */
HRESULT nd_post_finish(
    struct nd_queue *queue, struct nd_request *request, HRESULT status, int error);

/* An Invalidate has ended, well or not. Returns as nd_mw_invalidated. Lock of the completion queue held. */
bool nd_binding_end(
    const struct nd_request *request, bool well, struct nd_adapter *adapter, struct nd_dead *dead);

#endif
