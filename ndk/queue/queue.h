/* SPDX-License-Identifier: MIT */
/* queue.h - completion queues, shared receive queues, queue pairs. */
#ifndef NDK_QUEUE_QUEUE_H
#define NDK_QUEUE_QUEUE_H

#include "ndk/object/adapter.h"

/* Functions of NDK_ADAPTER_DISPATCH and NDK_PD_DISPATCH; their types in ndkpi.h describe them. */
NTSTATUS ndk_create_cq(NDK_ADAPTER *adapter, ULONG depth, NDK_FN_CQ_NOTIFICATION_CALLBACK notify,
    PVOID notify_context, GROUP_AFFINITY *affinity, NDK_FN_CREATE_COMPLETION completion,
    PVOID context, NDK_CQ **out);
NTSTATUS ndk_create_srq(NDK_PD *pd, ULONG depth, ULONG sge, ULONG threshold,
    NDK_FN_SRQ_NOTIFICATION_CALLBACK notify, PVOID notify_context, GROUP_AFFINITY *affinity,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_SRQ **out);
NTSTATUS ndk_create_qp(NDK_PD *pd, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, PVOID qp_context,
    ULONG receive_depth, ULONG initiator_depth, ULONG receive_sge, ULONG initiator_sge,
    ULONG inline_data, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_QP **out);
NTSTATUS ndk_create_qp_with_srq(NDK_PD *pd, NDK_CQ *receive_cq, NDK_CQ *initiator_cq, NDK_SRQ *srq,
    PVOID qp_context, ULONG initiator_depth, ULONG initiator_sge, ULONG inline_data,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_QP **out);

#endif
