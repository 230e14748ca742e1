/* SPDX-License-Identifier: MIT */
/* Every class of failure between two streams joined in memory: statuses on both sides, order, exactly once. */
#include "stream_pair.h"

#include <errno.h>
#include <string.h>

enum { SEEDS = 4 };

static const unsigned soft_forms[] = { PAIR_SOFT, PAIR_SOFT | PAIR_CRC, PAIR_SOFT | PAIR_SMALL };

static void with_soft_peers(void (*body)(struct pair *))
{
    for (size_t f = 0; f < sizeof(soft_forms) / sizeof(*soft_forms); f++)
        for (unsigned seed = 0; seed < SEEDS; seed++) {
            struct pair pair;

            pair_open(&pair, soft_forms[f], seed);
            pair_pump(&pair);
            body(&pair);
            pair_close(&pair);
        }
}

/* What every end of a connection has: both down, in error, closed after both FINs, later posts flushed. */
static void expect_over(struct pair *pair)
{
    struct end *ends[2] = { &pair->a, &pair->b };

    for (int i = 0; i < 2; i++) {
        struct end *end = ends[i];

        assert_int_equal(end->wants & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
        assert_int_equal(end->qp->state, IBV_QPS_ERR);
        assert_true(end->closed);
        post_send(end, 901, 0, 4, IBV_SEND_SIGNALED); /* even an unsignaled one */
        assert_int_equal(expect_wc(end->scq, 901, IBV_WC_WR_FLUSH_ERR).qp_num, end->qp->qp_num);
        post_recv(end, 902, 0, 4);
        expect_wc(end->rcq, 902, IBV_WC_WR_FLUSH_ERR);
        expect_none(end->scq);
        expect_none(end->rcq);
    }
}

/* --- a fault at the target is told on the very request ---------------------------------------------------------- */

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
    expect_over(pair);
}

static void refused_writes_and_reads_fail_with_their_own_status(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(access_rows) / sizeof(*access_rows); i++)
        for (int read = 0; read < 2; read++)
            for (size_t f = 0; f < sizeof(soft_forms) / sizeof(*soft_forms); f++)
                for (unsigned seed = 0; seed < 2; seed++) {
                    struct pair pair;

                    print_message("%s\n", access_rows[i].what);
                    pair_open(&pair, soft_forms[f], seed);
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
        assert_int_equal(expect_wc(pair.a.scq, 1, IBV_WC_REM_ACCESS_ERR).vendor_err, read ? 0x0104 : 0x1103);
        expect_over(&pair);
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
    expect_over(pair);
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
    with_soft_peers(missing_read_right);
    with_soft_peers(missing_write_right);
}

/* A region of another protection domain is none of this connection's business (RFC 5042 section 6). */
static void other_domain(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_pd *pd = srd_alloc_pd(b->context);
    struct ibv_mr *mr = srd_reg_mr(pd, b->mem, 4096, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);

    post_write(a, 1, 0, 8, at(b, 0), mr->rkey, 0);
    pair_pump(pair);
    assert_int_equal(expect_wc(a->scq, 1, IBV_WC_REM_ACCESS_ERR).vendor_err, 0x1102);
    assert_int_equal(srd_dereg_mr(mr), 0);
    assert_int_equal(srd_dealloc_pd(pd), 0);
}

static void other_protection_domain_is_refused(void **state)
{
    (void)state;
    with_soft_peers(other_domain);
}

/* The region goes while its response is under way: what is missing is told, nothing after the deregistration is read. */
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
    expect_over(&pair);
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
    expect_over(pair);
}

static void send_longer_than_the_receive(void **state)
{
    (void)state;
    with_soft_peers(send_too_long);
}

