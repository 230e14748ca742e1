/* SPDX-License-Identifier: MIT */
#include "ndspi/core/queue/post.h"

#include "ndspi/core/queue/batch.h"
#include "ndspi/core/queue/cq.h"

void nd_queue_make_room(struct nd_queue *queue)
{
    nd_queue_submit(queue);
    nd_cq_look(queue->cq);
}

HRESULT nd_queue_take(struct nd_queue *queue, struct nd_request **request)
{
    HRESULT status;

    for (bool looked = false;; looked = true) {
        lock_acquire(&queue->lock);
        /* Others may fill it anew meanwhile. */
        while (queue->batching && nd_batch_full_locked(queue->batch)) {
            lock_release(&queue->lock);
            nd_queue_submit(queue);
            lock_acquire(&queue->lock);
        }
        if (SUCCEEDED(status = nd_queue_try_take_locked(queue, request)))
            return status;
        lock_release(&queue->lock);
        if (status != ND_NO_MORE_ENTRIES || looked)
            return status;
        nd_queue_make_room(queue);
    }
}

unsigned nd_post_flags_locked(
    struct nd_queue *queue, const struct nd_request *request, uint32_t flags)
{
    unsigned send_flags = 0;

    if (flags & ND_OP_FLAG_READ_FENCE)
        send_flags |= IBV_SEND_FENCE;
    if (flags & ND_OP_FLAG_SEND_AND_SOLICIT_EVENT)
        send_flags |= IBV_SEND_SOLICITED;
    if (!(flags & ND_OP_FLAG_SILENT_SUCCESS) || nd_request_is_signaled(request) ||
        ++queue->silent_run >= queue->silent_run_max) {
        send_flags |= IBV_SEND_SIGNALED;
        queue->silent_run = 0;
    }
    return send_flags;
}

HRESULT nd_post_abandon(struct nd_queue *queue, struct nd_request *request, HRESULT status)
{
    nd_queue_untake_locked(queue, request);
    lock_release(&queue->lock);
    return status;
}

HRESULT nd_post_end_here(struct nd_queue *queue, struct nd_request *request, HRESULT result)
{
    nd_cq_refuse(queue->cq, request, request->next, result);
    lock_release(&queue->lock);
    nd_cq_end_refused(queue->cq, queue);
    return ND_SUCCESS;
}

HRESULT nd_post_begin(struct nd_queue *queue, void *context, ND2_REQUEST_TYPE type, uint32_t flags,
    struct nd_request **request)
{
    HRESULT status = nd_queue_take(queue, request);

    if (FAILED(status))
        return status;
    if (type == Nd2RequestTypeRead && queue->no_reads)
        return nd_post_abandon(queue, *request, ND_INVALID_DEVICE_REQUEST);
    (*request)->result.RequestContext = context;
    (*request)->result.RequestType = type;
    (*request)->special = flags & ND_OP_FLAG_SILENT_SUCCESS ? ND_REQUEST_SILENT : 0;
    return ND_SUCCESS;
}
