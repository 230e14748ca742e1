/* SPDX-License-Identifier: MIT */
/*
 * qp_renew.h - another queue pair of the device in the place of one whose connection was refused, for devices where that
 * can never connect again (quirk ONE_ATTEMPT).
 *
 * NetworkDirect leaves a queue pair as it was after a refused Connect, with the Receives that were posted. Until it is
 * connected these are remembered (core/queue/kept.h), and posted again.
 */
#ifndef NDSPI_CORE_QP_RENEW_H
#define NDSPI_CORE_QP_RENEW_H

struct nd_qp;

/*
 * nd_qp_renew - the attempt that claimed it came to nothing. Does nothing where the device needs nothing, or after a flush.
 * No lock held. If the device has no other queue pair, the old one stays, and the next attempt fails.
 */
void nd_qp_renew(struct nd_qp *qp);

#endif
