/* SPDX-License-Identifier: MIT */
/*
 * mw.c - NDK_MW over core/memory/mw.h.
 *
 * Source: NDK_MW_DISPATCH of the NDKPI documentation.
 */
#include "ndk/memory/mr.h"

#include "ndspi/core/queue/qp.h"

#include <endian.h>

static UINT32 get_remote_token(NDK_MW *mw)
{
    return be32toh(atomic_load_explicit(&((struct ndk_mw *)mw)->core.token, memory_order_relaxed));
}

/* A bound window is a successor of its region: the region's close completes after the window's. */
static void follow_region(struct ndk_mw *mw)
{
    struct nd_adapter *adapter = mw->core.adapter;
    struct nd_mr *region;

    lock_acquire(&adapter->memory_lock);
    region = mw->core.own_mr ? mw->core.own_mr->mr : mw->core.mr;
    if (region)
        ndk_object_follow(&mw->object, &region->object);
    lock_release(&adapter->memory_lock);
}

static void close_core(struct ndk_object *object)
{
    struct ndk_mw *mw = (struct ndk_mw *)object;

    follow_region(mw);
    nd_mw_close(&mw->core);
}

static NTSTATUS close_mw(
    NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
    return ndk_object_close((struct ndk_object *)header, close_core, completion, context);
}

static const NDK_MW_DISPATCH dispatch = {
    .NdkCloseMw = close_mw,
    .NdkQueryExtension = ndk_query_extension,
    .NdkGetRemoteTokenFromMw = get_remote_token,
};

static void free_mw(struct ndk_object *object)
{
    free(object);
}

static void destroy(struct nd_object *object)
{
    struct nd_mw *core = (struct nd_mw *)object;

    nd_mw_fini(core);
    ndk_object_gone(&container_of(core, struct ndk_mw, core)->object);
}

static NTSTATUS make(struct ndk_pd *pd, struct ndk_object **out)
{
    struct ndk_mw *mw = nd_object_alloc(sizeof(*mw));
    NTSTATUS status;

    if (!mw)
        return STATUS_INSUFFICIENT_RESOURCES;
    mw->core.pd = pd->core.ibv;
    status = ndk_status(nd_mw_init(&mw->core, pd->adapter->core, destroy));
    if (status != STATUS_SUCCESS) {
        free(mw);
        return status;
    }
    mw->pd = pd;
    ndk_object_init(
        &mw->object, NdkObjectTypeMw, &dispatch, &pd->adapter->root, &mw->core.object, free_mw);
    ndk_object_follow(&mw->object, &pd->core.object);
    *out = &mw->object;
    return STATUS_SUCCESS;
}

NTSTATUS ndk_create_mw(
    NDK_PD *given, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_MW **out)
{
    struct ndk_pd *pd = ndk_pd_from(given);
    struct ndk_object *object = NULL;
    struct ndk_creation creation;
    NTSTATUS status =
        ndk_creation_begin(&creation, &pd->adapter->root, completion, context, (void **)out);

    if (status != STATUS_SUCCESS)
        return status;
    status = make(pd, &object);
    return ndk_creation_end(&creation, status, object);
}
