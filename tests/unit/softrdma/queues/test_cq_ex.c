/* SPDX-License-Identifier: MIT */
/* Extended completion queues, as ibv_create_cq_ex(3) describes them and rdma-core's pyverbs polls them. */
#include "tests/unit/softrdma/pair.h"
#include "softrdma/queues/cq.h"
#include "tests/support/asleep.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct ibv_cq_ex *create(struct end *end, uint64_t fields)
{
    struct ibv_cq_init_attr_ex attr = {
        .cqe = 16, .cq_context = end, .channel = end->channel, .wc_flags = fields
    };
    struct ibv_cq_ex *ex = ibv_create_cq_ex(end->context, &attr);

    assert_non_null(ex);
    assert_int_equal(ex->cqe, 16);
    assert_ptr_equal(ex->cq_context, end);
    return ex;
}

static void push(struct ibv_cq_ex *ex, uint64_t wr_id, enum ibv_wc_status status)
{
    struct ibv_wc wc = { .wr_id = wr_id,
        .status = status,
        .opcode = IBV_WC_RECV,
        .vendor_err = 7,
        .byte_len = 40,
        .invalidated_rkey = 0x1234,
        .qp_num = 5,
        .wc_flags = IBV_WC_WITH_INV };

    srd_cq_push(ibv_cq_ex_to_cq(ex), &wc, false);
}

