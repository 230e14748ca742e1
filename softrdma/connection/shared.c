/* SPDX-License-Identifier: MIT */
/*
 * shared.c - a connection whose octets go through memory that both ends share. TCP stays connected and carries no data:
 * its end is the end of the stream, after the data in the memory.
 *
 * The socket by which the peer rings is a second source. A thread answers it under the RX lock: a reader that finds the
 * ring buffer empty marks itself as dozing before it drops that lock, so a bell that rings meanwhile stays for the
 * next.
 *
 * A thread that polls makes the connection attentive: the peer need not ring. The connection stops being attentive when
 * the thread leaves (it arms a queue, polls another connection, or is about to sleep in the reactor), or has not polled
 * for SRD_SOON_MS. A look at a queue that is armed does not make it attentive: the thread may sleep where the reactor
 * does not see it, at a descriptor.
 */
#include "softrdma/connection/internal.h"

#include "softrdma/queues/qp.h"
#include "softrdma/share/share.h"
#include "util/log.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

static struct srd_conn *of_bell(struct srd_source *bell)
{
    return container_of(bell, struct srd_conn, bell);
}

static uint32_t bell_interest(struct srd_source *bell)
{
    return atomic_load(&of_bell(bell)->bell_ended) ? 0 : EPOLLIN;
}

static void bell_free(struct srd_source *bell)
{
    srd_conn_unref(of_bell(bell));
}

static void bell_expired(struct srd_source *bell)
{
    (void)bell; /* paused for a while; the source is watched again */
}

static const struct srd_source_ops bell_ops = {
    .ready = srd_conn_bell,
    .expired = bell_expired,
    .interest = bell_interest,
    .free = bell_free,
};

void srd_conn_give_share(struct srd_conn *conn, struct srd_share *share)
{
    lock_assert_held(conn->owner_lock);
    conn->share = share;
    conn->shared = true;
    srd_source_init(&conn->bell, &bell_ops, srd_share_wake_fd(share));
    conn->bell.of = &conn->source;
    srd_conn_ref(conn);              /* the bell's */
    if (srd_source_add(&conn->bell)) /* logged: no thread would be woken, so it ends here */
        shutdown(conn->source.fd, SHUT_RDWR);
}

void srd_shared_remove(struct srd_conn *conn)
{
    if (!conn->shared)
        return;
    srd_source_remove(&conn->bell);
    srd_source_unref(&conn->bell);
}

void srd_shared_again(struct srd_conn *conn)
{
    atomic_store(&conn->again, true);
    srd_source_update(&conn->source);
}

void srd_shared_later(struct srd_conn *conn)
{
    atomic_store(&conn->later, true);
    srd_source_soon(&conn->source);
}

bool srd_shared_is_quiet(struct srd_conn *conn)
{
    return atomic_load_explicit(&conn->source.attentive, memory_order_relaxed) &&
           !atomic_load_explicit(&conn->rung, memory_order_relaxed) &&
           !atomic_load_explicit(&conn->look_at_tcp, memory_order_relaxed) && !conn->tcp_ended &&
           srd_share_is_quiet(conn->share) && srd_stream_has_heard(conn->qp);
}

bool srd_shared_answer(struct srd_conn *conn)
{
    if (!atomic_load_explicit(&conn->rung, memory_order_relaxed) ||
        !atomic_exchange(&conn->rung, false))
        return false;
    if (!srd_share_answer(
            conn->share)) { /* the peer has closed its socket, or the next read says why */
        atomic_store(&conn->bell_ended, true);
        atomic_store(&conn->look_at_tcp, true);
        srd_source_update(&conn->bell);
    }
    return true;
}

bool srd_shared_may_rest(struct srd_conn *conn)
{
    if (!atomic_load(&conn->source.attentive))
        return srd_share_doze(conn->share) && srd_stream_has_heard(conn->qp);
    srd_share_awake(conn->share);
    return true;
}

bool srd_shared_full(struct srd_conn *conn)
{
    return atomic_load(&conn->source.attentive) ? !srd_share_has_room(conn->share)
                                                : srd_share_want_room(conn->share);
}

