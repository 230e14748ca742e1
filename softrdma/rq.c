/* SPDX-License-Identifier: MIT */
/* rq.c - receive queues. */
#include "softrdma/rq.h"

#include "softrdma/conn.h"
#include "softrdma/cq.h"
#include "softrdma/qp.h"
#include "util/clock.h"

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

static struct srd_rqe *rqe_at(struct srd_rq *rq, uint32_t count)
{
    return (struct srd_rqe *)(rq->ring + (size_t)(count & rq->mask) * rq->stride_octets);
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
            memcpy(
                ring + (size_t)i * rq->stride_octets, rqe_at(rq, rq->tail + i), rq->stride_octets);
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

int srd_rq_put_locked(struct srd_rq *rq, const struct ibv_recv_wr *wr)
{
    struct srd_rqe *rqe;

    lock_assert_held(&rq->lock);
    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge || (wr->num_sge && !wr->sg_list))
        return EINVAL;
    if (rq->head - rq->tail >= rq->depth)
        return ENOMEM;
    rqe = rqe_at(rq, rq->head);
    rqe->wr_id = wr->wr_id;
    rqe->num_sge = (uint32_t)wr->num_sge;
    for (int i = 0; i < wr->num_sge; i++)
        rqe->sge[i] = wr->sg_list[i];
    rq->head++;
    return 0;
}

/* The shared queue fell below its limit: once, until it is armed again. */
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
        struct srd_rqe *rqe = rqe_at(rq, rq->tail++);

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

        srd_async_raise(srq->srq.context, &event);
    }
    return taken;
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

/* Receives were posted: the streams that hold a message go on. Each looks for itself, and waits again in vain. */
static void resume_waiting(struct srd_rq *rq, struct list_head *waiting)
{
    struct list_node *node;

    for (;;) {
        struct srd_qp *qp;
        struct srd_conn *conn;
        unsigned wants;

        lock_acquire(&rq->lock);
        node = list_pop(waiting);
        lock_release(&rq->lock);
        if (!node)
            return;
        qp = list_entry(node, struct srd_qp, waiting_node);
        lock_acquire(&qp->rx_lock);
        wants = srd_stream_resume(qp, clock_now_ms());
        lock_release(&qp->rx_lock);
        conn = atomic_load_explicit(&qp->conn, memory_order_acquire);
        if (conn)
            srd_conn_want(conn, wants);
        srd_qp_unpin(qp);
    }
}

/* After Receives were posted: drops the lock. */
static void release_and_resume(struct srd_rq *rq)
{
    struct list_head waiting;
    bool resume = !list_empty(&rq->waiting);

    if (resume) {
        list_init(&waiting);
        list_splice_tail(&waiting, &rq->waiting);
    }
    lock_release(&rq->lock);
    if (resume)
        resume_waiting(rq, &waiting);
}

void srd_receive_complete(struct srd_qp *qp, uint64_t wr_id, enum ibv_wc_status status,
    uint32_t vendor_err, uint32_t octets, bool with_inv, uint32_t invalidated, bool solicited)
{
    struct ibv_wc wc;

    if (atomic_load_explicit(&qp->mute, memory_order_relaxed))
        return;
    memset(&wc, 0, sizeof(wc));
    wc.wr_id = wr_id;
    wc.status = status;
    wc.opcode = IBV_WC_RECV;
    wc.vendor_err = vendor_err;
    wc.byte_len = octets;
    wc.qp_num = qp->qp.qp_num;
    if (with_inv) {
        wc.wc_flags = IBV_WC_WITH_INV;
        wc.invalidated_rkey = invalidated;
    }
    srd_cq_push(qp->qp.recv_cq, &wc, solicited || status != IBV_WC_SUCCESS);
}

void srd_rq_flush(struct srd_qp *qp)
{
    struct srd_rq *rq = &qp->own_rq;

    if (qp->rq != rq)
        return; /* shared receives stay for the others */
    lock_acquire(&rq->lock);
    for (; rq->tail != rq->head; rq->tail++)
        srd_receive_complete(
            qp, rqe_at(rq, rq->tail)->wr_id, IBV_WC_WR_FLUSH_ERR, 0, 0, false, 0, true);
    rq->flushing = true;
    lock_release(&rq->lock);
}

int srd_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
    struct srd_qp *qp = srd_qp_from(ibqp);
    struct srd_rq *rq = &qp->own_rq;
    int error = 0;

    if (qp->rq != rq) {
        *bad_wr = wr;
        return EINVAL;
    }
    lock_acquire(&rq->lock);
    for (; wr; wr = wr->next) {
        if (rq->closed || wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
            error = EINVAL;
        else if (rq->flushing)
            srd_receive_complete(qp, wr->wr_id, IBV_WC_WR_FLUSH_ERR, 0, 0, false, 0, true);
        else
            error = srd_rq_put_locked(rq, wr);
        if (error) {
            *bad_wr = wr;
            break;
        }
    }
    release_and_resume(rq);
    return error;
}

int srd_post_srq_recv(struct ibv_srq *ibsrq, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
    struct srd_rq *rq = &((struct srd_srq *)ibsrq)->rq;
    int error = 0;

    lock_acquire(&rq->lock);
    for (; wr; wr = wr->next)
        if ((error = srd_rq_put_locked(rq, wr))) {
            *bad_wr = wr;
            break;
        }
    release_and_resume(rq);
    return error;
}
