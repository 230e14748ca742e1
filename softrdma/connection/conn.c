/* SPDX-License-Identifier: MIT */
/*
 * conn.c - a connection in its stream phase: the octets between the socket and the protocol engine, and the end.
 *
 * The receive side runs under the queue pair's RX lock, the send side under its TX lock; a thread that finds a lock
 * taken leaves the work to the holder, unless the holder is the background thread (enter). apply_actions carries out
 * the stream's actions after the locks are dropped.
 */
#include "softrdma/connection/conn.h"

#include "softrdma/connection/internal.h"
#include "softrdma/share/share.h"
#include "softrdma/queues/cq.h"
#include "softrdma/context.h"
#include "softrdma/events/patience.h"
#include "softrdma/queues/qp.h"
#include "softrdma/connection/socket.h"
#include "util/clock.h"
#include "util/deadline.h"
#include "util/log.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* Reads in a row by one thread before others get their turn. */
enum { RX_BUDGET_INLINE = 4, RX_BUDGET_LOOP = 16 };
/*
 * How much a thread sends for one connection before others get their turn: a post, whose thread is the program's own;
 * and all other threads, which serve many connections. A copy into shared memory takes a quarter of the time of one
 * into a socket. The rest waits for its next turn as for space in the socket.
 */
static const struct turn {
    size_t octets;
    int calls;
} turn_of_post = { 4 << 20, 64 }, turn_of_service = { 64 << 10, 16 },
  turn_of_shared = { 256 << 10, 16 };
/* A peer's octets may enter the program's memory here, otherwise by dma.h. Octets or a negative errno. */
static __attribute__((noinline)) ssize_t srd_dma_recv(int fd, struct iovec *iov, int count)
{
    struct msghdr msg = { .msg_iov = iov, .msg_iovlen = (size_t)count };
    ssize_t got;

    if (count == 1)
        got = srd_socket_recv(fd, iov->iov_base, iov->iov_len);
    else
        got = recvmsg(fd, &msg, MSG_DONTWAIT);
    return got < 0 ? -errno : got;
}

/* A gather takes octets straight from the program's memory. The responder of an RDMA Read gets no completion: its
 * program may change that memory as soon as it knows by other means that the Read is over. */
