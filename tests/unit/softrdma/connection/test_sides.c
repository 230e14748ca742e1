/* SPDX-License-Identifier: MIT */
/*
 * test_sides.c - what a thread comes to a side of a connection for is done, in whatever order the steps of a few
 * threads come (plays.h): conn.c and shared.c are compiled in, under a stream and a share of this file's. A play may
 * leave something undone only if the reactor was asked for a turn.
 */
#include "tests/support/plays.h"

#include "softrdma/connection/internal.h"
#include "softrdma/connection/transport.h"
#include "softrdma/events/patience.h"
#include "softrdma/queues/qp.h"
#include "softrdma/share/share.h"
#include "util/clock.h"
#include "util/fence.h"
#include "util/lock_ask.h"
#include "util/log.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* In conn.c and shared.c, whose accesses are steps; not a store that a thread makes of its own side. */
#undef atomic_load
#undef atomic_store
#undef atomic_exchange
#undef atomic_compare_exchange_strong
#define atomic_load(p) (step(), atomic_load_explicit((p), memory_order_seq_cst))
#define atomic_store(p, v)                                                                         \
    do {                                                                                           \
        step();                                                                                    \
        atomic_store_explicit((p), (v), memory_order_seq_cst);                                     \
    } while (0)
#define atomic_exchange(p, v)                                                                      \
    __extension__({                                                                                \
        step();                                                                                    \
        __auto_type old_value_ = atomic_load_explicit((p), memory_order_seq_cst);                  \
        atomic_store_explicit((p), (v), memory_order_seq_cst);                                     \
        old_value_;                                                                                \
    })
#define atomic_compare_exchange_strong(p, e, v)                                                    \
    __extension__({                                                                                \
        step();                                                                                    \
        bool is_ = atomic_load_explicit((p), memory_order_seq_cst) == *(e);                        \
        if (is_)                                                                                   \
            atomic_store_explicit((p), (v), memory_order_seq_cst);                                 \
        is_;                                                                                       \
    })
#define srd_life_add(life, facts)  (step(), srd_life_add((life), (facts)))
#define srd_watch_has(watch, bits) (step(), srd_watch_has((watch), (bits)))

/* What they call, and is not played. */
#define recv(fd, to, octets, flags)            ((void)(to), tcp_recv())
#define shutdown(...)                          ((void)0)
#define srd_share_ended(share)                 ((void)(share), false)
#define srd_share_end(share)                   ((void)(share))
#define srd_share_wake(share)                  ((void)(share))
#define srd_share_tells(share)                 ((void)(share), NULL)
#define srd_share_told(share)                  ((void)(share), NULL)
#define srd_share_is_apart(share)              ((void)(share), false)
#define srd_share_give_back(share)             ((void)(share), true)
#define srd_share_trim(share)                  ((void)(share))
#define srd_share_wake_fd(share)               ((void)(share), -1)
#define srd_stream_rx(qp, octets, now_ms)      ((void)(octets), 0u)
#define srd_stream_rx_fault(qp)                false
#define srd_stream_rx_end(qp, error, now_ms)   ((void)(error), 0u)
#define srd_stream_by_words(qp, tells, told)   ((void)(tells), (void)(told))
#define srd_stream_has_heard(qp)               ((void)(qp), true)
#define srd_stream_hear(qp, now_ms)            ((void)(qp), 0u)
#define srd_stream_tx_done(qp, octets, now_ms) (share.sent += (unsigned)(octets), 0u)
#define srd_stream_has_more(qp)                (share.posted != share.sent)
#define srd_stream_tx_fault(qp)                0u
#define srd_stream_leave_rx(qp)                (lock_leave_undone(&(qp)->rx_lock) ? SRD_STREAM_RX : 0)
#define srd_stream_deadline_ms(qp)             UINT64_MAX
#define srd_stream_timer(qp, now_ms)           0u
#define srd_stream_owes_ack(qp)                false
#define srd_stream_may_ack(qp)                 false
#define srd_source_init(source, ops, fd)       ((void)(source), (void)(ops), (void)(fd))
#define srd_source_add(source)                 ((void)(source), 0)
#define srd_source_update(source)              ((void)(source))
#define srd_source_remove(source)              ((void)(source))
#define srd_source_unref(source)               ((void)(source))
#define srd_source_due(source, deadline_ms)    ((void)(source), (void)(deadline_ms))
#define srd_source_is_soon(source)             ((void)(source), false)
#define srd_in_background()                    false
#define srd_conn_ref(conn)                     ((void)(conn))
#define srd_conn_unref(conn)                   ((void)(conn))
#define srd_conn_is_busy(conn)                 ((void)(conn))
#define srd_conn_shut(conn)                    ((void)(conn))
#define srd_conn_finish(conn, status)          ((void)(conn))
#define srd_conn_cut_late(conn)                ((void)(conn))
#define srd_conn_report_down(conn, status)     ((void)(conn))
#define srd_conn_has_passed(deadline_ms)       ((deadline_ms) != UINT64_MAX)
#define srd_patience_awaited(source)           ((void)(source))
#define srd_patience_forget(source)            ((void)(source))
#define srd_tcp_put(conn, rest, rings)         ((void)(conn), (void)(rest), (void)(rings), -EAGAIN)
#define ndspi_reactor_is_lent()                false
#define ndspi_reactor_in_turn()                false

