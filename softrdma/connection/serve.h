/* SPDX-License-Identifier: MIT */
/*
 * serve.h - the two loops between a transport and the protocol engine. Each transport has its own copy of them, with
 * its functions in place: a message passes here once at each end, and is not to pay for the choice.
 */
#ifndef SOFTRDMA_CONNECTION_SERVE_H
#define SOFTRDMA_CONNECTION_SERVE_H

#include "softrdma/connection/internal.h"
#include "softrdma/connection/transport.h"
#include "softrdma/queues/qp.h"
#include "util/clock.h"

#include <errno.h>

/*
 * read         octets; 0: the end, after all of them; -EAGAIN: there are none; another negative errno
 * hear         what the peer says beside the octets, after they were looked for. Returns actions. NULL: nothing
 * stops_short  a read got less than it had room for: whether the next octet shows by itself. NULL: it does
 * rests        a read found none: whether the thread may go; false: something has come. NULL: that shows by itself
 */
struct srd_reader {
    ssize_t (*read)(struct srd_conn *conn, struct iovec *iov, int count);
    unsigned (*hear)(struct srd_conn *conn, bool *moved);
    bool (*stops_short)(struct srd_conn *conn);
    bool (*rests)(struct srd_conn *conn);
};

/*
 * write      octets; 0: there is no room; -EFAULT, or another negative errno, by which writing is over
 * rests      there is no room, and tx_blocked says so: whether the thread may go; false: there is some
 * turn_over  so is its turn, and tx_blocked is set: the rest is sent like what waits for room
 * failed     writing is over
 */
struct srd_writer {
    ssize_t (*write)(struct srd_conn *conn, struct iovec *iov, int count);
    bool (*rests)(struct srd_conn *conn);
    void (*turn_over)(struct srd_conn *conn);
    void (*failed)(struct srd_conn *conn, int error);
};

#define SRD_SERVE static inline __attribute__((always_inline))

SRD_SERVE size_t srd_serve_octets(const struct iovec *iov, int count)
{
    size_t octets = 0;

    for (int i = 0; i < count; i++)
        octets += iov[i].iov_len;
    return octets;
}

/*
 * Holder of a side: whether to let a waiting thread in. That thread counts as waiting until it has the lock, so it
 * comes after this holder, and does the rest.
 */
SRD_SERVE bool srd_serve_gives_way(struct srd_conn *conn, atomic_uint *waiting)
{
    return atomic_load(waiting) && srd_watch_has(&conn->source.watch, SRD_WATCH_ATTENDED) &&
           srd_in_background();
}

/* RX lock held. The reactor calls while the socket is readable, or no more. */
SRD_SERVE void srd_serve_want_in(struct srd_conn *conn, bool in)
{
    if (atomic_load_explicit(&conn->want_in, memory_order_relaxed) == in)
        return;
    atomic_store_explicit(&conn->want_in, in, memory_order_relaxed);
    srd_source_update(&conn->source);
}

/*
 * RX lock held, stream phase.
 * more  out: it has stopped before there was nothing more to read
 */
SRD_SERVE unsigned srd_serve_receive(
    struct srd_conn *conn, const struct srd_reader *by, int budget, bool *moved, bool *more)
{
    struct iovec iov[SRD_RX_IOV];
    unsigned actions = 0;

