/* SPDX-License-Identifier: MIT */
/*
 * test_srq.c - shared receive queues over a device that the test plays: places, the threshold, Notifies for it.
 *
 * Source: IND2SharedReceiveQueue.
 */
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/ndspi/core_fake.h"

#include <errno.h>
#include <string.h>

struct fixture {
    struct nd_adapter *adapter;
    struct nd_cq *cq;
    char memory[256];
};

static int setup(void **state)
{
    static struct fixture f;

    memset(&f, 0, sizeof(f));
    f.adapter = fake_adapter_open();
    f.cq = fake_make_cq(f.adapter, 64);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    nd_cq_close(f->cq);
    fake_adapter_close(f->adapter);
    return 0;
}

static void srq_completes(
    struct fixture *f, struct nd_srq *srq, const struct nd_qp *qp, unsigned index)
{
    struct fake_queue *queue = &((struct fake_srq *)srq->ibv)->receive;
    struct ibv_wc wc = {
        .wr_id = queue->requests[index].wr_id, .qp_num = qp->ibv->qp_num, .byte_len = 5
    };

    memmove(&queue->requests[index], &queue->requests[index + 1],
        (queue->count - index) * sizeof(queue->requests[0]));
    queue->count--;
    fake_cq_push(f->cq, &wc, false);
}