static void completions_come_one_by_one(void **state)
{
    struct ibv_poll_cq_attr attr = { 0 }, wrong = { .comp_mask = 1 };
    struct ibv_cq_ex *ex;
    struct end end;

    (void)state;
    end_open(&end);
    ex = create(&end, IBV_WC_STANDARD_FLAGS);
    assert_int_equal(ibv_start_poll(ex, &attr), ENOENT);
    push(ex, 1, IBV_WC_SUCCESS);
    push(ex, 2, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(ibv_start_poll(ex, &wrong), EINVAL);
    assert_int_equal(ibv_start_poll(ex, &attr), 0);
    assert_int_equal(ex->wr_id, 1);
    assert_int_equal(ex->status, IBV_WC_SUCCESS);
    assert_int_equal(ibv_wc_read_opcode(ex), IBV_WC_RECV);
    assert_int_equal(ibv_wc_read_byte_len(ex), 40);
    assert_int_equal(ibv_wc_read_qp_num(ex), 5);
    assert_int_equal(ibv_wc_read_wc_flags(ex), IBV_WC_WITH_INV);
    assert_int_equal(ibv_wc_read_invalidated_rkey(ex), 0x1234);
    assert_int_equal(ibv_wc_read_src_qp(ex), 0);
    assert_int_equal(ibv_wc_read_slid(ex), 0);
    assert_int_equal(ibv_wc_read_sl(ex), 0);
    assert_int_equal(ibv_wc_read_dlid_path_bits(ex), 0);
    assert_int_equal(ibv_next_poll(ex), 0);
    assert_int_equal(ex->wr_id, 2);
    assert_int_equal(ex->status, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(ibv_wc_read_vendor_err(ex), 7);
    assert_int_equal(ibv_next_poll(ex), ENOENT);
    ibv_end_poll(ex);
    push(ex, 3, IBV_WC_SUCCESS);
    assert_int_equal(ibv_start_poll(ex, &attr), 0); /* the batch before is over */
    assert_int_equal(ex->wr_id, 3);
    ibv_end_poll(ex);
    assert_int_equal(srd_destroy_cq(ibv_cq_ex_to_cq(ex)), 0);
    end_close(&end);
}

/* Only fields that were asked for can be queried. */
static void fields_are_those_that_were_asked_for(void **state)
{
    struct ibv_cq_ex *ex;
    struct end end;

    (void)state;
    end_open(&end);
    ex = create(&end, IBV_WC_EX_WITH_QP_NUM);
    assert_non_null(ex->read_qp_num);
    assert_non_null(ex->read_opcode);
    assert_null(ex->read_byte_len);
    assert_null(ex->read_imm_data);
    assert_null(ex->read_completion_ts);
    assert_int_equal(srd_destroy_cq(ibv_cq_ex_to_cq(ex)), 0);
    end_close(&end);
}

static void refused(struct end *end, const struct ibv_cq_init_attr_ex *with, int error)
{
    struct ibv_cq_init_attr_ex attr = *with;

    errno = 0;
    assert_null(ibv_create_cq_ex(end->context, &attr));
    assert_int_equal(errno, error);
}

static void what_the_device_lacks_is_refused(void **state)
{
    static const uint64_t fields[] = { IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
        IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK, IBV_WC_EX_WITH_CVLAN,
        IBV_WC_EX_WITH_FLOW_TAG, IBV_WC_EX_WITH_TM_INFO, UINT64_C(1) << 40 };
    const struct ibv_cq_init_attr_ex good = { .cqe = 4 };
    struct ibv_cq_init_attr_ex attr;
    struct ibv_cq_ex *ex;
    struct end end;

    (void)state;
    end_open(&end);
    for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
        attr = good;
        attr.wc_flags = fields[i];
        refused(&end, &attr, EOPNOTSUPP);
    }
    attr = good;
    attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD;
    attr.parent_domain = end.pd;
    refused(&end, &attr, EOPNOTSUPP);
    attr = good;
    attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
    attr.flags = IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN;
    refused(&end, &attr, EOPNOTSUPP);
    attr.flags = IBV_CREATE_CQ_ATTR_SINGLE_THREADED;
    ex = ibv_create_cq_ex(end.context, &attr);
    assert_non_null(ex);
    assert_int_equal(srd_destroy_cq(ibv_cq_ex_to_cq(ex)), 0);
    attr = good;
    attr.cqe = 0;
    refused(&end, &attr, EINVAL);
    attr.cqe = UINT32_MAX;
    refused(&end, &attr, EINVAL);
    end_close(&end);
}

struct other {
    struct ibv_cq_ex *ex;
    atomic_int thread;
    atomic_bool done;
};

static void *poll_too(void *argument)
{
    struct ibv_poll_cq_attr attr = { 0 };
    struct other *other = argument;

    atomic_store(&other->thread, thread_number());
    assert_int_equal(ibv_start_poll(other->ex, &attr), 0);
    assert_int_equal(other->ex->wr_id, 2);
    ibv_end_poll(other->ex);
    atomic_store(&other->done, true);
    return NULL;
}

/* The current completion is one thread's from start_poll to end_poll. */
static void another_thread_waits_for_the_end_of_the_batch(void **state)
{
    struct ibv_poll_cq_attr attr = { 0 };
    struct other other = { 0 };
    pthread_t thread;
    struct end end;

    (void)state;
    end_open(&end);
    other.ex = create(&end, 0);
    push(other.ex, 1, IBV_WC_SUCCESS);
    push(other.ex, 2, IBV_WC_SUCCESS);
    assert_int_equal(ibv_start_poll(other.ex, &attr), 0);
    assert_int_equal(pthread_create(&thread, NULL, poll_too, &other), 0);
    assert_true(
        SETTLES(atomic_load(&other.done) ||
                (atomic_load(&other.thread) && thread_is_asleep(atomic_load(&other.thread)))));
    assert_false(atomic_load(&other.done));
    assert_int_equal(other.ex->wr_id, 1);
    ibv_end_poll(other.ex);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(srd_destroy_cq(ibv_cq_ex_to_cq(other.ex)), 0);
    end_close(&end);
}

/* It is a completion queue like any: a queue pair completes into it, and polls of it move the device. */
static void a_queue_pair_completes_into_it(void **state)
{
    struct ibv_poll_cq_attr attr = { 0 };
    struct ibv_cq_ex *ex;
    struct pair pair;
    struct ibv_wc wc;
    int error;

    (void)state;
    pair_listen(&pair, "127.0.0.1");
    ex = create(&pair.passive, IBV_WC_EX_WITH_BYTE_LEN | IBV_WC_EX_WITH_QP_NUM);
    assert_int_equal(srd_destroy_cq(pair.passive.cq), 0);
    pair.passive.cq = ibv_cq_ex_to_cq(ex);
    end_make_qp(&pair.active);
    end_make_qp(&pair.passive);
    end_resolve(&pair.active, &pair.address);
    pair_request(&pair, 4);
    pair_accept(&pair, 4);
    pair_establish(&pair);
    end_recv(&pair.passive, 1, 0, 64);
    end_post(&pair.active, IBV_WR_SEND, 2, 0, 24, NULL, 0, 0);
    while ((error = ibv_start_poll(ex, &attr)) == ENOENT)
        ;
    assert_int_equal(error, 0);
    assert_int_equal(ex->wr_id, 1);
    assert_int_equal(ex->status, IBV_WC_SUCCESS);
    assert_int_equal(ibv_wc_read_opcode(ex), IBV_WC_RECV);
    assert_int_equal(ibv_wc_read_byte_len(ex), 24);
    assert_int_equal(ibv_wc_read_qp_num(ex), pair.passive.qp->qp_num);
    ibv_end_poll(ex);
    test_poll(pair.active.cq, 1, &wc);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(completions_come_one_by_one),
        cmocka_unit_test(fields_are_those_that_were_asked_for),
        cmocka_unit_test(what_the_device_lacks_is_refused),
        cmocka_unit_test(another_thread_waits_for_the_end_of_the_batch),
        cmocka_unit_test(a_queue_pair_completes_into_it),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
