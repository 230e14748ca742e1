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

#include "softrdma/connection/serve.h"
#include "softrdma/connection/transport.h"
#include "softrdma/queues/qp.h"
#include "softrdma/share/share.h"
#include "util/log.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* Reads in a row that discard; checks of a share whose peer has data left to read. */
enum { DISCARDS = 16, IDLE_TRIES = 8 };

/* --- the bell ----------------------------------------------------------------------------------------------------- */

static struct srd_conn *of_bell(struct srd_source *bell)
{
    return container_of(bell, struct srd_conn, bell);
}

static uint32_t bell_interest(struct srd_source *bell)
{
    (void)bell;
    return EPOLLIN;
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
    conn->transport = &srd_transport_shared;
    srd_source_init(&conn->bell, &bell_ops, srd_share_wake_fd(share));
    conn->bell.of = &conn->source;
    srd_conn_ref(conn);              /* the bell's */
    if (srd_source_add(&conn->bell)) /* logged: no thread would be woken, so it ends here */
        shutdown(conn->source.fd, SHUT_RDWR);
}

static void close_bell(struct srd_conn *conn)
{
    srd_source_remove(&conn->bell);
    srd_source_unref(&conn->bell);
}

/*
 * RX lock, linger lock or the owner's held. Answers what was rung. False: the peer has closed its socket, or the next
 * read says why: the bell is not watched any more, and TCP is to be looked at.
 */
static bool answer(struct srd_conn *conn)
{
    if (srd_share_answer(conn->share))
        return true;
    srd_source_remove(&conn->bell);
    return false;
}

/* --- receiving ---------------------------------------------------------------------------------------------------- */

/* Any lock below LOCK_SRD_CHANNEL. Its turn is over, and it is to have another. */
static void again(struct srd_conn *conn)
{
    atomic_store(&conn->again, true);
    srd_source_update(&conn->source);
}

