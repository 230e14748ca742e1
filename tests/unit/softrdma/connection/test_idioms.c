/* SPDX-License-Identifier: MIT */
/*
 * How programs look at a completion queue before they sleep: no thread sleeps while a connection that it looks at
 * expects to be polled, so each message of a ping-pong is rung or found at once, and none by the timer that looks at
 * connections whose thread has gone away (SRD_SOON_MS).
 *
 * The idiom is that of others: Microsoft's page of INDCompletionQueue::Notify and ibv_get_cq_event(3) of rdma-core both
 * have the program look once more between the arming of the queue and the sleep.
 */
#include "tests/unit/softrdma/pair.h"

#include "softrdma/connection/conn.h"
#include "softrdma/connection/transport.h"
#include "softrdma/events/patience.h"
#include "softrdma/queues/channel.h"
#include "softrdma/queues/cq.h"
#include "softrdma/queues/qp.h"
#include "softrdma/share/internal.h"
#include "util/clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

enum { MESSAGES = 400 };

static struct pair pair;

/* Messages that only the timer has found. */
static atomic_uint late;

static bool counted_expired(struct srd_conn *conn)
{
    bool unread = atomic_load(&conn->share->in->head) != atomic_load(&conn->share->in->tail);

    if (srd_watch_has(&conn->source.watch, SRD_WATCH_ATTENTIVE) && unread)
        atomic_fetch_add(&late, 1);
    return srd_transport_shared.expired(conn);
}

/* Each connection gets a transport that counts, as it gets its share. */
static struct srd_transport counted;
void __real_srd_conn_give_share(struct srd_conn *conn, struct srd_share *share);
void __wrap_srd_conn_give_share(struct srd_conn *conn, struct srd_share *share);
void __wrap_srd_conn_give_share(struct srd_conn *conn, struct srd_share *share)
{
    __real_srd_conn_give_share(conn, share);
    conn->transport = &counted;
}

static const struct srd_share *_Atomic pair_share; /* whose dozes are looked at */

/* What the peer read last before the passive end began to doze. */
static uint32_t awake_before_doze;
bool __real_srd_share_doze(struct srd_share *share);
bool __wrap_srd_share_doze(struct srd_share *share);
bool __wrap_srd_share_doze(struct srd_share *share)
{
    if (share == pair_share)
        awake_before_doze = atomic_load(&share->in->awake);
    return __real_srd_share_doze(share);
}

static int setup(void **state)
{
    (void)state;
    atomic_store(&late, 0);
    atomic_store(&srd_patience_ns, 0); /* it polls before it sleeps, by itself: softrdma.patience */
    pair_connect(&pair, "127.0.0.1");
    assert_string_equal(srd_query_path(pair.active.qp), "shm");
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pair_close(&pair);
    return 0;
}

/* ---- ping-pong by an idiom ---- */

struct idiom {
    const char *name;
    int before, after; /* looks before the queue is armed, and between that and the sleep */
    bool
        descriptor; /* sleeps at the channel's descriptor, as programs with their own event loop do */
};

struct player {
    const struct idiom *idiom;
    struct end *end;
    int sends_first;
    int got, sent;
    bool failed;
};

static void look(struct player *player)
{
    struct ibv_wc wc;
    int count = ibv_poll_cq(player->end->cq, 1, &wc);

    if (count < 0 || (count && wc.status != IBV_WC_SUCCESS))
        player->failed = true;
    else if (count && wc.opcode == IBV_WC_RECV)
        player->got++;
    else if (count)
        player->sent++;
}

static void sleep_for_event(struct player *player)
{
    struct pollfd fd = { .fd = player->end->channel->fd, .events = POLLIN };
    struct ibv_cq *cq;
    void *context;

    if (player->idiom->descriptor && poll(&fd, 1, DEADLINE_MS) != 1)
        player->failed = true;
    else if (srd_get_cq_event(player->end->channel, &cq, &context))
        player->failed = true;
    else
        srd_ack_cq_events(cq, 1);
}

static void await(struct player *player, int wanted)
{
    while (player->got < wanted && !player->failed) {
        int had = player->got + player->sent;

        for (int i = 0; i < player->idiom->before && player->got < wanted; i++)
            look(player);
        if (player->got >= wanted || player->failed)
            return;
        if (ibv_req_notify_cq(player->end->cq, 0))
            player->failed = true;
        for (int i = 0; i < player->idiom->after; i++)
            look(player);
        if (player->got + player->sent == had)
            sleep_for_event(player);
        look(player);
    }
}

static bool send_one(struct end *from)
{
    struct ibv_sge sge = { (uintptr_t)from->memory, 8, from->mr->lkey };
    struct ibv_send_wr send = {
        .sg_list = &sge, .num_sge = 1, .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_INLINE
    };
    struct ibv_sge into = { (uintptr_t)from->memory + 4096, 8, from->mr->lkey };
    struct ibv_recv_wr receive = { .sg_list = &into, .num_sge = 1 }, *bad_receive;
    struct ibv_send_wr *bad;

    return !ibv_post_recv(from->qp, &receive, &bad_receive) &&
           !ibv_post_send(from->qp, &send, &bad);
}

static void *play(void *argument)
{
    struct player *player = argument;

    for (int i = 1; i <= MESSAGES && !player->failed; i++) {
        if (player->sends_first && !send_one(player->end))
            player->failed = true;
        await(player, i);
        if (!player->sends_first && !send_one(player->end))
            player->failed = true;
    }
    return NULL;
}

