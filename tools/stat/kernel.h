/* SPDX-License-Identifier: MIT */
/* kernel.h - reads the kernel's counters of a device's port, by the kernel's names. */
#ifndef TOOLS_STAT_KERNEL_H
#define TOOLS_STAT_KERNEL_H

#include <stdint.h>

#define STAT_SYSFS "/sys/class/infiniband"

/*
 * stat_kernel - reports the files of DEVICE/ports/PORT/counters and .../hw_counters that hold a number.
 * sysfs    in: STAT_SYSFS
 * tell     in: called once for each file, in the order of their names, first for those of "counters"
 * context  in: passed to tell
 */
void stat_kernel(const char *sysfs, const char *device, unsigned port,
    void (*tell)(void *context, const char *name, uint64_t value), void *context);

#endif
