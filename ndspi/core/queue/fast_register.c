/* SPDX-License-Identifier: MIT */
/*
 * fast_register.c - FastRegister and Invalidate of fast regions. Neither is ever kept in a batch: an open batch is
 * submitted first. So each ends a chain, even with ND_POST_DEFER, and even if it fails.
 */
#include "ndspi/core/queue/batch.h"
#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/post.h"
#include "ndspi/core/queue/qp.h"

#include "ndspi/core/memory/frmr.h"

enum {
    INVALIDATE_FLAGS = ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_READ_FENCE | ND_POST_DEFER,
    REGISTER_FLAGS =
        INVALIDATE_FLAGS | ND_OP_FLAG_ALLOW_READ | ND_OP_FLAG_ALLOW_WRITE | ND_POST_LOCAL_WRITE,
};

static int access_of(uint32_t flags)
{
    int access = 0;

    if (flags & ND_OP_FLAG_ALLOW_READ)
        access |= IBV_ACCESS_REMOTE_READ;
    if (flags & ND_OP_FLAG_ALLOW_WRITE)
        access |= IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE;
    if (flags & ND_POST_LOCAL_WRITE)
        access |= IBV_ACCESS_LOCAL_WRITE;
    return access;
}

static bool makes_sense(const struct nd_frmr *frmr, const struct nd_pages *pages)
{
    uint64_t room = (uint64_t)pages->count * ND_PAGE_OCTETS;

    if (!pages->count || !pages->addresses || (frmr->max_pages && pages->count > frmr->max_pages))
        return false;
    if (pages->offset >= ND_PAGE_OCTETS || !pages->length || pages->length > room - pages->offset)
        return false;
    if (pages->base % ND_PAGE_OCTETS != pages->offset || pages->length > UINT64_MAX - pages->base)
        return false;
    for (uint32_t i = 0; i < pages->count; i++)
        if (pages->addresses[i] % ND_PAGE_OCTETS)
            return false;
    return true;
}

/* Begins as nd_post_begin does, with an empty batch. */
static HRESULT begin(struct nd_queue *queue, void *context, ND2_REQUEST_TYPE type, uint32_t flags,
    struct nd_request **request)
{
    for (;;) {
        HRESULT status = nd_post_begin(queue, context, type, flags, request);

        if (FAILED(status) || !queue->batching || !queue->batch->count)
            return status;
        (void)nd_post_abandon(queue, *request, ND_SUCCESS);
        nd_queue_submit(queue);
    }
}

/* Its record keeps what nd_frmr_ended needs. Memory lock held. */
static void note(struct nd_request *request, const struct nd_frmr *frmr)
{
    request->special |= ND_REQUEST_FAST;
    request->rkey = nd_frmr_key(frmr);
    request->number = nd_frmr_next_number(frmr);
}

/* Queue and memory locks held. Returns an errno. */
static int post_register_locked(struct nd_queue *queue, struct nd_request *request,
    const struct nd_frmr *frmr, const struct nd_pages *pages, uint32_t flags,
    struct nd_backing *backing)
{
    unsigned send_flags = nd_post_flags_locked(queue, request, flags);
    struct ibv_send_wr wr = {
        .wr_id = (uintptr_t)request, .opcode = IBV_WR_BIND_MW, .send_flags = send_flags
    };
    struct nd_fast_reg reg = {
        .wr_id = (uintptr_t)request,
        .mr = frmr->ibv,
        .pages = pages->addresses,
        .n_pages = pages->count,
        .offset = pages->offset,
        .length = pages->length,
        .base = pages->base,
        .access = access_of(flags),
        .send_flags = send_flags,
    };

    if (!backing)
        return frmr->adapter->verbs->post_fast_reg(queue->ibv, &reg);
    wr.bind_mw.mw = frmr->window;
    wr.bind_mw.rkey = nd_frmr_key(frmr);
    wr.bind_mw.bind_info = (struct ibv_mw_bind_info){
        .mr = nd_backing_mr(backing),
        .addr = pages->base,
        .length = pages->length,
        .mw_access_flags =
            (unsigned)access_of(flags) & (IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE),
    };
    return ibv_post_send(queue->ibv, &wr, &queue->bad_send);
}

/* What a FastRegister needs before locks are taken. One that will be refused gets no registration; see bind.c. */
static HRESULT prepare(
    struct nd_frmr *frmr, const struct nd_pages *pages, uint32_t flags, struct nd_backing **backing)
{
    struct nd_adapter *adapter = frmr->adapter;
    HRESULT status;

