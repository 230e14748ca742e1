/* SPDX-License-Identifier: MIT */
/* Receiver not ready: what waits, what does not, for how long, and how much of it is kept. */
#include "tests/unit/softrdma/stream_pair.h"
#include "util/clock.h"

#include <errno.h>

static void held_message_gets_a_late_receive(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    fill(a->mem, 9000, 1);
    post_send(a, 1, 0, 9000, 0);
    post_write(a, 2, 0, 100, at(b, 50000), b->mr->rkey, 0);
    post_send(a, 3, 0, 16, 0);
    pair_pump(pair);
    expect_none(a->scq);
    assert_int_equal(b->mem[50000], 0); /* stands behind the Send */
    pair_time(pair, 100);
    post_recv(b, 10, 0, 9000);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    expect_none(a->scq);
    expect_wc(b->rcq, 10, IBV_WC_SUCCESS);
    assert_memory_equal(b->mem, a->mem, 9000);
    assert_memory_equal(b->mem + 50000, a->mem, 100);
    post_recv(b, 11, 0, 9000);
    pair_pump(pair);
    expect_wc(a->scq, 3, IBV_WC_SUCCESS);
    expect_wc(b->rcq, 11, IBV_WC_SUCCESS);
    pair_time(pair, 10000);
    pair_pump(pair);
    assert_int_equal((a->actions | b->actions) & SRD_STREAM_DOWN, 0);
}

static void receive_in_time(void **state)
{
    (void)state;
    pair_with_soft_peers(held_message_gets_a_late_receive);
}

/* The time is each message's own: that of the second begins when the first has its receive, by the real clock. */
static void two_held_messages(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    uint64_t since_ms = clock_now_ms();

    pair->now_ms = since_ms - 200;
    post_send(a, 1, 0, 8, 0);
    post_send(a, 2, 0, 8, 0);
    pair_pump(pair);
    assert_true(srd_stream_deadline_ms(srd_qp_from(b->qp)) == pair->now_ms + 250);
    post_recv(b, 10, 0, 8);
    expect_wc(b->rcq, 10, IBV_WC_SUCCESS);
    assert_true(srd_stream_deadline_ms(srd_qp_from(b->qp)) >= since_ms + 250);
    assert_true(srd_stream_deadline_ms(srd_qp_from(b->qp)) <= clock_now_ms() + 250);
    post_recv(b, 11, 0, 8);
    expect_wc(b->rcq, 11, IBV_WC_SUCCESS);
    assert_true(srd_stream_deadline_ms(srd_qp_from(b->qp)) == UINT64_MAX);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
}

static void the_next_held_message_has_its_own_time(void **state)
{
    (void)state;
    pair_with_soft_peers(two_held_messages);
}

/* The stream's next deadline was set so long ahead since then. */
static void expect_deadline(struct end *end, uint64_t since_ms, uint64_t ahead_ms)
{
    uint64_t deadline_ms = srd_stream_deadline_ms(srd_qp_from(end->qp));

    assert_true(deadline_ms >= since_ms + ahead_ms);
    assert_true(deadline_ms <= clock_now_ms() + ahead_ms);
}

static void octets_without_a_time(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    uint64_t since_ms = clock_now_ms();

    pair->now_ms = SRD_STREAM_NOW;
    post_send(a, 1, 0, 8, 0);
    pair_pump(pair);
    expect_deadline(b, since_ms, 250); /* for a Receive */
    post_recv(b, 10, 0, 8);
    expect_wc(b->rcq, 10, IBV_WC_SUCCESS);
    assert_true(srd_stream_deadline_ms(srd_qp_from(b->qp)) == UINT64_MAX);
    since_ms = clock_now_ms();
    post_recv(b, 11, 0, 4);
    post_send(a, 2, 0, 8, 0);
    pair_pump(pair);
    expect_wc(b->rcq, 11, IBV_WC_LOC_LEN_ERR);
    expect_deadline(b, since_ms, 2000); /* for the peer's FIN */
    pair->now_ms = clock_now_ms();
}

static void a_stream_that_is_told_no_time_looks_at_the_clock(void **state)
{
    (void)state;
    pair_with_soft_peers(octets_without_a_time);
}

static void rnr(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    post_write(a, 1, 0, 8, at(b, 0), b->mr->rkey, 0);
    post_send(a, 2, 0, 8, 0);
    post_send(a, 3, 0, 8, 0);
    pair_pump(pair);
    pair_time(pair, 240);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_none(a->scq);
    assert_int_equal(b->actions & SRD_STREAM_DOWN, 0);
    pair_time(pair, 11);
    pair_pump(pair);
    assert_int_equal(expect_wc(a->scq, 2, IBV_WC_RNR_RETRY_EXC_ERR).vendor_err, 0x1202);
    assert_int_equal(expect_wc(a->scq, 3, IBV_WC_WR_FLUSH_ERR).vendor_err, 0);
    assert_int_equal(next_async(b), IBV_EVENT_QP_FATAL);
    pair_expect_over(pair);
}

