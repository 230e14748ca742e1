/* SPDX-License-Identifier: MIT */
#include "ndk/adapter/version.h"

NTSTATUS ndk_version_choose(NDK_VERSION asked, bool invalidates, NDK_VERSION *chosen)
{
    NDK_VERSION highest = { .Major = asked.Major };

    if (asked.Major == 1)
        highest.Minor = invalidates ? 2 : 1;
    else if (asked.Major == 2 && invalidates)
        highest.Minor = 1;
    else
        return NDIS_STATUS_BAD_VERSION;
    if (asked.Minor > highest.Minor)
        return NDIS_STATUS_BAD_VERSION;
    *chosen = highest;
    return STATUS_SUCCESS;
}
