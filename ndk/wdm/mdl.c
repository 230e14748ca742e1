/* SPDX-License-Identifier: MIT */
#include "ndk/verifier/verifier.h"

#include <ndkwdm.h>

#include <stdlib.h>

PMDL IoAllocateMdl(PVOID va, ULONG length, BOOLEAN secondary, BOOLEAN charge, struct _IRP *irp)
{
    PMDL mdl = malloc(sizeof(*mdl)), *at;

    (void)charge;
    if (!mdl)
        return NULL;
    MmInitializeMdl(mdl, va, length);
    if (irp) {
        at = &irp->MdlAddress;
        while (secondary && *at)
            at = &(*at)->Next;
        *at = mdl;
    }
    return mdl;
}

VOID IoFreeMdl(PMDL mdl)
{
    ndk_verifier_frees(mdl);
    free(mdl);
}
