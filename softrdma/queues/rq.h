/* SPDX-License-Identifier: MIT */
/*
 * rq.h - receive queue: a ring of posted receives, which one queue pair has or many share.
 */
#ifndef SOFTRDMA_QUEUES_RQ_H
#define SOFTRDMA_QUEUES_RQ_H

#include "softrdma/queues/async.h"
#include "softrdma/limits.h"
#include "softrdma/softrdma.h"
#include "util/list.h"
#include "util/lock.h"

#include <stdint.h>

struct srd_qp;

/* Returns the mask of the smallest ring of 2^n places that has room for entries, which is at least 1. */
static inline uint32_t srd_ring_mask(uint32_t entries)
{
    return entries == 1 ? 0 : UINT32_MAX >> __builtin_clz(entries - 1);
}

/* A receive that a message has taken off the queue, and that is not completed yet. */
struct srd_receive {
    uint64_t wr_id;
    uint64_t octets; /* total room of its entries */
    uint32_t num_sge;
    struct ibv_sge sge[SRD_MAX_SGE];
};

struct srd_rqe {
    uint64_t wr_id;
    uint32_t num_sge;
    struct ibv_sge sge[]; /* max_sge entries */
};

struct srd_rq {
    struct lock lock; /* LOCK_SRD_RQ; guards everything below */
    uint8_t *ring;
    uint32_t depth, mask; /* the ring has mask + 1 places, 2^n, since counts wrap */
    uint32_t stride_octets, max_sge;
    uint32_t head, tail;      /* counts, not positions */
    bool flushing;            /* the queue pair whose own queue this is is in the error state */
    struct list_head waiting; /* queue pairs whose stream holds a message for want of a receive */
};

static inline struct srd_rqe *srd_rqe_at(struct srd_rq *rq, uint32_t count)
{
    return (struct srd_rqe *)(rq->ring + (size_t)(count & rq->mask) * rq->stride_octets);
}

/* A shared receive queue. */
struct srd_srq {
    struct ibv_srq srq;   /* must be first */
    uint8_t padding[512]; /* zero: some callers read beyond the public struct */
    struct srd_rq rq;
    uint32_t limit; /* fewer receives raise the limit event; 0: not armed; rq.lock guards it */
    _Atomic uint32_t users;
    struct srd_async limit_event;
};

int srd_rq_init(struct srd_rq *rq, uint32_t depth, uint32_t max_sge);
void srd_rq_fini(struct srd_rq *rq);
/* Changes the depth. Returns 0; -EINVAL: more receives are posted; -ENOMEM. Takes the lock. */
int srd_rq_resize(struct srd_rq *rq, uint32_t depth);

/*
 * srd_rq_take - takes the next receive for a message of qp, from its own or its shared queue.
 * Returns false when none is posted; then qp is in the list waiting, and the next post resumes its stream.
 */
bool srd_rq_take(struct srd_qp *qp, struct srd_receive *receive);
/* Whether no receive is posted now. Takes the queue's lock. */
bool srd_rq_is_empty(struct srd_rq *rq);
/* Takes qp off the list waiting. Returns whether it was there: then the list's pin is the caller's. */
bool srd_rq_stop_waiting(struct srd_qp *qp);

/* Completes the receives of the queue pair's own queue, in order; posts flush from now on. */
void srd_rq_flush(struct srd_qp *qp);
void srd_rq_reset(struct srd_rq *rq);

/*
 * srd_receive_complete   reports the Receive of a Send
 * srd_receive_immediate  reports the Receive that the immediate data behind a Write took
 * status     in: octets, flags and word count for success only
 * octets     in: the length of the Send, or of the Write
 * flags      in: IBV_WC_WITH_INV, IBV_WC_WITH_IMM, or 0
 * word       in: the key that was invalidated, or the immediate data as in struct ibv_wc
 * solicited  in: the sender asked for an event; a failure always raises one
 */
void srd_receive_complete(struct srd_qp *qp, uint64_t wr_id, enum ibv_wc_status status,
    uint32_t octets, unsigned flags, uint32_t word, bool solicited);
void srd_receive_immediate(
    struct srd_qp *qp, uint64_t wr_id, uint32_t octets, __be32 immediate, bool solicited);

/* Entries of context->ops; defined in device/receive.c. */
int srd_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int srd_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

#endif
