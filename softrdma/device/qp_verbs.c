/* SPDX-License-Identifier: MIT */
/*
 * qp_verbs.c - creates, modifies, queries and destroys queue pairs. queues/sq.c and rq.c have the queues,
 * stream/stream.c the protocol, connection/conn.c the socket.
 */
#include "softrdma/queues/qp.h"

#include "softrdma/absent.h"
#include "softrdma/connection/conn.h"
#include "softrdma/queues/cq.h"
#include "softrdma/memory/memory.h"
#include "util/clock.h"

#include <errno.h>
#include <string.h>

static bool caps_good(const struct ibv_qp_init_attr *attr)
{
    const struct ibv_qp_cap *cap = &attr->cap;

    return cap->max_send_wr <= SRD_MAX_QP_WR && cap->max_send_sge <= SRD_MAX_SGE &&
           cap->max_inline_data <= SRD_MAX_INLINE &&
           (attr->srq || (cap->max_recv_wr <= SRD_MAX_QP_WR && cap->max_recv_sge <= SRD_MAX_SGE));
}

struct ibv_qp *srd_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
    struct srd_qp *qp;
    int error;

    if (srd_stale(pd->context)) {
        errno = EIO;
        return NULL;
    }
    if (attr->qp_type != IBV_QPT_RC) {
        srd_absent(attr->qp_type == IBV_QPT_UD ? SRD_ABSENT_DATAGRAMS
                   : attr->qp_type == IBV_QPT_XRC_SEND || attr->qp_type == IBV_QPT_XRC_RECV
                       ? SRD_ABSENT_XRC
                       : SRD_ABSENT_QP_TYPE);
        errno = EOPNOTSUPP; /* iWARP has no datagrams */
        return NULL;
    }
    if (!attr->send_cq || !attr->recv_cq || !caps_good(attr)) {
        errno = EINVAL;
        return NULL;
    }
    qp = srd_qp_alloc(pd, attr);
    if (!qp) {
        errno = ENOMEM;
        return NULL;
    }
    error = srd_device_add_qp(pd->context, qp, &qp->qp.qp_num);
    if (error) {
        srd_qp_unpin(qp);
        errno = error;
        return NULL;
    }
    attr->cap.max_inline_data = qp->init_attr.cap.max_inline_data = qp->sq.max_inline;
    srd_pd_get(pd);
    srd_cq_attach_qp(attr->send_cq, qp);
    srd_cq_attach_qp(attr->recv_cq, qp);
    if (attr->srq)
        atomic_fetch_add_explicit(&((struct srd_srq *)attr->srq)->users, 1, memory_order_relaxed);
    return &qp->qp;
}

/* --- modify ----------------------------------------------------------------------------------------------------- */

/*
 * InfiniBand's state diagram, as far as a connected queue pair needs it; the error state and reset follow any state.
 * RESET and INIT are one state before RTR, except for their names, as with iWARP in the kernel (RFC 5040's Idle).
 */
static bool may_move(enum ibv_qp_state from, enum ibv_qp_state to)
{
    switch (to) {
    case IBV_QPS_RESET:
    case IBV_QPS_ERR: return true;
    case IBV_QPS_INIT: return from == IBV_QPS_RESET || from == IBV_QPS_INIT;
    case IBV_QPS_RTR: return from == IBV_QPS_INIT || from == IBV_QPS_RESET;
    case IBV_QPS_RTS: return from == IBV_QPS_RTR || from == IBV_QPS_RTS || from == IBV_QPS_SQD;
    case IBV_QPS_SQD: return from == IBV_QPS_RTS || from == IBV_QPS_SQD;
    default: return false;
    }
}

