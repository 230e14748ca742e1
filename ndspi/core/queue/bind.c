/* SPDX-License-Identifier: MIT */
/* bind.c - Bind and Invalidate: a window is bound on a queue pair, and freed. */
#include "ndspi/core/queue/batch.h"
#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/post.h"
#include "ndspi/core/queue/qp.h"

#include "ndspi/core/memory/mr.h"
#include "ndspi/core/memory/mw.h"

enum {
    INVALIDATE_FLAGS = ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE,
    BIND_FLAGS = INVALIDATE_FLAGS | ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE,
};

static uint32_t allowed_flags(const struct nd_queue *queue, uint32_t flags)
{
    return queue->defers ? flags | ND_POST_DEFER : flags;
}

/* Checks that the region takes this window; memory lock held. */
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

/*
 * Posts a zero-length Write, for which devices check no key, in place of a Bind or Invalidate that the device does not
 * do; they end together. The Write crosses the wire, where the accepting side of a connection must not send first (RFC
 * 5044 7.1.1: siw breaks the connection): a Bind with nothing in flight before it posts none.
 */
static struct ibv_send_wr stand_in(const struct nd_request *request, unsigned send_flags)
{
    return (struct ibv_send_wr){
        .wr_id = (uintptr_t)request,
        .opcode = IBV_WR_RDMA_WRITE,
        .send_flags = send_flags,
    };
}

struct binding {
    struct nd_mr *mr;
    struct nd_mw *mw;
    struct nd_mw_mr *own_mr; /* NULL: it has none */
    const void *buffer;
    size_t length;
    uint32_t flags;
    bool ends_here; /* the device does not get the request */
};

static bool is_devices(const struct binding *b)
{
    return !b->own_mr || b->own_mr->window;
}

/* Memory lock held. */
static struct ibv_send_wr device_bind(
    const struct binding *b, const struct nd_request *request, unsigned send_flags)
{
    struct ibv_mw *window = b->own_mr ? b->own_mr->window : b->mw->ibv;
    struct ibv_send_wr wr = {
        .wr_id = (uintptr_t)request,
        .opcode = IBV_WR_BIND_MW,
        .send_flags = send_flags,
    };

    wr.bind_mw.mw = window;
    wr.bind_mw.rkey = b->own_mr ? nd_mw_mr_rkey(b->own_mr) : nd_mw_next_key_locked(b->mw);
    wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
        .mr = b->own_mr ? b->own_mr->ibv : b->mr->ibv,
        .addr = (uintptr_t)b->buffer,
        .length = b->length,
        .mw_access_flags = (b->flags & ND_OP_FLAG_ALLOW_READ ? IBV_ACCESS_REMOTE_READ : 0) |
                           (b->flags & ND_OP_FLAG_ALLOW_WRITE ? IBV_ACCESS_REMOTE_WRITE : 0),
    };
    return wr;
}

/* The bind itself; queue and memory locks held. Returns an errno. */
static int post_bind_locked(
    struct nd_queue *queue, struct nd_request *request, const struct binding *b)
{
    unsigned send_flags = nd_post_flags_locked(queue, request, b->flags);
    bool device = is_devices(b);
    struct ibv_send_wr wr =
        device ? device_bind(b, request, send_flags) : stand_in(request, send_flags);
    int error = 0;

    request->special |= ND_REQUEST_BINDING;
    request->rkey = device ? wr.bind_mw.rkey : nd_mw_mr_rkey(b->own_mr);
    if (b->ends_here || !(error = nd_queue_post_send_locked(queue, &wr)))
        nd_mw_bound_locked(b->mw, b->mr, b->own_mr, queue->qp, request->rkey);
    return error;
}

/* A batch may hold requests that name the device's window. */
static void submit_requests(struct nd_mw *mw)
{
    struct nd_qp *users[2];

    lock_acquire(&mw->adapter->memory_lock);
    users[0] = mw->qp;
    users[1] = mw->invalidating;
    for (int i = 0; i < 2; i++)
        if (users[i] && !nd_object_try_pin(&users[i]->object))
            users[i] = NULL;
    lock_release(&mw->adapter->memory_lock);
    for (int i = 0; i < 2; i++) {
        if (!users[i])
            continue;
        nd_queue_submit(&users[i]->initiator);
        nd_object_unpin(&users[i]->object);
    }
}

void nd_mw_close(struct nd_mw *mw)
{
    submit_requests(mw);
    nd_mw_release(mw);
}

/*
 * Gets what the binding needs before locks are taken. A request that will be refused gets no registration: a later
 * check refuses it again, in the documented order of codes, or the call returns this code at the end.
 */
static HRESULT prepare(struct nd_qp *qp, struct binding *b)
{
    struct nd_adapter *adapter = qp->adapter;
    bool moves;
    HRESULT status = nd_mw_refresh(b->mw, qp, &moves);

    if (moves)
        submit_requests(b->mw);
    if (FAILED(status) || adapter->port.caps.windows == ND_WINDOWS_REAL)
        return status;
    lock_acquire(&adapter->memory_lock);
    status = check_bind_locked(b->mr, b->mw, b->buffer, b->length, b->flags);
    lock_release(&adapter->memory_lock);
    return FAILED(status) ? status
                          : nd_mw_mr_create(b->mr, b->buffer, b->length, b->flags, &b->own_mr);
}