    *more = false;
    while (budget-- > 0 && !(actions & (SRD_STREAM_CLOSE | SRD_STREAM_DOWN))) {
        int count = srd_stream_rx_space(conn->qp, iov);
        ssize_t got;

        if (!count) {
            srd_serve_want_in(conn, false);
            return actions;
        }
        got = by->read(conn, iov, count);
        if (by->hear)
            actions |= by->hear(conn, moved);
        if (got > 0) {
            *moved = true;
            if (!atomic_load_explicit(&conn->busy, memory_order_relaxed))
                srd_conn_is_busy(conn);
            actions |= srd_stream_rx(conn->qp, (size_t)got, SRD_STREAM_NOW);
            if (actions & SRD_STREAM_ESTABLISHED)
                srd_life_add(&conn->life, SRD_CONN_UP);
            if (srd_serve_gives_way(conn, &conn->rx_waiting) ||
                ((size_t)got < srd_serve_octets(iov, count) &&
                    (!by->stops_short || by->stops_short(conn))))
                break;
            continue;
        }
        if (got == -EFAULT && srd_stream_rx_fault(conn->qp))
            continue;
        actions |= srd_stream_rx(conn->qp, 0, 0);
        if (got == -EAGAIN) {
            if (by->rests && !by->rests(conn))
                continue;
            srd_serve_want_in(conn, true);
            return actions;
        }
        *moved = true;
        srd_life_add(&conn->life, SRD_CONN_RX_ENDED);
        srd_serve_want_in(conn, false);
        return actions | srd_stream_rx_end(conn->qp, (int)-got, clock_now_ms());
    }
    srd_serve_want_in(conn, true);
    /* Also once the stream is down: what comes is dropped, which makes room for a peer that has still to hear of it. */
    *more = !(actions & SRD_STREAM_CLOSE);
    return actions;
}

/* How many entries have so many octets, or more by less than an entry; all of them may not. */
SRD_SERVE int srd_serve_entries(const struct iovec *iov, int count, size_t octets)
{
    size_t seen = 0;
    int n = 0;

    while (n < count && seen < octets)
        seen += iov[n++].iov_len;
    return n;
}

/*
 * TX lock held: it is full. Returns whether to wait for space. Set the flag before looking: a reader that frees space
 * between the two finds the flag, and so does the thread that polled and leaves.
 */
SRD_SERVE bool srd_serve_is_blocked(struct srd_conn *conn, const struct srd_writer *by)
{
    atomic_store(&conn->tx_blocked, true);
    if (by->rests(conn))
        return true;
    atomic_store(&conn->tx_blocked, false);
    return false;
}

/* Sends as srd_transport.send does. SRD_STREAM_RING in the actions: the peer may have to be woken for that. */
SRD_SERVE unsigned srd_serve_send(
    struct srd_conn *conn, const struct srd_writer *by, struct srd_turn *left, bool *all)
{
    struct iovec iov[SRD_TX_IOV];
    const uint64_t now_ms = SRD_STREAM_NOW;
    unsigned actions = 0;

    *all = true;
    while (!srd_life_has(&conn->life, SRD_CONN_TX_FAILED)) {
        int count = srd_stream_tx(conn->qp, iov, now_ms, &actions);
        ssize_t sent;

        if (!count) {
            if (srd_conn_is_ending(conn))
                srd_conn_shut(conn);
            break;
        }
        count = left->calls-- > 0 ? srd_serve_entries(iov, count, left->octets) : 0;
        if (!count) {
            actions |= srd_stream_tx_done(conn->qp, 0, now_ms);
            atomic_store(&conn->tx_blocked, true);
            by->turn_over(conn);
            break;
        }
        sent = by->write(conn, iov, count);
        if (sent == -EFAULT) {
            actions |= srd_stream_tx_fault(conn->qp);
            continue;
        }
        if (sent < 0) {
            actions |= srd_stream_tx_done(conn->qp, 0, now_ms);
            srd_life_add(&conn->life, SRD_CONN_TX_FAILED);
            by->failed(conn, (int)-sent);
            break;
        }
        if (sent) {
            actions &= ~(unsigned)SRD_STREAM_RING;
            if (!atomic_load_explicit(&conn->busy, memory_order_relaxed))
                srd_conn_is_busy(conn);
        }
        actions |= srd_stream_tx_done(conn->qp, (size_t)sent, now_ms);
        left->octets -= (size_t)sent < left->octets ? (size_t)sent : left->octets;
        if ((size_t)sent < srd_serve_octets(iov, count) && srd_serve_is_blocked(conn, by))
            break;
        if (!srd_stream_has_more(conn->qp) && !srd_conn_is_ending(conn))
            break;
        if (srd_serve_gives_way(conn, &conn->tx_waiting)) {
            *all = false;
            break;
        }
    }
    return actions & ~(unsigned)SRD_STREAM_TX;
}

#endif
