/* SPDX-License-Identifier: MIT */
/*
 * test_keep.c - srd_keep_posted: the peer's orderly end flushes nothing, every other end flushes as ever. Verbs know no
 * such setting; what it has to do follows from Microsoft's pages of NotifyDisconnect and of NDK's disconnect callback.
 */
#include "tests/unit/softrdma/stream_pair.h"

#include <errno.h>

static void to_error(struct end *end)
{
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

    assert_int_equal(srd_modify_qp(end->qp, &attr, IBV_QP_STATE), 0);
}

/* The other way to end a connection: its stream sees the end of TCP. */
static void end_of_tcp(struct pair *pair, struct end *end, int error)
{
    struct srd_qp *qp = srd_qp_from(end->qp);
    unsigned actions;

    lock_acquire(&qp->rx_lock);
    actions = srd_stream_rx_end(qp, error, pair->now_ms);
    lock_release(&qp->rx_lock);
    end_want(pair, end, actions);
}

static void expect_kept(struct end *end)
{
    expect_none(end->rcq);
    expect_none(end->scq);
    assert_int_equal(end->actions & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
    assert_int_equal(end->qp->state, IBV_QPS_RTS);
    assert_int_equal(next_async(end), -1);
}

static void left_by_peer(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    srd_keep_posted(b->qp);
    for (unsigned i = 0; i < 3; i++) {
        post_recv(b, 60 + i, 0, 64);
        post_recv(a, 50 + i, 0, 64);
    }
    post_send(a, 1, 0, 8, 0);
    pair_disconnect(pair, a);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(b->rcq, 60, IBV_WC_SUCCESS); /* what came before the end */
    expect_kept(b);
    for (unsigned i = 0; i < 3; i++) /* the end that disconnects is flushed, as ever */
        expect_wc(a->rcq, 50 + i, IBV_WC_WR_FLUSH_ERR);
    pair_disconnect(pair, b); /* the answer of the connection manager */
    post_recv(b, 63, 0, 64);
    post_send(b, 70, 0, 8, 0);
    post_read(b, 71, 0, 8, at(a, 0), a->mr->rkey, 0);
    pair_pump(pair);
    pair_time(pair, 5000);
    expect_kept(b);
    to_error(b);
    for (unsigned i = 1; i < 4; i++)
        expect_wc(b->rcq, 60 + i, IBV_WC_WR_FLUSH_ERR);
    expect_wc(b->scq, 70, IBV_WC_WR_FLUSH_ERR);
    expect_wc(b->scq, 71, IBV_WC_WR_FLUSH_ERR);
    pair_expect_over(pair);
}

static void orderly_end_leaves_requests_posted(void **state)
{
    struct pair pair;

    (void)state;
    pair_with_soft_peers(left_by_peer);
    for (unsigned seed = 0; seed < PAIR_SEEDS; seed++) {
        pair_open(&pair, PAIR_CRC, seed); /* another iWARP device */
        pair_pump(&pair);
        left_by_peer(&pair);
        pair_close(&pair);
    }
}

/* Requests under way have no answer any more, and have not failed. */
static void requests_under_way_stay(void **state)
{
    struct pair pair;

    (void)state;
    for (unsigned flags = 0; flags <= PAIR_SOFT; flags += PAIR_SOFT) {
        pair_open(&pair, flags, 0);
        pair_pump(&pair);
        srd_keep_posted(pair.b.qp);
        post_read(&pair.b, 1, 0, 8, at(&pair.a, 0), pair.a.mr->rkey, 0);
        post_write(&pair.b, 2, 0, 8, at(&pair.a, 0), pair.a.mr->rkey, 0);
        pair_move(&pair, &pair.b, &pair.a);
        end_of_tcp(&pair, &pair.b, 0);
        expect_none(pair.b.scq);
        assert_int_equal(pair.b.actions & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
        to_error(&pair.b);
        expect_wc(pair.b.scq, 1, IBV_WC_WR_FLUSH_ERR);
        expect_wc(pair.b.scq, 2, IBV_WC_WR_FLUSH_ERR);
        expect_none(pair.b.scq);
        pair_close(&pair);
    }
}

/* A message without a Receive, whose sender then gave up: after its time the end counts, and nothing has failed. */
static void message_without_a_receive_goes_with_its_sender(void **state)
{
    struct pair pair;

    (void)state;
    for (unsigned flags = 0; flags <= PAIR_SOFT; flags += PAIR_SOFT) {
        pair_open(&pair, flags, 0);
        pair_pump(&pair);
        srd_keep_posted(pair.b.qp);
        post_send(&pair.a, 1, 0, 8, 0);
        while (pair_move(&pair, &pair.a, &pair.b))
            ;
        end_of_tcp(&pair, &pair.b, 0);
        assert_int_equal(pair.b.actions & SRD_STREAM_DOWN, 0);
        post_send(&pair.b, 2, 0, 8, 0);
        pair_time(&pair, 251);
        assert_int_equal(pair.b.actions & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
        assert_int_equal(next_async(&pair.b), -1);
        if (flags & PAIR_SOFT) {
            expect_none(pair.b.scq);
            to_error(&pair.b);
            expect_wc(pair.b.scq, 2, IBV_WC_WR_FLUSH_ERR);
        }
        pair_close(&pair);
    }
}

enum how { RESET, WITHIN_A_MESSAGE, BY_US, TERMINATE, HOWS };

static void end_by(struct pair *pair, enum how how)
{
    struct end *a = &pair->a, *b = &pair->b;

    switch (how) {
    case RESET: end_of_tcp(pair, b, ECONNRESET); break;
    case WITHIN_A_MESSAGE:
        post_write(a, 3, 0, 100000, at(b, 200000), b->mr->rkey, 0);
        pair_move(pair, a, b);
        end_of_tcp(pair, b, 0);
        break;
    case BY_US:
        pair_disconnect(pair, b);
        pair_pump(pair);
        break;
    default: /* the peer is at fault, and both hear of it */
        post_write(a, 3, 0, 8, at(b, 0), b->mr->rkey ^ 0x55, 0);
        pair_pump(pair);
    }
}

static void other_ends_flush(void **state)
{
    struct pair pair;

    (void)state;
    for (int how = 0; how < HOWS; how++) {
        pair_open(&pair, PAIR_SOFT | PAIR_SMALL, 0);
        pair_pump(&pair);
        srd_keep_posted(pair.a.qp);
        srd_keep_posted(pair.b.qp);
        post_recv(&pair.b, 1, 0, 100000);
        post_recv(&pair.b, 2, 0, 100000);
        end_by(&pair, (enum how)how);
        expect_wc(pair.b.rcq, 1, IBV_WC_WR_FLUSH_ERR);
        expect_wc(pair.b.rcq, 2, IBV_WC_WR_FLUSH_ERR);
        assert_int_equal(pair.b.actions & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
        if (how == TERMINATE)
            expect_wc(pair.a.scq, 3, IBV_WC_REM_ACCESS_ERR);
        pair_close(&pair);
    }
}

/* An initiator whose program has not confirmed the connection: the attempt has failed, as ever. */
static void end_before_the_confirmation_flushes(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, PAIR_SOFT | PAIR_HELD, 0);
    srd_keep_posted(pair.a.qp);
    post_recv(&pair.a, 1, 0, 8);
    end_of_tcp(&pair, &pair.a, 0);
    expect_wc(pair.a.rcq, 1, IBV_WC_WR_FLUSH_ERR);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(orderly_end_leaves_requests_posted),
        cmocka_unit_test(requests_under_way_stay),
        cmocka_unit_test(message_without_a_receive_goes_with_its_sender),
        cmocka_unit_test(other_ends_flush),
        cmocka_unit_test(end_before_the_confirmation_flushes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
