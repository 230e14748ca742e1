/* SPDX-License-Identifier: MIT */
/*
 * kept.h - Receives that are remembered as they are posted (mode ND_QUEUE_KEEPING), for devices where a refused connection
 * costs the queue pair (quirk ONE_ATTEMPT): core/queue/qp_renew.h posts them again on another. That the device flushed
 * them before is nobody's business.
 */
#ifndef NDSPI_CORE_KEPT_H
#define NDSPI_CORE_KEPT_H

#include "ndspi/core/queue/queue.h"

struct nd_caps;

/* While the queue pair is made: its receive queue keeps, where the device wants that. Returns ND_SUCCESS or ND_NO_MEMORY. */
HRESULT nd_keep_init(struct nd_queue *queue, const struct nd_caps *caps);
void nd_keep_fini(struct nd_queue *queue);

/* Remembers a Receive that is posted; lock of the queue held. */
void nd_keep_locked(struct nd_queue *queue, const struct ibv_recv_wr *wr);
/* As it was remembered. Points into the room for it. */
struct ibv_recv_wr nd_keep_recall(const struct nd_queue *queue, const struct nd_request *request);

/* Whether a failed completion of this queue means nothing: what it was for has been, or will be, posted again. CQ lock. */
bool nd_keep_swallows(const struct nd_queue *queue, const struct ibv_wc *wc);

/* The queue pair is connected, or flushed: what fails from now on has failed. */
void nd_keep_end(struct nd_queue *queue);

#endif
