/* SPDX-License-Identifier: MIT */
#include "ndspi/check/memory.h"

#include "ndspi/check/pending.h"
#include "ndspi/check/strict.h"

#include <stdlib.h>

enum { BUCKETS = 4096 };

static struct {
    struct list_head buckets[BUCKETS]; /* the newest first; next NULL: none was ever there */
    struct list_head gone;
    size_t gone_count;
} all = {
    .gone = { { &all.gone.n, &all.gone.n } },
};

static struct nd_check_region *region_of(struct list_node *node)
{
    return list_entry(node, struct nd_check_region, link);
}

/* ---- finding ---- */

static struct list_head *bucket_of(UINT64 name)
{
    struct list_head *bucket = &all.buckets[(name * 0x9e3779b97f4a7c15u) >> 52];

    if (!bucket->n.next)
        list_init(bucket);
    return bucket;
}

/* Finds the adapter's region of that name; NULL: it has none. */
static struct nd_check_region *find_locked(
    struct list_head *list, UINT64 name, const struct nd_checked *adapter)
{
    struct nd_check_region *found = NULL;

    list_for_each (list, node) {
        struct nd_check_region *region = region_of(node);

        if (region->name != name)
            continue;
        if (region->adapter == adapter)
            return region;
        if (!found)
            found = region;
    }
    return found;
}

struct nd_check_region *nd_check_region_locked(UINT64 name, const struct nd_checked *adapter)
{
    return find_locked(bucket_of(name), name, adapter);
}

struct nd_check_region *nd_check_region_of_locked(const struct nd_checked *object, UINT64 name)
{
    if (!name)
        name = object->region;
    list_for_each (bucket_of(name), node)
        if (region_of(node)->object == object && region_of(node)->name == name)
            return region_of(node);
    return NULL;
}

UINT64 nd_check_name_of(const void *given)
{
    const struct nd_checked *checked;
    UINT64 name;

    lock_acquire(&nd_check_lock);
    checked = nd_check_find_locked(given);
    name = checked ? checked->region : 0;
    lock_release(&nd_check_lock);
    return name;
}

/* ---- life ---- */

void nd_check_registered(const struct nd_check_call *call, HRESULT hr, UINT64 name,
    const void *base, size_t length, ULONG flags)
{
    struct nd_check_region *region = hr == ND_PENDING ? malloc(sizeof(*region)) : NULL;

    if (!region)
        return;
    *region = (struct nd_check_region){
        .object = call->object,
        .adapter = call->object->adapter,
        .kind = call->object->kind,
        .name = name,
        .base = base,
        .length = length,
        .flags = flags,
        .made_by = call->name,
    };
    list_init(&region->named);
    nd_check_place_here(&region->made_at);
    lock_acquire(&nd_check_lock);
    list_add_head(bucket_of(name), &region->link);
    if (call->object != call->object->adapter)
        call->object->region = name;
    lock_release(&nd_check_lock);
}

static void end_locked(struct nd_check_region *region, const char *call)
{
    while (list_pop(&region->named)) /* requests that name it are not reported again */
        ;
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

/* A call has deregistered it, perhaps while a request still names it. */
static void taken_back_locked(struct nd_checked *object, UINT64 name, const char *call,
    const struct nd_check_pending *pending)
{
    struct nd_check_region *region = nd_check_region_of_locked(object, name);
    char place[ND_CHECK_PLACE_OCTETS];

    if (!region)
        return;
    if (pending->call)
        nd_check_report_locked(ND_CHECK_NAMED, call, object->kind->name, object,
            "%s of %s %p, which has not ended, names 0x%llx; %s registered that at %s",
            pending->call, pending->kind, pending->object, (unsigned long long)region->name,
            region->made_by, nd_check_place_text(&region->made_at, place));
    end_locked(region, call);
}

void nd_check_deregistered(const struct nd_check_call *call, HRESULT hr, UINT64 name,
    const struct nd_check_pending *pending)
{
    if (hr != ND_PENDING)
        return;
    lock_acquire(&nd_check_lock);
    taken_back_locked(call->object, name, call->name, pending);
    lock_release(&nd_check_lock);
}

void nd_check_release_region_locked(struct nd_checked *object, const char *name)
{
    taken_back_locked(object, 0, name, &(struct nd_check_pending){ 0 });
}

/* ---- requests ---- */

#define REPORT(rule, ...)                                                                          \
    nd_check_report_locked(                                                                        \
        ND_CHECK_##rule, call->name, call->object->kind->name, call->object, __VA_ARGS__)

/* Version 1 has handles, and no objects of regions. */
static void report_unknown_locked(const struct nd_check_call *call, unsigned index, UINT64 name)
{
    const struct nd_checked *adapter = call->object->adapter;
    const struct nd_check_region *gone = find_locked(&all.gone, name, adapter);

    if (gone && gone->adapter == adapter)
        REPORT(TOKEN, "entry %u has 0x%llx, which %s took from %s %p", index,
            (unsigned long long)name, gone->ended_by, gone->kind->name, (const void *)gone->object);
    else
        REPORT(TOKEN, "entry %u has 0x%llx, which no region has", index, (unsigned long long)name);
}

static bool is_inside(const struct nd_check_region *region, const struct nd_check_entry *entry)
{
    size_t offset = (size_t)((uintptr_t)entry->buffer - (uintptr_t)region->base);

    return offset <= region->length && entry->length <= region->length - offset;
}

static bool has_right(const struct nd_check_region *region, enum nd_check_use use)
{
    static const ULONG rights[] = {
        [ND_CHECK_READS] = 0,
        [ND_CHECK_RECEIVES] = ND_MR_FLAG_ALLOW_LOCAL_WRITE,
        [ND_CHECK_FETCHES] = ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_RDMA_READ_SINK,
    };

    return use == ND_CHECK_READS || (region->flags & rights[use]);
}

/* Version 1 has no such flag: the library takes care of it. */
static bool lacks_sink(
    const struct nd_check_call *call, const struct nd_check_region *region, enum nd_check_use use)
{
    return use == ND_CHECK_FETCHES && call->object->kind->name[3] == '2' &&
           !(region->flags & ND_MR_FLAG_RDMA_READ_SINK) && nd_check_strict();
}

static void check_region_locked(const struct nd_check_call *call, unsigned index,
    const struct nd_check_entry *entry, enum nd_check_use use, const struct nd_check_region *region)
{
    const char *kind = region->kind->name;
    const void *object = region->object;
    char families[ND_CHECK_FAMILIES_OCTETS];

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
    else if (lacks_sink(call, region, use))
        REPORT(SINK, "entry %u is in %s %p, registered with flags 0x%x, which does not do on %s",
            index, kind, object, (unsigned)region->flags,
            nd_check_families(ND_QUIRK_READ_SINK, families));
}

void nd_check_entry(const struct nd_check_call *call, unsigned index,
    const struct nd_check_entry *entry, enum nd_check_use use)
{
    const struct nd_check_region *region;

    if (!entry->length)
        return;
    lock_acquire(&nd_check_lock);
    region = nd_check_region_locked(entry->name, call->object->adapter);
    if (region)
        check_region_locked(call, index, entry, use, region);
    else
        report_unknown_locked(call, index, entry->name);
    lock_release(&nd_check_lock);
}
