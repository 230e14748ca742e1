/* SPDX-License-Identifier: MIT */
#include "ndspi/core/adapter/region_table.h"

#include <errno.h>
#include <sys/mman.h>

enum { ENTRIES = 1 << ND_REGION_INDEX_BITS, TABLE_SIZE = ENTRIES * sizeof(struct nd_region) };

/* Counts the registrations of the process. */
static atomic_uintptr_t last_number;

int nd_regions_init(struct nd_regions *regions)
{
    void *table = mmap(NULL, TABLE_SIZE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (table == MAP_FAILED)
        return -errno;
    *regions = (struct nd_regions){ .table = table, .used = 1 };
    atomic_init(&regions->table[0].handle, UINTPTR_MAX); /* a NULL handle leads here and differs */
    return 0;
}

void nd_regions_fini(struct nd_regions *regions)
{
    if (!regions->table)
        return;
    for (uint32_t i = 1; i < regions->used; i++)
        if (regions->table[i].object)
            nd_object_unpin(regions->table[i].object);
    munmap(regions->table, TABLE_SIZE);
}

/* A free entry, or NULL. */
static struct nd_region *take_entry(struct nd_regions *regions)
{
    struct nd_region *region = NULL;

    if (regions->next_free) {
        region = &regions->table[regions->next_free];
        regions->next_free = region->next_free;
    } else if (regions->used < ENTRIES) {
        region = &regions->table[regions->used++];
    }
    return region;
}

void *nd_regions_add_locked(struct nd_regions *regions, struct nd_object *object, uint32_t token)
{
    struct nd_region *region = take_entry(regions);
    uintptr_t number, handle;

    if (!region)
        return NULL;
    number = atomic_fetch_add_explicit(&last_number, 1, memory_order_relaxed) + 1;
    handle = number * TABLE_SIZE + (uintptr_t)((char *)region - (char *)regions->table);
    region->object = object;
    atomic_store_explicit(&region->token, token, memory_order_relaxed);
    /* Release: pairs with nd_region_token. */
    atomic_store_explicit(&region->handle, handle, memory_order_release);
    return (void *)handle;
}

/* The entry of a good handle, or NULL. */
static struct nd_region *entry_of(const struct nd_regions *regions, const void *handle)
{
    struct nd_region *region =
        (struct nd_region *)((char *)regions->table + ((uintptr_t)handle & ND_REGION_OFFSET_MASK));

    return atomic_load_explicit(&region->handle, memory_order_relaxed) == (uintptr_t)handle ? region
                                                                                            : NULL;
}

struct nd_object *nd_regions_find_locked(const struct nd_regions *regions, const void *handle)
{
    struct nd_region *region = entry_of(regions, handle);

    return region ? region->object : NULL;
}

void nd_regions_drop_locked(struct nd_regions *regions, const void *handle)
{
    struct nd_region *region = entry_of(regions, handle);

    atomic_store_explicit(&region->handle, 0, memory_order_relaxed);
    region->object = NULL;
    region->next_free = regions->next_free;
    regions->next_free = (uint32_t)(region - regions->table);
}
