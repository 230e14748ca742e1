/* SPDX-License-Identifier: MIT */
/* rq.c - receive queues: the ring, taking receives from it, and completions. device/receive.c posts. */
#include "softrdma/queues/rq.h"

#include "softrdma/queues/cq.h"
#include "softrdma/queues/qp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int srd_rq_init(struct srd_rq *rq, uint32_t depth, uint32_t max_sge)
{
    lock_init(&rq->lock, LOCK_SRD_RQ, "srd_rq");
    list_init(&rq->waiting);
    rq->depth = depth;
    rq->max_sge = max_sge;
    rq->stride_octets = (uint32_t)(sizeof(struct srd_rqe) + max_sge * sizeof(struct ibv_sge));
    if (!depth)
        return 0;
    rq->mask = srd_ring_mask(depth);
    rq->ring = malloc((rq->mask + (size_t)1) * rq->stride_octets);
    return rq->ring ? 0 : -ENOMEM;
}

void srd_rq_fini(struct srd_rq *rq)
{
    free(rq->ring);
}

int srd_rq_resize(struct srd_rq *rq, uint32_t depth)
{
    uint32_t mask = srd_ring_mask(depth);
    uint8_t *ring = malloc((mask + (size_t)1) * rq->stride_octets), *old = NULL;
    int error = 0;
    uint32_t used;

    if (!ring)
        return -ENOMEM;
    lock_acquire(&rq->lock);
    used = rq->head - rq->tail;
    if (used > depth) {
        old = ring;
        error = -EINVAL;
    } else {
        for (uint32_t i = 0; i < used; i++)
            memcpy(ring + (size_t)i * rq->stride_octets, srd_rqe_at(rq, rq->tail + i),
                rq->stride_octets);
        old = rq->ring;
        rq->ring = ring;
        rq->depth = depth;
        rq->mask = mask;
        rq->tail = 0;
        rq->head = used;
    }
    lock_release(&rq->lock);
    free(old);
    return error;
}

void srd_rq_reset(struct srd_rq *rq)
{
    lock_acquire(&rq->lock);
    rq->flushing = false;
    rq->head = rq->tail = 0;
    lock_release(&rq->lock);
}

/* Disarms the limit if the shared queue has fallen below it. Returns whether it has. */
static bool limit_reached_locked(struct srd_srq *srq)
{
    if (!srq->limit || srq->rq.head - srq->rq.tail >= srq->limit)
        return false;
    srq->limit = 0;
    return true;
}

bool srd_rq_take(struct srd_qp *qp, struct srd_receive *receive)
{
    struct srd_rq *rq = qp->rq;
    struct srd_srq *srq = (struct srd_srq *)qp->qp.srq;
    bool limit_reached = false, taken;

    lock_acquire(&rq->lock);
    taken = rq->head != rq->tail;
    if (taken) {
        struct srd_rqe *rqe = srd_rqe_at(rq, rq->tail++);

        receive->wr_id = rqe->wr_id;
        receive->num_sge = rqe->num_sge;
        receive->octets = 0;
        for (uint32_t i = 0; i < rqe->num_sge; i++) {
            receive->sge[i] = rqe->sge[i];
            receive->octets += rqe->sge[i].length;
        }
        limit_reached = srq && limit_reached_locked(srq);
    } else if (!list_linked(&qp->waiting_node)) {
        srd_qp_pin(qp);
        list_add_tail(&rq->waiting, &qp->waiting_node);
    }
    lock_release(&rq->lock);
    if (limit_reached) {
        struct ibv_async_event event = { .event_type = IBV_EVENT_SRQ_LIMIT_REACHED,
            .element.srq = &srq->srq };

        srd_async_raise(srq->srq.context, &event, &srq->limit_event);
    }
    return taken;
}

bool srd_rq_is_empty(struct srd_rq *rq)
{
    bool empty;

    lock_acquire(&rq->lock);
    empty = rq->head == rq->tail;
    lock_release(&rq->lock);
    return empty;
}

bool srd_rq_stop_waiting(struct srd_qp *qp)
{
    bool waited;

    lock_acquire(&qp->rq->lock);
    waited = list_linked(&qp->waiting_node);
    if (waited)
        list_del(&qp->waiting_node);
    lock_release(&qp->rq->lock);
    return waited;
}

static inline void report(struct srd_qp *qp, uint64_t wr_id, enum ibv_wc_status status,
    enum ibv_wc_opcode opcode, uint32_t octets, unsigned flags, uint32_t word, bool solicited)
{
    struct ibv_wc wc;

    if (atomic_load_explicit(&qp->mute, memory_order_relaxed))
        return;
    memset(&wc, 0, sizeof(wc));
    wc.wr_id = wr_id;
    wc.status = status;
    wc.opcode = opcode;
    wc.byte_len = octets;
    wc.qp_num = qp->qp.qp_num;
    wc.wc_flags = flags;
    wc.invalidated_rkey = word; /* a union with imm_data */
    srd_cq_push(qp->qp.recv_cq, &wc, solicited || status != IBV_WC_SUCCESS);
}

void srd_receive_complete(struct srd_qp *qp, uint64_t wr_id, enum ibv_wc_status status,
    uint32_t octets, unsigned flags, uint32_t word, bool solicited)
{
    report(qp, wr_id, status, IBV_WC_RECV, octets, flags, word, solicited);
}

void srd_receive_immediate(
    struct srd_qp *qp, uint64_t wr_id, uint32_t octets, __be32 immediate, bool solicited)
{
    report(qp, wr_id, IBV_WC_SUCCESS, IBV_WC_RECV_RDMA_WITH_IMM, octets, IBV_WC_WITH_IMM, immediate,
        solicited);
}

void srd_rq_flush(struct srd_qp *qp)
{
    struct srd_rq *rq = &qp->own_rq;

    if (qp->rq != rq)
        return; /* receives of a shared queue stay for other queue pairs */
    lock_acquire(&rq->lock);
    for (; rq->tail != rq->head; rq->tail++)
        srd_receive_complete(
            qp, srd_rqe_at(rq, rq->tail)->wr_id, IBV_WC_WR_FLUSH_ERR, 0, 0, 0, false);
    rq->flushing = true;
    lock_release(&rq->lock);
}
