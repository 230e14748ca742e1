/* SPDX-License-Identifier: MIT */
/*
 * qp_renew.h - another queue pair of the device in the place of one whose connection was refused, for devices where that
 * can never connect again (quirk ONE_ATTEMPT).
 *
 * NetworkDirect leaves a queue pair as it was after a refused Connect, with the Receives that were posted. So until it
 * is connected these are remembered as they are posted (mode ND_QUEUE_KEEPING), and posted again; that the device
 * flushed them before is nobody's business.
 */
#ifndef NDSPI_CORE_QP_RENEW_H
#define NDSPI_CORE_QP_RENEW_H

#include "ndspi/core/base.h"

#include <infiniband/verbs.h>

struct nd_cq;
struct nd_qp;
struct nd_queue;

struct nd_kept;

/* While the queue pair is made: the receive queue keeps, where the device wants that. Returns ND_SUCCESS or ND_NO_MEMORY. */
HRESULT nd_keep_init(struct nd_qp *qp);
void nd_keep_fini(struct nd_qp *qp);

/* Remembers a Receive that is posted; lock of the queue held. */
void nd_keep_locked(struct nd_queue *queue, const struct ibv_recv_wr *wr);

/* Whether a failed completion of this queue means nothing: what it was for has been, or will be, posted again. CQ lock. */
bool nd_keep_swallows(const struct nd_queue *queue, const struct ibv_wc *wc);

/* The queue pair is connected, or flushed: what fails from now on has failed. */
void nd_keep_end(struct nd_qp *qp);

/*
 * nd_qp_renew - the attempt that claimed it came to nothing. Does nothing where the device needs nothing, or after a flush.
 * No lock held. If the device has no other queue pair, the old one stays, and the next attempt fails.
 */
void nd_qp_renew(struct nd_qp *qp);

#endif
