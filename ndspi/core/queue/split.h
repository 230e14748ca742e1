/* SPDX-License-Identifier: MIT */
/*
 * split.h - a Read of more entries than the device takes in one (version 1 has one limit for all requests): several of the
 * device's, its slices, posted as one chain, so that nothing comes between them.
 *
 * The last slice stands for the Read: it has the record's address, and is signaled as the Read would be. The others are
 * silent and have that of a second record, beside the ring, one for each of it: it marks them as what they are, leads to
 * the Read, and keeps what the first failed slice failed with. The Read ends with its last slice, which the device flushes
 * behind a failed one; so no slice of a Read is left when its record is used anew.
 *
 * Where the device takes some slices of a Read and refuses the rest, that is torn: refused (core/queue/batch.h), but it does
 * not end before it is known that those slices have.
 */
#ifndef NDSPI_CORE_SPLIT_H
#define NDSPI_CORE_SPLIT_H

#include "ndspi/core/queue/queue.h"

/*
 * nd_split_init - parts in: slices of the longest Read; 1: nothing is ever split. The ring is made.
 * Returns ND_SUCCESS or ND_NO_MEMORY; either way nd_queue_fini frees.
 */
HRESULT nd_split_init(struct nd_queue *queue, uint32_t parts);

/*
 * nd_split_locked - the slices of a Read.
 * whole  in: what would be posted if the device took it; its list has to last until the slices are posted
 * Returns the first; they are the queue's, until the next call. Lock held.
 */
struct ibv_send_wr *nd_split_locked(
    struct nd_queue *queue, struct nd_request *request, const struct ibv_send_wr *whole);

/* The record of all slices of a Read but the last. */
static inline struct nd_request *nd_slice_of(const struct nd_request *request)
{
    const struct nd_queue *queue = request->queue;

    return &queue->slices[request - queue->records];
}

/* The request whose slice, or itself, was posted as `wr_id`. */
static inline struct nd_request *nd_request_of(uint64_t wr_id)
{
    struct nd_request *request = (struct nd_request *)(uintptr_t)wr_id;

    return request->special & ND_REQUEST_SLICE ? request->next : request;
}

/* Whether it was posted as a slice of this request, and not the last. */
static inline bool nd_is_slice_of(uint64_t wr_id, const struct nd_request *request)
{
    return request->queue->slices && wr_id == (uintptr_t)nd_slice_of(request);
}

#endif
