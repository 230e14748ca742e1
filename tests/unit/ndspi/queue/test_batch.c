/* SPDX-License-Identifier: MIT */
/*
 * test_batch.c - request batches of version 1: one call of the device, limits and copies at the call, what submits, and
 * what becomes of requests that the device does not take.
 */
#include "tests/unit/util/cmocka_test.h"

#include "ndspi/core/queue/batch.h"
#include "tests/unit/ndspi/core_fake_v1.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

enum { DEPTH = 8 };

static int setup(void **state)
{
    return fake_v1_set_up(state, DEPTH);
}

static void start(struct fake_v1 *f)
{
    nd_queue_start_batch(&f->qp->receive);
    nd_queue_start_batch(&f->qp->initiator);
}

static void end(struct fake_v1 *f)
{
    nd_queue_end_batch(&f->qp->receive);
    nd_queue_end_batch(&f->qp->initiator);
}

static uint32_t send_it(struct fake_v1 *f, unsigned n, uint32_t flags)
{
    const ND_SGE sge = { f->memory, 8, f->mr };

    return (uint32_t)nd_queue_send_v1(&f->qp->initiator, &f->results[n], &sge, 1, flags);
}

static uint32_t receive_it(struct fake_v1 *f, unsigned n)
{
    const ND_SGE sge = { f->memory, 8, f->mr };

    return (uint32_t)nd_queue_receive_v1(&f->qp->receive, &f->results[n], &sge, 1);
}

/* Everything ends, in order, with the statuses given. */
static void expect_results(
    struct fake_v1 *f, unsigned first, const uint32_t *statuses, unsigned count)
{
    ND_RESULT *results[2 * DEPTH];

    assert_int_equal(fake_v1_fetch(f, results, 2 * DEPTH), count);
    for (unsigned i = 0; i < count; i++) {
        assert_ptr_equal(results[i], &f->results[first + i]);
        assert_int_equal((uint32_t)results[i]->Status, statuses[i]);
        assert_int_equal(results[i]->BytesTransferred, statuses[i] ? 0 : 8);
    }
}

static void test_each_queue_is_posted_to_once(void **state)
{
    struct fake_v1 *f = *state;

    start(f);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(send_it(f, i, 0), 0);
        assert_int_equal(receive_it(f, DEPTH + i), 0);
    }
    assert_int_equal(fake_device.post_calls, 0);
    end(f);
    assert_int_equal(fake_device.post_calls, 2);
    assert_int_equal(f->device->send.count, 5);
    assert_int_equal(f->device->receive.count, 5);
    assert_int_equal(send_it(f, 5, 0), 0); /* no batch any more */
    assert_int_equal(fake_device.post_calls, 3);
    fake_v1_sends_end(f, 6, IBV_WC_SUCCESS);
    expect_results(f, 0, (uint32_t[6]){ 0 }, 6);
    f->device->receive.count = 0;
}

static void test_lists_and_inline_data_are_read_at_the_call(void **state)
{
    struct fake_v1 *f = *state;
    ND_SGE sge = { f->memory, 8, f->mr };
    char text[] = "inline";
    ND_SGE inlined = { text, sizeof(text), NULL };
    uint32_t token;

    assert_true(nd_region_token(f->adapter->regions.table, &f->mr, &token));
    start(f);
    assert_int_equal(nd_queue_send_v1(&f->qp->initiator, &f->results[0], &sge, 1, 0), ND_SUCCESS);
    assert_int_equal(
        nd_queue_send_v1(&f->qp->initiator, &f->results[1], &inlined, 1, 0), ND_SUCCESS);
    memset(&sge, 0xee, sizeof(sge));
    memset(text, 'x', sizeof(text));
    end(f);
    assert_int_equal(f->device->send.requests[0].first_sge.lkey, token);
    assert_int_equal(f->device->send.requests[0].first_sge.length, 8);
    assert_int_equal(f->device->send.requests[1].send_flags, IBV_SEND_SIGNALED | IBV_SEND_INLINE);
    assert_memory_equal(f->device->send.requests[1].data, "inline", 7);
    fake_v1_sends_end(f, 2, IBV_WC_SUCCESS);
}

