/* SPDX-License-Identifier: MIT */
/*
 * test_disconnect.c - the end of a connection: by this side, by the peer, by both, by release.
 */
#include "fixture.h"

static HRESULT notify(struct end *end, struct op *op)
{
    return CALL(end->connector, NotifyDisconnect, &op->overlapped);
}

static void expect_receives_canceled(struct end *end)
{
    for (int i = 0; i < 3; i++)
        expect_result(end, Nd2RequestTypeReceive, TAG(i), ND_CANCELED);
}

/*
 * A pair whose passive side has left, which a pending NotifyDisconnect of the active side has told. Microsoft's page of
 * the method: the provider completes it, and does not cancel what is outstanding. So nothing has ended.
 */
static struct pair *told_of_the_end(void)
{
    struct pair *pair = connected_pair(NULL), *other = connected_pair(NULL);
    struct op *op = new_op();
    ND2_RESULT result;
    for (int i = 0; i < 3; i++)
        expect_status(ND_SUCCESS, post_receive(&pair->active, TAG(i), 0, 8));
    expect_status(ND_PENDING, notify(&pair->active, op));
    disconnect(&pair->passive);
    expect_status(ND_SUCCESS, wait_op(pair->active.connector, op));
    expect_equal(0, CALL(pair->active.cq, GetResults, &result, 1));
    exchange(&other->active, &other->passive); /* time for what a device does by itself */
    expect_equal(0, CALL(pair->active.cq, GetResults, &result, 1));
    return pair;
}

static void peer_disconnects(void)
{
    struct pair *pair = told_of_the_end();
    disconnect(&pair->active);
    expect_receives_canceled(&pair->active);
}

static void flush_ends_what_the_peer_left(void)
{
    struct pair *pair = told_of_the_end();
    expect_status(ND_SUCCESS, CALL(pair->active.qp, Flush));
    expect_receives_canceled(&pair->active);
    disconnect(&pair->active);
}

static void release_ends_what_the_peer_left(void)
{
    struct pair *pair = told_of_the_end();
    expect_equal(0, release_now(pair->active.qp));
    expect_receives_canceled(&pair->active);
    disconnect(&pair->active);
}

static void release_of_the_connector_ends_what_the_peer_left(void)
{
    struct pair *pair = told_of_the_end();
    expect_equal(0, release_now(pair->active.connector));
    expect_receives_canceled(&pair->active);
}

/* They cannot be delivered any more: they wait as the Receives do. */
static void requests_after_the_end_wait_for_the_flush(void)
{
    struct pair *pair = told_of_the_end();
    struct end *end = &pair->active;
    ND2_RESULT result;
    expect_status(ND_SUCCESS, post_receive(end, TAG(3), 0, 8));
    expect_status(ND_SUCCESS, post_send(end, TAG(4), 0, 8, 0));
    expect_status(ND_SUCCESS, post_read(end, TAG(5), 0, 8, end->memory.bytes, 0, 0));
    expect_equal(0, CALL(end->cq, GetResults, &result, 1));
    disconnect(end);
    for (int i = 0; i < 6; i++) {
        result = next_result(end->cq);
        expect_status(ND_CANCELED, result.Status);
    }
    expect_equal(0, CALL(end->cq, GetResults, &result, 1));
}

/* Sends without a Receive at the peer are under way when it leaves. */
static void requests_under_way_stay_when_the_program_is_told(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){ .passive = { .empty_srq = true } });
    struct op *op = new_op();
    ND2_RESULT result;
    for (int i = 0; i < 3; i++)
        expect_status(ND_SUCCESS, post_send(&pair->active, TAG(i), 0, 8, 0));
    expect_status(ND_PENDING, notify(&pair->active, op));
    disconnect(&pair->passive);
    expect_status(ND_SUCCESS, wait_op(pair->active.connector, op));
    expect_equal(0, CALL(pair->active.cq, GetResults, &result, 1));
    disconnect(&pair->active);
    for (int i = 0; i < 3; i++)
        expect_result(&pair->active, Nd2RequestTypeSend, TAG(i), ND_CANCELED);
}

/* One that comes after the end does not count: the Receives have ended, and it ends at once. */
static void notify_after_the_end(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *op = new_op();
    for (int i = 0; i < 3; i++)
        expect_status(ND_SUCCESS, post_receive(&pair->active, TAG(i), 0, 8));
    disconnect(&pair->passive);
    expect_receives_canceled(&pair->active);
    expect_status(ND_SUCCESS, finish(pair->active.connector, notify(&pair->active, op), op));
    disconnect(&pair->active);
}