static __attribute__((noinline)) ssize_t srd_dma_send(int fd, struct iovec *iov, int count)
{
    struct msghdr msg = { .msg_iov = iov, .msg_iovlen = (size_t)count };

    return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* TX lock held. Octets, 0 where there is no room in a share, or a negative errno. */
static ssize_t put(struct srd_conn *conn, struct iovec *iov, int count)
{
    ssize_t sent;

    if (conn->shared)
        return srd_share_write(conn->share, iov, count);
    sent = count == 1 ? srd_socket_send(conn->source.fd, iov->iov_base, iov->iov_len)
                      : srd_dma_send(conn->source.fd, iov, count);
    return sent < 0 ? -errno : sent;
}

/*
 * TX lock held: it is full. Returns whether to wait for space. Set the flag before looking: a reader that frees space
 * between the two finds the flag, and so does the thread that polled and leaves.
 */
static bool is_blocked(struct srd_conn *conn)
{
    atomic_store(&conn->tx_blocked, true);
    if (!conn->shared || srd_shared_full(conn))
        return true;
    atomic_store(&conn->tx_blocked, false);
    return false;
}

/* TX lock held: the turn is over. The rest is sent like data that waits for space. */
static void end_turn(struct srd_conn *conn)
{
    atomic_store(&conn->tx_blocked, true);
    if (conn->shared &&
        !atomic_load(&conn->source.attentive)) /* a thread that polls goes on by itself */
        srd_shared_again(conn);
}

static size_t iov_octets(const struct iovec *iov, int count)
{
    size_t octets = 0;

    for (int i = 0; i < count; i++)
        octets += iov[i].iov_len;
    return octets;
}

/* The lock is taken: waits only for the background thread. Returns whether the caller has the lock now. */
static __attribute__((noinline)) bool enter_behind(
    struct srd_conn *conn, struct lock *lock, atomic_uint *waiting)
{
    if (!atomic_load(&conn->source.attended) || srd_in_background())
        return false;
    atomic_fetch_add(waiting, 1);
    lock_acquire(lock);
    atomic_fetch_sub(waiting, 1);
    return true;
}

/*
 * enter - takes the lock of one side, or leaves the work to its holder.
 * waiting  counts the waiting threads, to which the background thread gives way
 * Returns whether the caller has the lock. It waits only for the background thread, which is here because this
 * connection was quiet, and may be preempted: until it runs again its data is not delivered and posts are not sent, and
 * a thread that polls would keep it from running. It gives way after one system call.
 */
static bool enter(struct srd_conn *conn, struct lock *lock, atomic_uint *waiting)
{
    return lock_try(lock) || enter_behind(conn, lock, waiting);
}

/*
 * Holder of the lock: whether to let a waiting thread in. That thread counts as waiting until it has the lock, so it
 * comes after this holder, and does the rest.
 */
static bool must_give_way(struct srd_conn *conn, atomic_uint *waiting)
{
    return atomic_load(waiting) &&
           atomic_load_explicit(&conn->source.attended, memory_order_relaxed) &&
           srd_in_background();
}

/* A short read: a socket becomes readable again, and a thread that polls a share looks again. */
static bool may_stop_short(struct srd_conn *conn)
{
    return !conn->shared || atomic_load(&conn->source.attentive);
}

/* RX lock held: what the peer says by the words of a share. */
static unsigned hear(struct srd_conn *conn, bool *moved)
{
    if (srd_stream_has_heard(conn->qp))
        return 0;
    *moved = true;
    return srd_stream_hear(conn->qp, SRD_STREAM_NOW);
}

/* RX lock held, stream phase. */
static unsigned receive(struct srd_conn *conn, int budget, bool *moved)
{
    struct iovec iov[SRD_RX_IOV];
    unsigned actions = 0;
    bool rests = false;

    while (budget-- > 0 && !(actions & (SRD_STREAM_CLOSE | SRD_STREAM_DOWN))) {
        int count = srd_stream_rx_space(conn->qp, iov);
        ssize_t got;

        if (!count) {
            atomic_store_explicit(&conn->want_in, false, memory_order_relaxed);
            return actions;
        }
        got = conn->shared ? srd_shared_recv(conn, iov, count)
                           : srd_dma_recv(conn->source.fd, iov, count);
        actions |= hear(conn, moved);
        if (got > 0) {
            *moved = true;
            if (!atomic_load_explicit(&conn->busy, memory_order_relaxed))
                srd_conn_is_busy(conn);
            actions |= srd_stream_rx(conn->qp, (size_t)got, SRD_STREAM_NOW);
            if (actions & SRD_STREAM_ESTABLISHED)
                atomic_store(&conn->up, true);
            if (must_give_way(conn, &conn->rx_waiting) ||
                ((size_t)got < iov_octets(iov, count) && may_stop_short(conn)))
                break;
            continue;
        }
        if (got == -EFAULT && srd_stream_rx_fault(conn->qp))
            continue;
        actions |= srd_stream_rx(conn->qp, 0, 0);
        if (got == -EAGAIN || got == -EINTR) {
            rests = !conn->shared || srd_shared_may_rest(conn);
            if (rests)
                break;
            continue;
        }
        *moved = true;
        atomic_store_explicit(&conn->rx_ended, true, memory_order_relaxed);
        atomic_store_explicit(&conn->want_in, false, memory_order_relaxed);
        return actions | srd_stream_rx_end(conn->qp, (int)-got, clock_now_ms());
    }
    atomic_store_explicit(&conn->want_in, true, memory_order_relaxed);
    /* Also once the stream is down: what comes is dropped, which makes room for a peer that has still to hear of it. */
    if (conn->shared && !rests && !atomic_load(&conn->source.attentive) &&
        !(actions & SRD_STREAM_CLOSE))
        srd_shared_again(conn);
    return actions;
}

/* Returns whether the lock was free; ors into actions. */
static bool try_receive(struct srd_conn *conn, int budget, unsigned *actions, bool *moved)
{
    bool was_in, is_in;

    if (!enter(conn, &conn->qp->rx_lock, &conn->rx_waiting))
        return false;
    if (conn->shared && srd_conn_in_phase(conn, SRD_CONN_STREAM)) {
        if (srd_shared_is_quiet(conn)) {
            lock_release(&conn->qp->rx_lock);
            return true;
        }
        if (srd_shared_answer(conn) && atomic_load(&conn->tx_blocked))
            srd_shared_again(conn); /* it may have rung because there is room */
    }
    if (!srd_conn_in_phase(conn, SRD_CONN_STREAM) ||
        atomic_load_explicit(&conn->rx_ended, memory_order_relaxed)) {
        lock_release(&conn->qp->rx_lock);
        return true;
    }
    was_in = atomic_load_explicit(&conn->want_in, memory_order_relaxed);
    *actions |= receive(conn, budget, moved);
    is_in = atomic_load_explicit(&conn->want_in, memory_order_relaxed);
    lock_release(&conn->qp->rx_lock);
    if (was_in != is_in)
        srd_source_update(&conn->source);
    return true;
}

/* How many entries have so many octets, or more by less than an entry; all of them may not. */
static int entries_with(const struct iovec *iov, int count, size_t octets)
{
    size_t seen = 0;
    int n = 0;

    while (n < count && seen < octets)
        seen += iov[n++].iov_len;
    return n;
}

/*
 * Writing is over. The receive side finds that, too, after what arrived before: a share is broken for both sides, and
 * TCP has ended, or is ended here.
 */
static void fail_tx(struct srd_conn *conn, int error)
{
    atomic_store_explicit(&conn->tx_error, error, memory_order_relaxed);
    if (conn->shared)
        return;
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

/*
 * TX lock held, stream phase.
 * left  in, out: of the turn
 * all   out; false: a waiting thread sends the rest
 */
static unsigned send_all(struct srd_conn *conn, struct turn *left, bool *all)
{
    struct iovec iov[SRD_TX_IOV];
    const uint64_t now_ms = SRD_STREAM_NOW;
    unsigned actions = 0;
    bool told = false; /* the peer may have to be woken for it */

    *all = true;
    while (!atomic_load_explicit(&conn->tx_error, memory_order_relaxed)) {
        int count = srd_stream_tx(conn->qp, iov, now_ms, &actions);
        ssize_t sent;

        told |= actions & SRD_STREAM_RING;
        actions &= ~(unsigned)SRD_STREAM_RING;
        if (!count) {
            if (atomic_load_explicit(&conn->shutdown_wanted, memory_order_relaxed))
                srd_conn_shut(conn);
            break;
        }
        count = left->calls-- > 0 ? entries_with(iov, count, left->octets) : 0;
        if (!count) {
            actions |= srd_stream_tx_done(conn->qp, 0, now_ms);
            end_turn(conn);
            break;
        }
        sent = put(conn, iov, count);
        if (sent < 0) {
            int error = (int)-sent;
            if (error == EFAULT) {
                actions |= srd_stream_tx_fault(conn->qp);
                continue;
            }
            actions |= srd_stream_tx_done(conn->qp, 0, now_ms);
            if (error == EINTR)
                continue;
            if (error == EAGAIN || error == ENOBUFS || (error == ENOMEM && !conn->shared))
                atomic_store_explicit(&conn->tx_blocked, true, memory_order_relaxed);
            else
                fail_tx(conn, error);
            if (conn->shared)
                srd_shared_again(conn);
            break;
        }
        if (sent && !atomic_load_explicit(&conn->busy, memory_order_relaxed))
            srd_conn_is_busy(conn);
        told &= !sent;
        actions |= srd_stream_tx_done(conn->qp, (size_t)sent, now_ms);
        left->octets -= (size_t)sent < left->octets ? (size_t)sent : left->octets;
        if ((size_t)sent < iov_octets(iov, count) && is_blocked(conn))
            break;
        if (!srd_stream_has_more(conn->qp) &&
            !atomic_load_explicit(&conn->shutdown_wanted, memory_order_relaxed))
            break;
        if (must_give_way(conn, &conn->tx_waiting)) {
            *all = false;
            break;
        }
    }
    if (told)
        srd_share_wake(conn->share);
    return actions & ~(unsigned)SRD_STREAM_TX;
}

/* Takes the send side, if there may be something to send now. */
static bool enter_tx(struct srd_conn *conn)
{
    return srd_conn_in_phase(conn, SRD_CONN_STREAM) &&
           !atomic_load_explicit(&conn->tx_blocked, memory_order_relaxed) &&
           enter(conn, &conn->qp->tx_lock, &conn->tx_waiting);
}

/* The same if a thread that found the lock taken has set tx_pending. */
static bool enter_noted(struct srd_conn *conn)
{
    if (!atomic_load(&conn->tx_pending) || !enter_tx(conn))
        return false;
    atomic_store(&conn->tx_pending, false);
    return true;
}

static unsigned transmit(struct srd_conn *conn, struct turn turn)
{
    unsigned actions = 0;
    bool all = true, taken = enter_tx(conn); /* mostly it is free, and nothing has to be noted */

    if (!taken) {
        (void)atomic_exchange(&conn->tx_pending, true); /* see srd_conn_send_noted */
        /* pairs with the holder's: it sees the note, or this thread sees its lock free */
        atomic_thread_fence(memory_order_seq_cst);
        taken = enter_noted(conn);
    }
    while (taken) {
        bool blocked = false;

        if (srd_conn_in_phase(conn, SRD_CONN_STREAM)) {
            actions |= send_all(conn, &turn, &all);
            blocked = atomic_load_explicit(&conn->tx_blocked, memory_order_relaxed);
        }
        lock_release(&conn->qp->tx_lock);
        atomic_thread_fence(
            memory_order_seq_cst); /* the release, before looking for who came meanwhile */
        if (blocked && !conn->shared)
            srd_source_update(&conn->source);
        taken = all && enter_noted(conn);
    }
    return actions;
}

/* There may be room again. */
static unsigned unblock(struct srd_conn *conn)
{
    unsigned actions;

    if (!atomic_exchange(&conn->tx_blocked, false))
        return 0;
    actions = transmit(conn, conn->shared ? turn_of_shared : turn_of_service);
    if (!conn->shared) /* the last thread to change the flag updates the source last, which reads it anew */
        srd_source_update(&conn->source);
    return actions;
}

/* A look at the ring by a thread that polls: whether there is no room in it. */
static bool is_full(struct srd_conn *conn)
{
    bool full = false;

    if (!conn->shared)
        return false;
    if (!lock_try(&conn->qp->tx_lock))
        return true; /* its holder looks */
    if (srd_conn_in_phase(conn, SRD_CONN_STREAM))
        full = !srd_share_has_room(conn->share);
    lock_release(&conn->qp->tx_lock);
    srd_conn_send_noted(conn); /* it may not be blocked any more */
    return full;
}

/*
 * Gives the reactor the connection's deadlines. An owed acknowledgement is due soon after it is first owed; the
 * deadline stays when the acknowledgement rides on data. A full socket has no deadline: the thread that finds space
 * again sends, and calls this.
 */
static void sync_deadline(struct srd_conn *conn)
{
    bool soon = srd_source_is_soon(&conn->source); /* before anything else is read */

    if (srd_conn_in_phase(conn, SRD_CONN_CLOSED))
        return;
    if (!srd_conn_in_phase(conn, SRD_CONN_STREAM)) {
        srd_source_due(&conn->source, atomic_load_explicit(&conn->close_ms, memory_order_relaxed));
        return;
    }
    srd_source_due(&conn->source, srd_stream_deadline_ms(conn->qp));
    if (!soon && srd_stream_may_ack(conn->qp) &&
        !atomic_load_explicit(&conn->tx_blocked, memory_order_relaxed) &&
        !atomic_load_explicit(&conn->tx_error, memory_order_relaxed))
        srd_source_soon(&conn->source);
}

static unsigned run_timer(struct srd_conn *conn)
{
    unsigned actions = 0;

    lock_acquire(&conn->qp->rx_lock);
    if (srd_conn_in_phase(conn, SRD_CONN_STREAM))
        actions = srd_stream_timer(conn->qp, clock_now_ms());
    lock_release(&conn->qp->rx_lock);
    return actions;
}

static void read_again(struct srd_conn *conn)
{
    atomic_store_explicit(&conn->want_in, true, memory_order_relaxed);
    if (conn->shared)
        srd_shared_again(conn);
    else
        srd_source_update(&conn->source);
}

/* The peer did not close its side in time. */
static void cut_late(struct srd_conn *conn)
{
    log_limited(LOG_INFO, LOG_WIRE,
        "the peer did not close its side within %d ms; the connection is cut", SRD_CONN_CLOSE_MS);
    srd_conn_finish(conn, -ETIMEDOUT);
}

/* No lock held. */
static void apply_actions(struct srd_conn *conn, unsigned actions)
{
    while (actions) {
        unsigned now = actions;

        actions = now & SRD_STREAM_SETTLE ? run_timer(conn) : 0;
        if (now & SRD_STREAM_ESTABLISHED)
            conn->owner_ops->established(conn->owner, conn);
        if (now & SRD_STREAM_DOWN)
            atomic_store(&conn->down, true);
        if (now & SRD_STREAM_SHUTDOWN) {
            atomic_store_explicit(
                &conn->close_ms, clock_now_ms() + SRD_CONN_CLOSE_MS, memory_order_relaxed);
            atomic_store(&conn->shutdown_wanted, true);
        }
        if (now & SRD_STREAM_RX) {
            bool moved = false;

            /* Another thread has the lock, and need not be reading: then the socket shows that there is something. */
            if (!try_receive(conn, RX_BUDGET_LOOP, &actions, &moved))
                read_again(conn);
        }
        if (now & (SRD_STREAM_TX | SRD_STREAM_SHUTDOWN))
            actions |= transmit(conn, turn_of_service);
        if (now & SRD_STREAM_CLOSE) {
            if (now & SRD_STREAM_LATE)
                cut_late(conn);
            else
                srd_conn_finish(conn, 0);
            return;
        }
    }
    if (atomic_load(&conn->down)) {
        bool ended = atomic_load(&conn->rx_ended);

        if (ended && (atomic_load(&conn->shut) || atomic_load(&conn->tx_error))) {
            srd_conn_finish(conn, 0);
            return;
        }
        if (ended || !atomic_load(&conn->local_end))
            srd_conn_report_down(conn, 0);
    }
    sync_deadline(conn);
}

void srd_conn_transmit(struct srd_conn *conn)
{
    unsigned actions = transmit(conn, turn_of_post);

    if (actions)
        apply_actions(conn, actions);
}

void srd_conn_started(struct srd_conn *conn, unsigned actions)
{
    apply_actions(conn, actions);
}

void srd_conn_apply(struct srd_conn *conn, unsigned actions)
{
    /* An attach under way has begun the stream, and has still to say so: closed before that, it would come up again. */
    lock_acquire(conn->owner_lock);
    lock_release(conn->owner_lock);
    if (actions & SRD_STREAM_DOWN)
        atomic_store(&conn->local_end, true);
    apply_actions(conn, actions);
}

/* One more look by a polling thread: is it time to send an acknowledgement that is owed? */
static bool patience_ends(struct srd_conn *conn)
{
    unsigned looks = 0;
    bool ends = false;

    if (srd_stream_owes_ack(conn->qp)) {
        looks = atomic_load_explicit(&conn->owing, memory_order_relaxed) + 1;
        ends = looks >= SRD_SOON_LOOKS;
    }
    atomic_store_explicit(&conn->owing, ends ? 0 : looks, memory_order_relaxed);
    return ends;
}

static bool on_poll(struct srd_source *source, bool again)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);
    unsigned actions = 0;
    bool moved = false, blocked;

    if (!srd_conn_in_phase(conn, SRD_CONN_STREAM))
        return false;
    if (again) {
        srd_source_polled(&conn->source);
        if (conn->shared)
            srd_shared_polled(conn);
    }
    blocked = atomic_load_explicit(&conn->tx_blocked, memory_order_relaxed);
    if (blocked && atomic_fetch_add_explicit(&conn->turn, 1, memory_order_relaxed) % 2 &&
        !is_full(conn))
        actions = unblock(conn);
    else if (!blocked && patience_ends(conn))
        actions = transmit(conn, turn_of_service);
    else /* while the socket is full this side still reads: two peers that both write must not wait for each other */
        try_receive(conn, RX_BUDGET_INLINE, &actions, &moved);
    if (actions || moved || blocked)
        apply_actions(conn, actions);
    return moved || actions;
}