static void test_limits_hold_at_the_call_and_a_full_ring_submits(void **state)
{
    struct fake_v1 *f = *state;
    void *stale = (char *)f->mr + (1 << 25);
    const ND_SGE bad[3] = { { f->memory, 8, stale } };

    start(f);
    assert_int_equal((uint32_t)nd_queue_send_v1(&f->qp->initiator, f->results, bad, 1, 0),
        SPEC_ND_INVALID_HANDLE);
    assert_int_equal(
        (uint32_t)nd_queue_send_v1(&f->qp->initiator, f->results, bad, 3, 0), SPEC_ND_DATA_OVERRUN);
    for (unsigned i = 0; i < DEPTH; i++)
        assert_int_equal(send_it(f, i, 0), 0);
    assert_int_equal(f->device->send.count, 0);
    assert_int_equal(send_it(f, DEPTH, 0), SPEC_ND_NO_MORE_ENTRIES);
    assert_int_equal(f->device->send.count, DEPTH);
    assert_int_equal(fake_device.post_calls, 1);
    fake_v1_sends_end(f, DEPTH, IBV_WC_SUCCESS);
    expect_results(f, 0, (uint32_t[DEPTH]){ 0 }, DEPTH);
    end(f);
}

static void test_looking_for_results_submits_and_the_batch_stays_open(void **state)
{
    struct fake_v1 *f = *state;
    ND_RESULT *results[2];
    OVERLAPPED overlapped = { 0 };

    start(f);
    assert_int_equal(send_it(f, 0, 0), 0);
    assert_int_equal(fake_v1_fetch(f, results, 2), 0);
    assert_int_equal(f->device->send.count, 1);
    assert_int_equal(receive_it(f, 1), 0);
    assert_int_equal(f->device->receive.count, 0);
    assert_int_equal(nd_cq_notify(f->cq, ND_CQ_NOTIFY_ANY, &overlapped), ND_PENDING);
    assert_int_equal(f->device->receive.count, 1);
    assert_int_equal(send_it(f, 2, 0), 0);
    assert_int_equal(f->device->send.count, 1); /* kept again */
    end(f);
    assert_int_equal(f->device->send.count, 2);
    nd_cq_cancel(f->cq);
    f->device->receive.count = 0;
    f->device->send.count = 0;
}

static void test_flush_and_release_submit(void **state)
{
    struct fake_v1 *f = *state;

    start(f);
    assert_int_equal(send_it(f, 0, 0), 0);
    assert_int_equal(nd_qp_flush(f->qp), ND_SUCCESS);
    assert_int_equal(f->device->send.count, 1);
    assert_int_equal(send_it(f, 1, 0), 0);
    nd_qp_close(f->qp);
    f->qp = NULL;
    assert_int_equal(f->device->send.count, 3); /* and the marker */
    fake_v1_sends_end(f, 3, IBV_WC_WR_FLUSH_ERR);
    expect_results(f, 0, (uint32_t[]){ SPEC_ND_CANCELED, SPEC_ND_CANCELED }, 2);
}

