/* SPDX-License-Identifier: MIT */
/*
 * test_overlapped.c - the life of one OVERLAPPED: events, ports, order, exact errors, for clients of either habit.
 */
#include "fixture.h"

static BYTE buffer[64];

static HRESULT start_register(struct mr *mr, struct op *op)
{
    return CALL(mr, Register, buffer, sizeof(buffer), MR_LOCAL, &op->overlapped);
}

static HRESULT start_deregister(struct mr *mr, struct op *op)
{
    return CALL(mr, Deregister, &op->overlapped);
}

static HRESULT start_notify(struct cq *cq, struct op *op)
{
    return CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped);
}

/* Both habits */

/*
 * A method that finishes at once says ND_PENDING and has completed: right for a client that waits after every
 * non-failure, and for one that expects nothing more after ND_SUCCESS.
 */
static void never_success_at_once(void)
{
    struct pair *pair = new_pair(NULL);
    struct end *a = &pair->active;
    struct mr *mr = new_mr(a->node);
    struct op *op = new_op();
    expect_status(ND_PENDING, start_register(mr, op));
    expect_true(event_is_set(op));
    expect_status(ND_SUCCESS, result_of(mr, op));
    expect_status(ND_PENDING, start_deregister(mr, op));
    expect_true(event_is_set(op));
    expect_status(ND_SUCCESS, result_of(mr, op));

    /* A Notify that has ended. */
    expect_status(ND_SUCCESS, post_receive(a, TAG(1), 0, 8));
    expect_status(ND_SUCCESS, CALL(a->qp, Flush));
    expect_status(ND_PENDING, start_notify(a->cq, op));
    expect_true(event_is_set(op));
    expect_status(ND_SUCCESS, result_of(a->cq, op));
}

static void connection_calls_never_succeed_at_once(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *request = new_op(), *connect = new_op(), *accept = new_op(), *complete = new_op();
    struct op *notify = new_op(), *disconnect = new_op(), *late = new_op();
    struct connector *a = pair->active.connector, *p = pair->passive.connector;
    expect_status(ND_PENDING, start_connect(pair, connect));
    expect_status(ND_PENDING, CALL(pair->listener, GetConnectionRequest, p, &request->overlapped));
    expect_status(ND_SUCCESS, wait_op(pair->listener, request));
    expect_status(ND_PENDING, start_accept(pair, accept));
    expect_status(ND_SUCCESS, wait_op(a, connect));
    expect_status(ND_PENDING, CALL(a, CompleteConnect, &complete->overlapped));
    expect_status(ND_SUCCESS, wait_op(a, complete));
    expect_status(ND_SUCCESS, wait_op(p, accept));
    expect_status(ND_PENDING, CALL(p, NotifyDisconnect, &notify->overlapped));
    expect_status(ND_PENDING, CALL(a, Disconnect, &disconnect->overlapped));
    expect_status(ND_SUCCESS, wait_op(a, disconnect));
    expect_status(ND_SUCCESS, wait_op(p, notify));
    /* The peer has left: both finish at once. */
    expect_status(ND_PENDING, CALL(p, NotifyDisconnect, &late->overlapped));
    expect_true(event_is_set(late));
    expect_status(ND_SUCCESS, result_of(p, late));
    expect_status(ND_PENDING, CALL(p, Disconnect, &late->overlapped));
    expect_status(ND_SUCCESS, wait_op(p, late));
}

/* What some programs expect: one packet per request that did not fail, pending or not. */
static void one_packet_for_each_non_failure(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *ops[6];
    HANDLE port = new_port();
    struct connector *a = pair->active.connector, *p = pair->passive.connector;
    attach(port, pair->active.node->file, 1);
    if (pair->passive.node != pair->active.node)
        attach(port, pair->passive.node->file, 2);
    ULONG_PTR key = pair->passive.node != pair->active.node ? 2 : 1;
    for (int i = 0; i < 6; i++)
        ops[i] = new_op_without_event();
    expect_true(SUCCEEDED(CALL(pair->listener, GetConnectionRequest, p, &ops[0]->overlapped)));
    expect_true(SUCCEEDED(start_connect(pair, ops[1])));
    expect_packet(port, key, ops[0], 0);
    expect_true(SUCCEEDED(start_accept(pair, ops[2])));
    /* Packets of Connect, CompleteConnect and Accept; on some devices the Accept does not wait for the others. */
    unsigned seen = 0;
    while (seen != 7) {
        struct packet packet = take_packet(port, DEADLINE_MS);
        unsigned old = seen;
        expect_true(packet.ok);
        for (int i = 1; i < 4; i++)
            if (packet.overlapped == &ops[i]->overlapped)
                seen |= 1u << (i - 1);
        expect_true(seen != old);
        if (packet.overlapped == &ops[1]->overlapped)
            expect_true(SUCCEEDED(CALL(a, CompleteConnect, &ops[3]->overlapped)));
    }
    expect_true(SUCCEEDED(CALL(p, Disconnect, &ops[4]->overlapped)));
    expect_packet(port, key, ops[4], 0);
    expect_no_packet(port);
}