/* Whichever is first: the program is told, and each request ends once. */
static void notify_races_with_the_end(void)
{
    for (int i = 0; i < 50; i++) {
        struct pair *pair = connected_pair(NULL);
        struct op *op = new_op(), *peer = new_op();
        ND2_RESULT result;
        for (int r = 0; r < 3; r++)
            expect_status(ND_SUCCESS, post_receive(&pair->active, TAG(r), 0, 8));
        expect_status(ND_PENDING, CALL(pair->passive.connector, Disconnect, &peer->overlapped));
        expect_status(ND_SUCCESS, finish(pair->active.connector, notify(&pair->active, op), op));
        expect_one_of(wait_op(pair->passive.connector, peer), ND_SUCCESS, ND_TIMEOUT);
        disconnect(&pair->active);
        expect_receives_canceled(&pair->active);
        expect_equal(0, CALL(pair->active.cq, GetResults, &result, 1));
    }
}

/* The side that stays makes no call: its Receives end on their own. */
static void receives_end_without_a_call(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *op = new_op();
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
    expect_status(ND_PENDING, CALL(pair->passive.cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped));
    disconnect(&pair->active);
    expect_status(ND_SUCCESS, wait_op(pair->passive.cq, op));
    ND2_RESULT result;
    expect_equal(1, CALL(pair->passive.cq, GetResults, &result, 1));
    expect_status(ND_CANCELED, result.Status);
    expect_pointer(TAG(1), result.RequestContext);
}

static void local_disconnect_flushes(void)
{
    struct pair *pair = connected_pair(NULL);
    for (int i = 0; i < 4; i++)
        expect_status(ND_SUCCESS, post_receive(&pair->active, TAG(i), 0, 8));
    disconnect(&pair->active);
    /* Disconnect has completed: everything can be fetched at once. */
    ND2_RESULT results[8];
    expect_equal(4, CALL(pair->active.cq, GetResults, results, 8));
    for (int i = 0; i < 4; i++) {
        expect_status(ND_CANCELED, results[i].Status);
        expect_pointer(TAG(i), results[i].RequestContext);
        expect_pointer(&pair->active, results[i].QueuePairContext);
        expect_equal(Nd2RequestTypeReceive, results[i].RequestType);
    }
    struct op *op = new_op();
    expect_status(ND_PENDING, CALL(pair->active.cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped));
    expect_status(ND_SUCCESS, CALL(pair->active.cq, CancelOverlappedRequests));
    expect_status(ND_CANCELED, result_of(pair->active.cq, op));
}

static void notify_of_the_side_that_disconnects(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *first = new_op(), *second = new_op();
    expect_status(ND_PENDING, notify(&pair->passive, first));
    expect_status(ND_PENDING, notify(&pair->passive, second));
    disconnect(&pair->passive);
    expect_status(
        V2_V1(NT_CONNECTION_DISCONNECTED, ND_CANCELED), wait_op(pair->passive.connector, first));
    expect_status(
        V2_V1(NT_CONNECTION_DISCONNECTED, ND_CANCELED), wait_op(pair->passive.connector, second));
}

static void every_notify_completes(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *ops[5];
    for (int i = 0; i < 5; i++)
        expect_status(ND_PENDING, notify(&pair->active, ops[i] = new_op()));
    disconnect(&pair->passive);
    for (int i = 0; i < 5; i++)
        expect_status(ND_SUCCESS, wait_op(pair->active.connector, ops[i]));
}

static void notify_right_after_accept(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *op = new_op();
    expect_status(ND_PENDING, notify(&pair->passive, op));
    disconnect(&pair->active);
    expect_status(ND_SUCCESS, wait_op(pair->passive.connector, op));
}

/* The connection is not touched by it. */
static void cancel_notify(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *op = new_op(), *again = new_op();
    expect_status(ND_PENDING, notify(&pair->active, op));
    expect_status(ND_SUCCESS, CALL(pair->active.connector, CancelOverlappedRequests));
    expect_true(event_is_set(op));
    expect_status(ND_CANCELED, result_of(pair->active.connector, op));
    exchange(&pair->active, &pair->passive);
    exchange(&pair->passive, &pair->active);
    expect_status(ND_PENDING, notify(&pair->active, again));
    disconnect(&pair->passive);
    expect_status(ND_SUCCESS, wait_op(pair->active.connector, again));
}

