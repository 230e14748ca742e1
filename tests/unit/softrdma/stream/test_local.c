/* SPDX-License-Identifier: MIT */
/* A fault of our own: bad keys, lengths, binds; what was posted in front of it still succeeds. */
#include "softrdma/stream/internal.h"
#include "tests/unit/softrdma/stream_pair.h"

#include <string.h>

static void bad_local_key(struct pair *pair, enum ibv_wr_opcode opcode)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_sge sge = { at(a, 0), 64, a->mr->lkey ^ 1 };
    struct ibv_send_wr wr = { .wr_id = 3,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = opcode,
        .send_flags = IBV_SEND_SIGNALED },
                       *bad;

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
    pair_expect_over(pair);
}

static void local_key_errors(void **state)
{
    static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE,
        IBV_WR_RDMA_READ };

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

/* A Read into memory that may not be written: the peer is not even asked. */
static void read_into_read_only_memory(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_mr *mr = srd_reg_mr(a->pd, a->mem, 4096, IBV_ACCESS_REMOTE_READ);
    struct ibv_sge sge = { at(a, 0), 64, mr->lkey };
    struct ibv_send_wr wr = { .wr_id = 2,
        .sg_list = &sge,
        .num_sge = 1,
        .opcode = IBV_WR_RDMA_READ },
                       *bad;

    wr.wr.rdma.remote_addr = at(b, 0);
    wr.wr.rdma.rkey = b->mr->rkey;
    memset(a->mem, 0x11, 64);
    post_write(a, 1, 0, 8, at(b, 100), b->mr->rkey, 0);
    assert_int_equal(ibv_post_send(a->qp, &wr, &bad), 0);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(a->scq, 2, IBV_WC_LOC_PROT_ERR);
    assert_int_equal(srd_qp_from(b->qp)->stream.rx.read_msn, 1);
    for (int i = 0; i < 64; i++)
        assert_int_equal(a->mem[i], 0x11);
    pair_expect_over(pair);
    assert_int_equal(srd_dereg_mr(mr), 0);
}

static void a_read_into_memory_that_may_not_be_written_is_not_sent(void **state)
{
    (void)state;
    pair_with_soft_peers(read_into_read_only_memory);
}

