/* SPDX-License-Identifier: MIT */
/*
 * test_notify.c - IND2CompletionQueue::Notify: when it completes, when it must not, and cancelling it.
 */
#include "fixture.h"

static void start_notify(struct cq *cq, ULONG type, struct op *op)
{
    expect_status(ND_PENDING, CALL(cq, Notify, type, &op->overlapped));
}

static void expect_waiting(struct cq *cq, struct op *op)
{
    expect_status(ND_PENDING, result_of(cq, op));
    expect_true(!event_is_set(op));
}

/*
 * A message that has arrived: the peer answers the empty Read behind it only after it took the message. (The Send's own
 * completion says less on devices where it ends when TCP has the data.)
 */
static void send_message(struct pair *pair, ULONG flags)
{
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
    expect_status(ND_SUCCESS, post_send(&pair->active, TAG(2), 0, 8, flags));
    expect_status(ND_SUCCESS, CALL(pair->active.qp, Read, TAG(3), NULL, 0, 0, 0, 0));
    for (int i = 0; i < 2; i++)
        expect_status(ND_SUCCESS, poll_result(pair->active.initiator_cq).Status);
}

static ULONG drain(struct cq *cq)
{
    ND2_RESULT results[64];
    return CALL(cq, GetResults, results, 64);
}

/* Cancelling */

static void cancels_come_in_the_order_of_the_calls(void)
{
    for (int reverse = 0; reverse < 2; reverse++) {
        struct node *node = new_node();
        struct cq *cqs[2] = { new_cq(node, 4), new_cq(node, 4) };
        struct op *ops[2] = { new_op_without_event(), new_op_without_event() };
        HANDLE port = new_port();
        attach(port, node->file, 11);
        for (int i = 0; i < 2; i++)
            start_notify(cqs[i], ND_CQ_NOTIFY_ANY, ops[i]);
        for (int i = 0; i < 2; i++)
            expect_status(ND_SUCCESS, CALL(cqs[i ^ reverse], CancelOverlappedRequests));
        for (int i = 0; i < 2; i++) {
            struct packet packet = take_packet(port, 0);
            expect_pointer(&ops[i ^ reverse]->overlapped, packet.overlapped);
            expect_true(!packet.ok);
            expect_equal(SPEC_ERROR_OPERATION_ABORTED, packet.error);
            expect_equal(11, packet.key);
            expect_status(ND_CANCELED, result_of(cqs[i ^ reverse], ops[i ^ reverse]));
        }
        expect_no_packet(port);
    }
}

static void one_cancel_ends_all_in_issue_order(void)
{
    struct node *node = new_node();
    struct cq *cq = new_cq(node, 4);
    struct op *ops[8];
    HANDLE port = new_port();
    attach(port, node->file, 12);
    for (int i = 0; i < 8; i++)
        start_notify(cq, (ULONG)i % 3, ops[i] = new_op_without_event());
    expect_status(ND_SUCCESS, CALL(cq, CancelOverlappedRequests));
    for (int i = 0; i < 8; i++) {
        struct packet packet = take_packet(port, 0);
        expect_pointer(&ops[i]->overlapped, packet.overlapped);
        expect_equal(SPEC_ERROR_OPERATION_ABORTED, packet.error);
    }
    expect_no_packet(port);
}

static void issue_and_cancel_a_thousand_times(void)
{
    struct node *node = new_node();
    struct cq *cq = new_cq(node, 4);
    struct op *ops[2] = { new_op_without_event(), new_op_without_event() };
    HANDLE port = new_port();
    attach(port, node->file, 13);
    for (int i = 0; i < 1000; i++) {
        start_notify(cq, ND_CQ_NOTIFY_ANY, ops[0]);
        start_notify(cq, ND_CQ_NOTIFY_ANY, ops[1]);
        expect_status(ND_SUCCESS, CALL(cq, CancelOverlappedRequests));
        for (int k = 0; k < 2; k++)
            expect_pointer(&ops[k]->overlapped, take_packet(port, 0).overlapped);
    }
    expect_no_packet(port);
}

static void cancel_with_nothing_pending(void)
{
    struct cq *cq = new_cq(new_node(), 4);
    expect_status(ND_SUCCESS, CALL(cq, CancelOverlappedRequests));
}

static void release_cancels(void)
{
    struct cq *cq = new_cq(new_node(), 4);
    struct op *op = new_op();
    start_notify(cq, ND_CQ_NOTIFY_ANY, op);
    expect_equal(0, release_now(cq));
    expect_true(event_is_set(op));
    expect_status(ND_CANCELED, (HRESULT)op->overlapped.Internal);
}