unsigned srd_generation;

static struct srd_conn conn;
static struct srd_qp qp;
static struct lock owner_lock;

/* --- the peer, the memory that both share, the stream ------------------------------------------------------------- */

static struct {
    unsigned octets, taken, written; /* in the peer's ring; read; ever written */
    unsigned bell;                   /* octets in the socket by which it rings */
    bool fin, dozes;
    unsigned posted, sent, room; /* the other direction */
    bool wants_room, soon;
} share;

static ssize_t tcp_recv(void)
{
    step();
    errno = EAGAIN;
    return share.fin ? 0 : -1;
}

ssize_t srd_share_read(struct srd_share *it, const struct iovec *iov, int count)
{
    unsigned octets;

    (void)it, (void)iov, (void)count;
    step();
    octets = share.octets;
    share.octets = 0;
    share.taken += octets;
    return octets;
}

bool srd_share_doze(struct srd_share *it)
{
    (void)it;
    step();
    share.dozes = true;
    step();
    return !share.octets;
}

bool srd_share_is_quiet(const struct srd_share *it)
{
    (void)it;
    return !share.dozes && !share.octets;
}

void srd_share_awake(struct srd_share *it)
{
    (void)it;
    share.dozes = false;
}

bool srd_share_answer(struct srd_share *it)
{
    (void)it;
    step();
    share.bell = 0;
    return true;
}

ssize_t srd_share_write(struct srd_share *it, const struct iovec *iov, int count)
{
    unsigned octets = (unsigned)iov->iov_len;

    (void)it, (void)count;
    step();
    if (octets > share.room)
        octets = share.room;
    share.room -= octets;
    return octets;
}

bool srd_share_has_room(struct srd_share *it)
{
    (void)it;
    step();
    return share.room;
}

bool srd_share_want_room(struct srd_share *it)
{
    (void)it;
    step();
    share.wants_room = true;
    step();
    return !share.room;
}

int srd_stream_rx_space(struct srd_qp *it, struct iovec iov[SRD_RX_IOV])
{
    (void)it;
    iov[0] = (struct iovec){ NULL, 100 };
    return 1;
}

int srd_stream_tx(
    struct srd_qp *it, struct iovec iov[SRD_TX_IOV], uint64_t now_ms, unsigned *actions)
{
    (void)it, (void)now_ms, (void)actions;
    iov[0] = (struct iovec){ NULL, share.posted - share.sent };
    return iov[0].iov_len ? 1 : 0;
}

void srd_source_soon(struct srd_source *source)
{
    (void)source;
    step();
    share.soon = true;
}

bool srd_conn_bell(struct srd_source *bell, uint32_t events, bool background)
{
    (void)bell, (void)events;
    return srd_conn_stream_rung(&conn, background);
}