static void no_receive_in_time(void **state)
{
    (void)state;
    pair_with_soft_peers(rnr);
}

/*
 * The program posted a Receive in time, but the thread that did lost the processor before it resumed the stream: this
 * test takes the queue pair off the list of those that the post resumes.
 */
static void posted_and_not_resumed(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct srd_qp *qp = srd_qp_from(b->qp);

    post_send(a, 1, 0, 20000, 0);
    pair_pump(pair);
    assert_true(srd_rq_stop_waiting(qp));
    srd_qp_unpin(qp);
    post_recv(b, 10, 0, 20000);
    expect_none(b->rcq);
    pair_time(pair, 250);
    expect_wc(b->rcq, 10, IBV_WC_SUCCESS);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    assert_int_equal(b->actions & SRD_STREAM_DOWN, 0);
    assert_true(srd_stream_deadline_ms(qp) == UINT64_MAX);
}

static void a_receive_counts_that_was_posted_in_time(void **state)
{
    (void)state;
    pair_with_soft_peers(posted_and_not_resumed);
}

/* A message that waits for a Receive opens the responder's send side when its first FPDU is there, not its header. */
static void half_an_fpdu_opens_nothing(void **state)
{
    static uint8_t fpdu[32768];
    struct pair pair;
    size_t octets;

    (void)state;
    pair_open(&pair, PAIR_SOFT | PAIR_NO_RTR, 0);
    post_send(&pair.a, 1, 0, 20000, 0);
    octets = end_take(&pair, &pair.a, fpdu, sizeof(fpdu));
    end_feed(&pair, &pair.b, fpdu, octets - 1, 0);
    assert_false(atomic_load(&srd_qp_from(pair.b.qp)->stream.open));
    end_feed(&pair, &pair.b, fpdu + octets - 1, 1, 0);
    assert_true(atomic_load(&srd_qp_from(pair.b.qp)->stream.open));
    pair_close(&pair);
}

