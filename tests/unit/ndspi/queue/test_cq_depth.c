/* SPDX-License-Identifier: MIT */
/*
 * test_cq_depth.c - the depth of a completion queue: concurrent changes of it, and completions beyond it.
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
    uint32_t receives; /* of the queue pair that `arrive` makes */
    uint32_t others_depth, others_status;
    char data[64];
} f;

static int setup(void **state)
{
    (void)state;
    memset(&f, 0, sizeof(f));
    f.adapter = fake_adapter_open();
    f.receives = 200;
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

/* ---- concurrent changes ---- */

static void resize_to_others_depth(void)
{
    f.others_status = (uint32_t)nd_cq_resize(f.cq, f.others_depth);
}

static void resize_meanwhile(void)
{
    fake_thread_run(resize_to_others_depth);
}

/* The adapter's limit is 128, which is what each is rounded up to. */
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
    assert_int_equal(f.cq->poll.ibv->cqe, 128 + 64);
    f.others_depth = 100;
    fake_device.before_resize = resize_meanwhile;
    add_pairs(1);
    fake_thread_join();
    expect_depth(100, 128 + 128);
}

static void test_two_resizes_at_a_time(void **state)
{
    (void)state;
    assert_non_null(f.cq = fake_make_cq(f.adapter, 4));
    f.others_depth = 100;
    fake_device.before_resize = resize_meanwhile;
    assert_int_equal(nd_cq_resize(f.cq, 20), 0);
    fake_thread_join();
    expect_depth(100, 128 + 64);
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
    expect_depth(100, 128 + 128);
}

/* ---- completions beyond it ---- */

static void arrive(unsigned count)
{
    ND2_SGE sge = { f.data, 8, 0 };
    struct fake_qp *fake;

    if (!f.pairs)
        assert_non_null(f.qps[f.pairs++] = fake_make_qp(f.adapter, f.cq, NULL, f.receives));
    fake = fake_qp_of(f.qps[0]);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(nd_queue_receive_v2(&f.qps[0]->receive, &f, &sge, 1), 0);
    fake_complete(f.cq, &fake->receive, &fake->ibv, count, IBV_WC_SUCCESS);
}

static uint32_t notify(ULONG type, OVERLAPPED *overlapped)
{
    HRESULT status = nd_cq_notify(f.cq, type, overlapped);

    return status == ND_PENDING ? (uint32_t)overlapped->Internal : (uint32_t)status;
}

static const unsigned arrays[] = { 0, 1, 3, 4, 5, 15, 16, 17, 32 };

/* However many results the client asks for. The adapter's limit, 128, is the room of each queue here. */
static void test_overrun_whatever_the_array(void **state)
{
    static const unsigned counts[] = { 129, 130, 144, 145, 190 };
    OVERLAPPED overlapped;
    ND2_RESULT results[32];

    (void)state;
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        for (size_t k = 0; k < sizeof(counts) / sizeof(counts[0]); k++) {
            assert_non_null(f.cq = fake_make_cq(f.adapter, 4));
            arrive(counts[k]);
            assert_int_equal(nd_cq_results_v2(&f.cq->poll, results, arrays[i]), 0);
            assert_int_equal(notify(ND_CQ_NOTIFY_ANY, &overlapped), SPEC_ND_BUFFER_OVERFLOW);
            assert_int_equal(nd_cq_results_v2(&f.cq->poll, results, arrays[i]), 0);
            nd_qp_close(f.qps[--f.pairs]);
            nd_cq_close(f.cq);
        }
    assert_non_null(f.cq = fake_make_cq(f.adapter, 4));
}

/* Also with more completions than one poll of the device fetches, and than the array takes. */
static void test_overrun_of_a_queue_of_several_batches(void **state)
{
    OVERLAPPED overlapped;
    ND2_RESULT results[32];

    (void)state;
    for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
        for (unsigned count = 128; count <= 129; count++) {
            bool overrun = count > 128;
            uint32_t fetched = overrun ? 0 : arrays[i];

            assert_non_null(f.cq = fake_make_cq(f.adapter, 20));
            arrive(count);
            assert_int_equal(nd_cq_results_v2(&f.cq->poll, results, arrays[i]), fetched);
            assert_int_equal(notify(ND_CQ_NOTIFY_ERRORS, &overlapped),
                overrun ? SPEC_ND_BUFFER_OVERFLOW : SPEC_ND_PENDING);
            nd_cq_cancel(f.cq);
            nd_qp_close(f.qps[--f.pairs]);
            nd_cq_close(f.cq);
        }
    assert_non_null(f.cq = fake_make_cq(f.adapter, 20));
}