#include "softrdma/connection/conn.c" /* NOLINT: this is the point */
#define is_full share_is_full
#include "softrdma/connection/shared.c" /* NOLINT */

/* --- players ------------------------------------------------------------------------------------------------------ */

/* The peer has rung: the reactor of this end finds that, unless another thread has answered. */
static void rings(void)
{
    share.bell++;
    step();
    if (share.bell)
        srd_conn_bell(&conn.bell, EPOLLIN, false);
}

static void writes(void)
{
    bool dozed;

    step();
    if (share.fin)
        return;
    share.octets++;
    share.written++;
    step();
    dozed = share.dozes;
    share.dozes = false;
    if (dozed)
        rings();
}

static void ends_tcp(void)
{
    step();
    share.fin = true;
    step();
    srd_conn_stream_ready(&conn, EPOLLIN, false);
}

static void makes_room(void)
{
    bool wanted;

    step();
    share.room += 10;
    step();
    wanted = share.wants_room;
    share.wants_room = false;
    if (wanted)
        rings();
}

/* As a poll of a queue, which takes the receive side in the queue's lock if it is free. */
static void polls(void)
{
    step();
    if (srd_conn_enter(&conn.source))
        srd_conn_poll_entered(&conn.source, true);
    else
        srd_conn_poll(&conn.source, true);
}

/* As a thread that is about to sleep. */
static void looks_and_leaves(void)
{
    srd_conn_poll(&conn.source, true);
    srd_conn_left(&conn.source);
}

static void polls_and_leaves(void)
{
    polls();
    srd_conn_left(&conn.source);
}

/* The list of what is soon. */
static void time_passes(void)
{
    step();
    if (!share.soon)
        return;
    share.soon = false;
    srd_conn_stream_expired(&conn);
}

static void posts(void)
{
    step();
    share.posted++;
    srd_conn_transmit(&conn);
}

/* As a post, which takes the send side in its queue's lock if it is free (srd_qp_way_locked). */
static void posts_and_enters(void)
{
    step();
    share.posted++;
    step();
    if (lock_try(&qp.tx_lock))
        srd_conn_transmit_and_leave(&conn);
    else
        srd_conn_transmit(&conn);
}

/* Holds the receive side for something else: it reads counters. */
static void counts(void)
{
    unsigned actions;

    lock_acquire(&qp.rx_lock);
    step();
    actions = srd_stream_leave_rx(&qp);
    if (actions)
        srd_conn_apply(&conn, actions);
}

/* --- plays -------------------------------------------------------------------------------------------------------- */

static const struct srd_conn_owner_ops owner_ops = { 0 };

static void begins(void)
{
    memset(&conn, 0, sizeof(conn));
    memset(&share, 0, sizeof(share));
    lock_init(&qp.rx_lock, LOCK_SRD_RX, "played");
    lock_init(&qp.tx_lock, LOCK_SRD_TX, "played");
    lock_init(&owner_lock, LOCK_SRD_CM, "played");
    atomic_init(&conn.life, SRD_CONN_STREAM);
    atomic_init(&conn.close_ms, UINT64_MAX);
    conn.owner_ops = &owner_ops;
    conn.owner_lock = &owner_lock;
    conn.qp = &qp;
    conn.transport = &srd_transport_shared;
    conn.want_in = true;
    share.dozes = true;
    share.room = 100;
}

static void begins_full(void)
{
    begins();
    share.room = 0;
}

/* Whether a thread polls it, as its word says; what it says is consistent. */
static bool attentive(void)
{
    unsigned watch = atomic_load_explicit(&conn.source.watch, memory_order_relaxed);

    assert_true(watch & SRD_WATCH_ATTENTIVE || !(watch & SRD_WATCH_RECENT));
    return watch & SRD_WATCH_ATTENTIVE;
}

/* Nothing is left: read, answered, sent, seen to end; and this end asks for the bell. */
static void check_done(void)
{
    assert_int_equal(share.taken, share.written);
    assert_int_equal(share.bell, 0);
    assert_int_equal(srd_life_has(&conn.life, SRD_CONN_RX_ENDED), share.fin);
    assert_true(share.sent == share.posted || !share.room);
    assert_true(share.sent == share.posted || share.wants_room);
    assert_true(share.dozes || share.fin);
}

