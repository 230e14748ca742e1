/* SPDX-License-Identifier: MIT */
/*
 * receive.c - receive queues as programs use them: creates, changes and destroys shared ones; posts to own and shared
 * ones, and resumes a stream that waits for a receive. queues/rq.c has the ring.
 */
#include "softrdma/queues/cq.h"

#include "softrdma/connection/conn.h"
#include "softrdma/context/context.h"
#include "softrdma/memory/memory.h"
#include "softrdma/queues/qp.h"

#include <errno.h>
#include <stdlib.h>

struct ibv_srq *srd_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
    uint32_t depth = attr->attr.max_wr, max_sge = attr->attr.max_sge;
    struct srd_srq *srq;

    if (srd_stale(pd->context)) {
        errno = EIO;
        return NULL;
    }
    if (!depth || depth > SRD_MAX_SRQ_WR || max_sge > SRD_MAX_SRQ_SGE) {
        errno = EINVAL;
        return NULL;
    }
    srq = calloc(1, sizeof(*srq));
    if (!srq || srd_rq_init(&srq->rq, depth, max_sge)) {
        free(srq);
        errno = ENOMEM;
        return NULL;
    }
    srq->srq.context = pd->context;
    srq->srq.srq_context = attr->srq_context;
    srq->srq.pd = pd;
    pthread_mutex_init(&srq->srq.mutex, NULL);
    pthread_cond_init(&srq->srq.cond, NULL);
    srd_pd_get(pd);
    return &srq->srq;
}

int srd_modify_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr, int attr_mask)
{
    struct srd_srq *srq = (struct srd_srq *)ibsrq;
    bool reached = false;

    if (srd_stale(ibsrq->context))
        return errno = EIO;
    if (attr_mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT))
        return errno = EINVAL;
    if (attr_mask & IBV_SRQ_MAX_WR && srd_device_of(ibsrq->context)->strict)
        return errno = ENOSYS;
    if (attr_mask & IBV_SRQ_MAX_WR) {
        if (!attr->max_wr || attr->max_wr > SRD_MAX_SRQ_WR)
            return errno = EINVAL;
        int error = srd_rq_resize(&srq->rq, attr->max_wr);

        if (error)
            return errno = -error;
    }
    if (attr_mask & IBV_SRQ_LIMIT) {
        lock_acquire(&srq->rq.lock);
        if (attr->srq_limit > srq->rq.depth) {
            lock_release(&srq->rq.lock);
            return errno = EINVAL;
        }
        srq->limit = attr->srq_limit;
        /* The queue is below the limit already: raise the event now, since no later take would. */
        if (srq->limit && srq->rq.head - srq->rq.tail < srq->limit) {
            srq->limit = 0;
            reached = true;
        }
        lock_release(&srq->rq.lock);
    }
    if (reached) {
        struct ibv_async_event event = { .event_type = IBV_EVENT_SRQ_LIMIT_REACHED,
            .element.srq = ibsrq };

        srd_async_raise(ibsrq->context, &event, &srq->limit_event);
    }
    return 0;
}

int srd_query_srq(struct ibv_srq *ibsrq, struct ibv_srq_attr *attr)
{
    struct srd_srq *srq = (struct srd_srq *)ibsrq;

    if (srd_stale(ibsrq->context))
        return errno = EIO;
    lock_acquire(&srq->rq.lock);
    attr->max_wr = srq->rq.depth;
    attr->max_sge = srq->rq.max_sge;
    attr->srq_limit = srq->limit;
    lock_release(&srq->rq.lock);
    return 0;
}

int srd_destroy_srq(struct ibv_srq *ibsrq)
{
    struct srd_srq *srq = (struct srd_srq *)ibsrq;

    if (atomic_load_explicit(&srq->users, memory_order_acquire))
        return errno = EBUSY;
    srd_async_forget(ibsrq->context, ibsrq);
    srd_pd_put(ibsrq->pd);
    srd_rq_fini(&srq->rq);
    pthread_mutex_destroy(&ibsrq->mutex);
    pthread_cond_destroy(&ibsrq->cond);
    free(srq);
    return 0;
}

/* --- posting ------------------------------------------------------------------------------------------------------ */

/* Queues one receive. Returns 0, EINVAL or ENOMEM. */
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

/* Resumes the streams that hold a message. Each tries to take a receive, and waits again if it gets none. */
static void resume_waiting(struct srd_rq *rq, struct list_head *waiting)
{
    struct list_node *node;

    for (;;) {
        struct srd_qp *qp;
        struct srd_conn *conn;
        unsigned actions;

        lock_acquire(&rq->lock);
        node = list_pop(waiting);
        lock_release(&rq->lock);
        if (!node)
            return;
        qp = list_entry(node, struct srd_qp, waiting_node);
        lock_acquire(&qp->rx_lock);
        actions = srd_stream_resume(qp, SRD_STREAM_NOW);
        actions |= srd_stream_leave_rx(qp);
        conn = srd_qp_conn(qp);
        if (conn) {
            srd_conn_apply(conn, actions);
            srd_conn_unref(conn);
        }
        srd_qp_unpin(qp);
    }
}

/* Drops the lock after receives were posted, and resumes the streams that wait for them. */
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
        return errno = EINVAL;
    }
    lock_acquire(&rq->lock);
    for (; wr; wr = wr->next) {
        if (wr->num_sge < 0 || (uint32_t)wr->num_sge > rq->max_sge)
            error = EINVAL;
        else if (rq->flushing)
            srd_receive_complete(qp, wr->wr_id, IBV_WC_WR_FLUSH_ERR, 0, 0, 0, false);
        else
            error = put_locked(rq, wr);
        if (error) {
            *bad_wr = wr;
            break;
        }
    }
    release_and_resume(rq);
    return srd_errno(error);
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
    return srd_errno(error);
}
