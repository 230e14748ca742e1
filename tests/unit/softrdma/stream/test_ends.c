/* SPDX-License-Identifier: MIT */
/* How connections end: disconnect, FIN, reset, the error state; every request once, in order. */
#include "tests/unit/softrdma/stream_pair.h"

#include <errno.h>
#include <string.h>

static void graceful(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    for (unsigned i = 0; i < 3; i++) {
        post_recv(a, 50 + i, 0, 64);
        post_recv(b, 60 + i, 0, 64);
    }
    post_send(a, 1, 0, 8, 0);
    pair_disconnect(pair, a);
    post_send(a, 2, 0, 8, 0); /* behind the disconnect: flushed, in its turn */
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(a->scq, 2, IBV_WC_WR_FLUSH_ERR);
    expect_wc(b->rcq, 60, IBV_WC_SUCCESS);
    expect_wc(b->rcq, 61, IBV_WC_WR_FLUSH_ERR);
    expect_wc(b->rcq, 62, IBV_WC_WR_FLUSH_ERR);
    for (unsigned i = 0; i < 3; i++)
        expect_wc(a->rcq, 50 + i, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(next_async(a), -1);
    assert_int_equal(next_async(b), -1);
    pair_expect_over(pair);
}

static void disconnect_sends_what_was_posted_before(void **state)
{
    (void)state;
    pair_with_soft_peers(graceful);
    for (unsigned seed = 0; seed < PAIR_SEEDS; seed++) {
        struct pair pair;

        pair_open(&pair, PAIR_CRC, seed);
        pair_pump(&pair);
        graceful(&pair);
        pair_close(&pair);
    }
}

static void both_disconnect(struct pair *pair)
{
    post_send(&pair->a, 1, 0, 8, 0);
    post_send(&pair->b, 2, 0, 8, 0);
    post_recv(&pair->a, 3, 0, 8);
    post_recv(&pair->b, 4, 0, 8);
    pair_disconnect(pair, &pair->a);
    pair_disconnect(pair, &pair->b);
    pair_pump(pair);
    expect_wc(pair->a.scq, 1, IBV_WC_SUCCESS);
    expect_wc(pair->b.scq, 2, IBV_WC_SUCCESS);
    expect_wc(pair->a.rcq, 3, IBV_WC_SUCCESS);
    expect_wc(pair->b.rcq, 4, IBV_WC_SUCCESS);
    pair_expect_over(pair);
}

static void crossing_disconnects(void **state)
{
    (void)state;
    pair_with_soft_peers(both_disconnect);
}

/* A peer that takes no data keeps the program waiting for a bounded time only. */
static void disconnect_does_not_wait_for_ever(void **state)
{
    struct pair pair;
    uint8_t out[4096];

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    post_send(&pair.a, 1, 0, 8, 0);
    pair_disconnect(&pair, &pair.a);
    assert_true(end_take(&pair, &pair.a, out, sizeof(out)) > 0); /* and no answer comes */
    expect_none(pair.a.scq);
    assert_true(srd_stream_deadline_ms(srd_qp_from(pair.a.qp)) == pair.now_ms + 1000);
    pair_time(&pair, 999);
    expect_none(pair.a.scq);
    assert_int_equal(pair.a.actions & SRD_STREAM_DOWN, 0);
    pair_time(&pair, 1);
    expect_wc(pair.a.scq, 1, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(pair.a.actions & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
    pair_time(&pair, 1999); /* nor does it drain for ever */
    assert_false(pair.a.closed);
    pair_time(&pair, 1);
    assert_true(pair.a.closed);
    pair_close(&pair);
}

/* The process had no processor: what has come meanwhile has not been looked at. Three times, then it is over. */
static void deadlines_that_are_found_late_begin_anew(void **state)
{
    struct pair pair;
    uint8_t out[4096];

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    post_send(&pair.a, 1, 0, 8, 0);
    pair_disconnect(&pair, &pair.a);
    assert_true(end_take(&pair, &pair.a, out, sizeof(out)) > 0); /* and no answer comes */
    pair_time(&pair, 1100);
    expect_none(pair.a.scq);
    /* The time that was lost: with a whole second the caller, who gives up after two, would be told ND_TIMEOUT. */
    assert_true(srd_stream_deadline_ms(srd_qp_from(pair.a.qp)) == pair.now_ms + 100);
    pair_time(&pair, 60000);
    expect_none(pair.a.scq);
    assert_true(srd_stream_deadline_ms(srd_qp_from(pair.a.qp)) == pair.now_ms + 1000);
    pair_time(&pair, 1099);
    expect_wc(pair.a.scq, 1, IBV_WC_WR_FLUSH_ERR);
    for (int i = 0; i < 3; i++) {
        pair_time(&pair, i ? 60000 : 2100);
        assert_false(pair.a.closed);
        assert_true(srd_stream_deadline_ms(srd_qp_from(pair.a.qp)) == pair.now_ms + 2000);
    }
    pair_time(&pair, 60000);
    assert_true(pair.a.closed);
    pair_close(&pair);
}

/* A responder may not send before the peer's first FPDU: waiting would send none of its posted requests. */
static void disconnect_before_anything_may_be_sent_is_immediate(void **state)
{
    struct pair pair;
    uint8_t out[64];

    (void)state;
    pair_open(&pair, PAIR_SOFT | PAIR_HELD, 0);
    post_recv(&pair.b, 1, 0, 8);
    post_send(&pair.b, 2, 0, 8, 0);
    pair_disconnect(&pair, &pair.b);
    assert_int_equal(pair.b.actions & (SRD_STREAM_DOWN | SRD_STREAM_SHUTDOWN),
        SRD_STREAM_DOWN | SRD_STREAM_SHUTDOWN);
    expect_wc(pair.b.rcq, 1, IBV_WC_WR_FLUSH_ERR);
    expect_wc(pair.b.scq, 2, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(end_take(&pair, &pair.b, out, sizeof(out)), 0);
    pair_close(&pair);
}

static void aborted(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    for (unsigned i = 0; i < 3; i++) {
        post_recv(a, 50 + i, 0, 64);
        post_recv(b, 60 + i, 0, 64);
        post_write(a, 80 + i, 0, 200000, at(b, 200000), b->mr->rkey, 0);
    }
    post_write(b, 70, 0, 8, at(a, 0), a->mr->rkey, 0);
    post_read(b, 71, 0, 8, at(a, 0), a->mr->rkey, 0);
    post_write(b, 72, 0, 8, at(a, 0), a->mr->rkey, 0);
    while (pair_move(pair, b, a))
        ;
    end_want(pair, a, srd_stream_abort(srd_qp_from(a->qp), pair->now_ms));
    for (unsigned i = 0; i < 3; i++) {
        expect_wc(a->scq, 80 + i, IBV_WC_WR_FLUSH_ERR);
        expect_wc(a->rcq, 50 + i, IBV_WC_WR_FLUSH_ERR);
    }
    memset(a->mem, 0xee, MEM_OCTETS); /* ours again */
    pair_pump(pair);
    expect_wc(b->scq, 70, IBV_WC_SUCCESS); /* acknowledged before the FIN */
    expect_wc(b->scq, 71, IBV_WC_WR_FLUSH_ERR);
    expect_wc(b->scq, 72, IBV_WC_WR_FLUSH_ERR);
    for (unsigned i = 0; i < 3; i++)
        expect_wc(b->rcq, 60 + i, IBV_WC_WR_FLUSH_ERR);
    pair_expect_over(pair);
}

/* The program moves its queue pair to the error state: flush now at both ends, no Terminate, no FPDU is cut. */
static void error_state_flushes_both_ends(void **state)
{
    (void)state;
    pair_with_soft_peers(aborted);
}

static void read_before_the_error(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    fill(a->mem, 5000, 7);
    memset(b->mem, 0, 5000);
    post_read(b, 1, 0, 5000, at(a, 0), a->mr->rkey, 0);
    post_write(b, 2, 0, 8, at(a, 0), a->mr->rkey ^ 0x55, 0);
    while (pair_move(pair, b, a))
        ;
    pair_pump(pair);
    expect_wc(b->scq, 1, IBV_WC_SUCCESS);
    expect_wc(b->scq, 2, IBV_WC_REM_ACCESS_ERR);
    assert_memory_equal(a->mem, b->mem, 5000);
    pair_expect_over(pair);
}

/* Reads that a peer requested before its error are answered before the Terminate. */
static void responses_go_before_the_terminate(void **state)
{
    (void)state;
    pair_with_soft_peers(read_before_the_error);
}

static void never_connected(void **state)
{
    struct end end;
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };

    (void)state;
    end_open(&end, 0);
    for (unsigned i = 0; i < 3; i++) {
        post_recv(&end, 1 + i, 0, 8);
        post_send(&end, 11 + i, 0, 8, IBV_SEND_SIGNALED * (i & 1));
    }
    assert_int_equal(srd_modify_qp(end.qp, &attr, IBV_QP_STATE), 0);
    for (unsigned i = 0; i < 3; i++) {
        expect_wc(end.rcq, 1 + i, IBV_WC_WR_FLUSH_ERR);
        expect_wc(end.scq, 11 + i, IBV_WC_WR_FLUSH_ERR);
    }
    post_recv(&end, 4, 0, 8);
    expect_wc(end.rcq, 4, IBV_WC_WR_FLUSH_ERR);
    post_send(&end, 14, 0, 8, 0);
    expect_wc(end.scq, 14, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(srd_modify_qp(end.qp, &attr, IBV_QP_STATE), 0); /* idempotent */
    expect_none(end.scq);
    expect_none(end.rcq);
    end_close(&end);
}

static void states_and_posting(void **state)
{
    struct end end;
    struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 } },
                            got_init;
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RTS }, got;
    struct ibv_send_wr send = { .wr_id = 1, .opcode = IBV_WR_SEND }, *bad_send;
    struct ibv_recv_wr recv = { .wr_id = 2 }, *bad_recv;
    struct ibv_qp *qp;

    (void)state;
    end_open(&end, 0);
    init.send_cq = end.scq;
    init.recv_cq = end.rcq;
    qp = srd_create_qp(end.pd, &init);
    assert_non_null(qp);
    /* ibv_query_qp(3): the current state. An iWARP device of the kernel says INIT, and takes receives, as this one. */
    assert_int_equal(qp->state, IBV_QPS_RESET);
    assert_int_equal(srd_query_qp(qp, &got, 0, &got_init), 0);
    assert_int_equal(got.qp_state, IBV_QPS_RESET);
    assert_int_equal(got.cur_qp_state, IBV_QPS_RESET);
    assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
    assert_int_equal(ibv_post_send(qp, &send, &bad_send), EINVAL);
    assert_int_equal(srd_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL); /* not from RESET */
    attr.qp_state = IBV_QPS_INIT;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_READ;
    attr.port_num = 2;
    assert_int_equal(srd_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT), EINVAL);
    attr.port_num = 1;
    assert_int_equal(srd_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
    assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
    assert_int_equal(ibv_post_send(qp, &send, &bad_send), EINVAL);
    assert_ptr_equal(bad_send, &send);
    assert_int_equal(srd_query_qp(qp, &got, 0, &got_init), 0);
    assert_int_equal(got.qp_state, IBV_QPS_INIT);
    assert_int_equal(got.qp_access_flags, IBV_ACCESS_REMOTE_READ);
    assert_int_equal(got_init.cap.max_recv_wr, 4);
    attr.qp_state = IBV_QPS_RTR;
    attr.max_dest_rd_atomic = 17;
    assert_int_equal(srd_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_MAX_DEST_RD_ATOMIC), EINVAL);
    assert_int_equal(qp->state, IBV_QPS_INIT);
    assert_int_equal(srd_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    assert_int_equal(ibv_post_send(qp, &send, &bad_send), EINVAL);
    attr.qp_state = IBV_QPS_RTS;
    assert_int_equal(srd_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    assert_int_equal(ibv_post_send(qp, &send, &bad_send), 0);
    attr.qp_state = IBV_QPS_RESET; /* queued requests end without completions */
    assert_int_equal(srd_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    assert_int_equal(srd_query_qp(qp, &got, 0, &got_init), 0);
    assert_int_equal(got.qp_state, IBV_QPS_RESET);
    expect_none(end.scq);
    expect_none(end.rcq);
    assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
    attr.qp_state = IBV_QPS_INIT;
    assert_int_equal(srd_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
    assert_int_equal(srd_destroy_cq(end.scq), EBUSY);
    assert_int_equal(srd_destroy_qp(qp), 0);
    expect_none(end.rcq); /* requests queued on a destroyed queue pair complete no more */
    init.qp_type = IBV_QPT_UD;
    errno = 0;
    assert_null(srd_create_qp(end.pd, &init));
    assert_int_equal(errno, EOPNOTSUPP);
    end_close(&end);
}

static void fin_in_the_middle_of_a_message_is_an_error(void **state)
{
    struct pair pair;
    struct srd_qp *qp;

    (void)state;
    for (int form = 0; form < 3; form++) {
        pair_open(&pair, PAIR_SMALL, 0);
        pair_pump(&pair);
        post_recv(&pair.b, 1, 0, 100000);
        post_recv(&pair.b, 2, 0, 100000);
        if (form == 2)
            post_read(
                &pair.b, 3, 0, 8, at(&pair.a, 0), pair.a.mr->rkey, 0); /* waits for an answer */
        else if (form == 1)
            post_write(&pair.a, 3, 0, 100000, at(&pair.b, 200000), pair.b.mr->rkey, 0);
        else
            post_send(&pair.a, 3, 0, 100000, 0);
        pair_move(&pair, form == 2 ? &pair.b : &pair.a, form == 2 ? &pair.a : &pair.b);
        qp = srd_qp_from(pair.b.qp);
        lock_acquire(&qp->rx_lock);
        pair.b.actions |= srd_stream_rx_end(qp, 0, pair.now_ms);
        lock_release(&qp->rx_lock);
        expect_wc(pair.b.rcq, 1, IBV_WC_WR_FLUSH_ERR);
        expect_wc(pair.b.rcq, 2, IBV_WC_WR_FLUSH_ERR);
        if (form == 2)
            expect_wc(pair.b.scq, 3, IBV_WC_WR_FLUSH_ERR);
        assert_int_equal(pair.b.actions & (SRD_STREAM_DOWN | SRD_STREAM_CLOSE),
            SRD_STREAM_DOWN | SRD_STREAM_CLOSE);
        pair_close(&pair);
    }
}

static void reset_flushes_after_what_came_before(void **state)
{
    struct pair pair;
    struct srd_qp *qp;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    post_recv(&pair.b, 1, 0, 8);
    post_recv(&pair.b, 2, 0, 8);
    post_send(&pair.b, 3, 0, 8, 0);
    post_send(&pair.a, 4, 0, 8, 0);
    while (pair_move(&pair, &pair.a, &pair.b))
        ;
    qp = srd_qp_from(pair.b.qp);
    lock_acquire(&qp->rx_lock);
    end_want(&pair, &pair.b, srd_stream_rx_end(qp, ECONNRESET, pair.now_ms));
    lock_release(&qp->rx_lock);
    expect_wc(pair.b.rcq, 1, IBV_WC_SUCCESS);
    expect_wc(pair.b.rcq, 2, IBV_WC_WR_FLUSH_ERR);
    expect_wc(pair.b.scq, 3, IBV_WC_WR_FLUSH_ERR);
    assert_true(pair.b.closed);
    pair_close(&pair);
}

/* The peer went after its Send; the receive comes late, and in time. */
static void fin_behind_a_held_message(void **state)
{
    struct pair pair;

    (void)state;
    for (unsigned flags = 0; flags <= PAIR_SRQ; flags += PAIR_SRQ) {
        for (int in_time = 0; in_time < 2; in_time++) {
            pair_open(&pair, flags, 0); /* foreign: the sender does not wait */
            pair_pump(&pair);
            post_send(&pair.a, 1, 0, 8, 0);
            pair_disconnect(&pair, &pair.a);
            pair_pump(&pair);
            assert_true(pair.b.fin_got);
            assert_int_equal(pair.b.actions & SRD_STREAM_DOWN, 0);
            if (in_time) {
                if (flags & PAIR_SRQ)
                    post_srq_recv(&pair.b, 9, 0, 8);
                else
                    post_recv(&pair.b, 9, 0, 8);
                expect_wc(pair.b.rcq, 9, IBV_WC_SUCCESS);
            } else {
                pair_time(&pair, 251);
                assert_int_equal(pair.b.actions & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
            }
            assert_int_equal(pair.b.qp->state, IBV_QPS_ERR);
            pair_close(&pair);
        }
    }
}

/* A queue pair serves one connection; after a reset it may have another. */
static void reset_makes_it_new(void **state)
{
    struct pair pair;
    struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
    struct srd_stream_params params = { .initiator = true, .fpdu_max_octets = 65536 };

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    assert_int_equal(
        srd_stream_start(srd_qp_from(pair.a.qp), &params, NULL, 0, pair.now_ms), SRD_STREAM_CLOSE);
    for (int round = 0; round < 3; round++) {
        struct end *ends[2] = { &pair.b, &pair.a };

        post_recv(&pair.b, 1, 0, 8);
        post_send(&pair.a, 2, 0, 8, 0);
        pair_pump(&pair);
        expect_wc(pair.b.rcq, 1, IBV_WC_SUCCESS);
        expect_wc(pair.a.scq, 2, IBV_WC_SUCCESS);
        post_read(&pair.a, 3, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
        for (int i = 0; i < 2; i++) {
            struct end *end = ends[i];

            attr.qp_state = IBV_QPS_RESET;
            assert_int_equal(srd_modify_qp(end->qp, &attr, IBV_QP_STATE), 0);
            for (int s = IBV_QPS_INIT; s <= IBV_QPS_RTS; s++) {
                attr.qp_state = (enum ibv_qp_state)s;
                assert_int_equal(srd_modify_qp(end->qp, &attr, IBV_QP_STATE), 0);
            }
            end->actions = 0;
            end->closed = end->fin_got = end->fin_sent = false;
            end->pipe_octets = 0;
        }
        expect_none(pair.a.scq);
        end_start(&pair, &pair.b, false);
        end_start(&pair, &pair.a, true);
        pair_pump(&pair);
    }
    pair_close(&pair);
}

/* Sends so many octets of what is due and drops them. */
static void send_part(struct pair *pair, struct end *end, size_t octets)
{
    struct srd_qp *qp = srd_qp_from(end->qp);
    struct iovec iov[SRD_TX_IOV];
    size_t total = 0;
    unsigned actions = 0;
    int n;

    lock_acquire(&qp->tx_lock);
    n = srd_stream_tx(qp, iov, pair->now_ms, &actions);
    for (int i = 0; i < n; i++)
        total += iov[i].iov_len;
    assert_true(total > octets);
    actions |= srd_stream_tx_done(qp, octets, pair->now_ms);
    lock_release(&qp->tx_lock);
    end_want(pair, end, actions);
}

/* The memory of a half-sent FPDU is deregistered: that does not wait for the socket, and the connection is cut. */
static void memory_goes_while_it_is_sent(void **state)
{
    (void)state;
    for (int response = 0; response < 2; response++) {
        struct pair pair;
        struct end *a = &pair.a, *b = &pair.b, *sender = response ? b : a;
        uint8_t out[64];

        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        post_recv(sender, 9, 0, 8);
        if (response) {
            post_read(a, 1, 0, 100000, at(b, 0), b->mr->rkey, 0);
            while (pair_move(&pair, a, b))
                ;
        } else {
            post_write(a, 1, 0, 100000, at(b, 0), b->mr->rkey, 0);
            post_write(a, 2, 0, 8, at(b, 0), b->mr->rkey, 0);
        }
        send_part(&pair, sender, 30000);
        assert_int_equal(srd_dereg_mr(sender->mr), 0);
        assert_int_equal(end_take(&pair, sender, out, sizeof(out)), 0);
        assert_int_equal(sender->actions & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
        assert_true(sender->closed);
        if (!response) {
            expect_wc(a->scq, 1, IBV_WC_WR_FLUSH_ERR);
            expect_wc(a->scq, 2, IBV_WC_WR_FLUSH_ERR);
        }
        expect_wc(sender->rcq, 9, IBV_WC_WR_FLUSH_ERR);
        expect_none(sender->scq);
        assert_int_equal(next_async(sender), IBV_EVENT_QP_FATAL);
        sender->mr = srd_reg_mr(sender->pd, sender->mem, MEM_OCTETS, 0); /* for end_close */
        pair_close(&pair);
    }
}

/* An FPDU under way when the queue pair goes to the error state is completed from a copy, and nothing follows it. */
static void fpdu_under_way_is_completed(void **state)
{
    struct pair pair;
    struct end *a = &pair.a;
    static uint8_t out[2 * 65536];
    size_t octets;

    (void)state;
    pair_open(&pair, 0, 0);
    pair_pump(&pair);
    fill(a->mem, 200000, 3);
    post_write(a, 1, 0, 200000, 0x1000, 0x11223344, 0);
    send_part(&pair, a, 70000); /* into the second of four */
    end_want(&pair, a, srd_stream_abort(srd_qp_from(a->qp), pair.now_ms));
    expect_wc(a->scq, 1, IBV_WC_WR_FLUSH_ERR);
    memset(a->mem, 0xee, 200000); /* ours again */
    assert_int_equal(srd_dereg_mr(a->mr), 0);
    octets = end_take(&pair, a, out, sizeof(out));
    assert_int_equal(octets, 2 * 65536 - 70000);
    fill(a->mem, 200000, 3);
    /* payload: 65516 octets each, the second FPDU's begins at 65536 + 16 */
    assert_memory_equal(out, a->mem + 65516 + (70000 - 65536 - 16), octets - 4);
    a->mr = srd_reg_mr(a->pd, a->mem, MEM_OCTETS, 0);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disconnect_sends_what_was_posted_before),
        cmocka_unit_test(crossing_disconnects),
        cmocka_unit_test(disconnect_does_not_wait_for_ever),
        cmocka_unit_test(deadlines_that_are_found_late_begin_anew),
        cmocka_unit_test(disconnect_before_anything_may_be_sent_is_immediate),
        cmocka_unit_test(error_state_flushes_both_ends),
        cmocka_unit_test(responses_go_before_the_terminate),
        cmocka_unit_test(never_connected),
        cmocka_unit_test(states_and_posting),
        cmocka_unit_test(fin_in_the_middle_of_a_message_is_an_error),
        cmocka_unit_test(reset_flushes_after_what_came_before),
        cmocka_unit_test(fin_behind_a_held_message),
        cmocka_unit_test(reset_makes_it_new),
        cmocka_unit_test(memory_goes_while_it_is_sent),
        cmocka_unit_test(fpdu_under_way_is_completed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
