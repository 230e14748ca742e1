/* SPDX-License-Identifier: MIT */
/* memory.h - reservations and protections, for the functions of pages and of shared memory. */
#ifndef WIN32_MEMORY_MEMORY_H
#define WIN32_MEMORY_MEMORY_H

#include "win32/system/system.h"

#include <windows.h>

#include <stdbool.h>

/* Translates Windows' protection into mmap's; false: there is no such protection. */
bool win_virtual_protection(DWORD protection, int *prot);

/*
 * Maps size bytes without access, at a multiple of WIN_ALLOCATION_GRANULARITY; the caller maps over them. NULL: there
 * is no room.
 */
void *win_virtual_place(size_t size);

/* The shared memory of a parcel, whose descriptor it takes over (mapping.c); NULL with the last error. */
struct win_parcel;
HANDLE win_mapping_receive(const struct win_parcel *parcel);

#endif
