/* SPDX-License-Identifier: MIT */
/* processors.h - lists of processors, and the nodes that have them, as the kernel writes them. */
#ifndef UTIL_PROCESSORS_H
#define UTIL_PROCESSORS_H

#include <sched.h>
#include <stdbool.h>

/* set out: the numbers in a file such as "0-3,8". Returns false, and an empty set, if it is unreadable or empty. */
bool processors_read(const char *path, cpu_set_t *set);

/* set out: the processors that are online. */
void processors_online(cpu_set_t *set);

/* The highest number of a memory node; 0 where the kernel lists no nodes. */
unsigned processors_highest_node(void);

/*
 * set out: the processors of a memory node that are online; empty where it has memory alone; all on a system without
 * nodes. Returns false where there is no such node.
 */
bool processors_of_node(unsigned node, cpu_set_t *set);

#endif
