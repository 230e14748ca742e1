/* SPDX-License-Identifier: MIT */
/* rq_post.c - posting to receive queues, own and shared: a stream that waits for a receive goes on. */
#include "softrdma/conn.h"
#include "softrdma/qp.h"
#include "softrdma/qp_table.h"
#include "util/clock.h"

#include <errno.h>

/* Puts one receive in. Returns 0, EINVAL or ENOMEM. */
static int put_locked(struct srd_rq *rq, const struct ibv_recv_wr *wr)
{
    struct srd_rqe *rqe;

    lock_assert_held(&rq->lock);
    if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge || (wr->num_sge && !wr->sg_list))
        return EINVAL;
    if (rq->head - rq->tail >= rq->depth)
        return ENOMEM;
    rqe = srd_rqe_at(rq, rq->head);
    rqe->wr_id = wr->wr_id;
    rqe->num_sge = (uint32_t)wr->num_sge;
    for (int i = 0; i < wr->num_sge; i++)
        rqe->sge[i] = wr->sg_list[i];
    rq->head++;
    return 0;
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
        conn = srd_qp_conn(qp);
        if (conn) {
            srd_conn_want(conn, wants);
            srd_conn_unref(conn);
        }
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
        if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
            error = EINVAL;
        else if (rq->flushing)
            srd_receive_complete(qp, wr->wr_id, IBV_WC_WR_FLUSH_ERR, 0, 0, false, 0, false);
        else
            error = put_locked(rq, wr);
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
        if ((error = put_locked(rq, wr))) {
            *bad_wr = wr;
            break;
        }
    release_and_resume(rq);
    return error;
}
