/* SPDX-License-Identifier: MIT */
/*
 * announce.h - what the log says of the devices: once, and again whenever other devices are used. By default that is
 * what a user would not expect: no device can be used, or the embedded one is used although there is RDMA hardware.
 */
#ifndef NDSPI_CORE_DEVICE_ANNOUNCE_H
#define NDSPI_CORE_DEVICE_ANNOUNCE_H

#include "util/list.h"

/*
 * nd_announce - logs what follows from the diagnoses of the devices.
 * devices  in: of struct nd_device (provider.h); the provider's lock is held, which also guards what was logged last
 * choice   in: NDSPI_DEVICE, or "auto"
 */
void nd_announce(const struct list_head *devices, const char *choice);

#endif
