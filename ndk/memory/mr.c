/* SPDX-License-Identifier: MIT */
/*
 * mr.c - NDK_MR over core/memory/mr.h.
 *
 * Source: NDK_MR_DISPATCH of the NDKPI documentation.
 */
#include "ndk/memory/mr.h"

#include "ndk/memory/mdl.h"

#include "ndspi/core/queue/qp.h"

#include <endian.h>

/* NDK_MR_FLAG_* that have a meaning; they have the values of those of version 2. */
enum { FLAGS = 0xF };

_Static_assert(NDK_MR_FLAG_ALLOW_LOCAL_WRITE == ND_MR_FLAG_ALLOW_LOCAL_WRITE &&
                   NDK_MR_FLAG_ALLOW_REMOTE_READ == ND_MR_FLAG_ALLOW_REMOTE_READ &&
                   NDK_MR_FLAG_ALLOW_REMOTE_WRITE == ND_MR_FLAG_ALLOW_REMOTE_WRITE &&
                   NDK_MR_FLAG_RDMA_READ_SINK == ND_MR_FLAG_RDMA_READ_SINK,
    "given to the core as they are");

static struct ndk_mr *from(NDK_MR *mr)
{
    return (struct ndk_mr *)mr;
}

static void forget(struct ndk_pd *pd, uint32_t token)
{
    lock_acquire(&pd->queues_lock);
    list_for_each (&pd->queues, node) {
        struct nd_qp *qp = list_entry(node, struct ndk_knower, link)->qp;

        nd_queue_forget(&qp->initiator, token);
        nd_queue_forget(&qp->receive, token);
    }
    lock_release(&pd->queues_lock);
}

void ndk_region_drop_token(struct ndk_region *region)
{
    uint32_t token = atomic_exchange_explicit(&region->token, NDK_NO_TOKEN, memory_order_relaxed);

    if (token == NDK_NO_TOKEN)
        return;
    forget(region->pd, token);
    ndk_tokens_give_back(&region->pd->tokens, token);
}

UINT32 ndk_get_local_token(NDK_MR *mr)
{
    return atomic_load_explicit(&ndk_region_from(mr)->token, memory_order_relaxed);
}

/* ---- registration ---- */

static NTSTATUS enter(struct ndk_mr *mr, const MDL *mdl, SIZE_T length, ULONG flags)
{
    NTSTATUS status;
    uint32_t token;
    char *start;

    if (!ndk_mdl_range(mdl, length, &start))
        return STATUS_INVALID_PARAMETER;
    status = ndk_status(nd_mr_enter(&mr->core, start, length, flags & FLAGS));
    if (status != STATUS_SUCCESS)
        return status;
    token = ndk_tokens_take(
        &mr->region.pd->tokens, atomic_load_explicit(&mr->core.local_token, memory_order_relaxed));
    if (token == NDK_NO_TOKEN) {
        (void)nd_mr_leave(&mr->core);
        return STATUS_INSUFFICIENT_RESOURCES;
    }
    atomic_store_explicit(&mr->region.token, token, memory_order_relaxed);
    return STATUS_SUCCESS;
}

static NTSTATUS register_mr(NDK_MR *given, MDL *mdl, SIZE_T length, ULONG flags,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_mr *mr = from(given);
    struct ndk_requesting requesting;
    NTSTATUS status =
        ndk_request_begin(&requesting, &mr->region.object, false, completion, context);

    if (status != STATUS_SUCCESS)
        return status;
    return ndk_request_end(&requesting, enter(mr, mdl, length, flags));
}

/* The pages name no code for a bound window; the region's state does not allow the call. */
static NTSTATUS leave(struct ndk_mr *mr)
{
    HRESULT status = nd_mr_leave(&mr->core);

    if (status == ND_DEVICE_BUSY)
        return STATUS_INVALID_DEVICE_STATE;
    if (SUCCEEDED(status))
        ndk_region_drop_token(&mr->region);
    return ndk_status(status);
}

static NTSTATUS deregister_mr(NDK_MR *given, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    struct ndk_mr *mr = from(given);
    struct ndk_requesting requesting;
    NTSTATUS status =
        ndk_request_begin(&requesting, &mr->region.object, false, completion, context);

    if (status != STATUS_SUCCESS)
        return status;
    return ndk_request_end(&requesting, leave(mr));
}

static NTSTATUS initialize_fast_register(
    NDK_MR *mr, ULONG pages, BOOLEAN remote, NDK_FN_REQUEST_COMPLETION completion, PVOID context)
{
    (void)mr;
    (void)pages;
    (void)remote;
    (void)completion;
    (void)context;
    return STATUS_INVALID_DEVICE_STATE; /* made for NdkRegisterMr */
}

static UINT32 get_remote_token(NDK_MR *mr)
{
    return be32toh(atomic_load_explicit(&from(mr)->core.remote_token, memory_order_relaxed));
}

/* ---- life ---- */

static void close_core(struct ndk_object *object)
{
    struct ndk_mr *mr = (struct ndk_mr *)object;

    ndk_region_drop_token(&mr->region);
    nd_mr_close(&mr->core);
}

static NTSTATUS close_mr(
    NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
    return ndk_object_close((struct ndk_object *)header, close_core, completion, context);
}

static const NDK_MR_DISPATCH dispatch = {
    .NdkCloseMr = close_mr,
    .NdkQueryExtension = ndk_query_extension,
    .NdkRegisterMr = register_mr,
    .NdkDeregisterMr = deregister_mr,
    .NdkInitializeFastRegisterMr = initialize_fast_register,
    .NdkGetRemoteTokenFromMr = get_remote_token,
    .NdkGetLocalTokenFromMr = ndk_get_local_token,
};

static void free_mr(struct ndk_object *object)
{
    free(object);
}

static void destroy(struct nd_object *object)
{
    struct nd_mr *core = (struct nd_mr *)object;

    nd_mr_fini(core);
    ndk_object_gone(&container_of(core, struct ndk_mr, core)->region.object);
}

static NTSTATUS make(struct ndk_pd *pd, struct ndk_object **out)
{
    struct ndk_mr *mr = nd_object_alloc(sizeof(*mr));

    if (!mr)
        return STATUS_INSUFFICIENT_RESOURCES;
    nd_mr_init(&mr->core, pd->adapter->core, nd_sink_calls_file(), destroy);
    mr->core.pd = pd->core.ibv;
    mr->region.pd = pd;
    atomic_init(&mr->region.token, NDK_NO_TOKEN);
    ndk_object_init(&mr->region.object, NdkObjectTypeMr, &dispatch, &pd->adapter->root,
        &mr->core.object, free_mr);
    ndk_object_follow(&mr->region.object, &pd->core.object);
    *out = &mr->region.object;
    return STATUS_SUCCESS;
}

NTSTATUS ndk_create_mr(NDK_PD *given, BOOLEAN fast_register, NDK_FN_CREATE_COMPLETION completion,
    PVOID context, NDK_MR **out)
{
    struct ndk_pd *pd = ndk_pd_from(given);
    struct ndk_object *object = NULL;
    struct ndk_creation creation;
    NTSTATUS status;

    if (fast_register)
        return ndk_create_frmr(given, completion, context, out);
    status = ndk_creation_begin(&creation, &pd->adapter->root, completion, context, (void **)out);
    if (status != STATUS_SUCCESS)
        return status;
    status = make(pd, &object);
    return ndk_creation_end(&creation, status, object);
}
