/* SPDX-License-Identifier: MIT */
/* memory.h - constants of Windows' memory functions. */
#ifndef WINOBJ_MEMORY_H
#define WINOBJ_MEMORY_H

#include <windows.h>

#include <stdbool.h>

enum { WIN_ALLOCATION_GRANULARITY = 65536 }; /* a reservation begins at a multiple of it */

/* mmap's protection for Windows'; false: no such protection. */
bool win_virtual_protection(DWORD protection, int *prot);

/* Whether an address lies in a reservation of VirtualAlloc; which, if so. */
bool win_virtual_region(uintptr_t address, uintptr_t *begin, uintptr_t *end);

/* Addresses for so many bytes, at a multiple of the granularity, to be mapped over; NULL: there is no room. */
void *win_virtual_place(size_t size);

#endif