static void play_by(const struct idiom *idiom)
{
    struct player players[2] = { { .idiom = idiom, .end = &pair.passive },
        { .idiom = idiom, .end = &pair.active, .sends_first = 1 } };
    pthread_t thread;

    end_recv(&pair.passive, 1, 4096, 8);
    atomic_store(&late, 0);
    assert_int_equal(pthread_create(&thread, NULL, play, &players[0]), 0);
    play(&players[1]);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(players[0].failed || players[1].failed);
    assert_int_equal(players[0].got, MESSAGES);
    assert_int_equal(players[1].got, MESSAGES);
    /* A thread that loses its processor between a look and its sleep is one that has gone away: on a busy machine some
     * are. A thread that sleeps while it is expected to poll has the timer find every message. */
    if (atomic_load(&late) > MESSAGES)
        fail_msg("%s: the timer has found %u of %d messages", idiom->name, atomic_load(&late),
            2 * MESSAGES);
}

static void no_message_waits_for_the_timer(void **state)
{
    static const struct idiom idioms[] = {
        { "arm, look, sleep", 0, 1, false },
        { "look, arm, look, sleep", 1, 1, false },
        { "look, arm, look twice, sleep", 1, 2, false },
        { "look often, arm, look often, sleep", 20, 20, false },
        { "look, arm, look, sleep at the descriptor", 1, 1, true },
        { "look often, arm, look twice, sleep at the descriptor", 20, 2, true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(idioms) / sizeof(idioms[0]); i++) {
        teardown(NULL);
        setup(NULL);
        play_by(&idioms[i]);
    }
}

/* ---- step by step ---- */

static struct srd_conn *passive(void)
{
    struct srd_conn *conn = srd_qp_conn(srd_qp_from(pair.passive.qp));

    srd_conn_unref(conn); /* the queue pair has one */
    return conn;
}

static void look_in_vain(int times)
{
    struct ibv_wc wc;

    while (times--)
        assert_int_equal(ibv_poll_cq(pair.passive.cq, 1, &wc), 0);
}

static bool expects_polls(void)
{
    return srd_watch_has(&passive()->source.watch, SRD_WATCH_ATTENTIVE);
}

/* Polls until it is expected to; the timer ends that where this thread has lost its processor. */
static void poll_until_expected(void)
{
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;

    do
        look_in_vain(8);
    while (!expects_polls() && test_now_ms() < end_ms);
}

static void a_thread_that_waits_is_not_expected_to_poll(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        srd_patience_forget(&passive()->source);
        poll_until_expected();
        assert_int_equal(
            reactor_wait(reactor_waiter_self(), clock_now_ns() + 1000, PTHREAD_CANCEL_DISABLE),
            -ETIMEDOUT);
        assert_false(expects_polls());
        assert_int_equal(atomic_load(&passive()->share->in->awake), 0);
    }
}

static void *wait_for_a_moment(void *unused)
{
    (void)unused;
    reactor_wait(reactor_waiter_self(), clock_now_ns() + 1000, PTHREAD_CANCEL_DISABLE);
    return NULL;
}

/* So the thread that polls need not say so again whenever another goes to sleep. */
static void a_wait_leaves_what_another_thread_polls(void **state)
{
    bool kept = false;

    (void)state;
    for (int i = 0; i < 500 && !kept;
         i++) { /* the timer ends it where a try has taken a millisecond */
        pthread_t thread;

        srd_patience_forget(&passive()->source);
        poll_until_expected();
        assert_int_equal(pthread_create(&thread, NULL, wait_for_a_moment, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        kept = expects_polls();
    }
    assert_true(kept);
}

static void looks_between_arming_and_sleep_promise_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        look_in_vain(8);
        assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
        look_in_vain(3);
        assert_false(expects_polls());
        assert_int_equal(atomic_load(&passive()->share->in->awake), 0);
    }
}

/* A program that leaves its queue armed and polls all the same. */
static void a_thread_that_goes_on_looking_at_an_armed_queue_polls(void **state)
{
    (void)state;
    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
    poll_until_expected();
    assert_true(expects_polls());
}

/*
 * A look that finds octets reads until there are none, and dozes then: meanwhile the peer need not ring. In a ping-pong
 * its next octets come within some hundred ns.
 */
static void a_look_that_finds_octets_is_not_rung_for_more(void **state)
{
    _Atomic uint32_t *awake = &passive()->share->in->awake;
    uint64_t end_ms = test_now_ms() + DEADLINE_MS;
    struct ibv_wc wc = { .status = IBV_WC_GENERAL_ERR };

    (void)state;
    end_recv(&pair.passive, 1, 4096, 8);
    look_in_vain(8);
    assert_int_equal(ibv_req_notify_cq(pair.passive.cq, 0), 0);
    look_in_vain(3);
    assert_int_equal(atomic_load(awake), 0);
    atomic_store(&pair_share, passive()->share);
    atomic_store(awake, 1); /* the writer stands between its octets and its look */
    assert_true(send_one(&pair.active));
    atomic_store(awake, 0);
    while (ibv_poll_cq(pair.passive.cq, 1, &wc) == 0 && test_now_ms() < end_ms)
        continue;
    atomic_store(&pair_share, NULL);
    assert_int_equal(wc.status, IBV_WC_SUCCESS);
    assert_int_equal(awake_before_doze, 1);
    assert_int_equal(atomic_load(awake), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(no_message_waits_for_the_timer),
        TEST(a_thread_that_waits_is_not_expected_to_poll),
        TEST(a_wait_leaves_what_another_thread_polls),
        TEST(looks_between_arming_and_sleep_promise_nothing),
        TEST(a_thread_that_goes_on_looking_at_an_armed_queue_polls),
        TEST(a_look_that_finds_octets_is_not_rung_for_more),
    };

    counted = srd_transport_shared;
    counted.expired = counted_expired;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
