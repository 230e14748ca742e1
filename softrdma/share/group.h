/* SPDX-License-Identifier: MIT */
/*
 * group.h - what memory the control group of the process may have. Memory that ends share is charged to a group as its
 * pages are stored to; beyond the limit the kernel does not refuse a page, but kills a process of the group.
 */
#ifndef SOFTRDMA_SHARE_GROUP_H
#define SOFTRDMA_SHARE_GROUP_H

#include <stdint.h>

/*
 * srd_group_memory - the least of the limits of a group and of those above it, version 1 or 2.
 * membership  in: the file that names the groups of a process (/proc/self/cgroup)
 * mount       in: where groups are seen (/sys/fs/cgroup). In a container that has the directory of its own group only,
 *                 the group's path may not be there: then that directory counts
 * Returns octets; UINT64_MAX: there is no limit, or it cannot be read.
 */
uint64_t srd_group_memory(const char *membership, const char *mount);

#endif
