/* SPDX-License-Identifier: MIT */
/*
 * limits.h - what an adapter promises, values that are all usable together.
 *
 * Devices report each limit as if it were used alone; a queue pair of all of them fails. So the values are found by
 * creating such objects and shrinking until it works.
 */
#ifndef NDSPI_CORE_DEVICE_LIMITS_H
#define NDSPI_CORE_DEVICE_LIMITS_H

#include "ndspi/core/base.h"
#include "ndspi/core/device/port.h"

#include <stdint.h>

/* Depths in requests or entries, lengths in bytes. */
struct nd_limits {
    uint32_t vendor_id, device_id;
    uint64_t max_registration;
    uint32_t max_initiator_sge, max_receive_sge, max_read_sge;
    uint32_t max_transfer;
    uint32_t max_inline;
    uint32_t max_inbound_reads, max_outbound_reads; /* 254 at most */
    uint32_t max_receive_depth, max_initiator_depth;
    uint32_t max_srq_depth, max_srq_sge; /* 0: no shared receive queues */
    uint32_t max_cq_depth;
    uint32_t inline_threshold, large_threshold;
    uint32_t max_caller_data, max_callee_data;
    /* A device refused something with ENOMEM: either the request was too large, or memory was short at that moment. */
    bool uncertain;
};

/* Room in each device completion queue for completions that the client never sees (core/queue/cq.h). */
enum { ND_CQ_RESERVE = 64 };
/* Room in each device send queue for the marker that flushes silent requests out (core/queue/qp.h). */
enum { ND_QP_RESERVE = 1 };

/* Returns 0 or a negative errno: the device cannot make a queue pair at all, or the process has no descriptor left. */
int nd_limits_find(const struct nd_port *port, struct nd_limits *limits);

/* Lowers max_initiator_sge so that it holds for Reads as well: some clients have one limit of entries. */
static inline void nd_limits_level_sge(struct nd_limits *limits)
{
    limits->max_initiator_sge = limits->max_read_sge;
}

/*
 * The greatest depth of an initiator queue to ask the device for. Programs take the limit of receive queues for both:
 * a depth beyond max_initiator_depth may work with fewer entries than max_initiator_sge, or with less inline data.
 */
static inline uint32_t nd_limits_initiator_most(const struct nd_limits *limits)
{
    return limits->max_initiator_depth > limits->max_receive_depth ? limits->max_initiator_depth
                                                                   : limits->max_receive_depth;
}

/* Fills in ND2_ADAPTER_INFO but for InfoVersion, which the facade sets. */
void nd_limits_describe(
    const struct nd_limits *limits, uint64_t adapter_id, ND2_ADAPTER_INFO *info);

/*
 * nd_limits_recall - calls nd_limits_find unless this process has found the limits of this device before: creating
 * queue pairs as large as possible takes time. Uncertain limits are good for a second. Any thread, no lock held.
 */
int nd_limits_recall(const struct nd_port *port, struct nd_limits *limits);

#endif
