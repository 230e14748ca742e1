/* SPDX-License-Identifier: MIT */
/*
 * region_table.h - the regions of an adapter that clients name by ND_MR_HANDLE (version 1).
 *
 * A handle is never followed. Its low bits are the offset of an entry in a table that never moves, the others a number
 * no other registration of the process has; it is good if the entry holds the same handle. So one comparison, without a
 * lock, rejects garbage, handles taken back and those of another adapter. Opening the adapter reserves the table's
 * address range; pages of it that were never used cost nothing.
 *
 * The table owns its regions and they do not pin the adapter: what a client leaves registered goes with the adapter.
 * Entries are written under LOCK_MEMORY.
 */
#ifndef NDSPI_CORE_ADAPTER_REGION_TABLE_H
#define NDSPI_CORE_ADAPTER_REGION_TABLE_H

#include "ndspi/core/base.h"
#include "ndspi/core/object.h"

#include <stdatomic.h>

struct nd_region {
    _Alignas(32) atomic_uintptr_t handle; /* 0: free */
    atomic_uint token;                    /* the device's local key */
    uint32_t next_free;
    struct nd_object *object; /* pinned */
};

enum {
    ND_REGION_INDEX_BITS = sizeof(void *) == 8 ? 20 : 14, /* 1 << this entries; 0 is unused */
    ND_REGION_OFFSET_MASK = ((1 << ND_REGION_INDEX_BITS) - 1) * (int)sizeof(struct nd_region),
};

struct nd_regions {
    struct nd_region *table;
    uint32_t used;      /* entries used so far, freed ones included */
    uint32_t next_free; /* 0: none */
};

/* Returns 0 or a negative errno. */
int nd_regions_init(struct nd_regions *regions);
/* Deregisters what is still registered. The table may be NULL: it was never made. */
void nd_regions_fini(struct nd_regions *regions);

/*
 * nd_region_token - the device's token of a region, while it lives.
 * handle  in: where the handle is stored: read again for the comparison, which spares a register
 * Returns false: no handle of this table. NULL is none. Any thread, no lock.
 */
static inline bool nd_region_token(
    const struct nd_region *table, void *const *handle, uint32_t *token)
{
    const struct nd_region *region =
        (const struct nd_region *)((const char *)table +
                                   ((uintptr_t)*handle & ND_REGION_OFFSET_MASK));

    /* Acquire: the token belongs to the handle; pairs with nd_regions_add_locked. */
    if (__builtin_expect(
            atomic_load_explicit(&region->handle, memory_order_acquire) != (uintptr_t)*handle, 0))
        return false;
    *token = atomic_load_explicit(&region->token, memory_order_relaxed);
    return true;
}

/*
 * Add, find and remove a region; LOCK_MEMORY held.
 * add   object in: the region, whose pin the table takes; token in: the device's, local. Returns the handle; NULL: the
 *       table is full
 * find  Returns the region; NULL: no handle of this table
 * drop  handle in: one that find knows; the pin is the caller's now
 */
void *nd_regions_add_locked(struct nd_regions *regions, struct nd_object *object, uint32_t token);
struct nd_object *nd_regions_find_locked(const struct nd_regions *regions, const void *handle);
void nd_regions_drop_locked(struct nd_regions *regions, const void *handle);

#endif
