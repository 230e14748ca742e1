/* SPDX-License-Identifier: MIT */
/*
 * batch.h - requests that wait to be posted together (version 1, kernel flavour), by one call of the device.
 *
 * Between StartRequestBatch and SubmitRequestBatch each queue keeps what is posted to it: checked, with a record of the
 * ring, its list translated and its inline data copied, so nothing of the client's is read later. Submit hands the
 * batch to the device. The library submits it earlier when the batch or the ring is full, staging slots run out, the
 * queue is flushed or released, or a client polls the completion queue or waits for it: the client may expect results
 * of the batch.
 *
 * Requests that the device does not take end with a failed result, in their place: the first with the reason, those
 * after it with ND_CANCELED, and the queue pair is flushed, as after any failed result. Such a record stays in the
 * ring, marked, until all before it are done (completion.c). Silent requests have no completion, so a fence of our own
 * follows the flush; its completion says that they are done.
 *
 * In the kernel flavour a request with ND_POST_DEFER opens a chain, which is such a batch; the next one without it, or
 * one that fails, ends it. The program has to end its chains: polling or waiting does not.
 *
 * Room is made at the first start. Locks: the queue's; LOCK_CQ for nd_cq.batches.
 */
#ifndef NDSPI_CORE_QUEUE_BATCH_H
#define NDSPI_CORE_QUEUE_BATCH_H

#include "ndspi/core/queue/queue.h"

/* The most requests of a batch, and of a chain: the library submits it when it has so many. */
enum { ND_BATCH_MOST = 256, ND_CHAIN_MOST = 32 };

struct nd_batch {
    uint32_t room, count;
    union {
        struct ibv_send_wr *send;
        struct ibv_recv_wr *receive; /* receive queues, which have no inline data */
    };
    struct ibv_sge *sges; /* max_sge entries for each request */
    uint8_t *data;        /* max_inline octets for each request */
};

/* Lock held. */
static inline bool nd_batch_full_locked(const struct nd_batch *batch)
{
    return batch->count >= batch->room;
}

/* Room for the entries and inline data of the next kept request; NULL without a batch. Lock held. */
struct ibv_sge *nd_batch_sges_locked(const struct nd_queue *queue);
uint8_t *nd_batch_data_locked(const struct nd_queue *queue);

/* Post a request, or keep it in the batch. Return 0 or an errno. Lock held. */
int nd_queue_post_send_locked(struct nd_queue *queue, struct ibv_send_wr *wr);
int nd_queue_post_receive_locked(struct nd_queue *queue, struct ibv_recv_wr *wr);

/* Keeps posts from now on, unless memory is short: batches are a hint. No lock held. */
void nd_queue_start_batch(struct nd_queue *queue);
/* Posts what is kept; the batch stays open. No lock held. */
void nd_queue_submit(struct nd_queue *queue);
/* Posts what is kept, and closes the batch. */
void nd_queue_end_batch(struct nd_queue *queue);

/*
 * nd_chain_begin - precedes an initiator request with these flags: opens a chain, if they say so and none is open.
 * nd_chain_end - follows it, with its status: hands the chain to the device, unless it goes on. Returns the status.
 * No lock held. In the dialect that has chains the program serialises the posts to an initiator queue.
 */
void nd_chain_begin(struct nd_queue *queue, uint32_t flags);
HRESULT nd_chain_end(struct nd_queue *queue, uint32_t flags, HRESULT status);

#endif