/* Keeps attributes for srd_query_qp. Addresses, and the transport's timers and retries, mean nothing on TCP. */
static void keep_attr(struct srd_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
    struct ibv_qp_attr *kept = &qp->attr;

    if (mask & IBV_QP_ACCESS_FLAGS) {
        kept->qp_access_flags = attr->qp_access_flags;
        atomic_store_explicit(&qp->remote_access, (int)attr->qp_access_flags, memory_order_relaxed);
    }
    if (mask & IBV_QP_PKEY_INDEX)
        kept->pkey_index = attr->pkey_index;
    if (mask & IBV_QP_PORT)
        kept->port_num = attr->port_num;
    if (mask & IBV_QP_AV)
        kept->ah_attr = attr->ah_attr;
    if (mask & IBV_QP_PATH_MTU)
        kept->path_mtu = attr->path_mtu;
    if (mask & IBV_QP_TIMEOUT)
        kept->timeout = attr->timeout;
    if (mask & IBV_QP_RETRY_CNT)
        kept->retry_cnt = attr->retry_cnt;
    if (mask & IBV_QP_RNR_RETRY) {
        kept->rnr_retry = attr->rnr_retry;
        atomic_store_explicit(&qp->rnr_retries, attr->rnr_retry, memory_order_relaxed);
    }
    if (mask & IBV_QP_MIN_RNR_TIMER) {
        kept->min_rnr_timer = attr->min_rnr_timer;
        atomic_store_explicit(&qp->rnr_timer, attr->min_rnr_timer, memory_order_relaxed);
    }
    if (mask & IBV_QP_RQ_PSN)
        kept->rq_psn = attr->rq_psn;
    if (mask & IBV_QP_SQ_PSN)
        kept->sq_psn = attr->sq_psn;
    if (mask & IBV_QP_DEST_QPN)
        kept->dest_qp_num = attr->dest_qp_num;
    if (mask & IBV_QP_MAX_QP_RD_ATOMIC)
        kept->max_rd_atomic = attr->max_rd_atomic;
    if (mask & IBV_QP_MAX_DEST_RD_ATOMIC)
        kept->max_dest_rd_atomic = attr->max_dest_rd_atomic;
}

/* Drops the queued requests, without completions, and the connection. */
static void reset(struct srd_qp *qp)
{
    struct srd_rq *rq = &qp->own_rq;

    atomic_store_explicit(&qp->mute, true, memory_order_relaxed);
    srd_stream_abort(qp, clock_now_ms());
    srd_conn_detach(qp);
    srd_stag_release_qp(qp);
    lock_acquire(&qp->rx_lock);
    lock_acquire(&qp->tx_lock);
    srd_stream_fini(&qp->stream);
    srd_stream_init(&qp->stream);
    lock_release(&qp->tx_lock);
    lock_release(&qp->rx_lock);
    srd_sq_reset(&qp->sq);
    srd_rq_reset(rq);
    atomic_store_explicit(&qp->mute, false, memory_order_relaxed);
}

static void to_error(struct srd_qp *qp)
{
    unsigned actions = srd_stream_abort(qp, clock_now_ms());
    struct srd_conn *conn = srd_qp_conn(qp);

    if (!conn)
        return;
    if (actions)
        srd_conn_apply(conn, actions);
    srd_conn_unref(conn);
}

/*
 * Whether the attributes name the peer, as those of programs do that exchange addresses out of band. The attributes of
 * rdma_init_qp_attr name none: the connection knows its peer.
 */
static bool names_peer(const struct ibv_qp_attr *attr, int mask)
{
    return (mask & IBV_QP_DEST_QPN && attr->dest_qp_num) ||
           (mask & IBV_QP_AV && (attr->ah_attr.is_global || attr->ah_attr.dlid));
}

/* Checks the peer that attr names: only a move to RTR may name one, and only of a queue pair that was made for it. */
static int check_peer(struct srd_qp *qp, const struct ibv_qp_attr *attr, int mask)
{
    const int needed = IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN;

    if (!qp->exchange) {
        srd_absent(SRD_ABSENT_EXCHANGE);
        return EINVAL;
    }
    if ((mask & needed) != needed || attr->qp_state != IBV_QPS_RTR)
        return EINVAL;
    return qp->exchange->ops->check(qp, attr);
}

