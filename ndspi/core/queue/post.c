/* SPDX-License-Identifier: MIT */
/*
 * post.c - Send, Receive, Read and Write, with every flag and any number of entries; and what all posts share: room,
 * record, flags.
 */
#include "ndspi/core/queue/batch.h"
#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/datapath.h"
#include "ndspi/core/queue/sgl.h"
#include "ndspi/core/queue/post.h"

#include <endian.h>

/* ---- what all posts share ---- */

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
        /* Other threads may fill it again meanwhile. */
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

HRESULT nd_post_finish(
    struct nd_queue *queue, struct nd_request *request, HRESULT status, int error)
{
    if (error)
        return nd_queue_refused(queue, (uintptr_t)request, error);
    if (FAILED(status))
        return nd_post_abandon(queue, request, status);
    queue->counts.others++;
    PROBE4(post, queue, request, request->result.RequestType, 0);
    return nd_post_done(queue);
}

HRESULT nd_post_end_here(struct nd_queue *queue, struct nd_request *request, HRESULT result)
{
    queue->counts.others++;
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
    (*request)->operation = nd_operations[type];
    (*request)->special = flags & ND_OP_FLAG_SILENT_SUCCESS ? ND_REQUEST_SILENT : 0;
    return ND_SUCCESS;
}

/* ---- Send, Read, Write, Receive ---- */

enum {
    SEND_FLAGS = ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE |
                 ND_OP_FLAG_SEND_AND_SOLICIT_EVENT | ND_OP_FLAG_INLINE,
    READ_FLAGS = ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE,
    WRITE_FLAGS = READ_FLAGS | ND_OP_FLAG_INLINE,
};

/* Version 1 has no flag for inline data. */
static bool flags_allowed(const struct nd_queue *queue, uint32_t flags, uint32_t allowed)
{
    return !(flags & ~(queue->regions    ? allowed & ~(uint32_t)ND_OP_FLAG_INLINE
                         : queue->defers ? allowed | ND_POST_DEFER
                                         : allowed));
}

static void count_locked(struct nd_queue *queue, ND2_REQUEST_TYPE type, uint64_t octets)
{
    struct nd_queue_counts *counts = &queue->counts;

    switch (type) {
    case Nd2RequestTypeRead:
        counts->reads++;
        counts->read_octets += octets;
        break;
    case Nd2RequestTypeWrite:
        counts->writes++;
        counts->write_octets += octets;
        break;
    default: queue->octets += octets; break;
    }
}

/* Only version 1 reports the length of an initiator request, so only its records keep it. */
static HRESULT place_and_post(struct nd_queue *queue, struct nd_request *request,
    const struct nd_sgl *sgl, uint32_t flags, struct ibv_send_wr *wr)
{
    struct ibv_sge *kept = nd_batch_sges_locked(queue);
    HRESULT status = nd_sgl_place_locked(sgl, queue, request, kept ? kept : queue->sges,
        nd_batch_data_locked(queue), &wr->sg_list, &wr->num_sge);
    int error;

    if (FAILED(status))
        return nd_post_abandon(queue, request, status);
    if (queue->regions)
        request->length = sgl->total;
    wr->wr_id = (uintptr_t)request;
    wr->next = NULL;
    wr->send_flags = nd_post_flags_locked(queue, request, flags) |
                     (sgl->mode == ND_SGL_INLINE ? IBV_SEND_INLINE : 0);
    if (ND_UNLIKELY(error = nd_queue_post_send_locked(queue, wr))) {
        if (request->special & ND_REQUEST_STAGED)
            nd_staging_free(queue, request);
        return nd_queue_refused(queue, (uintptr_t)request, error);
    }
    count_locked(queue, request->result.RequestType, sgl->total);
    PROBE4(post, queue, request, request->result.RequestType, sgl->total);
    return nd_post_done(queue);
}

/*
 * Send, Read and Write; wr: what differs between them; remote: NULL for a Send. If no staging slot is free, draining
 * the completion queue may free one.
 */
static HRESULT try_post_data(struct nd_queue *queue, void *context, const void *list, uint32_t n,
    uint32_t flags, ND2_REQUEST_TYPE type, const struct nd_remote *remote, struct ibv_send_wr *wr)
{
    bool inlines = queue->regions ? type != Nd2RequestTypeRead : (flags & ND_OP_FLAG_INLINE) != 0;
    struct nd_request *request;
    struct nd_sgl sgl;
    HRESULT status;

    if (ND_UNLIKELY(queue->regions && !context))
        return ND_INVALID_PARAMETER_1;
    if (type == Nd2RequestTypeRead && n > queue->max_read_sge)
        return ND_DATA_OVERRUN;
    if (FAILED(status = nd_sgl_measure(&sgl, queue, list, n, inlines)))
        return status;
    if (remote) {
        if (remote->bounded && sgl.total > remote->room)
            return ND_REMOTE_ERROR;
        wr->wr.rdma.remote_addr = remote->address;
        wr->wr.rdma.rkey = be32toh(remote->token);
    }
    for (bool looked = false;; looked = true) {
        if (FAILED(status = nd_post_begin(queue, context, type, flags, &request)))
            return status;
        status = place_and_post(queue, request, &sgl, flags, wr);
        if (status != ND_NO_MORE_ENTRIES || sgl.mode != ND_SGL_STAGED || looked)
            return status;
        nd_queue_make_room(queue);
    }
}