/* When it completes */

static void any_completes_on_success(void)
{
    struct pair *pair = connected_pair(NULL);
    struct cq *cq = pair->passive.cq;
    struct op *op = new_op();
    start_notify(cq, ND_CQ_NOTIFY_ANY, op);
    expect_waiting(cq, op);
    send_message(pair, 0);
    expect_status(ND_SUCCESS, wait_op(cq, op));
    expect_equal(1, drain(cq));
}

static void any_completes_on_errors(void)
{
    struct pair *pair = new_pair(NULL);
    struct cq *cq = pair->active.cq;
    struct op *op = new_op();
    expect_status(ND_SUCCESS, post_receive(&pair->active, TAG(1), 0, 8));
    start_notify(cq, ND_CQ_NOTIFY_ANY, op);
    expect_waiting(cq, op);
    expect_status(ND_SUCCESS, CALL(pair->active.qp, Flush));
    expect_status(ND_SUCCESS, wait_op(cq, op));
    expect_equal(1, drain(cq));
}

/* What came before the call and was not fetched counts as well as what comes after it. */
static void entry_that_is_there_completes_it_at_once(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *op = new_op();
    send_message(pair, 0);
    start_notify(pair->passive.cq, ND_CQ_NOTIFY_ANY, op);
    expect_true(event_is_set(op));
    expect_status(ND_SUCCESS, result_of(pair->passive.cq, op));
    expect_equal(1, drain(pair->passive.cq));
}

static void fetched_entries_do_not_count(void)
{
    struct pair *pair = connected_pair(NULL);
    struct cq *cq = pair->passive.cq;
    struct op *op = new_op();
    send_message(pair, 0);
    expect_equal(1, drain(cq));
    expect_equal(0, drain(cq));
    start_notify(cq, ND_CQ_NOTIFY_ANY, op);
    expect_waiting(cq, op);
    send_message(pair, 0);
    expect_status(ND_SUCCESS, wait_op(cq, op));
}

/* An entry that triggered once never triggers again, fetched or not. */
static void used_up_entries_do_not_count(void)
{
    struct pair *pair = connected_pair(NULL);
    struct cq *cq = pair->passive.cq;
    struct op *first = new_op(), *second = new_op();
    start_notify(cq, ND_CQ_NOTIFY_ANY, first);
    send_message(pair, 0);
    expect_status(ND_SUCCESS, wait_op(cq, first));
    start_notify(cq, ND_CQ_NOTIFY_ANY, second);
    expect_waiting(cq, second);
    send_message(pair, 0);
    expect_status(ND_SUCCESS, wait_op(cq, second));
    expect_equal(2, drain(cq));
}

static void one_event_completes_all(void)
{
    struct pair *pair = connected_pair(NULL);
    struct cq *cq = pair->passive.cq;
    struct op *ops[6];
    HANDLE port = new_port();
    attach(port, pair->passive.node->file, 14);
    for (int i = 0; i < 6; i++)
        start_notify(cq, ND_CQ_NOTIFY_ANY, ops[i] = new_op_without_event());
    send_message(pair, 0);
    for (int i = 0; i < 6; i++) { /* in issue order */
        expect_packet(port, 14, ops[i], 0);
        expect_status(ND_SUCCESS, result_of(cq, ops[i]));
    }
    expect_no_packet(port);
}

static void silent_success_does_not_trigger(void)
{
    struct pair *pair = connected_pair(NULL);
    struct cq *cq = pair->active.cq;
    struct op *op = new_op();
    start_notify(cq, ND_CQ_NOTIFY_ANY, op);
    for (int i = 0; i < 40; i++) {
        expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(i), 0, 8));
        expect_status(
            ND_SUCCESS, post_send(&pair->active, TAG(i), 0, 8, ND_OP_FLAG_SILENT_SUCCESS));
        expect_result(&pair->passive, Nd2RequestTypeReceive, TAG(i), ND_SUCCESS);
        expect_no_result(cq);
        expect_waiting(cq, op);
    }
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(90), 0, 8));
    expect_status(ND_SUCCESS, post_send(&pair->active, TAG(91), 0, 8, 0));
    expect_status(ND_SUCCESS, wait_op(cq, op));
    expect_equal(1, drain(cq));
}

/* Solicited */

