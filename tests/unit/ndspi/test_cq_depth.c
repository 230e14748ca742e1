/* SPDX-License-Identifier: MIT */
/*
 * test_cq_depth.c - the depth of a completion queue: who changes it meanwhile, and what is beyond it.
 *
 * Source: IND2CompletionQueue::Resize, INDCompletionQueue::Resize; IND2CompletionQueue::Notify (overrun).
 */
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/ndspi/core_fake.h"

#include <string.h>

enum { MOST_PAIRS = 8 };

static struct fixture {
    struct nd_adapter *adapter;
    struct nd_cq *cq;
    struct nd_qp *qps[MOST_PAIRS];
    unsigned pairs;
    uint32_t others_depth, others_status;
    char data[64];
} f;

static int setup(void **state)
{
    (void)state;
    memset(&f, 0, sizeof(f));
    f.adapter = fake_adapter_open();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (unsigned i = 0; i < f.pairs; i++)
        nd_qp_close(f.qps[i]);
    nd_cq_close(f.cq);
    fake_adapter_close(f.adapter);
    return 0;
}

static void add_pairs(unsigned count)
{
    for (; count; count--) {
        assert_non_null(f.qps[f.pairs] = fake_make_qp(f.adapter, f.cq, NULL, 4));
        nd_qp_set_sendable(f.qps[f.pairs++]);
    }
}

/* ---- who changes it meanwhile ---- */

static void resize_to_others_depth(void)
{
    f.others_status = (uint32_t)nd_cq_resize(f.cq, f.others_depth);
}

static void resize_meanwhile(void)
{
    fake_thread_run(resize_to_others_depth);
}

static void expect_depth(uint32_t depth, int device_entries)
{
    assert_int_equal(f.others_status, 0);
    assert_int_equal(f.cq->depth, depth);
    assert_int_equal(f.cq->poll.ibv->cqe, device_entries);
}

/* The fifth queue pair wants a larger reserve; a Resize comes while the device is asked for that. */
static void test_resize_while_a_queue_pair_is_made(void **state)
{
    (void)state;
    assert_non_null(f.cq = fake_make_cq(f.adapter, 4));
    add_pairs(4);
    assert_int_equal(f.cq->poll.ibv->cqe, 4 + 64);
    f.others_depth = 100;
    fake_device.before_resize = resize_meanwhile;
    add_pairs(1);
    fake_thread_join();
    expect_depth(100, 100 + 128);
}

static void test_two_resizes_at_a_time(void **state)
{
    (void)state;
    assert_non_null(f.cq = fake_make_cq(f.adapter, 4));
    f.others_depth = 100;
    fake_device.before_resize = resize_meanwhile;
    assert_int_equal(nd_cq_resize(f.cq, 20), 0);
    fake_thread_join();
    expect_depth(100, 100 + 64);
}

static void add_one_pair(void)
{
    add_pairs(1);
}

static void make_a_pair_meanwhile(void)
{
    fake_thread_run(add_one_pair);
}

static void test_queue_pair_is_made_while_it_is_resized(void **state)
{
    (void)state;
    assert_non_null(f.cq = fake_make_cq(f.adapter, 4));
    add_pairs(4);
    fake_device.before_resize = make_a_pair_meanwhile;
    assert_int_equal(nd_cq_resize(f.cq, 100), 0);
    fake_thread_join();
    expect_depth(100, 100 + 128);
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_resize_while_a_queue_pair_is_made),
        ROW(test_two_resizes_at_a_time),
        ROW(test_queue_pair_is_made_while_it_is_resized),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
