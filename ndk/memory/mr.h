/* SPDX-License-Identifier: MIT */
/* mr.h - regions and windows, for the requests that name them. */
#ifndef NDK_MEMORY_MR_H
#define NDK_MEMORY_MR_H

#include "ndk/memory/memory.h"

#include "ndspi/core/memory/mr.h"
#include "ndspi/core/memory/mw.h"

struct ndk_mr {
    struct ndk_object object; /* first */
    struct ndk_pd *pd;
    struct nd_mr core;
    atomic_uint token; /* local; NDK_NO_TOKEN: not registered */
};

struct ndk_mw {
    struct ndk_object object; /* first */
    struct ndk_pd *pd;
    struct nd_mw core;
};

#endif