/* What is fetched makes room. */
static void test_full_is_no_overrun_whatever_the_array(void **state)
{
    OVERLAPPED overlapped;
    ND2_RESULT results[32];

    (void)state;
    for (size_t i = 1; i < sizeof(arrays) / sizeof(arrays[0]); i++) {
        assert_non_null(f.cq = fake_make_cq(f.adapter, 4));
        arrive(128);
        for (unsigned round = 0; round < 20; round++) {
            unsigned count = arrays[i];

            assert_int_equal(nd_cq_results_v2(&f.cq->poll, results, arrays[i]), count);
            arrive(count); /* one comes for each that went */
        }
        assert_int_equal(nd_cq_results_v2(&f.cq->poll, results, 32), 32);
        assert_int_equal(notify(ND_CQ_NOTIFY_ERRORS, &overlapped), SPEC_ND_PENDING);
        nd_cq_cancel(f.cq);
        nd_qp_close(f.qps[--f.pairs]);
        nd_cq_close(f.cq);
    }
    assert_non_null(f.cq = fake_make_cq(f.adapter, 4));
}

/* A result goes straight into the array, and behind it come others that need more thought. */
static void test_results_of_the_same_call_count(void **state)
{
    ND2_RESULT results[32];
    OVERLAPPED overlapped;

    (void)state;
    assert_non_null(f.cq = fake_make_cq(f.adapter, 4));
    arrive(3);
    fake_cq_of(f.cq)->entries[2].status = IBV_WC_WR_FLUSH_ERR;
    assert_int_equal(nd_cq_results_v2(&f.cq->poll, results, 32), 3);
    assert_int_equal(results[1].Status, 0);
    assert_int_equal((uint32_t)results[2].Status, SPEC_ND_CANCELED);
    arrive(4);
    assert_int_equal(nd_cq_results_v2(&f.cq->poll, results, 32), 4);
    assert_int_equal(notify(ND_CQ_NOTIFY_ERRORS, &overlapped), SPEC_ND_PENDING);
    nd_cq_cancel(f.cq);
}

/* ---- its room ---- */

/*
 * The sum with 64 entries of the library's own is one less than a power of two. Source: cards round up, and the server
 * of a Microsoft sample makes its completion queue as deep as its Receives, which it flushes behind a Send: 16,384
 * results in 16,383.
 */
static void test_depth_is_rounded_up(void **state)
{
    static const uint32_t rows[][2] = { { 1, 255 }, { 127, 255 }, { 128, 511 }, { 383, 511 },
        { 16383, 32767 }, { 99000, 100064 }, { 100000, 100064 } };

    (void)state;
    f.adapter->limits.max_cq_depth = 100000;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_non_null(f.cq = fake_make_cq(f.adapter, rows[i][0]));
        assert_int_equal(f.cq->poll.ibv->cqe, rows[i][1]);
        nd_cq_close(f.cq);
    }
    assert_non_null(f.cq = fake_make_cq(f.adapter, 4));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(nd_cq_resize(f.cq, rows[i][0]), 0);
        assert_int_equal(f.cq->poll.ibv->cqe, rows[i][1]);
    }
}

