/* SPDX-License-Identifier: MIT */
/* Every operation between two streams joined in memory, with and without CRC and acknowledgements, cut at random. */
#include "tests/unit/softrdma/stream_pair.h"

#include <errno.h>
#include <string.h>

static const unsigned forms[] = { 0, PAIR_CRC, PAIR_SOFT, PAIR_SOFT | PAIR_CRC, PAIR_SMALL,
    PAIR_SMALL | PAIR_CRC, PAIR_SOFT | PAIR_SMALL, PAIR_RTR_READ, PAIR_NO_RTR };

enum { FORMS = sizeof(forms) / sizeof(*forms), SEEDS = 6 };

/* Runs body on a fresh pair of every form, uncut and with several random cuts. */
static void everywhere(void (*body)(struct pair *))
{
    for (size_t f = 0; f < FORMS; f++)
        for (unsigned seed = 0; seed < SEEDS; seed++) {
            struct pair pair;

            pair_open(&pair, forms[f], seed);
            pair_pump(&pair);
            body(&pair);
            pair_close(&pair);
        }
}

static void sends(struct pair *pair)
{
    static const uint32_t sizes[] = { 4, 0, 1, 5, 1023, 1025, 5000, 65512, 65513, 200000 };
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_wc wc;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        fill(a->mem, sizes[i], (unsigned)i + 1);
        memset(b->mem, 0xcc, sizes[i] + 8);
        post_recv(b, 100 + i, 0, sizes[i] + 4);
        post_send(a, i, 0, sizes[i], 0);
        pair_pump(pair);
        wc = expect_wc(a->scq, i, IBV_WC_SUCCESS);
        assert_int_equal(wc.opcode, IBV_WC_SEND);
        assert_int_equal(wc.qp_num, a->qp->qp_num);
        wc = expect_wc(b->rcq, 100 + i, IBV_WC_SUCCESS);
        assert_int_equal(wc.opcode, IBV_WC_RECV);
        assert_int_equal(wc.byte_len, sizes[i]);
        assert_int_equal(wc.wc_flags, 0);
        assert_int_equal(wc.qp_num, b->qp->qp_num);
        assert_memory_equal(a->mem, b->mem, sizes[i]);
        assert_int_equal(b->mem[sizes[i]], 0xcc);
    }
}

static void sends_of_all_sizes(void **state)
{
    (void)state;
    everywhere(sends);
}

static void writes(struct pair *pair)
{
    static const uint32_t sizes[] = { 8, 1, 0, 1024, 4097, 65516, 65517, 300001 };
    struct end *a = &pair->a, *b = &pair->b;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        fill(a->mem, sizes[i], (unsigned)i + 7);
        memset(b->mem, 0xcc, sizes[i] + 80);
        post_write(a, i, 0, sizes[i], at(b, 33), b->mr->rkey, 0);
        pair_pump(pair);
        assert_int_equal(expect_wc(a->scq, i, IBV_WC_SUCCESS).opcode, IBV_WC_RDMA_WRITE);
        expect_none(b->rcq);
        assert_memory_equal(a->mem, b->mem + 33, sizes[i]);
        assert_int_equal(b->mem[32], 0xcc);
        assert_int_equal(b->mem[33 + sizes[i]], 0xcc);
    }
}

static void writes_of_all_sizes(void **state)
{
    (void)state;
    everywhere(writes);
}

static void reads(struct pair *pair)
{
    static const uint32_t sizes[] = { 8, 1, 0, 1024, 4097, 65516, 65517, 300001 };
    struct end *a = &pair->a, *b = &pair->b;

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        fill(b->mem, sizes[i], (unsigned)i + 7);
        memset(a->mem, 0xcc, sizes[i] + 80);
        post_read(a, i, 33, sizes[i], at(b, 0), b->mr->rkey, 0);
        pair_pump(pair);
        assert_int_equal(expect_wc(a->scq, i, IBV_WC_SUCCESS).opcode, IBV_WC_RDMA_READ);
        assert_memory_equal(a->mem + 33, b->mem, sizes[i]);
        assert_int_equal(a->mem[32], 0xcc);
        assert_int_equal(a->mem[33 + sizes[i]], 0xcc);
    }
}

static void reads_of_all_sizes(void **state)
{
    (void)state;
    everywhere(reads);
}

