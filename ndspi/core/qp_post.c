/* SPDX-License-Identifier: MIT */
/* qp_post.c - all posts, with every flag and any number of entries. */
#include "ndspi/core/datapath.h"

#include "ndspi/core/adapter.h"
#include "ndspi/core/mr.h"
#include "ndspi/core/mw.h"
#include "ndspi/core/status.h"

#include "util/log.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SEND_FLAGS = ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE |
                 ND_OP_FLAG_SEND_AND_SOLICIT_EVENT | ND_OP_FLAG_INLINE,
    READ_FLAGS = ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE,
    WRITE_FLAGS = READ_FLAGS | ND_OP_FLAG_INLINE,
    BIND_FLAGS = READ_FLAGS | ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE,
    INVALIDATE_FLAGS = READ_FLAGS,
};

/* Total length, or a failure: ND_INVALID_PARAMETER_2 (no array), ND_BUFFER_OVERFLOW (longer than max_length). */
static HRESULT total_length(const ND2_SGE *sge, uint32_t n, uint32_t max_length, uint64_t *total)
{
    *total = 0;
    if (n && !sge)
        return ND_INVALID_PARAMETER_2;
    for (uint32_t i = 0; i < n; i++)
        *total += sge[i].BufferLength;
    return *total > max_length ? ND_BUFFER_OVERFLOW : ND_SUCCESS;
}

/* Inline data may come in more pieces than the device takes: then it is put together first. */
static void gather(struct nd_queue *queue, const ND2_SGE *sge, uint32_t n, struct ibv_sge *whole)
{
    uint8_t *at = queue->bounce;

    for (uint32_t i = 0; i < n; at += sge[i++].BufferLength)
        if (sge[i].BufferLength)
            memcpy(at, sge[i].Buffer, sge[i].BufferLength);
    *whole = (struct ibv_sge){ .addr = (uintptr_t)queue->bounce,
        .length = (uint32_t)(at - queue->bounce) };
}

/* Of silent requests one in half a queue is signaled, for the ring's sake; its completion is swallowed. */
static unsigned send_flags_locked(struct nd_queue *queue, uint32_t flags)
{
    unsigned send_flags = 0;

    if (flags & ND_OP_FLAG_READ_FENCE)
        send_flags |= IBV_SEND_FENCE;
    if (flags & ND_OP_FLAG_SEND_AND_SOLICIT_EVENT)
        send_flags |= IBV_SEND_SOLICITED;
    if (flags & ND_OP_FLAG_INLINE)
        send_flags |= IBV_SEND_INLINE;
    if (!(flags & ND_OP_FLAG_SILENT_SUCCESS) || ++queue->silent_run >= queue->silent_run_max) {
        send_flags |= IBV_SEND_SIGNALED;
        queue->silent_run = 0;
    }
    return send_flags;
}

/* Takes the lock and a record for an initiator request; on failure neither is held. */
static HRESULT begin(struct nd_queue *queue, void *context, ND2_REQUEST_TYPE type, uint32_t flags,
    struct nd_request **request)
{
    HRESULT status = nd_queue_take(queue, request);

    if (FAILED(status))
        return status;
    if (type == Nd2RequestTypeRead && queue->no_reads) {
        queue->next = *request;
        lock_release(&queue->lock);
        return ND_INVALID_DEVICE_REQUEST;
    }
    (*request)->result.RequestContext = context;
    (*request)->result.RequestType = type;
    (*request)->special = flags & ND_OP_FLAG_SILENT_SUCCESS ? ND_REQUEST_SILENT : 0;
    return ND_SUCCESS;
}

static HRESULT finish(struct nd_queue *queue, struct nd_request *request, struct ibv_send_wr *wr)
{
    struct ibv_send_wr *bad;
    int error;

    wr->wr_id = (uintptr_t)request;
    error = ibv_post_send(queue->ibv, wr, &bad);
    if (ND_UNLIKELY(error))
        return nd_queue_refused(queue, (uintptr_t)request, error);
    lock_release(&queue->lock);
    return ND_SUCCESS;
}

/* Send, Read and Write; wr: what differs between them. */
static HRESULT post_data(struct nd_queue *queue, void *context, const ND2_SGE *sge, uint32_t n,
    uint32_t flags, ND2_REQUEST_TYPE type, struct ibv_send_wr *wr)
{
    struct nd_request *request;
    struct ibv_sge whole;
    uint64_t total;
    HRESULT status;

    if (ND_UNLIKELY(n > queue->max_sge) && !(flags & ND_OP_FLAG_INLINE))
        return ND_DATA_OVERRUN;
    if (FAILED(status = total_length(sge, n,
                   flags & ND_OP_FLAG_INLINE ? queue->max_inline : queue->max_length, &total)))
        return status;
    if (FAILED(status = begin(queue, context, type, flags, &request)))
        return status;
    wr->sg_list = (struct ibv_sge *)(uintptr_t)sge;
    wr->num_sge = (int)n;
    wr->send_flags = send_flags_locked(queue, total ? flags : flags & ~(uint32_t)ND_OP_FLAG_INLINE);
    if (!total)
        wr->num_sge = 0; /* nothing to look at: tokens of empty entries do not count */
    else if (n > queue->max_sge) {
        gather(queue, sge, n, &whole);
        wr->sg_list = &whole;
        wr->num_sge = 1;
    }
    return finish(queue, request, wr);
}

