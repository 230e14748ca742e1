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
#include "softrdma/connection/transport.h"
#include "softrdma/context/context.h"
#include "softrdma/events/patience.h"
#include "softrdma/queues/qp.h"
#include "util/clock.h"
#include "util/fence.h"
#include "util/lock_ask.h"

#include <sys/epoll.h>

/* Reads in a row by one thread before others get their turn. */
enum { RX_BUDGET_INLINE = 4, RX_BUDGET_LOOP = 16 };
/*
 * The turn of a post, whose thread is the program's own; those of others are the transport's. The rest waits for its
 * next turn as for space in the socket.
 */
static const struct srd_turn turn_of_post = { 4 << 20, 64 };

/* The lock is taken: waits only for the background thread. Returns whether the caller has the lock now. */
static __attribute__((noinline)) bool enter_behind(
    struct srd_conn *conn, struct lock *lock, atomic_uint *waiting)
{
    if (!srd_watch_has(&conn->source.watch, SRD_WATCH_ATTENDED) || srd_in_background())
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

static void read_again(struct srd_conn *conn)
{
    atomic_store_explicit(&conn->want_in, true, memory_order_relaxed);
    conn->transport->again(conn);
}

/*
 * RX lock held, and another thread has asked its holder to read: reads once more, with a budget of its own, and looks
 * for whatever that thread came for. If a thread asks meanwhile, the reactor serves the connection in its next turn.
 */
static __attribute__((noinline)) void receive_once_more(
    struct srd_conn *conn, unsigned *actions, bool *moved)
{
    if (srd_conn_is_streaming(conn))
        *actions |= conn->transport->receive(conn, RX_BUDGET_LOOP, SRD_LOOK_ALL, moved);
    if (lock_leave_undone(&conn->qp->rx_lock))
        read_again(conn);
}

/* RX lock held, which is given up; ors into actions. In-line where a thread polls, which mostly finds nothing. */
static inline __attribute__((always_inline)) void receive_and_leave(
    struct srd_conn *conn, int budget, unsigned looks, unsigned *actions, bool *moved)
{
    struct lock *lock = &conn->qp->rx_lock;