/* Results beyond the depth are there, and are told of once, until the next Resize. */
static void test_depth_that_is_passed_is_told(void **state)
{
    ND2_RESULT results[128];
    OVERLAPPED overlapped;

    (void)state;
    assert_non_null(f.cq = fake_make_cq(f.adapter, 20));
    arrive(20);
    assert_int_equal(nd_cq_results_v2(&f.cq->poll, results, 128), 20);
    assert_false(nd_cq_passed(f.cq));
    arrive(21);
    assert_int_equal(nd_cq_results_v2(&f.cq->poll, results, 1), 1);
    assert_true(nd_cq_passed(f.cq));
    assert_int_equal(nd_cq_results_v2(&f.cq->poll, results, 128), 20);
    assert_int_equal(notify(ND_CQ_NOTIFY_ERRORS, &overlapped), SPEC_ND_PENDING);
    assert_int_equal(nd_cq_resize(f.cq, 4), 0);
    assert_false(nd_cq_passed(f.cq));
    arrive(5); /* fewer than a poll takes */
    assert_int_equal(nd_cq_results_v2(&f.cq->poll, results, 128), 5);
    assert_true(nd_cq_passed(f.cq));
    nd_cq_cancel(f.cq);
}

/* The library need not poll it for every completion, so it does not arm it. */
static void test_queue_that_cannot_overrun_is_left_alone(void **state)
{
    OVERLAPPED overlapped;

    (void)state;
    f.receives = 40;
    assert_non_null(f.cq = fake_make_cq(f.adapter, 80));
    arrive(0);
    assert_int_equal(notify(ND_CQ_NOTIFY_ERRORS, &overlapped), SPEC_ND_PENDING);
    assert_int_equal(fake_cq_of(f.cq)->armings, 0);
    assert_int_equal(nd_cq_resize(f.cq, 79), 0);
    assert_int_equal(fake_cq_of(f.cq)->armings, 1);
    nd_cq_cancel(f.cq);
}

/* A Notify for errors ends with the overrun, though the queue pair came later. */
static void test_overrun_by_a_queue_pair_that_came_later(void **state)
{
    OVERLAPPED errors, solicited;

    (void)state;
    fake_device_marks(true);
    assert_non_null(f.cq = fake_make_cq(f.adapter, 4));
    assert_int_equal(notify(ND_CQ_NOTIFY_ERRORS, &errors), SPEC_ND_PENDING);
    assert_int_equal(notify(ND_CQ_NOTIFY_SOLICITED, &solicited), SPEC_ND_PENDING);
    arrive(128);
    fake_cq_deliver(f.cq);
    assert_int_equal(errors.Internal, SPEC_ND_PENDING);
    assert_int_equal(solicited.Internal, SPEC_ND_PENDING);
    arrive(1);
    fake_cq_deliver(f.cq);
    assert_int_equal((uint32_t)errors.Internal, SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal((uint32_t)solicited.Internal, SPEC_ND_BUFFER_OVERFLOW);
}

static void test_overrun_of_the_device(void **state)
{
    OVERLAPPED overlapped;
    ND2_RESULT results[4];

    (void)state;
    assert_non_null(f.cq = fake_make_cq(f.adapter, 4));
    assert_int_equal(notify(ND_CQ_NOTIFY_ERRORS, &overlapped), SPEC_ND_PENDING);
    fake_device.poll_error = -1;
    assert_int_equal(nd_cq_results_v2(&f.cq->poll, results, 4), 0);
    assert_int_equal((uint32_t)overlapped.Internal, SPEC_ND_BUFFER_OVERFLOW);
    nd_cq_close(f.cq);
    fake_device.poll_error = 0;
    assert_non_null(f.cq = fake_make_cq(f.adapter, 4));
    fake_device.poll_error = -1;
    assert_int_equal(nd_cq_results_v2(&f.cq->poll, results, 4), 0); /* the fast path */
    assert_int_equal(notify(ND_CQ_NOTIFY_ANY, &overlapped), SPEC_ND_BUFFER_OVERFLOW);
    fake_device.poll_error = 0;
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_resize_while_a_queue_pair_is_made),
        ROW(test_two_resizes_at_a_time),
        ROW(test_queue_pair_is_made_while_it_is_resized),
        ROW(test_overrun_whatever_the_array),
        ROW(test_overrun_of_a_queue_of_several_batches),
        ROW(test_full_is_no_overrun_whatever_the_array),
        ROW(test_results_of_the_same_call_count),
        ROW(test_depth_is_rounded_up),
        ROW(test_depth_that_is_passed_is_told),
        ROW(test_queue_that_cannot_overrun_is_left_alone),
        ROW(test_overrun_by_a_queue_pair_that_came_later),
        ROW(test_overrun_of_the_device),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
