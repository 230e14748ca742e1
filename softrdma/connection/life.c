/* SPDX-License-Identifier: MIT */
/*
 * life.c - a connection outside the stream phase: the startup frames of the connection manager, its queue pair's
 * coming and going, and how its socket ends, in any phase.
 *
 * Linger: a connection without a queue pair. It sends the rest and FIN, and discards the peer's octets. Closing at once
 * would make TCP send a reset, by which the peer can lose the last thing we sent (a Terminate).
 */
#include "softrdma/connection/internal.h"

#include "softrdma/queues/cq.h"
#include "softrdma/memory/dma.h"
#include "softrdma/connection/transport.h"
#include "softrdma/queues/qp.h"
#include "softrdma/share/share.h"
#include "util/clock.h"
#include "util/deadline.h"
#include "util/log.h"
#include "util/probe.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(offsetof(struct srd_conn, source) == 0, "qp.h counts references by it");

/* What the reactor watches for. */
static void set_interest(struct srd_conn *conn, bool in, bool out)
{
    atomic_store_explicit(&conn->want_in, in, memory_order_relaxed);
    atomic_store_explicit(&conn->want_out, out, memory_order_relaxed);
    srd_source_update(&conn->source);
}

/* --- the end: shut, close, report to the owner -------------------------------------------------------------------- */

/* Lets a program bind the port during TIME_WAIT; see cm/addr.c. */
static void allow_port_reuse(int fd)
{
    const int on = 1;

    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
}

/* Whether the peer's FIN has arrived, read or not. */
static bool peer_has_shut(int fd)
{
    struct tcp_info info = { 0 };
    socklen_t octets = sizeof(info);

    return !getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &octets) &&
           info.tcpi_state == TCP_CLOSE_WAIT;
}

static uint64_t retransmits_of(int fd)
{
    struct tcp_info info = { 0 };
    socklen_t octets = sizeof(info);

    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &octets) ? 0 : info.tcpi_total_retrans;
}

uint64_t srd_conn_retransmits(struct srd_conn *conn)
{
    uint64_t count;

    /* A closed connection adds its count to the queue pair's under this lock, so a reader counts it exactly once. */
    lock_acquire(&conn->linger_lock);
    count = atomic_load_explicit(&conn->qp->retransmits, memory_order_relaxed);
    if (conn->source.fd >= 0)
        count += retransmits_of(conn->source.fd);
    lock_release(&conn->linger_lock);
    return count;
}

void srd_conn_shut(struct srd_conn *conn)
{
    if (srd_life_add(&conn->life, SRD_CONN_SHUT) & SRD_CONN_SHUT)
        return;
    allow_port_reuse(conn->source.fd);
    /*
     * The end that sends its FIN first has TIME_WAIT for a minute, unless the peer answers with a reset:
     * srd_conn_close.
     */
    if (!conn->soft_peer || !peer_has_shut(conn->source.fd))
        shutdown(conn->source.fd, SHUT_WR);
    if (conn->transport->end)
        conn->transport->end(conn);
}

/* False: another thread closes it, or has. */
static bool close_socket(struct srd_conn *conn, bool reset)
{
    const struct linger at_once = { .l_onoff = 1 };
    struct srd_qp *qp = conn->qp;
    struct srd_share *share;
    int fd;

    if (srd_life_add(&conn->life, SRD_CONN_CLOSED) & SRD_CONN_CLOSED)
        return false;
    srd_source_remove(&conn->source);
    if (conn->transport->close)
        conn->transport->close(conn);
    srd_conn_leave_busy(conn);
    if (qp) /* no thread is inside any more */
        srd_stream_by_words(qp, NULL, NULL);
    lock_acquire(&conn->linger_lock);
    fd = conn->source.fd;
    if (qp)
        atomic_fetch_add_explicit(&qp->retransmits, retransmits_of(fd), memory_order_relaxed);
    conn->source.fd = -1;
    share = conn->share;
    conn->share = NULL;
    lock_release(&conn->linger_lock);
    if (share)
        srd_share_free(share);
    allow_port_reuse(fd);
    if (reset)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(fd);
    return true;
}

/* Closes it by a reset if a softrdma peer has ended its side (srd_conn_shut). */
static bool close_in_order(struct srd_conn *conn)
{
    return close_socket(conn, conn->soft_peer && srd_life_has(&conn->life, SRD_CONN_RX_ENDED));
}