HRESULT nd_queue_send_general(
    struct nd_queue *queue, void *context, const ND2_SGE *sge, uint32_t n, uint32_t flags)
{
    struct ibv_send_wr wr;

    if (flags & ~(uint32_t)SEND_FLAGS)
        return ND_INVALID_PARAMETER_4;
    wr.next = NULL;
    wr.opcode = IBV_WR_SEND;
    return post_data(queue, context, sge, n, flags, Nd2RequestTypeSend, &wr);
}

HRESULT nd_queue_send_full(
    struct nd_queue *queue, void *context, const ND2_SGE *sge, uint32_t n, uint32_t flags)
{
    lock_release(&queue->lock);
    return nd_queue_send_general(queue, context, sge, n, flags);
}

HRESULT nd_qp_read(struct nd_qp *qp, void *context, const ND2_SGE *sge, uint32_t n,
    const struct nd_remote *remote, uint32_t flags)
{
    struct ibv_send_wr wr;

    if (flags & ~(uint32_t)READ_FLAGS)
        return ND_INVALID_PARAMETER_6;
    if (n > qp->initiator.max_read_sge)
        return ND_DATA_OVERRUN;
    wr.next = NULL;
    wr.opcode = IBV_WR_RDMA_READ;
    wr.wr.rdma.remote_addr = remote->address;
    wr.wr.rdma.rkey = be32toh(remote->token);
    return post_data(&qp->initiator, context, sge, n, flags, Nd2RequestTypeRead, &wr);
}

HRESULT nd_qp_write(struct nd_qp *qp, void *context, const ND2_SGE *sge, uint32_t n,
    const struct nd_remote *remote, uint32_t flags)
{
    struct ibv_send_wr wr;

    if (flags & ~(uint32_t)WRITE_FLAGS)
        return ND_INVALID_PARAMETER_6;
    wr.next = NULL;
    wr.opcode = IBV_WR_RDMA_WRITE;
    wr.wr.rdma.remote_addr = remote->address;
    wr.wr.rdma.rkey = be32toh(remote->token);
    return post_data(&qp->initiator, context, sge, n, flags, Nd2RequestTypeWrite, &wr);
}

HRESULT nd_queue_receive_general(
    struct nd_queue *queue, void *context, const ND2_SGE *sge, uint32_t n)
{
    struct nd_request *request;
    struct ibv_recv_wr wr, *bad;
    uint64_t total;
    HRESULT status;
    int error;

    if (queue->qp->srq)
        return ND_INVALID_DEVICE_REQUEST; /* its Receives come from there */
    if (n > queue->max_sge)
        return ND_DATA_OVERRUN;
    if (FAILED(status = total_length(sge, n, queue->max_length, &total)) ||
        FAILED(status = nd_queue_take(queue, &request)))
        return status;
    request->result.RequestContext = context;
    wr = (struct ibv_recv_wr){ .wr_id = (uintptr_t)request,
        .sg_list = (struct ibv_sge *)(uintptr_t)sge,
        .num_sge = total ? (int)n : 0 };
    if (ND_UNLIKELY(error = ibv_post_recv(queue->ibv, &wr, &bad)))
        return nd_queue_refused(queue, (uintptr_t)request, error);
    lock_release(&queue->lock);
    return ND_SUCCESS;
}

HRESULT nd_queue_receive_full(struct nd_queue *queue, void *context, const ND2_SGE *sge, uint32_t n)
{
    lock_release(&queue->lock);
    return nd_queue_receive_general(queue, context, sge, n);
}

/* Whether the region takes this window; memory lock held. */
static HRESULT check_bind_locked(const struct nd_mr *mr, const struct nd_mw *mw, const void *buffer,
    size_t length, uint32_t flags)
{
    uintptr_t start = (uintptr_t)buffer;
    uintptr_t first, end;

    if (mr->state != ND_MR_REGISTERED)
        return ND_INVALID_PARAMETER_2;
    first = (uintptr_t)mr->ibv->addr;
    end = first + mr->ibv->length;
    if (start < first || start >= end)
        return ND_INVALID_PARAMETER_4;
    if (!length || length > end - start)
        return ND_INVALID_PARAMETER_5;
    if (mw->mr)
        return ND_INVALID_DEVICE_REQUEST;
    if (flags & ND_OP_FLAG_ALLOW_WRITE && !(mr->flags & ND_MR_FLAG_ALLOW_LOCAL_WRITE))
        return ND_ACCESS_VIOLATION;
    return ND_SUCCESS;
}

