/* SPDX-License-Identifier: MIT */
/* Requests built call by call (ibv_wr_post(3)): what arrives of them, and that a list is posted whole or not at all. */
#include "tests/unit/softrdma/stream_pair.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

enum { DEPTH = 20, INLINE_OCTETS = 64 };

static struct pair pair;
static struct ibv_qp_ex *ex;

static void to_state(enum ibv_qp_state state)
{
    struct ibv_qp_attr attr = { .qp_state = state };

    assert_int_equal(srd_modify_qp(pair.a.qp, &attr, IBV_QP_STATE), 0);
}

static int setup(void **state)
{
    struct ibv_qp_init_attr_ex attr = {
        .qp_type = IBV_QPT_RC,
        .cap = { .max_send_wr = DEPTH,
            .max_recv_wr = DEPTH,
            .max_send_sge = 2,
            .max_recv_sge = 2,
            .max_inline_data = INLINE_OCTETS },
        .comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
        .send_ops_flags = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_RDMA_WRITE |
                          IBV_QP_EX_WITH_RDMA_READ | IBV_QP_EX_WITH_SEND_WITH_IMM |
                          IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD |
                          IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
    };

    (void)state;
    memset(&pair, 0, sizeof(pair));
    pair.flags = PAIR_SOFT;
    pair.ird = pair.ord = 4;
    end_open(&pair.a, 0);
    end_open(&pair.b, 0);
    assert_int_equal(srd_destroy_qp(pair.a.qp), 0);
    attr.send_cq = pair.a.scq;
    attr.recv_cq = pair.a.rcq;
    attr.pd = pair.a.pd;
    pair.a.qp = srd_create_qp_ex(pair.a.context, &attr);
    assert_non_null(pair.a.qp);
    ex = srd_qp_to_qp_ex(pair.a.qp);
    assert_non_null(ex);
    to_state(IBV_QPS_INIT);
    to_state(IBV_QPS_RTR);
    to_state(IBV_QPS_RTS);
    end_start(&pair, &pair.b, false);
    end_start(&pair, &pair.a, true);
    pair_pump(&pair);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    pair_close(&pair);
    return 0;
}

static void send_of(uint64_t wr_id, size_t offset, uint32_t octets)
{
    ex->wr_id = wr_id;
    ex->wr_flags = IBV_SEND_SIGNALED;
    ibv_wr_send(ex);
    ibv_wr_set_sge(ex, pair.a.mr->lkey, at(&pair.a, offset), octets);
}

static void each_kind_arrives(void **state)
{
    static uint8_t text[] = "one piece and another";
    const struct ibv_data_buf pieces[] = { { text, 3 }, { text + 9, 4 } };
    const struct ibv_sge sges[] = { { at(&pair.a, 0), 5, pair.a.mr->lkey },
        { at(&pair.a, 100), 7, pair.a.mr->lkey } };

    (void)state;
    fill(pair.a.mem, 200, 1);
    fill(pair.b.mem + 5000, 50, 2);
    for (unsigned i = 0; i < 3; i++)
        post_recv(&pair.b, 10 + i, 1000 * i, 100);
    ibv_wr_start(ex);
    send_of(1, 0, 100);
    ex->wr_id = 2;
    ibv_wr_send(ex);
    ibv_wr_set_sge_list(ex, 2, sges);
    ex->wr_id = 3;
    ibv_wr_send(ex);
    ibv_wr_set_inline_data_list(ex, 2, pieces);
    ex->wr_id = 4;
    ibv_wr_rdma_write(ex, pair.b.mr->rkey, at(&pair.b, 3000));
    ibv_wr_set_inline_data(ex, text, 3);
    ex->wr_id = 5;
    ibv_wr_rdma_read(ex, pair.b.mr->rkey, at(&pair.b, 5000));
    ibv_wr_set_sge(ex, pair.a.mr->lkey, at(&pair.a, 6000), 50);
    assert_int_equal(ibv_wr_complete(ex), 0);
    pair_pump(&pair);
    for (unsigned i = 1; i <= 5; i++)
        expect_wc(pair.a.scq, i, IBV_WC_SUCCESS);
    assert_int_equal(expect_wc(pair.b.rcq, 10, IBV_WC_SUCCESS).byte_len, 100);
    assert_int_equal(expect_wc(pair.b.rcq, 11, IBV_WC_SUCCESS).byte_len, 12);
    assert_int_equal(expect_wc(pair.b.rcq, 12, IBV_WC_SUCCESS).byte_len, 7);
    assert_memory_equal(pair.b.mem, pair.a.mem, 100);
    assert_memory_equal(pair.b.mem + 1000, pair.a.mem, 5);
    assert_memory_equal(pair.b.mem + 1005, pair.a.mem + 100, 7);
    assert_memory_equal(pair.b.mem + 2000, "one and", 7);
    assert_memory_equal(pair.b.mem + 3000, "one", 3);
    assert_memory_equal(pair.a.mem + 6000, pair.b.mem + 5000, 50);
}

