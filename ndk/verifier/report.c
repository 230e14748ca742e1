/* SPDX-License-Identifier: MIT */
#include "ndk/verifier/report.h"

#include "util/complaint.h"
#include "util/settings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *rule, *advice;
} texts[] = {
    [NDK_RULE_CLOSED] = { "an object is not used once its close function was called",
        "Forget its address there" },
    [NDK_RULE_TYPE] = { "the functions of a table take the objects whose table it is",
        "Call each function through Dispatch of its own object" },
    [NDK_RULE_LEVEL] = { "a function is called at DISPATCH_LEVEL at most",
        "Lower the level first" },
    [NDK_RULE_BLOCKS] = { "what blocks is called at PASSIVE_LEVEL, so neither in a callback nor "
                          "under "
                          "a spin lock",
        "Leave it to a work item (IoQueueWorkItem) or to a thread" },
    [NDK_RULE_PAGED] = { "paged pool is allocated below DISPATCH_LEVEL",
        "Use POOL_FLAG_NON_PAGED or NonPagedPoolNx" },
    [NDK_RULE_OVERLAP] = { "calls that post to one queue do not overlap, nor do those that arm one "
                           "completion queue or take its results",
        "Hold a lock over them" },
    [NDK_RULE_RUNNING] = { "an object is not closed while a function of it runs, save in the "
                           "completion callback of that very call",
        "Close it when the function has returned" },
    [NDK_RULE_LAM_KEPT] = { "a mapping is released before its adapter is closed",
        "Call NdkReleaseLAM when the last request that uses the mapping has completed" },
    [NDK_RULE_LAM_GONE] = { "a mapping is released once, on the adapter that made it",
        "Look for a second release, or for a change of AdapterContext" },
    [NDK_RULE_LAM_UNMET] = { "a logical address is used from NdkBuildLAM to NdkReleaseLAM",
        "Release the mapping when the last request that uses it has completed" },
    [NDK_RULE_MDL] = { "the MDLs of a call are left alone until it has ended",
        "Change or free them in the completion callback" },
    [NDK_RULE_TOKEN] = { "a token is used while its region is registered",
        "Register the memory first, and let the requests end before that is undone" },
    [NDK_RULE_OPEN] = { "the objects of an adapter are closed before it, or being closed",
        "Call the close function first" },
    [NDK_RULE_EXIT] = { "objects and adapters are closed before the process ends",
        "Call the close function, or NdklCloseAdapter" },
};

enum ndk_verifier_mode ndk_verifier_mode(void)
{
    static const char *const words[] = { "0", "1", "log", NULL };

    return (enum ndk_verifier_mode)setting_word("NDK_VERIFIER", words);
}

void ndk_report(enum ndk_rule rule, const char *call, const char *kind, const void *object,
    const char *format, ...)
{
    char happened[256];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(happened, sizeof(happened), format, arguments);
    va_end(arguments);
    complaint_write(
        "NDK_VERIFIER", call, kind, object, happened, texts[rule].rule, texts[rule].advice);
}

void ndk_report_end(void)
{
    if (ndk_verifier_mode() != NDK_VERIFIER_LOG)
        abort();
}