/*
 * Nothing solicited has come. Where any message may end the call it is made again, so that a solicited one ends it
 * still.
 */
static void expect_waiting_for_solicited(struct cq *cq, struct op *op)
{
    if (row_holds_in_full()) {
        expect_waiting(cq, op);
    } else if (event_is_set(op)) {
        expect_status(ND_SUCCESS, result_of(cq, op));
        start_notify(cq, ND_CQ_NOTIFY_SOLICITED, op);
    }
}

static void solicited_waits_for_a_solicited_message(void)
{
    struct pair *pair = connected_pair(NULL);
    struct cq *cq = pair->passive.cq;
    struct op *op = new_op();
    start_notify(cq, ND_CQ_NOTIFY_SOLICITED, op);
    for (int i = 0; i < 3; i++) {
        send_message(pair, 0);
        expect_waiting_for_solicited(cq, op);
    }
    send_message(pair, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT);
    expect_status(ND_SUCCESS, wait_op(cq, op));
    expect_equal(4, drain(cq));
}

static void solicited_ignores_own_requests(void)
{
    struct pair *pair = connected_pair(NULL);
    struct cq *cq = pair->active.cq;
    struct op *op = new_op();
    start_notify(cq, ND_CQ_NOTIFY_SOLICITED, op);
    send_message(pair, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT);
    expect_waiting(cq, op);
}

static void solicited_completes_on_errors(void)
{
    struct pair *pair = connected_pair(NULL);
    struct cq *cq = pair->passive.cq;
    struct op *op = new_op();
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
    start_notify(cq, ND_CQ_NOTIFY_SOLICITED, op);
    expect_waiting(cq, op);
    disconnect(&pair->active);
    expect_status(ND_SUCCESS, wait_op(cq, op));
    expect_equal(1, drain(cq));
}

/* ANY beside SOLICITED: the next message ends both. */
static void any_upgrades_solicited(void)
{
    for (int any_first = 0; any_first < 2; any_first++) {
        struct pair *pair = connected_pair(NULL);
        struct cq *cq = pair->passive.cq;
        struct op *first = new_op(), *second = new_op();
        start_notify(cq, any_first ? ND_CQ_NOTIFY_ANY : ND_CQ_NOTIFY_SOLICITED, first);
        start_notify(cq, any_first ? ND_CQ_NOTIFY_SOLICITED : ND_CQ_NOTIFY_ANY, second);
        send_message(pair, 0);
        expect_status(ND_SUCCESS, wait_op(cq, first));
        expect_status(ND_SUCCESS, wait_op(cq, second));
        /* The next Notify is for solicited completions only again. */
        drain(cq);
        start_notify(cq, ND_CQ_NOTIFY_SOLICITED, first);
        send_message(pair, 0);
        expect_waiting_for_solicited(cq, first);
        send_message(pair, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT);
        expect_status(ND_SUCCESS, wait_op(cq, first));
    }
}

/* What an ANY leaves behind, that was cancelled or ended in its own call, is of no account. */
static void solicited_after_any(void)
{
    for (int at_once = 0; at_once < 2; at_once++) {
        struct pair *pair = connected_pair(NULL);
        struct cq *cq = pair->passive.cq;
        struct op *op = new_op();
        if (at_once)
            send_message(pair, 0);
        start_notify(cq, ND_CQ_NOTIFY_ANY, op);
        if (at_once) {
            expect_status(ND_SUCCESS, wait_op(cq, op));
            expect_equal(1, drain(cq));
        } else {
            expect_status(ND_SUCCESS, CALL(cq, CancelOverlappedRequests));
            expect_status(ND_CANCELED, result_of(cq, op));
        }
        start_notify(cq, ND_CQ_NOTIFY_SOLICITED, op);
        for (int i = 0; i < 3; i++) {
            send_message(pair, 0);
            expect_waiting_for_solicited(cq, op);
        }
        send_message(pair, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT);
        expect_status(ND_SUCCESS, wait_op(cq, op));
        expect_equal(4, drain(cq));
    }
}

