/* SPDX-License-Identifier: MIT */
/*
 * region.h - regions that clients name by handle (version 1): registered and entered into their adapter's table
 * (core/adapter/region_table.h) in one step.
 */
#ifndef NDSPI_CORE_REGION_H
#define NDSPI_CORE_REGION_H

#include "ndspi/core/memory/mr.h"

/*
 * nd_region_register - registers memory for local access; peers get access through windows.
 * handle  out: on success
 * Returns as nd_mr_enter, and ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES: the table is full.
 */
HRESULT nd_region_register(
    struct nd_adapter *adapter, const void *buffer, size_t length, void **handle);
/* Returns ND_SUCCESS; ND_INVALID_HANDLE; ND_DEVICE_BUSY: a window is bound; or what the device says. */
HRESULT nd_region_deregister(struct nd_adapter *adapter, void *handle);
/* The region, pinned; NULL: no handle of this adapter. */
struct nd_mr *nd_region_pin(struct nd_adapter *adapter, const void *handle);

#endif
