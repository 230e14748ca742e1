/* SPDX-License-Identifier: MIT */
#include "ndk/dispatch/level.h"

#include "util/log.h"

#include <stdlib.h>

_Thread_local KIRQL ndk_level_;

void ndk_passive_required(const char *call)
{
    if (ndk_level() == PASSIVE_LEVEL)
        return;
    log_write(LOG_ERROR, LOG_NDK,
        "%s blocks, so it must not be called at DISPATCH_LEVEL: in a callback or under a spin lock",
        call);
    abort();
}
