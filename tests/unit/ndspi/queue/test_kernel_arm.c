/* SPDX-License-Identifier: MIT */
/*
 * test_kernel_arm.c - arming completion queues and shared receive queues: which arrivals end an arm, how two arms
 * merge, and that an arm cannot fail.
 *
 * Source: NDKPI, NdkArmCq, NdkCreateSrq.
 */
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/ndspi/core_fake.h"

#include <errno.h>
#include <string.h>

enum { ERRORS = 0, ANY = 1, SOLICITED = 2, NONE = 3 };

struct fixture {
    struct nd_adapter *adapter;
    struct nd_cq *cq;
    struct nd_qp *qp;
    struct fake_qp *device;
    OVERLAPPED request; /* the one of the queue */
    char data[64];
};

static void open_queue(struct fixture *f, bool marks)
{
    memset(f, 0, sizeof(*f));
    f->adapter = fake_adapter_open_kernel();
    fake_device_marks(marks);
    f->cq = fake_make_cq(f->adapter, 64);
    f->qp = fake_make_qp(f->adapter, f->cq, NULL, 8);
    f->device = fake_qp_of(f->qp);
    nd_qp_set_sendable(f->qp);
}

static void close_queue(struct fixture *f)
{
    nd_qp_close(f->qp);
    nd_cq_close(f->cq);
    fake_adapter_close(f->adapter);
}

static int setup(void **state)
{
    static struct fixture f;

    open_queue(&f, true);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    close_queue(*state);
    return 0;
}

static void arm(struct fixture *f, int type)
{
    nd_cq_arm(f->cq, (ULONG)type, &f->request);
}

/* How often it has ended, and with what last. */
static unsigned ended(void)
{
    return fake_sink_counts.completed;
}

static uint32_t status(const struct fixture *f)
{
    return (uint32_t)f->request.Internal;
}

/* ---- what arrives ---- */

enum arrival { PLAIN_SEND, PLAIN_RECEIVE, SOLICITED_RECEIVE, FAILURE, ARRIVALS };

static void arrive(struct fixture *f, enum arrival what)
{
    bool sends = what == PLAIN_SEND || what == FAILURE;
    struct fake_queue *queue = sends ? &f->device->send : &f->device->receive;
    struct ibv_wc wc = { .status = what == FAILURE ? IBV_WC_WR_FLUSH_ERR : IBV_WC_SUCCESS };
    ND2_SGE sge = { f->data, 4, 1 };

    assert_int_equal(sends ? nd_queue_send_general(&f->qp->initiator, NULL, &sge, 1, 0)
                           : nd_queue_receive_general(&f->qp->receive, NULL, &sge, 1),
        0);
    wc.wr_id = queue->requests[0].wr_id;
    queue->count = 0;
    fake_cq_push(f->cq, &wc, what == SOLICITED_RECEIVE);
    fake_cq_deliver(f->cq);
}

static unsigned fetch_all(struct fixture *f)
{
    struct nd_result results[16];

    return nd_cq_results_kernel_ex(&f->cq->poll, results, 16);
}

/* ---- tests ---- */

/* Every pair of arms (the first one may be missing) against every arrival, and a failure of the queue. */
static void test_two_arms_are_the_stronger_of_both(void **state)
{
    static const bool ends[3][ARRIVALS] = {
        [ERRORS] = { false, false, false, false },
        [ANY] = { true, true, true, true },
        [SOLICITED] = { false, false, true, true },
    };
    static const int stronger[4][3] = {
        [ERRORS] = { ERRORS, ANY, SOLICITED },
        [ANY] = { ANY, ANY, ANY },
        [SOLICITED] = { SOLICITED, ANY, SOLICITED },
        [NONE] = { ERRORS, ANY, SOLICITED },
    };

    (void)state;
    for (int first = 0; first < 4; first++)
        for (int second = 0; second < 3; second++)
            for (int what = 0; what <= ARRIVALS; what++) {
                struct fixture f;

                open_queue(&f, true);
                if (first != NONE)
                    arm(&f, first);
                arm(&f, second);
                assert_int_equal(fake_sink_counts.started, 1);
                assert_int_equal(ended(), 0);
                if (what < ARRIVALS) {
                    arrive(&f, (enum arrival)what);
                    assert_int_equal(ended(), ends[stronger[first][second]][what]);
                } else {
                    nd_cq_fail(f.cq, ND_BUFFER_OVERFLOW);
                    assert_int_equal(ended(), 1);
                }
                if (ended())
                    assert_int_equal(status(&f), what < ARRIVALS ? 0 : SPEC_ND_BUFFER_OVERFLOW);
                close_queue(&f);
                assert_int_equal(ended(), 1);
            }
}