/* The bind itself; queue and memory locks held. Returns an errno. */
static int post_bind_locked(struct nd_queue *queue, struct nd_request *request, struct nd_mr *mr,
    struct nd_mw *mw, const void *buffer, size_t length, uint32_t flags)
{
    struct ibv_send_wr *bad, wr = {
        .wr_id = (uintptr_t)request,
        .opcode = IBV_WR_BIND_MW,
        .send_flags = send_flags_locked(queue, flags & ~(uint32_t)ND_OP_FLAG_INLINE),
    };
    int error;

    wr.bind_mw.mw = mw->ibv;
    wr.bind_mw.rkey = ibv_inc_rkey(mw->ibv->rkey);
    wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
        .mr = mr->ibv,
        .addr = (uintptr_t)buffer,
        .length = length,
        .mw_access_flags = (flags & ND_OP_FLAG_ALLOW_READ ? IBV_ACCESS_REMOTE_READ : 0) |
                           (flags & ND_OP_FLAG_ALLOW_WRITE ? IBV_ACCESS_REMOTE_WRITE : 0),
    };
    request->special |= ND_REQUEST_BINDING;
    request->rkey = wr.bind_mw.rkey;
    if (!(error = ibv_post_send(queue->ibv, &wr, &bad)))
        nd_mw_bound_locked(mw, mr, queue->qp, wr.bind_mw.rkey);
    return error;
}

HRESULT nd_qp_bind(struct nd_qp *qp, void *context, struct nd_mr *mr, struct nd_mw *mw,
    const void *buffer, size_t length, uint32_t flags)
{
    struct nd_queue *queue = &qp->initiator;
    struct nd_adapter *adapter = qp->adapter;
    struct nd_request *request;
    HRESULT status;
    int error = 0;

    if (flags & ~(uint32_t)BIND_FLAGS)
        return ND_INVALID_PARAMETER_6;
    if (mr->adapter != adapter)
        return ND_INVALID_PARAMETER_2;
    if (mw->adapter != adapter)
        return ND_INVALID_PARAMETER_3;
    if (FAILED(status = nd_mw_refresh(mw)))
        return status;
    if (FAILED(status = begin(queue, context, Nd2RequestTypeBind, flags, &request)))
        return status;
    lock_acquire(&adapter->memory_lock);
    status = check_bind_locked(mr, mw, buffer, length, flags);
    if (SUCCEEDED(status))
        error = post_bind_locked(queue, request, mr, mw, buffer, length, flags);
    lock_release(&adapter->memory_lock);
    if (error)
        return nd_queue_refused(queue, (uintptr_t)request, error);
    if (FAILED(status))
        queue->next = request;
    lock_release(&queue->lock);
    return status;
}

HRESULT nd_qp_invalidate(struct nd_qp *qp, void *context, struct nd_mw *mw, uint32_t flags)
{
    struct nd_queue *queue = &qp->initiator;
    struct nd_adapter *adapter = qp->adapter;
    struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV }, *bad;
    struct nd_request *request;
    HRESULT status;
    int error = 0;

    if (flags & ~(uint32_t)INVALIDATE_FLAGS)
        return ND_INVALID_PARAMETER_3;
    if (mw->adapter != adapter)
        return ND_INVALID_PARAMETER_2;
    if (FAILED(status = begin(queue, context, Nd2RequestTypeInvalidate, flags, &request)))
        return status;
    lock_acquire(&adapter->memory_lock);
    if (!mw->mr || mw->qp != qp) {
        status = ND_INVALID_DEVICE_REQUEST;
    } else {
        /* Always signaled: its end is when the region is let go. */
        wr.wr_id = (uintptr_t)request;
        wr.send_flags = IBV_SEND_SIGNALED | (flags & ND_OP_FLAG_READ_FENCE ? IBV_SEND_FENCE : 0);
        wr.invalidate_rkey = mw->ibv->rkey;
        request->special |= ND_REQUEST_BINDING;
        request->mr = mw->mr;
        if (!(error = ibv_post_send(queue->ibv, &wr, &bad)))
            nd_mw_free_locked(mw);
    }
    lock_release(&adapter->memory_lock);
    if (error)
        return nd_queue_refused(queue, (uintptr_t)request, error);
    if (FAILED(status))
        queue->next = request;
    lock_release(&queue->lock);
    return status;
}
