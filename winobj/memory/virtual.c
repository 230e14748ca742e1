/* SPDX-License-Identifier: MIT */
/*
 * virtual.c - VirtualAlloc and VirtualFree over mmap. Reservations are kept in a list, because MEM_RELEASE and
 * MEM_COMMIT name a reservation by an address in it.
 */
#include "winobj/fork.h"
#include "winobj/memory/memory.h"
#include "winobj/memory/secure_cache.h"

#include "util/list.h"
#include "util/lock.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct region {
    struct list_node link;
    uintptr_t base;
    size_t size;
};

static struct list_head regions = { { &regions.n, &regions.n } };
static struct lock regions_lock = LOCK_INIT(LOCK_WIN_HANDLES, "reservations");
WIN_HELD_OVER_FORK(regions_lock);

bool win_virtual_protection(DWORD protection, int *prot)
{
    switch (protection) {
    case PAGE_NOACCESS: *prot = PROT_NONE; return true;
    case PAGE_READONLY: *prot = PROT_READ; return true;
    case PAGE_READWRITE: *prot = PROT_READ | PROT_WRITE; return true;
    case PAGE_EXECUTE: *prot = PROT_EXEC; return true;
    case PAGE_EXECUTE_READ: *prot = PROT_READ | PROT_EXEC; return true;
    case PAGE_EXECUTE_READWRITE: *prot = PROT_READ | PROT_WRITE | PROT_EXEC; return true;
    default: return false;
    }
}

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* The reservation that contains [address, address + size). */
static struct region *region_find_locked(uintptr_t address, size_t size)
{
    list_for_each (&regions, node) {
        struct region *region = list_entry(node, struct region, link);

        if (address >= region->base && address - region->base < region->size &&
            size <= region->size - (address - region->base))
            return region;
    }
    return NULL;
}

bool win_virtual_region(uintptr_t address, uintptr_t *begin, uintptr_t *end)
{
    struct region *region;

    lock_acquire(&regions_lock);
    if ((region = region_find_locked(address, 1))) {
        *begin = region->base;
        *end = region->base + region->size;
    }
    lock_release(&regions_lock);
    return region != NULL;
}

