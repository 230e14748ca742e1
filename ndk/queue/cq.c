/* SPDX-License-Identifier: MIT */
/*
 * cq.c - NDK_CQ over core/queue/cq.h.
 *
 * Source: NDK_CQ_DISPATCH of the NDKPI documentation.
 */
#include "ndk/queue/cq.h"

#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/moderation.h"

_Static_assert(
    sizeof(NDK_RESULT) == 24 && sizeof(NDK_RESULT_EX) == sizeof(struct nd_result) &&
        offsetof(NDK_RESULT_EX, BytesTransferred) == offsetof(struct nd_result, octets) &&
        offsetof(NDK_RESULT_EX, QPContext) == offsetof(struct nd_result, qp_context) &&
        offsetof(NDK_RESULT_EX, RequestContext) == offsetof(struct nd_result, context) &&
        offsetof(NDK_RESULT_EX, Type) == offsetof(struct nd_result, type) &&
        offsetof(NDK_RESULT_EX, ProviderErrorCode) == offsetof(struct nd_result, vendor) &&
        offsetof(NDK_RESULT_EX, TypeSpecificCompletionOutput) == offsetof(struct nd_result, token),
    "the core's results are stored where the consumer's are");

_Static_assert(NDK_CQ_NOTIFY_ERRORS == ND_CQ_NOTIFY_ERRORS &&
                   NDK_CQ_NOTIFY_ANY == ND_CQ_NOTIFY_ANY &&
                   NDK_CQ_NOTIFY_SOLICITED == ND_CQ_NOTIFY_SOLICITED,
    "given to the core as they are");

static struct ndk_cq *from(NDK_CQ *cq)
{
    return (struct ndk_cq *)cq;
}

/* ---- notification ---- */

static void tell(struct ndk_notice *notice, NTSTATUS status)
{
    struct ndk_cq *cq = container_of(notice, struct ndk_cq, notice);

    if (cq->notify)
        cq->notify(cq->notify_context, status);
}

/* Takes an unknown type for the weakest: the function cannot fail. */
static VOID arm(NDK_CQ *cq, ULONG type)
{
    if (type > NDK_CQ_NOTIFY_SOLICITED)
        type = NDK_CQ_NOTIFY_ERRORS;
    nd_cq_arm(&from(cq)->core, type, nd_call_request(&from(cq)->notice.core));
}

static NTSTATUS control_interrupt_moderation(NDK_CQ *cq, ULONG interval, ULONG count)
{
    return ndk_status(nd_cq_moderate(&from(cq)->core, interval, count));
}

/* ---- results ---- */

static ULONG get_results(NDK_CQ *cq, NDK_RESULT results[], ULONG room)
{
    return nd_cq_results_kernel(&from(cq)->core.poll, results, room);
}

_Static_assert((int)NdkOperationTypeReceive == ND_OPERATION_RECEIVE &&
                   (int)NdkOperationTypeReceiveAndInvalidate == ND_OPERATION_INVALIDATED &&
                   (int)NdkOperationTypeSend == ND_OPERATION_SEND &&
                   (int)NdkOperationTypeFastRegister == ND_OPERATION_FAST_REGISTER &&
                   (int)NdkOperationTypeBind == ND_OPERATION_BIND &&
                   (int)NdkOperationTypeInvalidate == ND_OPERATION_INVALIDATE &&
                   (int)NdkOperationTypeRead == ND_OPERATION_READ &&
                   (int)NdkOperationTypeWrite == ND_OPERATION_WRITE,
    "the core numbers kinds of requests as the pages do");

static ULONG get_results_ex(NDK_CQ *cq, NDK_RESULT_EX results[], ULONG room)
{
    return nd_cq_results_kernel_ex(&from(cq)->core.poll, results, room);
}

/* ---- depth ---- */

static NTSTATUS change_depth(struct ndk_cq *cq, ULONG depth)
{
    HRESULT status;

    if (!depth || depth > cq->adapter->core->limits.max_cq_depth)
        return STATUS_INVALID_PARAMETER;
    status = nd_cq_resize(&cq->core, depth);
    return status == ND_BUFFER_OVERFLOW ? STATUS_INVALID_PARAMETER : ndk_status(status);
}

static NTSTATUS resize(
    NDK_CQ *given, ULONG depth, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_cq *cq = from(given);
    struct ndk_requesting requesting;
    NTSTATUS status = ndk_request_begin(&requesting, &cq->object, false, completion, context);

    if (status != STATUS_SUCCESS)
        return status;
    return ndk_request_end(&requesting, change_depth(cq, depth));
}

/* ---- life ---- */

static void close_core(struct ndk_object *object)
{
    nd_cq_close(&((struct ndk_cq *)object)->core);
}

static NTSTATUS close_cq(
    NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
    return ndk_object_close((struct ndk_object *)header, close_core, completion, context);
}

static const NDK_CQ_DISPATCH dispatch = {
    .NdkCloseCq = close_cq,
    .NdkQueryExtension = ndk_query_extension,
    .NdkResizeCq = resize,
    .NdkArmCq = arm,
    .NdkGetCqResults = get_results,
    .NdkControlCqInterruptModeration = control_interrupt_moderation,
    .NdkGetCqResultsEx = get_results_ex,
};

static void free_cq(struct ndk_object *object)
{
    free(object);
}

static void destroy(struct nd_object *object)
{
    struct ndk_cq *cq = container_of((struct nd_cq *)object, struct ndk_cq, core);

    nd_cq_cancel(&cq->core); /* a callback may have armed it while it was closed */
    nd_cq_fini(&cq->core);
    ndk_object_gone(&cq->object);
}

/* The queue's own affinity is a hint to waiting threads; here the worker has it. */
static NTSTATUS make(
    struct ndk_adapter *adapter, ULONG depth, struct ndk_worker *worker, struct ndk_cq **out)
{
    struct ndk_cq *cq = nd_object_alloc(sizeof(*cq));
    NTSTATUS status;

    if (!cq)
        return STATUS_INSUFFICIENT_RESOURCES;
    status =
        ndk_status(nd_cq_init(&cq->core, adapter->core, nd_sink_calls_file(), depth, 0, destroy));
    if (status != STATUS_SUCCESS) {
        free(cq);
        return status;
    }
    cq->adapter = adapter;
    ndk_notice_init(&cq->notice, worker, &cq->core.object, tell);
    ndk_object_init(
        &cq->object, NdkObjectTypeCq, &dispatch, &adapter->root, &cq->core.object, free_cq);
    ndk_object_follow(&cq->object, &adapter->pins);
    *out = cq;
    return STATUS_SUCCESS;
}

NTSTATUS ndk_create_cq(NDK_ADAPTER *given, ULONG depth, NDK_FN_CQ_NOTIFICATION_CALLBACK notify,
    PVOID notify_context, GROUP_AFFINITY *affinity, NDK_FN_CREATE_COMPLETION completion,
    PVOID context, NDK_CQ **out)
{
    struct ndk_adapter *adapter = ndk_adapter_from(given);
    struct ndk_creation creation;
    struct ndk_cq *cq = NULL;
    NTSTATUS status;

    if (!depth || depth > adapter->core->limits.max_cq_depth)
        return STATUS_INVALID_PARAMETER;
    status = ndk_creation_begin(&creation, &adapter->root, completion, context, (void **)out);
    if (status != STATUS_SUCCESS)
        return status;
    status = make(adapter, depth, ndk_pool_choose(&adapter->pool, affinity), &cq);
    if (cq) {
        cq->notify = notify;
        cq->notify_context = notify_context;
    }
    return ndk_creation_end(&creation, status, cq ? &cq->object : NULL);
}
