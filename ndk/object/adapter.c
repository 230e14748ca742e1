/* SPDX-License-Identifier: MIT */
#include "ndk/object/adapter.h"

NTSTATUS ndk_absent(const char *call)
{
    log_limited(LOG_ERROR, LOG_NDK, "%s is not there yet", call);
    return STATUS_NOT_SUPPORTED;
}