static void bad_invalidate(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;

    post_recv(b, 10, 0, 7);
    post_recv(b, 11, 0, 7);
    post_send_inv(a, 1, b->mr->rkey); /* a region: not to be invalidated by a peer */
    post_send(a, 2, 0, 4, 0);
    pair_pump(pair);
    assert_int_equal(expect_wc(a->scq, 1, IBV_WC_REM_INV_REQ_ERR).vendor_err, 0x0209);
    expect_wc(a->scq, 2, IBV_WC_WR_FLUSH_ERR);
    expect_wc(b->rcq, 10, IBV_WC_REM_INV_REQ_ERR);
    expect_wc(b->rcq, 11, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(next_async(b), IBV_EVENT_QP_ACCESS_ERR);
    expect_over(pair);
    /* untouched: */
    assert_int_equal(b->mr->rkey, b->mr->lkey);
}

static void invalidate_of_what_may_not_be(void **state)
{
    (void)state;
    with_soft_peers(bad_invalidate);
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
    expect_over(pair);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void invalidated_window_is_closed(void **state)
{
    (void)state;
    with_soft_peers(foreign_window);
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
    expect_over(pair);
}

static void reads_in_front_of_the_culprit_succeed(void **state)
{
    (void)state;
    with_soft_peers(reads_before);
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
    expect_over(&pair);
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
    expect_over(&pair);
    pair_close(&pair);
}

/* --- a fault of our own ----------------------------------------------------------------------------------------- */

static void bad_local_key(struct pair *pair, enum ibv_wr_opcode opcode)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_sge sge = { at(a, 0), 64, a->mr->lkey ^ 1 };
    struct ibv_send_wr wr = { .wr_id = 3, .sg_list = &sge, .num_sge = 1, .opcode = opcode,
        .send_flags = IBV_SEND_SIGNALED }, *bad;

    wr.wr.rdma.remote_addr = at(b, 0);
    wr.wr.rdma.rkey = b->mr->rkey;
    post_recv(b, 10, 0, 8);
    post_recv(b, 11, 0, 80);
    post_send(a, 1, 0, 8, 0);
    post_write(a, 2, 0, 8, at(b, 100), b->mr->rkey, 0);
    assert_int_equal(ibv_post_send(a->qp, &wr, &bad), 0);
    post_send(a, 4, 0, 8, 0);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    expect_wc(a->scq, 3, IBV_WC_LOC_PROT_ERR);
    expect_wc(a->scq, 4, IBV_WC_WR_FLUSH_ERR);
    expect_wc(b->rcq, 10, IBV_WC_SUCCESS);
    expect_wc(b->rcq, 11, IBV_WC_WR_FLUSH_ERR);
    expect_over(pair);
}

static void local_key_errors(void **state)
{
    static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ };

    (void)state;
    for (unsigned f = 0; f < 2; f++)
        for (size_t i = 0; i < 3; i++) {
            struct pair pair;

            pair_open(&pair, f ? PAIR_SOFT : PAIR_CRC, 3);
            pair_pump(&pair);
            bad_local_key(&pair, opcodes[i]);
            pair_close(&pair);
        }
}

/* The second piece of a long message is bad: not one octet of it goes out. */
static void bad_piece_of_a_long_message(void **state)
{
    struct pair pair;
    struct end *a = &pair.a, *b = &pair.b;

    (void)state;
    pair_open(&pair, PAIR_SOFT | PAIR_SMALL, 0);
    pair_pump(&pair);
    struct ibv_sge sge[2] = { { at(a, 0), 100000, a->mr->lkey }, { at(a, 0), 64, a->mr->lkey ^ 1 } };
    struct ibv_send_wr wr = { .wr_id = 1, .sg_list = sge, .num_sge = 2, .opcode = IBV_WR_RDMA_WRITE }, *bad;

    wr.wr.rdma.remote_addr = at(b, 0);
    wr.wr.rdma.rkey = b->mr->rkey;
    fill(a->mem, 100000, 3);
    memset(b->mem, 0x11, 100064);
    assert_int_equal(ibv_post_send(a->qp, &wr, &bad), 0);
    pair_pump(&pair);
    expect_wc(a->scq, 1, IBV_WC_LOC_PROT_ERR);
    for (int i = 0; i < 100064; i++)
        assert_int_equal(b->mem[i], 0x11);
    expect_over(&pair);
    pair_close(&pair);
}

