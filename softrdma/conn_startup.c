/* SPDX-License-Identifier: MIT */
/* conn_startup.c - a connection's socket before the FPDU phase: the startup frames of the connection manager. */
#include "softrdma/conn_int.h"

#include "util/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int srd_conn_watch(struct srd_conn *conn, bool in, bool out)
{
    bool known = conn->source.slot != UINT32_MAX;

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
    if (conn->out_sent < conn->out_octets || count > sizeof(conn->out))
        return -EBUSY; /* one frame at a time, and none is longer */
    memcpy(conn->out, octets, count);
    conn->out_octets = count;
    conn->out_sent = 0;
    return srd_conn_flush(conn);
}

ssize_t srd_conn_fill(struct srd_conn *conn)
{
    ssize_t got;

    lock_assert_held(conn->owner_lock);
    if (conn->in_octets == sizeof(conn->in))
        return -EAGAIN;
    do
        got = recv(conn->source.fd, conn->in + conn->in_octets, sizeof(conn->in) - conn->in_octets,
            MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return -errno;
    conn->in_octets += (size_t)got;
    return got;
}

void srd_conn_linger(struct srd_conn *conn)
{
    lock_assert_held(conn->owner_lock);
    atomic_store(&conn->down_told, true);
    conn->rest =
        conn->out_sent < conn->out_octets ? malloc(conn->out_octets - conn->out_sent) : NULL;
    if (conn->rest) {
        conn->rest_octets = conn->out_octets - conn->out_sent;
        memcpy(conn->rest, conn->out + conn->out_sent, conn->rest_octets);
    }
    atomic_store_explicit(&conn->phase, SRD_CONN_LINGER, memory_order_release);
    srd_linger_begin(conn);
}
