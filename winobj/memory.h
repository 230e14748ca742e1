/* SPDX-License-Identifier: MIT */
/* memory.h - constants of Windows' memory functions. */
#ifndef WINOBJ_MEMORY_H
#define WINOBJ_MEMORY_H

#include <windows.h>

enum { WIN_ALLOCATION_GRANULARITY = 65536 }; /* a reservation begins at a multiple of it */

#endif
