/* SPDX-License-Identifier: MIT */
/* post.h - what all initiator requests share; between qp_post.c and qp_bind.c. */
#ifndef NDSPI_CORE_POST_H
#define NDSPI_CORE_POST_H

#include "ndspi/core/queue/queue.h"

/* Takes the lock and a record for an initiator request; on failure neither is held. */
HRESULT nd_post_begin(struct nd_queue *queue, void *context, ND2_REQUEST_TYPE type, uint32_t flags,
    struct nd_request **request);
/*
 * The device's flags. Of silent requests one in half a queue is signaled, for the ring's sake; its completion is
 * swallowed. So is that of a staged one, for its slot's.
 */
unsigned nd_post_flags_locked(
    struct nd_queue *queue, const struct nd_request *request, uint32_t flags);
/* It was posted, or kept: drops the lock. Returns ND_SUCCESS. */
HRESULT nd_post_done(struct nd_queue *queue, struct nd_request *request);
/* The list of a Receive as the device wants it. */
struct nd_caps;
void nd_receive_entries(const struct nd_caps *caps, struct ibv_recv_wr *wr);
/* It comes to nothing: gives the record back, drops the lock. Returns the status. */
HRESULT nd_post_abandon(struct nd_queue *queue, struct nd_request *request, HRESULT status);

#endif
