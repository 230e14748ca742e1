/* SPDX-License-Identifier: MIT */
/* pd.c - the checked table of protection domains. */
#include "ndk/verifier/tables.h"
#include "ndk/verifier/watch.h"

static NTSTATUS create_mr(NDK_PD *pd, BOOLEAN fast_register, NDK_FN_CREATE_COMPLETION completion,
    PVOID context, NDK_MR **out)
{
    struct ndk_making making;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, pd, NdkObjectTypePd, NDK_LANE_NONE, "NdkCreateMr"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_making_begin(&making, &use, completion, context, NULL);
    status = NDK_PLAIN(&use, NDK_PD_DISPATCH)
                 ->NdkCreateMr(pd, fast_register, making.completion, making.context, out);
    return ndk_making_end(&making, status, (void *const *)out);
}

static NTSTATUS create_mw(
    NDK_PD *pd, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_MW **out)
{
    struct ndk_making making;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, pd, NdkObjectTypePd, NDK_LANE_NONE, "NdkCreateMw"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_making_begin(&making, &use, completion, context, NULL);
    status =
        NDK_PLAIN(&use, NDK_PD_DISPATCH)->NdkCreateMw(pd, making.completion, making.context, out);
    return ndk_making_end(&making, status, (void *const *)out);
}

static NTSTATUS create_srq(NDK_PD *pd, ULONG depth, ULONG sge, ULONG threshold,
    NDK_FN_SRQ_NOTIFICATION_CALLBACK notify, PVOID notify_context, GROUP_AFFINITY *affinity,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_SRQ **out)
{
    struct ndk_making making;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, pd, NdkObjectTypePd, NDK_LANE_NONE, "NdkCreateSrq"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_making_begin(&making, &use, completion, context, NULL);
    status = NDK_PLAIN(&use, NDK_PD_DISPATCH)
                 ->NdkCreateSrq(pd, depth, sge, threshold, notify, notify_context, affinity,
                     making.completion, making.context, out);
    return ndk_making_end(&making, status, (void *const *)out);
}

static NTSTATUS create_qp(NDK_PD *pd, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, PVOID qp_context,
    ULONG receive_depth, ULONG initiator_depth, ULONG receive_sge, ULONG initiator_sge,
    ULONG inline_data, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_QP **out)
{
    struct ndk_making making;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, pd, NdkObjectTypePd, NDK_LANE_NONE, "NdkCreateQp"))
        return STATUS_INVALID_DEVICE_STATE;
    if (!ndk_use_argument(&use, receive_cq) || !ndk_use_argument(&use, initiator_cq)) {
        ndk_use_end(&use);
        return STATUS_INVALID_DEVICE_STATE;
    }
    ndk_making_begin(&making, &use, completion, context, NULL);
    status =
        NDK_PLAIN(&use, NDK_PD_DISPATCH)
            ->NdkCreateQp(pd, receive_cq, initiator_cq, qp_context, receive_depth, initiator_depth,
                receive_sge, initiator_sge, inline_data, making.completion, making.context, out);
    return ndk_making_end(&making, status, (void *const *)out);
}

static NTSTATUS create_qp_with_srq(NDK_PD *pd, NDK_CQ *receive_cq, NDK_CQ *initiator_cq,
    NDK_SRQ *srq, PVOID qp_context, ULONG initiator_depth, ULONG initiator_sge, ULONG inline_data,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_QP **out)
{
    struct ndk_making making;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, pd, NdkObjectTypePd, NDK_LANE_NONE, "NdkCreateQpWithSrq"))
        return STATUS_INVALID_DEVICE_STATE;
    if (!ndk_use_argument(&use, receive_cq) || !ndk_use_argument(&use, initiator_cq) ||
        !ndk_use_argument(&use, srq)) {
        ndk_use_end(&use);
        return STATUS_INVALID_DEVICE_STATE;
    }
    ndk_making_begin(&making, &use, completion, context, NULL);
    status =
        NDK_PLAIN(&use, NDK_PD_DISPATCH)
            ->NdkCreateQpWithSrq(pd, receive_cq, initiator_cq, srq, qp_context, initiator_depth,
                initiator_sge, inline_data, making.completion, making.context, out);
    return ndk_making_end(&making, status, (void *const *)out);
}

static VOID get_privileged_token(NDK_PD *pd, UINT32 *token)
{
    struct ndk_use use;

    if (!ndk_use_begin(
            &use, pd, NdkObjectTypePd, NDK_LANE_NONE, "NdkGetPrivilegedMemoryRegionToken"))
        return;
    NDK_PLAIN(&use, NDK_PD_DISPATCH)->NdkGetPrivilegedMemoryRegionToken(pd, token);
    ndk_use_end(&use);
}

const NDK_PD_DISPATCH ndk_checked_pd = {
    .NdkClosePd = ndk_checked_close,
    .NdkQueryExtension = ndk_checked_query_extension,
    .NdkCreateMr = create_mr,
    .NdkCreateMw = create_mw,
    .NdkCreateSrq = create_srq,
    .NdkCreateQp = create_qp,
    .NdkCreateQpWithSrq = create_qp_with_srq,
    .NdkGetPrivilegedMemoryRegionToken = get_privileged_token,
};
