/* SPDX-License-Identifier: MIT */
/* processor.h - the processors of the computer, as sysfs lists them. */
#ifndef WIN32_SYSTEM_PROCESSOR_H
#define WIN32_SYSTEM_PROCESSOR_H

#include <windows.h>

#include <sched.h>

enum { WIN_GROUP_SIZE = 64 };

/* The processors that may come online. */
void win_processors_possible(cpu_set_t *set);

/* The number of groups up to that of the last processor of a set. */
unsigned win_group_count(const cpu_set_t *set);

/* The lowest group in which a set has processors, and which; group 0 without any for an empty set. */
GROUP_AFFINITY win_group_lowest(const cpu_set_t *set);

/* The mask of the processors of a group that are in a set, and the set of a mask. */
KAFFINITY win_group_mask(const cpu_set_t *set, unsigned group);
void win_group_set(cpu_set_t *set, unsigned group, KAFFINITY mask);

#endif