/* The call ends although GetResults was faster. */
static void solicited_message_is_fetched_first(void)
{
    for (int any_before = 0; any_before < 2; any_before++) {
        struct pair *pair = connected_pair(NULL);
        struct cq *cq = pair->passive.cq;
        struct op *op = new_op();
        for (int i = 0; i < 20; i++) {
            if (any_before) {
                start_notify(cq, ND_CQ_NOTIFY_ANY, op);
                expect_status(ND_SUCCESS, CALL(cq, CancelOverlappedRequests));
            }
            start_notify(cq, ND_CQ_NOTIFY_SOLICITED, op);
            expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
            expect_status(ND_SUCCESS,
                post_send(&pair->active, TAG(2), 0, 8, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT));
            expect_status(ND_SUCCESS, poll_result(cq).Status);
            expect_status(ND_SUCCESS, wait_op(cq, op));
            expect_status(ND_SUCCESS, poll_result(pair->active.initiator_cq).Status);
        }
    }
}

static void errors_ignores_requests(void)
{
    struct pair *pair = connected_pair(NULL);
    struct cq *cq = pair->passive.cq;
    struct op *op = new_op(), *any = new_op();
    start_notify(cq, ND_CQ_NOTIFY_ERRORS, op);
    send_message(pair, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT);
    expect_waiting(cq, op);
    drain(cq);
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
    start_notify(cq, ND_CQ_NOTIFY_SOLICITED, any);
    disconnect(&pair->active);
    expect_status(ND_SUCCESS, wait_op(cq, any)); /* a failed request is nothing the queue did */
    expect_waiting(cq, op);
    expect_status(ND_SUCCESS, CALL(cq, CancelOverlappedRequests));
    expect_status(ND_CANCELED, result_of(cq, op));
}

static void unknown_type(void)
{
    struct cq *cq = new_cq(new_node(), 4);
    struct op *op = new_op();
    expect_status(ND_INVALID_PARAMETER, CALL(cq, Notify, 3, &op->overlapped));
    expect_status(ND_INVALID_PARAMETER, CALL(cq, Notify, 0xFFFFFFFFu, &op->overlapped));
}

/* How programs wait */

static void port_and_result_without_waiting(void)
{
    struct pair *pair = connected_pair(NULL);
    HANDLE port = new_port();
    struct op *op = new_op_without_event();
    attach(port, pair->passive.node->file, 15);
    for (int i = 0; i < 20; i++) {
        start_notify(pair->passive.cq, ND_CQ_NOTIFY_ANY, op);
        send_message(pair, 0);
        expect_packet(port, 15, op, 0);
        expect_status(ND_SUCCESS, result_of(pair->passive.cq, op));
        expect_equal(1, drain(pair->passive.cq));
    }
}

/* A silent Send leaves its queue when the peer has acknowledged it, which may be after it was received. */
static HRESULT send_silently(struct end *end, int tag)
{
    ULONGLONG deadline = GetTickCount64() + DEADLINE_MS;
    ND2_RESULT none;
    HRESULT hr;
    while ((hr = post_send(end, TAG(tag), 0, 8, ND_OP_FLAG_SILENT_SUCCESS)) == ND_NO_MORE_ENTRIES &&
           GetTickCount64() < deadline) {
        expect_equal(0, CALL(end->initiator_cq, GetResults, &none, 1));
        SwitchToThread();
    }
    return hr;
}

static void blocking_mode_with_an_auto_reset_event(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *p = &pair->passive;
    struct op *op = new_op_auto();
    for (int i = 0; i < 100; i++) {
        expect_status(ND_SUCCESS, post_receive(p, TAG(i), 0, 8));
        expect_status(ND_SUCCESS, send_silently(&pair->active, i));
        ND2_RESULT result;
        while (CALL(p->cq, GetResults, &result, 1) == 0) {
            start_notify(p->cq, ND_CQ_NOTIFY_ANY, op);
            expect_status(ND_SUCCESS, CALL(p->cq, GetOverlappedResult, &op->overlapped, TRUE));
        }
        expect_status(ND_SUCCESS, result.Status);
        expect_pointer(TAG(i), result.RequestContext);
    }
}

/* The race rule under load: the consumer sleeps whenever the queue was empty, and never too long. */

enum { MESSAGES = 4000, DEPTH = 32 };
struct sender {
    struct end *end;
    volatile LONG *credits;
    HRESULT status;
};