/* The structure */

static void pending_structure(void)
{
    struct cq *cq = new_cq(new_node(), 4);
    struct op *op = new_op(); /* filled with rubbish */
    OVERLAPPED before = op->overlapped;
    SetEvent(op->event);
    expect_status(ND_PENDING, start_notify(cq, op));
    expect_equal(SPEC_ND_PENDING, op->overlapped.Internal);
    expect_equal(0, op->overlapped.InternalHigh);
    expect_pointer(before.hEvent, op->overlapped.hEvent);
    expect_equal(before.Offset, op->overlapped.Offset);
    expect_equal(before.OffsetHigh, op->overlapped.OffsetHigh);
    expect_true(!event_is_set(op)); /* reset at the start */
    expect_status(ND_PENDING, result_of(cq, op));
    expect_status(ND_SUCCESS, CALL(cq, CancelOverlappedRequests));
    expect_equal(SPEC_ND_CANCELED, (ULONG)op->overlapped.Internal);
    expect_equal(0, op->overlapped.InternalHigh);
    expect_true(event_is_set(op));
}

static void finished_structure(void)
{
    struct mr *mr = new_mr(new_node());
    struct op *op = new_op();
    expect_status(ND_PENDING, start_register(mr, op));
    expect_status(ND_SUCCESS, wait_op(mr, op));
    expect_equal(0, op->overlapped.Internal);
    expect_equal(0, op->overlapped.InternalHigh);
    /* Asked as often as one likes, waiting or not: the answer is there. */
    expect_status(ND_SUCCESS, result_of(mr, op));
    expect_status(ND_SUCCESS, CALL(mr, GetOverlappedResult, &op->overlapped, TRUE));
}

static void immediate_error_leaves_everything_alone(void)
{
    struct node *node = new_node();
    struct mr *mr = new_mr(node);
    struct cq *cq = new_cq(node, 4);
    struct connector *connector = new_connector(node);
    HANDLE port = new_port();
    attach(port, node->file, 3);
    for (int set = 0; set < 2; set++) {
        struct op *op = new_op();
        OVERLAPPED before = op->overlapped;
        if (set)
            SetEvent(op->event);
        expect_status(V2_V1(ND_INVALID_DEVICE_STATE, ND_INVALID_HANDLE), start_deregister(mr, op));
        expect_status(ND_INVALID_PARAMETER, CALL(cq, Notify, 9, &op->overlapped));
        expect_status(ND_CONNECTION_INVALID, CALL(connector, Disconnect, &op->overlapped));
        expect_status(ND_CONNECTION_INVALID, CALL(connector, NotifyDisconnect, &op->overlapped));
        expect_status(ND_CONNECTION_INVALID, CALL(connector, CompleteConnect, &op->overlapped));
        expect_equal(0, memcmp(&before, &op->overlapped, sizeof(before)));
        expect_equal(set, event_is_set(op));
    }
    expect_no_packet(port);
}

/* Events and ports */

static void tagged_event_suppresses_the_packet(void)
{
    struct node *node = new_node();
    struct mr *mr = new_mr(node);
    struct cq *cq = new_cq(node, 4);
    HANDLE port = new_port();
    struct op *tagged = new_op_tagged(), *plain = new_op();
    attach(port, node->file, 4);
    expect_status(ND_PENDING, start_register(mr, tagged));
    expect_true(event_is_set(tagged));
    expect_status(ND_PENDING, start_notify(cq, tagged));
    expect_true(!event_is_set(tagged));
    expect_status(ND_SUCCESS, CALL(cq, CancelOverlappedRequests));
    expect_true(event_is_set(tagged));
    expect_status(ND_CANCELED, CALL(cq, GetOverlappedResult, &tagged->overlapped, TRUE));
    expect_no_packet(port);
    /* Without the tag the event is set and a packet comes. */
    expect_status(ND_PENDING, start_deregister(mr, plain));
    expect_true(event_is_set(plain));
    expect_packet(port, 4, plain, 0);
}