/* What came before the arm ends it if it is newer than what ended the last one; what is older does not. */
static void test_only_new_arrivals_end_an_arm(void **state)
{
    struct fixture *f = *state;

    arrive(f, PLAIN_SEND);
    arm(f, ANY);
    assert_int_equal(ended(), 1);
    arm(f, ANY);
    assert_int_equal(ended(), 1); /* the old one is still there */
    arrive(f, PLAIN_SEND);
    assert_int_equal(ended(), 2);
    assert_int_equal(fetch_all(f), 2);
    arm(f, ANY);
    assert_int_equal(ended(), 2);
    arrive(f, FAILURE);
    assert_int_equal(ended(), 3);
}

static void test_solicited_ignores_what_is_not(void **state)
{
    struct fixture *f = *state;

    arrive(f, PLAIN_RECEIVE);
    arrive(f, PLAIN_SEND);
    arm(f, SOLICITED);
    arrive(f, PLAIN_RECEIVE);
    assert_int_equal(ended(), 0);
    arm(f, ANY); /* what is there already counts for the stronger one */
    assert_int_equal(ended(), 1);
    assert_int_equal(status(f), 0);
}

/* Without marks an event of the device decides: what was there before it may have been solicited. */
static void test_solicited_on_a_device_without_marks(void **state)
{
    struct fixture f;

    (void)state;
    open_queue(&f, false);
    arm(&f, SOLICITED);
    arrive(&f, PLAIN_RECEIVE);
    assert_int_equal(ended(), 0);
    arrive(&f, SOLICITED_RECEIVE);
    assert_int_equal(ended(), 1);
    close_queue(&f);
}

/* One arm, one end. */
static void test_an_arm_ends_once(void **state)
{
    struct fixture *f = *state;

    for (unsigned round = 1; round <= 5; round++) {
        arm(f, round % 2 ? ANY : SOLICITED);
        arm(f, ANY);
        arrive(f, SOLICITED_RECEIVE);
        assert_int_equal(ended(), round);
        arrive(f, SOLICITED_RECEIVE);
        assert_int_equal(ended(), round);
        fetch_all(f);
    }
}

/* A queue that has failed tells each arm so. */
static void test_a_failed_queue_tells_every_arm(void **state)
{
    struct fixture *f = *state;

    nd_cq_fail(f->cq, ND_BUFFER_OVERFLOW);
    assert_int_equal(ended(), 0);
    for (unsigned round = 1; round <= 3; round++) {
        arm(f, (int)round - 1);
        assert_int_equal(ended(), round);
        assert_int_equal(status(f), SPEC_ND_BUFFER_OVERFLOW);
    }
}

static void test_the_end_of_the_queue_cancels_an_arm(void **state)
{
    struct fixture f;

    (void)state;
    open_queue(&f, true);
    arm(&f, ERRORS);
    arm(&f, SOLICITED);
    close_queue(&f);
    assert_int_equal(ended(), 1);
    assert_int_equal(status(&f), SPEC_ND_CANCELED);
}

/* The device goes away: arms that wait and later ones hear of it. */
static void test_a_lost_device_ends_arms(void **state)
{
    struct fixture *f = *state;

    arm(f, ANY);
    nd_cq_fail(f->cq, ND_DEVICE_REMOVED);
    assert_int_equal(ended(), 1);
    assert_int_equal(status(f), SPEC_ND_DEVICE_REMOVED);
    arm(f, ANY);
    assert_int_equal(ended(), 2);
    assert_int_equal(status(f), SPEC_ND_DEVICE_REMOVED);
}

/* A completion arrives between the look at the queue and its arming. */
static void arrives_first(void *context)
{
    struct fixture *f = context;
    struct ibv_wc wc = { .wr_id = f->device->receive.requests[0].wr_id };

    f->device->receive.count = 0;
    fake_cq_push(f->cq, &wc, true);
}

