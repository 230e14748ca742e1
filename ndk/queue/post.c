/* SPDX-License-Identifier: MIT */
/*
 * post.c - the requests of queue pairs.
 *
 * Flags that a request does not have are not looked at.
 */
#include "ndk/queue/post.h"

#include "ndk/memory/mr.h"
#include "ndk/queue/qp.h"
#include "ndk/queue/sgl.h"

#include "ndspi/core/queue/batch.h"
#include "ndspi/core/queue/qp.h"

#include <endian.h>

static struct ndk_qp *from(NDK_QP *qp)
{
    return (struct ndk_qp *)qp;
}

/* ---- flags ---- */

enum {
    EVERY = NDK_OP_FLAG_SILENT_SUCCESS | NDK_OP_FLAG_READ_FENCE,
    SENDS = EVERY | NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT,
    REMOTE_WRITE = NDK_OP_FLAG_ALLOW_REMOTE_WRITE & ~NDK_OP_FLAG_ALLOW_LOCAL_WRITE,
};

_Static_assert(NDK_OP_FLAG_SILENT_SUCCESS == ND_OP_FLAG_SILENT_SUCCESS &&
                   NDK_OP_FLAG_READ_FENCE == ND_OP_FLAG_READ_FENCE &&
                   NDK_OP_FLAG_SEND_AND_SOLICIT_EVENT == ND_OP_FLAG_SEND_AND_SOLICIT_EVENT &&
                   NDK_OP_FLAG_ALLOW_REMOTE_READ == ND_OP_FLAG_ALLOW_READ,
    "given to the core as they are");

/* same in: those that the core takes as they are */
static uint32_t core_flags(ULONG flags, ULONG same)
{
    return (flags & same) | (flags & NDK_OP_FLAG_DEFER ? ND_POST_DEFER : 0);
}

static uint32_t with_inline(ULONG flags, ULONG same)
{
    return core_flags(flags, same) | (flags & NDK_OP_FLAG_INLINE ? ND_OP_FLAG_INLINE : 0);
}

/* The call refuses an initiator request: deferred ones before it go to the device all the same. */
static NTSTATUS refuse(struct ndk_qp *qp, NTSTATUS status)
{
    return nd_chain_end(&qp->core.initiator, 0, status);
}

/* ---- messages ---- */

/*
 * The list as the core takes it: of an inline request the consumer's own; else in sges, with keys.
 */
static NTSTATUS list_of(
    struct ndk_qp *qp, const NDK_SGE *list, ULONG n, ULONG flags, ND2_SGE *sges, const void **out)
{
    *out = sges;
    if (!(flags & NDK_OP_FLAG_INLINE))
        return ndk_sgl(qp->pd, list, n, sges);
    *out = list;
    return list || !n ? STATUS_SUCCESS : STATUS_INVALID_PARAMETER;
}

NTSTATUS ndk_send(NDK_QP *given, PVOID context, const NDK_SGE *list, ULONG n, ULONG flags)
{
    struct ndk_qp *qp = from(given);
    ND2_SGE sges[NDK_SGE_MOST];
    const void *entries;
    NTSTATUS status = list_of(qp, list, n, flags, sges, &entries);

    if (status != STATUS_SUCCESS)
        return refuse(qp, status);
    return ndk_posted(
        nd_queue_send_v2(&qp->core.initiator, context, entries, n, with_inline(flags, SENDS)));
}

NTSTATUS ndk_send_and_invalidate(
    NDK_QP *given, PVOID context, const NDK_SGE *list, ULONG n, ULONG flags, UINT32 token)
{
    struct ndk_qp *qp = from(given);
    ND2_SGE sges[NDK_SGE_MOST];
    const void *entries;
    NTSTATUS status = list_of(qp, list, n, flags, sges, &entries);

    if (status != STATUS_SUCCESS)
        return refuse(qp, status);
    return ndk_posted(nd_qp_send_invalidate(
        &qp->core, context, entries, n, htobe32(token), with_inline(flags, SENDS)));
}

NTSTATUS ndk_receive(NDK_QP *given, PVOID context, const NDK_SGE *list, ULONG n)
{
    struct ndk_qp *qp = from(given);
    ND2_SGE sges[NDK_SGE_MOST];
    NTSTATUS status = ndk_sgl(qp->pd, list, n, sges);

    if (status != STATUS_SUCCESS)
        return status;
    return ndk_posted(nd_queue_receive_v2(&qp->core.receive, context, sges, n));
}

VOID ndk_flush(NDK_QP *qp)
{
    (void)nd_qp_flush(
        &from(qp)->core); /* fails where the device does: its queues have failed, too */
}

/* ---- the peer's memory ---- */

static struct nd_remote remote_of(UINT64 address, UINT32 token)
{
    return (struct nd_remote){ .address = address, .token = htobe32(token) };
}

/* Whether a Read may store there: where that takes a right for the peer, the privileged token does not give it. */
static bool takes_reads(const struct ndk_qp *qp, const NDK_SGE *list, ULONG n)
{
    for (ULONG i = 0; qp->pd->adapter->read_sinks && list && i < n; i++)
        if (list[i].MemoryRegionToken == NDK_PRIVILEGED_TOKEN)
            return false;
    return true;
}

