/* SPDX-License-Identifier: MIT */
/* probe.c - whether a range of this process can be read or written, without touching it. */

#include "softrdma/memory.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ  22
#define MADV_POPULATE_WRITE 23
#endif

/* Up to here the kernel fills the pages and says so at once; larger ranges would cost memory never
 * used. */
enum { POPULATE_OCTETS = 1 << 20 };

static int probe_maps(uintptr_t start, uintptr_t end, bool write)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long low, high;
    char rights[5], line[512];
    uintptr_t at = start;

    if (!maps)
        return errno;
    while (at < end && fgets(line, sizeof(line), maps)) {
        if (sscanf(line, "%lx-%lx %4s", &low, &high, rights) == 3 && high > at) {
            if (low > at || rights[0] != 'r' || (write && rights[1] != 'w'))
                break;
            at = high;
        }
        while (!strchr(line, '\n') && fgets(line, sizeof(line), maps)) /* a long path */
            ;
    }
    fclose(maps);
    return at < end ? EFAULT : 0;
}

int srd_probe_memory(const void *addr, size_t length, bool write)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = (uintptr_t)addr & ~(page - 1);
    uintptr_t end = (uintptr_t)addr + length;

    if (length <= POPULATE_OCTETS &&
        madvise((void *)start, ((end - start) + page - 1) & ~(page - 1),
            write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ) == 0)
        return 0;
    if (length <= POPULATE_OCTETS && errno == EFAULT)
        return EFAULT; /* a mapping without memory behind it: a file that is too short */
    return probe_maps(start, end, write);
}
