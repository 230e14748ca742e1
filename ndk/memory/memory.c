/* SPDX-License-Identifier: MIT */
#include "ndk/memory/memory.h"

NTSTATUS ndk_create_mr(NDK_PD *pd, BOOLEAN fast_register, NDK_FN_CREATE_COMPLETION completion,
    PVOID context, NDK_MR **out)
{
    (void)pd, (void)fast_register, (void)completion, (void)context, (void)out;
    return ndk_absent("NdkCreateMr");
}

NTSTATUS ndk_create_mw(NDK_PD *pd, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_MW **out)
{
    (void)pd, (void)completion, (void)context, (void)out;
    return ndk_absent("NdkCreateMw");
}

VOID ndk_get_privileged_token(NDK_PD *pd, UINT32 *token)
{
    (void)pd;
    (void)ndk_absent("NdkGetPrivilegedMemoryRegionToken");
    *token = 0; /* no region's */
}

NTSTATUS ndk_build_lam(NDK_ADAPTER *adapter, MDL *mdl, SIZE_T length,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context, NDK_LOGICAL_ADDRESS_MAPPING *lam,
    ULONG *size, ULONG *offset)
{
    (void)adapter, (void)mdl, (void)length, (void)completion, (void)context, (void)lam, (void)size,
        (void)offset;
    return ndk_absent("NdkBuildLAM");
}

VOID ndk_release_lam(NDK_ADAPTER *adapter, NDK_LOGICAL_ADDRESS_MAPPING *lam)
{
    (void)adapter, (void)lam;
    (void)ndk_absent("NdkReleaseLAM");
}
