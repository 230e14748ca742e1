/* SPDX-License-Identifier: MIT */
#include "ndk/verifier/verifier.h"

#include <ndkwdm.h>

#include <stdlib.h>

PMDL IoAllocateMdl(PVOID va, ULONG length, BOOLEAN secondary, BOOLEAN charge, struct _IRP *irp)
{
    PMDL mdl = malloc(sizeof(*mdl));

    (void)secondary;
    (void)charge;
    (void)irp;
    if (mdl)
        MmInitializeMdl(mdl, va, length);
    return mdl;
}

VOID IoFreeMdl(PMDL mdl)
{
    ndk_verifier_frees(mdl);
    free(mdl);
}
