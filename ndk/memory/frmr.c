/* SPDX-License-Identifier: MIT */
/*
 * frmr.c - NDK_MR for fast registration, over core/memory/frmr.h.
 *
 * Source: NDK_MR_DISPATCH of the NDKPI documentation.
 */
#include "ndk/memory/mr.h"

static struct ndk_frmr *from(NDK_MR *mr)
{
    return (struct ndk_frmr *)mr;
}

static NTSTATUS initialize(struct ndk_frmr *frmr, ULONG pages, BOOLEAN remote)
{
    NTSTATUS status = ndk_status(nd_frmr_allocate(&frmr->core, pages, remote));
    uint32_t token;

    if (status != STATUS_SUCCESS)
        return status;
    token = ndk_tokens_take_region(&frmr->region.pd->tokens, &frmr->core);
    atomic_store_explicit(&frmr->region.token, token, memory_order_relaxed);
    return token == NDK_NO_TOKEN ? STATUS_INSUFFICIENT_RESOURCES : STATUS_SUCCESS;
}

static NTSTATUS initialize_fast_register(
    NDK_MR *given, ULONG pages, BOOLEAN remote, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_frmr *frmr = from(given);
    struct ndk_requesting requesting;
    NTSTATUS status =
        ndk_request_begin(&requesting, &frmr->region.object, false, completion, context);

    if (status != STATUS_SUCCESS)
        return status;
    return ndk_request_end(&requesting, initialize(frmr, pages, remote));
}

/* NdkCreateMr made the region for fast registration: this and the next function refuse it. */
static NTSTATUS register_mr(NDK_MR *mr, MDL *mdl, SIZE_T length, ULONG flags,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    (void)mr;
    (void)mdl;
    (void)length;
    (void)flags;
    (void)completion;
    (void)context;
    return STATUS_INVALID_DEVICE_STATE;
}

static NTSTATUS deregister_mr(NDK_MR *mr, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    (void)mr;
    (void)completion;
    (void)context;
    return STATUS_INVALID_DEVICE_STATE;
}

static UINT32 get_remote_token(NDK_MR *mr)
{
    return nd_frmr_key(&from(mr)->core);
}

/* ---- life ---- */

static void close_core(struct ndk_object *object)
{
    struct ndk_frmr *frmr = (struct ndk_frmr *)object;

    ndk_region_drop_token(&frmr->region);
    nd_frmr_close(&frmr->core);
}

static NTSTATUS close_frmr(
    NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
    return ndk_object_close((struct ndk_object *)header, close_core, completion, context);
}

static const NDK_MR_DISPATCH dispatch = {
    .NdkCloseMr = close_frmr,
    .NdkQueryExtension = ndk_query_extension,
    .NdkRegisterMr = register_mr,
    .NdkDeregisterMr = deregister_mr,
    .NdkInitializeFastRegisterMr = initialize_fast_register,
    .NdkGetRemoteTokenFromMr = get_remote_token,
    .NdkGetLocalTokenFromMr = ndk_get_local_token,
};

static void free_frmr(struct ndk_object *object)
{
    free(object);
}

static void destroy(struct nd_object *object)
{
    struct ndk_frmr *frmr = container_of((struct nd_frmr *)object, struct ndk_frmr, core);

    nd_frmr_fini(&frmr->core);
    ndk_object_gone(&frmr->region.object);
}

static struct ndk_object *make(struct ndk_pd *pd)
{
    struct ndk_frmr *frmr = nd_object_alloc(sizeof(*frmr));

    if (!frmr)
        return NULL;
    nd_frmr_init(&frmr->core, pd->adapter->core, destroy);
    frmr->core.pd = pd->core.ibv;
    frmr->region.pd = pd;
    frmr->region.fast = true;
    atomic_init(&frmr->region.token, NDK_NO_TOKEN);
    ndk_object_init(&frmr->region.object, NdkObjectTypeMr, &dispatch, &pd->adapter->root,
        &frmr->core.object, free_frmr);
    ndk_object_follow(&frmr->region.object, &pd->core.object);
    return &frmr->region.object;
}

NTSTATUS ndk_create_frmr(
    NDK_PD *given, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_MR **out)
{
    struct ndk_pd *pd = ndk_pd_from(given);
    struct ndk_creation creation;
    struct ndk_object *object;
    NTSTATUS status =
        ndk_creation_begin(&creation, &pd->adapter->root, completion, context, (void **)out);

    if (status != STATUS_SUCCESS)
        return status;
    object = make(pd);
    return ndk_creation_end(
        &creation, object ? STATUS_SUCCESS : STATUS_INSUFFICIENT_RESOURCES, object);
}
