/* SPDX-License-Identifier: MIT */
/*
 * group.h - how much memory the control group of the process may have. A page of shared memory is charged to a group
 * when it is first stored to; beyond the limit the kernel does not refuse the page, but kills a process of the group.
 */
#ifndef SOFTRDMA_SHARE_GROUP_H
#define SOFTRDMA_SHARE_GROUP_H

#include <stdint.h>

/*
 * srd_group_memory - returns the least of the limits of a group and of those above it, version 1 or 2.
 * membership  in: the file that names the groups of a process (/proc/self/cgroup)
 * mount       in: the directory of groups (/sys/fs/cgroup). In a container that sees the directory of its own group
 *                 only, the group's path may not exist below it: then the limits of that directory count
 * Returns octets; UINT64_MAX: there is no limit, or it cannot be read.
 */
uint64_t srd_group_memory(const char *membership, const char *mount);

#endif
