/* SPDX-License-Identifier: MIT */
#include "ndk/memory/mdl.h"

bool ndk_mdl_range(const MDL *mdl, SIZE_T length, char **start)
{
    char *end;

    if (!mdl || !length)
        return false;
    *start = end = MmGetMdlVirtualAddress(mdl);
    for (;;) {
        if (MmGetMdlVirtualAddress(mdl) != end)
            return false;
        if (length <= MmGetMdlByteCount(mdl))
            return true;
        length -= MmGetMdlByteCount(mdl);
        end += MmGetMdlByteCount(mdl);
        if (!(mdl = mdl->Next))
            return false;
    }
}