/* rnr_retry_count and min_rnr_timer of the receiver: how long a message waits, ms; 0: for ever. */
static void waits_as_long_as_the_program_said(void **state)
{
    static const struct {
        uint8_t retries, timer;
        unsigned ms;
    } rows[] = {
        { 0, 0, 250 },
        { 0, 31, 250 },
        { 6, 1, 250 },
        { 1, 0, 655 },
        { 6, 0, 3932 },
        { 3, 31, 1474 },
        { 6, 29, 1474 },
        { 7, 0, 0 },
        { 7, 1, 0 },
        { 7, 31, 0 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        for (unsigned shared = 0; shared <= PAIR_SRQ; shared += PAIR_SRQ) {
            struct ibv_qp_attr attr = { .rnr_retry = rows[i].retries,
                .min_rnr_timer = rows[i].timer };
            unsigned most = rows[i].ms ? rows[i].ms - 1 : 100000000;
            struct pair pair;

            pair_open(&pair, PAIR_SOFT | shared, 0);
            pair_pump(&pair);
            assert_int_equal(
                srd_modify_qp(pair.b.qp, &attr, IBV_QP_RNR_RETRY | IBV_QP_MIN_RNR_TIMER), 0);
            post_send(&pair.a, 1, 0, 8, 0);
            pair_pump(&pair);
            pair_time(&pair, most);
            pair_pump(&pair);
            expect_none(pair.a.scq);
            assert_int_equal(pair.b.actions & SRD_STREAM_DOWN, 0);
            pair_time(&pair, 1);
            pair_pump(&pair);
            if (rows[i].ms)
                expect_wc(pair.a.scq, 1, IBV_WC_RNR_RETRY_EXC_ERR);
            else
                expect_none(pair.a.scq);
            pair_close(&pair);
        }
}

static void retries_that_do_not_exist(void **state)
{
    struct ibv_qp_attr attr = { .rnr_retry = 8, .min_rnr_timer = 32 };
    struct pair pair;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    assert_int_equal(srd_modify_qp(pair.b.qp, &attr, IBV_QP_RNR_RETRY), EINVAL);
    assert_int_equal(srd_modify_qp(pair.b.qp, &attr, IBV_QP_MIN_RNR_TIMER), EINVAL);
    pair_close(&pair);
}

/* Our own requests go on while the peer's message is held. */
static void hold_does_not_block_acks_and_responses(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    fill(a->mem, 100000, 4);
    post_send(a, 1, 0, 8, 0); /* no receive at b */
    pair_pump(pair);
    post_read(b, 20, 200000, 100000, at(a, 0), a->mr->rkey, 0);
    post_write(b, 21, 0, 8, at(a, 300000), a->mr->rkey, 0);
    pair_pump(pair);
    expect_wc(b->scq, 20, IBV_WC_SUCCESS);
    expect_wc(b->scq, 21, IBV_WC_SUCCESS);
    assert_memory_equal(b->mem + 200000, a->mem, 100000);
    expect_none(a->scq);
    post_recv(b, 10, 0, 8);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(b->rcq, 10, IBV_WC_SUCCESS);
}

static void held_message_blocks_only_what_is_behind_it(void **state)
{
    (void)state;
    pair_with_soft_peers(hold_does_not_block_acks_and_responses);
}

/* The peer's Terminate about our request is handled while its message is held. */
static void terminate_behind_hold(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    post_send(a, 1, 0, 8, 0); /* no receive at b */
    pair_pump(pair);
    post_write(b, 20, 0, 8, at(a, 0), a->mr->rkey + 1, 0);
    post_write(b, 21, 0, 8, at(a, 0), a->mr->rkey, 0);
    pair_pump(pair);
    assert_int_equal(expect_wc(b->scq, 20, IBV_WC_REM_ACCESS_ERR).vendor_err, 0x1100);
    expect_wc(b->scq, 21, IBV_WC_WR_FLUSH_ERR);
    expect_wc(a->scq, 1, IBV_WC_WR_FLUSH_ERR);
    pair_expect_over(pair);
}

static void terminate_does_not_wait_behind_a_held_message(void **state)
{
    (void)state;
    pair_with_soft_peers(terminate_behind_hold);
}

/* A stream holds a bounded amount: beyond that it does not read the socket until later. */
static void hold_is_bounded(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    fill(a->mem, 1 << 20, 4);
    post_send(a, 1, 0, 1 << 20, 0);
    post_send(a, 2, 0, 1 << 20, 0);
    pair_pump(pair);
    assert_true(b->pipe_octets > 0);
    assert_true(b->pipe_octets >= 2 * (1 << 20) - 262144 - 131072);
    post_recv(b, 10, 0, 1 << 20);
    pair_pump(pair);
    expect_wc(b->rcq, 10, IBV_WC_SUCCESS);
    assert_memory_equal(b->mem, a->mem, 1 << 20);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    post_recv(b, 11, 1 << 20, 1 << 20);
    pair_pump(pair);
    expect_wc(b->rcq, 11, IBV_WC_SUCCESS);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    assert_memory_equal(b->mem + (1 << 20), a->mem, 1 << 20);
    assert_int_equal(b->pipe_octets, 0);
}

static void held_data_is_bounded(void **state)
{
    (void)state;
    pair_with_soft_peers(hold_is_bounded);
}

static void shared_queue_waits_for_ever(void **state)
{
    struct pair pair;
    struct ibv_srq_attr attr = { .srq_limit = 2 };

    (void)state;
    pair_open(&pair, PAIR_SOFT | PAIR_SRQ, 2);
    pair_pump(&pair);
    post_send(&pair.a, 1, 0, 8, 0);
    pair_pump(&pair);
    pair_time(&pair, 3600000);
    pair_pump(&pair);
    expect_none(pair.a.scq);
    assert_int_equal(pair.b.actions & SRD_STREAM_DOWN, 0);
    post_srq_recv(&pair.b, 10, 0, 8);
    pair_pump(&pair);
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    expect_wc(pair.b.rcq, 10, IBV_WC_SUCCESS);

    for (unsigned i = 0; i < 3; i++)
        post_srq_recv(&pair.b, 20 + i, 0, 8);
    assert_int_equal(srd_modify_srq(pair.b.srq, &attr, IBV_SRQ_LIMIT), 0);
    assert_int_equal(next_async(&pair.b), -1);
    post_send(&pair.a, 2, 0, 8, 0);
    pair_pump(&pair);
    assert_int_equal(next_async(&pair.b), -1); /* two left: not below */
    post_send(&pair.a, 3, 0, 8, 0);
    pair_pump(&pair);
    assert_int_equal(next_async(&pair.b), IBV_EVENT_SRQ_LIMIT_REACHED);
    post_send(&pair.a, 4, 0, 8, 0);
    pair_pump(&pair);
    assert_int_equal(next_async(&pair.b), -1); /* once */
    assert_int_equal(srd_modify_srq(pair.b.srq, &attr, IBV_SRQ_LIMIT), 0);
    assert_int_equal(next_async(&pair.b), IBV_EVENT_SRQ_LIMIT_REACHED); /* armed below: at once */

    /* shared receives survive the queue pair */
    post_srq_recv(&pair.b, 30, 0, 8);
    for (unsigned i = 0; i < 3; i++)
        expect_wc(pair.b.rcq, 20 + i, IBV_WC_SUCCESS);
    end_want(&pair, &pair.b, srd_stream_abort(srd_qp_from(pair.b.qp), pair.now_ms));
    pair_pump(&pair);
    expect_none(pair.b.rcq);
    assert_int_equal(srd_query_srq(pair.b.srq, &attr), 0);
    assert_int_equal(attr.max_wr, 64);
    pair_close(&pair);
}

/* A queue pair that has ended waits at no receive queue any more: Receives posted there later are for others. */
static void the_end_ends_the_wait_for_a_receive(void **state)
{
    static const unsigned forms[] = { PAIR_SOFT, PAIR_SOFT | PAIR_SRQ };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct pair pair;
        struct srd_qp *qp;

        pair_open(&pair, forms[i], 0);
        pair_pump(&pair);
        qp = srd_qp_from(pair.b.qp);
        post_send(&pair.a, 1, 0, 8, 0);
        pair_pump(&pair);
        assert_true(list_linked(&qp->waiting_node));
        end_want(&pair, &pair.b, srd_stream_abort(qp, pair.now_ms));
        assert_false(list_linked(&qp->waiting_node));
        assert_true(list_empty(&qp->rq->waiting));
        assert_false(qp->stream.rx.held);
        pair_pump(&pair);
        pair_close(&pair);
    }
}

static void post_shared(
    struct end *end, uint64_t wr_id, const struct ibv_mr *mr, uint32_t first, uint32_t second)
{
    struct ibv_sge sge[2] = { { at(end, 0), first, mr->lkey },
        { at(end, first), second, mr->lkey } };
    struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = sge, .num_sge = second ? 2 : 1 }, *bad;

    assert_int_equal(ibv_post_srq_recv(end->srq, &wr, &bad), 0);
}

