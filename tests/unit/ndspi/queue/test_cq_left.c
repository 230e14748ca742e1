/* SPDX-License-Identifier: MIT */
/*
 * test_cq_left.c - a device's completion event that a driver leaves in the channel (core/adapter/adapter.c): its
 * Notify ends at once, and the queue is armed again before a Notify needs that.
 */
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/ndspi/core_fake.h"

#include <sys/epoll.h>

struct end {
    struct nd_cq *cq;
    struct nd_qp *qp;
    OVERLAPPED overlapped;
};

struct fixture {
    struct nd_adapter *adapter;
    struct end ends[2];
};

static void open_end(struct fixture *f, struct end *end)
{
    const ND2_SGE sge = { NULL, 1, 0 };

    end->cq = fake_make_cq(f->adapter, 16);
    end->qp = fake_make_qp(f->adapter, end->cq, NULL, 16);
    for (int i = 0; i < 8; i++)
        assert_int_equal(nd_queue_receive_v2(&end->qp->receive, NULL, &sge, 1), ND_SUCCESS);
}

static int setup(void **state)
{
    static struct fixture f;

    f.adapter = fake_adapter_open();
    for (int i = 0; i < 2; i++)
        open_end(&f, &f.ends[i]);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < 2; i++) {
        nd_cq_cancel(f->ends[i].cq);
        nd_qp_close(f->ends[i].qp);
        nd_cq_close(f->ends[i].cq);
    }
    fake_adapter_close(f->adapter);
    return 0;
}

static void arrive(struct end *end)
{
    struct fake_qp *fake = fake_qp_of(end->qp);

    fake_complete(end->cq, &fake->receive, &fake->ibv, 1, IBV_WC_SUCCESS);
}

static void notify(struct end *end, ULONG type)
{
    assert_int_equal(nd_cq_notify(end->cq, type, &end->overlapped), ND_PENDING);
}

static bool pending(const struct end *end)
{
    return end->overlapped.Internal == (ULONG_PTR)ND_PENDING;
}

static unsigned get(struct end *end)
{
    ND2_RESULT results[4];

    return (unsigned)nd_cq_results_v2(&end->cq->poll, results, 4);
}

/* A waiting thread is woken by the channel. */
static void wake(struct fixture *f)
{
    nd_adapter_channel_ops.ready(&f->adapter->channel_source, EPOLLIN, REACTOR_WAITING);
}

static bool event_of(const struct end *end)
{
    return fake_cq_of(end->cq)->event;
}

/* The first event shows the adapter which queue the channel's events are of. */
static void round_trip(struct fixture *f, struct end *end)
{
    notify(end, ND_CQ_NOTIFY_ANY);
    assert_true(pending(end));
    arrive(end);
    wake(f);
    assert_false(pending(end));
    assert_int_equal(get(end), 1);
}

static void test_event_of_the_usual_queue_is_left_and_taken_by_its_next_notify(void **state)
{
    struct fixture *f = *state;
    struct end *end = &f->ends[0];
    unsigned armings;

    round_trip(f, end);
    assert_false(event_of(end));
    for (int i = 0; i < 3; i++) {
        armings = fake_cq_of(end->cq)->armings;
        round_trip(f, end);
        assert_true(event_of(end));
        notify(end, ND_CQ_NOTIFY_ANY);
        assert_true(pending(end));
        assert_false(event_of(end));
        assert_true(fake_cq_of(end->cq)->armed);
        assert_int_equal(fake_cq_of(end->cq)->armings, armings + 2);
        arrive(end);
        wake(f);
        assert_false(pending(end));
        assert_int_equal(get(end), 1);
    }
}

static void test_notify_that_ends_at_once_needs_no_event(void **state)
{
    struct fixture *f = *state;
    struct end *end = &f->ends[0];
    unsigned armings;

    round_trip(f, end);
    round_trip(f, end);
    armings = fake_cq_of(end->cq)->armings;
    arrive(end); /* the device is not armed: no event */
    notify(end, ND_CQ_NOTIFY_ANY);
    assert_false(pending(end));
    assert_true(event_of(end));
    assert_int_equal(fake_cq_of(end->cq)->armings, armings);
    assert_int_equal(get(end), 1);
    round_trip(f, end);
}

static void test_event_of_another_queue_is_taken_at_once(void **state)
{
    struct fixture *f = *state;

    round_trip(f, &f->ends[0]);
    notify(&f->ends[0], ND_CQ_NOTIFY_ANY);
    round_trip(f, &f->ends[1]);
    assert_true(pending(&f->ends[0]));
    assert_false(event_of(&f->ends[1]));
    round_trip(f, &f->ends[1]); /* now it is the usual one */
    assert_true(event_of(&f->ends[1]));
}

/*
 * An event left behind while a Notify of the other queue waits: the next thread that the readable channel wakes takes
 * it.
 */
static void test_event_left_is_taken_by_the_next_that_is_woken(void **state)
{
    struct fixture *f = *state;
    struct end *end = &f->ends[0];

    round_trip(f, end);
    round_trip(f, end);
    assert_true(event_of(end));
    wake(f);
    assert_false(event_of(end));
    notify(end, ND_CQ_NOTIFY_ANY);
    arrive(end);
    assert_true(event_of(end));
    wake(f);
    assert_false(pending(end));
}

/* A Notify for solicited completions or errors needs the event itself. */
static void test_event_for_other_kinds_is_taken_at_once(void **state)
{
    struct fixture *f = *state;
    struct end *end = &f->ends[0];
    OVERLAPPED errors;

    round_trip(f, end);
    assert_int_equal(nd_cq_notify(end->cq, ND_CQ_NOTIFY_ERRORS, &errors), ND_PENDING);
    round_trip(f, end);
    assert_false(event_of(end));
    assert_true(fake_cq_of(end->cq)->armed);
    assert_int_equal(errors.Internal, ND_PENDING);
    nd_cq_cancel(end->cq);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_event_of_the_usual_queue_is_left_and_taken_by_its_next_notify, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_notify_that_ends_at_once_needs_no_event, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_event_of_another_queue_is_taken_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_event_left_is_taken_by_the_next_that_is_woken, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_event_for_other_kinds_is_taken_at_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