/* A thread that polls has nothing to do: a read would find nothing, and nothing changes. */
static bool is_quiet(struct srd_conn *conn)
{
    return srd_watch_has(&conn->source.watch, SRD_WATCH_ATTENTIVE) && !conn->tcp_end &&
           srd_share_is_quiet(conn->share) && srd_stream_has_heard(conn->qp);
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

/* Looks whether TCP has ended, and notes how. What was written before the FIN is in the share then. */
static void look_at_tcp(struct srd_conn *conn)
{
    uint8_t octet;
    ssize_t got;

    if (conn->tcp_end)
        return;
    do
        got = recv(conn->source.fd, &octet, sizeof(octet), MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    if (got < 0 && errno == EAGAIN)
        return;
    conn->tcp_end = !got ? 1 : got > 0 ? -EPROTO : -errno;
}

static ssize_t read_share(struct srd_conn *conn, struct iovec *iov, int count)
{
    ssize_t got = srd_share_read(conn->share, iov, count);

    if (got > 0) /* it reads until it dozes: nobody has to ring for what is found */
        srd_share_awake(conn->share);
    else if (got < 0 && got != -EFAULT)
        say_broken(conn, (int)got);
    if (got)
        return got;
    if (!conn->tcp_end) { /* else it ended before this read */
        if (!srd_share_ended(conn->share))
            return -EAGAIN;
        look_at_tcp(conn);
        if (!conn->tcp_end)
            return -EAGAIN;
        if ((got = srd_share_read(conn->share, iov, count)))
            return got;
    }
    return conn->tcp_end < 0 ? conn->tcp_end : 0;
}

/* What the peer says by the words of the share. */
static unsigned hear(struct srd_conn *conn, bool *moved)
{
    if (srd_stream_has_heard(conn->qp))
        return 0;
    *moved = true;
    return srd_stream_hear(conn->qp, SRD_STREAM_NOW);
}

static bool is_attentive(struct srd_conn *conn)
{
    return srd_watch_has(&conn->source.watch, SRD_WATCH_ATTENTIVE);
}

bool srd_shared_may_rest(struct srd_conn *conn)
{
    if (!is_attentive(conn))
        return srd_share_doze(conn->share) && srd_stream_has_heard(conn->qp);
    srd_share_awake(conn->share);
    return true;
}

static const struct srd_reader reader = {
    .read = read_share,
    .hear = hear,
    .stops_short = is_attentive, /* the thread that polls looks again */
    .rests = srd_shared_may_rest,
};

/* Apart from receive, so that a poll in vain is short. */
static __attribute__((noinline)) unsigned read_all(
    struct srd_conn *conn, int budget, unsigned looks, bool *moved)
{
    unsigned actions;
    bool more;

    if (looks & SRD_LOOK_BELL) {
        if (!answer(conn))
            looks |= SRD_LOOK_TCP;
        if (atomic_load(&conn->tx_blocked))
            again(conn); /* it may have rung because there is room */
    }
    if (srd_life_has(&conn->life, SRD_CONN_RX_ENDED)) {
        srd_serve_want_in(
            conn, false); /* an end stays readable, and a thread may have asked for another read */
        return 0;
    }
    if (looks & SRD_LOOK_TCP)
        look_at_tcp(conn);
    actions = srd_serve_receive(conn, &reader, budget, moved, &more);
    if (more && !is_attentive(conn))
        again(conn);
    return actions;
}

static unsigned receive(struct srd_conn *conn, int budget, unsigned looks, bool *moved)
{
    return !looks && is_quiet(conn) ? 0 : read_all(conn, budget, looks, moved);
}

/* --- sending ------------------------------------------------------------------------------------------------------ */

static ssize_t write_share(struct srd_conn *conn, struct iovec *iov, int count)
{
    return srd_share_write(conn->share, iov, count);
}

static bool has_room(struct srd_conn *conn)
{
    return srd_share_has_room(conn->share);
}

static bool is_full(struct srd_conn *conn)
{
    return is_attentive(conn) ? !has_room(conn) : srd_share_want_room(conn->share);
}

static void turn_over(struct srd_conn *conn)
{
    if (!is_attentive(conn)) /* a thread that polls goes on by itself */
        again(conn);
}

/* A share is broken for both sides: the receive side finds that, too, after what arrived before. */
static void failed(struct srd_conn *conn, int error)
{
    (void)error;
    again(conn);
}

static const struct srd_writer writer = {
    .write = write_share,
    .rests = is_full,
    .turn_over = turn_over,
    .failed = failed,
};

static unsigned send_all(struct srd_conn *conn, struct srd_turn *left, bool *all)
{
    unsigned actions = srd_serve_send(conn, &writer, left, all);

    if (actions & SRD_STREAM_RING)
        srd_share_wake(conn->share);
    return actions & ~(unsigned)SRD_STREAM_RING;
}

static void end(struct srd_conn *conn)
{
    srd_share_end(conn->share);
}

/* --- who looks ---------------------------------------------------------------------------------------------------- */

static unsigned begin(struct srd_conn *conn)
{
    srd_stream_by_words(conn->qp, srd_share_tells(conn->share), srd_share_told(conn->share));
    return SRD_STREAM_RX; /* what came meanwhile was not rung for */
}

static bool ready(struct srd_conn *conn, uint32_t events)
{
    (void)events;
    atomic_store(&conn->again, false);
    srd_source_update(&conn->source);
    return true;
}

static void polled(struct srd_conn *conn)
{
    atomic_store_explicit(&conn->source.looker, srd_source_here(), memory_order_relaxed);
    if (srd_watch_attend(&conn->source.watch))
        srd_source_soon(&conn->source);
}

static bool expired(struct srd_conn *conn)
{
    unsigned was = srd_watch_expire(&conn->source.watch);

    if (was & SRD_WATCH_RECENT) /* it is attentive still */
        srd_source_soon(&conn->source);
    return was & SRD_WATCH_ATTENTIVE;
}

static bool waits(struct srd_conn *conn)
{
    return atomic_load_explicit(&conn->again, memory_order_relaxed);
}

static bool is_apart(struct srd_conn *conn)
{
    return srd_share_is_apart(conn->share);
}

/* The peer may be late in reading what came last; not for ever. */
static bool give_back(struct srd_conn *conn, bool idle)
{
    if (idle && (srd_share_give_back(conn->share) || ++conn->idle_tries == IDLE_TRIES)) {
        conn->idle_tries = 0;
        return true;
    }
    srd_share_trim(conn->share);
    return false;
}

/* --- outside of the stream phase ---------------------------------------------------------------------------------- */

/* What is in the share, as far as there is room; the peer rings for more. */
static ssize_t fill_from_share(struct srd_conn *conn, struct iovec room)
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

static ssize_t fill(struct srd_conn *conn, struct iovec room)
{
    ssize_t got, by_tcp;

    answer(conn);
    if (!room.iov_len || (got = fill_from_share(conn, room)) != 0)
        return room.iov_len ? got : -EAGAIN;
    do
        by_tcp = recv(conn->source.fd, room.iov_base, room.iov_len, MSG_DONTWAIT);
    while (by_tcp < 0 && errno == EINTR);
    if (by_tcp > 0) /* a frame that refuses, or a Terminate: the peer has not begun */
        return by_tcp;
    if (by_tcp < 0 && errno == EAGAIN)
        return -EAGAIN;
    by_tcp = by_tcp ? -errno : 0;
    got = fill_from_share(conn, room); /* written before TCP ended */
    if (got <= 0)
        return got ? got : by_tcp;
    conn->tcp_end = by_tcp ? (int)by_tcp : 1;
    return got;
}

static ssize_t put(struct srd_conn *conn, const struct iovec *rest, bool *rings)
{
    ssize_t done;

    if (!conn->qp) /* a frame of the startup goes by TCP */
        return srd_tcp_put(conn, rest, rings);
    *rings = true;
    do
        done = srd_share_write(conn->share, rest, 1);
    while (!done && !srd_share_want_room(conn->share));
    return done ? done : -EAGAIN;
}

static bool discard(struct srd_conn *conn, struct iovec scratch)
{
    ssize_t got = 1;

    answer(conn);
    for (int i = 0; i < DISCARDS && got > 0; i++)
        got = srd_share_read(conn->share, &scratch, 1);
    return got > 0 || (!got && !srd_share_doze(conn->share));
}

/* A copy into the share takes a quarter of the time of one into a socket. */
const struct srd_transport srd_transport_shared = {
    .turn = { 256 << 10, 16 },
    .receive = receive,
    .send = send_all,
    .has_room = has_room,
    .begin = begin,
    .end = end,
    .ready = ready,
    .again = again,
    .polled = polled,
    .expired = expired,
    .waits = waits,
    .apart = is_apart,
    .give_back = give_back,
    .fill = fill,
    .put = put,
    .discard = discard,
    .close = close_bell,
};