void srd_conn_close(struct srd_conn *conn)
{
    close_in_order(conn);
}

void srd_conn_cut(struct srd_conn *conn)
{
    close_socket(conn, true);
}

void srd_conn_report_down(struct srd_conn *conn, int status)
{
    unsigned before = srd_life_add(&conn->life, SRD_CONN_REPORTED);

    if (before & SRD_CONN_REPORTED)
        return;
    /* Another thread may have found it established and not reported that yet: do it first; the owner posts it once. */
    if (before & SRD_CONN_UP)
        conn->owner_ops->established(conn->owner, conn);
    conn->owner_ops->down(conn->owner, conn, status);
}

void srd_conn_finish(struct srd_conn *conn, int status)
{
    /* Else the thread that closes it reports, once the descriptor is free. */
    if (close_in_order(conn))
        srd_conn_report_down(conn, status);
}

/* The peer did not close its side in time. */
void srd_conn_cut_late(struct srd_conn *conn)
{
    log_limited(LOG_INFO, LOG_WIRE,
        "the peer did not close its side within %d ms; the connection is cut", SRD_CONN_CLOSE_MS);
    srd_conn_finish(conn, -ETIMEDOUT);
}

/* --- linger ------------------------------------------------------------------------------------------------------- */

enum { REST_MAX = 256 * 1024, SCRATCH = 16 * 1024, READS = 16 };

/* Copies what the stream still has to send. Stream phase; RX and TX lock held. */
static void collect_rest(struct srd_conn *conn)
{
    struct iovec iov[SRD_TX_IOV];
    uint64_t now_ms = clock_now_ms();
    unsigned actions = 0;
    int count;

    if (srd_life_has(&conn->life, SRD_CONN_TX_FAILED))
        return;
    while ((count = srd_stream_tx(conn->qp, iov, now_ms, &actions)) > 0) {
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
                return; /* the peer sees the stream end after the last whole FPDU */
            }
            at += iov[i].iov_len;
        }
        conn->rest_octets = at;
        srd_stream_tx_done(conn->qp, octets, now_ms);
    }
}

/* The linger phase has begun: sets the limit of time, goes as far as it can. */
static void linger_begin(struct srd_conn *conn)
{
    uint64_t close_ms = clock_now_ms() + SRD_CONN_CLOSE_MS;

    if (close_ms < atomic_load(&conn->close_ms))
        atomic_store(&conn->close_ms, close_ms);
    srd_source_deadline(&conn->source, atomic_load(&conn->close_ms));
    srd_linger_step(conn);
}

/*
 * True: everything is sent, or sending has failed.
 * rings  out, if not: the peer shows when there is room
 */
static bool send_rest(struct srd_conn *conn, bool *rings)
{
    while (conn->rest_sent < conn->rest_octets && !srd_life_has(&conn->life, SRD_CONN_TX_FAILED)) {
        struct iovec rest = { conn->rest + conn->rest_sent, conn->rest_octets - conn->rest_sent };
        ssize_t sent = conn->transport->put(conn, &rest, rings);

        if (sent == -EAGAIN || sent == -ENOBUFS)
            return false;
        if (sent < 0)
            srd_life_add(&conn->life, SRD_CONN_TX_FAILED);
        else
            conn->rest_sent += (size_t)sent;
    }
    srd_conn_shut(conn);
    return true;
}

/* Returns whether it is to be called again, though nothing shows that. */
static bool discard(struct srd_conn *conn)
{
    uint8_t scratch[SCRATCH];
    bool more = conn->transport->discard &&
                conn->transport->discard(conn, (struct iovec){ scratch, sizeof(scratch) });

    for (int i = 0; i < READS && !srd_life_has(&conn->life, SRD_CONN_RX_ENDED); i++) {
        ssize_t got = recv(conn->source.fd, scratch, sizeof(scratch), MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN)
            break;
        if (!got || (got < 0 && errno != EINTR))
            srd_life_add(&conn->life, SRD_CONN_RX_ENDED);
    }
    return more;
}

