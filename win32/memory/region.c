/* SPDX-License-Identifier: MIT */
/* region.c - what is known of allocations and views (region.h). */
#include "win32/memory/region.h"

#include "win32/fork.h"

#include "util/list.h"
#include "util/lock.h"

#include <stdlib.h>
#include <string.h>

/* Pages that are alike, up to where the next run begins, or the region ends. */
struct run {
    uintptr_t begin;
    DWORD protection; /* 0: reserved */
};

struct region {
    struct list_node link;
    uintptr_t base, end;
    DWORD allocated, type;
    struct run *runs; /* the first begins at base; neighbours differ */
    size_t count, room;
};

static struct list_head regions = { { &regions.n, &regions.n } };
static struct lock regions_lock = LOCK_INIT(LOCK_WIN_HANDLES, "reservations");
WIN_HELD_OVER_FORK(regions_lock);

void win_regions_lock(void)
{
    lock_acquire(&regions_lock);
}

void win_regions_unlock(void)
{
    lock_release(&regions_lock);
}

static struct region *find(uintptr_t address)
{
    list_for_each (&regions, node) {
        struct region *region = list_entry(node, struct region, link);

        if (address >= region->base && address < region->end)
            return region;
    }
    return NULL;
}

/* The run in which an address is. */
static size_t run_of(const struct region *region, uintptr_t address)
{
    size_t low = 0, high = region->count;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (region->runs[middle].begin <= address)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static uintptr_t run_end(const struct region *region, size_t run)
{
    return run + 1 < region->count ? region->runs[run + 1].begin : region->end;
}

bool win_region_add(uintptr_t base, size_t size, DWORD protection, bool committed, DWORD type)
{
    struct region *region = malloc(sizeof(*region));
    struct run *runs = malloc(sizeof(*runs));

    if (!region || !runs) {
        free(region);
        free(runs);
        return false;
    }
    *runs = (struct run){ base, committed ? protection : 0 };
    *region = (struct region){ .base = base,
        .end = base + size,
        .allocated = protection,
        .type = type,
        .runs = runs,
        .count = 1,
        .room = 1 };
    list_add_tail(&regions, &region->link);
    return true;
}

void win_region_forget(uintptr_t base)
{
    struct region *region = find(base);

    if (!region)
        return;
    list_del(&region->link);
    free(region->runs);
    free(region);
}

bool win_region_find(uintptr_t address, struct win_pages *pages)
{
    const struct region *region = find(address);
    size_t run;

    if (!region)
        return false;
    run = run_of(region, address);
    *pages = (struct win_pages){ .base = region->base,
        .end = run_end(region, run),
        .allocated = region->allocated,
        .protection = region->runs[run].protection,
        .type = region->type };
    return true;
}

uintptr_t win_region_ends(uintptr_t address)
{
    const struct region *region = find(address);

    return region ? region->end : 0;
}

/* Room for two more runs, which a change in the middle of one makes. */
bool win_region_room(uintptr_t address)
{
    struct region *region = find(address);
    const size_t wanted = region ? region->count + 2 : 0;
    struct run *runs;

    if (!region || wanted <= region->room)
        return region != NULL;
    if (!(runs = realloc(region->runs, 2 * wanted * sizeof(*runs))))
        return false;
    region->runs = runs;
    region->room = 2 * wanted;
    return true;
}

/* Puts count runs in the place of those from first up to behind last. */
static void replace(
    struct region *region, size_t first, size_t last, const struct run *with, size_t count)
{
    memmove(&region->runs[first + count], &region->runs[last + 1],
        (region->count - last - 1) * sizeof(*with));
    memcpy(&region->runs[first], with, count * sizeof(*with));
    region->count = region->count - (last + 1 - first) + count;
}

void win_region_set(uintptr_t first, uintptr_t end, DWORD protection)
{
    struct region *region = find(first);
    struct run with[3];
    size_t from, to, count = 0;

    from = run_of(region, first);
    to = run_of(region, end - 1);
    if (region->runs[from].begin < first)
        with[count++] = region->runs[from];
    else if (from && region->runs[from - 1].protection == protection)
        with[count++] = region->runs[--from];
    if (!count || with[count - 1].protection != protection)
        with[count++] = (struct run){ first, protection };
    if (run_end(region, to) > end) {
        if (region->runs[to].protection != protection)
            with[count++] = (struct run){ end, region->runs[to].protection };
    } else if (to + 1 < region->count && region->runs[to + 1].protection == protection)
        to++;
    replace(region, from, to, with, count);
}