static void both_disconnect_at_once(void)
{
    for (int i = 0; i < 20; i++) {
        struct pair *pair = connected_pair(NULL);
        struct op *a = new_op(), *p = new_op();
        expect_status(ND_SUCCESS, post_receive(&pair->active, TAG(1), 0, 8));
        expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
        expect_status(ND_PENDING, CALL(pair->active.connector, Disconnect, &a->overlapped));
        expect_status(ND_PENDING, CALL(pair->passive.connector, Disconnect, &p->overlapped));
        expect_one_of(wait_op(pair->active.connector, a), ND_SUCCESS, ND_TIMEOUT);
        expect_one_of(wait_op(pair->passive.connector, p), ND_SUCCESS, ND_TIMEOUT);
        expect_result(&pair->active, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
        expect_result(&pair->passive, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
    }
}

static void disconnect_after_the_peer_has(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *op = new_op();
    expect_status(ND_PENDING, notify(&pair->passive, op));
    disconnect(&pair->active);
    expect_status(ND_SUCCESS, wait_op(pair->passive.connector, op));
    disconnect(&pair->passive);
    HRESULT hr = CALL(pair->passive.connector, Disconnect, &op->overlapped);
    expect_status(ND_CONNECTION_INVALID, hr);
}

static void disconnect_without_a_connection(void)
{
    struct op *op = new_op();
    struct connector *connector = new_connector(new_node());
    expect_status(ND_CONNECTION_INVALID, CALL(connector, Disconnect, &op->overlapped));
}

/* What the sender has seen complete arrives, whatever it does next. */
static void last_message_arrives(void)
{
    for (int i = 0; i < 50; i++) {
        note("round %d", i);
        struct pair *pair = connected_pair(NULL);
        for (int r = 0; r < 3; r++)
            expect_status(ND_SUCCESS, post_receive(&pair->active, TAG(r), 0, 8192));
        expect_status(ND_SUCCESS, post_send(&pair->passive, TAG(9), 0, 8192, 0));
        expect_result(&pair->passive, Nd2RequestTypeSend, TAG(9), ND_SUCCESS);
        disconnect(&pair->passive);
        expect_equal(8192, expect_result(&pair->active, Nd2RequestTypeReceive, TAG(0), ND_SUCCESS));
        expect_result(&pair->active, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
        expect_result(&pair->active, Nd2RequestTypeReceive, TAG(2), ND_CANCELED);
    }
}

/* Requests posted after both have disconnected are taken and flushed. */
static void posts_after_the_end_are_flushed(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *op = new_op();
    expect_status(ND_PENDING, notify(&pair->passive, op));
    disconnect(&pair->active);
    expect_status(ND_SUCCESS, wait_op(pair->passive.connector, op));
    disconnect(&pair->passive);
    struct end *ends[] = { &pair->active, &pair->passive };
    for (int e = 0; e < 2; e++) {
        struct end *end = ends[e];
        expect_status(ND_SUCCESS, post_receive(end, TAG(1), 0, 8));
        expect_result(end, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
        expect_status(ND_SUCCESS, post_send(end, TAG(2), 0, 8, 0));
        expect_result(end, Nd2RequestTypeSend, TAG(2), ND_CANCELED);
        expect_status(ND_SUCCESS, post_read(end, TAG(3), 0, 8, end->memory.bytes, 0, 0));
        expect_result(end, Nd2RequestTypeRead, TAG(3), ND_CANCELED);
        expect_status(ND_SUCCESS,
            post_write(end, TAG(4), 0, 8, end->memory.bytes, 0, ND_OP_FLAG_SILENT_SUCCESS));
        expect_result(end, Nd2RequestTypeWrite, TAG(4), ND_CANCELED);
    }
}

/* Sends without a Receive at the peer are outstanding when the connection ends. */
static void outstanding_sends_are_flushed(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){ .passive = { .empty_srq = true } });
    for (int i = 0; i < 3; i++)
        expect_status(ND_SUCCESS, post_send(&pair->active, TAG(i), 0, 8, 0));
    disconnect(&pair->active);
    for (int i = 0; i < 3; i++)
        expect_result(&pair->active, Nd2RequestTypeSend, TAG(i), ND_CANCELED);
}

static void release_of_a_connected_connector(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *op = new_op();
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
    expect_status(ND_PENDING, notify(&pair->passive, op));
    expect_equal(0, release_now(pair->active.connector));
    expect_status(ND_SUCCESS, wait_op(pair->passive.connector, op));
    disconnect(&pair->passive);
    expect_result(&pair->passive, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
}

static void release_of_a_connected_queue_pair(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *op = new_op();
    expect_status(ND_SUCCESS, post_receive(&pair->active, TAG(2), 0, 8));
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
    expect_status(ND_PENDING, notify(&pair->passive, op));
    expect_equal(0, release_now(pair->active.qp));
    /* Its completions outlive it. */
    expect_result(&pair->active, Nd2RequestTypeReceive, TAG(2), ND_CANCELED);
    expect_status(ND_SUCCESS, wait_op(pair->passive.connector, op));
    disconnect(&pair->passive);
    expect_result(&pair->passive, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
}

/* Sends of both ends, without Receives; an end over version 1 has no SRQ to be without them, and has Receives. */
static struct pair *pair_with_sends_under_way(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){
        .active = { .empty_srq = !row_is_v1() }, .passive = { .empty_srq = true } });
    for (int i = 0; i < 3; i++) {
        if (row_is_v1())
            expect_status(ND_SUCCESS, post_receive(&pair->active, TAG(10 + i), 0, 60000));
        expect_status(ND_SUCCESS, post_send(&pair->active, TAG(i), 0, 60000, 0));
        expect_status(ND_SUCCESS, post_send(&pair->passive, TAG(i), 0, 60000, 0));
    }
    return pair;
}

/* The active end has left: that cancels the passive end's Sends, it does not fail them. */
static void expect_passive_sends_canceled(struct pair *pair)
{
    bool canceled = !row_is_v1(); /* where there are Receives, the first ones may have arrived */
    for (int i = 0; i < 3; i++) {
        ND2_RESULT result = next_result(pair->passive.cq);
        expect_pointer(TAG(i), result.RequestContext);
        canceled |= result.Status != ND_SUCCESS;
        expect_status(canceled ? ND_CANCELED : ND_SUCCESS, result.Status);
    }
}

static void release_of_a_connector_with_sends_under_way(void)
{
    struct pair *pair = pair_with_sends_under_way();
    struct op *op = new_op();
    expect_status(ND_PENDING, notify(&pair->passive, op));
    expect_equal(0, release_now(pair->active.connector));
    expect_status(ND_SUCCESS, wait_op(pair->passive.connector, op));
    disconnect(&pair->passive);
    expect_passive_sends_canceled(pair);
    for (int i = 0; i < 3; i++)
        expect_result(&pair->active, Nd2RequestTypeSend, TAG(i), ND_CANCELED);
}

static void release_of_a_queue_pair_with_sends_under_way(void)
{
    struct pair *pair = pair_with_sends_under_way();
    struct op *op = new_op();
    expect_status(ND_PENDING, notify(&pair->passive, op));
    expect_equal(0, release_now(pair->active.qp));
    expect_status(ND_SUCCESS, wait_op(pair->passive.connector, op));
    disconnect(&pair->passive);
    expect_passive_sends_canceled(pair);
}

/* The connection is over; the objects are good for the next. */
static void queues_serve_the_next_connection(void)
{
    struct pair *pair = connected_pair(NULL);
    for (int i = 0; i < 3; i++) {
        exchange(&pair->active, &pair->passive);
        disconnect(&pair->active);
        struct end *ends[] = { &pair->active, &pair->passive };
        for (int e = 0; e < 2; e++) {
            expect_equal(0, release_now(ends[e]->qp));
            expect_equal(0, release_now(ends[e]->connector));
            ends[e]->qp = new_qp(ends[e]->node, ends[e]->cq, ends[e], 8);
        }
        pair->active.connector = new_bound_connector(pair->active.node);
        pair->passive.connector = new_connector(pair->passive.node);
        connect_ends(pair);
    }
    exchange(&pair->passive, &pair->active);
}

/* A queue pair is released while its Disconnect is under way, and only then its connector. */
static void queue_pair_goes_before_its_disconnect_has_ended(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *op = new_op();
    expect_status(ND_SUCCESS, post_receive(&pair->active, TAG(1), 0, 8));
    expect_status(ND_PENDING, CALL(pair->active.connector, Disconnect, &op->overlapped));
    expect_equal(0, release_now(pair->active.qp));
    expect_one_of(wait_op(pair->active.connector, op), ND_SUCCESS, ND_TIMEOUT);
    expect_result(&pair->active, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
}

SUITE(disconnect);
