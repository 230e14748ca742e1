/* SPDX-License-Identifier: MIT */
/*
 * depth.h - completion queues and shared receive queues that can become deeper on every device.
 *
 * Where the device cannot make a queue deeper than it was created (quirks FIXED_CQ, FIXED_SRQ; found by trying), it is
 * created deeper than asked for, or, if that fails, as deep as asked for; it can then grow only within that depth.
 */
#ifndef NDSPI_CORE_DEVICE_DEPTH_H
#define NDSPI_CORE_DEVICE_DEPTH_H

#include "ndspi/core/device/port.h"

/*
 * The least entries of a completion queue: 60 connections of 60 requests each. That costs 128 KiB on siw and on hns
 * with 32 byte entries, 256 KiB on hns with 64 byte ones, 512 KiB on cxgb4, which makes twice as many as requested, of
 * 64 bytes. Devices round up to a power of two.
 */
enum { ND_CQ_FIXED_ENTRIES = 4096 };
/*
 * The least buffers (Receives times entries of each) of a shared receive queue: Receives of one entry are 32 bytes each
 * on mlx4 and mlx5, 112 on siw, so 128 and 448 KiB.
 */
enum { ND_SRQ_FIXED_BUFFERS = 4096 };

/*
 * nd_create_cq - calls ibv_create_cq, for more entries if the device cannot resize the queue later.
 * most  in: entries of the deepest queue that the device makes
 * Returns NULL with errno set, or 0 where the driver does not set it.
 */
struct ibv_cq *nd_create_cq(const struct nd_port *port, int entries, int most, void *cq_context,
    struct ibv_comp_channel *channel);
/* Returns 0 or an errno. ENOSPC: more than the queue was created with, on a device that makes none deeper. */
int nd_resize_cq(const struct nd_port *port, struct ibv_cq *cq, int entries);

/*
 * nd_create_srq - calls ibv_create_srq, for more Receives if the device cannot resize the queue later.
 * init  inout: attr.max_wr: the Receives asked for; how many there is room for
 * most  in: Receives of the deepest queue that the device makes
 * Returns as nd_create_cq.
 */
struct ibv_srq *nd_create_srq(
    const struct nd_port *port, struct ibv_pd *pd, struct ibv_srq_init_attr *init, uint32_t most);
/* room  in: attr.max_wr as nd_create_srq has set it. Returns as nd_resize_cq. */
int nd_resize_srq(const struct nd_port *port, struct ibv_srq *srq, uint32_t room, uint32_t depth);

#endif