    if (adapter->port.caps.fast_register != ND_FAST_WINDOWS)
        return ND_SUCCESS;
    lock_acquire(&adapter->memory_lock);
    status = nd_frmr_check_locked(frmr, NULL, access_of(flags));
    lock_release(&adapter->memory_lock);
    return FAILED(status) ? status : nd_frmr_back(frmr, pages, access_of(flags), backing);
}

static HRESULT register_prepared(struct nd_qp *qp, void *context, struct nd_frmr *frmr,
    const struct nd_pages *pages, uint32_t flags, HRESULT prepared, struct nd_backing *backing)
{
    struct nd_queue *queue = &qp->initiator;
    struct nd_request *request;
    HRESULT status = begin(queue, context, ND_REQUEST_TYPE_FAST_REGISTER, flags, &request);
    int error = 0;

    if (FAILED(status))
        return status;
    lock_acquire(&frmr->adapter->memory_lock);
    if (SUCCEEDED(status = nd_frmr_check_locked(frmr, queue->ibv->pd, access_of(flags))))
        status = prepared;
    if (SUCCEEDED(status)) {
        note(request, frmr);
        if (!(error = post_register_locked(queue, request, frmr, pages, flags, backing)))
            nd_frmr_registered_locked(frmr, qp, backing);
    }
    lock_release(&frmr->adapter->memory_lock);
    return nd_post_finish(queue, request, status, error);
}

static HRESULT fast_register(struct nd_qp *qp, void *context, struct nd_frmr *frmr,
    const struct nd_pages *pages, uint32_t flags)
{
    struct nd_backing *backing = NULL;
    HRESULT status;

    if (flags & ~(uint32_t)REGISTER_FLAGS || frmr->adapter != qp->adapter ||
        !makes_sense(frmr, pages))
        return ND_INVALID_PARAMETER;
    status = prepare(frmr, pages, flags, &backing);
    status = register_prepared(qp, context, frmr, pages, flags, status, backing);
    if (backing)
        nd_backing_unpin(backing);
    return status;
}

HRESULT nd_qp_fast_register(struct nd_qp *qp, void *context, struct nd_frmr *frmr,
    const struct nd_pages *pages, uint32_t flags)
{
    return nd_chain_end(&qp->initiator, 0, fast_register(qp, context, frmr, pages, flags));
}

/*
 * Always signaled if it ends a registration. With quirk INVALIDATE_CRASHES the device must not get an Invalidate of a
 * window that the peer has invalidated: this polls first, to find out.
 */
static HRESULT invalidate(struct nd_qp *qp, void *context, struct nd_frmr *frmr, uint32_t flags)
{
    struct nd_queue *queue = &qp->initiator;
    struct nd_adapter *adapter = qp->adapter;
    struct ibv_send_wr wr = { .opcode = IBV_WR_LOCAL_INV };
    struct nd_request *request;
    HRESULT status;
    int error = 0;

    if (flags & ~(uint32_t)INVALIDATE_FLAGS || frmr->adapter != adapter)
        return ND_INVALID_PARAMETER;
    if (nd_has_quirk(&adapter->port.caps, INVALIDATE_CRASHES))
        nd_cq_look(qp->receive_cq);
    if (FAILED(status = begin(queue, context, Nd2RequestTypeInvalidate, flags, &request)))
        return status;
    lock_acquire(&adapter->memory_lock);
    if (SUCCEEDED(status = nd_frmr_check_invalidate_locked(frmr, qp))) {
        note(request, frmr);
        wr.wr_id = (uintptr_t)request;
        wr.invalidate_rkey = nd_frmr_key(frmr);
        wr.send_flags = nd_post_flags_locked(queue, request, flags);
        if (frmr->backing)
            wr.send_flags |= IBV_SEND_SIGNALED;
        if (!(error = ibv_post_send(queue->ibv, &wr, &queue->bad_send)))
            nd_frmr_invalidating_locked(frmr);
    }
    lock_release(&adapter->memory_lock);
    return nd_post_finish(queue, request, status, error);
}

HRESULT nd_qp_invalidate_frmr(struct nd_qp *qp, void *context, struct nd_frmr *frmr, uint32_t flags)
{
    return nd_chain_end(&qp->initiator, 0, invalidate(qp, context, frmr, flags));
}
