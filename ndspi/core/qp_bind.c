/* SPDX-License-Identifier: MIT */
/* qp_bind.c - Bind and Invalidate of windows. */
#include "ndspi/core/batch.h"
#include "ndspi/core/datapath.h"
#include "ndspi/core/post.h"

#include "ndspi/core/adapter.h"
#include "ndspi/core/mr.h"
#include "ndspi/core/mw.h"

enum {
    INVALIDATE_FLAGS = ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE,
    BIND_FLAGS = INVALIDATE_FLAGS | ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE,
};

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
    struct ibv_send_wr wr = {
        .wr_id = (uintptr_t)request,
        .opcode = IBV_WR_BIND_MW,
        .send_flags = nd_post_flags_locked(queue, request, flags),
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
    if (!(error = nd_queue_post_send_locked(queue, &wr)))
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
    if (FAILED(status = nd_mw_refresh(mw, qp)))
        return status;
    if (FAILED(status = nd_post_begin(queue, context, Nd2RequestTypeBind, flags, &request)))
        return status;
    lock_acquire(&adapter->memory_lock);
    status = check_bind_locked(mr, mw, buffer, length, flags);
    if (SUCCEEDED(status))
        error = post_bind_locked(queue, request, mr, mw, buffer, length, flags);
    lock_release(&adapter->memory_lock);
    if (error)
        return nd_queue_refused(queue, (uintptr_t)request, error);
    if (FAILED(status))
        return nd_post_abandon(queue, request, status);
    lock_release(&queue->lock);
    return ND_SUCCESS;
}

HRESULT nd_qp_invalidate(struct nd_qp *qp, void *context, struct nd_mw *mw, uint32_t flags)
{
    struct nd_queue *queue = &qp->initiator;
    struct nd_adapter *adapter = qp->adapter;
    struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV };
    struct nd_request *request;
    HRESULT status;
    int error = 0;

    if (flags & ~(uint32_t)INVALIDATE_FLAGS)
        return ND_INVALID_PARAMETER_3;
    if (mw->adapter != adapter)
        return ND_INVALID_PARAMETER_2;
    if (FAILED(status = nd_post_begin(queue, context, Nd2RequestTypeInvalidate, flags, &request)))
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
        request->rkey = mw->ibv->rkey;
        if (!(error = nd_queue_post_send_locked(queue, &wr)))
            nd_mw_leave_locked(mw);
    }
    lock_release(&adapter->memory_lock);
    if (error)
        return nd_queue_refused(queue, (uintptr_t)request, error);
    if (FAILED(status))
        return nd_post_abandon(queue, request, status);
    lock_release(&queue->lock);
    return ND_SUCCESS;
}
