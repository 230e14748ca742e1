/* SPDX-License-Identifier: MIT */
/*
 * srq.c - NDK_SRQ over core/queue/srq.h.
 *
 * Source: NDK_SRQ_DISPATCH of the NDKPI documentation.
 */
#include "ndk/queue/srq.h"

#include "ndk/queue/sgl.h"

static struct ndk_srq *from(NDK_SRQ *srq)
{
    return (struct ndk_srq *)srq;
}

/* A worker calls it once for each arm. Every failure of the device is one status. */
static void tell(struct ndk_notice *notice, NTSTATUS status)
{
    struct ndk_srq *srq = container_of(notice, struct ndk_srq, notice);

    srq->notify(
        srq->notify_context, status == STATUS_SUCCESS ? STATUS_SUCCESS : STATUS_INTERNAL_ERROR);
}

static void arm(struct ndk_srq *srq)
{
    if (srq->notify)
        nd_srq_arm(&srq->core, nd_call_request(&srq->notice.core));
}

static NTSTATUS change(struct ndk_srq *srq, ULONG depth, ULONG threshold)
{
    HRESULT status = nd_srq_modify(&srq->core, depth, threshold);

    if (status == ND_BUFFER_OVERFLOW)
        return STATUS_INVALID_PARAMETER;
    if (SUCCEEDED(status))
        arm(srq);
    return ndk_status(status);
}

static NTSTATUS modify(NDK_SRQ *given, ULONG depth, ULONG threshold,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_srq *srq = from(given);
    struct ndk_requesting requesting;
    NTSTATUS status = ndk_request_begin(&requesting, &srq->object, false, completion, context);

    if (status != STATUS_SUCCESS)
        return status;
    return ndk_request_end(&requesting, change(srq, depth, threshold));
}

static NTSTATUS receive(NDK_SRQ *given, PVOID context, const NDK_SGE *list, ULONG n)
{
    struct ndk_srq *srq = from(given);
    ND2_SGE sges[NDK_SGE_MOST];
    NTSTATUS status = ndk_sgl(srq->pd, list, n, sges);

    if (status != STATUS_SUCCESS)
        return status;
    return ndk_posted(nd_srq_receive(&srq->core, context, sges, n));
}

/* ---- life ---- */

static void close_core(struct ndk_object *object)
{
    nd_srq_close(&((struct ndk_srq *)object)->core);
}

static NTSTATUS close_srq(
    NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
    return ndk_object_close((struct ndk_object *)header, close_core, completion, context);
}

static const NDK_SRQ_DISPATCH dispatch = {
    .NdkCloseSrq = close_srq,
    .NdkQueryExtension = ndk_query_extension,
    .NdkModifySrq = modify,
    .NdkSrqReceive = receive,
};

static void free_srq(struct ndk_object *object)
{
    free(object);
}

static void destroy(struct nd_object *object)
{
    struct ndk_srq *srq = container_of((struct nd_srq *)object, struct ndk_srq, core);

    nd_srq_cancel(&srq->core); /* a callback may have armed it while it was closed */
    nd_srq_fini(&srq->core);
    ndk_object_gone(&srq->object);
}

static NTSTATUS make(struct ndk_pd *pd, ULONG depth, ULONG sge, ULONG threshold,
    struct ndk_worker *worker, struct ndk_srq **out)
{
    struct ndk_srq *srq = nd_object_alloc(sizeof(*srq));
    NTSTATUS status;

    if (!srq)
        return STATUS_INSUFFICIENT_RESOURCES;
    srq->core.pd = pd->core.ibv;
    status = ndk_status(nd_srq_init(
        &srq->core, pd->adapter->core, nd_sink_calls_file(), depth, sge, threshold, 0, destroy));
    if (status != STATUS_SUCCESS) {
        free(srq);
        return status;
    }
    srq->pd = pd;
    ndk_notice_init(&srq->notice, worker, &srq->core.object, tell);
    ndk_object_init(
        &srq->object, NdkObjectTypeSrq, &dispatch, &pd->adapter->root, &srq->core.object, free_srq);
    ndk_object_follow(&srq->object, &pd->core.object);
    *out = srq;
    return STATUS_SUCCESS;
}

NTSTATUS ndk_create_srq(NDK_PD *given, ULONG depth, ULONG sge, ULONG threshold,
    NDK_FN_SRQ_NOTIFICATION_CALLBACK notify, PVOID notify_context, GROUP_AFFINITY *affinity,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_SRQ **out)
{
    struct ndk_pd *pd = ndk_pd_from(given);
    const struct nd_limits *limits = &pd->adapter->core->limits;
    struct ndk_creation creation;
    struct ndk_srq *srq = NULL;
    NTSTATUS status;

    if (!depth || depth > limits->max_srq_depth || sge > limits->max_srq_sge || threshold > depth)
        return STATUS_INVALID_PARAMETER;
    status = ndk_creation_begin(&creation, &pd->adapter->root, completion, context, (void **)out);
    if (status != STATUS_SUCCESS)
        return status;
    status = make(pd, depth, sge, threshold, ndk_pool_choose(&pd->adapter->pool, affinity), &srq);
    if (srq) {
        srq->notify = notify;
        srq->notify_context = notify_context;
        if (threshold)
            arm(srq);
    }
    return ndk_creation_end(&creation, status, srq ? &srq->object : NULL);
}