    if (srd_conn_is_streaming(conn))
        *actions |= conn->transport->receive(conn, budget, looks, moved);
    if (!lock_leave(lock))
        receive_once_more(conn, actions, moved);
}

/* Reads, or asks the holder of the lock to. Returns whether this thread has read. */
static bool receive_or_ask(struct srd_conn *conn, unsigned looks, unsigned *actions, bool *moved)
{
    struct lock *lock = &conn->qp->rx_lock;

    if (!enter(conn, lock, &conn->rx_waiting) && !lock_try_or_ask(lock))
        return false;
    receive_and_leave(conn, RX_BUDGET_LOOP, looks, actions, moved);
    return true;
}

/* A polling thread looks again soon, so it does not ask the holder. */
static inline __attribute__((always_inline)) void receive_if_free(
    struct srd_conn *conn, unsigned *actions, bool *moved)
{
    if (enter(conn, &conn->qp->rx_lock, &conn->rx_waiting))
        receive_and_leave(conn, RX_BUDGET_INLINE, 0, actions, moved);
}

static bool may_send(struct srd_conn *conn)
{
    return srd_conn_is_streaming(conn) &&
           !atomic_load_explicit(&conn->tx_blocked, memory_order_relaxed);
}

/* Whether what the caller has stored may be sent. If not, the thread that finds that there is room will see it. */
static bool may_send_this(struct srd_conn *conn)
{
    if (may_send(conn))
        return true;
    fence_all();
    return may_send(conn);
}

/* Takes the send side, or asks its holder. Returns whether it took it. */
static bool enter_tx(struct srd_conn *conn)
{
    return enter(conn, &conn->qp->tx_lock, &conn->tx_waiting) ||
           lock_try_or_ask(&conn->qp->tx_lock);
}

/*
 * TX lock held, which is given up.
 * referenced  whether the caller has a reference; else actions that are returned have one
 */
static unsigned send_and_leave(struct srd_conn *conn, struct srd_turn turn, bool referenced)
{
    struct lock *lock = &conn->qp->tx_lock;
    unsigned actions = 0;
    bool all = true;

    do {
        if (may_send(conn))
            actions |= conn->transport->send(conn, &turn, &all);
        if (actions && !referenced) {
            srd_conn_ref(conn);
            referenced = true;
        }
    } while (all && !lock_leave(lock));
    if (!all) /* a waiting thread sends the rest, and what was asked for */
        lock_release(lock);
    return actions;
}

static unsigned transmit(struct srd_conn *conn, struct srd_turn turn)
{
    return may_send_this(conn) && enter_tx(conn) ? send_and_leave(conn, turn, true) : 0;
}

/* There may be room again. */
static unsigned unblock(struct srd_conn *conn)
{
    unsigned actions;

    if (!atomic_exchange(&conn->tx_blocked, false))
        return 0;
    actions = transmit(conn, conn->transport->turn);
    /* The last thread to change the flag updates the source last, which reads it anew. */
    if (!conn->transport->has_room)
        srd_source_update(&conn->source);
    return actions;
}

/* A look by a thread that polls: whether there is no room. */
static __attribute__((noinline)) bool is_full(struct srd_conn *conn)
{
    bool full = false;

    if (!conn->transport->has_room)
        return false;
    if (!lock_try(&conn->qp->tx_lock))
        return true; /* its holder looks */
    if (srd_conn_is_streaming(conn))
        full = !conn->transport->has_room(conn);
    if (lock_leave_undone(&conn->qp->tx_lock))
        srd_conn_apply(conn, SRD_STREAM_TX); /* it may not be blocked any more */
    return full;
}

/*
 * Gives the reactor the connection's deadlines. An owed acknowledgement is due soon after it is first owed; the
 * deadline stays when the acknowledgement rides on data. A full socket has no deadline: the thread that finds space
 * again sends, and calls this.
 */
void srd_conn_sync_deadline(struct srd_conn *conn)
{
    /* Read before the rest: an acknowledgement that another thread owes meanwhile enters the list anew. */
    bool soon = srd_source_is_soon(&conn->source);

    if (!srd_conn_is_streaming(conn)) {
        if (!srd_conn_in_phase(conn, SRD_CONN_CLOSED))
            srd_source_due(
                &conn->source, atomic_load_explicit(&conn->close_ms, memory_order_relaxed));
        return;
    }
    srd_source_due(&conn->source, srd_stream_deadline_ms(conn->qp));
    if (!soon && srd_stream_may_ack(conn->qp) &&
        !atomic_load_explicit(&conn->tx_blocked, memory_order_relaxed) &&
        !srd_life_has(&conn->life, SRD_CONN_TX_FAILED))
        srd_source_soon(&conn->source);
}

static unsigned run_timer(struct srd_conn *conn)
{
    unsigned actions = 0;

    lock_acquire(&conn->qp->rx_lock);
    if (srd_conn_is_streaming(conn))
        actions = srd_stream_timer(conn->qp, clock_now_ms());
    return actions | srd_stream_leave_rx(conn->qp);
}

/* No lock held. */
static void apply_actions(struct srd_conn *conn, unsigned actions)
{
    while (actions) {
        unsigned now = actions;

        actions = now & SRD_STREAM_END_DUE ? run_timer(conn) : 0;
        if (now & SRD_STREAM_ESTABLISHED)
            conn->owner_ops->established(conn->owner, conn);
        if (now & SRD_STREAM_DOWN)
            srd_life_add(&conn->life, SRD_CONN_DOWN);
        if (now & SRD_STREAM_SHUTDOWN)
            atomic_store(&conn->close_ms, clock_now_ms() + SRD_CONN_CLOSE_MS);
        if (now & SRD_STREAM_RX) {
            bool moved = false;

            receive_or_ask(conn, SRD_LOOK_ALL, &actions, &moved);
        }
        if (now & (SRD_STREAM_TX | SRD_STREAM_SHUTDOWN))
            actions |= transmit(conn, conn->transport->turn);
        if (now & SRD_STREAM_CLOSE) {
            if (now & SRD_STREAM_LATE)
                srd_conn_cut_late(conn);
            else
                srd_conn_finish(conn, 0);
            return;
        }
    }
    switch (srd_life_owes(atomic_load(&conn->life))) {
    case SRD_CONN_FINISH: srd_conn_finish(conn, 0); return;
    case SRD_CONN_REPORT: srd_conn_report_down(conn, 0); break;
    case SRD_CONN_GO_ON: break;
    }
    srd_conn_sync_deadline(conn);
}

void srd_conn_transmit(struct srd_conn *conn)
{
    unsigned actions = transmit(conn, turn_of_post);

    if (actions)
        apply_actions(conn, actions);
}

void srd_conn_transmit_and_leave(struct srd_conn *conn)
{
    unsigned actions = send_and_leave(conn, turn_of_post, false);

    if (!actions)
        return; /* it may have gone */
    apply_actions(conn, actions);
    srd_conn_unref(conn);
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
        srd_life_add(&conn->life, SRD_CONN_LOCAL_END);
    apply_actions(conn, actions);
}

/* How many looks there were while an acknowledgement was owed, with this one; 0: none is. */
static unsigned looks_owing(struct srd_conn *conn)
{
    return srd_stream_owes_ack(conn->qp)
               ? atomic_load_explicit(&conn->owing, memory_order_relaxed) + 1
               : 0;
}

/* One more look by a polling thread: is it time to send an acknowledgement that is owed? */
static bool patience_ends(struct srd_conn *conn)
{
    unsigned looks = looks_owing(conn);
    bool ends = looks >= SRD_SOON_LOOKS;

    atomic_store_explicit(&conn->owing, ends ? 0 : looks, memory_order_relaxed);
    return ends;
}

static inline void note_look(struct srd_conn *conn, bool again)
{
    if (!again)
        return;
    srd_source_polled(&conn->source);
    if (conn->transport->polled)
        conn->transport->polled(conn);
}

bool srd_conn_poll(struct srd_source *source, bool again)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);
    unsigned actions = 0;
    bool moved = false, blocked;

    if (!srd_conn_is_streaming(conn))
        return false;
    note_look(conn, again);
    blocked = atomic_load_explicit(&conn->tx_blocked, memory_order_relaxed);
    if (blocked && atomic_fetch_add_explicit(&conn->turn, 1, memory_order_relaxed) % 2 &&
        !is_full(conn))
        actions = unblock(conn);
    else if (!blocked && patience_ends(conn))
        actions = transmit(conn, conn->transport->turn);
    else /* while the socket is full this side still reads: two peers that both write must not wait for each other */
        receive_if_free(conn, &actions, &moved);
    if (actions || moved || blocked)
        apply_actions(conn, actions);
    return moved || actions;
}

