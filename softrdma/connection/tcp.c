/* SPDX-License-Identifier: MIT */
/* tcp.c - a connection whose octets go through its socket: the reactor finds what has come, and that there is room. */
#include "softrdma/connection/internal.h"

#include "softrdma/connection/serve.h"
#include "softrdma/connection/socket.h"
#include "softrdma/connection/transport.h"
#include "util/log.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* --- octets ------------------------------------------------------------------------------------------------------- */

/* A peer's octets may enter the program's memory here, otherwise by dma.h. */
static __attribute__((noinline)) ssize_t srd_dma_recv(
    struct srd_conn *conn, struct iovec *iov, int count)
{
    struct msghdr msg = { .msg_iov = iov, .msg_iovlen = (size_t)count };
    ssize_t got;

    if (count == 1)
        got = srd_socket_recv(conn->source.fd, iov->iov_base, iov->iov_len);
    else
        got = recvmsg(conn->source.fd, &msg, MSG_DONTWAIT);
    if (got >= 0)
        return got;
    return errno == EINTR ? -EAGAIN : -errno; /* it stays readable */
}

/* A gather takes octets straight from the program's memory. The responder of an RDMA Read gets no completion: its
 * program may change that memory as soon as it knows by other means that the Read is over. */
static __attribute__((noinline)) ssize_t srd_dma_send(
    struct srd_conn *conn, struct iovec *iov, int count)
{
    struct msghdr msg = { .msg_iov = iov, .msg_iovlen = (size_t)count };

    return sendmsg(conn->source.fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* What a call failed with: 0 where it is to be made again when there is room. */
static __attribute__((cold)) ssize_t not_sent(int error)
{
    return error == EAGAIN || error == ENOBUFS || error == ENOMEM ? 0 : -error;
}

static ssize_t write_socket(struct srd_conn *conn, struct iovec *iov, int count)
{
    ssize_t sent;

    do
        sent = count == 1 ? srd_socket_send(conn->source.fd, iov->iov_base, iov->iov_len)
                          : srd_dma_send(conn, iov, count);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? not_sent(errno) : sent;
}

/* --- the stream phase --------------------------------------------------------------------------------------------- */

static const struct srd_reader reader = { .read = srd_dma_recv };

static unsigned receive(struct srd_conn *conn, int budget, unsigned looks, bool *moved)
{
    bool more;

    (void)looks; /* a read finds the end */
    if (srd_life_has(&conn->life, SRD_CONN_RX_ENDED)) {
        srd_serve_want_in(conn, false);
        return 0;
    }
    return srd_serve_receive(conn, &reader, budget, moved, &more);
}

/* The reactor is to call when there is room: the interest follows tx_blocked. */
static void watch(struct srd_conn *conn)
{
    srd_source_update(&conn->source);
}

static bool watches(struct srd_conn *conn)
{
    watch(conn);
    return true;
}

/* The receive side finds that, too, after what arrived before: TCP has ended, or is ended here. */
static void failed(struct srd_conn *conn, int error)
{
    switch (error) {
    case EPIPE:
    case ECONNRESET:
    case ENOTCONN:
    case ETIMEDOUT:
    case EHOSTUNREACH:
    case ENETUNREACH: return;
    default: break;
    }
    log_limited(LOG_WARN, LOG_SOFT,
        "queue pair 0x%x: cannot send: %s; its connection ends (does a seccomp filter or a "
        "security module forbid it?)",
        conn->qp->qp.qp_num, strerror(error));
    shutdown(conn->source.fd, SHUT_RDWR);
}

static const struct srd_writer writer = {
    .write = write_socket,
    .rests = watches,
    .turn_over = watch,
    .failed = failed,
};

static unsigned send_all(struct srd_conn *conn, struct srd_turn *left, bool *all)
{
    return srd_serve_send(conn, &writer, left, all);
}

static bool ready(struct srd_conn *conn, uint32_t events)
{
    (void)conn;
    return events & (EPOLLOUT | EPOLLERR | EPOLLHUP);
}

static bool waits(struct srd_conn *conn)
{
    return atomic_load_explicit(&conn->tx_blocked, memory_order_relaxed);
}

/* The kernel takes in a packet from a peer on this host on the processor that sent it. */
static bool came_from_elsewhere(struct srd_conn *conn)
{
    int incoming, own = sched_getcpu();
    socklen_t size = sizeof(incoming);

    return own >= 0 &&
           !getsockopt(conn->source.fd, SOL_SOCKET, SO_INCOMING_CPU, &incoming, &size) &&
           incoming >= 0 && incoming != own;
}

/* --- outside of it ------------------------------------------------------------------------------------------------ */

static ssize_t fill(struct srd_conn *conn, struct iovec room)
{
    ssize_t got;

    if (!room.iov_len)
        return -EAGAIN;
    do
        got = recv(conn->source.fd, room.iov_base, room.iov_len, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

ssize_t srd_tcp_put(struct srd_conn *conn, const struct iovec *rest, bool *rings)
{
    ssize_t sent;

    *rings = false;
    do
        sent = send(conn->source.fd, rest->iov_base, rest->iov_len, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

const struct srd_transport srd_transport_tcp = {
    .turn = { 64 << 10, 16 },
    .receive = receive,
    .send = send_all,
    .ready = ready,
    .again = watch,
    .waits = waits,
    .apart = came_from_elsewhere,
    .fill = fill,
    .put = srd_tcp_put,
};