static void no_event_and_no_port(void)
{
    struct node *node = new_node();
    struct mr *mr = new_mr(node);
    struct cq *cq = new_cq(node, 4);
    struct op *op = new_op_without_event();
    expect_status(ND_PENDING, start_register(mr, op));
    expect_status(ND_SUCCESS, CALL(mr, GetOverlappedResult, &op->overlapped, TRUE));
    expect_status(ND_PENDING, start_notify(cq, op));
    expect_status(ND_PENDING, result_of(cq, op));
    expect_status(ND_SUCCESS, CALL(cq, CancelOverlappedRequests));
    expect_status(ND_CANCELED, result_of(cq, op));
    expect_status(ND_CANCELED, CALL(cq, GetOverlappedResult, &op->overlapped, TRUE));
}

struct waiter {
    struct cq *cq;
    struct op *op;
    HANDLE started;
    HRESULT result;
};

static DWORD WINAPI wait_for_result(void *arg)
{
    struct waiter *waiter = arg;
    SetEvent(waiter->started);
    waiter->result = CALL(waiter->cq, GetOverlappedResult, &waiter->op->overlapped, TRUE);
    return 0;
}

/* The waiting form, in a thread of its own; ended by a cancel or by a message. */
static void waiting_form(struct op *op, bool message)
{
    struct pair *pair = connected_pair(NULL);
    struct cq *cq = pair->passive.cq;
    struct waiter *waiter = keep_memory(sizeof(*waiter));
    *waiter = (struct waiter){ cq, op, CreateEventA(NULL, TRUE, FALSE, NULL), E_NOTIMPL };
    keep_handle(waiter->started);
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
    expect_status(ND_PENDING, start_notify(cq, op));
    HANDLE thread = CreateThread(NULL, 0, wait_for_result, waiter, 0, NULL);
    expect_true(thread != NULL);
    keep_handle(thread);
    expect_equal(WAIT_OBJECT_0, WaitForSingleObject(waiter->started, DEADLINE_MS));
    if (message)
        expect_status(ND_SUCCESS, post_send(&pair->active, TAG(2), 0, 8, 0));
    else
        expect_status(ND_SUCCESS, CALL(cq, CancelOverlappedRequests));
    expect_equal(WAIT_OBJECT_0, WaitForSingleObject(thread, DEADLINE_MS));
    expect_status(message ? ND_SUCCESS : ND_CANCELED, waiter->result);
}

static void result_waits(void)
{
    for (int message = 0; message < 2; message++) {
        waiting_form(new_op(), message);
        waiting_form(new_op_auto(), message);
        waiting_form(new_op_tagged(), message);
        waiting_form(new_op_without_event(), message);
    }
}

/* The program has consumed an auto-reset event: the result is final, so GetOverlappedResult does not wait again. */
static void auto_reset_event(void)
{
    struct mr *mr = new_mr(new_node());
    struct op *op = new_op_auto();
    expect_status(ND_PENDING, start_register(mr, op));
    expect_equal(WAIT_OBJECT_0, WaitForSingleObject(op->event, DEADLINE_MS));
    expect_equal(WAIT_TIMEOUT, WaitForSingleObject(op->event, 0));
    expect_status(ND_SUCCESS, CALL(mr, GetOverlappedResult, &op->overlapped, TRUE));
    expect_status(ND_PENDING, start_deregister(mr, op));
    expect_equal(WAIT_OBJECT_0, WaitForSingleObject(op->event, DEADLINE_MS));
    expect_status(ND_SUCCESS, result_of(mr, op));
}