static void test_srq_places_free_in_any_order_when_fetched(void **state)
{
    struct fixture *f = *state;
    struct nd_srq *srq = fake_make_srq(f->adapter, 4, 0);
    struct nd_qp *one = fake_make_qp(f->adapter, f->cq, srq, 4),
                 *two = fake_make_qp(f->adapter, f->cq, srq, 4);
    ND2_SGE sge = { f->memory, 8, 0 };
    ND2_RESULT results[4];

    for (uintptr_t i = 1; i <= 4; i++)
        assert_int_equal(nd_srq_receive(srq, (void *)i, &sge, 1), ND_SUCCESS);
    assert_int_equal((uint32_t)nd_srq_receive(srq, NULL, &sge, 1), SPEC_ND_NO_MORE_ENTRIES);
    assert_int_equal((uint32_t)nd_srq_receive(srq, NULL, &sge, 3), SPEC_ND_DATA_OVERRUN);
    assert_int_equal((uint32_t)nd_queue_receive_v2(&one->receive, NULL, &sge, 1),
        SPEC_ND_INVALID_DEVICE_REQUEST);
    srq_completes(f, srq, two, 2);
    srq_completes(f, srq, one, 0);
    nd_cq_look(f->cq);
    assert_int_equal((uint32_t)nd_srq_receive(srq, NULL, &sge, 1), SPEC_ND_NO_MORE_ENTRIES);
    assert_int_equal(nd_cq_results_v2(&f->cq->poll, results, 4), 2);
    assert_int_equal((uintptr_t)results[0].RequestContext, 3);
    assert_ptr_equal(results[0].QueuePairContext, two);
    assert_int_equal((uintptr_t)results[1].RequestContext, 1);
    assert_ptr_equal(results[1].QueuePairContext, one);
    assert_int_equal(results[1].BytesTransferred, 5);
    for (uintptr_t i = 5; i <= 6; i++)
        assert_int_equal(nd_srq_receive(srq, (void *)i, &sge, 1), ND_SUCCESS);
    assert_int_equal((uint32_t)nd_srq_receive(srq, NULL, &sge, 1), SPEC_ND_NO_MORE_ENTRIES);
    assert_int_equal((uint32_t)nd_srq_modify(srq, 3, 0), SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal((uint32_t)nd_srq_modify(srq, 65, 0), SPEC_ND_INVALID_PARAMETER);
    assert_int_equal((uint32_t)nd_srq_modify(srq, 6, 0), 0);
    assert_int_equal(nd_srq_receive(srq, (void *)(uintptr_t)7, &sge, 1), ND_SUCCESS);
    nd_qp_close(one);
    nd_qp_close(two);
    nd_srq_close(srq);
}

enum { MANY = 200 };

/* A completion names its queue pair by number alone. Some of them have gone, some have another number since. */
static void test_srq_of_many_queue_pairs(void **state)
{
    struct fixture *f = *state;
    struct nd_srq *srq = fake_make_srq(f->adapter, 4, 0);
    ND2_SGE sge = { f->memory, 8, 0 };
    struct nd_qp *qps[MANY];
    ND2_RESULT result;

    for (int i = 0; i < MANY; i++)
        assert_non_null(qps[i] = fake_make_qp(f->adapter, f->cq, srq, 4));
    for (int i = 0; i < MANY; i += 3) {
        nd_qp_close(qps[i]);
        qps[i] = NULL;
    }
    for (int i = 1; i < MANY; i += 3) {
        qps[i]->ibv->qp_num += 1000000;
        nd_cq_number_shared(f->cq, qps[i], qps[i]->ibv->qp_num);
    }
    for (int i = MANY - 1; i >= 0; i--) {
        if (!qps[i])
            continue;
        assert_int_equal(nd_srq_receive(srq, (void *)(uintptr_t)i, &sge, 1), ND_SUCCESS);
        srq_completes(f, srq, qps[i], 0);
        assert_int_equal(nd_cq_results_v2(&f->cq->poll, &result, 1), 1);
        assert_ptr_equal(result.QueuePairContext, qps[i]);
        assert_int_equal((uintptr_t)result.RequestContext, i);
    }
    for (int i = 0; i < MANY; i++)
        if (qps[i])
            nd_qp_close(qps[i]);
    nd_srq_close(srq);
}

static void test_srq_notify_at_the_threshold(void **state)
{
    struct fixture *f = *state;
    struct nd_srq *srq = fake_make_srq(f->adapter, 4, 2);
    struct nd_qp *qp = fake_make_qp(f->adapter, f->cq, srq, 4);
    ND2_SGE sge = { f->memory, 8, 0 };
    OVERLAPPED ov[2] = { { 0 } };

    assert_int_equal(nd_srq_receive(srq, NULL, &sge, 1), ND_SUCCESS);
    assert_int_equal(nd_srq_notify(srq, &ov[0]), SPEC_ND_PENDING);
    assert_int_equal(ov[0].Internal, 0); /* below already */
    assert_int_equal(nd_srq_receive(srq, NULL, &sge, 1), ND_SUCCESS);
    assert_int_equal(nd_srq_notify(srq, &ov[0]), SPEC_ND_PENDING);
    assert_int_equal(nd_srq_notify(srq, &ov[1]), SPEC_ND_PENDING);
    assert_int_equal(ov[0].Internal, SPEC_ND_PENDING);
    assert_int_equal(((struct fake_srq *)srq->ibv)->limit, 2);
    nd_srq_event(srq);
    assert_int_equal(ov[0].Internal, 0);
    assert_int_equal(ov[1].Internal, 0);
    assert_int_equal(nd_srq_notify(srq, &ov[0]), SPEC_ND_PENDING);
    nd_srq_close(srq);
    assert_int_equal((uint32_t)ov[0].Internal, SPEC_ND_CANCELED);
    nd_qp_close(qp);
}

/* Another thread's Notify starts while the library disarms the device. */
static struct nd_srq *watched;
static OVERLAPPED waits_anew;
static char watched_data[8];

static void receive_and_wait(void)
{
    ND2_SGE sge = { watched_data, 8, 0 };

    for (int i = 0; i < 2; i++)
        assert_int_equal(nd_srq_receive(watched, NULL, &sge, 1), ND_SUCCESS);
    assert_int_equal(nd_srq_notify(watched, &waits_anew), SPEC_ND_PENDING);
}

static void wait_anew_when_disarmed(uint32_t limit)
{
    if (limit)
        return;
    fake_device.before_limit = NULL;
    fake_thread_run(receive_and_wait);
}

static void test_srq_notify_while_another_ends(void **state)
{
    struct fixture *f = *state;
    ND2_SGE sge = { watched_data, 8, 0 };
    OVERLAPPED overlapped;

    watched = fake_make_srq(f->adapter, 4, 2);
    assert_int_equal(nd_srq_receive(watched, NULL, &sge, 1), ND_SUCCESS);
    fake_device.before_limit = wait_anew_when_disarmed;
    assert_int_equal(nd_srq_notify(watched, &overlapped), SPEC_ND_PENDING);
    assert_int_equal(overlapped.Internal, 0); /* below already */
    fake_thread_join();
    assert_int_equal(waits_anew.Internal, SPEC_ND_PENDING);
    assert_int_equal(((struct fake_srq *)watched->ibv)->limit, 2); /* the device watches for it */
    nd_srq_event(watched);
    assert_int_equal(waits_anew.Internal, 0);
    nd_srq_close(watched);
}

/* A new threshold is looked at again when the device watches for it. */
static struct fixture *completing;
static struct nd_qp *completing_qp;

static void one_completes(uint32_t limit)
{
    if (!limit)
        return;
    fake_device.before_limit = NULL;
    srq_completes(completing, watched, completing_qp, 0);
    nd_cq_look(completing->cq);
}

static void test_srq_threshold_is_reached_while_it_is_set(void **state)
{
    struct fixture *f = *state;
    ND2_SGE sge = { watched_data, 8, 0 };
    OVERLAPPED overlapped;

    watched = fake_make_srq(f->adapter, 4, 1);
    completing_qp = fake_make_qp(f->adapter, f->cq, watched, 4);
    completing = f;
    for (int i = 0; i < 2; i++)
        assert_int_equal(nd_srq_receive(watched, NULL, &sge, 1), ND_SUCCESS);
    assert_int_equal(nd_srq_notify(watched, &overlapped), SPEC_ND_PENDING);
    assert_int_equal(overlapped.Internal, SPEC_ND_PENDING);
    fake_device.before_limit = one_completes;
    assert_int_equal(nd_srq_modify(watched, 0, 2), 0);
    assert_int_equal(overlapped.Internal, 0);
    nd_qp_close(completing_qp);
    nd_srq_close(watched);
}

static void test_srq_threshold_is_within_its_depth(void **state)
{
    struct fixture *f = *state;
    struct nd_srq *srq = fake_make_srq(f->adapter, 8, 0);

    assert_int_equal((uint32_t)nd_srq_modify(srq, 0, 9), SPEC_ND_INVALID_PARAMETER);
    assert_int_equal((uint32_t)nd_srq_modify(srq, 4, 5), SPEC_ND_INVALID_PARAMETER);
    assert_int_equal(srq->depth, 8);
    assert_int_equal(srq->threshold, 0);
    assert_int_equal((uint32_t)nd_srq_modify(srq, 0, 8), 0);
    assert_int_equal(
        (uint32_t)nd_srq_modify(srq, 7, 0), SPEC_ND_INVALID_PARAMETER); /* it is kept */
    assert_int_equal((uint32_t)nd_srq_modify(srq, 7, 7), 0);
    assert_int_equal((uint32_t)nd_srq_modify(srq, 16, 16), 0);
    assert_int_equal((uint32_t)nd_srq_modify(srq, 0, 17), SPEC_ND_INVALID_PARAMETER);
    nd_srq_close(srq);
}

/* The device refuses a Receive: it does not count as posted. */
static void test_srq_refused_receive_takes_no_place(void **state)
{
    struct fixture *f = *state;
    struct nd_srq *srq = fake_make_srq(f->adapter, 4, 0);
    ND2_SGE sge = { f->memory, 8, 0 };

    for (int i = 0; i < 3; i++)
        assert_int_equal(nd_srq_receive(srq, NULL, &sge, 1), ND_SUCCESS);
    fake_device.post_error = ENOMEM;
    assert_int_equal((uint32_t)nd_srq_receive(srq, NULL, &sge, 1), SPEC_ND_NO_MORE_ENTRIES);
    fake_device.post_error = 0;
    assert_int_equal((uint32_t)nd_srq_modify(srq, 2, 0), SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal((uint32_t)nd_srq_modify(srq, 3, 0), 0);
    nd_srq_close(srq);
}

static void test_srq_that_failed_ends_its_notify(void **state)
{
    struct fixture *f = *state;
    struct nd_srq *srq = fake_make_srq(f->adapter, 4, 1);
    ND2_SGE sge = { f->memory, 8, 0 };
    OVERLAPPED ov[2] = { { 0 } };

    assert_int_equal(nd_srq_receive(srq, NULL, &sge, 1), ND_SUCCESS);
    assert_int_equal(nd_srq_notify(srq, &ov[0]), SPEC_ND_PENDING);
    assert_int_equal(ov[0].Internal, SPEC_ND_PENDING);
    nd_srq_fail(srq, ND_INTERNAL_ERROR);
    assert_int_equal((uint32_t)ov[0].Internal, SPEC_ND_INTERNAL_ERROR);
    assert_int_equal((uint32_t)nd_srq_notify(srq, &ov[1]), SPEC_ND_INTERNAL_ERROR);
    assert_int_equal(ov[1].Internal, 0);
    nd_srq_close(srq);
}

/* Results that are never fetched go with their completion queue, and with them what they hold: teardown counts. */
static void test_srq_goes_when_its_results_are_not_fetched(void **state)
{
    struct fixture *f = *state;
    struct nd_srq *srq = fake_make_srq(f->adapter, 4, 0);
    struct nd_qp *qp = fake_make_qp(f->adapter, f->cq, srq, 4);
    ND2_SGE sge = { f->memory, 8, 0 };

    for (int i = 0; i < 2; i++)
        assert_int_equal(nd_srq_receive(srq, NULL, &sge, 1), ND_SUCCESS);
    for (int i = 0; i < 2; i++)
        srq_completes(f, srq, qp, 0);
    nd_cq_look(f->cq);
    nd_qp_close(qp);
    nd_srq_close(srq);
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_srq_places_free_in_any_order_when_fetched),
        ROW(test_srq_of_many_queue_pairs),
        ROW(test_srq_notify_at_the_threshold),
        ROW(test_srq_notify_while_another_ends),
        ROW(test_srq_threshold_is_reached_while_it_is_set),
        ROW(test_srq_threshold_is_within_its_depth),
        ROW(test_srq_refused_receive_takes_no_place),
        ROW(test_srq_that_failed_ends_its_notify),
        ROW(test_srq_goes_when_its_results_are_not_fetched),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