/* Octets have come for a thread that sleeps. As the connection closes it is forgotten after its phase was changed. */
static void was_awaited(struct srd_conn *conn)
{
    srd_patience_awaited(&conn->source);
    if (!srd_conn_in_phase(conn, SRD_CONN_STREAM))
        srd_patience_forget(&conn->source);
}

static bool stream_ready(struct srd_conn *conn, uint32_t events, bool background)
{
    unsigned actions = 0;
    bool moved = false;

    if (conn->shared) {
        atomic_store(&conn->look_at_tcp, true);
        atomic_store(&conn->again, false);
        srd_source_update(&conn->source);
    }
    if (conn->shared || events & (EPOLLOUT | EPOLLERR | EPOLLHUP))
        actions |= unblock(conn);
    if (!try_receive(conn, RX_BUDGET_LOOP, &actions, &moved) && conn->shared)
        srd_shared_later(conn); /* its holder may have looked before the last octet came */
    if (moved && (!background || reactor_is_lent()) && reactor_in_turn())
        was_awaited(conn); /* else a thread that polls has found it */
    if (background && srd_stream_owes_ack(conn->qp))
        actions |= SRD_STREAM_TX;
    apply_actions(conn, actions);
    return moved || !(events & EPOLLIN);
}

/* The reader answers the bell; then this sends what there is space for. */
static bool stream_rung(struct srd_conn *conn, bool background)
{
    unsigned actions = 0;
    bool moved = false, answered;

    atomic_store(&conn->rung, true);
    answered = try_receive(conn, RX_BUDGET_LOOP, &actions, &moved);
    if (moved)
        was_awaited(conn);
    actions |= unblock(conn);
    if (background && srd_stream_owes_ack(conn->qp))
        actions |= SRD_STREAM_TX;
    apply_actions(conn, actions);
    return answered;
}

