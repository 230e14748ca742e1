/* SPDX-License-Identifier: MIT */
/* A fault at the target: the very request that caused it fails with its own status, on both sides in order. */
#include "softrdma/stream/internal.h"
#include "softrdma/wire/wire.h"
#include "tests/unit/softrdma/stream_pair.h"

#include <string.h>

struct access_row {
    const char *what;
    uint32_t key_change;
    int64_t offset;
    uint32_t octets;
    int vendor_err_write, vendor_err_read;
};

static const struct access_row access_rows[] = {
    { "unknown key", 0x5a5a5a00, 0, 64, 0x1100, 0x0100 },
    { "stale key octet", 1, 0, 64, 0x1100, 0x0100 },
    { "in front of the region", 0, -1, 64, 0x1101, 0x0101 },
    { "behind the region", 0, MEM_OCTETS - 63, 64, 0x1101, 0x0101 },
    { "far behind", 0, 1ll << 40, 64, 0x1101, 0x0101 },
};

static void refused_access(struct pair *pair, const struct access_row *row, bool read)
{
    struct end *a = &pair->a, *b = &pair->b;
    uint64_t remote = at(b, 0) + (uint64_t)row->offset;
    uint32_t key = b->mr->rkey ^ row->key_change;

    memset(b->mem, 0x77, 4096);
    post_recv(a, 50, 0, 8);
    post_recv(b, 60, 0, 8);
    post_recv(b, 61, 0, 8);
    post_recv(b, 62, 0, 8);
    post_write(b, 70, 0, 8, at(a, 0), a->mr->rkey, 0);
    pair_pump(pair);
    expect_wc(b->scq, 70, IBV_WC_SUCCESS);
    post_send(a, 1, 0, 8, 0);
    post_write(a, 2, 0, 8, at(b, 2048), b->mr->rkey, 0);
    if (read)
        post_read(a, 3, 0, row->octets, remote, key, 0);
    else
        post_write(a, 3, 0, row->octets, remote, key, 0);
    post_send(a, 4, 0, 8, 0);
    post_write(a, 5, 0, 8, at(b, 2048), b->mr->rkey, 0);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    assert_int_equal(expect_wc(a->scq, 3, IBV_WC_REM_ACCESS_ERR).vendor_err,
        read ? row->vendor_err_read : row->vendor_err_write);
    expect_wc(a->scq, 4, IBV_WC_WR_FLUSH_ERR);
    expect_wc(a->scq, 5, IBV_WC_WR_FLUSH_ERR);
    expect_wc(a->rcq, 50, IBV_WC_WR_FLUSH_ERR);
    expect_wc(b->rcq, 60, IBV_WC_SUCCESS);
    expect_wc(b->rcq, 61, IBV_WC_WR_FLUSH_ERR);
    expect_wc(b->rcq, 62, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(next_async(b), IBV_EVENT_QP_ACCESS_ERR);
    assert_int_equal(next_async(a), -1);
    for (unsigned i = 8; i < 2048; i++)
        assert_int_equal(b->mem[i], 0x77);
    pair_expect_over(pair);
}

static void refused_writes_and_reads_fail_with_their_own_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(access_rows) / sizeof(*access_rows); i++)
        for (int read = 0; read < 2; read++)
            for (size_t f = 0; f < PAIR_SOFT_FORMS; f++)
                for (unsigned seed = 0; seed < 2; seed++) {
                    struct pair pair;

                    print_message("%s\n", access_rows[i].what);
                    pair_open(&pair, pair_soft_forms[f], seed);
                    pair_pump(&pair);
                    refused_access(&pair, &access_rows[i], read);
                    pair_close(&pair);
                }
}

/* Address + length past the end of the address space. */
static void wrapping_range_is_refused(void **state)
{
    (void)state;
    for (int read = 0; read < 2; read++) {
        struct pair pair;

        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        if (read)
            post_read(&pair.a, 1, 0, 64, UINT64_MAX - 10, pair.b.mr->rkey, 0);
        else
            post_write(&pair.a, 1, 0, 64, UINT64_MAX - 10, pair.b.mr->rkey, 0);
        pair_pump(&pair);
        assert_int_equal(
            expect_wc(pair.a.scq, 1, IBV_WC_REM_ACCESS_ERR).vendor_err, read ? 0x0104 : 0x1103);
        pair_expect_over(&pair);
        pair_close(&pair);
    }
}