static void immediate_data_and_atomics_arrive(void **state)
{
    static uint8_t text[] = "inline";
    uint64_t value = 5, original[2];
    struct ibv_wc wc;

    (void)state;
    memcpy(pair.b.mem + 4096, &value, 8);
    post_recv(&pair.b, 10, 0, 8);
    post_recv(&pair.b, 11, 8, 8);
    ibv_wr_start(ex);
    ex->wr_flags = IBV_SEND_SIGNALED;
    ex->wr_id = 1;
    ibv_wr_send_imm(ex, htobe32(0x01020304));
    ibv_wr_set_inline_data(ex, text, 6);
    ex->wr_id = 2;
    ibv_wr_rdma_write_imm(ex, pair.b.mr->rkey, at(&pair.b, 3000), htobe32(0x05060708));
    ibv_wr_set_inline_data(ex, text, 5);
    ex->wr_id = 3;
    ibv_wr_atomic_fetch_add(ex, pair.b.mr->rkey, at(&pair.b, 4096), 2);
    ibv_wr_set_sge(ex, pair.a.mr->lkey, at(&pair.a, 6000), 8);
    ex->wr_id = 4;
    ibv_wr_atomic_cmp_swp(ex, pair.b.mr->rkey, at(&pair.b, 4096), 7, 9);
    ibv_wr_set_sge(ex, pair.a.mr->lkey, at(&pair.a, 6008), 8);
    assert_int_equal(ibv_wr_complete(ex), 0);
    pair_pump(&pair);
    for (unsigned i = 1; i <= 4; i++)
        expect_wc(pair.a.scq, i, IBV_WC_SUCCESS);
    wc = expect_wc(pair.b.rcq, 10, IBV_WC_SUCCESS);
    assert_int_equal(wc.opcode, IBV_WC_RECV);
    assert_int_equal(be32toh(wc.imm_data), 0x01020304);
    assert_memory_equal(pair.b.mem, "inline", 6);
    wc = expect_wc(pair.b.rcq, 11, IBV_WC_SUCCESS);
    assert_int_equal(wc.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
    assert_int_equal(wc.byte_len, 5);
    assert_int_equal(be32toh(wc.imm_data), 0x05060708);
    assert_memory_equal(pair.b.mem + 3000, text, 5);
    assert_int_equal(pair.b.mem[3005], 0);
    memcpy(original, pair.a.mem + 6000, 16);
    assert_int_equal(original[0], 5);
    assert_int_equal(original[1], 7);
    memcpy(&value, pair.b.mem + 4096, 8);
    assert_int_equal(value, 9);
}

static void a_list_with_a_wrong_request_posts_none(void **state)
{
    static uint8_t data[4096];

    (void)state;
    post_recv(&pair.b, 10, 0, 100);
    ibv_wr_start(ex); /* one entry too many in the second */
    send_of(1, 0, 8);
    ex->wr_id = 2;
    ibv_wr_send(ex);
    ibv_wr_set_sge_list(ex, 3, (struct ibv_sge[3]){ { 0 } });
    assert_int_equal(ibv_wr_complete(ex), EINVAL);
    ibv_wr_start(ex); /* inline data too long */
    send_of(3, 0, 8);
    ibv_wr_send(ex);
    ibv_wr_set_inline_data(ex, data, sizeof(data));
    assert_int_equal(ibv_wr_complete(ex), ENOMEM);
    ibv_wr_start(ex); /* begun and taken back */
    send_of(4, 0, 8);
    ibv_wr_abort(ex);
    ibv_wr_start(ex); /* one more than the queue is deep */
    for (unsigned i = 0; i <= DEPTH; i++)
        send_of(5, 0, 8);
    assert_int_equal(ibv_wr_complete(ex), ENOMEM);
    pair_pump(&pair);
    expect_none(pair.a.scq);
    expect_none(pair.b.rcq);
}

/* The list as such is right, but there is room for its first requests only. */
static void a_list_that_finds_too_little_room_posts_none(void **state)
{
    (void)state;
    for (unsigned i = 0; i < DEPTH; i++)
        post_recv(&pair.b, 10, 0, 8);
    for (unsigned i = 0; i < DEPTH - 1; i++)
        post_send(&pair.a, 1, 0, 8, 0);
    ibv_wr_start(ex);
    send_of(2, 0, 8);
    send_of(3, 0, 8);
    assert_int_equal(ibv_wr_complete(ex), ENOMEM);
    pair_pump(&pair);
    for (unsigned i = 0; i < DEPTH - 1; i++)
        expect_wc(pair.a.scq, 1, IBV_WC_SUCCESS);
    expect_none(pair.a.scq);
    ibv_wr_start(ex);
    send_of(4, 0, 8);
    assert_int_equal(ibv_wr_complete(ex), 0);
    pair_pump(&pair);
    expect_wc(pair.a.scq, 4, IBV_WC_SUCCESS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(each_kind_arrives, setup, teardown),
        cmocka_unit_test_setup_teardown(immediate_data_and_atomics_arrive, setup, teardown),
        cmocka_unit_test_setup_teardown(a_list_with_a_wrong_request_posts_none, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_list_that_finds_too_little_room_posts_none, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
