/* SPDX-License-Identifier: MIT */
/* counters.c - reads the counters of queue pairs and listeners. */
#include "softrdma/connection/conn.h"
#include "softrdma/context/context.h"
#include "softrdma/queues/qp.h"
#include "util/lock_ask.h"
#include "softrdma/softrdma.h"

#include <string.h>

/* Copies counters under their lock. Returns whether a thread that found the lock taken has asked for something. */
static bool read_counts(struct lock *lock, const struct srd_counts *from, struct srd_counts *to)
{
    lock_acquire(lock);
    *to = *from;
    return lock_leave_undone(lock);
}

/* Reads whether a message waits for a Receive. Returns actions (enum srd_stream_action). */
static unsigned read_waits(struct srd_qp *qp, struct srd_counters *to)
{
    const struct srd_stream *stream = &qp->stream;

    lock_acquire(&qp->rx_lock);
    to->rnr_now = stream->rx.held &&
                  atomic_load_explicit(&stream->phase, memory_order_relaxed) == SRD_STREAM_UP;
    to->rnr_ended = stream->rx.rnr_ended;
    to->rx_messages =
        atomic_load_explicit(&stream->rx_complete, memory_order_relaxed) + stream->rx.read_msn - 1;
    if (to->rx_messages && stream->params.rtr == SRD_MPA_RTR_READ && !stream->params.initiator)
        to->rx_messages--;
    return srd_stream_leave_rx(qp);
}

void srd_query_counters(struct ibv_qp *ibqp, struct srd_counters *counters, size_t octets)
{
    struct srd_qp *qp = srd_qp_from(ibqp);
    struct srd_counts rx, tx;
    struct srd_counters its;
    struct srd_conn *conn;
    unsigned actions = 0;

    memset(counters, 0, octets);
    if (srd_stale(ibqp->context)) /* a thread of the parent may have held the locks */
        return;
    if (read_counts(&qp->rx_lock, &qp->rx_counts, &rx))
        actions |= SRD_STREAM_RX;
    if (read_counts(&qp->tx_lock, &qp->tx_counts, &tx))
        actions |= SRD_STREAM_TX;
    its = (struct srd_counters){ .rx_octets = rx.octets,
        .tx_octets = tx.octets,
        .rx_fpdus = rx.fpdus,
        .tx_fpdus = tx.fpdus,
        .rx_acks = rx.acks,
        .tx_acks = tx.acks,
        .rnr_waits = rx.rnr_waits,
        .rx_terminates = rx.terminates,
        .tx_terminates = tx.terminates,
        .rx_terminate = rx.terminates ? (uint32_t)rx.terminate : 0,
        .tx_terminate = tx.terminates ? (uint32_t)tx.terminate : 0,
        .tcp_retransmits = atomic_load_explicit(&qp->retransmits, memory_order_relaxed) };
    actions |= read_waits(qp, &its);
    if ((conn = srd_qp_conn(qp))) {
        if (actions) /* threads that found a lock taken have asked for them */
            srd_conn_apply(conn, actions);
        its.tcp_retransmits = srd_conn_retransmits(conn);
        srd_conn_unref(conn);
    }
    memcpy(counters, &its, octets < sizeof(its) ? octets : sizeof(its));
}

uint64_t srd_query_half_open_dropped(struct ibv_context *context)
{
    return atomic_load_explicit(&srd_device_of(context)->half_open_dropped, memory_order_relaxed);
}
