/* SPDX-License-Identifier: MIT */
/*
 * test_cq_solicited.c - Notify for solicited completions against a model, over every interleaving of a few steps, after
 * each beginning that leaves something behind: a Notify that was cancelled, ended in its own call, or whose event is
 * still to come.
 *
 * Source: IND2CompletionQueue::Notify, INDCompletionQueue::Notify. The rules checked: a solicited Receive ends the
 * Notifies that waited for one when it arrived, also if GetResults is faster than the device's event; one that is not
 * fetched and ended no Notify ends one that is issued after it; all that wait end together. Where the device marks
 * solicited Receives, another Receive ends only the Notifies that wait for any; elsewhere it may end all.
 */
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/ndspi/core_fake.h"

#include <string.h>

enum step {
    ARRIVE,
    SOLICITED,
    WAIT_ANY,
    WAIT_SOLICITED,
    WAIT_RACE,
    CANCEL,
    GET_ONE,
    GET_ALL,
    DELIVER,
    EARLY,
    STEPS
};
enum { BEGINNING = 3, LENGTH = 3, LENGTH_ALONE = 4, MOST = BEGINNING + LENGTH };

static const char *const step_names[] = { "a message", "a solicited message", "notify any",
    "notify solicited", "notify solicited and a solicited message", "cancel", "get 1", "get all",
    "event", "event left for later" };

static const struct beginning {
    int length;
    enum step steps[BEGINNING];
} beginnings[] = {
    { 0, { 0 } },
    { 2, { WAIT_ANY, CANCEL } },
    { 2, { WAIT_SOLICITED, CANCEL } },
    { 3, { WAIT_SOLICITED, WAIT_ANY, CANCEL } },
    { 2, { ARRIVE, WAIT_ANY } }, /* ends in its call */
    { 3, { ARRIVE, WAIT_ANY, GET_ALL } },
    { 3, { SOLICITED, WAIT_SOLICITED, GET_ALL } },
    { 2, { WAIT_ANY, ARRIVE } }, /* its event is still to come */
    { 3, { WAIT_ANY, ARRIVE, GET_ALL } },
    { 3, { WAIT_ANY, ARRIVE, CANCEL } },
    { 3, { WAIT_SOLICITED, SOLICITED, GET_ALL } },
    { 3, { WAIT_SOLICITED, SOLICITED, CANCEL } },
    { 3, { WAIT_ANY, WAIT_SOLICITED, ARRIVE } },
};

struct waiting {
    OVERLAPPED overlapped;
    ULONG type;
    unsigned issued_at; /* what had arrived */
    bool ended;
};

struct run {
    struct nd_adapter *adapter;
    struct nd_cq *cq;
    struct nd_qp *qp;
    uint32_t depth;
    bool marks;
    enum step steps[MOST];
    int length;
    /* Completions are numbered in order, from 1: the last arrived, fetched, that ended a Notify, that was solicited. */
    unsigned arrived, fetched, used, solicited;
    struct waiting waiting[MOST];
    unsigned notifies;
};

static void report(const struct run *run, int at, const char *what)
{
    for (int i = 0; i <= at && i < run->length; i++)
        print_error("%s, ", step_names[run->steps[i]]);
    fail_msg("%s", what);
}

/* Whether what has arrived may end a Notify, or has to; `old` was fetched or used up before. */
static bool may_end(const struct run *run, const struct waiting *waiting, unsigned old)
{
    if (waiting->type == ND_CQ_NOTIFY_ANY)
        return run->arrived > old;
    if (run->marks)
        return run->solicited > old;
    return run->arrived > old || (run->arrived > run->used && run->arrived > waiting->issued_at);
}

static bool has_to_end(const struct run *run, const struct waiting *waiting)
{
    unsigned old = run->used > run->fetched ? run->used : run->fetched;
    unsigned last = waiting->type == ND_CQ_NOTIFY_ANY ? run->arrived : run->solicited;

    return last > old || last > waiting->issued_at;
}

/* What the queue did since the last look. */
static void look(struct run *run, int at)
{
    unsigned old = run->used > run->fetched ? run->used : run->fetched;
    bool ended = false, waits = false, right = false;

    for (unsigned i = 0; i < run->notifies; i++) {
        struct waiting *waiting = &run->waiting[i];

        if (waiting->ended)
            continue;
        if (waiting->overlapped.Internal == SPEC_ND_PENDING) {
            waits = waits || waiting->issued_at < run->arrived;
            continue;
        }
        if (waiting->overlapped.Internal != 0)
            report(run, at, "wrong status");
        right = right || may_end(run, waiting, old);
        waiting->ended = ended = true;
    }
    if (!ended)
        return;
    if (waits)
        report(run, at, "not all that waited ended together");
    if (!right)
        report(run, at, "nothing came that ends it");
    run->used = run->arrived;
}

static void arrive(struct run *run, bool solicited)
{
    struct fake_queue *receive = &fake_qp_of(run->qp)->receive;
    struct ibv_wc wc = { .wr_id = receive->requests[run->arrived].wr_id, .byte_len = 8 };

    run->arrived++;
    if (solicited)
        run->solicited = run->arrived;
    fake_cq_push(run->cq, &wc, solicited);
}