static void missing_right(struct pair *pair, bool read)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_mr *mr = srd_reg_mr(b->pd, b->mem + 8192, 4096,
        IBV_ACCESS_LOCAL_WRITE | (read ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ));

    assert_non_null(mr);
    if (read)
        post_read(a, 1, 0, 8, at(b, 8192), mr->rkey, 0);
    else
        post_write(a, 1, 0, 8, at(b, 8192), mr->rkey, 0);
    pair_pump(pair);
    assert_int_equal(expect_wc(a->scq, 1, IBV_WC_REM_ACCESS_ERR).vendor_err, 0x0102);
    pair_expect_over(pair);
    assert_int_equal(srd_dereg_mr(mr), 0);
}

static void missing_read_right(struct pair *pair)
{
    missing_right(pair, true);
}

static void missing_write_right(struct pair *pair)
{
    missing_right(pair, false);
}

static void missing_rights_are_refused(void **state)
{
    (void)state;
    pair_with_soft_peers(missing_read_right);
    pair_with_soft_peers(missing_write_right);
}

/* The memory allows it, also by a window; the queue pair does not. */
static void missing_right_of_the_queue_pair(struct pair *pair, bool read, bool window)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_qp_attr attr = { .qp_access_flags =
                                    IBV_ACCESS_LOCAL_WRITE |
                                    (read ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ) };
    struct ibv_mw *mw = ibv_alloc_mw(b->pd, IBV_MW_TYPE_2);
    uint32_t rkey = window ? ibv_inc_rkey(mw->rkey) : b->mr->rkey;

    post_write(a, 1, 0, 8, at(b, 0), b->mr->rkey, 0);
    post_read(a, 2, 0, 8, at(b, 0), b->mr->rkey, 0);
    if (window)
        post_bind(b, 9, mw, rkey, b->mr, 0, 4096, IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    if (window)
        expect_wc(b->scq, 9, IBV_WC_SUCCESS);
    assert_int_equal(srd_modify_qp(b->qp, &attr, IBV_QP_ACCESS_FLAGS), 0);
    fill(a->mem, 8, 1);
    memset(b->mem, 0x11, 8);
    if (read)
        post_write(a, 3, 0, 8, at(b, 64), rkey, 0);
    else
        post_read(a, 3, 64, 8, at(b, 64), rkey, 0);
    pair_pump(pair);
    expect_wc(a->scq, 3, IBV_WC_SUCCESS); /* the other one is allowed */
    if (read)
        post_read(a, 4, 0, 8, at(b, 0), rkey, 0);
    else
        post_write(a, 4, 0, 8, at(b, 0), rkey, 0);
    pair_pump(pair);
    assert_int_equal(expect_wc(a->scq, 4, IBV_WC_REM_ACCESS_ERR).vendor_err, 0x0102);
    for (int i = 0; i < 8; i++)
        assert_int_equal(b->mem[i], 0x11);
    pair_expect_over(pair);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void a_queue_pairs_rights_bound_those_of_memory(void **state)
{
    (void)state;
    for (size_t f = 0; f < PAIR_SOFT_FORMS; f++)
        for (int i = 0; i < 4; i++) {
            struct pair pair;

            pair_open(&pair, pair_soft_forms[f], 1);
            pair_pump(&pair);
            missing_right_of_the_queue_pair(&pair, i & 1, i & 2);
            pair_close(&pair);
        }
}

/* A connection may not use a region of another protection domain (RFC 5042 section 6). */
static void other_domain(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_pd *pd = srd_alloc_pd(b->context);
    struct ibv_mr *mr =
        srd_reg_mr(pd, b->mem, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

    post_write(a, 1, 0, 8, at(b, 0), mr->rkey, 0);
    pair_pump(pair);
    assert_int_equal(expect_wc(a->scq, 1, IBV_WC_REM_ACCESS_ERR).vendor_err, 0x1102);
    assert_int_equal(srd_dereg_mr(mr), 0);
    assert_int_equal(srd_dealloc_pd(pd), 0);
}

static void other_protection_domain_is_refused(void **state)
{
    (void)state;
    pair_with_soft_peers(other_domain);
}

/*
 * The region is deregistered while its response is under way: a Terminate ends the response, and nothing is read after
 * the deregistration.
 */
static void source_goes_in_the_middle_of_a_response(void **state)
{
    struct pair pair;
    struct ibv_mr *mr;

    (void)state;
    pair_open(&pair, PAIR_SOFT | PAIR_SMALL, 0);
    pair_pump(&pair);
    mr = srd_reg_mr(pair.b.pd, pair.b.mem, 1 << 20, IBV_ACCESS_REMOTE_READ);
    post_read(&pair.a, 1, 0, 1 << 20, at(&pair.b, 0), mr->rkey, 0);
    post_send(&pair.a, 2, 0, 8, 0);
    for (int i = 0; i < 2; i++) {
        pair_move(&pair, &pair.a, &pair.b);
        pair_move(&pair, &pair.b, &pair.a);
    }
    expect_none(pair.a.scq);
    assert_int_equal(srd_dereg_mr(mr), 0); /* does not wait for the peer */
    pair_pump(&pair);
    assert_int_equal(expect_wc(pair.a.scq, 1, IBV_WC_REM_ACCESS_ERR).vendor_err, 0x0100);
    expect_wc(pair.a.scq, 2, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(next_async(&pair.b), IBV_EVENT_QP_ACCESS_ERR);
    pair_expect_over(&pair);
    pair_close(&pair);
}

static void send_too_long(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    post_recv(b, 10, 0, 7);
    post_recv(b, 11, 0, 7);
    post_send(a, 1, 0, 8, 0);
    post_send(a, 2, 0, 4, 0);
    pair_pump(pair);
    assert_int_equal(expect_wc(a->scq, 1, IBV_WC_REM_INV_REQ_ERR).vendor_err, 0x1205);
    expect_wc(a->scq, 2, IBV_WC_WR_FLUSH_ERR);
    expect_wc(b->rcq, 10, IBV_WC_LOC_LEN_ERR);
    expect_wc(b->rcq, 11, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(next_async(b), IBV_EVENT_QP_FATAL);
    pair_expect_over(pair);
}

static void send_longer_than_the_receive(void **state)
{
    (void)state;
    pair_with_soft_peers(send_too_long);
}

static void bad_invalidate(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    post_recv(b, 10, 0, 7);
    post_recv(b, 11, 0, 7);
    post_send_inv(a, 1, b->mr->rkey); /* a region: a peer may not invalidate it */
    post_send(a, 2, 0, 4, 0);
    pair_pump(pair);
    assert_int_equal(expect_wc(a->scq, 1, IBV_WC_REM_INV_REQ_ERR).vendor_err, 0x0209);
    expect_wc(a->scq, 2, IBV_WC_WR_FLUSH_ERR);
    expect_wc(b->rcq, 10, IBV_WC_REM_INV_REQ_ERR);
    expect_wc(b->rcq, 11, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(next_async(b), IBV_EVENT_QP_ACCESS_ERR);
    pair_expect_over(pair);
    /* untouched: */
    assert_int_equal(b->mr->rkey, b->mr->lkey);
}

static void invalidate_of_what_may_not_be(void **state)
{
    (void)state;
    pair_with_soft_peers(bad_invalidate);
}

/* A window of one queue pair is closed to all others, also of the same domain. */
static void foreign_window(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_mw *mw = ibv_alloc_mw(b->pd, IBV_MW_TYPE_2);
    uint32_t rkey = ibv_inc_rkey(mw->rkey);

    post_write(a, 9, 0, 0, 0, 0, 0);
    post_bind(b, 1, mw, rkey, b->mr, 0, 4096, IBV_ACCESS_REMOTE_WRITE);
    pair_pump(pair);
    expect_wc(a->scq, 9, IBV_WC_SUCCESS);
    expect_wc(b->scq, 1, IBV_WC_SUCCESS);
    post_local_inv(b, 2, rkey);
    pair_pump(pair);
    expect_wc(b->scq, 2, IBV_WC_SUCCESS);
    post_write(a, 10, 0, 8, at(b, 0), rkey, 0); /* invalidated */
    pair_pump(pair);
    assert_int_equal(expect_wc(a->scq, 10, IBV_WC_REM_ACCESS_ERR).vendor_err, 0x1100);
    pair_expect_over(pair);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void invalidated_window_is_closed(void **state)
{
    (void)state;
    pair_with_soft_peers(foreign_window);
}

/* Earlier Reads get their data although the request behind them breaks the connection. */
static void reads_before(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    fill(b->mem, 300000, 9);
    post_read(a, 1, 0, 300000, at(b, 0), b->mr->rkey, 0);
    post_read(a, 2, 400000, 8, at(b, 8), b->mr->rkey, 0);
    post_write(a, 3, 0, 8, at(b, 0), b->mr->rkey ^ 1, 0);
    post_send(a, 4, 0, 8, 0);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    expect_wc(a->scq, 3, IBV_WC_REM_ACCESS_ERR);
    expect_wc(a->scq, 4, IBV_WC_WR_FLUSH_ERR);
    assert_memory_equal(a->mem, b->mem, 300000);
    pair_expect_over(pair);
}

static void reads_in_front_of_the_culprit_succeed(void **state)
{
    (void)state;
    pair_with_soft_peers(reads_before);
}

/* The source of a Read goes while the response to the one in front of it is built and not sent. */
static void source_goes_behind(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_mr *mr = srd_reg_mr(b->pd, b->mem, 4096, IBV_ACCESS_REMOTE_READ);

    fill(b->mem, 100000, 9);
    post_read(a, 1, 0, 100000, at(b, 0), b->mr->rkey, 0);
    post_read(a, 2, 200000, 192, at(b, 0), mr->rkey, 0);
    post_send(a, 3, 0, 8, 0);
    while (pair_move(pair, a, b))
        ;
    assert_int_equal(srd_dereg_mr(mr), 0);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    assert_int_equal(expect_wc(a->scq, 2, IBV_WC_REM_ACCESS_ERR).vendor_err, 0x0100);
    expect_wc(a->scq, 3, IBV_WC_WR_FLUSH_ERR);
    assert_memory_equal(a->mem, b->mem, 100000);
    assert_int_equal(next_async(b), IBV_EVENT_QP_ACCESS_ERR);
    pair_expect_over(pair);
}

static void reads_in_front_of_one_whose_source_goes_succeed(void **state)
{
    (void)state;
    pair_with_soft_peers(source_goes_behind);
}

/* What one call to send takes: the first FPDU of the batch alone. */
static unsigned send_one_fpdu(struct pair *pair, struct end *from, struct end *to)
{
    struct srd_qp *qp = srd_qp_from(from->qp);
    struct iovec iov[SRD_TX_IOV];
    uint8_t fpdu[65536 + 16];
    unsigned actions = 0;
    size_t total, taken = 0;

    lock_acquire(&qp->tx_lock);
    assert_true(srd_stream_tx(qp, iov, pair->now_ms, &actions) > 0);
    total = srd_fpdu_octets(wire_get16(iov[0].iov_base));
    for (int i = 0; taken < total; i++) {
        size_t here = iov[i].iov_len < total - taken ? iov[i].iov_len : total - taken;

        memcpy(fpdu + taken, iov[i].iov_base, here);
        taken += here;
    }
    actions |= srd_stream_tx_done(qp, total, pair->now_ms);
    lock_release(&qp->tx_lock);
    end_feed(pair, to, fpdu, total, 0);
    return actions;
}

/* Then the source of the one in front goes, too: the Terminate is about that, since its response is cut. */
static void both_sources_go_one_after_the_other(void **state)
{
    struct pair pair;
    struct ibv_mr *first, *second;
    unsigned actions;

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    first = srd_reg_mr(pair.b.pd, pair.b.mem, 100000, IBV_ACCESS_REMOTE_READ);
    second = srd_reg_mr(pair.b.pd, pair.b.mem, 4096, IBV_ACCESS_REMOTE_READ);
    post_read(&pair.a, 1, 0, 100000, at(&pair.b, 0), first->rkey, 0);
    post_read(&pair.a, 2, 200000, 192, at(&pair.b, 0), second->rkey, 0);
    while (pair_move(&pair, &pair.a, &pair.b))
        ;
    assert_int_equal(srd_dereg_mr(second), 0);
    actions = send_one_fpdu(&pair, &pair.b, &pair.a);
    assert_int_equal(srd_dereg_mr(first), 0);
    end_want(&pair, &pair.b, actions);
    pair_pump(&pair);
    assert_int_equal(expect_wc(pair.a.scq, 1, IBV_WC_REM_ACCESS_ERR).vendor_err, 0x0100);
    expect_wc(pair.a.scq, 2, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(next_async(&pair.b), IBV_EVENT_QP_ACCESS_ERR);
    pair_expect_over(&pair);
    pair_close(&pair);
}

/* Towards others a Write is complete when TCP has it; its refusal shows as a flush and an event. */
static void foreign_peer_sees_flush_and_event(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, PAIR_CRC, 0);
    pair_pump(&pair);
    post_recv(&pair.a, 5, 0, 8);
    post_write(&pair.a, 1, 0, 8, at(&pair.b, 0), pair.b.mr->rkey ^ 1, 0);
    post_read(&pair.a, 2, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    pair_move(&pair, &pair.a, &pair.b);
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    pair_pump(&pair);
    expect_wc(pair.a.scq, 2, IBV_WC_WR_FLUSH_ERR);
    expect_wc(pair.a.rcq, 5, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(next_async(&pair.a), IBV_EVENT_QP_FATAL);
    assert_int_equal(next_async(&pair.b), IBV_EVENT_QP_ACCESS_ERR);
    pair_expect_over(&pair);
    pair_close(&pair);
}

static void foreign_read_carries_its_own_status(void **state)
{
    struct pair pair;

    (void)state;
    pair_open(&pair, 0, 0);
    pair_pump(&pair);
    post_read(&pair.a, 1, 0, 8, at(&pair.b, 0), pair.b.mr->rkey ^ 1, 0);
    post_read(&pair.a, 2, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    pair_pump(&pair);
    assert_int_equal(expect_wc(pair.a.scq, 1, IBV_WC_REM_ACCESS_ERR).vendor_err, 0x0100);
    expect_wc(pair.a.scq, 2, IBV_WC_WR_FLUSH_ERR);
    pair_expect_over(&pair);
    pair_close(&pair);
}

/* A message whose first segment is refused before the others are sent. */
static void refused_on_its_way(struct pair *pair, bool send)
{
    enum { OCTETS = 1 << 20 };
    struct end *a = &pair->a, *b = &pair->b;

    post_recv(b, 10, 0, 8);
    post_recv(b, 11, 0, 8);
    post_send(a, 1, 0, 8, 0);
    if (send)
        post_send(a, 2, 0, OCTETS, 0);
    else
        post_write(a, 2, 0, OCTETS, at(b, 0), b->mr->rkey ^ 1, 0);
    post_write(a, 3, 0, 8, at(b, 0), b->mr->rkey, 0);
    while (!(b->actions & SRD_STREAM_DOWN))
        pair_move(pair, a, b);
    assert_int_equal(srd_qp_from(a->qp)->stream.tx.source, SRD_TX_REQUEST);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    assert_int_equal(
        expect_wc(a->scq, 2, send ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_REM_ACCESS_ERR).vendor_err,
        send ? 0x1205 : 0x1100);
    expect_wc(a->scq, 3, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(next_async(a), -1);
    expect_wc(b->rcq, 10, IBV_WC_SUCCESS);
    expect_wc(b->rcq, 11, send ? IBV_WC_LOC_LEN_ERR : IBV_WC_WR_FLUSH_ERR);
    pair_expect_over(pair);
}

static void refused_while_it_is_being_sent(void **state)
{
    (void)state;
    for (size_t f = 0; f < PAIR_SOFT_FORMS; f++)
        for (int send = 0; send < 2; send++) {
            struct pair pair;

            pair_open(&pair, pair_soft_forms[f], 0);
            pair_pump(&pair);
            refused_on_its_way(&pair, send);
            pair_close(&pair);
        }
}

/* Drops what the initiator has to send, and gives it this Terminate instead of an answer. */
static void answer_with_terminate(
    struct pair *pair, srd_fault fault, const uint8_t *ulpdu, uint32_t ulpdu_octets)
{
    uint8_t out[512], terminate[SRD_TERMINATE_FPDU_MAX];

    end_take(pair, &pair->a, out, sizeof(out));
    end_feed(pair, &pair->a, terminate,
        srd_terminate_build(fault, ulpdu, ulpdu_octets, false, terminate), 0);
    assert_int_equal(pair->a.actions & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
}

/* Three Writes side by side: the one a Terminate is about is that whose octets begin where the refused segment does. */
static void a_terminate_is_about_the_write_that_has_its_offset(void **state)
{
    static const struct {
        uint64_t offset;
        unsigned culprit; /* 0: none of them */
    } rows[] = { { 0x0fff, 0 }, { 0x1000, 1 }, { 0x1007, 1 }, { 0x1008, 2 }, { 0x100f, 2 },
        { 0x1010, 3 }, { 0x1017, 3 }, { 0x1018, 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct srd_segment about = {
            .tagged = true, .last = true, .opcode = SRD_OP_WRITE, .stag = 0x11223344
        };
        struct pair pair;
        uint8_t fpdu[64];

        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        for (unsigned id = 1; id <= 3; id++)
            post_write(&pair.a, id, 0, 8, 0x1000 + 8 * (id - 1), 0x11223344, 0);
        about.to = rows[i].offset;
        srd_fpdu_begin(fpdu, &about, 8);
        answer_with_terminate(&pair, SRD_FAULT(1, 1, 1), fpdu + 2, 14 + 8);
        for (unsigned id = 1; id <= 3; id++)
            assert_int_equal(expect_wc(pair.a.scq, id,
                                 id == rows[i].culprit  ? IBV_WC_REM_ACCESS_ERR
                                 : id < rows[i].culprit ? IBV_WC_SUCCESS
                                                        : IBV_WC_WR_FLUSH_ERR)
                                 .vendor_err,
                id == rows[i].culprit ? 0x1101 : 0);
        assert_int_equal(next_async(&pair.a), rows[i].culprit ? -1 : IBV_EVENT_QP_FATAL);
        pair_close(&pair);
    }
}

/* Faults in the layers below (the CRC, a marker, the startup) are blamed on no request. */
static void a_terminate_of_the_transport_is_about_no_request(void **state)
{
    static const srd_fault faults[] = { SRD_FAULT(2, 0, 0x02), SRD_FAULT(2, 0, 0x03),
        SRD_FAULT(2, 0, 0x06) };

    (void)state;
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++) {
        struct pair pair;

        pair_open(&pair, PAIR_SOFT, 0);
        pair_pump(&pair);
        post_send(&pair.a, 1, 0, 8, 0);
        post_read(&pair.a, 2, 0, 8, 0x1000, 0x11223344, 0);
        answer_with_terminate(&pair, faults[i], NULL, 0);
        for (unsigned id = 1; id <= 2; id++)
            assert_int_equal(expect_wc(pair.a.scq, id, IBV_WC_WR_FLUSH_ERR).vendor_err, 0);
        assert_int_equal(next_async(&pair.a), IBV_EVENT_QP_FATAL);
        pair_close(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_writes_and_reads_fail_with_their_own_status),
        cmocka_unit_test(wrapping_range_is_refused),
        cmocka_unit_test(missing_rights_are_refused),
        cmocka_unit_test(a_queue_pairs_rights_bound_those_of_memory),
        cmocka_unit_test(other_protection_domain_is_refused),
        cmocka_unit_test(source_goes_in_the_middle_of_a_response),
        cmocka_unit_test(send_longer_than_the_receive),
        cmocka_unit_test(invalidate_of_what_may_not_be),
        cmocka_unit_test(invalidated_window_is_closed),
        cmocka_unit_test(reads_in_front_of_the_culprit_succeed),
        cmocka_unit_test(reads_in_front_of_one_whose_source_goes_succeed),
        cmocka_unit_test(both_sources_go_one_after_the_other),
        cmocka_unit_test(foreign_peer_sees_flush_and_event),
        cmocka_unit_test(foreign_read_carries_its_own_status),
        cmocka_unit_test(refused_while_it_is_being_sent),
        cmocka_unit_test(a_terminate_is_about_the_write_that_has_its_offset),
        cmocka_unit_test(a_terminate_of_the_transport_is_about_no_request),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
