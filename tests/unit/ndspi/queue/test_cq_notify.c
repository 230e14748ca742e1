/* SPDX-License-Identifier: MIT */
/*
 * test_cq_notify.c - Notify against a model, over every interleaving of a few steps.
 *
 * Source: IND2CompletionQueue::Notify, INDCompletionQueue::Notify. The rules checked: a completion not yet fetched has
 * ended at least one Notify that was pending when it arrived or was issued after it; a completion that ended one never
 * ends a second; a silent success ends none.
 */
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/ndspi/core_fake.h"

#include <stdlib.h>
#include <string.h>

static int setup(void **state)
{
    *state = fake_adapter_open();
    return 0;
}

static int setup_v1(void **state)
{
    *state = fake_adapter_open_v1();
    return 0;
}

static int teardown(void **state)
{
    fake_adapter_close(*state);
    return 0;
}

/* ---- every interleaving ---- */

/*
 * Completions of one Receive each; the model knows which are unfetched and which are used up. EARLY in the shorter ones
 * only.
 */
enum step { ARRIVE, ARRIVE_HIDDEN, NOTIFY, NOTIFY_RACE, GET_ONE, GET_ALL, DELIVER, EARLY, STEPS };
enum { LENGTH = 6, MOST = LENGTH + 1, LENGTH_V1 = 5 };

struct model {
    unsigned arrived, fetched; /* completions are numbered in order */
    unsigned used;             /* those below have ended a Notify */
    OVERLAPPED overlapped[MOST];
    unsigned arrived_at[MOST]; /* arrived when it was issued */
    unsigned notifies, first_pending;
};

struct run {
    struct nd_adapter *adapter;
    struct nd_cq *cq;
    struct nd_qp *qp;
    struct model model;
    enum step steps[LENGTH];
    int length;
    unsigned kinds;                /* of steps */
    enum nd_dialect_index dialect; /* the version whose form results and lists have */
    void *mr;                      /* v1 */
    ND_RESULT own[MOST + 1];       /* v1: of the Receives; the first: of the hidden Sends */
};

static void report(const struct run *run, int length, const char *what)
{
    static const char *const names[] = { "arrive", "hidden", "notify", "notify and arrive", "get 1",
        "get all", "event", "event left for later" };

    for (int i = 0; i <= length && i < run->length; i++)
        print_error("%s, ", names[run->steps[i]]);
    fail_msg("%s", what);
}

/*
 * What the real queue did since the last look, checked against what it may and must do. Notifies issued before the last
 * arrival end together; one issued after it may, too, or waits for the next.
 */
static void look(struct run *run, int at)
{
    struct model *m = &run->model;
    unsigned old = m->used > m->fetched ? m->used : m->fetched;
    unsigned ended = 0;

    while (m->first_pending < m->notifies &&
           m->overlapped[m->first_pending].Internal != (ULONG_PTR)ND_PENDING) {
        if (m->overlapped[m->first_pending].Internal != 0)
            report(run, at, "wrong status");
        m->first_pending++;
        ended++;
    }
    for (unsigned i = m->first_pending; i < m->notifies; i++)
        if (m->overlapped[i].Internal != (ULONG_PTR)ND_PENDING)
            report(run, at, "ended out of order");
    if (!ended)
        return;
    if (m->first_pending < m->notifies && m->arrived_at[m->first_pending] < m->arrived)
        report(run, at, "not all that waited ended together");
    if (m->arrived <= old)
        report(run, at, "a used-up completion ended a Notify");
    m->used = m->arrived;
}

