/* SPDX-License-Identifier: MIT */
/* lam.c - logical addresses and the privileged token. */
#include "ndk/memory/memory.h"

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
