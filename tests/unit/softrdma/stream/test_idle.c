/* SPDX-License-Identifier: MIT */
/* An idle stream gives its staging back, and what it gets or sends next is whole; one that is not idle keeps it. */
#include "tests/unit/softrdma/stream_pair.h"

#include <stdlib.h>

enum { ROOM = 1 << 20 };

/* One look at an end. */
static bool gives_back(struct end *end, uint64_t *mark)
{
    struct srd_qp *qp = srd_qp_from(end->qp);
    bool idle;

    lock_acquire(&qp->rx_lock);
    lock_acquire(&qp->tx_lock);
    idle = srd_stream_give_back(qp, mark);
    lock_release(&qp->tx_lock);
    lock_release(&qp->rx_lock);
    return idle;
}

/* It is not idle however often it is looked at while nothing comes or goes. */
static void assert_keeps(struct end *end)
{
    uint64_t mark = 0;

    for (int i = 0; i < 3; i++)
        assert_false(gives_back(end, &mark));
}

static void assert_gives_back(struct end *end)
{
    uint64_t mark = 0;

    assert_false(gives_back(end, &mark)); /* it may have had traffic just now */
    assert_true(gives_back(end, &mark));
    assert_true(gives_back(end, &mark));
}

static void one_message(struct pair *pair, uint32_t octets, unsigned seed)
{
    fill(pair->a.mem, octets, seed);
    post_recv(&pair->b, 10, 0, octets);
    post_send(&pair->a, 1, 0, octets, 0);
    pair_pump(pair);
    expect_wc(pair->b.rcq, 10, IBV_WC_SUCCESS);
    expect_wc(pair->a.scq, 1, IBV_WC_SUCCESS);
    assert_memory_equal(pair->b.mem, pair->a.mem, octets);
}

static void messages_between(struct pair *pair)
{
    static const uint32_t octets[] = { 8, 3000, 200000 };
    uint64_t marks[2] = { 0, 0 };

    for (unsigned i = 0; i < 3; i++) {
        one_message(pair, octets[i], i + 1);
        assert_false(gives_back(&pair->a, &marks[0]));
        assert_false(gives_back(&pair->b, &marks[1]));
        assert_true(gives_back(&pair->a, &marks[0]));
        assert_true(gives_back(&pair->b, &marks[1]));
    }
}

static void messages_are_whole_before_and_after(void **state)
{
    (void)state;
    pair_with_soft_peers(messages_between);
}

static void held_message(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    fill(a->mem, 9000, 1);
    post_send(a, 1, 0, 9000, 0);
    post_send(a, 2, 0, 9000, 0);
    pair_pump(pair);
    assert_keeps(b);
    post_recv(b, 10, 0, 9000);
    pair_pump(pair);
    expect_wc(b->rcq, 10, IBV_WC_SUCCESS);
    assert_memory_equal(b->mem, a->mem, 9000);
    assert_keeps(b);
    post_recv(b, 11, 10000, 9000);
    pair_pump(pair);
    expect_wc(b->rcq, 11, IBV_WC_SUCCESS);
    assert_memory_equal(b->mem + 10000, a->mem, 9000);
    assert_gives_back(b);
    assert_null(srd_qp_from(b->qp)->stream.rx.hold);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    one_message(pair, 100, 2);
}

static void a_message_that_waits_for_a_receive_is_kept(void **state)
{
    (void)state;
    pair_with_soft_peers(held_message);
}

/* In all forms what comes is whole; where it is one FPDU, its first octets are kept until the last are there. */
static void cut_message(struct pair *pair, uint8_t *octets)
{
    static const size_t cuts[] = { 1, 2, 19, 20, 21, 60, 1500, 2999, 3021 };
    struct end *a = &pair->a, *b = &pair->b;
    uint64_t mark;

    for (size_t i = 0; i < sizeof(cuts) / sizeof(cuts[0]); i++) {
        size_t count;

        fill(a->mem, 3000, (unsigned)i);
        post_recv(b, 10, 0, 3000);
        post_send(a, 1, 0, 3000, 0);
        count = end_take(pair, a, octets, ROOM);
        assert_true(count > cuts[i]);
        end_feed(pair, b, octets, cuts[i], 0);
        if (!(pair->flags & PAIR_SMALL))
            assert_keeps(b);
        mark = 0;
        for (int look = 0; look < 3; look++)
            gives_back(b, &mark);
        end_feed(pair, b, octets + cuts[i], count - cuts[i], 0);
        expect_wc(b->rcq, 10, IBV_WC_SUCCESS);
        assert_memory_equal(b->mem, a->mem, 3000);
        assert_gives_back(b);
        pair_pump(pair);
        expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    }
}

