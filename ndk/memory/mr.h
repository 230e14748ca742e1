/* SPDX-License-Identifier: MIT */
/* mr.h - regions and windows, for the requests that name them. */
#ifndef NDK_MEMORY_MR_H
#define NDK_MEMORY_MR_H

#include "ndk/memory/memory.h"

#include "ndspi/core/memory/frmr.h"
#include "ndspi/core/memory/mr.h"
#include "ndspi/core/memory/mw.h"

/* What both kinds of NDK_MR begin with. */
struct ndk_region {
    struct ndk_object object; /* first */
    struct ndk_pd *pd;
    bool fast;         /* struct ndk_frmr, else struct ndk_mr */
    atomic_uint token; /* local; NDK_NO_TOKEN: not registered, not initialised */
};

struct ndk_mr {
    struct ndk_region region; /* first */
    struct nd_mr core;
};

struct ndk_frmr {
    struct ndk_region region; /* first */
    struct nd_frmr core;
};

static inline struct ndk_region *ndk_region_from(NDK_MR *mr)
{
    return (struct ndk_region *)mr;
}

/* NdkGetLocalTokenFromMr of both kinds. */
UINT32 ndk_get_local_token(NDK_MR *mr);
/* Gives the region's token back. */
void ndk_region_drop_token(struct ndk_region *region);

/* NdkCreateMr of a region for fast registration, as NDK_FN_CREATE_MR describes it. */
NTSTATUS ndk_create_frmr(
    NDK_PD *pd, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_MR **out);

struct ndk_mw {
    struct ndk_object object; /* first */
    struct ndk_pd *pd;
    struct nd_mw core;
};

#endif