static void no_read_depth_is_an_error(void **state)
{
    struct pair pair;

    (void)state;
    pair_open_depths(&pair, PAIR_SOFT, 0, 0, 0);
    pair_pump(&pair);
    post_write(&pair.a, 1, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    post_read(&pair.a, 2, 0, 8, at(&pair.b, 0), pair.b.mr->rkey, 0);
    pair_pump(&pair);
    expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    expect_wc(pair.a.scq, 2, IBV_WC_LOC_QP_OP_ERR);
    expect_over(&pair);
    pair_close(&pair);
}

static void too_long_a_message(void **state)
{
    struct pair pair;
    struct end *a = &pair.a;

    (void)state;
    pair_open(&pair, 0, 0);
    pair_pump(&pair);
    struct ibv_sge sge[2] = { { at(a, 0), UINT32_MAX, a->mr->lkey }, { at(a, 0), 1, a->mr->lkey } };
    struct ibv_send_wr wr = { .wr_id = 1, .sg_list = sge, .num_sge = 2, .opcode = IBV_WR_RDMA_WRITE }, *bad;

    assert_int_equal(ibv_post_send(a->qp, &wr, &bad), 0);
    pair_pump(&pair);
    expect_wc(a->scq, 1, IBV_WC_LOC_LEN_ERR);
    expect_over(&pair);
    pair_close(&pair);
}

static void bad_bind(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_mw *mw = ibv_alloc_mw(a->pd, IBV_MW_TYPE_2);

    post_write(a, 1, 0, 8, at(b, 0), b->mr->rkey, 0);
    post_bind(a, 2, mw, ibv_inc_rkey(mw->rkey), a->mr, 0, MEM_OCTETS + 1, IBV_ACCESS_REMOTE_READ);
    post_send(a, 3, 0, 8, 0);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(a->scq, 2, IBV_WC_MW_BIND_ERR);
    expect_wc(a->scq, 3, IBV_WC_WR_FLUSH_ERR);
    expect_over(pair);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void bind_refused(void **state)
{
    (void)state;
    with_soft_peers(bad_bind);
}

static void bad_receive_key(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_sge sge = { at(b, 0), 64, b->mr->lkey ^ 1 };
    struct ibv_recv_wr wr = { .wr_id = 10, .sg_list = &sge, .num_sge = 1 }, *bad;

    assert_int_equal(ibv_post_recv(b->qp, &wr, &bad), 0);
    post_recv(b, 11, 0, 8);
    post_send(a, 1, 0, 8, 0);
    pair_pump(pair);
    assert_int_equal(expect_wc(a->scq, 1, IBV_WC_REM_OP_ERR).vendor_err, 0);
    expect_wc(b->rcq, 10, IBV_WC_LOC_PROT_ERR);
    expect_wc(b->rcq, 11, IBV_WC_WR_FLUSH_ERR);
    expect_over(pair);
}

static void receive_with_a_bad_key(void **state)
{
    (void)state;
    with_soft_peers(bad_receive_key);
}

/* --- receiver not ready ----------------------------------------------------------------------------------------- */

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
    assert_int_equal((a->wants | b->wants) & SRD_STREAM_DOWN, 0);
}

static void receive_in_time(void **state)
{
    (void)state;
    with_soft_peers(held_message_gets_a_late_receive);
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
    assert_int_equal(b->wants & SRD_STREAM_DOWN, 0);
    pair_time(pair, 11);
    pair_pump(pair);
    assert_int_equal(expect_wc(a->scq, 2, IBV_WC_RNR_RETRY_EXC_ERR).vendor_err, 0x1202);
    expect_wc(a->scq, 3, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(next_async(b), IBV_EVENT_QP_FATAL);
    expect_over(pair);
}

static void no_receive_in_time(void **state)
{
    (void)state;
    with_soft_peers(rnr);
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
    with_soft_peers(hold_does_not_block_acks_and_responses);
}

/* What is held is bounded: then the socket is left alone, and read again later. */
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
    with_soft_peers(hold_is_bounded);
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
    assert_int_equal(pair.b.wants & SRD_STREAM_DOWN, 0);
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

/* --- ends ------------------------------------------------------------------------------------------------------- */

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
    expect_over(pair);
}

static void disconnect_sends_what_was_posted_before(void **state)
{
    (void)state;
    with_soft_peers(graceful);
    for (unsigned seed = 0; seed < SEEDS; seed++) {
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
    expect_over(pair);
}

static void crossing_disconnects(void **state)
{
    (void)state;
    with_soft_peers(both_disconnect);
}

/* A peer that does not take what was posted keeps the program waiting for a bounded time only. */
static void disconnect_does_not_wait_for_ever(void **state)
{
    struct pair pair;
    uint8_t out[4096];

    (void)state;
    pair_open(&pair, PAIR_SOFT, 0);
    pair_pump(&pair);
    post_send(&pair.a, 1, 0, 8, 0);
    pair_disconnect(&pair, &pair.a);
    assert_true(end_take(&pair, &pair.a, out, sizeof(out)) > 0); /* and nobody answers */
    expect_none(pair.a.scq);
    assert_true(srd_stream_deadline_ms(srd_qp_from(pair.a.qp)) <= pair.now_ms + 1000);
    pair_time(&pair, 1000);
    expect_wc(pair.a.scq, 1, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(pair.a.wants & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
    assert_false(pair.a.closed);
    pair_time(&pair, 2000); /* nor does it drain for ever */
    assert_true(pair.a.closed);
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
    expect_wc(b->scq, 70, IBV_WC_SUCCESS); /* acknowledged before the Terminate */
    assert_int_equal(expect_wc(b->scq, 71, IBV_WC_REM_OP_ERR).vendor_err, 0);
    expect_wc(b->scq, 72, IBV_WC_WR_FLUSH_ERR);
    for (unsigned i = 0; i < 3; i++)
        expect_wc(b->rcq, 60 + i, IBV_WC_WR_FLUSH_ERR);
    expect_over(pair);
}

/* The program moves its queue pair to the error state: flush now, Terminate 0/0/00 to the peer, no FPDU is cut. */
static void error_state_flushes_and_terminates(void **state)
{
    (void)state;
    with_soft_peers(aborted);
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
        .cap = { .max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1 } }, got_init;
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
    assert_int_equal(qp->state, IBV_QPS_RESET);
    assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), EINVAL);
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
    attr.qp_state = IBV_QPS_RESET; /* what was queued goes without a word */
    assert_int_equal(srd_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    expect_none(end.scq);
    expect_none(end.rcq);
    assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), EINVAL);
    attr.qp_state = IBV_QPS_INIT;
    assert_int_equal(srd_modify_qp(qp, &attr, IBV_QP_STATE), 0);
    for (int i = 0; i < 4; i++)
        assert_int_equal(ibv_post_recv(qp, &recv, &bad_recv), 0);
    assert_int_equal(srd_destroy_cq(end.scq), EBUSY);
    assert_int_equal(srd_destroy_qp(qp), 0);
    expect_none(end.rcq); /* what a destroyed queue pair had queued completes no more */
    init.qp_type = IBV_QPT_UD;
    errno = 0;
    assert_null(srd_create_qp(end.pd, &init));
    assert_int_equal(errno, EINVAL);
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
            post_read(&pair.b, 3, 0, 8, at(&pair.a, 0), pair.a.mr->rkey, 0); /* waits for an answer */
        else if (form == 1)
            post_write(&pair.a, 3, 0, 100000, at(&pair.b, 200000), pair.b.mr->rkey, 0);
        else
            post_send(&pair.a, 3, 0, 100000, 0);
        pair_move(&pair, form == 2 ? &pair.b : &pair.a, form == 2 ? &pair.a : &pair.b);
        qp = srd_qp_from(pair.b.qp);
        lock_acquire(&qp->rx_lock);
        pair.b.wants |= srd_stream_rx_end(qp, 0, pair.now_ms);
        lock_release(&qp->rx_lock);
        expect_wc(pair.b.rcq, 1, IBV_WC_WR_FLUSH_ERR);
        expect_wc(pair.b.rcq, 2, IBV_WC_WR_FLUSH_ERR);
        if (form == 2)
            expect_wc(pair.b.scq, 3, IBV_WC_WR_FLUSH_ERR);
        assert_int_equal(pair.b.wants & (SRD_STREAM_DOWN | SRD_STREAM_CLOSE), SRD_STREAM_DOWN | SRD_STREAM_CLOSE);
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
            assert_int_equal(pair.b.wants & SRD_STREAM_DOWN, 0);
            if (in_time) {
                if (flags & PAIR_SRQ)
                    post_srq_recv(&pair.b, 9, 0, 8);
                else
                    post_recv(&pair.b, 9, 0, 8);
                expect_wc(pair.b.rcq, 9, IBV_WC_SUCCESS);
            } else {
                pair_time(&pair, 251);
                assert_int_equal(pair.b.wants & SRD_STREAM_DOWN, SRD_STREAM_DOWN);
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
    assert_int_equal(srd_stream_start(srd_qp_from(pair.a.qp), &params, NULL, 0, pair.now_ms), SRD_STREAM_CLOSE);
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
            end->wants = 0;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_writes_and_reads_fail_with_their_own_status),
        cmocka_unit_test(wrapping_range_is_refused),
        cmocka_unit_test(missing_rights_are_refused),
        cmocka_unit_test(other_protection_domain_is_refused),
        cmocka_unit_test(source_goes_in_the_middle_of_a_response),
        cmocka_unit_test(send_longer_than_the_receive),
        cmocka_unit_test(invalidate_of_what_may_not_be),
        cmocka_unit_test(invalidated_window_is_closed),
        cmocka_unit_test(reads_in_front_of_the_culprit_succeed),
        cmocka_unit_test(foreign_peer_sees_flush_and_event),
        cmocka_unit_test(foreign_read_carries_its_own_status),
        cmocka_unit_test(local_key_errors),
        cmocka_unit_test(bad_piece_of_a_long_message),
        cmocka_unit_test(no_read_depth_is_an_error),
        cmocka_unit_test(too_long_a_message),
        cmocka_unit_test(bind_refused),
        cmocka_unit_test(receive_with_a_bad_key),
        cmocka_unit_test(receive_in_time),
        cmocka_unit_test(no_receive_in_time),
        cmocka_unit_test(held_message_blocks_only_what_is_behind_it),
        cmocka_unit_test(held_data_is_bounded),
        cmocka_unit_test(shared_queue_waits_for_ever),
        cmocka_unit_test(disconnect_sends_what_was_posted_before),
        cmocka_unit_test(crossing_disconnects),
        cmocka_unit_test(disconnect_does_not_wait_for_ever),
        cmocka_unit_test(error_state_flushes_and_terminates),
        cmocka_unit_test(never_connected),
        cmocka_unit_test(states_and_posting),
        cmocka_unit_test(fin_in_the_middle_of_a_message_is_an_error),
        cmocka_unit_test(reset_flushes_after_what_came_before),
        cmocka_unit_test(fin_behind_a_held_message),
        cmocka_unit_test(reset_makes_it_new),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