bool srd_conn_enter(struct srd_source *source)
{
    return lock_try(&container_of(source, struct srd_conn, source)->qp->rx_lock);
}

/* Whether a look has nothing to do but to read. */
static bool only_reads(struct srd_conn *conn)
{
    unsigned looks;

    if (!srd_conn_is_streaming(conn) ||
        atomic_load_explicit(&conn->tx_blocked, memory_order_relaxed))
        return false;
    looks = looks_owing(conn);
    if (looks >= SRD_SOON_LOOKS)
        return false;
    atomic_store_explicit(&conn->owing, looks, memory_order_relaxed);
    return true;
}

/* RX lock held: a look that has more to do, which it does with a reference and without the lock. */
static __attribute__((noinline)) bool poll_with_reference(struct srd_conn *conn, bool again)
{
    unsigned actions = 0;
    bool moved = false;

    srd_conn_ref(conn);
    if (!lock_leave(&conn->qp->rx_lock))
        receive_once_more(conn, &actions, &moved);
    if (actions || moved)
        apply_actions(conn, actions);
    moved |= srd_conn_poll(&conn->source, again);
    srd_conn_unref(conn);
    return moved || actions;
}

bool srd_conn_poll_entered(struct srd_source *source, bool again)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);
    struct lock *lock = &conn->qp->rx_lock;
    bool moved = false, acts;
    unsigned actions;

    if (!only_reads(conn))
        return poll_with_reference(conn, again);
    note_look(conn, again);
    actions = conn->transport->receive(conn, RX_BUDGET_INLINE, 0, &moved);
    acts = actions || (moved && srd_life_has(&conn->life, SRD_CONN_DOWN));
    if (acts)
        srd_conn_ref(conn);
    else if (moved)
        srd_conn_sync_deadline(conn); /* all that apply_actions would do */
    if (!lock_leave(lock)) {
        if (!acts)
            srd_conn_ref(conn);
        acts = true;
        receive_once_more(conn, &actions, &moved);
    }
    if (acts) {
        apply_actions(conn, actions);
        srd_conn_unref(conn);
    }
    return moved || actions;
}