/* Maps size bytes (whole pages) at any free multiple of the granularity. */
static void *map_aligned(size_t size, int prot)
{
    size_t total = size + WIN_ALLOCATION_GRANULARITY;
    char *start, *base;

    if (total < size)
        return NULL;
    start = mmap(NULL, total, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return NULL;
    base = (char *)(((uintptr_t)start + WIN_ALLOCATION_GRANULARITY - 1) &
                    ~(uintptr_t)(WIN_ALLOCATION_GRANULARITY - 1));
    if (base > start)
        munmap(start, (size_t)(base - start));
    if (start + total > base + size)
        munmap(base + size, (size_t)(start + total - (base + size)));
    return base;
}

void *win_virtual_place(size_t size)
{
    size_t whole = (size + page_size() - 1) & ~(page_size() - 1);

    return whole < size ? NULL : map_aligned(whole, PROT_NONE);
}

static void *map_at(uintptr_t address, size_t size, int prot)
{
    void *base = mmap((void *)address, size, prot,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

    if (base == MAP_FAILED)
        return NULL;
    if ((uintptr_t)base == address)
        return base;
    munmap(base, size); /* an old kernel took the address for a hint */
    return NULL;
}

static LPVOID reserve(uintptr_t address, size_t size, int prot, DWORD *error)
{
    size_t page = page_size(), slack = address & (WIN_ALLOCATION_GRANULARITY - 1);
    struct region *region = malloc(sizeof(*region));
    void *base = NULL;

    *error = ERROR_NOT_ENOUGH_MEMORY;
    if (!region)
        return NULL;
    if (size > SIZE_MAX - slack - page) {
        *error = ERROR_INVALID_PARAMETER;
    } else {
        size = (size + slack + page - 1) & ~(page - 1);
        base = address ? map_at(address - slack, size, prot) : map_aligned(size, prot);
        if (address)
            *error = ERROR_INVALID_ADDRESS;
    }
    if (!base) {
        free(region);
        return NULL;
    }
    region->base = (uintptr_t)base;
    region->size = size;
    lock_acquire(&regions_lock);
    list_add_tail(&regions, &region->link);
    lock_release(&regions_lock);
    return base;
}

/* Commits pages of a reservation. */
static LPVOID commit(uintptr_t address, size_t size, int prot, DWORD *error)
{
    size_t page = page_size();
    uintptr_t first = address & ~(uintptr_t)(page - 1);
    bool done = false;

    *error = ERROR_INVALID_ADDRESS;
    lock_acquire(&regions_lock);
    if (region_find_locked(address, size)) {
        done = !mprotect((void *)first, (address + size - first + page - 1) & ~(page - 1), prot);
        *error = ERROR_NOT_ENOUGH_MEMORY;
    }
    lock_release(&regions_lock);
    return done ? (LPVOID)first : NULL;
}

/*
 * VirtualAlloc - reserves address space, commits memory in it, or both; memory is zero.
 * address     NULL: anywhere; else where to reserve (rounded down to 64 KiB) or commit (rounded down to a page)
 * size        in bytes, rounded up to whole pages
 * type        MEM_RESERVE, MEM_COMMIT, both; MEM_COMMIT with a NULL address reserves too. MEM_TOP_DOWN changes nothing:
 *             Linux gives address space from the top down
 * protection  PAGE_NOACCESS, PAGE_READONLY, PAGE_READWRITE, PAGE_EXECUTE, PAGE_EXECUTE_READ, PAGE_EXECUTE_READWRITE
 * Returns     the first page, or NULL with ERROR_INVALID_PARAMETER (also: an impossible size), ERROR_INVALID_ADDRESS
 *             (not free, or not reserved), ERROR_NOT_ENOUGH_MEMORY.
 */
LPVOID WINAPI VirtualAlloc(LPVOID address, SIZE_T size, DWORD type, DWORD protection)
{
    LPVOID base = NULL;
    DWORD error = ERROR_INVALID_PARAMETER;
    int prot;

    if (size && type && !(type & ~(DWORD)(MEM_COMMIT | MEM_RESERVE | MEM_TOP_DOWN)) &&
        (type & (MEM_COMMIT | MEM_RESERVE)) && win_virtual_protection(protection, &prot)) {
        if (address && !(type & MEM_RESERVE))
            base = commit((uintptr_t)address, size, prot, &error);
        else
            base = reserve((uintptr_t)address, size, type & MEM_COMMIT ? prot : PROT_NONE, &error);
    }
    if (!base)
        SetLastError(error);
    return base;
}

static DWORD release(uintptr_t address)
{
    uintptr_t begin, end;
    struct region *region;
    DWORD error = ERROR_INVALID_ADDRESS;

    if (win_virtual_region(address, &begin, &end) && begin == address)
        win_memory_goes((void *)begin, end - begin);
    lock_acquire(&regions_lock);
    region = region_find_locked(address, 1);
    if (region && region->base == address) {
        list_del(&region->link);
        error = munmap((void *)region->base, region->size) ? ERROR_INVALID_ADDRESS : ERROR_SUCCESS;
        free(region);
    }
    lock_release(&regions_lock);
    return error;
}

/* The whole pages that a decommit is for; size 0: all of the reservation. ERROR_SUCCESS, or why there are none. */
static DWORD decommitted_locked(uintptr_t address, size_t size, uintptr_t *first, uintptr_t *end)
{
    struct region *region = region_find_locked(address, size ? size : 1);
    size_t page = page_size();

    if (!region)
        return ERROR_INVALID_ADDRESS;
    if (!size && region->base != address)
        return ERROR_INVALID_PARAMETER;
    *first = address & ~(uintptr_t)(page - 1);
    *end = size ? address + size : region->base + region->size;
    *end = (*end + page - 1) & ~(uintptr_t)(page - 1);
    return ERROR_SUCCESS;
}

static DWORD decommit(uintptr_t address, size_t size)
{
    uintptr_t first, end;
    DWORD error;

    lock_acquire(&regions_lock);
    error = decommitted_locked(address, size, &first, &end);
    lock_release(&regions_lock);
    if (error)
        return error;
    win_memory_goes((void *)first, end - first);
    lock_acquire(&regions_lock);
    if (!(error = decommitted_locked(address, size, &first, &end))) {
        /* A new mapping in its place frees the memory; it is zero when committed again. */
        error = mmap((void *)first, end - first, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED
                    ? ERROR_NOT_ENOUGH_MEMORY
                    : ERROR_SUCCESS;
    }
    lock_release(&regions_lock);
    return error;
}

/*
 * VirtualFree - releases a reservation, or decommits pages.
 * address, size  with MEM_RELEASE what VirtualAlloc reserved, and 0; with MEM_DECOMMIT any pages of one reservation
 * Errors         ERROR_INVALID_PARAMETER (another type, MEM_RELEASE with a size), ERROR_INVALID_ADDRESS (no reservation
 *                there).
 */
BOOL WINAPI VirtualFree(LPVOID address, SIZE_T size, DWORD type)
{
    DWORD error = ERROR_INVALID_PARAMETER;

    if (type == MEM_RELEASE && !size)
        error = release((uintptr_t)address);
    else if (type == MEM_DECOMMIT)
        error = decommit((uintptr_t)address, size);
    if (error)
        SetLastError(error);
    return !error;
}
