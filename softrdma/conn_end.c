/* SPDX-License-Identifier: MIT */
/* conn_end.c - how a connection's socket ends, in any phase: shut, closed, and its owner told. */
#include "softrdma/conn_int.h"

#include "softrdma/qp.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

void srd_conn_interest(struct srd_conn *conn, bool in, bool out)
{
    atomic_store_explicit(&conn->want_in, in, memory_order_relaxed);
    atomic_store_explicit(&conn->want_out, out, memory_order_relaxed);
    srd_source_update(&conn->source);
}

/* A program that binds the port next need not wait for TIME_WAIT; see cm_addr.c. */
static void let_port_go(int fd)
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

void srd_conn_shut(struct srd_conn *conn)
{
    if (atomic_exchange_explicit(&conn->shut, true, memory_order_relaxed))
        return;
    let_port_go(conn->source.fd);
    /*
     * The end that sends its FIN first keeps the port for a minute, unless it is answered by a reset: srd_conn_close.
     */
    if (!conn->soft_peer || !peer_has_shut(conn->source.fd))
        shutdown(conn->source.fd, SHUT_WR);
}

/* False: another thread closes it, or has. */
static bool close_socket(struct srd_conn *conn, bool reset)
{
    const struct linger at_once = { .l_onoff = 1 };
    struct srd_qp *qp = conn->qp;
    int fd;

    if (atomic_exchange(&conn->phase, SRD_CONN_CLOSED) == SRD_CONN_CLOSED)
        return false;
    srd_source_remove(&conn->source);
    if (qp) {
        lock_acquire(&qp->rx_lock);
        lock_acquire(&qp->tx_lock);
        lock_release(&qp->tx_lock);
        lock_release(&qp->rx_lock);
    }
    lock_acquire(&conn->linger_lock);
    fd = conn->source.fd;
    conn->source.fd = -1;
    lock_release(&conn->linger_lock);
    let_port_go(fd);
    if (reset)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(fd);
    return true;
}

/* By a reset where a softrdma peer has ended its side: srd_conn_shut. */
static bool close_in_order(struct srd_conn *conn)
{
    return close_socket(conn, conn->soft_peer && atomic_load(&conn->rx_ended));
}

void srd_conn_close(struct srd_conn *conn)
{
    close_in_order(conn);
}

void srd_conn_cut(struct srd_conn *conn)
{
    close_socket(conn, true);
}

void srd_conn_tell_down(struct srd_conn *conn, int status)
{
    if (atomic_exchange(&conn->down_told, true))
        return;
    /* The thread that found it established may be on its way to tell; it is told first, once. */
    if (atomic_load(&conn->up))
        conn->owner_ops->established(conn->owner, conn);
    conn->owner_ops->down(conn->owner, conn, status);
}

void srd_conn_finish(struct srd_conn *conn, int status)
{
    if (close_in_order(conn)) /* else whoever closes it tells, when its descriptor is free */
        srd_conn_tell_down(conn, status);
}
