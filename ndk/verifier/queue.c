/* SPDX-License-Identifier: MIT */
/* queue.c - the checked tables of completion queues, shared receive queues and queue pairs. */
#include "ndk/queue/qp.h"
#include "ndk/queue/srq.h"
#include "ndk/verifier/memory.h"
#include "ndk/verifier/tables.h"
#include "ndk/verifier/watch.h"

/* ---- completion queues ---- */

static NTSTATUS resize_cq(
    NDK_CQ *cq, ULONG depth, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_watch watch;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, cq, NdkObjectTypeCq, NDK_LANE_NONE, "NdkResizeCq"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_watch_begin(&watch, &use, completion, context);
    status =
        NDK_PLAIN(&use, NDK_CQ_DISPATCH)->NdkResizeCq(cq, depth, watch.completion, watch.context);
    return ndk_watch_end(&watch, status);
}

static VOID arm_cq(NDK_CQ *cq, ULONG type)
{
    struct ndk_use use;

    if (!ndk_use_begin(&use, cq, NdkObjectTypeCq, NDK_LANE_RESULTS, "NdkArmCq"))
        return;
    NDK_PLAIN(&use, NDK_CQ_DISPATCH)->NdkArmCq(cq, type);
    ndk_use_end(&use);
}

static ULONG get_results(NDK_CQ *cq, NDK_RESULT results[], ULONG room)
{
    struct ndk_use use;
    ULONG result;

    if (!ndk_use_begin(&use, cq, NdkObjectTypeCq, NDK_LANE_RESULTS, "NdkGetCqResults"))
        return 0;
    result = NDK_PLAIN(&use, NDK_CQ_DISPATCH)->NdkGetCqResults(cq, results, room);
    if (result)
        ndk_use_told();
    ndk_use_end(&use);
    return result;
}

static ULONG get_results_ex(NDK_CQ *cq, NDK_RESULT_EX results[], ULONG room)
{
    struct ndk_use use;
    ULONG result;

    if (!ndk_use_begin(&use, cq, NdkObjectTypeCq, NDK_LANE_RESULTS, "NdkGetCqResultsEx"))
        return 0;
    result = NDK_PLAIN(&use, NDK_CQ_DISPATCH)->NdkGetCqResultsEx(cq, results, room);
    if (result)
        ndk_use_told();
    ndk_use_end(&use);
    return result;
}

static NTSTATUS control_moderation(NDK_CQ *cq, ULONG interval, ULONG count)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(&use, cq, NdkObjectTypeCq, NDK_LANE_NONE, "NdkControlCqInterruptModeration"))
        return STATUS_INVALID_DEVICE_STATE;
    result = NDK_PLAIN(&use, NDK_CQ_DISPATCH)->NdkControlCqInterruptModeration(cq, interval, count);
    ndk_use_end(&use);
    return result;
}

const NDK_CQ_DISPATCH ndk_checked_cq = {
    .NdkCloseCq = ndk_checked_close,
    .NdkQueryExtension = ndk_checked_query_extension,
    .NdkResizeCq = resize_cq,
    .NdkArmCq = arm_cq,
    .NdkGetCqResults = get_results,
    .NdkControlCqInterruptModeration = control_moderation,
    .NdkGetCqResultsEx = get_results_ex,
};

/* ---- shared receive queues ---- */

static NTSTATUS modify_srq(
    NDK_SRQ *srq, ULONG depth, ULONG threshold, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_watch watch;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, srq, NdkObjectTypeSrq, NDK_LANE_NONE, "NdkModifySrq"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_watch_begin(&watch, &use, completion, context);
    status = NDK_PLAIN(&use, NDK_SRQ_DISPATCH)
                 ->NdkModifySrq(srq, depth, threshold, watch.completion, watch.context);
    return ndk_watch_end(&watch, status);
}

static NTSTATUS srq_receive(NDK_SRQ *srq, PVOID context, const NDK_SGE *list, ULONG n)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(&use, srq, NdkObjectTypeSrq, NDK_LANE_RECEIVE, "NdkSrqReceive"))
        return STATUS_INVALID_DEVICE_STATE;
    result = NDK_PLAIN(&use, NDK_SRQ_DISPATCH)->NdkSrqReceive(srq, context, list, n);
    if (result == STATUS_ACCESS_VIOLATION)
        ndk_list_refused(&use, ((struct ndk_srq *)srq)->pd, list, n);
    ndk_use_end(&use);
    return result;
}

const NDK_SRQ_DISPATCH ndk_checked_srq = {
    .NdkCloseSrq = ndk_checked_close,
    .NdkQueryExtension = ndk_checked_query_extension,
    .NdkModifySrq = modify_srq,
    .NdkSrqReceive = srq_receive,
};

/* ---- queue pairs ---- */

static struct ndk_pd *domain_of(const NDK_QP *qp)
{
    return ((const struct ndk_qp *)qp)->pd;
}

static VOID flush(NDK_QP *qp)
{
    struct ndk_use use;

    if (!ndk_use_begin(&use, qp, NdkObjectTypeQp, NDK_LANE_NONE, "NdkFlush"))
        return;
    NDK_PLAIN(&use, NDK_QP_DISPATCH)->NdkFlush(qp);
    ndk_use_end(&use);
}

static NTSTATUS send_message(NDK_QP *qp, PVOID context, const NDK_SGE *list, ULONG n, ULONG flags)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(&use, qp, NdkObjectTypeQp, NDK_LANE_INITIATOR, "NdkSend"))
        return STATUS_INVALID_DEVICE_STATE;
    result = NDK_PLAIN(&use, NDK_QP_DISPATCH)->NdkSend(qp, context, list, n, flags);
    if (result == STATUS_ACCESS_VIOLATION)
        ndk_list_refused(&use, domain_of(qp), list, n);
    ndk_use_end(&use);
    return result;
}

