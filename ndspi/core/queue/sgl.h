/* SPDX-License-Identifier: MIT */
/*
 * sgl.h - the local memory of a request: the client's list, and the list that the device reads.
 *
 * A list of version 2 is in the device's form; a flag says that all of it is inline. In version 1 each entry names its
 * region by handle or, with none, is inline. A list that fits the device's inline room goes inline altogether. If a
 * longer list mixes both kinds, its inline entries are copied to a slot of the queue's staging area, which is
 * registered memory. Queues of two and more entries a request have one, of at most ND_STAGING_SLOTS; a slot is free
 * again when its request has ended.
 */
#ifndef NDSPI_CORE_QUEUE_SGL_H
#define NDSPI_CORE_QUEUE_SGL_H

#include "ndspi/core/queue/queue.h"

struct nd_adapter;

enum { ND_STAGING_SLOTS = 16 };

enum nd_sgl_mode {
    ND_SGL_REGISTERED,
    ND_SGL_INLINE, /* the device copies */
    ND_SGL_STAGED, /* we copy inline entries into a staging slot */
};

struct nd_sgl {
    const void *list;
    uint32_t n;
    uint32_t filled; /* entries that are not empty: those that the device gets */
    uint32_t total;  /* bytes */
    enum nd_sgl_mode mode;
};

/*
 * nd_sgl_measure - checks a list, without a lock.
 * inlines  in: v2: ND_OP_FLAG_INLINE is set; v1: the request may have inline entries
 * Returns ND_SUCCESS; ND_DATA_OVERRUN: too many entries; ND_INVALID_PARAMETER_2: no list; ND_BUFFER_OVERFLOW: longer
 * than the device's limit, or than inline data may be; ND_INVALID_HANDLE.
 */
HRESULT nd_sgl_measure(
    struct nd_sgl *sgl, const struct nd_queue *queue, const void *list, uint32_t n, bool inlines);

/*
 * nd_sgl_place_locked - puts the list where the device reads it.
 * sges  out: room for the queue's max_sge entries; may be left unused
 * data  in: room for inline data to be copied to, which lasts until the request is posted; NULL: it is posted at once
 * sg_list, num_sge  out: for the work request
 * Returns ND_SUCCESS; ND_NO_MORE_ENTRIES: no staging slot is free; ND_INVALID_HANDLE: taken back meanwhile. Lock held.
 */
HRESULT nd_sgl_place_locked(const struct nd_sgl *sgl, struct nd_queue *queue,
    struct nd_request *request, struct ibv_sge *sges, uint8_t *data, struct ibv_sge **sg_list,
    int *num_sge);

/* The staging area of a queue, whose max_inline and max_sge are set. Returns 0 or an errno. */
int nd_staging_init(struct nd_queue *queue, struct nd_adapter *adapter, uint32_t depth);
void nd_staging_fini(struct nd_queue *queue, struct nd_adapter *adapter);
/* The request's slot is free. Any lock. */
void nd_staging_free(struct nd_queue *queue, const struct nd_request *request);

#endif