/*
 * Buffers of a shared queue are of its domain, whatever that of the queue pair which takes them: ibv_create_srq(3)
 * associates the queue with a domain, and ibv_post_srq_recv(3) knows no queue pair. What a Read brings is no Receive.
 */
static void receives_of_a_shared_queue_are_of_its_domain(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 2; form++) {
        struct pair pair;
        struct end *a = &pair.a, *b = &pair.b;
        struct ibv_mr *mr;

        pair_open(&pair, PAIR_SOFT | PAIR_SRQ | PAIR_SRQ_DOMAIN | (form ? PAIR_SMALL : 0), form);
        mr = srd_reg_mr(b->srq_pd, b->mem, 8192, IBV_ACCESS_LOCAL_WRITE);
        assert_non_null(mr);
        fill(a->mem, 4096, 5);
        post_shared(b, 10, mr, 4096, 0);
        post_shared(b, 11, mr, 40, 4000);
        for (unsigned i = 0; i < 2; i++) {
            memset(b->mem, 0, 4096);
            post_send(a, 1 + i, 0, 4000, 0);
            pair_pump(&pair);
            expect_wc(a->scq, 1 + i, IBV_WC_SUCCESS);
            expect_wc(b->rcq, 10 + i, IBV_WC_SUCCESS);
            assert_memory_equal(b->mem, a->mem, 4000);
        }
        post_read(b, 12, 4096, 4000, at(a, 0), a->mr->rkey, 0);
        pair_pump(&pair);
        expect_wc(b->scq, 12, IBV_WC_SUCCESS);
        assert_memory_equal(b->mem + 4096, a->mem, 4000);
        post_shared(b, 13, b->mr, 4096, 0); /* the queue pair's domain */
        post_send(a, 3, 0, 8, 0);
        pair_pump(&pair);
        expect_wc(b->rcq, 13, IBV_WC_LOC_PROT_ERR);
        assert_int_equal(srd_dereg_mr(mr), 0);
        pair_close(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(receives_of_a_shared_queue_are_of_its_domain),
        cmocka_unit_test(receive_in_time),
        cmocka_unit_test(the_next_held_message_has_its_own_time),
        cmocka_unit_test(a_stream_that_is_told_no_time_looks_at_the_clock),
        cmocka_unit_test(no_receive_in_time),
        cmocka_unit_test(a_receive_counts_that_was_posted_in_time),
        cmocka_unit_test(half_an_fpdu_opens_nothing),
        cmocka_unit_test(waits_as_long_as_the_program_said),
        cmocka_unit_test(retries_that_do_not_exist),
        cmocka_unit_test(held_message_blocks_only_what_is_behind_it),
        cmocka_unit_test(terminate_does_not_wait_behind_a_held_message),
        cmocka_unit_test(held_data_is_bounded),
        cmocka_unit_test(shared_queue_waits_for_ever),
        cmocka_unit_test(the_end_ends_the_wait_for_a_receive),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