static void arrive_solicited(void *run)
{
    arrive(run, true);
}

static void notify(struct run *run, ULONG type)
{
    struct waiting *waiting = &run->waiting[run->notifies++];

    waiting->type = type;
    waiting->issued_at = run->arrived;
    assert_int_equal(nd_cq_notify(run->cq, type, &waiting->overlapped), SPEC_ND_PENDING);
}

static void get(struct run *run, int at, unsigned room)
{
    ND2_RESULT results[MOST];
    unsigned unfetched = run->arrived - run->fetched;
    size_t count = nd_cq_results_v2(&run->cq->poll, results, room);

    if (count != (unfetched < room ? unfetched : room))
        report(run, at, "wrong number of results");
    look(run, at);
    run->fetched += (unsigned)count;
}

static void cancel(struct run *run, int at)
{
    nd_cq_cancel(run->cq);
    for (unsigned i = 0; i < run->notifies; i++) {
        if (!run->waiting[i].ended && run->waiting[i].overlapped.Internal != SPEC_ND_CANCELED)
            report(run, at, "not cancelled");
        run->waiting[i].ended = true;
    }
}

static void step(struct run *run, int at)
{
    struct fake_cq *fake = fake_cq_of(run->cq);

    switch (run->steps[at]) {
    case ARRIVE: arrive(run, false); break;
    case SOLICITED: arrive(run, true); break;
    case WAIT_ANY: notify(run, ND_CQ_NOTIFY_ANY); break;
    case WAIT_SOLICITED: notify(run, ND_CQ_NOTIFY_SOLICITED); break;
    case WAIT_RACE: /* between the look and the arming, if there is an arming */
        fake->before_arming = arrive_solicited;
        fake->before_arming_context = run;
        notify(run, ND_CQ_NOTIFY_SOLICITED);
        fake->before_arming = NULL;
        break;
    case CANCEL: cancel(run, at); break;
    case GET_ONE: get(run, at, 1); break;
    case GET_ALL: get(run, at, MOST); break;
    case DELIVER: fake_cq_deliver(run->cq); break;
    case EARLY: /* as a driver does that is woken by the event */
        if (fake->event && !nd_cq_poll_before_event(run->cq))
            fake_cq_deliver(run->cq);
        break;
    default: fail();
    }
    look(run, at);
}

/* At rest, with all events delivered, no Notify waits for a completion that has come. */
static void settle(struct run *run)
{
    while (fake_cq_deliver(run->cq))
        look(run, run->length);
    for (unsigned i = 0; i < run->notifies; i++)
        if (!run->waiting[i].ended && has_to_end(run, &run->waiting[i]))
            report(run, run->length, "a wake-up is lost");
}

static void run_one(struct run *run)
{
    ND2_SGE sge = { NULL, 1, 0 };

    run->arrived = run->fetched = run->used = run->solicited = run->notifies = 0;
    memset(run->waiting, 0, sizeof(run->waiting));
    run->cq = fake_make_cq(run->adapter, run->depth);
    run->qp = fake_make_qp(run->adapter, run->cq, NULL, MOST);
    for (int i = 0; i < MOST; i++)
        assert_int_equal(nd_queue_receive_v2(&run->qp->receive, NULL, &sge, 1), 0);
    for (int i = 0; i < run->length; i++)
        step(run, i);
    settle(run);
    nd_cq_cancel(run->cq);
    nd_qp_close(run->qp);
    nd_cq_close(run->cq);
}

static void run_all(struct nd_adapter *adapter, uint32_t depth, bool marks)
{
    struct run run = { .adapter = adapter, .depth = depth, .marks = marks };

    fake_device_marks(marks);
    for (size_t i = 0; i < sizeof(beginnings) / sizeof(beginnings[0]); i++) {
        int length = beginnings[i].length ? LENGTH : LENGTH_ALONE;
        unsigned all = 1;

        run.length = beginnings[i].length + length;
        memcpy(run.steps, beginnings[i].steps, sizeof(beginnings[i].steps));
        for (int k = 0; k < length; k++)
            all *= STEPS;
        for (unsigned number = 0; number < all; number++) {
            unsigned rest = number;

            for (int k = 0; k < length; k++, rest /= STEPS)
                run.steps[beginnings[i].length + k] = (enum step)(rest % STEPS);
            run_one(&run);
        }
    }
}

static int setup(void **state)
{
    *state = fake_adapter_open();
    return 0;
}

static int teardown(void **state)
{
    fake_adapter_close(*state);
    return 0;
}

static void test_device_that_marks_them(void **state)
{
    run_all(*state, 64, true);
}

/* GetResults has a path of its own for such a queue. */
static void test_queue_that_could_overrun(void **state)
{
    run_all(*state, MOST + 1, true);
}

static void test_device_that_does_not_mark_them(void **state)
{
    run_all(*state, 64, false);
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_device_that_marks_them),
        ROW(test_queue_that_could_overrun),
        ROW(test_device_that_does_not_mark_them),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