static void port_attached_late(void)
{
    struct node *node = new_node();
    struct cq *cq = new_cq(node, 4);
    struct mr *mr = new_mr(node);
    struct op *before = new_op(), *pending = new_op(), *after = new_op();
    HANDLE port = new_port();
    expect_status(ND_PENDING, start_register(mr, before));
    expect_status(ND_SUCCESS, wait_op(mr, before));
    expect_status(ND_PENDING, start_notify(cq, pending));
    attach(port, node->file, 21);
    expect_no_packet(port); /* `before` had ended: no packet */
    expect_status(ND_SUCCESS, CALL(cq, CancelOverlappedRequests));
    expect_packet(port, 21, pending, 995);
    expect_status(ND_PENDING, start_deregister(mr, after));
    expect_packet(port, 21, after, 0);
}

static void two_files_one_port(void)
{
    struct node *first = new_node(), *second = new_node();
    HANDLE port = new_port(), third = NULL;
    struct mr *mr[3], of_third = { .lpVtbl = &dialect_v2, .node = first };
    struct op *op = new_op_without_event();
    expect_status(ND_SUCCESS, CALL(first->v2, CreateOverlappedFile, &third));
    keep_handle(third);
    attach(port, first->file, 101);
    attach(port, second->file, 102);
    attach(port, third, 103);
    mr[0] = new_mr(first);
    mr[1] = new_mr(second);
    expect_status(ND_SUCCESS,
        CALL(first->v2, CreateMemoryRegion, &IID_IND2MemoryRegion, third, (void **)&of_third.v2));
    keep_object(of_third.unknown);
    mr[2] = &of_third;
    for (int i = 0; i < 3; i++) {
        expect_status(ND_PENDING, start_register(mr[i], op));
        expect_packet(port, 101 + (ULONG_PTR)i, op, 0);
    }
}

/* A file belongs to one port for its life. */
static void second_port_for_a_file(void)
{
    struct node *node = new_node();
    HANDLE first = new_port(), second = new_port();
    attach(first, node->file, 1);
    expect_pointer(NULL, CreateIoCompletionPort(node->file, second, 2, 0));
    expect_equal(SPEC_ERROR_INVALID_PARAMETER, GetLastError());
}

static void user_packets_pass(void)
{
    struct node *node = new_node();
    HANDLE port = new_port();
    struct mr *mr = new_mr(node);
    struct op *op = new_op_without_event();
    OVERLAPPED own;
    attach(port, node->file, 1);
    expect_true(PostQueuedCompletionStatus(port, 12, 34, NULL));
    expect_status(ND_PENDING, start_register(mr, op));
    expect_true(PostQueuedCompletionStatus(port, 56, 78, &own));
    struct packet packet = take_packet(port, DEADLINE_MS);
    expect_true(packet.ok);
    expect_equal(12, packet.bytes);
    expect_equal(34, packet.key);
    expect_pointer(NULL, packet.overlapped);
    expect_packet(port, 1, op, 0);
    packet = take_packet(port, DEADLINE_MS);
    expect_true(packet.ok);
    expect_equal(56, packet.bytes);
    expect_equal(78, packet.key);
    expect_pointer(&own, packet.overlapped);
}

static void several_packets_at_once(void)
{
    struct node *node = new_node();
    HANDLE port = new_port();
    struct cq *cq = new_cq(node, 4);
    struct op *ops[4];
    OVERLAPPED_ENTRY entries[8];
    ULONG count = 0;
    attach(port, node->file, 7);
    for (int i = 0; i < 4; i++)
        expect_status(ND_PENDING, start_notify(cq, ops[i] = new_op_without_event()));
    expect_status(ND_SUCCESS, CALL(cq, CancelOverlappedRequests));
    expect_true(GetQueuedCompletionStatusEx(port, entries, 8, &count, DEADLINE_MS, FALSE));
    expect_equal(4, count);
    for (int i = 0; i < 4; i++) {
        expect_pointer(&ops[i]->overlapped, entries[i].lpOverlapped);
        expect_equal(7, entries[i].lpCompletionKey);
        expect_status(ND_CANCELED, result_of(cq, ops[i]));
    }
}

/* Errors as the port reports them */

static void dequeued_error_of_a_refusal(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *op = new_op_without_event();
    HANDLE port = new_port();
    attach(port, pair->active.node->file, 1);
    stop_listening(pair);
    expect_status(ND_PENDING, start_connect(pair, op));
    expect_packet(port, 1, op, 1225); /* ERROR_CONNECTION_REFUSED */
    expect_status(ND_CONNECTION_REFUSED, result_of(pair->active.connector, op));
}

