/* SPDX-License-Identifier: MIT */
/* memory.h - regions, windows, logical addresses. */
#ifndef NDK_MEMORY_MEMORY_H
#define NDK_MEMORY_MEMORY_H

#include "ndk/object/adapter.h"

/* Functions of NDK_ADAPTER_DISPATCH and NDK_PD_DISPATCH; their types in ndkpi.h describe them. */
NTSTATUS ndk_create_mr(NDK_PD *pd, BOOLEAN fast_register, NDK_FN_CREATE_COMPLETION completion,
    PVOID context, NDK_MR **out);
NTSTATUS ndk_create_mw(
    NDK_PD *pd, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_MW **out);
VOID ndk_get_privileged_token(NDK_PD *pd, UINT32 *token);
NTSTATUS ndk_build_lam(NDK_ADAPTER *adapter, MDL *mdl, SIZE_T length,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context, NDK_LOGICAL_ADDRESS_MAPPING *lam,
    ULONG *size, ULONG *offset);
VOID ndk_release_lam(NDK_ADAPTER *adapter, NDK_LOGICAL_ADDRESS_MAPPING *lam);

#endif