/* The stream ends without a word of the peer's, so this end says why. */
static void say_broken(struct srd_conn *conn, int error)
{
    const char *what;

    switch (error) {
    case -ENOMEM: what = "the kernel has no memory for what its connection shares"; break;
    case -EPROTO: what = "the peer has broken the memory that its connection shares"; break;
    default:
        log_limited(LOG_WARN, LOG_SOFT,
            "queue pair 0x%x: the bell of the memory that its connection shares fails: %s; its "
            "connection ends (NDSPI_SOFT_SHM=0 keeps connections on TCP)",
            conn->qp->qp.qp_num, strerror(-error));
        return;
    }
    log_limited(
        LOG_WARN, LOG_SOFT, "queue pair 0x%x: %s; its connection ends", conn->qp->qp.qp_num, what);
}

/* Looks whether TCP has ended, and notes how. */
static void look_at_tcp(struct srd_conn *conn)
{
    uint8_t octet;
    ssize_t got;

    if (conn->tcp_ended)
        return;
    do
        got = recv(conn->source.fd, &octet, sizeof(octet), MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN)
        return;
    conn->tcp_ended = true;
    conn->tcp_error = !got ? 0 : got > 0 ? -EPROTO : -errno;
}

ssize_t srd_shared_recv(struct srd_conn *conn, const struct iovec *iov, int count)
{
    ssize_t got = srd_share_read(conn->share, iov, count);

    if (got < 0 && got != -EFAULT)
        say_broken(conn, (int)got);
    if (got)
        return got;
    if (!conn->tcp_ended && !atomic_load_explicit(&conn->look_at_tcp, memory_order_relaxed) &&
        !srd_share_ended(conn->share))
        return -EAGAIN;
    atomic_store_explicit(&conn->look_at_tcp, false, memory_order_relaxed);
    look_at_tcp(conn);
    if (!conn->tcp_ended)
        return -EAGAIN;
    /* What was written before the FIN is there now. */
    got = srd_share_read(conn->share, iov, count);
    return got ? got : conn->tcp_error;
}

/* What is in the share, as far as there is room; the peer rings for more. */
static ssize_t fill(struct srd_conn *conn, struct iovec room)
{
    size_t all = room.iov_len;
    ssize_t got = 0;

    while (room.iov_len && ((got = srd_share_read(conn->share, &room, 1)) > 0 ||
                               (!got && !srd_share_doze(conn->share)))) {
        room.iov_base = (uint8_t *)room.iov_base + got;
        room.iov_len -= (size_t)got;
    }
    return got < 0 ? got : (ssize_t)(all - room.iov_len);
}

ssize_t srd_shared_fill(struct srd_conn *conn, struct iovec room)
{
    ssize_t got, by_tcp;

    atomic_store(&conn->rung, true);
    srd_shared_answer(conn);
    if (!room.iov_len || (got = fill(conn, room)) != 0)
        return room.iov_len ? got : -EAGAIN;
    do
        by_tcp = recv(conn->source.fd, room.iov_base, room.iov_len, MSG_DONTWAIT);
    while (by_tcp < 0 && errno == EINTR);
    if (by_tcp > 0) /* a frame that refuses, or a Terminate: the peer has not begun */
        return by_tcp;
    if (by_tcp < 0 && errno == EAGAIN)
        return -EAGAIN;
    by_tcp = by_tcp ? -errno : 0;
    got = fill(conn, room); /* written before TCP ended */
    if (got <= 0)
        return got ? got : by_tcp;
    conn->tcp_ended = true;
    conn->tcp_error = (int)by_tcp;
    return got;
}

void srd_shared_polled(struct srd_conn *conn)
{
    atomic_store_explicit(&conn->source.looker, srd_source_here(), memory_order_relaxed);
    if (atomic_load_explicit(&conn->source.attentive, memory_order_relaxed) ||
        atomic_exchange(&conn->source.attentive, true))
        return;
    srd_source_soon(&conn->source);
}

/* Not srd_source_polls_since, which reports each poll once: the reactor needs it. */
static bool polled_since(struct srd_conn *conn)
{
    unsigned polls = atomic_load_explicit(&conn->source.polls, memory_order_relaxed);

    return atomic_exchange_explicit(&conn->attentive_polls, polls, memory_order_relaxed) != polls;
}

bool srd_shared_expired(struct srd_conn *conn)
{
    bool later = atomic_exchange(&conn->later, false);

    if (!atomic_load(&conn->source.attentive))
        return later;
    if (polled_since(conn))
        srd_source_soon(&conn->source);
    else
        atomic_store(&conn->source.attentive, false);
    atomic_store(&conn->look_at_tcp, true);
    return true;
}
