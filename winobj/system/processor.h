/* SPDX-License-Identifier: MIT */
/* processor.h - the processors of the computer, as sysfs lists them. */
#ifndef WINOBJ_PROCESSOR_H
#define WINOBJ_PROCESSOR_H

#include <windows.h>

#include <sched.h>
#include <stdbool.h>

enum { WIN_GROUP_SIZE = 64 };

/* Reads a list like "0-3,8" from a file. False: there is no such file, or it has no list. */
bool win_processors_read(const char *path, cpu_set_t *set);

/* The processors that are online. */
void win_processors_online(cpu_set_t *set);

/* The mask of the processors of a group that are in a set, and the set of a mask. */
KAFFINITY win_group_mask(const cpu_set_t *set, unsigned group);
void win_group_set(cpu_set_t *set, unsigned group, KAFFINITY mask);

#endif
