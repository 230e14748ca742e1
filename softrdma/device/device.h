/* SPDX-License-Identifier: MIT */
/* device.h - finds the device of an address, and the context that connection ids have as verbs. */
#ifndef SOFTRDMA_DEVICE_DEVICE_H
#define SOFTRDMA_DEVICE_DEVICE_H

#include "softrdma/context/context.h"

/* Returns the device that owns a local address (port ignored); NULL: no softrdma device does. */
struct srd_device *srd_device_by_addr(const struct sockaddr *addr);
/* Returns the context that rdma_cm ids have as verbs (NULL with errno), and its protection domain. */
struct ibv_context *srd_device_shared(struct srd_device *device, struct ibv_pd **pd);

#endif
