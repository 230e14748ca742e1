/* SPDX-License-Identifier: MIT */
/* region.c - the checked tables of regions and windows. */
#include "ndk/memory/mr.h"
#include "ndk/verifier/memory.h"
#include "ndk/verifier/tables.h"
#include "ndk/verifier/watch.h"

/* A close, or NdkDeregisterMr: the region may lose its token. */
static void note_token(const struct ndk_use *use, NDK_MR *mr, UINT32 before)
{
    if (ndk_get_local_token(mr) != before)
        ndk_token_lost(mr, before, use->call);
}

static NTSTATUS register_mr(NDK_MR *mr, MDL *mdl, SIZE_T length, ULONG flags,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_watch watch;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, mr, NdkObjectTypeMr, NDK_LANE_NONE, "NdkRegisterMr"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_watch_begin(&watch, &use, completion, context);
    ndk_watch_mdls(&watch, mdl, length);
    status = NDK_PLAIN(&use, NDK_MR_DISPATCH)
                 ->NdkRegisterMr(mr, mdl, length, flags, watch.completion, watch.context);
    return ndk_watch_end(&watch, status);
}

static NTSTATUS deregister_mr(NDK_MR *mr, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_watch watch;
    struct ndk_use use;
    NTSTATUS status;
    UINT32 token;

    if (!ndk_use_begin(&use, mr, NdkObjectTypeMr, NDK_LANE_NONE, "NdkDeregisterMr"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_watch_begin(&watch, &use, completion, context);
    token = ndk_get_local_token(mr);
    status = NDK_PLAIN(&use, NDK_MR_DISPATCH)->NdkDeregisterMr(mr, watch.completion, watch.context);
    note_token(&use, mr, token); /* the memory of a region that is closed meanwhile stays */
    return ndk_watch_end(&watch, status);
}

static NTSTATUS initialize_mr(
    NDK_MR *mr, ULONG pages, BOOLEAN remote, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_watch watch;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, mr, NdkObjectTypeMr, NDK_LANE_NONE, "NdkInitializeFastRegisterMr"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_watch_begin(&watch, &use, completion, context);
    status = NDK_PLAIN(&use, NDK_MR_DISPATCH)
                 ->NdkInitializeFastRegisterMr(mr, pages, remote, watch.completion, watch.context);
    return ndk_watch_end(&watch, status);
}

static UINT32 get_remote_token(NDK_MR *mr)
{
    struct ndk_use use;
    UINT32 result;

    if (!ndk_use_begin(&use, mr, NdkObjectTypeMr, NDK_LANE_NONE, "NdkGetRemoteTokenFromMr"))
        return 0;
    result = NDK_PLAIN(&use, NDK_MR_DISPATCH)->NdkGetRemoteTokenFromMr(mr);
    ndk_use_end(&use);
    return result;
}

static UINT32 get_local_token(NDK_MR *mr)
{
    struct ndk_use use;
    UINT32 result;

    if (!ndk_use_begin(&use, mr, NdkObjectTypeMr, NDK_LANE_NONE, "NdkGetLocalTokenFromMr"))
        return 0;
    result = NDK_PLAIN(&use, NDK_MR_DISPATCH)->NdkGetLocalTokenFromMr(mr);
    ndk_use_end(&use);
    return result;
}

static NTSTATUS close_mr(
    NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
    NDK_MR *mr = (NDK_MR *)header;
    struct ndk_use use;
    NTSTATUS status;
    UINT32 token;

    if (!ndk_use_begin(&use, header, NdkObjectTypeMr, NDK_LANE_NONE, "NdkCloseMr"))
        return STATUS_SUCCESS;
    ndk_use_closes(&use);
    token = ndk_get_local_token(mr);
    status = NDK_PLAIN(&use, NDK_MR_DISPATCH)->NdkCloseMr(header, completion, context);
    note_token(&use, mr, token);
    ndk_use_end(&use);
    return status;
}

const NDK_MR_DISPATCH ndk_checked_mr = {
    .NdkCloseMr = close_mr,
    .NdkQueryExtension = ndk_checked_query_extension,
    .NdkRegisterMr = register_mr,
    .NdkDeregisterMr = deregister_mr,
    .NdkInitializeFastRegisterMr = initialize_mr,
    .NdkGetRemoteTokenFromMr = get_remote_token,
    .NdkGetLocalTokenFromMr = get_local_token,
};

static UINT32 get_window_token(NDK_MW *mw)
{
    struct ndk_use use;
    UINT32 result;

    if (!ndk_use_begin(&use, mw, NdkObjectTypeMw, NDK_LANE_NONE, "NdkGetRemoteTokenFromMw"))
        return 0;
    result = NDK_PLAIN(&use, NDK_MW_DISPATCH)->NdkGetRemoteTokenFromMw(mw);
    ndk_use_end(&use);
    return result;
}

const NDK_MW_DISPATCH ndk_checked_mw = {
    .NdkCloseMw = ndk_checked_close,
    .NdkQueryExtension = ndk_checked_query_extension,
    .NdkGetRemoteTokenFromMw = get_window_token,
};
