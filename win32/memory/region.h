/* SPDX-License-Identifier: MIT */
/*
 * region.h - the allocations of VirtualAlloc and the views of shared memory, with the protection of their pages. The
 * kernel's list of mappings does not tell a page that was committed without access from one that is reserved, nor where
 * an allocation ends that was protected in parts.
 */
#ifndef WIN32_MEMORY_REGION_H
#define WIN32_MEMORY_REGION_H

#include <windows.h>

#include <stdbool.h>
#include <stdint.h>

/* What is known of the pages from an address on that are alike. */
struct win_pages {
    uintptr_t base;   /* where the allocation begins */
    uintptr_t end;    /* where the pages that are alike end, in this allocation */
    DWORD allocated;  /* the protection given when it was made */
    DWORD protection; /* 0: the pages are reserved */
    DWORD type;       /* MEM_PRIVATE or MEM_MAPPED */
};

/* Held over a change of pages and of what is known of them. A leaf. */
void win_regions_lock(void);
void win_regions_unlock(void);

/*
 * The rest is called with the lock held.
 * win_region_add      a new allocation; committed: all of it has this protection, else it is reserved. False: no memory
 * win_region_forget   an allocation that begins there
 * win_region_find     describes the pages at an address; false: it is in no allocation
 * win_region_ends     the end of the allocation in which an address is, or 0
 * win_region_room     prepares one change in the allocation in which an address is; false: no memory, or there is none
 * win_region_set      records the protection of whole pages of one allocation, after win_region_room; 0: they are
 *                     reserved again
 */
bool win_region_add(uintptr_t base, size_t size, DWORD protection, bool committed, DWORD type);
void win_region_forget(uintptr_t base);
bool win_region_find(uintptr_t address, struct win_pages *pages);
uintptr_t win_region_ends(uintptr_t address);
bool win_region_room(uintptr_t address);
void win_region_set(uintptr_t first, uintptr_t end, DWORD protection);

#endif