static void get(struct run *run, int at, unsigned room)
{
    struct model *m = &run->model;
    ND2_RESULT results[MOST];
    ND_RESULT *own[MOST];
    bool v1 = run->dialect == ND_V1;
    unsigned unfetched = m->arrived - m->fetched;
    size_t count;

    /* Fetching is looking, too: it may end a Notify for what it is about to hand out. */
    count = v1 ? nd_cq_results_v1(&run->cq->poll, own, room)
               : nd_cq_results_v2(&run->cq->poll, results, room);
    if (count != (unfetched < room ? unfetched : room))
        report(run, at, "wrong number of results");
    for (unsigned i = 0; i < count; i++)
        if (v1 ? own[i] != &run->own[m->fetched + i + 1] || own[i]->BytesTransferred != 8
               : results[i].RequestContext != (void *)(uintptr_t)(m->fetched + i + 1))
            report(run, at, "results out of order");
    look(run, at);
    m->fetched += (unsigned)count;
}

static void arrive(void *context)
{
    struct run *run = context;
    struct fake_qp *fake = fake_qp_of(run->qp);

    run->model.arrived++;
    fake_complete(run->cq, &fake->receive, &fake->ibv, 1, IBV_WC_SUCCESS);
}

static void notify_any(struct run *run)
{
    struct model *m = &run->model;

    m->arrived_at[m->notifies] = m->arrived;
    assert_int_equal(
        nd_cq_notify(run->cq, ND_CQ_NOTIFY_ANY, &m->overlapped[m->notifies]), ND_PENDING);
    m->notifies++;
}

static HRESULT send_silently(struct run *run)
{
    const ND2_SGE sge = { NULL, 1, 0 };
    const ND_SGE own = { NULL, 1, run->mr };
    struct nd_queue *queue = &run->qp->initiator;

    if (run->dialect == ND_V2)
        return nd_queue_send_v2(queue, NULL, &sge, 1, ND_OP_FLAG_SILENT_SUCCESS);
    return nd_queue_send_v1(queue, &run->own[0], &own, 1, ND_OP_FLAG_SILENT_SUCCESS);
}

static HRESULT receive_number(struct run *run, uintptr_t number)
{
    const ND2_SGE sge = { NULL, 1, 0 };
    const ND_SGE own = { NULL, 1, run->mr };
    struct nd_queue *queue = &run->qp->receive;

    if (run->dialect == ND_V2)
        return nd_queue_receive_v2(queue, (void *)number, &sge, 1);
    return nd_queue_receive_v1(queue, &run->own[number], &own, 1);
}

static void step(struct run *run, int at)
{
    struct fake_qp *fake = fake_qp_of(run->qp);

    switch (run->steps[at]) {
    case ARRIVE: arrive(run); break;
    case ARRIVE_HIDDEN: /* the second of two silent ones is signaled by the library itself */
        for (int i = 0; i < 2; i++)
            assert_int_equal(send_silently(run), ND_SUCCESS);
        fake_complete(run->cq, &fake->send, &fake->ibv, 2, IBV_WC_SUCCESS);
        break;
    case NOTIFY: notify_any(run); break;
    case NOTIFY_RACE: /* between the look and the arming, if there is an arming */
        fake_cq_of(run->cq)->before_arming = arrive;
        fake_cq_of(run->cq)->before_arming_context = run;
        notify_any(run);
        fake_cq_of(run->cq)->before_arming = NULL;
        break;
    case GET_ONE: get(run, at, 1); break;
    case GET_ALL: get(run, at, MOST); break;
    case DELIVER: fake_cq_deliver(run->cq); break;
    case EARLY: /* as a driver does that is woken by the event */
        if (fake_cq_of(run->cq)->event && !nd_cq_poll_before_event(run->cq))
            fake_cq_deliver(run->cq);
        break;
    default: fail();
    }
    look(run, at);
}

/*
 * At rest, all events delivered: a completion not fetched and not used up, and a Notify that waits, is a lost wake-up.
 */
static void settle(struct run *run)
{
    struct model *m = &run->model;

    while (fake_cq_deliver(run->cq))
        look(run, run->length);
    if (m->first_pending < m->notifies && m->arrived > m->used && m->arrived > m->fetched)
        report(run, run->length, "a wake-up is lost");
}