bool srd_conn_bell(struct srd_source *bell, uint32_t events, bool background)
{
    struct srd_conn *conn = container_of(bell, struct srd_conn, bell);

    (void)events;
    switch (atomic_load_explicit(&conn->phase, memory_order_acquire)) {
    case SRD_CONN_STARTUP: conn->owner_ops->ready(conn->owner, conn, EPOLLIN); break;
    case SRD_CONN_STREAM: return stream_rung(conn, background);
    case SRD_CONN_LINGER: srd_linger_step(conn); break;
    case SRD_CONN_CLOSED: break;
    }
    return true;
}

static bool on_ready(struct srd_source *source, uint32_t events, bool background)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    switch (atomic_load_explicit(&conn->phase, memory_order_acquire)) {
    case SRD_CONN_STARTUP: conn->owner_ops->ready(conn->owner, conn, events); break;
    case SRD_CONN_STREAM: return stream_ready(conn, events, background);
    case SRD_CONN_LINGER: srd_linger_step(conn); break;
    case SRD_CONN_CLOSED: break;
    }
    return true;
}

/* Reads the clock only if needed: mostly this sends an acknowledgement before a sleep. */
static bool has_passed(uint64_t deadline_ms)
{
    return deadline_ms != UINT64_MAX && clock_now_ms() >= deadline_ms;
}