static NTSTATUS send_and_invalidate(
    NDK_QP *qp, PVOID context, const NDK_SGE *list, ULONG n, ULONG flags, UINT32 token)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(&use, qp, NdkObjectTypeQp, NDK_LANE_INITIATOR, "NdkSendAndInvalidate"))
        return STATUS_INVALID_DEVICE_STATE;
    result =
        NDK_PLAIN(&use, NDK_QP_DISPATCH)->NdkSendAndInvalidate(qp, context, list, n, flags, token);
    if (result == STATUS_ACCESS_VIOLATION)
        ndk_list_refused(&use, domain_of(qp), list, n);
    ndk_use_end(&use);
    return result;
}

static NTSTATUS receive(NDK_QP *qp, PVOID context, const NDK_SGE *list, ULONG n)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(&use, qp, NdkObjectTypeQp, NDK_LANE_RECEIVE, "NdkReceive"))
        return STATUS_INVALID_DEVICE_STATE;
    result = NDK_PLAIN(&use, NDK_QP_DISPATCH)->NdkReceive(qp, context, list, n);
    if (result == STATUS_ACCESS_VIOLATION)
        ndk_list_refused(&use, domain_of(qp), list, n);
    ndk_use_end(&use);
    return result;
}

static NTSTATUS read_remote(NDK_QP *qp, PVOID context, const NDK_SGE *list, ULONG n, UINT64 address,
    UINT32 token, ULONG flags)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(&use, qp, NdkObjectTypeQp, NDK_LANE_INITIATOR, "NdkRead"))
        return STATUS_INVALID_DEVICE_STATE;
    result = NDK_PLAIN(&use, NDK_QP_DISPATCH)->NdkRead(qp, context, list, n, address, token, flags);
    if (result == STATUS_ACCESS_VIOLATION)
        ndk_list_refused(&use, domain_of(qp), list, n);
    ndk_use_end(&use);
    return result;
}

static NTSTATUS write_remote(NDK_QP *qp, PVOID context, const NDK_SGE *list, ULONG n,
    UINT64 address, UINT32 token, ULONG flags)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(&use, qp, NdkObjectTypeQp, NDK_LANE_INITIATOR, "NdkWrite"))
        return STATUS_INVALID_DEVICE_STATE;
    result =
        NDK_PLAIN(&use, NDK_QP_DISPATCH)->NdkWrite(qp, context, list, n, address, token, flags);
    if (result == STATUS_ACCESS_VIOLATION)
        ndk_list_refused(&use, domain_of(qp), list, n);
    ndk_use_end(&use);
    return result;
}

static NTSTATUS bind_window(
    NDK_QP *qp, PVOID context, NDK_MR *mr, NDK_MW *mw, PVOID address, SIZE_T length, ULONG flags)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(&use, qp, NdkObjectTypeQp, NDK_LANE_INITIATOR, "NdkBind"))
        return STATUS_INVALID_DEVICE_STATE;
    if (!ndk_use_argument(&use, mr) || !ndk_use_argument(&use, mw)) {
        ndk_use_end(&use);
        return STATUS_INVALID_DEVICE_STATE;
    }
    result = NDK_PLAIN(&use, NDK_QP_DISPATCH)->NdkBind(qp, context, mr, mw, address, length, flags);
    if (result != STATUS_SUCCESS)
        ndk_bind_refused(&use, mr);
    ndk_use_end(&use);
    return result;
}

static NTSTATUS fast_register(NDK_QP *qp, PVOID context, NDK_MR *mr, ULONG pages,
    const NDK_LOGICAL_ADDRESS *list, ULONG offset, SIZE_T length, PVOID base, ULONG flags)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(&use, qp, NdkObjectTypeQp, NDK_LANE_INITIATOR, "NdkFastRegister"))
        return STATUS_INVALID_DEVICE_STATE;
    if (!ndk_use_argument(&use, mr)) {
        ndk_use_end(&use);
        return STATUS_INVALID_DEVICE_STATE;
    }
    result = NDK_PLAIN(&use, NDK_QP_DISPATCH)
                 ->NdkFastRegister(qp, context, mr, pages, list, offset, length, base, flags);
    if (result == STATUS_ACCESS_VIOLATION)
        ndk_pages_refused(&use, domain_of(qp), list, pages);
    ndk_use_end(&use);
    return result;
}

static NTSTATUS invalidate(NDK_QP *qp, PVOID context, NDK_OBJECT_HEADER *mr_or_mw, ULONG flags)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(&use, qp, NdkObjectTypeQp, NDK_LANE_INITIATOR, "NdkInvalidate"))
        return STATUS_INVALID_DEVICE_STATE;
    if (!ndk_use_argument(&use, mr_or_mw)) {
        ndk_use_end(&use);
        return STATUS_INVALID_DEVICE_STATE;
    }
    result = NDK_PLAIN(&use, NDK_QP_DISPATCH)->NdkInvalidate(qp, context, mr_or_mw, flags);
    ndk_use_end(&use);
    return result;
}

const NDK_QP_DISPATCH ndk_checked_qp = {
    .NdkCloseQp = ndk_checked_close,
    .NdkQueryExtension = ndk_checked_query_extension,
    .NdkFlush = flush,
    .NdkSend = send_message,
    .NdkReceive = receive,
    .NdkBind = bind_window,
    .NdkFastRegister = fast_register,
    .NdkInvalidate = invalidate,
    .NdkRead = read_remote,
    .NdkWrite = write_remote,
    .NdkSendAndInvalidate = send_and_invalidate,
};