/* The second piece of a long message is bad: not one octet of it goes out. */
static void bad_piece_of_a_long_message(void **state)
{
    struct pair pair;
    struct end *a = &pair.a, *b = &pair.b;

    (void)state;
    pair_open(&pair, PAIR_SOFT | PAIR_SMALL, 0);
    pair_pump(&pair);
    struct ibv_sge sge[2] = { { at(a, 0), 100000, a->mr->lkey },
        { at(a, 0), 64, a->mr->lkey ^ 1 } };
    struct ibv_send_wr wr = { .wr_id = 1,
        .sg_list = sge,
        .num_sge = 2,
        .opcode = IBV_WR_RDMA_WRITE },
                       *bad;

    wr.wr.rdma.remote_addr = at(b, 0);
    wr.wr.rdma.rkey = b->mr->rkey;
    fill(a->mem, 100000, 3);
    memset(b->mem, 0x11, 100064);
    assert_int_equal(ibv_post_send(a->qp, &wr, &bad), 0);
    pair_pump(&pair);
    expect_wc(a->scq, 1, IBV_WC_LOC_PROT_ERR);
    for (int i = 0; i < 100064; i++)
        assert_int_equal(b->mem[i], 0x11);
    pair_expect_over(&pair);
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
    pair_expect_over(&pair);
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
    struct ibv_send_wr wr = { .wr_id = 1,
        .sg_list = sge,
        .num_sge = 2,
        .opcode = IBV_WR_RDMA_WRITE },
                       *bad;

    assert_int_equal(ibv_post_send(a->qp, &wr, &bad), 0);
    pair_pump(&pair);
    expect_wc(a->scq, 1, IBV_WC_LOC_LEN_ERR);
    pair_expect_over(&pair);
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
    pair_expect_over(pair);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void bind_refused(void **state)
{
    (void)state;
    pair_with_soft_peers(bad_bind);
}

/*
 * The low 8 bits of a Bind's rkey are the caller's, the rest is the window's: test_qpex.py of rdma-core takes
 * ibv_inc_rkey of its region's key. It also gives IBV_ACCESS_LOCAL_WRITE, which says nothing of peers.
 */
static void key_of_another_index(struct pair *pair)
{
    const int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_mw *mw = ibv_alloc_mw(a->pd, IBV_MW_TYPE_2);
    uint32_t octet = ibv_inc_rkey(mw->rkey) & 0xFF, key = (mw->rkey & ~UINT32_C(0xFF)) | octet;

    fill(a->mem, 8, 3);
    post_bind(a, 1, mw, (a->mr->rkey & ~UINT32_C(0xFF)) | octet, a->mr, 0, 8, access);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    post_read(b, 10, 0, 8, at(a, 0), key, 0);
    pair_pump(pair);
    expect_wc(b->scq, 10, IBV_WC_SUCCESS);
    assert_memory_equal(b->mem, a->mem, 8);
    post_local_inv(a, 2, key);
    pair_pump(pair);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void bind_takes_the_octet_of_its_key_alone(void **state)
{
    (void)state;
    pair_with_soft_peers(key_of_another_index);
}

/* ibv_bind_mw of octets at an offset of end a; returns the window's key, which has changed. */
static uint32_t bind_type_1(struct end *a, uint64_t wr_id, struct ibv_mw *mw, size_t offset,
    uint64_t octets, unsigned access)
{
    struct ibv_mw_bind bind = { .wr_id = wr_id,
        .send_flags = IBV_SEND_SIGNALED,
        .bind_info = { a->mr, at(a, offset), octets, access } };
    uint32_t before = mw->rkey;

    assert_int_equal(ibv_bind_mw(a->qp, mw, &bind), 0);
    assert_true(mw->rkey >> 8 == before >> 8 && mw->rkey != before);
    return mw->rkey;
}

/* ibv_bind_mw(3): the key is known at once and works behind the completion; rdma-core's test_mw_type1 and its kind. */
static void bind_replaces(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_mw *mw = ibv_alloc_mw(a->pd, IBV_MW_TYPE_1);
    uint32_t key, next;

    assert_non_null(mw);
    key = bind_type_1(a, 1, mw, 0, 8, IBV_ACCESS_REMOTE_READ);
    pair_pump(pair);
    assert_int_equal(expect_wc(a->scq, 1, IBV_WC_SUCCESS).opcode, IBV_WC_BIND_MW);
    fill(a->mem, 64, 1);
    post_read(b, 10, 0, 8, at(a, 0), key, 0);
    pair_pump(pair);
    expect_wc(b->scq, 10, IBV_WC_SUCCESS);
    next = bind_type_1(a, 2, mw, 8, 8, IBV_ACCESS_REMOTE_READ); /* two in a row */
    key = bind_type_1(a, 3, mw, 16, 16, IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE);
    assert_int_not_equal(key, next);
    pair_pump(pair);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    expect_wc(a->scq, 3, IBV_WC_SUCCESS);
    post_write(b, 11, 0, 16, at(a, 16), key, 0);
    pair_pump(pair);
    expect_wc(b->scq, 11, IBV_WC_SUCCESS);
    assert_memory_equal(a->mem + 16, b->mem, 16);
    bind_type_1(a, 4, mw, 0, 0, 0);
    pair_pump(pair);
    expect_wc(a->scq, 4, IBV_WC_SUCCESS);
    post_read(b, 12, 0, 8, at(a, 16), key, 0);
    pair_pump(pair);
    expect_wc(b->scq, 12, IBV_WC_REM_ACCESS_ERR);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void a_type_1_window_is_bound_by_its_own_call(void **state)
{
    (void)state;
    pair_with_soft_peers(bind_replaces);
}

/* It waits for what is sent of the window, as Invalidate does. */
static void bind_behind_a_response(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_mw *mw = ibv_alloc_mw(a->pd, IBV_MW_TYPE_1);
    uint32_t key = bind_type_1(a, 1, mw, 0, 3000, IBV_ACCESS_REMOTE_READ);

    fill(a->mem, 3000, 8);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    post_read(b, 10, 0, 3000, at(a, 0), key, 0);
    while (!srd_ring_used(&srd_qp_from(a->qp)->stream.in))
        pair_move(pair, b, a);
    bind_type_1(a, 2, mw, 0, 0, 0);
    pair_pump(pair);
    expect_wc(b->scq, 10, IBV_WC_SUCCESS);
    assert_memory_equal(b->mem, a->mem, 3000);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void a_type_1_bind_waits_for_what_is_sent_of_its_window(void **state)
{
    (void)state;
    pair_with_soft_peers(bind_behind_a_response);
}

/* The region is deregistered before the Bind has its turn: behind a Read, by a fence. */
static void region_gone(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_mw *mw = ibv_alloc_mw(a->pd, IBV_MW_TYPE_2);
    struct ibv_mr *mr = srd_reg_mr(a->pd, a->mem, 4096, IBV_ACCESS_MW_BIND);
    struct ibv_send_wr bind = { .wr_id = 2,
        .opcode = IBV_WR_BIND_MW,
        .send_flags = IBV_SEND_SIGNALED | IBV_SEND_FENCE },
                       *bad;

    assert_non_null(mr);
    bind.bind_mw.mw = mw;
    bind.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
    bind.bind_mw.bind_info = (struct ibv_mw_bind_info){
        .mr = mr, .addr = at(a, 0), .length = 4096, .mw_access_flags = IBV_ACCESS_REMOTE_READ
    };
    post_read(a, 1, 0, 8, at(b, 0), b->mr->rkey, 0);
    assert_int_equal(ibv_post_send(a->qp, &bind, &bad), 0);
    pair_move(pair, a, b); /* the Read Request alone */
    assert_int_equal(srd_dereg_mr(mr), 0);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    expect_wc(a->scq, 2, IBV_WC_MW_BIND_ERR);
    pair_expect_over(pair);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void bind_to_a_region_that_has_gone(void **state)
{
    (void)state;
    pair_with_soft_peers(region_gone);
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
    pair_expect_over(pair);
}

static void receive_with_a_bad_key(void **state)
{
    (void)state;
    pair_with_soft_peers(bad_receive_key);
}

/*
 * The peer reads through a window that the next request invalidates: what is about to be sent of it pins it, and the
 * Invalidate waits until that has gone instead of waiting in the thread that sends.
 */
static void invalidate_behind_a_response(struct pair *pair)
{
    struct end *a = &pair->a, *b = &pair->b;
    struct ibv_mw *mw = ibv_alloc_mw(a->pd, IBV_MW_TYPE_2);
    uint32_t key = ibv_inc_rkey(mw->rkey);

    fill(a->mem, 3000, 8);
    post_bind(a, 1, mw, key, a->mr, 0, 3000, IBV_ACCESS_REMOTE_READ);
    pair_pump(pair);
    expect_wc(a->scq, 1, IBV_WC_SUCCESS);
    post_read(b, 10, 0, 3000, at(a, 0), key, 0);
    while (!srd_ring_used(&srd_qp_from(a->qp)->stream.in))
        pair_move(pair, b, a);
    post_local_inv(a, 2, key);
    pair_pump(pair);
    expect_wc(b->scq, 10, IBV_WC_SUCCESS);
    assert_memory_equal(b->mem, a->mem, 3000);
    expect_wc(a->scq, 2, IBV_WC_SUCCESS);
    post_read(b, 11, 0, 8, at(a, 0), key, 0);
    pair_pump(pair);
    expect_wc(b->scq, 11, IBV_WC_REM_ACCESS_ERR);
    assert_int_equal(ibv_dealloc_mw(mw), 0);
}

static void invalidate_waits_for_what_is_sent_of_its_window(void **state)
{
    (void)state;
    pair_with_soft_peers(invalidate_behind_a_response);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(local_key_errors),
        cmocka_unit_test(a_read_into_memory_that_may_not_be_written_is_not_sent),
        cmocka_unit_test(bad_piece_of_a_long_message),
        cmocka_unit_test(no_read_depth_is_an_error),
        cmocka_unit_test(too_long_a_message),
        cmocka_unit_test(bind_refused),
        cmocka_unit_test(bind_takes_the_octet_of_its_key_alone),
        cmocka_unit_test(a_type_1_window_is_bound_by_its_own_call),
        cmocka_unit_test(a_type_1_bind_waits_for_what_is_sent_of_its_window),
        cmocka_unit_test(bind_to_a_region_that_has_gone),
        cmocka_unit_test(receive_with_a_bad_key),
        cmocka_unit_test(invalidate_waits_for_what_is_sent_of_its_window),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