static void test_no_arrival_is_missed_while_arming(void **state)
{
    struct fixture *f = *state;
    ND2_SGE sge = { f->data, 4, 1 };

    for (unsigned round = 1; round <= 2; round++) {
        assert_int_equal(nd_queue_receive_general(&f->qp->receive, NULL, &sge, 1), 0);
        arm(f, ERRORS);
        fake_cq_of(f->cq)->before_arming = arrives_first;
        fake_cq_of(f->cq)->before_arming_context = f;
        arm(f, round == 1 ? SOLICITED : ANY); /* strengthens */
        assert_int_equal(ended(), round);
        assert_int_equal(fetch_all(f), 1);
        while (fake_cq_deliver(f->cq))
            ;
    }
}

/* ---- shared receive queues ---- */

static void srq_takes(struct fixture *f, struct nd_srq *srq)
{
    struct fake_queue *queue = &fake_srq_of(srq)->receive;
    struct ibv_wc wc = { .wr_id = queue->requests[0].wr_id };

    memmove(queue->requests, queue->requests + 1, --queue->count * sizeof(queue->requests[0]));
    fake_cq_push(f->cq, &wc, false);
    assert_int_equal(fetch_all(f), 1);
}

static void srq_posts(struct fixture *f, struct nd_srq *srq, unsigned count)
{
    ND2_SGE sge = { f->data, 4, 1 };

    while (count--)
        assert_int_equal(nd_srq_receive(srq, NULL, &sge, 1), 0);
}

static void test_srq_tells_its_threshold_once_per_arm(void **state)
{
    struct fixture *f = *state;
    struct nd_srq *srq = fake_make_srq(f->adapter, 8, 3);

    srq_posts(f, srq, 4);
    nd_srq_arm(srq, &f->request);
    nd_srq_arm(srq, &f->request); /* it waits already */
    assert_int_equal(fake_sink_counts.started, 1);
    assert_int_equal(fake_srq_of(srq)->limit, 3);
    srq_takes(f, srq);
    assert_int_equal(ended(), 0);
    srq_takes(f, srq);
    nd_srq_event(srq);
    assert_int_equal(ended(), 1);
    assert_int_equal(status(f), 0);
    nd_srq_event(srq);
    assert_int_equal(ended(), 1);
    nd_srq_arm(srq, &f->request); /* below it already */
    assert_int_equal(ended(), 2);
    srq_posts(f, srq, 2);
    nd_srq_arm(srq, &f->request);
    assert_int_equal(ended(), 2);
    assert_int_equal(nd_srq_modify(srq, 0, 6), 0); /* the new threshold counts at once */
    assert_int_equal(ended(), 3);
    nd_srq_close(srq);
    assert_int_equal(ended(), 3);
}

static void test_srq_that_fails_or_ends_tells_its_arm(void **state)
{
    struct fixture *f = *state;
    struct nd_srq *srq = fake_make_srq(f->adapter, 8, 3);

    srq_posts(f, srq, 4);
    nd_srq_arm(srq, &f->request);
    nd_srq_fail(srq, ND_INTERNAL_ERROR);
    assert_int_equal(ended(), 1);
    assert_int_equal(status(f), SPEC_ND_INTERNAL_ERROR);
    nd_srq_arm(srq, &f->request);
    assert_int_equal(ended(), 2);
    assert_int_equal(status(f), SPEC_ND_INTERNAL_ERROR);
    nd_srq_close(srq);
    srq = fake_make_srq(f->adapter, 8, 0);
    nd_srq_arm(srq, &f->request); /* no threshold: nothing to tell */
    assert_int_equal(ended(), 2);
    nd_srq_close(srq);
    assert_int_equal(ended(), 3);
    assert_int_equal(status(f), SPEC_ND_CANCELED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_arms_are_the_stronger_of_both),
        TEST(test_only_new_arrivals_end_an_arm),
        TEST(test_solicited_ignores_what_is_not),
        cmocka_unit_test(test_solicited_on_a_device_without_marks),
        TEST(test_an_arm_ends_once),
        TEST(test_a_failed_queue_tells_every_arm),
        cmocka_unit_test(test_the_end_of_the_queue_cancels_an_arm),
        TEST(test_a_lost_device_ends_arms),
        TEST(test_no_arrival_is_missed_while_arming),
        TEST(test_srq_tells_its_threshold_once_per_arm),
        TEST(test_srq_that_fails_or_ends_tells_its_arm),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
