/* SPDX-License-Identifier: MIT */
#include "ndspi/check/memory.h"

#include <stdlib.h>

struct region {
    struct list_node link;
    const struct nd_checked *object;  /* the region's; of version 1: the adapter */
    const struct nd_checked *adapter; /* both are compared alone: they may be freed */
    const struct nd_check_kind *kind; /* of the object */
    UINT64 name;
    const char *base;
    size_t length;
    ULONG flags;
    const char *ended_by; /* the call; NULL: it is registered */
};

static struct {
    struct list_head registered, gone; /* the newest first */
    size_t gone_count;
} all = {
    .registered = { { &all.registered.n, &all.registered.n } },
    .gone = { { &all.gone.n, &all.gone.n } },
};

static struct region *region_of(struct list_node *node)
{
    return list_entry(node, struct region, link);
}

/* ---- life ---- */

void nd_check_registered(const struct nd_check_call *call, HRESULT hr, UINT64 name,
    const void *base, size_t length, ULONG flags)
{
    struct region *region = hr == ND_PENDING ? malloc(sizeof(*region)) : NULL;

    if (!region)
        return;
    *region = (struct region){
        .object = call->object,
        .adapter = call->object->adapter,
        .kind = call->object->kind,
        .name = name,
        .base = base,
        .length = length,
        .flags = flags,
    };
    lock_acquire(&nd_check_lock);
    list_add_head(&all.registered, &region->link);
    lock_release(&nd_check_lock);
}

static void end_locked(struct region *region, const char *call)
{
    list_del(&region->link);
    list_add_head(&all.gone, &region->link);
    region->ended_by = call;
    if (++all.gone_count > ND_CHECK_GONE_MOST) {
        region = region_of(all.gone.n.prev);
        list_del(&region->link);
        free(region);
        all.gone_count--;
    }
}

void nd_check_deregistered(const struct nd_check_call *call, HRESULT hr, UINT64 name)
{
    if (hr != ND_PENDING)
        return;
    lock_acquire(&nd_check_lock);
    list_for_each_safe (&all.registered, node) {
        struct region *region = region_of(node);

        if (region->object == call->object && (!name || region->name == name))
            end_locked(region, call->name);
    }
    lock_release(&nd_check_lock);
}

void nd_check_release_regions_locked(const struct nd_checked *object, const char *name)
{
    list_for_each_safe (&all.registered, node)
        if (region_of(node)->object == object && object != object->adapter)
            end_locked(region_of(node), name);
}

/* ---- requests ---- */

/* Of this adapter, if it has one of that name. */
static const struct region *find_locked(
    struct list_head *list, UINT64 name, const struct nd_checked *adapter)
{
    const struct region *found = NULL;

    list_for_each (list, node) {
        const struct region *region = region_of(node);

        if (region->name != name)
            continue;
        if (region->adapter == adapter)
            return region;
        if (!found)
            found = region;
    }
    return found;
}

#define REPORT(rule, ...)                                                                          \
    nd_check_report_locked(                                                                        \
        ND_CHECK_##rule, call->name, call->object->kind->name, call->object, __VA_ARGS__)

/* Version 1 has handles, and no objects of regions. */
static void report_unknown_locked(const struct nd_check_call *call, unsigned index, UINT64 name)
{
    const struct nd_checked *adapter = call->object->adapter;
    const struct region *gone = find_locked(&all.gone, name, adapter);

    if (gone && gone->adapter == adapter)
        REPORT(TOKEN, "entry %u has 0x%llx, which %s took from %s %p", index,
            (unsigned long long)name, gone->ended_by, gone->kind->name, (const void *)gone->object);
    else
        REPORT(TOKEN, "entry %u has 0x%llx, which no region has", index, (unsigned long long)name);
}

static bool is_inside(const struct region *region, const struct nd_check_entry *entry)
{
    size_t offset = (size_t)((uintptr_t)entry->buffer - (uintptr_t)region->base);

    return offset <= region->length && entry->length <= region->length - offset;
}

static bool has_right(const struct region *region, enum nd_check_use use)
{
    static const ULONG rights[] = {
        [ND_CHECK_READS] = 0,
        [ND_CHECK_RECEIVES] = ND_MR_FLAG_ALLOW_LOCAL_WRITE,
        [ND_CHECK_FETCHES] = ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_RDMA_READ_SINK,
    };

    return use == ND_CHECK_READS || (region->flags & rights[use]);
}

static void check_region_locked(const struct nd_check_call *call, unsigned index,
    const struct nd_check_entry *entry, enum nd_check_use use, const struct region *region)
{
    const char *kind = region->kind->name;
    const void *object = region->object;

    if (region->adapter != call->object->adapter)
        REPORT(TOKEN, "entry %u has 0x%llx of %s %p, which is of another adapter", index,
            (unsigned long long)entry->name, kind, object);
    else if (!is_inside(region, entry))
        REPORT(OUTSIDE, "entry %u, %zu bytes at %p, is not inside of %zu bytes at %p of %s %p",
            index, entry->length, entry->buffer, region->length, (const void *)region->base, kind,
            object);
    else if (!has_right(region, use))
        REPORT(RIGHTS, "entry %u is in %s %p, registered with flags 0x%x", index, kind, object,
            (unsigned)region->flags);
}

void nd_check_entry(const struct nd_check_call *call, unsigned index,
    const struct nd_check_entry *entry, enum nd_check_use use)
{
    const struct region *region;

    if (!entry->length)
        return;
    lock_acquire(&nd_check_lock);
    region = find_locked(&all.registered, entry->name, call->object->adapter);
    if (region)
        check_region_locked(call, index, entry, use, region);
    else
        report_unknown_locked(call, index, entry->name);
    lock_release(&nd_check_lock);
}