static void look_for_octets(struct srd_conn *conn)
{
    unsigned actions = 0;
    bool moved = false;

    if (!try_receive(conn, RX_BUDGET_LOOP, &actions, &moved) && conn->shared)
        srd_shared_later(conn);
    if (conn->shared) /* the thread that polled looked for room, too */
        actions |= unblock(conn);
    apply_actions(conn, actions);
}

/* No thread polls it any more, so the peer is to ring. */
static void on_left(struct srd_source *source)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    if (conn->shared && atomic_exchange(&conn->source.attentive, false) &&
        srd_conn_in_phase(conn, SRD_CONN_STREAM))
        look_for_octets(conn);
}

static void stream_expired(struct srd_conn *conn)
{
    unsigned actions = srd_stream_owes_ack(conn->qp) ? SRD_STREAM_TX : 0;

    if (conn->shared && srd_shared_expired(conn))
        look_for_octets(conn);
    if (has_passed(srd_stream_deadline_ms(conn->qp))) {
        /* A starved process finds its deadline and the peer's FIN together: the FIN counts. */
        if (atomic_load(&conn->shutdown_wanted)) {
            atomic_store(&conn->look_at_tcp, true);
            look_for_octets(conn);
        }
        if (srd_conn_in_phase(conn, SRD_CONN_STREAM))
            actions |= run_timer(conn);
    }
    if (srd_conn_in_phase(conn, SRD_CONN_STREAM))
        apply_actions(conn, actions);
}