static void start_run(struct run *run)
{
    memset(&run->model, 0, sizeof(run->model));
    run->cq = fake_make_cq(run->adapter, 32);
    run->qp = fake_make_qp(run->adapter, run->cq, NULL, 4 * LENGTH);
    run->qp->initiator.silent_run_max = 2;
    nd_qp_set_sendable(run->qp);
    for (uintptr_t i = 1; i <= MOST; i++)
        assert_int_equal(receive_number(run, i), ND_SUCCESS);
}

static void end_run(struct run *run)
{
    nd_cq_cancel(run->cq);
    nd_qp_close(run->qp);
    nd_cq_close(run->cq);
}

static void run_all(struct run *run)
{
    unsigned long all = 1;

    for (int i = 0; i < run->length; i++)
        all *= run->kinds;
    for (unsigned long number = 0; number < all; number++) {
        unsigned long rest = number;

        start_run(run);
        for (int i = 0; i < run->length; i++, rest /= run->kinds)
            run->steps[i] = (enum step)(rest % run->kinds);
        for (int i = 0; i < run->length; i++)
            step(run, i);
        settle(run);
        end_run(run);
    }
}

static void test_notify_any_in_every_interleaving(void **state)
{
    struct run run = { .adapter = *state, .length = LENGTH, .kinds = EARLY, .dialect = ND_V2 };

    run_all(&run);
}

/* The queue is the same; only the ways in and out differ. */
static void test_notify_any_in_every_shorter_interleaving_v1(void **state)
{
    struct run run = { .adapter = *state, .length = LENGTH_V1, .kinds = STEPS, .dialect = ND_V1 };
    static char memory[8];

    assert_int_equal(nd_region_register(run.adapter, memory, sizeof(memory), &run.mr), ND_SUCCESS);
    run_all(&run);
}

/* ---- single rules ---- */

struct fixture {
    struct nd_adapter *adapter;
    struct nd_cq *cq;
    struct nd_qp *qp;
};

static struct fixture make(void **state, uint32_t depth)
{
    struct fixture f = { .adapter = *state };

    f.cq = fake_make_cq(f.adapter, depth);
    f.qp = fake_make_qp(f.adapter, f.cq, NULL, 16);
    nd_qp_set_sendable(f.qp);
    return f;
}

static void drop(struct fixture *f)
{
    nd_qp_close(f->qp);
    nd_cq_close(f->cq);
}

static void receive(struct fixture *f, enum ibv_wc_status status, bool solicited)
{
    struct fake_qp *fake = fake_qp_of(f->qp);
    ND2_SGE sge = { NULL, 1, 0 };
    struct ibv_wc wc = { .status = status };

    assert_int_equal(nd_queue_receive_v2(&f->qp->receive, f, &sge, 1), ND_SUCCESS);
    wc.wr_id = fake->receive.requests[--fake->receive.count].wr_id;
    fake_cq_push(f->cq, &wc, solicited);
}

static uint32_t notify(struct fixture *f, ULONG type, OVERLAPPED *overlapped)
{
    HRESULT status = nd_cq_notify(f->cq, type, overlapped);

    return status == ND_PENDING ? (uint32_t)overlapped->Internal : (uint32_t)status;
}

static void test_solicited_waits_for_a_solicited_one_or_an_error(void **state)
{
    struct fixture f = make(state, 16);
    OVERLAPPED ov = { 0 };

    assert_int_equal(notify(&f, ND_CQ_NOTIFY_SOLICITED, &ov), SPEC_ND_PENDING);
    receive(&f, IBV_WC_SUCCESS, false);
    assert_false(fake_cq_deliver(f.cq));
    assert_int_equal(ov.Internal, SPEC_ND_PENDING);
    receive(&f, IBV_WC_SUCCESS, true);
    assert_true(fake_cq_deliver(f.cq));
    assert_int_equal(ov.Internal, 0);

    assert_int_equal(
        notify(&f, ND_CQ_NOTIFY_SOLICITED, &ov), SPEC_ND_PENDING); /* both are used up */
    receive(&f, IBV_WC_LOC_LEN_ERR, false);
    assert_true(fake_cq_deliver(f.cq));
    assert_int_equal(ov.Internal, 0);
    drop(&f);
}

