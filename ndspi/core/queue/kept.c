/* SPDX-License-Identifier: MIT */
#include "ndspi/core/queue/kept.h"

#include "ndspi/verbs/port.h"

#include <stdlib.h>
#include <string.h>

/* A remembered Receive, at the place of its record. */
struct nd_kept {
    int count;
    struct ibv_sge sges[];
};

static struct nd_kept *kept_at(const struct nd_queue *queue, const struct nd_request *request)
{
    size_t size = sizeof(struct nd_kept) + queue->max_sge * sizeof(struct ibv_sge);

    return (struct nd_kept *)((char *)queue->kept + (size_t)(request - queue->records) * size);
}

HRESULT nd_keep_init(struct nd_queue *queue, const struct nd_caps *caps)
{
    size_t size = sizeof(struct nd_kept) + queue->max_sge * sizeof(struct ibv_sge);

    if (!nd_has_quirk(caps, ONE_ATTEMPT))
        return ND_SUCCESS;
    if (!(queue->kept = calloc(queue->depth + 1, size)))
        return ND_NO_MEMORY;
    atomic_init(&queue->keeping, true);
    nd_queue_set_mode(queue, ND_QUEUE_KEEPING);
    return ND_SUCCESS;
}

void nd_keep_fini(struct nd_queue *queue)
{
    free(queue->kept);
}

void nd_keep_locked(struct nd_queue *queue, const struct ibv_recv_wr *wr)
{
    struct nd_kept *kept = kept_at(queue, (struct nd_request *)(uintptr_t)wr->wr_id);

    lock_assert_held(&queue->lock);
    kept->count = wr->num_sge;
    if (wr->num_sge)
        memcpy(kept->sges, wr->sg_list, (size_t)wr->num_sge * sizeof(struct ibv_sge));
}

struct ibv_recv_wr nd_keep_recall(const struct nd_queue *queue, const struct nd_request *request)
{
    struct nd_kept *kept = kept_at(queue, request);

    return (struct ibv_recv_wr){
        .wr_id = (uintptr_t)request, .sg_list = kept->sges, .num_sge = kept->count
    };
}

bool nd_keep_swallows(const struct nd_queue *queue, const struct ibv_wc *wc)
{
    return queue->kept && (wc->qp_num != queue->pair->number ||
                              atomic_load_explicit(&queue->keeping, memory_order_acquire));
}

void nd_keep_end(struct nd_queue *queue)
{
    if (!queue->kept)
        return;
    atomic_store_explicit(&queue->keeping, false, memory_order_release);
    lock_acquire(&queue->lock);
    if (queue->mode == ND_QUEUE_KEEPING)
        nd_queue_set_mode_locked(queue, ND_QUEUE_OPEN);
    lock_release(&queue->lock);
}
