/* SPDX-License-Identifier: MIT */
/* conn_bind.c - a connection and its queue pair: the beginning and the end of the stream phase. */
#include "softrdma/conn_int.h"
#include "softrdma/cq.h"
#include "softrdma/qp.h"
#include "softrdma/qp_table.h"

#include "util/clock.h"

#include <errno.h>

static bool may_connect(struct srd_qp *qp)
{
    enum ibv_qp_state state;

    lock_acquire(&qp->sq.lock);
    state = qp->qp.state;
    lock_release(&qp->sq.lock);
    return state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD;
}

/* Makes conn the connection of a queue pair. Returns 0, EINVAL, EISCONN. */
static int bind_qp(struct srd_conn *conn, struct srd_device *device, uint32_t qp_num)
{
    struct srd_qp *qp = srd_device_find_qp(device, qp_num);
    int error = qp && may_connect(qp) ? srd_device_bind_conn(device, qp, conn) : EINVAL;

    if (error && qp)
        srd_qp_unpin(qp);
    return error;
}

int srd_conn_attach(struct srd_conn *conn, struct srd_device *device, uint32_t qp_num,
    const struct srd_stream_params *params, unsigned *wants)
{
    int error;

    lock_assert_held(conn->owner_lock);
    error = bind_qp(conn, device, qp_num);
    if (error)
        return error;
    conn->soft_peer = params->soft_peer;
    srd_cq_attach_source(conn->qp->qp.send_cq, &conn->source);
    if (conn->qp->qp.recv_cq != conn->qp->qp.send_cq)
        srd_cq_attach_source(conn->qp->qp.recv_cq, &conn->source);
    *wants = srd_stream_start(conn->qp, params, conn->in, conn->in_octets, clock_now_ms());
    if (params->initiator || params->speaks_first)
        *wants |= srd_stream_release(conn->qp);
    if (!params->initiator && !params->rtr_expected)
        *wants |=
            SRD_STREAM_ESTABLISHED; /* the peer shows itself by its first message, or not at all */
    *wants |= SRD_STREAM_TX;        /* posted before there was a connection to send on */
    atomic_store(&conn->up, *wants & SRD_STREAM_ESTABLISHED);
    atomic_store_explicit(&conn->phase, SRD_CONN_STREAM, memory_order_release);
    srd_conn_interest(conn, true, false);
    return 0;
}

void srd_conn_detach(struct srd_qp *qp)
{
    struct srd_conn *conn = srd_device_unbind_conn(qp);

    if (!conn)
        return;
    lock_acquire(conn->owner_lock); /* an attach under way has ended */
    lock_acquire(&qp->rx_lock);
    lock_acquire(&qp->tx_lock);
    if (srd_conn_in_phase(conn, SRD_CONN_STREAM)) {
        srd_linger_collect(conn);
        atomic_store_explicit(&conn->phase, SRD_CONN_LINGER, memory_order_release);
    }
    lock_release(&qp->tx_lock);
    lock_release(&qp->rx_lock);
    lock_release(conn->owner_lock);
    srd_cq_detach_source(qp->qp.send_cq, &conn->source);
    if (qp->qp.recv_cq != qp->qp.send_cq)
        srd_cq_detach_source(qp->qp.recv_cq, &conn->source);
    if (srd_conn_in_phase(conn, SRD_CONN_LINGER))
        srd_linger_begin(conn);
    srd_conn_unref(conn);
}

void srd_conn_disconnect(struct srd_conn *conn)
{
    unsigned wants = 0;

    lock_acquire(conn->owner_lock); /* keeps the queue pair from being detached meanwhile */
    if (srd_conn_in_phase(conn, SRD_CONN_STREAM))
        wants = srd_stream_disconnect(conn->qp, clock_now_ms());
    lock_release(conn->owner_lock);
    if (wants)
        srd_conn_want(conn, wants);
}