/* Lists with empty and tiny entries on both sides. */
static void scattered(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    uint32_t key = a->mr->lkey, bkey = b->mr->lkey;
    struct ibv_sge from[4] = { { at(a, 0), 1, key }, { 0, 0, 0 }, { at(a, 100), 70000, key },
        { at(a, 90000), 3, key } };
    struct ibv_sge to[4] = { { at(b, 5), 3, bkey }, { at(b, 1000), 9000, bkey },
        { at(b, 20000), 1, bkey }, { at(b, 30000), 100000, bkey } };
    struct ibv_recv_wr recv = { .wr_id = 9, .sg_list = to, .num_sge = 4 }, *bad_recv;
    struct ibv_send_wr send = { .wr_id = 1,
        .sg_list = from,
        .num_sge = 4,
        .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED },
                       *bad;
    static uint8_t sent[70004], got[70004];

    fill(a->mem, 100000, 3);
    sent[0] = a->mem[0];
    memcpy(sent + 1, a->mem + 100, 70000);
    memcpy(sent + 70001, a->mem + 90000, 3);
    assert_int_equal(ibv_post_recv(b->qp, &recv, &bad_recv), 0);
    assert_int_equal(ibv_post_send(a->qp, &send, &bad), 0);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    assert_int_equal(expect_wc(b->rcq, 9, IBV_WC_SUCCESS).byte_len, 70004);
    memcpy(got, b->mem + 5, 3);
    memcpy(got + 3, b->mem + 1000, 9000);
    memcpy(got + 9003, b->mem + 20000, 1);
    memcpy(got + 9004, b->mem + 30000, 70004 - 9004);
    assert_memory_equal(sent, got, sizeof(sent));

    /* a Read into a list */
    memset(a->mem, 0, 100000);
    fill(b->mem, 70004, 4);
    send.opcode = IBV_WR_RDMA_READ;
    send.wr_id = 2;
    send.wr.rdma.remote_addr = at(b, 0);
    send.wr.rdma.rkey = b->mr->rkey;
    assert_int_equal(ibv_post_send(a->qp, &send, &bad), 0);
    pair_pump(pair);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    assert_int_equal(a->mem[0], b->mem[0]);
    assert_memory_equal(a->mem + 100, b->mem + 1, 70000);
    assert_memory_equal(a->mem + 90000, b->mem + 70001, 3);
}

static void scatter_gather(void **state)
{
    (void)state;
    everywhere(scattered);
}

/* Both directions at once, all kinds, many at a time; completions in the order posted. */
static void mixed(struct pair *pair)
{
    struct end *ends[2] = { &pair->a, &pair->b };

    for (int round = 0; round < 3; round++) {
        for (int e = 0; e < 2; e++)
            for (unsigned i = 0; i < 10; i++)
                post_recv(ends[e], 1000 + i, 2 << 20, 1 << 20);
        for (int e = 0; e < 2; e++) {
            struct end *own = ends[e], *peer = ends[!e];

            fill(own->mem, 100000, 50u + (unsigned)round);
            for (unsigned i = 0; i < 10; i++) {
                post_write(own, 4 * i, 0, 100 + 1111 * i, at(peer, 200000), peer->mr->rkey, 0);
                post_read(own, 4 * i + 1, 400000 + 1000 * i, 900, at(peer, 0), peer->mr->rkey,
                    i % 3 ? 0 : IBV_SEND_FENCE);
                post_send(own, 4 * i + 2, 0, 77 * i,
                    i % 4 ? 0 : IBV_SEND_FENCE | IBV_SEND_INLINE * (i < 5));
                post_read(own, 4 * i + 3, 500000 + 1000 * i, 11, at(peer, 13), peer->mr->rkey, 0);
            }
        }
        pair_pump(pair);
        for (int e = 0; e < 2; e++) {
            for (unsigned i = 0; i < 40; i++)
                expect_wc(ends[e]->scq, i, IBV_WC_SUCCESS);
            for (unsigned i = 0; i < 10; i++)
                assert_int_equal(
                    expect_wc(ends[e]->rcq, 1000 + i, IBV_WC_SUCCESS).byte_len, 77 * i);
            expect_none(ends[e]->scq);
            expect_none(ends[e]->rcq);
            assert_memory_equal(ends[e]->mem + 400000, ends[!e]->mem, 900);
        }
    }
}

static void everything_at_once(void **state)
{
    (void)state;
    everywhere(mixed);
}