NTSTATUS ndk_read(NDK_QP *given, PVOID context, const NDK_SGE *list, ULONG n, UINT64 address,
    UINT32 token, ULONG flags)
{
    struct nd_remote remote = remote_of(address, token);
    struct ndk_qp *qp = from(given);
    ND2_SGE sges[NDK_SGE_MOST];
    NTSTATUS status =
        takes_reads(qp, list, n) ? ndk_sgl(qp->pd, list, n, sges) : STATUS_ACCESS_VIOLATION;

    if (status != STATUS_SUCCESS)
        return refuse(qp, status);
    return ndk_posted(nd_qp_read(&qp->core, context, sges, n, &remote, core_flags(flags, EVERY)));
}

NTSTATUS ndk_write(NDK_QP *given, PVOID context, const NDK_SGE *list, ULONG n, UINT64 address,
    UINT32 token, ULONG flags)
{
    struct nd_remote remote = remote_of(address, token);
    struct ndk_qp *qp = from(given);
    ND2_SGE sges[NDK_SGE_MOST];
    const void *entries;
    NTSTATUS status = list_of(qp, list, n, flags, sges, &entries);

    if (status != STATUS_SUCCESS)
        return refuse(qp, status);
    return ndk_posted(
        nd_qp_write(&qp->core, context, entries, n, &remote, with_inline(flags, EVERY)));
}

/* ---- windows and regions ---- */

static void *in_domain(const struct ndk_qp *qp, NDK_OBJECT_HEADER *header, NDK_OBJECT_TYPE type)
{
    return ndk_object_of(header, type, qp->object.root);
}

/* A window that is bound already, or not bound: the pages have one code for the state of an object. */
static NTSTATUS window_posted(HRESULT status)
{
    return status == ND_INVALID_DEVICE_REQUEST ? STATUS_INVALID_DEVICE_STATE : ndk_posted(status);
}

NTSTATUS ndk_bind(NDK_QP *given, PVOID context, NDK_MR *region, NDK_MW *window, PVOID address,
    SIZE_T length, ULONG flags)
{
    struct ndk_qp *qp = from(given);
    struct ndk_mr *mr = in_domain(qp, region ? &region->Header : NULL, NdkObjectTypeMr);
    struct ndk_mw *mw = in_domain(qp, window ? &window->Header : NULL, NdkObjectTypeMw);

    if (!mr || !mw || mr->region.fast || mr->region.pd != qp->pd || mw->pd != qp->pd)
        return refuse(qp, STATUS_INVALID_PARAMETER);
    return window_posted(nd_qp_bind(&qp->core, context, &mr->core, &mw->core, address, length,
        core_flags(flags, EVERY | NDK_OP_FLAG_ALLOW_REMOTE_READ) |
            (flags & REMOTE_WRITE ? ND_OP_FLAG_ALLOW_WRITE : 0)));
}

/* What the addresses of the region mean to this end alone, and to peers. A target of Reads is written to. */
static uint32_t fast_flags(ULONG flags)
{
    uint32_t same = core_flags(flags, EVERY | NDK_OP_FLAG_ALLOW_REMOTE_READ);

    if (flags & REMOTE_WRITE)
        same |= ND_OP_FLAG_ALLOW_WRITE;
    if (flags & (NDK_OP_FLAG_ALLOW_LOCAL_WRITE | NDK_OP_FLAG_RDMA_READ_SINK))
        same |= ND_POST_LOCAL_WRITE;
    return same;
}

_Static_assert(sizeof(NDK_LOGICAL_ADDRESS) == sizeof(uint64_t), "a list of pages is the core's");

NTSTATUS ndk_fast_register(NDK_QP *given, PVOID context, NDK_MR *region, ULONG count,
    const NDK_LOGICAL_ADDRESS *list, ULONG offset, SIZE_T length, PVOID base, ULONG flags)
{
    struct ndk_qp *qp = from(given);
    struct ndk_frmr *frmr = in_domain(qp, region ? &region->Header : NULL, NdkObjectTypeMr);
    struct nd_pages pages = {
        .addresses = (const uint64_t *)list,
        .count = count,
        .offset = offset,
        .length = length,
        .base = (uintptr_t)base,
    };

    if (!frmr || !frmr->region.fast || frmr->region.pd != qp->pd || !list)
        return refuse(qp, STATUS_INVALID_PARAMETER);
    if (!ndk_lams_have(&qp->pd->adapter->lams, list, count))
        return refuse(qp, STATUS_ACCESS_VIOLATION);
    return ndk_posted(
        nd_qp_fast_register(&qp->core, context, &frmr->core, &pages, fast_flags(flags)));
}

static NTSTATUS invalidate_region(
    struct ndk_qp *qp, PVOID context, struct ndk_frmr *frmr, ULONG flags)
{
    if (!frmr->region.fast || frmr->region.pd != qp->pd)
        return refuse(qp, STATUS_INVALID_PARAMETER);
    return ndk_posted(
        nd_qp_invalidate_frmr(&qp->core, context, &frmr->core, core_flags(flags, EVERY)));
}

NTSTATUS ndk_invalidate(NDK_QP *given, PVOID context, NDK_OBJECT_HEADER *header, ULONG flags)
{
    struct ndk_qp *qp = from(given);
    struct ndk_frmr *frmr = in_domain(qp, header, NdkObjectTypeMr);
    struct ndk_mw *mw = in_domain(qp, header, NdkObjectTypeMw);

    if (frmr)
        return invalidate_region(qp, context, frmr, flags);
    if (!mw || mw->pd != qp->pd)
        return refuse(qp, STATUS_INVALID_PARAMETER);
    return window_posted(nd_qp_invalidate(&qp->core, context, &mw->core, core_flags(flags, EVERY)));
}
