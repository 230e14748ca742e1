/* SPDX-License-Identifier: MIT */
#include "ndk/queue/queue.h"

NTSTATUS ndk_create_cq(NDK_ADAPTER *adapter, ULONG depth, NDK_FN_CQ_NOTIFICATION_CALLBACK notify,
    PVOID notify_context, GROUP_AFFINITY *affinity, NDK_FN_CREATE_COMPLETION completion,
    PVOID context, NDK_CQ **out)
{
    (void)adapter, (void)depth, (void)notify, (void)notify_context, (void)affinity,
        (void)completion, (void)context, (void)out;
    return ndk_absent("NdkCreateCq");
}

NTSTATUS ndk_create_srq(NDK_PD *pd, ULONG depth, ULONG sge, ULONG threshold,
    NDK_FN_SRQ_NOTIFICATION_CALLBACK notify, PVOID notify_context, GROUP_AFFINITY *affinity,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_SRQ **out)
{
    (void)pd, (void)depth, (void)sge, (void)threshold, (void)notify, (void)notify_context,
        (void)affinity, (void)completion, (void)context, (void)out;
    return ndk_absent("NdkCreateSrq");
}

NTSTATUS ndk_create_qp(NDK_PD *pd, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, PVOID qp_context,
    ULONG receive_depth, ULONG initiator_depth, ULONG receive_sge, ULONG initiator_sge,
    ULONG inline_data, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_QP **out)
{
    (void)pd, (void)receive_cq, (void)initiator_cq, (void)qp_context, (void)receive_depth,
        (void)initiator_depth, (void)receive_sge, (void)initiator_sge, (void)inline_data,
        (void)completion, (void)context, (void)out;
    return ndk_absent("NdkCreateQp");
}

NTSTATUS ndk_create_qp_with_srq(NDK_PD *pd, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, NDK_SRQ *srq,
    PVOID qp_context, ULONG initiator_depth, ULONG initiator_sge, ULONG inline_data,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_QP **out)
{
    (void)pd, (void)receive_cq, (void)initiator_cq, (void)srq, (void)qp_context,
        (void)initiator_depth, (void)initiator_sge, (void)inline_data, (void)completion,
        (void)context, (void)out;
    return ndk_absent("NdkCreateQpWithSrq");
}
