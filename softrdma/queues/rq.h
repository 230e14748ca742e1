/* SPDX-License-Identifier: MIT */
/*
 * rq.h - receive queue: a ring of posted receives, of one queue pair or shared by many.
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

/* The least 2^n - 1 with at least so many places; entries > 0. */
static inline uint32_t srd_ring_mask(uint32_t entries)
{
    return entries == 1 ? 0 : UINT32_MAX >> __builtin_clz(entries - 1);
}

/* A receive taken off the queue, on its way to completion. */
struct srd_receive {
    uint64_t wr_id;
    uint64_t octets; /* room */
    uint32_t num_sge;
    struct ibv_sge sge[SRD_MAX_SGE];
};

struct srd_rqe {
    uint64_t wr_id;
    uint32_t num_sge;
    struct ibv_sge sge[]; /* max_sge of them */
};

struct srd_rq {
    struct lock lock; /* LOCK_SRD_RQ; guards everything below */
    uint8_t *ring;
    uint32_t depth, mask; /* of 2^n places: counts wrap */
    uint32_t stride_octets, max_sge;
    uint32_t head, tail;      /* counts */
    bool flushing;            /* queue pair's own: error state */
    struct list_head waiting; /* queue pairs whose stream holds a message for want of a receive */
};

static inline struct srd_rqe *srd_rqe_at(struct srd_rq *rq, uint32_t count)
{
    return (struct srd_rqe *)(rq->ring + (size_t)(count & rq->mask) * rq->stride_octets);
}

/* A shared receive queue. */
struct srd_srq {
    struct ibv_srq srq;   /* first */
    uint8_t padding[512]; /* zero: some callers look behind the public struct */
    struct srd_rq rq;
    uint32_t limit; /* event when fewer receives are left; 0 = not armed; under rq.lock */
    _Atomic uint32_t users;
    struct srd_async limit_event;
};

int srd_rq_init(struct srd_rq *rq, uint32_t depth, uint32_t max_sge);
void srd_rq_fini(struct srd_rq *rq);
/* Another depth; -EINVAL when it is less than what is posted, -ENOMEM. Takes the lock. */
int srd_rq_resize(struct srd_rq *rq, uint32_t depth);

/*
 * srd_rq_take - the next receive for a message of qp, from its own or its shared queue.
 * Returns false when none is posted; then qp is on the list of those waiting and the next post resumes it.
 */
bool srd_rq_take(struct srd_qp *qp, struct srd_receive *receive);
/* Whether no receive is posted now. Takes the queue's lock. */
bool srd_rq_is_empty(struct srd_rq *rq);
/* The stream waits no longer. Returns whether it did: then the pin of the list is the caller's. */
bool srd_rq_stop_waiting(struct srd_qp *qp);

/* Completes the receives of the queue pair's own queue, in order; posts flush from now on. */
void srd_rq_flush(struct srd_qp *qp);
void srd_rq_reset(struct srd_rq *rq);

/*
 * srd_receive_complete   reports the Receive of a Send
 * srd_receive_immediate  reports the Receive that the immediate data behind a Write took
 * status     in: octets, flags and word count for success only
 * octets     in: of the Send, or of the Write
 * flags      in: IBV_WC_WITH_INV, IBV_WC_WITH_IMM, or 0
 * word       in: the key that was invalidated, or the immediate data as in struct ibv_wc
 * solicited  in: its sender asked for an event; a failed one always does
 */
void srd_receive_complete(struct srd_qp *qp, uint64_t wr_id, enum ibv_wc_status status,
    uint32_t octets, unsigned flags, uint32_t word, bool solicited);
void srd_receive_immediate(
    struct srd_qp *qp, uint64_t wr_id, uint32_t octets, __be32 immediate, bool solicited);

/* context->ops; device/receive.c */
int srd_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);
int srd_post_srq_recv(struct ibv_srq *srq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr);

#endif