static DWORD WINAPI send_all(void *arg)
{
    struct sender *sender = arg;
    ULONGLONG end = GetTickCount64() + 3 * DEADLINE_MS;
    for (int sent = 0; sent < MESSAGES && sender->status == ND_SUCCESS;) {
        if (InterlockedExchangeAdd(sender->credits, 0) <= 0) {
            if (GetTickCount64() > end)
                return 1;
            SwitchToThread();
            continue;
        }
        HRESULT hr = post_send(sender->end, TAG(sent), 0, 8, ND_OP_FLAG_SILENT_SUCCESS);
        if (hr == ND_SUCCESS) {
            sent++;
            InterlockedDecrement(sender->credits);
        } else if (hr != ND_NO_MORE_ENTRIES || GetTickCount64() > end) {
            sender->status = hr;
        } else {
            ND2_RESULT none;
            if (CALL(sender->end->initiator_cq, GetResults, &none, 1) != 0)
                sender->status = ND_UNSUCCESSFUL;
            SwitchToThread();
        }
    }
    return 0;
}

static void no_wakeup_is_lost_under_load(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){
        .active = { .two_cqs = true }, .passive = { .receive_depth = DEPTH, .two_cqs = true } });
    struct end *p = &pair->passive;
    static volatile LONG credits;
    struct sender sender = { &pair->active, &credits, ND_SUCCESS };
    struct op *op = new_op();
    for (int i = 0; i < DEPTH; i++)
        expect_status(ND_SUCCESS, post_receive(p, TAG(i), 0, 8));
    credits = DEPTH;
    HANDLE thread = CreateThread(NULL, 0, send_all, &sender, 0, NULL);
    expect_true(thread != NULL);
    keep_handle(thread);
    int got = 0, slept = 0;
    bool right = true, lost = false;
    while (got < MESSAGES && right && !lost) {
        ND2_RESULT results[8];
        ULONG n = CALL(p->cq, GetResults, results, 8);
        for (ULONG i = 0; i < n; i++, got++) {
            right = right && results[i].Status == ND_SUCCESS &&
                    results[i].RequestContext == TAG(got) &&
                    post_receive(p, TAG(got + DEPTH), 0, 8) == ND_SUCCESS;
            InterlockedIncrement(&credits);
        }
        if (n < 8) {
            slept++;
            right = right && CALL(p->cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped) == ND_PENDING;
            if (got < MESSAGES)
                lost = WaitForSingleObject(op->event, DEADLINE_MS) != WAIT_OBJECT_0;
        }
    }
    CALL(p->cq, CancelOverlappedRequests);
    expect_equal(WAIT_OBJECT_0, WaitForSingleObject(thread, 3 * DEADLINE_MS));
    expect_status(ND_SUCCESS, sender.status);
    expect_true(right);
    expect_true(!lost);
    expect_equal(MESSAGES, got);
    expect_true(slept > 0);
}

/*
 * Random interleavings of messages, fetches and Notifies on one queue, against the rule: a Notify has completed iff
 * something arrived after both the last fetch that emptied the queue and the last trigger.
 */
static void random_interleavings(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){
        .active = { .two_cqs = true }, .passive = { .two_cqs = true, .receive_depth = 64 } });
    struct cq *cq = pair->passive.cq;
    struct op *ops[4] = { new_op(), new_op(), new_op(), new_op() };
    unsigned arrived = 0, fetched = 0, triggered = 0, waiting = 0, random = 12345;
    for (int step = 0; step < 2000; step++) {
        random = random * 1103515245u + 12345u;
        note("step %d: %u arrived, %u fetched, %u triggered, %u waiting", step, arrived, fetched,
            triggered, waiting);
        switch ((random >> 16) % 3) {
        case 0: /* a message */
            if (arrived - fetched == 32)
                break;
            send_message(pair, 0);
            arrived++;
            if (waiting > 0) {
                for (unsigned i = 0; i < waiting; i++)
                    expect_status(ND_SUCCESS, wait_op(cq, ops[i]));
                triggered = arrived;
                waiting = 0;
            }
            break;
        case 1: /* fetch some, or all */
            if ((random >> 20) % 2) {
                fetched += drain(cq);
                expect_equal(arrived, fetched);
            } else {
                ND2_RESULT result;
                expect_equal(arrived > fetched, CALL(cq, GetResults, &result, 1));
                fetched += arrived > fetched;
            }
            break;
        default: /* a Notify */
            if (waiting == 4)
                break;
            start_notify(cq, ND_CQ_NOTIFY_ANY, ops[waiting]);
            if (arrived > (fetched > triggered ? fetched : triggered)) {
                for (unsigned i = 0; i <= waiting; i++)
                    expect_status(ND_SUCCESS, wait_op(cq, ops[i]));
                triggered = arrived;
                waiting = 0;
            } else {
                expect_waiting(cq, ops[waiting]);
                waiting++;
            }
        }
    }
}

SUITE(notify);
