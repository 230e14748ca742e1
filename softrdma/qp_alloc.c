/* SPDX-License-Identifier: MIT */
/* qp_alloc.c - a queue pair's memory: made with its queues and its stream, freed by the last pin. */
#include "softrdma/qp.h"

#include <stdlib.h>

static void qp_free(struct srd_qp *qp)
{
    srd_stream_fini(&qp->stream);
    srd_sq_fini(&qp->sq);
    srd_rq_fini(&qp->own_rq);
    free(qp->drafts.memory);
    pthread_mutex_destroy(&qp->qp.mutex);
    pthread_cond_destroy(&qp->qp.cond);
    free(qp);
}

void srd_qp_unpin(struct srd_qp *qp)
{
    if (atomic_fetch_sub_explicit(&qp->pins, 1, memory_order_acq_rel) == 1)
        qp_free(qp);
}

/* The public face, and what it shares with the parts. */
static void fill_public(struct srd_qp *qp, struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
    qp->qp.context = pd->context;
    qp->qp.qp_context = attr->qp_context;
    qp->qp.pd = pd;
    qp->qp.send_cq = attr->send_cq;
    qp->qp.recv_cq = attr->recv_cq;
    qp->qp.srq = attr->srq;
    qp->qp.state = IBV_QPS_RESET;
    qp->qp.qp_type = attr->qp_type;
    qp->init_attr = *attr;
    qp->attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    atomic_init(&qp->remote_access, (int)qp->attr.qp_access_flags);
    qp->attr.port_num = 1;
    qp->rq = attr->srq ? &((struct srd_srq *)attr->srq)->rq : &qp->own_rq;
}

struct srd_qp *srd_qp_alloc(struct ibv_pd *pd, const struct ibv_qp_init_attr *attr)
{
    struct srd_qp *qp = calloc(1, sizeof(*qp));

    if (!qp)
        return NULL;
    pthread_mutex_init(&qp->qp.mutex, NULL);
    pthread_cond_init(&qp->qp.cond, NULL);
    lock_init(&qp->rx_lock, LOCK_SRD_RX, "srd_rx");
    lock_init(&qp->tx_lock, LOCK_SRD_TX, "srd_tx");
    atomic_init(&qp->pins, 1);
    list_node_init(&qp->waiting_node);
    srd_stream_init(&qp->stream);
    if (srd_sq_init(&qp->sq, &attr->cap, attr->sq_sig_all) ||
        srd_rq_init(&qp->own_rq, attr->srq ? 0 : attr->cap.max_recv_wr, attr->cap.max_recv_sge)) {
        qp_free(qp);
        return NULL;
    }
    fill_public(qp, pd, attr);
    return qp;
}
