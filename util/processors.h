/* SPDX-License-Identifier: MIT */
/* processors.h - lists of processors, as the kernel writes them. */
#ifndef UTIL_PROCESSORS_H
#define UTIL_PROCESSORS_H

#include <sched.h>
#include <stdbool.h>

/* set out: the numbers in a file as "0-3,8". Returns false where it cannot be read or has none: then set is empty. */
bool processors_read(const char *path, cpu_set_t *set);

/* set out: the processors that are online. */
void processors_online(cpu_set_t *set);

#endif