static void half_an_fpdu_is_kept(void **state)
{
    uint8_t *octets = malloc(ROOM);

    (void)state;
    assert_non_null(octets);
    for (int i = 0; i < PAIR_SOFT_FORMS; i++) {
        struct pair pair;

        pair_open(&pair, pair_soft_forms[i], 0);
        pair_pump(&pair);
        cut_message(&pair, octets);
        pair_close(&pair);
    }
    free(octets);
}

/* Has the socket take so many octets of what the end offers; returns how many it offered. */
static size_t take_some(struct pair *pair, struct end *end, uint8_t *out, size_t count)
{
    struct srd_qp *qp = srd_qp_from(end->qp);
    struct iovec iov[SRD_TX_IOV];
    size_t total = 0, taken = 0;
    unsigned actions = 0;
    int n;

    lock_acquire(&qp->tx_lock);
    n = srd_stream_tx(qp, iov, pair->now_ms, &actions);
    for (int i = 0; i < n; i++) {
        size_t here = iov[i].iov_len < count - taken ? iov[i].iov_len : count - taken;

        memcpy(out + taken, iov[i].iov_base, here);
        taken += here;
        total += iov[i].iov_len;
    }
    assert_int_equal(taken, count);
    actions |= srd_stream_tx_done(qp, count, pair->now_ms);
    lock_release(&qp->tx_lock);
    end_want(pair, end, actions);
    return total;
}

static void what_is_not_sent_yet_is_kept(void **state)
{
    static const size_t cuts[] = { 0, 1, 21, 1000, 60000 };
    uint8_t *octets = malloc(ROOM);

    (void)state;
    assert_non_null(octets);
    for (int i = 0; i < PAIR_SOFT_FORMS; i++)
        for (size_t k = 0; k < sizeof(cuts) / sizeof(cuts[0]); k++) {
            size_t cut = pair_soft_forms[i] & PAIR_SMALL && cuts[k] > 1000 ? 1000 : cuts[k], rest;
            struct pair pair;

            pair_open(&pair, pair_soft_forms[i], 0);
            pair_pump(&pair);
            fill(pair.a.mem, 200000, (unsigned)k);
            post_recv(&pair.b, 10, 0, 200000);
            post_send(&pair.a, 1, 0, 200000, 0);
            assert_true(take_some(&pair, &pair.a, octets, cut) > cut);
            assert_keeps(&pair.a);
            rest = end_take(&pair, &pair.a, octets + cut, ROOM - cut);
            assert_gives_back(&pair.a);
            end_feed(&pair, &pair.b, octets, cut + rest, 0);
            expect_wc(pair.b.rcq, 10, IBV_WC_SUCCESS);
            assert_memory_equal(pair.b.mem, pair.a.mem, 200000);
            pair_close(&pair);
        }
    free(octets);
}

/* What the peer owes needs no staging here. */
static void an_unanswered_read_does_not_keep_it(void **state)
{
    uint8_t octets[1000];
    size_t count;

    (void)state;
    for (int i = 0; i < PAIR_SOFT_FORMS; i++) {
        struct pair pair;

        pair_open(&pair, pair_soft_forms[i], 0);
        pair_pump(&pair);
        fill(pair.b.mem, 100000, 1);
        post_read(&pair.a, 1, 0, 100000, at(&pair.b, 0), pair.b.mr->rkey, 0);
        count = end_take(&pair, &pair.a, octets, sizeof(octets));
        assert_gives_back(&pair.a);
        end_feed(&pair, &pair.b, octets, count, 0);
        pair_pump(&pair);
        expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
        assert_memory_equal(pair.a.mem, pair.b.mem, 100000);
        pair_close(&pair);
    }
}

static void one_that_has_ended_is_left_alone(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    one_message(&pair, 100, 1);
    pair_disconnect(&pair, &pair.a);
    pair_pump(&pair);
    assert_keeps(&pair.a);
    assert_keeps(&pair.b);
    pair_expect_over(&pair);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_are_whole_before_and_after),
        cmocka_unit_test(a_message_that_waits_for_a_receive_is_kept),
        cmocka_unit_test(half_an_fpdu_is_kept),
        cmocka_unit_test(what_is_not_sent_yet_is_kept),
        cmocka_unit_test(an_unanswered_read_does_not_keep_it),
        cmocka_unit_test(one_that_has_ended_is_left_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
