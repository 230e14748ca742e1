/* SPDX-License-Identifier: MIT */
/*
 * source.c - a connection as a source of the reactor: made and freed, what the reactor watches for, and who handles it
 * in each phase: the connection manager (startup), conn.c (stream), life.c (linger).
 */
#include "softrdma/connection/internal.h"

#include "softrdma/connection/transport.h"
#include "softrdma/queues/qp.h"
#include "softrdma/share/share.h"
#include "util/deadline.h"

#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

bool srd_conn_bell(struct srd_source *bell, uint32_t events, bool background)
{
    struct srd_conn *conn = container_of(bell, struct srd_conn, bell);

    (void)events;
    switch (srd_life_phase(&conn->life)) {
    case SRD_CONN_STARTUP: conn->owner_ops->ready(conn->owner, conn, EPOLLIN); break;
    case SRD_CONN_STREAM: return srd_conn_stream_rung(conn, background);
    case SRD_CONN_LINGER: srd_linger_step(conn); break;
    case SRD_CONN_CLOSED: break;
    }
    return true;
}

static bool on_ready(struct srd_source *source, uint32_t events, bool background)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    switch (srd_life_phase(&conn->life)) {
    case SRD_CONN_STARTUP: conn->owner_ops->ready(conn->owner, conn, events); break;
    case SRD_CONN_STREAM: return srd_conn_stream_ready(conn, events, background);
    case SRD_CONN_LINGER: srd_linger_step(conn); break;
    case SRD_CONN_CLOSED: break;
    }
    return true;
}

static void on_expired(struct srd_source *source)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    switch (srd_life_phase(&conn->life)) {
    case SRD_CONN_STARTUP: conn->owner_ops->expired(conn->owner, conn); break;
    case SRD_CONN_STREAM: srd_conn_stream_expired(conn); break;
    case SRD_CONN_LINGER: srd_linger_expired(conn); break;
    case SRD_CONN_CLOSED: break;
    }
}

static bool on_idle(struct srd_source *source)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    return srd_conn_is_streaming(conn) && !srd_stream_owes_ack(conn->qp);
}

static bool on_spent(struct srd_source *source)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    return !conn->transport->expired && on_idle(source);
}

static uint32_t on_interest(struct srd_source *source)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    bool in = atomic_load_explicit(&conn->want_in, memory_order_relaxed);
    bool out = srd_conn_is_streaming(conn)
                   ? conn->transport->waits(conn)
                   : atomic_load_explicit(&conn->want_out, memory_order_relaxed);

    return (in ? EPOLLIN : 0u) | (out ? EPOLLOUT : 0u);
}

static bool on_apart(struct srd_source *source)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    return conn->transport->apart(conn);
}

static void on_free(struct srd_source *source)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    if (source->fd >= 0)
        close(source->fd);
    if (conn->qp)
        srd_qp_unpin(conn->qp);
    conn->owner_ops->unref(conn->owner);
    if (conn->share)
        srd_share_free(conn->share);
    free(conn->rest);
    free(conn->in);
    free(conn);
}

static const struct srd_source_ops source_ops = {
    .ready = on_ready,
    .poll = srd_conn_poll,
    .enter = srd_conn_enter,
    .poll_entered = srd_conn_poll_entered,
    .expired = on_expired,
    .idle = on_idle,
    .spent = on_spent,
    .interest = on_interest,
    .apart = on_apart,
    .left = srd_conn_left,
    .free = on_free,
};

struct srd_conn *srd_conn_create(
    int fd, const struct srd_conn_owner_ops *owner_ops, void *owner, struct lock *owner_lock)
{
    struct srd_conn *conn = calloc(1, sizeof(*conn));

    if (!conn)
        return NULL;
    if (!(conn->in = malloc(SRD_CONN_STARTUP_OCTETS + SRD_MPA_FRAME_MAX))) {
        free(conn);
        return NULL;
    }
    conn->out = conn->in + SRD_CONN_STARTUP_OCTETS;
    srd_source_init(&conn->source, &source_ops, fd);
    conn->transport = &srd_transport_tcp;
    conn->owner_ops = owner_ops;
    conn->owner = owner;
    conn->owner_lock = owner_lock;
    lock_init(&conn->linger_lock, LOCK_SRD_TX, "softrdma linger");
    atomic_init(&conn->close_ms, UINT64_MAX);
    conn->close_again = DEADLINE_AGAIN;
    list_node_init(&conn->idle_node);
    return conn;
}
