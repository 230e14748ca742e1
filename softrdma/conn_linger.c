/* SPDX-License-Identifier: MIT */
/*
 * conn_linger.c - a connection without a queue pair: the rest is sent, FIN, the peer's octets are read and thrown
 * away. Closing at once would make TCP send a reset, which can cost the peer the last thing we sent (a Terminate).
 */
#include "softrdma/conn_int.h"

#include "softrdma/dma.h"
#include "softrdma/qp.h"
#include "util/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { REST_MAX = 256 * 1024, SCRATCH = 16 * 1024, READS = 16 };

void srd_linger_collect(struct srd_conn *conn)
{
    struct iovec iov[SRD_TX_IOV];
    uint64_t now_ms = clock_now_ms();
    unsigned wants = 0;
    int count;

    if (atomic_load(&conn->tx_error))
        return;
    while ((count = srd_stream_tx(conn->qp, iov, now_ms, &wants)) > 0) {
        size_t octets = 0, at = conn->rest_octets;
        uint8_t *rest;

        for (int i = 0; i < count; i++)
            octets += iov[i].iov_len;
        rest = at + octets <= REST_MAX ? realloc(conn->rest, at + octets) : NULL;
        if (!rest) {
            srd_stream_tx_done(conn->qp, 0, now_ms);
            return;
        }
        conn->rest = rest;
        for (int i = 0; i < count; i++) {
            if (!srd_dma_fetch(rest + at, iov[i].iov_base, iov[i].iov_len)) {
                srd_stream_tx_done(conn->qp, 0, now_ms);
                return; /* the peer sees the end of what was whole */
            }
            at += iov[i].iov_len;
        }
        conn->rest_octets = at;
        srd_stream_tx_done(conn->qp, octets, now_ms);
    }
}

void srd_linger_begin(struct srd_conn *conn)
{
    uint64_t close_ms = clock_now_ms() + SRD_CONN_CLOSE_MS;

    if (close_ms < atomic_load(&conn->close_ms))
        atomic_store(&conn->close_ms, close_ms);
    srd_source_deadline(&conn->source, atomic_load(&conn->close_ms));
    srd_linger_step(conn);
}

/* True: everything is sent, or cannot be. */
static bool send_rest(struct srd_conn *conn)
{
    while (conn->rest_sent < conn->rest_octets && !atomic_load(&conn->tx_error)) {
        ssize_t sent = send(conn->source.fd, conn->rest + conn->rest_sent,
            conn->rest_octets - conn->rest_sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS))
            return false;
        if (sent < 0 && errno != EINTR)
            atomic_store(&conn->tx_error, errno);
        if (sent > 0)
            conn->rest_sent += (size_t)sent;
    }
    srd_conn_shut(conn);
    return true;
}

static void discard(struct srd_conn *conn)
{
    uint8_t scratch[SCRATCH];

    for (int i = 0; i < READS && !atomic_load(&conn->rx_ended); i++) {
        ssize_t got = recv(conn->source.fd, scratch, sizeof(scratch), MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN)
            return;
        if (!got || (got < 0 && errno != EINTR))
            atomic_store(&conn->rx_ended, true);
    }
}

void srd_linger_step(struct srd_conn *conn)
{
    bool sent, ended;

    lock_acquire(&conn->linger_lock);
    if (conn->source.fd < 0) {
        lock_release(&conn->linger_lock);
        return;
    }
    discard(conn);
    sent = send_rest(conn);
    ended = atomic_load(&conn->rx_ended);
    lock_release(&conn->linger_lock);
    if (sent && ended)
        srd_conn_finish(conn, 0);
    else
        srd_conn_interest(conn, !ended, !sent);
}
