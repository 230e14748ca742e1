/* SPDX-License-Identifier: MIT */
/*
 * virtual.c - VirtualAlloc and VirtualFree over mmap. region.h keeps what was reserved, because MEM_RELEASE and
 * MEM_COMMIT name a reservation by an address in it.
 */
#include "win32/memory/memory.h"
#include "win32/memory/region.h"
#include "win32/memory/secure_cache.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

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

/* Whether [address, address + size) is in one allocation. Locked. */
static bool is_in_one(uintptr_t address, size_t size)
{
    const uintptr_t end = win_region_ends(address);

    return end && size <= end - address;
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

static LPVOID reserve(uintptr_t address, size_t size, DWORD protection, bool commits, DWORD *error)
{
    size_t page = page_size(), slack = address & (WIN_ALLOCATION_GRANULARITY - 1);
    int prot = PROT_NONE;
    void *base;
    bool known;

    *error = ERROR_INVALID_PARAMETER;
    if (size > SIZE_MAX - slack - page)
        return NULL;
    if (commits)
        win_virtual_protection(protection, &prot);
    size = (size + slack + page - 1) & ~(page - 1);
    base = address ? map_at(address - slack, size, prot) : map_aligned(size, prot);
    *error = base || !address ? ERROR_NOT_ENOUGH_MEMORY : ERROR_INVALID_ADDRESS;
    if (!base)
        return NULL;
    win_regions_lock();
    known = win_region_add((uintptr_t)base, size, protection, commits, MEM_PRIVATE);
    win_regions_unlock();
    if (known)
        return base;
    munmap(base, size);
    return NULL;
}

/* Commits pages of a reservation. */
static LPVOID commit(uintptr_t address, size_t size, DWORD protection, DWORD *error)
{
    size_t page = page_size();
    uintptr_t first = address & ~(uintptr_t)(page - 1), end;
    bool done = false;
    int prot = PROT_NONE;

    *error = ERROR_INVALID_ADDRESS;
    win_regions_lock();
    if (is_in_one(address, size)) {
        end = (address + size + page - 1) & ~(uintptr_t)(page - 1);
        win_virtual_protection(protection, &prot);
        done = win_region_room(first) && !mprotect((void *)first, end - first, prot);
        if (done)
            win_region_set(first, end, protection);
        *error = ERROR_NOT_ENOUGH_MEMORY;
    }
    win_regions_unlock();
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
            base = commit((uintptr_t)address, size, protection, &error);
        else
            base = reserve((uintptr_t)address, size, protection, type & MEM_COMMIT, &error);
    }
    if (!base)
        SetLastError(error);
    return base;
}

/* The allocation that begins at an address. ERROR_SUCCESS, or why it cannot be released. Locked. */
static DWORD released_locked(uintptr_t address, size_t *size)
{
    struct win_pages pages;

    if (!win_region_find(address, &pages) || pages.base != address)
        return ERROR_INVALID_ADDRESS;
    *size = win_region_ends(address) - address;
    return pages.type == MEM_PRIVATE ? ERROR_SUCCESS : ERROR_INVALID_PARAMETER;
}

static DWORD release(uintptr_t address)
{
    size_t size;
    DWORD error;

    win_regions_lock();
    error = released_locked(address, &size);
    win_regions_unlock();
    if (error)
        return error;
    win_memory_goes((void *)address, size);
    win_regions_lock();
    if (!(error = released_locked(address, &size))) {
        win_region_forget(address);
        error = munmap((void *)address, size) ? ERROR_INVALID_ADDRESS : ERROR_SUCCESS;
    }
    win_regions_unlock();
    return error;
}

/* The whole pages that a decommit is for; size 0: all of the reservation. ERROR_SUCCESS, or why there are none. */
static DWORD decommitted_locked(uintptr_t address, size_t size, uintptr_t *first, uintptr_t *end)
{
    struct win_pages pages;
    size_t page = page_size();

    if (!win_region_find(address, &pages) || !is_in_one(address, size) ||
        (!size && pages.base != address))
        return ERROR_INVALID_ADDRESS;
    if (pages.type != MEM_PRIVATE)
        return ERROR_INVALID_PARAMETER;
    *first = address & ~(uintptr_t)(page - 1);
    *end = size ? address + size : win_region_ends(address);
    *end = (*end + page - 1) & ~(uintptr_t)(page - 1);
    return ERROR_SUCCESS;
}

static DWORD decommit(uintptr_t address, size_t size)
{
    uintptr_t first, end;
    DWORD error;

    win_regions_lock();
    error = decommitted_locked(address, size, &first, &end);
    win_regions_unlock();
    if (error)
        return error;
    win_memory_goes((void *)first, end - first);
    win_regions_lock();
    if (!(error = decommitted_locked(address, size, &first, &end))) {
        /* A new mapping in its place frees the memory; it is zero when committed again. */
        if (!win_region_room(first) ||
            mmap((void *)first, end - first, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) == MAP_FAILED)
            error = ERROR_NOT_ENOUGH_MEMORY;
        else
            win_region_set(first, end, 0);
    }
    win_regions_unlock();
    return error;
}

/*
 * VirtualFree - releases a reservation, or decommits pages.
 * address, size  with MEM_RELEASE what VirtualAlloc reserved, and 0; with MEM_DECOMMIT any pages of one reservation
 * Errors         ERROR_INVALID_PARAMETER (another type, MEM_RELEASE with a size, a view), ERROR_INVALID_ADDRESS (no
 *                reservation there, or size 0 and it does not begin there).
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
