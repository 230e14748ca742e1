/* SPDX-License-Identifier: MIT */
/* conn_end.c - how a connection's socket ends, in any phase: shut, closed, and its owner told. */
#include "softrdma/conn_int.h"

#include "softrdma/qp.h"

#include <sys/socket.h>
#include <unistd.h>

void srd_conn_interest(struct srd_conn *conn, bool in, bool out)
{
    atomic_store_explicit(&conn->want_in, in, memory_order_relaxed);
    atomic_store_explicit(&conn->want_out, out, memory_order_relaxed);
    srd_source_update(&conn->source);
}

void srd_conn_shut(struct srd_conn *conn)
{
    const int on = 1;

    if (atomic_exchange_explicit(&conn->shut, true, memory_order_relaxed))
        return;
    /* Whoever binds the port next need not wait for TIME_WAIT; see cm_addr.c. */
    setsockopt(conn->source.fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    shutdown(conn->source.fd, SHUT_WR);
}

void srd_conn_close(struct srd_conn *conn)
{
    struct srd_qp *qp = conn->qp;
    int fd;

    if (atomic_exchange(&conn->phase, SRD_CONN_CLOSED) == SRD_CONN_CLOSED)
        return;
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
    close(fd);
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
    srd_conn_close(conn);
    srd_conn_tell_down(conn, status);
}