static void test_solicited_is_exact_when_results_are_fetched_meanwhile(void **state)
{
    struct fixture f = make(state, 16);
    OVERLAPPED ov = { 0 };
    ND2_RESULT result;

    assert_int_equal(notify(&f, ND_CQ_NOTIFY_SOLICITED, &ov), SPEC_ND_PENDING);
    receive(&f, IBV_WC_SUCCESS, false);
    assert_int_equal(nd_cq_results_v2(&f.cq->poll, &result, 1), 1);
    assert_int_equal(ov.Internal, SPEC_ND_PENDING);
    nd_cq_cancel(f.cq);
    assert_int_equal((uint32_t)ov.Internal, SPEC_ND_CANCELED);
    drop(&f);
}

static void test_any_upgrades_solicited_and_all_end_together(void **state)
{
    struct fixture f = make(state, 16);
    OVERLAPPED ov[4] = { { 0 } };

    assert_int_equal(notify(&f, ND_CQ_NOTIFY_SOLICITED, &ov[0]), SPEC_ND_PENDING);
    assert_int_equal(notify(&f, ND_CQ_NOTIFY_ERRORS, &ov[1]), SPEC_ND_PENDING);
    assert_int_equal(notify(&f, ND_CQ_NOTIFY_ANY, &ov[2]), SPEC_ND_PENDING);
    assert_int_equal(notify(&f, ND_CQ_NOTIFY_ANY, &ov[3]), SPEC_ND_PENDING);
    receive(&f, IBV_WC_SUCCESS, false);
    assert_true(fake_cq_deliver(f.cq));
    assert_int_equal(ov[0].Internal, 0);
    assert_int_equal(ov[1].Internal, SPEC_ND_PENDING);
    assert_int_equal(ov[2].Internal, 0);
    assert_int_equal(ov[3].Internal, 0);
    assert_ptr_equal(fake_sink_counts.order[0], &ov[0]);
    assert_ptr_equal(fake_sink_counts.order[1], &ov[2]);
    assert_ptr_equal(fake_sink_counts.order[2], &ov[3]);
    nd_cq_cancel(f.cq);
    assert_int_equal((uint32_t)ov[1].Internal, SPEC_ND_CANCELED);
    drop(&f);
}