static int modify(struct ibv_qp *ibqp, const struct ibv_qp_attr *attr, int attr_mask)
{
    struct srd_qp *qp = srd_qp_from(ibqp);
    bool named = names_peer(attr, attr_mask);
    enum ibv_qp_state from, to;
    int error = 0;

    if (srd_stale(ibqp->context))
        return EIO;
    if ((attr_mask & IBV_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic > SRD_MAX_RD_ATOM) ||
        (attr_mask & IBV_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic > SRD_MAX_RD_ATOM) ||
        (attr_mask & IBV_QP_PORT && attr->port_num != 1) ||
        (attr_mask & IBV_QP_RNR_RETRY && attr->rnr_retry > SRD_RNR_FOR_EVER) ||
        (attr_mask & IBV_QP_MIN_RNR_TIMER && attr->min_rnr_timer > 31) ||
        attr_mask & (IBV_QP_ALT_PATH | IBV_QP_CAP))
        return EINVAL;
    if (named) {
        error = check_peer(qp, attr, attr_mask);
        if (error)
            return error;
    }
    lock_acquire(&qp->sq.lock);
    from = ibqp->state;
    to = attr_mask & IBV_QP_STATE ? attr->qp_state : from;
    if ((attr_mask & IBV_QP_CUR_STATE && attr->cur_qp_state != from) ||
        (to != from && !may_move(from, to))) {
        lock_release(&qp->sq.lock);
        return EINVAL;
    }
    keep_attr(qp, attr, attr_mask);
    if (to != IBV_QPS_ERR) /* srd_sq_flush sets the error state */
        ibqp->state = to;
    lock_release(&qp->sq.lock);

    if (to == IBV_QPS_ERR) {
        to_error(qp);
    } else if (to == IBV_QPS_RESET) {
        reset(qp);
        lock_acquire(&qp->sq.lock);
        ibqp->state = IBV_QPS_RESET;
        lock_release(&qp->sq.lock);
        if (qp->exchange)
            qp->exchange->ops->forget(qp, false);
    } else if (qp->exchange && to != from && (to == IBV_QPS_RTR || to == IBV_QPS_RTS)) {
        error = qp->exchange->ops->moved(qp, named);
        if (error) {
            lock_acquire(&qp->sq.lock);
            ibqp->state = from;
            lock_release(&qp->sq.lock);
        }
    }
    return error;
}

int srd_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int attr_mask)
{
    return srd_errno(modify(qp, attr, attr_mask));
}

int srd_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int attr_mask,
    struct ibv_qp_init_attr *init_attr)
{
    struct srd_qp *qp = srd_qp_from(ibqp);

    (void)attr_mask; /* all attributes are returned */
    if (srd_stale(ibqp->context))
        return errno = EIO;
    lock_acquire(&qp->sq.lock);
    *attr = qp->attr;
    attr->qp_state = attr->cur_qp_state = ibqp->state;
    attr->cap = qp->init_attr.cap;
    *init_attr = qp->init_attr;
    lock_release(&qp->sq.lock);
    return 0;
}

void srd_keep_posted(struct ibv_qp *ibqp)
{
    atomic_store_explicit(&srd_qp_from(ibqp)->keep_posted, true, memory_order_relaxed);
}

const char *srd_query_path(struct ibv_qp *ibqp)
{
    struct srd_qp *qp = srd_qp_from(ibqp);
    struct srd_conn *conn = srd_stale(ibqp->context) ? NULL : srd_qp_conn(qp);
    const char *path = NULL;

    if (conn && srd_life_is_stream(&conn->life))
        path = qp->stream.params.shared ? "shm" : "tcp";
    if (conn)
        srd_conn_unref(conn);
    return path;
}

