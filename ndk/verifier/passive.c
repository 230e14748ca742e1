/* SPDX-License-Identifier: MIT */
#include "ndk/verifier/passive.h"

#include "ndk/verifier/report.h"

#include "util/log.h"

#include <stdlib.h>

static bool reported(const char *call, const char *kind, const void *object)
{
    if (ndk_verifier_mode() == NDK_VERIFIER_OFF)
        return false;
    ndk_report(NDK_RULE_BLOCKS, call, kind, object, "it was called at IRQL %u", ndk_level());
    ndk_report_end();
    return true;
}

void ndk_not_passive_at_all(const char *call, const char *kind, const void *object)
{
    if (reported(call, kind, object))
        return;
    log_write(LOG_ERROR, LOG_NDK,
        "%s blocks, so it must not be called at DISPATCH_LEVEL: in a callback or under a spin lock",
        call);
    abort();
}

void ndk_not_passive(const char *call, const char *kind, const void *object)
{
#ifndef NDEBUG
    ndk_not_passive_at_all(call, kind, object);
#else
    (void)reported(call, kind, object);
#endif
}

void ndk_paged_expected(const char *call)
{
    if (ndk_level() < DISPATCH_LEVEL || ndk_verifier_mode() == NDK_VERIFIER_OFF)
        return;
    ndk_report(NDK_RULE_PAGED, call, "paged pool", NULL, "it was called at IRQL %u", ndk_level());
    ndk_report_end();
}
