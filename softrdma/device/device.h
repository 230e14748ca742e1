/* SPDX-License-Identifier: MIT */
/* device.h - which device owns an address, and the context that connection ids show. */
#ifndef SOFTRDMA_DEVICE_DEVICE_H
#define SOFTRDMA_DEVICE_DEVICE_H

#include "softrdma/context.h"

/* The device that owns a local address (port ignored); NULL: none of ours. */
struct srd_device *srd_device_by_addr(const struct sockaddr *addr);
/* The context that stands for the device in rdma_cm ids (NULL with errno), and its protection domain. */
struct ibv_context *srd_device_shared(struct srd_device *device, struct ibv_pd **pd);

#endif
