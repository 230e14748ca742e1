/* SPDX-License-Identifier: MIT */
/*
 * pd.h - a protection domain beside the adapter's own: its queue pairs accept the keys of its own regions and windows
 * only.
 *
 * The facade pins it for each object made in it; the core's objects only have the device's domain (`pd` of each).
 */
#ifndef NDSPI_CORE_MEMORY_PD_H
#define NDSPI_CORE_MEMORY_PD_H

#include "ndspi/core/base.h"
#include "ndspi/core/object.h"

#include <infiniband/verbs.h>

struct nd_adapter;

struct nd_pd {
    struct nd_object object;    /* first */
    struct nd_adapter *adapter; /* pinned */
    struct ibv_pd *ibv;
};

/* Returns ND_SUCCESS (one pin, the application's), ND_DEVICE_REMOVED, or what the device says. */
HRESULT nd_pd_init(
    struct nd_pd *pd, struct nd_adapter *adapter, void (*destroy)(struct nd_object *object));
void nd_pd_fini(struct nd_pd *pd);

#endif
