/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - what the kernel knows of RDMA devices beyond libibverbs, from sysfs (the variable SYSFS_PATH moves it,
 * as it does for libibverbs): devices that programs cannot reach, and which network interface a device belongs to.
 */
#ifndef NDSPI_CORE_DEVICE_KERNEL_H
#define NDSPI_CORE_DEVICE_KERNEL_H

#include "ndspi/core/device/found.h"

/* The network interface of a device's port; "" if the kernel does not say. */
void nd_kernel_netdev(const char *device, unsigned port, char netdev[IF_NAMESIZE]);

/*
 * nd_kernel_add_unlisted - adds, as ports 0, the devices that libibverbs did not list, and the cards that could be
 * devices if the module of their driver were loaded, each with its diagnosis.
 */
void nd_kernel_add_unlisted(struct nd_found *found);

#endif
