/* SPDX-License-Identifier: MIT */
/*
 * idle.c - the list of connections with recent traffic. Their streams keep their staging; the others free it.
 *
 * A connection joins the list with its first octets, and stays while it has traffic. A timer checks each one every
 * SRD_CONN_IDLE_MS: all have the same interval, so they come due in the order of joining, and one deadline of the
 * reactor serves the list. Without traffic the list is empty and the timer off. The data path reads one flag of the
 * connection.
 */
#include "softrdma/connection/internal.h"

#include "softrdma/connection/transport.h"
#include "softrdma/events/patience.h"
#include "softrdma/process.h"
#include "softrdma/queues/qp.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/lock_ask.h"

/* Looked at in a row, before the thread goes on; the rest a millisecond later. */
enum { IDLE_TURN = 64 };

static struct {
    struct lock lock; /* LOCK_SRD_CHANNEL */
    struct list_head conns;
    struct reactor_source timer;
    bool timer_added;
} busy = {
    .lock = LOCK_INIT(LOCK_SRD_CHANNEL, "softrdma busy"),
    .conns = { { &busy.conns.n, &busy.conns.n } },
};

static void start_timer_locked(uint64_t ms)
{
    lock_assert_held(&busy.lock);
    reactor_deadline(&busy.timer, ms * 1000000u);
}

/* The caller's reference becomes the list's. False: the connection has left for good. */
static bool join_locked(struct srd_conn *conn, uint64_t now_ms)
{
    bool first = list_empty(&busy.conns);

    lock_assert_held(&busy.lock);
    if (conn->idle_left)
        return false;
    conn->idle_ms = now_ms + SRD_CONN_IDLE_MS;
    list_add_tail(&busy.conns, &conn->idle_node);
    if (first)
        start_timer_locked(conn->idle_ms);
    return true;
}

static bool join(struct srd_conn *conn, uint64_t now_ms)
{
    bool joined;

    lock_acquire(&busy.lock);
    joined = join_locked(conn, now_ms);
    lock_release(&busy.lock);
    return joined;
}

/* The one whose turn it is, with the list's reference; NULL: none now. */
static struct srd_conn *take_due(uint64_t now_ms)
{
    struct srd_conn *conn = NULL;

    lock_acquire(&busy.lock);
    if (!list_empty(&busy.conns)) {
        conn = list_entry(busy.conns.n.next, struct srd_conn, idle_node);
        if (conn->idle_ms > now_ms)
            conn = NULL;
        else
            list_del(&conn->idle_node);
    }
    lock_release(&busy.lock);
    return conn;
}

/* Whether it is idle, and has given back what it can. A thread that is inside it has its locks. */
static bool rests(struct srd_conn *conn)
{
    struct srd_qp *qp = conn->qp;
    unsigned actions = 0;
    bool idle = false;

    if (!lock_try(&qp->rx_lock))
        return false;
    if (lock_try(&qp->tx_lock)) {
        if (srd_conn_is_streaming(conn)) {
            idle = srd_stream_give_back(qp, &conn->idle_mark);
            if (conn->transport->give_back)
                idle = conn->transport->give_back(conn, idle);
        }
        if (idle) /* the next holder of one of the locks sees it */
            atomic_store_explicit(&conn->busy, false, memory_order_relaxed);
        if (lock_leave_undone(&qp->tx_lock))
            actions = SRD_STREAM_TX;
    }
    actions |= srd_stream_leave_rx(qp);
    if (actions)
        srd_conn_apply(conn, actions);
    if (idle)
        srd_patience_forget(&conn->source);
    return idle;
}

static void on_expired(struct reactor_source *timer, enum reactor_how how)
{
    uint64_t now_ms = clock_now_ms(), next_ms;
    struct srd_conn *conn = NULL;

    (void)timer, (void)how;
    for (unsigned i = 0; i < IDLE_TURN && (conn = take_due(now_ms)); i++)
        if (rests(conn) || !join(conn, now_ms))
            srd_conn_unref(conn);
    lock_acquire(&busy.lock);
    if (!list_empty(&busy.conns)) {
        next_ms = list_entry(busy.conns.n.next, struct srd_conn, idle_node)->idle_ms;
        start_timer_locked(next_ms > now_ms ? next_ms : now_ms + 1);
    }
    lock_release(&busy.lock);
}

static const struct reactor_source_ops timer_ops = { .expired = on_expired };

static bool add_timer_locked(void)
{
    lock_assert_held(&busy.lock);
    if (!busy.timer_added) {
        reactor_source_init(&busy.timer, &timer_ops, -1);
        busy.timer_added = !reactor_add(&busy.timer, 0);
    }
    return busy.timer_added;
}

void srd_conn_is_busy(struct srd_conn *conn)
{
    lock_acquire(&busy.lock);
    if (!conn->idle_left && !atomic_load_explicit(&conn->busy, memory_order_relaxed) &&
        add_timer_locked()) {
        atomic_store_explicit(&conn->busy, true, memory_order_relaxed);
        srd_conn_ref(conn);
        join_locked(conn, clock_now_ms());
    }
    lock_release(&busy.lock);
}

void srd_conn_leave_busy(struct srd_conn *conn)
{
    bool listed;

    if (conn->source.process != srd_generation)
        return;
    lock_acquire(&busy.lock);
    conn->idle_left = true;
    listed = list_linked(&conn->idle_node);
    if (listed)
        list_del(&conn->idle_node);
    lock_release(&busy.lock);
    srd_patience_forget(&conn->source);
    if (listed)
        srd_conn_unref(conn); /* not the last: the caller has one */
}

static void forked(void)
{
    lock_init(&busy.lock, LOCK_SRD_CHANNEL, "softrdma busy");
    list_init(&busy.conns);
    busy.timer_added = false;
}

FORK_CHILD(forked);