/* The adapter has no deeper queues, so the depth is not rounded up. */
static void test_overrun_ends_all_and_later_ones_at_exactly_the_limit(void **state)
{
    struct nd_adapter *adapter = *state;
    OVERLAPPED errors = { 0 }, any = { 0 };
    ND2_RESULT results[4];
    struct fixture f;

    adapter->limits.max_cq_depth = 2;
    f = make(state, 2);

    assert_int_equal(notify(&f, ND_CQ_NOTIFY_ERRORS, &errors), SPEC_ND_PENDING);
    receive(&f, IBV_WC_SUCCESS, false);
    receive(&f, IBV_WC_SUCCESS, false);
    fake_cq_deliver(f.cq);
    assert_int_equal(errors.Internal, SPEC_ND_PENDING);
    assert_int_equal(notify(&f, ND_CQ_NOTIFY_ANY, &any), 0);
    receive(&f, IBV_WC_SUCCESS, false);
    fake_cq_deliver(f.cq);
    assert_int_equal((uint32_t)errors.Internal, SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal(notify(&f, ND_CQ_NOTIFY_ANY, &any), SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal(nd_cq_results_v2(&f.cq->poll, results, 4), 0);
    drop(&f);
}

/* A cancelled Notify neither arms the queue again nor keeps results off the fast path. */
static void test_cancel_leaves_nobody_waiting(void **state)
{
    struct fixture f = make(state, 64);
    OVERLAPPED ov = { 0 };

    for (int round = 0; round < 3; round++) {
        unsigned before = fake_cq_of(f.cq)->armings;

        assert_int_equal(notify(&f, ND_CQ_NOTIFY_ANY, &ov), SPEC_ND_PENDING);
        nd_cq_cancel(f.cq);
        assert_int_equal((uint32_t)ov.Internal, SPEC_ND_CANCELED);
        assert_int_equal(f.cq->poll.usual_room, 16);
        assert_int_equal(fake_cq_of(f.cq)->armings, before + 1);
        receive(&f, IBV_WC_SUCCESS, false);
        assert_true(fake_cq_deliver(f.cq));
        assert_int_equal(fake_cq_of(f.cq)->armings, before + 1);
        assert_int_equal(f.cq->poll.usual_room, 0); /* its result was taken with the event */
        assert_int_equal(nd_cq_results_v2(&f.cq->poll, &(ND2_RESULT){ 0 }, 1), 1);
        assert_int_equal(f.cq->poll.usual_room, 16);
    }
    drop(&f);
}

/* Nor does a Notify that waited at the queue's Release; the queue itself lives on with its queue pair. */
static void test_release_leaves_nobody_waiting(void **state)
{
    struct fixture f = make(state, 64);
    OVERLAPPED ov = { 0 };

    assert_int_equal(notify(&f, ND_CQ_NOTIFY_ANY, &ov), SPEC_ND_PENDING);
    nd_cq_close(f.cq);
    assert_int_equal((uint32_t)ov.Internal, SPEC_ND_CANCELED);
    receive(&f, IBV_WC_SUCCESS, false);
    assert_true(fake_cq_deliver(f.cq));
    assert_int_equal(fake_cq_of(f.cq)->armings, 1);
    nd_qp_close(f.qp);
}

static void test_removed_device_ends_everything(void **state)
{
    struct fixture f = make(state, 4);
    OVERLAPPED ov = { 0 };

    assert_int_equal(notify(&f, ND_CQ_NOTIFY_ANY, &ov), SPEC_ND_PENDING);
    nd_cq_fail(f.cq, ND_DEVICE_REMOVED);
    assert_int_equal((uint32_t)ov.Internal, SPEC_ND_DEVICE_REMOVED);
    drop(&f);
}

static void test_bad_arguments(void **state)
{
    struct fixture f = make(state, 4);
    OVERLAPPED ov = { 0 };

    assert_int_equal((uint32_t)nd_cq_notify(f.cq, 3, &ov), SPEC_ND_INVALID_PARAMETER);
    assert_int_equal(
        (uint32_t)nd_cq_notify(f.cq, ND_CQ_NOTIFY_ANY, NULL), SPEC_ND_INVALID_PARAMETER);
    drop(&f);
}

static void test_release_cancels(void **state)
{
    struct fixture f = make(state, 4);
    OVERLAPPED ov = { 0 };

    assert_int_equal(notify(&f, ND_CQ_NOTIFY_ANY, &ov), SPEC_ND_PENDING);
    nd_cq_close(f.cq);
    assert_int_equal((uint32_t)ov.Internal, SPEC_ND_CANCELED);
    nd_qp_close(f.qp);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_notify_any_in_every_interleaving, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_notify_any_in_every_shorter_interleaving_v1, setup_v1, teardown),
        cmocka_unit_test_setup_teardown(
            test_solicited_waits_for_a_solicited_one_or_an_error, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_solicited_is_exact_when_results_are_fetched_meanwhile, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_any_upgrades_solicited_and_all_end_together, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_overrun_ends_all_and_later_ones_at_exactly_the_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel_leaves_nobody_waiting, setup, teardown),
        cmocka_unit_test_setup_teardown(test_release_leaves_nobody_waiting, setup, teardown),
        cmocka_unit_test_setup_teardown(test_removed_device_ends_everything, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_arguments, setup, teardown),
        cmocka_unit_test_setup_teardown(test_release_cancels, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