void srd_linger_step(struct srd_conn *conn)
{
    bool more, sent, rings = false;
    unsigned life;

    lock_acquire(&conn->linger_lock);
    if (conn->source.fd < 0) {
        lock_release(&conn->linger_lock);
        return;
    }
    more = discard(conn);
    sent = send_rest(conn, &rings);
    life = atomic_load(&conn->life);
    lock_release(&conn->linger_lock);
    if (sent && srd_life_owes(life) == SRD_CONN_FINISH)
        srd_conn_finish(conn, 0);
    else
        set_interest(conn, !(life & SRD_CONN_RX_ENDED), more || (!sent && !rings));
}

/* Reads the clock only if needed: mostly this sends an acknowledgement before a sleep. */
bool srd_conn_has_passed(uint64_t deadline_ms)
{
    return deadline_ms != UINT64_MAX && clock_now_ms() >= deadline_ms;
}

/* Whether the time to close has passed, and does not start again (util/deadline.h). */
static bool is_late(struct srd_conn *conn)
{
    uint64_t close_ms = atomic_load_explicit(&conn->close_ms, memory_order_relaxed), now_ms;
    bool late;

    if (!srd_conn_has_passed(close_ms))
        return false;
    lock_acquire(&conn->linger_lock);
    now_ms = clock_now_ms();
    late = !deadline_ms_begins_anew(&conn->close_again, now_ms - close_ms);
    if (!late)
        atomic_store_explicit(&conn->close_ms, now_ms + SRD_CONN_CLOSE_MS, memory_order_relaxed);
    lock_release(&conn->linger_lock);
    return late;
}

void srd_linger_expired(struct srd_conn *conn)
{
    if (!is_late(conn)) {
        srd_conn_sync_deadline(conn);
        return;
    }
    srd_linger_step(conn); /* the FIN counts here, too */
    if (!srd_conn_in_phase(conn, SRD_CONN_CLOSED))
        srd_conn_cut_late(conn);
}

/* --- startup ------------------------------------------------------------------------------------------------------ */

int srd_conn_watch(struct srd_conn *conn, bool in, bool out)
{
    bool known = conn->source.added;

    lock_assert_held(conn->owner_lock);
    atomic_store_explicit(&conn->want_in, in, memory_order_relaxed);
    atomic_store_explicit(&conn->want_out, out, memory_order_relaxed);
    if (!known)
        return srd_source_add(&conn->source);
    srd_source_update(&conn->source);
    return 0;
}

int srd_conn_flush(struct srd_conn *conn)
{
    bool in = atomic_load_explicit(&conn->want_in, memory_order_relaxed);

    lock_assert_held(conn->owner_lock);
    while (conn->out_sent < conn->out_octets) {
        ssize_t sent = send(conn->source.fd, conn->out + conn->out_sent,
            conn->out_octets - conn->out_sent, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == ENOBUFS))
            break;
        if (sent < 0)
            return -errno;
        conn->out_sent += (size_t)sent;
    }
    return srd_conn_watch(conn, in, conn->out_sent < conn->out_octets);
}

int srd_conn_send(struct srd_conn *conn, const void *octets, size_t count)
{
    lock_assert_held(conn->owner_lock);
    if (conn->out_sent < conn->out_octets || !conn->out || count > SRD_MPA_FRAME_MAX)
        return -EBUSY; /* one frame at a time, and none is longer */
    memcpy(conn->out, octets, count);
    conn->out_octets = count;
    conn->out_sent = 0;
    return srd_conn_flush(conn);
}

ssize_t srd_conn_fill(struct srd_conn *conn)
{
    struct iovec room;
    ssize_t got;

    lock_assert_held(conn->owner_lock);
    if (!conn->in)
        return -EAGAIN;
    room = (struct iovec){ conn->in + conn->in_octets, SRD_CONN_STARTUP_OCTETS - conn->in_octets };
    got = conn->transport->fill(conn, room);
    if (got < 0)
        return got;
    conn->in_octets += (size_t)got;
    return got;
}

void srd_conn_linger(struct srd_conn *conn)
{
    lock_assert_held(conn->owner_lock);
    conn->rest =
        conn->out_sent < conn->out_octets ? malloc(conn->out_octets - conn->out_sent) : NULL;
    if (conn->rest) {
        conn->rest_octets = conn->out_octets - conn->out_sent;
        memcpy(conn->rest, conn->out + conn->out_sent, conn->rest_octets);
    }
    srd_life_add(&conn->life, SRD_CONN_LINGER | SRD_CONN_REPORTED);
    linger_begin(conn);
}