/* Of six requests, two of them silent, the device takes `taken`; no result is lost and they come in order. */
static void refuse_after(struct fake_v1 *f, unsigned taken, bool complete_first)
{
    uint32_t expected[6] = { 0 };

    start(f);
    for (unsigned i = 0; i < 6; i++)
        assert_int_equal(send_it(f, i, 0), 0);
    fake_device.post_error = EINVAL;
    fake_device.taken = taken;
    fake_device.refuse_once = true; /* the list, not the fence */
    nd_queue_end_batch(&f->qp->initiator);
    fake_device.post_error = 0;
    fake_device.refuse_once = false;
    assert_int_equal(f->qp->ibv->state, IBV_QPS_ERR);
    if (taken && complete_first)
        fake_v1_sends_end(f, taken, IBV_WC_SUCCESS);
    else
        fake_v1_sends_end(f, taken, IBV_WC_WR_FLUSH_ERR);
    for (unsigned i = 0; i < 6; i++)
        expected[i] = i < taken    ? complete_first ? 0 : SPEC_ND_CANCELED
                      : i == taken ? SPEC_ND_INVALID_DEVICE_REQUEST
                                   : SPEC_ND_CANCELED;
    expect_results(f, 0, expected, 6);
    assert_int_equal(send_it(f, 0, 0), 0); /* flushed, not stuck */
    fake_v1_sends_end(f, f->device->send.count, IBV_WC_WR_FLUSH_ERR);
    expect_results(f, 0, (uint32_t[]){ SPEC_ND_CANCELED }, 1);
}

static void test_refused_requests_end_in_their_place(void **state)
{
    for (unsigned taken = 0; taken < 6; taken++)
        for (int complete_first = 0; complete_first < 2; complete_first++) {
            refuse_after(*state, taken, complete_first);
            fake_v1_tear_down(state);
            setup(state);
        }
}