/* Whether the time to close has passed, and does not start again (util/deadline.h). */
static bool is_late(struct srd_conn *conn)
{
    uint64_t close_ms = atomic_load_explicit(&conn->close_ms, memory_order_relaxed), now_ms;
    bool late;

    if (!has_passed(close_ms))
        return false;
    lock_acquire(&conn->linger_lock);
    now_ms = clock_now_ms();
    late = !deadline_ms_begins_anew(&conn->close_again, now_ms - close_ms);
    if (!late)
        atomic_store_explicit(&conn->close_ms, now_ms + SRD_CONN_CLOSE_MS, memory_order_relaxed);
    lock_release(&conn->linger_lock);
    return late;
}

static void linger_expired(struct srd_conn *conn)
{
    if (!is_late(conn)) {
        sync_deadline(conn);
        return;
    }
    srd_linger_step(conn); /* the FIN counts here, too */
    if (!srd_conn_in_phase(conn, SRD_CONN_CLOSED))
        cut_late(conn);
}

static void on_expired(struct srd_source *source)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    switch (atomic_load_explicit(&conn->phase, memory_order_acquire)) {
    case SRD_CONN_STARTUP: conn->owner_ops->expired(conn->owner, conn); break;
    case SRD_CONN_STREAM: stream_expired(conn); break;
    case SRD_CONN_LINGER: linger_expired(conn); break;
    case SRD_CONN_CLOSED: break;
    }
}

