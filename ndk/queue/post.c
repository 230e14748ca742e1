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
#include "ndspi/core/queue/datapath.h"

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

/* The core's flags of a request. same in: the flags that the core takes as they are */
static uint32_t core_flags(ULONG flags, ULONG same)
{
    return (flags & same) | (flags & NDK_OP_FLAG_DEFER ? ND_POST_DEFER : 0);
}

static uint32_t with_inline(ULONG flags, ULONG same)
{
    return core_flags(flags, same) | (flags & NDK_OP_FLAG_INLINE ? ND_OP_FLAG_INLINE : 0);
}

/* The call refuses an initiator request; deferred ones before it still go to the device. */
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

/*
 * Has the queue remember the token's key: the next list of one entry of that region takes the fast path. Tokens of
 * mapped or fast-registered memory are looked up each time.
 */
static void know(struct ndk_qp *qp, struct nd_queue *queue, const NDK_SGE *list, ULONG n)
{
    uint32_t lkey;

    if (n == 1 && ndk_tokens_find(&qp->pd->tokens, list->MemoryRegionToken, &lkey))
        nd_queue_know(queue, list->MemoryRegionToken, lkey);
}

static __attribute__((noinline)) HRESULT refused(struct nd_queue *queue, uint64_t wr_id, int error)
{
    return ndk_posted(queue->receives ? nd_queue_refused(queue, wr_id, error)
                                      : nd_queue_refused_send(queue, wr_id, error));
}

static __attribute__((noinline)) HRESULT send_other(
    struct nd_queue *queue, void *context, const void *given, uint32_t n, uint32_t flags)
{
    struct ndk_qp *qp = container_of(queue, struct ndk_qp, core.initiator);
    const NDK_SGE *list = given;
    ND2_SGE sges[NDK_SGE_MOST];
    const void *entries;
    NTSTATUS status = list_of(qp, list, n, flags, sges, &entries);

    if (status != STATUS_SUCCESS)
        return refuse(qp, status);
    if (!(flags & NDK_OP_FLAG_INLINE))
        know(qp, queue, list, n);
    return ndk_posted(nd_queue_send_general(queue, context, entries, n, with_inline(flags, SENDS)));
}

static __attribute__((noinline)) HRESULT send_locked(
    struct nd_queue *queue, void *context, const void *list, uint32_t n, uint32_t flags)
{
    lock_release(&queue->lock);
    return send_other(queue, context, list, n, flags);
}

/* A function of its own: inlined into the next one, queue pair and queue would each occupy a register. */
static __attribute__((noinline)) NTSTATUS send_known(
    struct nd_queue *queue, PVOID context, const NDK_SGE *list, ULONG n, ULONG flags)
{
    static const struct nd_kernel_exits exits = { send_other, send_locked, refused };

    return nd_queue_send_known(queue, context, list, n, flags, &exits);
}

NTSTATUS ndk_send(NDK_QP *qp, PVOID context, const NDK_SGE *list, ULONG n, ULONG flags)
{
    return send_known(&from(qp)->core.initiator, context, list, n, flags);
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

static __attribute__((noinline)) HRESULT receive_other(
    struct nd_queue *queue, void *context, const void *given, uint32_t n, uint32_t flags)
{
    struct ndk_qp *qp = container_of(queue, struct ndk_qp, core.receive);
    const NDK_SGE *list = given;
    ND2_SGE sges[NDK_SGE_MOST];
    NTSTATUS status = ndk_sgl(qp->pd, list, n, sges);

    (void)flags;
    if (status != STATUS_SUCCESS)
        return status;
    know(qp, queue, list, n);
    return ndk_posted(nd_queue_receive_general(queue, context, sges, n));
}

static __attribute__((noinline)) HRESULT receive_locked(
    struct nd_queue *queue, void *context, const void *list, uint32_t n, uint32_t flags)
{
    lock_release(&queue->lock);
    return receive_other(queue, context, list, n, flags);
}

static __attribute__((noinline)) NTSTATUS receive_known(
    struct nd_queue *queue, PVOID context, const NDK_SGE *list, ULONG n)
{
    static const struct nd_kernel_exits exits = { receive_other, receive_locked, refused };

    return nd_queue_receive_known(queue, context, list, n, &exits);
}

NTSTATUS ndk_receive(NDK_QP *qp, PVOID context, const NDK_SGE *list, ULONG n)
{
    return receive_known(&from(qp)->core.receive, context, list, n);
}

VOID ndk_flush(NDK_QP *qp)
{
    (void)nd_qp_flush(
        &from(qp)->core); /* fails only if the device failed; then its queues have failed, too */
}

/* ---- the peer's memory ---- */

static struct nd_remote remote_of(UINT64 address, UINT32 token)
{
    return (struct nd_remote){ .address = address, .token = htobe32(token) };
}

/*
 * Whether a Read may store there: if its target needs a remote right, the privileged token does not give it. A list
 * that is too long is not read.
 */
static bool takes_reads(const struct ndk_qp *qp, const NDK_SGE *list, ULONG n)
{
    for (ULONG i = 0; qp->pd->adapter->shared->read_sinks && list && n <= NDK_SGE_MOST && i < n;
         i++)
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

/* A window is bound already, or not bound: the pages have one code for the state of an object. */
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
    /*
     * Does not read a list with more pages than the region takes (none before its initialisation): the core refuses it.
     */
    if (count <= frmr->core.max_pages &&
        !ndk_lams_have(&qp->pd->adapter->shared->lams, list, count))
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