/* --- the queue pair, coming and going ----------------------------------------------------------------------------- */

bool srd_conn_may_attach(struct srd_qp *qp)
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
    int error = EINVAL;

    if (qp && srd_conn_may_attach(qp)) {
        conn->qp = qp; /* the conn has the pin now */
        error = srd_device_bind_conn(device, qp, conn);
    }
    if (error && qp) {
        conn->qp = NULL;
        srd_qp_unpin(qp);
    }
    return error;
}

int srd_conn_attach(struct srd_conn *conn, struct srd_device *device, uint32_t qp_num,
    const struct srd_stream_params *params, unsigned *actions)
{
    unsigned begun;
    int error;

    lock_assert_held(conn->owner_lock);
    error = bind_qp(conn, device, qp_num);
    if (error)
        return error;
    conn->soft_peer = params->soft_peer;
    PROBE2(path, qp_num, params->shared);
    srd_cq_attach_source(conn->qp->qp.send_cq, &conn->source);
    if (conn->qp->qp.recv_cq != conn->qp->qp.send_cq)
        srd_cq_attach_source(conn->qp->qp.recv_cq, &conn->source);
    begun = conn->transport->begin ? conn->transport->begin(conn) : 0;
    *actions =
        begun | srd_stream_start(conn->qp, params, conn->in, conn->in_octets, clock_now_ms());
    if (params->initiator || params->speaks_first)
        *actions |= srd_stream_release(conn->qp);
    if (!params->initiator && !params->rtr_expected)
        *actions |= SRD_STREAM_ESTABLISHED; /* no RTR will come, and perhaps no message */
    *actions |= SRD_STREAM_TX;              /* posted before there was a connection to send on */
    srd_life_add(&conn->life,
        SRD_CONN_STREAM | (*actions & SRD_STREAM_ESTABLISHED ? (unsigned)SRD_CONN_UP : 0));
    if (conn->in_octets)
        srd_conn_is_busy(conn);
    free(conn->in);
    conn->in = conn->out = NULL;
    conn->in_octets = conn->out_octets = conn->out_sent = 0;
    set_interest(conn, true, false);
    return 0;
}

void srd_conn_detach(struct srd_qp *qp)
{
    struct srd_conn *conn = srd_device_unbind_conn(qp);

    if (!conn)
        return;
    lock_acquire(conn->owner_lock); /* an attach under way has ended */
    /* No poll or post finds it from here on; one that is under way ends before this has the locks. */
    srd_cq_detach_source(qp->qp.send_cq, &conn->source);
    if (qp->qp.recv_cq != qp->qp.send_cq)
        srd_cq_detach_source(qp->qp.recv_cq, &conn->source);
    lock_acquire(&qp->rx_lock);
    lock_acquire(&qp->tx_lock);
    if (srd_conn_is_streaming(conn)) {
        collect_rest(conn);
        srd_life_add(&conn->life, SRD_CONN_LINGER); /* closed stays closed */
    }
    lock_release(&qp->tx_lock);
    lock_release(&qp->rx_lock);
    lock_release(conn->owner_lock);
    srd_conn_leave_busy(conn);
    if (srd_conn_in_phase(conn, SRD_CONN_LINGER))
        linger_begin(conn);
    srd_conn_unref(conn);
}

typedef unsigned (*end_of_stream)(struct srd_qp *qp, uint64_t now_ms);

static void end_stream(struct srd_conn *conn, end_of_stream end)
{
    unsigned actions = 0;

    /* The queue pair is not detached meanwhile; and an attach under way, before which there is no stream, has ended. */
    lock_acquire(conn->owner_lock);
    if (srd_conn_is_streaming(conn))
        actions = end(conn->qp, clock_now_ms());
    lock_release(conn->owner_lock);
    if (actions)
        srd_conn_apply(conn, actions);
}

void srd_conn_part(struct srd_conn *conn)
{
    end_stream(conn, srd_stream_part);
}

void srd_conn_disconnect(struct srd_conn *conn)
{
    end_stream(conn, srd_stream_disconnect);
}
