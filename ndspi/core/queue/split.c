/* SPDX-License-Identifier: MIT */
#include "ndspi/core/queue/split.h"

#include <stdlib.h>
#include <string.h>

HRESULT nd_split_init(struct nd_queue *queue, uint32_t parts)
{
    size_t records = (size_t)queue->depth + 1;

    queue->parts = parts;
    if (parts == 1)
        return ND_SUCCESS;
    queue->slices = aligned_alloc(sizeof(struct nd_request), records * sizeof(struct nd_request));
    queue->slice_wrs = calloc(parts, sizeof(*queue->slice_wrs));
    if (!queue->slices || !queue->slice_wrs)
        return ND_NO_MEMORY;
    memset(queue->slices, 0, records * sizeof(struct nd_request));
    for (size_t i = 0; i < records; i++) {
        queue->slices[i].special = ND_REQUEST_SLICE;
        queue->slices[i].queue = queue;
        queue->slices[i].next = &queue->records[i];
    }
    return ND_SUCCESS;
}

/* Entries of the list from `at` on; they begin there in the peer's memory. Returns where the next slice does. */
static uint64_t cut(
    struct ibv_send_wr *wr, const struct ibv_send_wr *whole, int at, int count, uint64_t remote)
{
    *wr = *whole;
    wr->next = wr + 1;
    wr->sg_list = whole->sg_list + at;
    wr->num_sge = count;
    wr->wr.rdma.remote_addr = remote;
    for (int i = 0; i < count; i++)
        remote += wr->sg_list[i].length;
    return remote;
}

struct ibv_send_wr *nd_split_locked(
    struct nd_queue *queue, struct nd_request *request, const struct ibv_send_wr *whole)
{
    int most = (int)queue->max_read_sge, left = whole->num_sge;
    uint64_t remote = whole->wr.rdma.remote_addr;
    struct nd_request *slice = nd_slice_of(request);
    struct ibv_send_wr *wr = queue->slice_wrs;

    lock_assert_held(&queue->lock);
    slice->result.Status = IBV_WC_SUCCESS;
    for (; left > most; left -= most, wr++) {
        remote = cut(wr, whole, whole->num_sge - left, most, remote);
        wr->wr_id = (uintptr_t)slice;
        wr->send_flags &= ~(unsigned)IBV_SEND_SIGNALED;
    }
    cut(wr, whole, whole->num_sge - left, left, remote);
    wr->next = NULL;
    /* What the fence waits for has ended when the first slice begins. */
    for (; wr != queue->slice_wrs; wr--)
        wr->send_flags &= ~(unsigned)IBV_SEND_FENCE;
    return wr;
}