static void dequeued_error_of_a_local_disconnect(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *notify = new_op_without_event(), *op = new_op_without_event();
    struct connector *connector = pair->active.connector;
    HANDLE port = new_port();
    attach(port, pair->active.node->file, 1);
    expect_status(ND_PENDING, CALL(connector, NotifyDisconnect, &notify->overlapped));
    expect_status(ND_PENDING, CALL(connector, Disconnect, &op->overlapped));
    expect_packet(
        port, 1, notify, V2_V1(64, 995)); /* ERROR_NETNAME_DELETED, ERROR_OPERATION_ABORTED */
    expect_status(V2_V1(NT_CONNECTION_DISCONNECTED, ND_CANCELED), result_of(connector, notify));
    expect_packet(port, 1, op, 0);
}

static void dequeued_error_of_an_overrun(void)
{
    enum { TOO_MANY = 200 }; /* results for a queue made for one, which has room for more */
    struct pair *pair = connected_pair(
        &(struct pair_options){ .active = { .initiator_depth = TOO_MANY, .cq_depth = TOO_MANY },
            .passive = { .cq_depth = 1, .receive_depth = TOO_MANY } });
    struct cq *cq = pair->passive.cq;
    struct op *op = new_op_without_event();
    HANDLE port = new_port();
    attach(port, pair->passive.node->file, 1);
    expect_status(ND_PENDING, CALL(cq, Notify, ND_CQ_NOTIFY_ERRORS, &op->overlapped));
    for (int i = 0; i < TOO_MANY; i++)
        expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(i), 0, 8));
    for (int i = 0; i < TOO_MANY; i++)
        expect_status(ND_SUCCESS, post_send(&pair->active, TAG(i), 0, 8, 0));
    expect_packet(port, 1, op, SPEC_ERROR_MORE_DATA); /* ND_BUFFER_OVERFLOW counts as a failure */
    expect_status(ND_BUFFER_OVERFLOW, result_of(cq, op));
}

/* Which object a request belongs to */

static void any_region_tells_the_result(void)
{
    struct node *node = new_node();
    struct mr *mr = new_mr(node), *other = new_mr(node);
    struct op *op = new_op();
    expect_status(ND_PENDING, start_register(mr, op));
    expect_status(ND_SUCCESS, wait_op(mr, op));
    expect_status(ND_SUCCESS, result_of(other, op));
    expect_status(ND_SUCCESS, CALL(other, GetOverlappedResult, &op->overlapped, TRUE));
    expect_equal(0, release_now(mr));
    expect_status(ND_SUCCESS, result_of(other, op));
}

static void cancel_touches_its_own_object_only(void)
{
    struct node *node = new_node();
    struct cq *first = new_cq(node, 4), *second = new_cq(node, 4);
    struct op *op1 = new_op(), *op2 = new_op();
    expect_status(ND_PENDING, start_notify(first, op1));
    expect_status(ND_PENDING, start_notify(second, op2));
    expect_status(ND_SUCCESS, CALL(first, CancelOverlappedRequests));
    expect_status(ND_CANCELED, result_of(first, op1));
    expect_status(ND_PENDING, result_of(second, op2));
}

/* A request that ended just before keeps its own status. */
static void cancel_after_the_end(void)
{
    struct mr *mr = new_mr(new_node());
    struct op *op = new_op();
    expect_status(ND_PENDING, start_register(mr, op));
    expect_status(ND_SUCCESS, CALL(mr, CancelOverlappedRequests));
    expect_status(ND_SUCCESS, result_of(mr, op));
}

static void null_overlapped(void)
{
    struct pair *pair = connected_pair(NULL);
    struct cq *cq = pair->active.cq;
    expect_true(FAILED(CALL(cq, Notify, ND_CQ_NOTIFY_ANY, NULL)));
    expect_true(FAILED(CALL(pair->active.connector, NotifyDisconnect, NULL)));
    expect_true(FAILED(CALL(pair->active.connector, Disconnect, NULL)));
    expect_true(FAILED(
        CALL(pair->listener, GetConnectionRequest, new_connector(pair->passive.node), NULL)));
    exchange(&pair->active, &pair->passive); /* nothing has happened */
}

SUITE(overlapped);