/* Octets have come for a thread that sleeps. As the connection closes it is forgotten after its phase was changed. */
static void was_awaited(struct srd_conn *conn)
{
    srd_patience_awaited(&conn->source);
    if (!srd_conn_is_streaming(conn))
        srd_patience_forget(&conn->source);
}

bool srd_conn_stream_ready(struct srd_conn *conn, uint32_t events, bool background)
{
    unsigned actions = 0;
    bool moved = false;

    if (conn->transport->ready(conn, events))
        actions |= unblock(conn);
    receive_or_ask(conn, events & ~(uint32_t)EPOLLOUT ? SRD_LOOK_TCP : 0, &actions, &moved);
    if (moved && (!background || reactor_is_lent()) && reactor_in_turn())
        was_awaited(conn); /* else a thread that polls has found it */
    if (background && srd_stream_owes_ack(conn->qp))
        actions |= SRD_STREAM_TX;
    apply_actions(conn, actions);
    return moved || !(events & EPOLLIN);
}

/* The reader answers the bell; then this sends what there is space for. */
bool srd_conn_stream_rung(struct srd_conn *conn, bool background)
{
    unsigned actions = 0;
    bool moved = false, answered;

    answered = receive_or_ask(conn, SRD_LOOK_BELL, &actions, &moved);
    if (moved)
        was_awaited(conn);
    actions |= unblock(conn);
    if (background && srd_stream_owes_ack(conn->qp))
        actions |= SRD_STREAM_TX;
    apply_actions(conn, actions);
    return answered;
}

static void look_for_octets(struct srd_conn *conn, unsigned looks)
{
    unsigned actions = 0;
    bool moved = false;

    receive_or_ask(conn, looks, &actions, &moved);
    if (conn->transport->has_room) /* the thread that polled looked for room, too */
        actions |= unblock(conn);
    apply_actions(conn, actions);
}

/* No thread polls it any more, so the peer is to ring. */
void srd_conn_left(struct srd_source *source)
{
    struct srd_conn *conn = container_of(source, struct srd_conn, source);

    if (srd_watch_take(&conn->source.watch, SRD_WATCH_ATTENTIVE | SRD_WATCH_RECENT) &&
        srd_conn_is_streaming(conn))
        look_for_octets(conn, 0);
}

void srd_conn_stream_expired(struct srd_conn *conn)
{
    unsigned actions = srd_stream_owes_ack(conn->qp) ? SRD_STREAM_TX : 0;

    if (conn->transport->expired && conn->transport->expired(conn))
        look_for_octets(conn, SRD_LOOK_TCP);
    if (srd_conn_has_passed(srd_stream_deadline_ms(conn->qp))) {
        /* A starved process finds its deadline and the peer's FIN together: the FIN counts. */
        if (srd_conn_is_ending(conn))
            look_for_octets(conn, SRD_LOOK_TCP);
        if (srd_conn_is_streaming(conn))
            actions |= run_timer(conn);
    }
    if (srd_conn_is_streaming(conn))
        apply_actions(conn, actions);
}