static HRESULT bind_prepared(
    struct nd_queue *queue, void *context, struct binding *b, HRESULT prepared)
{
    struct nd_adapter *adapter = queue->qp->adapter;
    bool flushed = nd_qp_flushed(queue->qp); /* then this request is flushed as well */
    struct nd_request *request;
    HRESULT status;
    int error = 0;

    if (FAILED(status = nd_post_begin(queue, context, Nd2RequestTypeBind, b->flags, &request)))
        return status;
    b->ends_here = !is_devices(b) && !flushed && queue->mode == ND_QUEUE_OPEN && !queue->batching &&
                   nd_cq_is_turn_of(queue->cq, request);
    lock_acquire(&adapter->memory_lock);
    status = check_bind_locked(b->mr, b->mw, b->buffer, b->length, b->flags);
    if (SUCCEEDED(status))
        status = prepared;
    if (SUCCEEDED(status))
        error = post_bind_locked(queue, request, b);
    lock_release(&adapter->memory_lock);
    if (b->ends_here && SUCCEEDED(status))
        return nd_post_end_here(queue, request, ND_SUCCESS);
    return nd_post_finish(queue, request, status, error);
}

HRESULT nd_qp_bind(struct nd_qp *qp, void *context, struct nd_mr *mr, struct nd_mw *mw,
    const void *buffer, size_t length, uint32_t flags)
{
    struct binding b = { mr, mw, NULL, buffer, length, flags, false };
    HRESULT status;

    nd_chain_begin(&qp->initiator, flags);
    if (flags & ~allowed_flags(&qp->initiator, BIND_FLAGS))
        status = ND_INVALID_PARAMETER_6;
    else if (mr->adapter != qp->adapter || mr->pd != qp->pd)
        status = ND_INVALID_PARAMETER_2;
    else if (mw->adapter != qp->adapter || mw->pd != qp->pd)
        status = ND_INVALID_PARAMETER_3;
    else
        status = bind_prepared(&qp->initiator, context, &b, prepare(qp, &b));
    if (b.own_mr)
        nd_object_unpin(&b.own_mr->object);
    return nd_chain_end(&qp->initiator, flags, status);
}

/* ---- Invalidate ---- */

/*
 * Stores in the record of an Invalidate: the key, and the region or registration of the window's binding, whose pin the
 * request holds until it has ended. The request is about to be posted; memory lock held.
 */
static void keep_binding_locked(struct nd_request *request, const struct nd_mw *mw)
{
    request->special |= ND_REQUEST_BINDING | (mw->own_mr ? ND_REQUEST_OWN_MR : 0);
    request->rkey = mw->rkey;
    if (mw->own_mr)
        request->own_mr = mw->own_mr;
    else
        request->mr = mw->mr;
}

bool nd_binding_end(
    const struct nd_request *request, bool well, struct nd_adapter *adapter, struct nd_dead *dead)
{
    struct nd_mw_mr *own_mr = request->special & ND_REQUEST_OWN_MR ? request->own_mr : NULL;

    return nd_mw_invalidated(adapter, request->queue->qp, request->rkey, well,
        own_mr ? own_mr->mr : request->mr, own_mr, dead);
}

static HRESULT invalidate(struct nd_qp *qp, void *context, struct nd_mw *mw, uint32_t flags)
{
    struct nd_queue *queue = &qp->initiator;
    struct nd_adapter *adapter = qp->adapter;
    struct nd_request *request;
    struct ibv_send_wr wr;
    HRESULT status;
    int error = 0;

    if (flags & ~allowed_flags(queue, INVALIDATE_FLAGS))
        return ND_INVALID_PARAMETER_3;
    if (mw->adapter != adapter)
        return ND_INVALID_PARAMETER_2;
    if (FAILED(status = nd_post_begin(queue, context, Nd2RequestTypeInvalidate, flags, &request)))
        return status;
    lock_acquire(&adapter->memory_lock);
    if (!mw->mr || mw->qp != qp) {
        status = ND_INVALID_DEVICE_REQUEST;
    } else {
        /* Always signaled: the region is unpinned when it ends. */
        keep_binding_locked(request, mw);
        wr = stand_in(
            request, IBV_SEND_SIGNALED | (flags & ND_OP_FLAG_READ_FENCE ? IBV_SEND_FENCE : 0));
        if (adapter->port.caps.windows == ND_WINDOWS_REAL) {
            wr.opcode = IBV_WR_LOCAL_INV;
            wr.invalidate_rkey = mw->rkey;
        }
        if (!(error = nd_queue_post_send_locked(queue, &wr)))
            nd_mw_invalidating_locked(mw);
    }
    lock_release(&adapter->memory_lock);
    return nd_post_finish(queue, request, status, error);
}

HRESULT nd_qp_invalidate(struct nd_qp *qp, void *context, struct nd_mw *mw, uint32_t flags)
{
    nd_chain_begin(&qp->initiator, flags);
    return nd_chain_end(&qp->initiator, flags, invalidate(qp, context, mw, flags));
}