int srd_destroy_qp(struct ibv_qp *ibqp)
{
    struct srd_qp *qp = srd_qp_from(ibqp);
    struct ibv_srq *srq = ibqp->srq;

    /* Queued requests end without completions: their wr_id may mean nothing any more. */
    atomic_store_explicit(&qp->mute, true, memory_order_relaxed);
    srd_device_remove_qp(ibqp->context, ibqp->qp_num);
    srd_stream_abort(qp, clock_now_ms());
    srd_conn_detach(qp);
    srd_stag_release_qp(qp);
    if (qp->exchange)
        qp->exchange->ops->forget(qp, true);
    srd_async_forget(ibqp->context, ibqp);
    srd_cq_forget_qp(ibqp->send_cq, qp);
    srd_cq_forget_qp(ibqp->recv_cq, qp);
    srd_pd_put(ibqp->pd);
    if (srq)
        atomic_fetch_sub_explicit(&((struct srd_srq *)srq)->users, 1, memory_order_release);
    srd_qp_unpin(qp);
    return 0;
}

/* Sends the posted requests, in this thread unless another one sends. */
static void send_by(struct srd_qp *qp, struct srd_way way)
{
    if (way.entered) {
        srd_conn_transmit_and_leave(way.conn);
    } else if (way.conn) {
        srd_conn_transmit(way.conn);
        srd_conn_unref(way.conn);
    } else if (qp->exchange) {
        qp->exchange->ops->posted(qp);
    }
}

static int post(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr, bool all)
{
    struct srd_qp *qp = srd_qp_from(ibqp);
    struct srd_way way;
    int error;

    if (srd_stale(ibqp->context)) {
        *bad_wr = wr;
        return errno = EIO;
    }
    error = srd_sq_post(qp, wr, bad_wr, all, &way);
    send_by(qp, way);
    return srd_errno(error);
}

/* Fills a list of the region's with the pages of the request. NULL: too many pages, no fast region, or no memory. */
static struct srd_page_list *list_of(const struct srd_fast_reg *reg, int *error)
{
    struct srd_stag_entry *entry = srd_mr_entry(reg->mr);
    struct srd_page_list *list;

    *error = EINVAL;
    if (!entry->max_pages || reg->n_pages > entry->max_pages)
        return NULL;
    *error = ENOMEM;
    list = srd_stag_list_take(&srd_device_of(reg->mr->context)->stags, entry);
    if (!list)
        return NULL;
    list->count = reg->n_pages;
    if (reg->n_pages)
        memcpy(list->pages, reg->pages, reg->n_pages * sizeof(reg->pages[0]));
    return list;
}

int srd_post_fast_reg(struct ibv_qp *ibqp, const struct srd_fast_reg *reg)
{
    struct srd_qp *qp = srd_qp_from(ibqp);
    struct srd_page_list *list;
    struct srd_way way;
    bool queued;
    int error;

    if (srd_stale(ibqp->context))
        return errno = EIO;
    list = list_of(reg, &error);
    if (!list)
        return srd_errno(error);
    error = srd_sq_post_fast(qp, reg, list, &queued, &way);
    if (!queued)
        srd_stag_list_put(&srd_device_of(reg->mr->context)->stags, srd_mr_entry(reg->mr), list);
    send_by(qp, way);
    return srd_errno(error);
}

int srd_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
    return post(qp, wr, bad_wr, false);
}

int srd_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind)
{
    struct ibv_send_wr wr = {
        .wr_id = bind->wr_id, .send_flags = bind->send_flags, .opcode = IBV_WR_BIND_MW
    };
    uint32_t key = srd_mw_next_key(mw);
    int error;

    wr.bind_mw.mw = mw;
    wr.bind_mw.rkey = key;
    wr.bind_mw.bind_info = bind->bind_info;
    error = srd_post_all(qp, &wr);
    if (!error)
        mw->rkey = key;
    return error;
}

int srd_post_all(struct ibv_qp *qp, struct ibv_send_wr *wr)
{
    struct ibv_send_wr *bad;

    return post(qp, wr, &bad, true);
}
