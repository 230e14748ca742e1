/* SPDX-License-Identifier: MIT */
/* post.h - the requests of queue pairs. */
#ifndef NDK_QUEUE_POST_H
#define NDK_QUEUE_POST_H

#include <ndkpi.h>

/* Functions of NDK_QP_DISPATCH; their types in ndkpi.h describe them. */
VOID ndk_flush(NDK_QP *qp);
NTSTATUS ndk_send(NDK_QP *qp, PVOID context, const NDK_SGE *list, ULONG n, ULONG flags);
NTSTATUS ndk_send_and_invalidate(
    NDK_QP *qp, PVOID context, const NDK_SGE *list, ULONG n, ULONG flags, UINT32 token);
NTSTATUS ndk_receive(NDK_QP *qp, PVOID context, const NDK_SGE *list, ULONG n);
NTSTATUS ndk_read(NDK_QP *qp, PVOID context, const NDK_SGE *list, ULONG n, UINT64 address,
    UINT32 token, ULONG flags);
NTSTATUS ndk_write(NDK_QP *qp, PVOID context, const NDK_SGE *list, ULONG n, UINT64 address,
    UINT32 token, ULONG flags);
NTSTATUS ndk_bind(
    NDK_QP *qp, PVOID context, NDK_MR *mr, NDK_MW *mw, PVOID address, SIZE_T length, ULONG flags);
NTSTATUS ndk_fast_register(NDK_QP *qp, PVOID context, NDK_MR *mr, ULONG pages,
    const NDK_LOGICAL_ADDRESS *list, ULONG offset, SIZE_T length, PVOID base, ULONG flags);
NTSTATUS ndk_invalidate(NDK_QP *qp, PVOID context, NDK_OBJECT_HEADER *mr_or_mw, ULONG flags);

#endif
