/* SPDX-License-Identifier: MIT */
/* system.h - constants of the system that GetSystemInfo reports. */
#ifndef WIN32_SYSTEM_SYSTEM_H
#define WIN32_SYSTEM_SYSTEM_H

enum {
    WIN_ALLOCATION_GRANULARITY = 65536
}; /* a reservation of memory begins at a multiple of it */

#endif