static void unsignaled(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    for (unsigned i = 0; i < 200;
         i++) { /* more than the queue holds: silent ones free their place */
        post_write(a, i, 0, 8, at(b, 0), b->mr->rkey, i % 10 == 9 ? 0 : IBV_SEND_SIGNALED);
        if (i % 50 == 49)
            pair_pump(pair);
    }
    for (unsigned i = 9; i < 200; i += 10)
        expect_wc(a->scq, i, IBV_WC_SUCCESS);
    expect_none(a->scq);
}

static void unsignaled_requests_are_silent(void **state)
{
    (void)state;
    everywhere(unsignaled);
}

static void inlined(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    char text[] = "gone when the call returns";
    struct ibv_sge sge[2] = { { (uintptr_t)text, 5, 0 },
        { (uintptr_t)text + 5, sizeof(text) - 5, 0xbad } };
    struct ibv_send_wr wr = { .wr_id = 1,
        .sg_list = sge,
        .num_sge = 2,
        .opcode = IBV_WR_SEND,
        .send_flags = IBV_SEND_SIGNALED | IBV_SEND_INLINE },
                       *bad;

    post_recv(b, 2, 0, 100);
    assert_int_equal(ibv_post_send(a->qp, &wr, &bad), 0);
    memset(text, 'x', sizeof(text));
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    assert_int_equal(expect_wc(b->rcq, 2, IBV_WC_SUCCESS).byte_len, 27);
    assert_string_equal((char *)b->mem, "gone when the call returns");
}

static void inline_data_is_copied_and_needs_no_key(void **state)
{
    (void)state;
    everywhere(inlined);
}