static void ends(void)
{
    assert_int_equal(qp.rx_lock.word, LOCK_FREE);
    assert_int_equal(qp.tx_lock.word, LOCK_FREE);
    assert_true(conn.want_in || share.fin);
    if (conn.again) { /* the reactor's turn: TCP's socket is writable, and its end and the bell stay readable */
        srd_conn_stream_ready(&conn, EPOLLOUT | (share.fin ? EPOLLIN : 0), false);
        while (share.bell)
            srd_conn_bell(&conn.bell, EPOLLIN, false);
    }
    if (!attentive())
        check_done();
    for (int i = 0; i < 3 && attentive(); i++) {
        assert_true(share.soon);
        time_passes();
    }
    assert_false(attentive());
    check_done();
    if (!share.fin)
        return;
    srd_conn_stream_ready(
        &conn, EPOLLIN, false); /* an end stays readable: the reactor is to wait for no more */
    assert_false(conn.want_in);
}

/* Who polled has left: nothing waits for the list of what is soon. */
static void ends_unpolled(void)
{
    assert_false(attentive());
    ends();
}

static void what_the_peer_rings_for_is_read(void **state)
{
    void (*const twice[])(void) = { writes, writes }, (*const end[])(void) = { writes, ends_tcp },
                 (*const counted[])(void) = { writes, counts },
                 (*const three[])(void) = { writes, ends_tcp, counts },
                 (*const asked_twice[])(void) = { ends_tcp, rings, rings };

    (void)state;
    play_all(5, twice, 2, begins, ends);
    play_all(5, end, 2, begins, ends);
    play_all(5, counted, 2, begins, ends);
    play_all(3, three, 3, begins, ends);
    play_all(4, asked_twice, 3, begins, ends);
}

static void what_comes_while_a_thread_polls_is_read(void **state)
{
    void (*const leaves[])(void) = { writes, polls_and_leaves },
                 (*const end[])(void) = { ends_tcp, polls_and_leaves },
                 (*const forgets[])(void) = { polls, time_passes },
                 (*const three[])(void) = { writes, polls, time_passes },
                 (*const two_poll[])(void) = { polls_and_leaves, writes, polls },
                 (*const looks[])(void) = { writes, looks_and_leaves },
                 (*const both[])(void) = { looks_and_leaves, writes, polls },
                 (*const late[])(void) = { polls_and_leaves, time_passes };

    (void)state;
    play_all(5, leaves, 2, begins, ends_unpolled);
    play_all(5, looks, 2, begins, ends_unpolled);
    play_all(3, both, 3, begins, ends);
    play_all(5, end, 2, begins, ends_unpolled);
    play_all(5, late, 2, begins, ends_unpolled);
    play_all(5, forgets, 2, begins, ends);
    play_all(3, three, 3, begins, ends);
    play_all(3, two_poll, 3, begins, ends);
}

static void what_is_posted_is_sent(void **state)
{
    void (*const twice[])(void) = { posts, posts }, (*const full[])(void) = { posts, makes_room },
                 (*const rung[])(void) = { posts, makes_room, writes },
                 (*const polled[])(void) = { posts, makes_room, polls_and_leaves },
                 (*const enter[])(void) = { posts_and_enters, posts_and_enters },
                 (*const enters_full[])(void) = { posts_and_enters, makes_room };

    (void)state;
    play_all(5, twice, 2, begins, ends);
    play_all(5, full, 2, begins_full, ends);
    play_all(5, enter, 2, begins, ends);
    play_all(5, enters_full, 2, begins_full, ends);
    play_all(3, rung, 3, begins_full, ends);
    play_all(3, polled, 3, begins_full, ends);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_peer_rings_for_is_read),
        cmocka_unit_test(what_comes_while_a_thread_polls_is_read),
        cmocka_unit_test(what_is_posted_is_sent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