static bool on_idle(struct srd_source *source)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    return srd_conn_in_phase(conn, SRD_CONN_STREAM) && !srd_stream_owes_ack(conn->qp);
}

/* With a share the list is also what ends a look by polling (shared.c). */
static bool on_spent(struct srd_source *source)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    return !conn->shared && on_idle(source);
}

static uint32_t on_interest(struct srd_source *source)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    bool in = atomic_load_explicit(&conn->want_in, memory_order_relaxed);
    bool out = atomic_load_explicit(!srd_conn_in_phase(conn, SRD_CONN_STREAM) ? &conn->want_out
                                    : conn->shared                            ? &conn->again
                                                                              : &conn->tx_blocked,
        memory_order_relaxed);

    return (in ? EPOLLIN : 0u) | (out ? EPOLLOUT : 0u);
}

/* Of a peer on this host the kernel takes a packet in on the processor that sent it. */
static bool came_from_elsewhere(int fd)
{
    int incoming, own = sched_getcpu();
    socklen_t size = sizeof(incoming);

    return own >= 0 && !getsockopt(fd, SOL_SOCKET, SO_INCOMING_CPU, &incoming, &size) &&
           incoming >= 0 && incoming != own;
}

static bool on_apart(struct srd_source *source)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    return conn->shared ? srd_share_is_apart(conn->share) : came_from_elsewhere(source->fd);
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
    .poll = on_poll,
    .expired = on_expired,
    .idle = on_idle,
    .spent = on_spent,
    .interest = on_interest,
    .apart = on_apart,
    .left = on_left,
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
    conn->owner_ops = owner_ops;
    conn->owner = owner;
    conn->owner_lock = owner_lock;
    lock_init(&conn->linger_lock, LOCK_SRD_TX, "softrdma linger");
    atomic_init(&conn->close_ms, UINT64_MAX);
    conn->close_again = DEADLINE_AGAIN;
    list_node_init(&conn->idle_node);
    return conn;
}
