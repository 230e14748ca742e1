/* SPDX-License-Identifier: MIT */
/* limits.h - the limits that the device reports and grants: an object may use all of its limits at once. */
#ifndef SOFTRDMA_LIMITS_H
#define SOFTRDMA_LIMITS_H

/* "rdm" as a vendor id that was never assigned: the bit of locally administered addresses is set. */
enum { SRD_VENDOR_ID = 0x72646D };

enum {
    SRD_MAX_QP = 65535,
    SRD_MAX_QP_WR = 16384,
    SRD_MAX_SGE = 16,
    SRD_MAX_SGE_RD = 16,
    SRD_MAX_INLINE = 1024,
    SRD_MAX_CQ = 65536,
    SRD_MAX_CQE = 262144,
    SRD_MAX_SRQ = 65536,
    SRD_MAX_SRQ_WR = 16384,
    SRD_MAX_SRQ_SGE = 16,
    SRD_MAX_MR = 1 << 20,
    SRD_MAX_MW = 1 << 20,
    SRD_MAX_PD = 65536,
    SRD_MAX_RD_ATOM = 16, /* Reads and Atomics in flight, per queue pair and direction */
    SRD_MAX_GID = 128,
};

#define SRD_MAX_MR_SIZE  (UINT64_C(1) << 47)
#define SRD_MAX_MSG_SIZE UINT32_C(0xFFFFFFFF)

#endif
