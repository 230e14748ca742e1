/* SPDX-License-Identifier: MIT */
/*
 * pd.c - NDK_PD over core/memory/pd.h: each has a protection domain of the device of its own.
 *
 * Source: NDK_PD_DISPATCH of the NDKPI documentation.
 */
#include "ndk/adapter/pd.h"

#include "ndk/memory/lam.h"
#include "ndk/memory/memory.h"
#include "ndk/queue/queue.h"

static void close_core(struct ndk_object *object)
{
    nd_object_unpin(&((struct ndk_pd *)object)->core.object);
}

static NTSTATUS close_pd(
    NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
    return ndk_object_close((struct ndk_object *)header, close_core, completion, context);
}

static const NDK_PD_DISPATCH dispatch = {
    .NdkClosePd = close_pd,
    .NdkQueryExtension = ndk_query_extension,
    .NdkCreateMr = ndk_create_mr,
    .NdkCreateMw = ndk_create_mw,
    .NdkCreateSrq = ndk_create_srq,
    .NdkCreateQp = ndk_create_qp,
    .NdkCreateQpWithSrq = ndk_create_qp_with_srq,
    .NdkGetPrivilegedMemoryRegionToken = ndk_get_privileged_token,
};

static void free_pd(struct ndk_object *object)
{
    struct ndk_pd *pd = (struct ndk_pd *)object;

    ndk_tokens_fini(&pd->tokens);
    free(pd);
}

static void destroy(struct nd_object *object)
{
    struct ndk_pd *pd = container_of((struct nd_pd *)object, struct ndk_pd, core);

    ndk_lams_leave(pd);
    nd_pd_fini(&pd->core);
    ndk_object_gone(&pd->object);
}

static NTSTATUS make(struct ndk_adapter *adapter, struct ndk_object **out)
{
    struct ndk_pd *pd = nd_object_alloc(sizeof(*pd));
    NTSTATUS status = STATUS_INSUFFICIENT_RESOURCES;

    if (!pd)
        return STATUS_INSUFFICIENT_RESOURCES;
    if (!ndk_tokens_init(&pd->tokens))
        goto free_pd;
    status = ndk_status(nd_pd_init(&pd->core, adapter->core, destroy));
    if (status != STATUS_SUCCESS)
        goto fini_tokens;
    pd->adapter = adapter;
    list_init(&pd->registrations);
    lock_init(&pd->queues_lock, LOCK_NDK_QUEUES, "queues of a protection domain");
    list_init(&pd->queues);
    ndk_object_init(
        &pd->object, NdkObjectTypePd, &dispatch, &adapter->root, &pd->core.object, free_pd);
    ndk_object_follow(&pd->object, &adapter->pins);
    *out = &pd->object;
    return STATUS_SUCCESS;

fini_tokens:
    ndk_tokens_fini(&pd->tokens);
free_pd:
    free(pd);
    return status;
}

NTSTATUS ndk_create_pd(
    NDK_ADAPTER *given, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_PD **out)
{
    struct ndk_adapter *adapter = ndk_adapter_from(given);
    struct ndk_object *object = NULL;
    struct ndk_creation creation;
    NTSTATUS status =
        ndk_creation_begin(&creation, &adapter->root, completion, context, (void **)out);

    if (status != STATUS_SUCCESS)
        return status;
    status = make(adapter, &object);
    return ndk_creation_end(&creation, status, object);
}
