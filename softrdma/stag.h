/* SPDX-License-Identifier: MIT */
/*
 * stag.h - the STag table: what a local key or a peer's STag may reach.
 *
 * One table per device. An entry is a region, a type 2 window, or nothing; its 32-bit name is a random 24-bit-sparse
 * index plus a key octet that changes at each reuse (RFC 5042). Every look-up checks key, protection domain, queue
 * pair, rights and bounds for [addr, addr + length) anew and pins the entry; dereg and invalidate take the entry out
 * first and then wait until no pin is left, so that after they return nobody reaches the memory.
 *
 * Threads: any. Lock: LOCK_SRD_MEMORY, never held by a caller while it copies; the pin is what protects the copy.
 */
#ifndef SOFTRDMA_STAG_H
#define SOFTRDMA_STAG_H

#include "softrdma/softrdma.h"

#include <stddef.h>
#include <stdint.h>

struct srd_device_context; /* device.h */
struct srd_qp;
struct srd_stag_entry;

/* Why a look-up failed; maps to DDP/RDMAP codes in terminate.c and to wc statuses in qp.c. */
enum srd_stag_error {
    SRD_STAG_OK = 0,
    SRD_STAG_INVALID,       /* unknown, wrong key, invalidated, not bound */
    SRD_STAG_BOUNDS,        /* base or bounds */
    SRD_STAG_RIGHTS,        /* access right missing */
    SRD_STAG_STREAM,        /* other protection domain, or window of another queue pair */
    SRD_STAG_WRAP,          /* addr + length wraps 2^64 */
    SRD_STAG_NO_INVALIDATE, /* not something a peer, or a LOCAL_INV, may invalidate */
};

/*
 * srd_stag_pin - look up a key for one access.
 * qp       in: the queue pair the access is for (its pd counts; for a window, itself)
 * key      in: lkey or rkey, host order
 * addr     in: first octet; length in octets, > 0 (callers skip the check for zero length)
 * access   in: IBV_ACCESS_* needed; 0 = local read
 * remote   in: true for a peer's access (windows and regions with remote rights), false for a local SGE (regions only)
 * entry    out: pinned entry, to be given back with srd_stag_unpin
 * Memory is at addr itself: windows and regions are virtual-address based.
 */
enum srd_stag_error srd_stag_pin(struct srd_qp *qp, uint32_t key, uint64_t addr, uint64_t length, int access,
    bool remote, struct srd_stag_entry **entry);
void srd_stag_unpin(struct srd_stag_entry *entry);

/*
 * srd_stag_bind - execute a posted IBV_WR_BIND_MW at its place in the send queue.
 * new_rkey: the key the poster chose (ibv_inc_rkey of the window's last). Returns a wc status: SUCCESS, MW_BIND_ERR
 * (rights, bounds, other pd, already bound), LOC_QP_OP_ERR.
 */
enum ibv_wc_status srd_stag_bind(
    struct srd_qp *qp, struct ibv_mw *mw, uint32_t new_rkey, const struct ibv_mw_bind_info *info);

/*
 * srd_stag_invalidate - LOCAL_INV (by_peer false) or the Invalidate STag of a received Send (by_peer true).
 * Only a bound type 2 window of this queue pair. Waits for pins of other threads; the caller must hold none on it.
 */
enum srd_stag_error srd_stag_invalidate(struct srd_qp *qp, uint32_t rkey, bool by_peer);

/* Drops every window bound on qp (its destruction: type 2B windows die with their queue pair). */
void srd_stag_release_qp(struct srd_qp *qp);

#endif