static HRESULT post_data(struct nd_queue *queue, void *context, const void *list, uint32_t n,
    uint32_t flags, ND2_REQUEST_TYPE type, const struct nd_remote *remote, struct ibv_send_wr *wr)
{
    nd_chain_begin(queue, flags);
    return nd_chain_end(
        queue, flags, try_post_data(queue, context, list, n, flags, type, remote, wr));
}

/* The call is refused; an open chain still goes to the device. */
static HRESULT refuse(struct nd_queue *queue, HRESULT status)
{
    return nd_chain_end(queue, 0, status);
}

HRESULT nd_queue_send_general(
    struct nd_queue *queue, void *context, const void *list, uint32_t n, uint32_t flags)
{
    struct ibv_send_wr wr;

    if (!flags_allowed(queue, flags, SEND_FLAGS))
        return refuse(queue, ND_INVALID_PARAMETER_4);
    wr.opcode = IBV_WR_SEND;
    return post_data(queue, context, list, n, flags, Nd2RequestTypeSend, NULL, &wr);
}

HRESULT nd_queue_send_full(
    struct nd_queue *queue, void *context, const void *list, uint32_t n, uint32_t flags)
{
    lock_release(&queue->lock);
    return nd_queue_send_general(queue, context, list, n, flags);
}

HRESULT nd_qp_send_invalidate(
    struct nd_qp *qp, void *context, const void *list, uint32_t n, uint32_t token, uint32_t flags)
{
    struct ibv_send_wr wr;

    if (!flags_allowed(&qp->initiator, flags, SEND_FLAGS))
        return refuse(&qp->initiator, ND_INVALID_PARAMETER_5);
    if (!qp->adapter->port.caps.send_invalidate)
        return refuse(&qp->initiator, ND_NOT_SUPPORTED);
    wr.opcode = IBV_WR_SEND_WITH_INV;
    wr.invalidate_rkey = be32toh(token);
    wr.wr.rdma.rkey = wr.invalidate_rkey; /* where some devices look for it */
    return post_data(&qp->initiator, context, list, n, flags, Nd2RequestTypeSend, NULL, &wr);
}

HRESULT nd_qp_read(struct nd_qp *qp, void *context, const void *list, uint32_t n,
    const struct nd_remote *remote, uint32_t flags)
{
    struct ibv_send_wr wr;

    if (!flags_allowed(&qp->initiator, flags, READ_FLAGS))
        return refuse(&qp->initiator, ND_INVALID_PARAMETER_6);
    wr.opcode = IBV_WR_RDMA_READ;
    return post_data(&qp->initiator, context, list, n, flags, Nd2RequestTypeRead, remote, &wr);
}

HRESULT nd_qp_write(struct nd_qp *qp, void *context, const void *list, uint32_t n,
    const struct nd_remote *remote, uint32_t flags)
{
    struct ibv_send_wr wr;

    if (!flags_allowed(&qp->initiator, flags, WRITE_FLAGS))
        return refuse(&qp->initiator, ND_INVALID_PARAMETER_6);
    wr.opcode = IBV_WR_RDMA_WRITE;
    return post_data(&qp->initiator, context, list, n, flags, Nd2RequestTypeWrite, remote, &wr);
}

HRESULT nd_queue_receive_general(
    struct nd_queue *queue, void *context, const void *list, uint32_t n)
{
    struct nd_request *request;
    struct nd_sgl sgl;
    struct ibv_recv_wr wr;
    struct ibv_sge *kept;
    HRESULT status;
    int error;

    if (queue->qp->srq)
        return ND_INVALID_DEVICE_REQUEST; /* its Receives come from the SRQ */
    if (ND_UNLIKELY(queue->regions && !context))
        return ND_INVALID_PARAMETER_1;
    if (FAILED(status = nd_sgl_measure(&sgl, queue, list, n, false)) ||
        FAILED(status = nd_queue_take(queue, &request)))
        return status;
    request->result.RequestContext = context;
    kept = nd_batch_sges_locked(queue);
    status = nd_sgl_place_locked(
        &sgl, queue, request, kept ? kept : queue->sges, NULL, &wr.sg_list, &wr.num_sge);
    if (FAILED(status))
        return nd_post_abandon(queue, request, status);
    wr.wr_id = (uintptr_t)request;
    wr.next = NULL;
    if (ND_UNLIKELY(error = nd_queue_post_receive_locked(queue, &wr)))
        return nd_queue_refused(queue, (uintptr_t)request, error);
    PROBE4(post, queue, request, Nd2RequestTypeReceive, sgl.total);
    return nd_post_done(queue);
}

HRESULT nd_queue_receive_full(struct nd_queue *queue, void *context, const void *list, uint32_t n)
{
    lock_release(&queue->lock);
    return nd_queue_receive_general(queue, context, list, n);
}