/* The device refuses the fence, too: then a later request's completion shows that the earlier ones are done. */
static void test_refused_behind_a_silent_one_without_a_fence_wait(void **state)
{
    struct fake_v1 *f = *state;
    ND_RESULT *results[4];

    start(f);
    assert_int_equal(send_it(f, 0, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(send_it(f, 1, 0), 0);
    assert_int_equal(send_it(f, 2, ND_OP_FLAG_SILENT_SUCCESS), 0);
    fake_device.post_error = ENOMEM;
    fake_device.taken = 1;
    end(f);
    assert_int_equal(f->device->send.count, 1);
    assert_int_equal(fake_v1_fetch(f, results, 4), 0);
    fake_device.post_error = 0;
    assert_int_equal(send_it(f, 3, 0), 0);
    fake_v1_sends_end(f, f->device->send.count, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(fake_v1_fetch(f, results, 4), 4);
    assert_ptr_equal(results[0], &f->results[0]);
    assert_ptr_equal(results[1], &f->results[1]);
    assert_int_equal((uint32_t)results[1]->Status, SPEC_ND_NO_MORE_ENTRIES);
    assert_ptr_equal(results[2], &f->results[2]);
    assert_int_equal((uint32_t)results[2]->Status, SPEC_ND_CANCELED);
    assert_ptr_equal(results[3], &f->results[3]);
}

static void test_fence_tells_that_silent_ones_are_done(void **state)
{
    struct fake_v1 *f = *state;
    ND_RESULT *results[4];

    start(f);
    assert_int_equal(send_it(f, 0, ND_OP_FLAG_SILENT_SUCCESS), 0);
    nd_queue_submit(&f->qp->initiator);
    fake_v1_sends_end(f, 1, IBV_WC_SUCCESS); /* whose success is not reported */
    assert_int_equal(send_it(f, 1, 0), 0);
    fake_device.post_error = EINVAL;
    fake_device.refuse_once = true; /* the list, not the fence */
    nd_queue_end_batch(&f->qp->initiator);
    assert_int_equal(f->device->send.count, 1);
    assert_int_equal(f->device->send.requests[0].opcode, IBV_WR_RDMA_WRITE);
    assert_int_equal(fake_v1_fetch(f, results, 4), 0);
    fake_v1_sends_end(f, 1, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(fake_v1_fetch(f, results, 4), 1);
    assert_ptr_equal(results[0], &f->results[1]);
    assert_int_equal((uint32_t)results[0]->Status, SPEC_ND_INVALID_DEVICE_REQUEST);
    assert_int_equal(fake_v1_fetch(f, results, 4), 0);
}

static void test_refused_receives_end_in_their_place(void **state)
{
    struct fake_v1 *f = *state;

    start(f);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(receive_it(f, i), 0);
    fake_device.post_error = EINVAL;
    fake_device.taken = 2;
    end(f);
    fake_device.post_error = 0;
    fake_complete(f->cq, &f->device->receive, &f->device->ibv, 2, IBV_WC_WR_FLUSH_ERR);
    expect_results(f, 0,
        (uint32_t[]){
            SPEC_ND_CANCELED, SPEC_ND_CANCELED, SPEC_ND_INVALID_DEVICE_REQUEST, SPEC_ND_CANCELED },
        4);
}

/* A Bind that the device never saw leaves the window free, and its region. */
static void test_refused_bind_leaves_the_window_free(void **state)
{
    struct fake_v1 *f = *state;
    struct nd_mw *mw = fake_make_mw(f->adapter);
    struct nd_mr *mr = nd_region_pin(f->adapter, f->mr);
    ND_RESULT *results[2];

    start(f);
    assert_int_equal(
        nd_qp_bind(f->qp, &f->results[0], mr, mw, f->memory, 8, ND_OP_FLAG_ALLOW_READ), ND_SUCCESS);
    assert_int_equal((uint32_t)nd_region_deregister(f->adapter, f->mr), SPEC_ND_DEVICE_BUSY);
    fake_device.post_error = EINVAL;
    end(f);
    fake_device.post_error = 0;
    assert_int_equal(fake_v1_fetch(f, results, 2), 1);
    assert_int_equal((uint32_t)f->results[0].Status, SPEC_ND_INVALID_DEVICE_REQUEST);
    nd_object_unpin(&mr->object);
    assert_int_equal((uint32_t)nd_region_deregister(f->adapter, f->mr), 0);
    nd_mw_close(mw);
}

/* A window released while its Bind is kept: the device gets the Bind first. */
static void test_released_window_submits_what_names_it(void **state)
{
    struct fake_v1 *f = *state;
    struct nd_mw *mw = fake_make_mw(f->adapter);
    struct nd_mr *mr = nd_region_pin(f->adapter, f->mr);

    start(f);
    assert_int_equal(nd_qp_bind(f->qp, &f->results[0], mr, mw, f->memory, 8, 0), ND_SUCCESS);
    assert_int_equal(f->device->send.count, 0);
    nd_mw_close(mw);
    assert_int_equal(f->device->send.count, 1);
    nd_object_unpin(&mr->object);
    end(f);
    fake_v1_sends_end(f, 1, IBV_WC_SUCCESS);
}

/*
 * A window that leaves one queue pair in a batch, and goes to another, and is released: nothing that is kept names it.
 */
static void test_window_moved_and_released_is_named_by_no_batch(void **state)
{
    struct fake_v1 *f = *state;
    struct nd_qp *other = fake_make_qp(f->adapter, f->cq, NULL, DEPTH);
    struct nd_mw *mw = fake_make_mw(f->adapter);
    struct nd_mr *mr = nd_region_pin(f->adapter, f->mr);
    struct fake_qp *device = fake_qp_of(other);

    nd_qp_set_sendable(other);
    start(f);
    assert_int_equal(nd_qp_bind(f->qp, &f->results[0], mr, mw, f->memory, 8, 0), ND_SUCCESS);
    assert_int_equal(nd_qp_invalidate(f->qp, &f->results[1], mw, 0), ND_SUCCESS);
    assert_int_equal(nd_qp_bind(other, &f->results[2], mr, mw, f->memory, 8, 0), ND_SUCCESS);
    assert_int_equal(nd_qp_invalidate(other, &f->results[3], mw, 0), ND_SUCCESS);
    nd_mw_close(mw);
    assert_int_equal(f->device->send.count, 2);
    nd_object_unpin(&mr->object);
    end(f);
    fake_v1_sends_end(f, 2, IBV_WC_SUCCESS);
    fake_complete(f->cq, &device->send, &device->ibv, 2, IBV_WC_SUCCESS);
    nd_qp_close(other);
    fake_complete(f->cq, &device->send, &device->ibv, 1, IBV_WC_WR_FLUSH_ERR);
}

/*
 * The look that a refusal takes at the completion queue may find the end of a released queue pair: no lock is held
 * then.
 */
static void test_refusal_meets_the_end_of_a_released_queue_pair(void **state)
{
    struct fake_v1 *f = *state;
    unsigned objects = fake_device.objects;
    struct nd_qp *other = fake_make_qp(f->adapter, f->cq, NULL, DEPTH);
    struct fake_qp *device = fake_qp_of(other);
    ND_RESULT *results[2];

    nd_qp_set_sendable(other);
    nd_qp_close(other);
    fake_complete(f->cq, &device->send, &device->ibv, 1, IBV_WC_WR_FLUSH_ERR);
    start(f);
    assert_int_equal(send_it(f, 0, 0), 0);
    fake_device.post_error = EINVAL;
    end(f);
    fake_device.post_error = 0;
    assert_int_equal(fake_device.objects, objects);
    assert_int_equal(fake_v1_fetch(f, results, 2), 1);
    assert_int_equal((uint32_t)f->results[0].Status, SPEC_ND_INVALID_DEVICE_REQUEST);
}

/* ---- threads ---- */

enum { THREADS = 2, EACH = 2000 };

struct poster {
    struct fake_v1 *f;
    ND_RESULT results[4];
};

static void *post_many(void *argument)
{
    struct poster *poster = argument;
    const ND_SGE sge = { poster->f->memory, 8, poster->f->mr };

    for (unsigned i = 0; i < EACH; i++) {
        if (i % 16 == 0)
            nd_queue_start_batch(&poster->f->qp->initiator);
        if (i % 16 == 11)
            nd_queue_end_batch(&poster->f->qp->initiator);
        while (nd_queue_send_v1(&poster->f->qp->initiator, &poster->results[i % 4], &sge, 1, 0) !=
               ND_SUCCESS)
            ;
    }
    return NULL;
}

/* The device ends each list at once: ring order and device order must agree, or results are lost. */
static void test_threads_that_post_and_submit_lose_nothing(void **state)
{
    struct fake_v1 *f = *state;
    struct poster posters[THREADS];
    pthread_t threads[THREADS];
    ND_RESULT *results[4];
    unsigned fetched = 0;

    fake_device.complete_at_once = f->cq;
    for (int i = 0; i < THREADS; i++) {
        posters[i].f = f;
        assert_int_equal(pthread_create(&threads[i], NULL, post_many, &posters[i]), 0);
    }
    while (fetched < THREADS * EACH)
        fetched += (unsigned)fake_v1_fetch(f, results, 4);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(fetched, THREADS * EACH);
    assert_int_equal(fake_v1_fetch(f, results, 4), 0);
    fake_device.complete_at_once = NULL;
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, setup, fake_v1_tear_down)
    const struct CMUnitTest tests[] = {
        ROW(test_each_queue_is_posted_to_once),
        ROW(test_lists_and_inline_data_are_read_at_the_call),
        ROW(test_limits_hold_at_the_call_and_a_full_ring_submits),
        ROW(test_looking_for_results_submits_and_the_batch_stays_open),
        ROW(test_flush_and_release_submit),
        ROW(test_refused_requests_end_in_their_place),
        ROW(test_refused_behind_a_silent_one_without_a_fence_wait),
        ROW(test_fence_tells_that_silent_ones_are_done),
        ROW(test_refused_receives_end_in_their_place),
        ROW(test_refused_bind_leaves_the_window_free),
        ROW(test_released_window_submits_what_names_it),
        ROW(test_window_moved_and_released_is_named_by_no_batch),
        ROW(test_refusal_meets_the_end_of_a_released_queue_pair),
        ROW(test_threads_that_post_and_submit_lose_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