static void windows(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_mw *mw = ibv_alloc_mw(b->pd, IBV_MW_TYPE_2);
    uint32_t rkey;
    struct ibv_wc wc;

    assert_non_null(mw);
    post_write(a, 0, 0, 0, 0, 0, 0); /* without RTR the responder waits for this */
    pair_pump(pair);
    expect_wc(a->scq, 0, IBV_WC_SUCCESS);
    rkey = ibv_inc_rkey(mw->rkey);
    post_bind(b, 1, mw, rkey, b->mr, 4096, 100, IBV_ACCESS_REMOTE_WRITE);
    post_recv(a, 10, 0, 16);
    post_send(b, 2, 0, 4, 0); /* bound before this goes out */
    pair_pump(pair);
    assert_int_equal(expect_wc(b->scq, 1, IBV_WC_SUCCESS).opcode, IBV_WC_BIND_MW);
    expect_wc(b->scq, 2, IBV_WC_SUCCESS);
    expect_wc(a->rcq, 10, IBV_WC_SUCCESS);

    fill(a->mem, 100, 5);
    post_recv(b, 11, 0, 16);
    post_recv(b, 12, 0, 16);
    post_write(a, 3, 0, 100, at(b, 4096), rkey, 0);
    post_send_inv(a, 4, rkey);
    pair_pump(pair);
    expect_wc(a->scq, 3, IBV_WC_SUCCESS);
    expect_wc(a->scq, 4, IBV_WC_SUCCESS);
    wc = expect_wc(b->rcq, 11, IBV_WC_SUCCESS);
    assert_int_equal(wc.wc_flags, IBV_WC_WITH_INV);
    assert_int_equal(wc.invalidated_rkey, rkey);
    assert_memory_equal(a->mem, b->mem + 4096, 100);

    rkey = ibv_inc_rkey(rkey);
    post_bind(b, 5, mw, rkey, b->mr, 0, 8, IBV_ACCESS_REMOTE_READ);
    post_local_inv(b, 6, rkey);
    pair_pump(pair);
    expect_wc(b->scq, 5, IBV_WC_SUCCESS);
    assert_int_equal(expect_wc(b->scq, 6, IBV_WC_SUCCESS).opcode, IBV_WC_LOCAL_INV);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void bind_write_invalidate(void **state)
{
    (void)state;
    everywhere(windows);
}

/* A Write finished before an older Read does not complete before it. */
static void completions_keep_the_order_posted(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, 0, 0); /* no acknowledgements: the Write is complete at hand-over */
    pair_pump(&pair);
    post_read(&pair.a, 1, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    post_write(&pair.a, 2, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    pair_move(&pair, &pair.a, &pair.b);
    expect_none(pair.a.scq);
    pair_pump(&pair);
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    expect_wc(pair.a.scq, 2, IBV_WC_SUCCESS);
    pair_close(&pair);
}

static void fence_waits_for_all_earlier_reads(void **state)
{
    struct pair pair;
    uint8_t out[4096];

    (void)state;
    pair_open(&pair, 0, 0);
    pair_pump(&pair);
    post_recv(&pair.b, 9, 100, 8);
    post_read(&pair.a, 1, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    post_send(&pair.a, 2, 0, 8, IBV_SEND_FENCE);
    pair_move(&pair, &pair.a, &pair.b);
    assert_int_equal(end_take(&pair, &pair.a, out, sizeof(out)), 0); /* the Send is held */
    expect_none(pair.b.rcq);
    pair_pump(&pair);
    expect_wc(pair.b.rcq, 9, IBV_WC_SUCCESS);
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    expect_wc(pair.a.scq, 2, IBV_WC_SUCCESS);
    pair_close(&pair);
}

/* ORD Reads are on the wire, the next waits and blocks what is behind it. */
static void read_depth_waits(void **state)
{
    struct pair pair;
    uint8_t out[4096];

    (void)state;
    pair_open_depths(&pair, 0, 0, 2, 2);
    pair_pump(&pair);
    for (unsigned i = 0; i < 7; i++)
        post_read(&pair.a, i, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    post_write(&pair.a, 7, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    pair_move(&pair, &pair.a, &pair.b);
    assert_int_equal(end_take(&pair, &pair.a, out, sizeof(out)), 0);
    pair_pump(&pair);
    for (unsigned i = 0; i < 8; i++)
        expect_wc(pair.a.scq, i, IBV_WC_SUCCESS);
    pair_close(&pair);
}

/* A Read is answered although the target's own queue is stopped by a fence. */
static void responses_do_not_wait_for_the_send_queue(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, 0, 0);
    pair_pump(&pair);
    post_recv(&pair.a, 20, 300, 8);
    post_read(&pair.b, 10, 0, 8, at(&pair.a, 0), pair.a.mr->rkey, 0);
    post_send(&pair.b, 11, 0, 8, IBV_SEND_FENCE);
    pair_move(&pair, &pair.b, &pair.a); /* the Read is out, the Send waits */
    post_read(&pair.a, 1, 200, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    while (pair_move(&pair, &pair.a, &pair.b))
        ;
    pair_pump(&pair);
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    expect_wc(pair.b.scq, 10, IBV_WC_SUCCESS);
    expect_wc(pair.b.scq, 11, IBV_WC_SUCCESS);
    expect_wc(pair.a.rcq, 20, IBV_WC_SUCCESS);
    pair_close(&pair);
}

/* Between soft peers a request completes when the peer acknowledges it, with data or, when asked for, alone. */
static void completions_wait_for_the_acknowledgement(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    post_recv(&pair.b, 9, 0, 64);
    post_send(&pair.a, 1, 0, 8, 0);
    assert_false(srd_stream_owes_ack(srd_qp_from(pair.b.qp)));
    while (pair_move(&pair, &pair.a, &pair.b))
        ;
    expect_wc(pair.b.rcq, 9, IBV_WC_SUCCESS);
    expect_none(pair.a.scq);
    assert_true(srd_stream_owes_ack(srd_qp_from(pair.b.qp)));
    post_recv(&pair.a, 8, 0, 64);
    post_send(&pair.b, 2, 0, 8, 0);
    while (pair_move(&pair, &pair.b, &pair.a))
        ;
    assert_false(srd_stream_owes_ack(srd_qp_from(pair.b.qp)));
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    expect_wc(pair.a.rcq, 8, IBV_WC_SUCCESS);
    expect_none(pair.b.scq);
    pair_pump(&pair);
    expect_wc(pair.b.scq, 2, IBV_WC_SUCCESS);
    pair_close(&pair);
}

static void many_owed_acknowledgements_are_sent_by_themselves(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    pair.b.actions = 0;
    for (unsigned i = 0; i < 15; i++)
        post_write(&pair.a, i, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    while (pair_move(&pair, &pair.a, &pair.b))
        ;
    assert_int_equal(pair.b.actions & SRD_STREAM_TX, 0);
    post_write(&pair.a, 15, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    while (pair_move(&pair, &pair.a, &pair.b))
        ;
    assert_int_equal(pair.b.actions & SRD_STREAM_TX, SRD_STREAM_TX);
    pair_pump(&pair);
    pair.b.actions = 0;
    post_write(
        &pair.a, 16, 0, 300000, at(&pair.b, 0), pair.b.mr->rkey, 0); /* much data counts too */
    while (pair_move(&pair, &pair.a, &pair.b))
        ;
    assert_int_equal(pair.b.actions & SRD_STREAM_TX, SRD_STREAM_TX);
    pair_close(&pair);
}

/* RFC 5044 section 7.1.3. */
static void responder_is_silent_until_the_first_fpdu(void **state)
{
    struct pair pair;
    uint8_t out[4096];

    (void)state;
    pair_open(&pair, PAIR_HELD, 0);
    post_recv(&pair.a, 5, 0, 8);
    post_send(&pair.b, 1, 0, 4, 0);
    assert_int_equal(end_take(&pair, &pair.b, out, sizeof(out)), 0);
    assert_int_equal(end_take(&pair, &pair.a, out, sizeof(out)),
        0); /* nor does the initiator before its program says so */
    assert_int_equal(pair.b.actions & SRD_STREAM_ESTABLISHED, 0);
    end_want(&pair, &pair.a, srd_stream_release(srd_qp_from(pair.a.qp)));
    pair_move(&pair, &pair.a, &pair.b);
    assert_int_equal(pair.b.actions & SRD_STREAM_ESTABLISHED, SRD_STREAM_ESTABLISHED);
    pair_pump(&pair);
    expect_wc(pair.a.rcq, 5, IBV_WC_SUCCESS);
    expect_wc(pair.b.scq, 1, IBV_WC_SUCCESS);
    pair_close(&pair);
}

static void rtr_goes_before_what_was_posted(void **state)
{
    struct pair pair;
    uint8_t out[4096];

    (void)state;
    pair_open(&pair, PAIR_HELD, 0);
    post_send(&pair.a, 1, 0, 4, 0);
    end_want(&pair, &pair.a, srd_stream_release(srd_qp_from(pair.a.qp)));
    assert_int_equal(end_take(&pair, &pair.a, out, sizeof(out)), 20 + 28);
    assert_int_equal(out[2], 0xc1);
    assert_int_equal(out[3], 0x40);
    assert_int_equal(out[1], 14);
    assert_int_equal(out[20 + 3], 0x43);
    pair_close(&pair);
}

static void solicited_and_list_errors(void **state)
{
    struct pair pair;
    struct ibv_sge sge[5] = { { 0 } };
    struct ibv_send_wr wr[3] = { { .wr_id = 1, .opcode = IBV_WR_SEND, .next = &wr[1] },
        { .wr_id = 2, .opcode = IBV_WR_ATOMIC_CMP_AND_SWP, .next = &wr[2] },
        { .wr_id = 3, .opcode = IBV_WR_SEND } };
    struct ibv_send_wr *bad = NULL;
    struct ibv_recv_wr recv = { .sg_list = sge, .num_sge = 5 }, *bad_recv = NULL;

    (void)state;
    pair_open(&pair, 0, 0);
    pair_pump(&pair);
    assert_int_equal(ibv_post_send(pair.a.qp, wr, &bad), EINVAL); /* unknown opcode */
    assert_ptr_equal(bad, &wr[1]);
    wr[1].opcode = IBV_WR_SEND;
    wr[1].sg_list = sge;
    wr[1].num_sge = 5;
    assert_int_equal(ibv_post_send(pair.a.qp, &wr[1], &bad), EINVAL); /* too many entries */
    assert_ptr_equal(bad, &wr[1]);
    wr[1].num_sge = 1;
    wr[1].send_flags = IBV_SEND_INLINE;
    /* more than asked for may be granted, more than the device has never is */
    sge[0].length = 1025;
    assert_int_equal(ibv_post_send(pair.a.qp, &wr[1], &bad), EINVAL); /* too much inline */
    wr[1].num_sge = 0;
    wr[1].next = NULL;
    for (int i = 0; i < 59; i++) /* one is queued already */
        assert_int_equal(ibv_post_send(pair.a.qp, &wr[1], &bad), 0);
    bad = NULL;
    assert_int_equal(ibv_post_send(pair.a.qp, &wr[1], &bad), ENOMEM); /* full */
    assert_ptr_equal(bad, &wr[1]);
    assert_int_equal(ibv_post_recv(pair.b.qp, &recv, &bad_recv), EINVAL);
    assert_ptr_equal(bad_recv, &recv);
    recv.num_sge = 0;
    for (int i = 0; i < 60; i++)
        assert_int_equal(ibv_post_recv(pair.b.qp, &recv, &bad_recv), 0);
    assert_int_equal(ibv_post_recv(pair.b.qp, &recv, &bad_recv), ENOMEM);
    pair_pump(&pair);
    for (int i = 0; i < 60; i++)
        expect_wc(pair.b.rcq, 0, IBV_WC_SUCCESS);
    pair_close(&pair);
}

/* A Read has no data to copy: the flag means nothing there. */
static void inline_read(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    fill(b->mem, 2000, 6);
    post_read(a, 1, 0, 2000, at(b, 0), b->mr->rkey, IBV_SEND_INLINE);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    assert_memory_equal(a->mem, b->mem, 2000);
}

static void inline_means_nothing_to_a_read(void **state)
{
    (void)state;
    pair_with_soft_peers(inline_read);
}

static void a_completion_queue_in_use_stays(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    assert_int_equal(srd_destroy_cq(pair.a.scq), EBUSY);
    assert_int_equal(srd_destroy_cq(pair.a.rcq), EBUSY);
    pair_close(&pair);
}

/* The queue pair takes what was granted, and not one more. */
static void granted_limits_are_exact(void **state)
{
    static uint8_t data[4096];
    struct pair pair;
    struct ibv_qp_attr attr;
    struct ibv_qp_init_attr init;
    struct ibv_sge sge[6] = { { 0 } };
    struct ibv_send_wr wr = { .sg_list = sge, .opcode = IBV_WR_SEND }, *bad;
    struct ibv_recv_wr recv = { .sg_list = sge }, *bad_recv;

    (void)state;
    pair_open(&pair, 0, 0);
    pair_pump(&pair);
    assert_int_equal(srd_query_qp(pair.a.qp, &attr, IBV_QP_CAP, &init), 0);
    assert_in_range(init.cap.max_inline_data, 512, sizeof(data) - 1);
    assert_int_equal(init.cap.max_send_sge, 4);
    assert_int_equal(init.cap.max_recv_sge, 4);
    for (uint32_t more = 0; more < 2; more++) {
        sge[0] =
            (struct ibv_sge){ .addr = (uintptr_t)data, .length = init.cap.max_inline_data + more };
        wr.num_sge = 1;
        wr.send_flags = IBV_SEND_INLINE;
        assert_int_equal(ibv_post_send(pair.a.qp, &wr, &bad), more ? EINVAL : 0);
        sge[0].length = 0;
        wr.num_sge = recv.num_sge = 4 + (int)more;
        wr.send_flags = 0;
        assert_int_equal(ibv_post_send(pair.a.qp, &wr, &bad), more ? EINVAL : 0);
        assert_int_equal(ibv_post_recv(pair.b.qp, &recv, &bad_recv), more ? EINVAL : 0);
    }
    pair_close(&pair);
}

/* Counts of requests, receives and Reads go round after 2^32; depths here are no powers of two. */
static void counts_wrap(void **state)
{
    struct pair pair;
    struct end *a = &pair.a, *b = &pair.b;
    struct srd_sq *sq;
    struct srd_rq *rq;
    struct srd_stream *stream;

    (void)state;
    pair_open_depths(&pair, PAIR_SOFT, 3, 3, 3);
    pair_pump(&pair);
    sq = &srd_qp_from(a->qp)->sq;
    rq = &srd_qp_from(b->qp)->own_rq;
    atomic_store(&sq->head, UINT32_MAX - 70);
    atomic_store(&sq->next, UINT32_MAX - 70);
    atomic_store(&sq->tail, UINT32_MAX - 70);
    rq->head = rq->tail = UINT32_MAX - 70;
    stream = &srd_qp_from(a->qp)->stream;
    atomic_store(&stream->out.head, UINT32_MAX - 10);
    atomic_store(&stream->out.tail, UINT32_MAX - 10);
    stream = &srd_qp_from(b->qp)->stream;
    atomic_store(&stream->in.head, UINT32_MAX - 10);
    atomic_store(&stream->in.tail, UINT32_MAX - 10);
    for (unsigned round = 0; round < 5; round++) {
        for (unsigned i = 0; i < 20; i++) {
            fill(a->mem + 64 * i, 64, round * 20 + i);
            post_recv(b, 100 * round + i, 8192 + 64 * i, 64);
        }
        for (unsigned i = 0; i < 20; i++) {
            post_send(a, 3 * i, 64 * i, 64, 0);
            post_read(a, 3 * i + 1, 16384 + 64 * i, 64, at(b, 8192 + 64 * i), b->mr->rkey,
                i % 2 ? 0 : IBV_SEND_FENCE);
            post_write(a, 3 * i + 2, 64 * i, 64, at(b, 32768 + 64 * i), b->mr->rkey, 0);
        }
        pair_pump(&pair);
        for (unsigned i = 0; i < 20; i++) {
            for (unsigned k = 0; k < 3; k++)
                expect_wc(a->scq, 3 * i + k, IBV_WC_SUCCESS);
            expect_wc(b->rcq, 100 * round + i, IBV_WC_SUCCESS);
        }
        assert_memory_equal(a->mem, b->mem + 8192, 64 * 20);
        assert_memory_equal(a->mem, a->mem + 16384, 64 * 20);
        assert_memory_equal(a->mem, b->mem + 32768, 64 * 20);
    }
    assert_true(atomic_load(&sq->head) < 1000);
    pair_close(&pair);
}

/* Neither keeps the other waiting, however many there are (RFC 5040 leaves the order open). */
static void responses_and_requests_take_turns(void **state)
{
    enum { EACH = 3, WRITE = 0, READ_RESPONSE = 2 };
    struct pair pair;
    uint8_t out[4096], order[2 * EACH];
    size_t octets, found = 0;

    (void)state;
    pair_open(&pair, 0, 0);
    pair_pump(&pair);
    for (unsigned i = 0; i < EACH; i++)
        post_read(&pair.b, i, 0, 8, at(&pair.a, 0), pair.a.mr->rkey, 0);
    while (pair_move(&pair, &pair.b, &pair.a))
        ;
    for (unsigned i = 0; i < EACH; i++)
        post_write(&pair.a, i, 0, 8, at(&pair.b, 64), pair.b.mr->rkey, 0);
    octets = end_take(&pair, &pair.a, out, sizeof(out));
    /* An FPDU: its length, what it holds (DDP's octet of control, RDMAP's), up to 3 octets of padding, CRC. */
    for (size_t i = 0; i < octets; i += (2 + (size_t)out[i] * 256 + out[i + 1] + 3) / 4 * 4 + 4) {
        assert_true(found < 2 * EACH);
        order[found++] = out[i + 3] & 0xf;
    }
    assert_int_equal(found, 2 * EACH);
    for (unsigned i = 0; i < EACH; i++) {
        assert_int_equal(order[2 * i], READ_RESPONSE);
        assert_int_equal(order[2 * i + 1], WRITE);
    }
    end_feed(&pair, &pair.b, out, octets, 0);
    pair_pump(&pair);
    for (unsigned i = 0; i < EACH; i++) {
        expect_wc(pair.a.scq, i, IBV_WC_SUCCESS);
        expect_wc(pair.b.scq, i, IBV_WC_SUCCESS);
    }
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_of_all_sizes),
        cmocka_unit_test(writes_of_all_sizes),
        cmocka_unit_test(reads_of_all_sizes),
        cmocka_unit_test(scatter_gather),
        cmocka_unit_test(everything_at_once),
        cmocka_unit_test(unsignaled_requests_are_silent),
        cmocka_unit_test(inline_data_is_copied_and_needs_no_key),
        cmocka_unit_test(bind_write_invalidate),
        cmocka_unit_test(completions_keep_the_order_posted),
        cmocka_unit_test(fence_waits_for_all_earlier_reads),
        cmocka_unit_test(read_depth_waits),
        cmocka_unit_test(responses_do_not_wait_for_the_send_queue),
        cmocka_unit_test(responses_and_requests_take_turns),
        cmocka_unit_test(completions_wait_for_the_acknowledgement),
        cmocka_unit_test(many_owed_acknowledgements_are_sent_by_themselves),
        cmocka_unit_test(responder_is_silent_until_the_first_fpdu),
        cmocka_unit_test(rtr_goes_before_what_was_posted),
        cmocka_unit_test(solicited_and_list_errors),
        cmocka_unit_test(granted_limits_are_exact),
        cmocka_unit_test(inline_means_nothing_to_a_read),
        cmocka_unit_test(a_completion_queue_in_use_stays),
        cmocka_unit_test(counts_wrap),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
