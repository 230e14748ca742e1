/* SPDX-License-Identifier: MIT */
/*
 * test_closing.c - the program closes the overlapped file, of version 1 the adapter's, too: what is pending on it is
 * cancelled, what begins afterwards is refused, everything without an OVERLAPPED goes on.
 *
 * That a request is cancelled may show a moment after CloseHandle has returned, so each is waited for.
 */
#include "fixture.h"

static BYTE buffer[64];

/* The file is closed under a request, which says so in its structure, its event and the port. */
static void close_under(struct node *node, any_object object, struct op *op)
{
    expect_status(ND_PENDING, result_of(object, op));
    close_file(node);
    expect_status(ND_CANCELED, wait_op(object, op));
    expect_equal(SPEC_ND_CANCELED, (ULONG)op->overlapped.Internal);
}

static void with_a_notify(void)
{
    struct node *node = new_node();
    struct cq *cq = new_cq(node, 4);
    struct op *ops[3] = { new_op(), new_op(), new_op() };
    HANDLE port = new_port();
    attach(port, node->file, 5);
    for (ULONG type = 0; type <= 2; type++)
        expect_status(ND_PENDING, CALL(cq, Notify, type, &ops[type]->overlapped));
    close_under(node, cq, ops[2]);
    for (int i = 0; i < 3; i++) /* in the order of their issue */
        expect_packet(port, 5, ops[i], 995);
    expect_status(ND_CANCELED, result_of(cq, ops[0]));
    expect_status(ND_CANCELED, result_of(cq, ops[1]));
}

static void with_a_connection_request(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *op = new_op();
    expect_status(ND_PENDING,
        CALL(pair->listener, GetConnectionRequest, pair->passive.connector, &op->overlapped));
    close_under(pair->passive.node, pair->listener, op);
}

static void with_a_connect(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *op = new_op();
    expect_status(ND_PENDING, start_connect(pair, op));
    close_under(pair->active.node, pair->active.connector, op);
}

static void with_an_accept(void)
{
    struct pair *pair = new_pair(NULL);
    pair_request(pair);
    pair_accept(pair);
    close_under(pair->passive.node, pair->passive.connector, pair->accept);
}

/* The connection itself goes on. */
static void with_a_notify_disconnect(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct op *op = new_op();
    expect_status(ND_PENDING, CALL(p->connector, NotifyDisconnect, &op->overlapped));
    close_under(p->node, p->connector, op);
    expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, 8));
    expect_status(ND_SUCCESS, post_send(a, TAG(2), 0, 8, 0));
    expect_status(ND_SUCCESS, poll_result(p->cq).Status);
    expect_status(ND_SUCCESS, poll_result(a->cq).Status);
}

static void with_an_srq_notify(void)
{
    struct node *node = new_node();
    struct srq *srq = new_srq(node, 4, 1, 0);
    struct op *op = new_op();
    expect_status(ND_PENDING, CALL(srq->v2, Notify, &op->overlapped));
    close_under(node, srq, op);
}

/* Every object of the file, each in its own way. */
static void many_objects(void)
{
    enum { MANY = 8 };
    struct pair *pair = new_pair(NULL);
    struct node *node = pair->passive.node;
    struct cq *cqs[MANY];
    struct op *notifies[MANY], *requests[MANY];
    for (int i = 0; i < MANY; i++) {
        cqs[i] = new_cq(node, 4);
        notifies[i] = new_op();
        requests[i] = new_op();
        expect_status(ND_PENDING, CALL(cqs[i], Notify, ND_CQ_NOTIFY_ANY, &notifies[i]->overlapped));
        expect_status(ND_PENDING, CALL(pair->listener, GetConnectionRequest, new_connector(node),
                                      &requests[i]->overlapped));
    }
    close_file(node);
    for (int i = 0; i < MANY; i++) {
        expect_status(ND_CANCELED, wait_op(cqs[i], notifies[i]));
        expect_status(ND_CANCELED, wait_op(pair->listener, requests[i]));
    }
}

/* Refused requests have no effect, neither on their OVERLAPPED nor on its event. */
static void later_requests_are_refused(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active;
    struct op *pending = new_op(), *op = new_op();
    struct mr *mr = new_mr(a->node);
    OVERLAPPED before = op->overlapped;
    expect_status(ND_PENDING, CALL(a->cq, Notify, ND_CQ_NOTIFY_ANY, &pending->overlapped));
    SetEvent(op->event);
    close_under(a->node, a->cq, pending);
    expect_status(ND_INVALID_HANDLE, CALL(a->cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped));
    expect_status(
        ND_INVALID_HANDLE, CALL(mr, Register, buffer, sizeof(buffer), MR_LOCAL, &op->overlapped));
    expect_status(ND_INVALID_HANDLE, CALL(a->connector, NotifyDisconnect, &op->overlapped));
    expect_status(ND_INVALID_HANDLE, CALL(a->connector, Disconnect, &op->overlapped));
    expect_equal(0, memcmp(&before, &op->overlapped, sizeof(before)));
    expect_true(event_is_set(op));
    /* Not even the Disconnect: the connection is there. */
    expect_status(ND_SUCCESS, post_receive(a, TAG(1), 0, 8));
    expect_status(ND_SUCCESS, post_send(&pair->passive, TAG(2), 0, 8, 0));
    expect_status(ND_SUCCESS, poll_result(a->cq).Status);
}

/* The last handle counts, whichever that is. */
static void duplicate_keeps_the_requests(void)
{
    struct node *node = new_node();
    struct cq *cq = new_cq(node, 4);
    struct qp *qp = new_qp(node, cq, NULL, 1);
    struct op *first = new_op(), *second = new_op();
    HANDLE duplicate = NULL, port = new_port();
    attach(port, node->file, 6);
    expect_true(DuplicateHandle(GetCurrentProcess(), node->file, GetCurrentProcess(), &duplicate, 0,
        FALSE, DUPLICATE_SAME_ACCESS));
    expect_status(ND_PENDING, CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &first->overlapped));
    close_file(node);
    expect_status(ND_PENDING, result_of(cq, first));
    expect_status(ND_SUCCESS, CALL(qp, Receive, TAG(1), NULL, 0));
    expect_status(ND_SUCCESS, CALL(qp, Flush));
    expect_status(ND_SUCCESS, wait_op(cq, first));
    expect_packet(port, 6, first, 0);
    expect_status(ND_CANCELED, poll_result(cq).Status);

    expect_status(ND_PENDING, CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &second->overlapped));
    expect_true(CloseHandle(duplicate));
    expect_status(ND_CANCELED, wait_op(cq, second));
    expect_packet(port, 6, second, 995);
}

/* A file of its own for some objects: the others' requests stay. */
static void other_files_keep_their_requests(void)
{
    struct node *node = new_node();
    struct cq *cq = new_cq(node, 4), other = { .lpVtbl = &dialect_v2, .node = node };
    struct op *op = new_op(), *kept = new_op();
    HANDLE file = NULL;
    expect_status(ND_SUCCESS, CALL(node->v2, CreateOverlappedFile, &file));
    keep_handle(file);
    expect_status(ND_SUCCESS, CALL(node->v2, CreateCompletionQueue, &IID_IND2CompletionQueue, file,
                                  4, 0, 0, (VOID **)&other.v2));
    keep_object(other.v2);
    expect_status(ND_PENDING, CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped));
    expect_status(ND_PENDING, CALL(&other, Notify, ND_CQ_NOTIFY_ANY, &kept->overlapped));
    close_under(node, cq, op);
    expect_status(ND_PENDING, result_of(&other, kept));
    expect_status(ND_SUCCESS, CALL(&other, CancelOverlappedRequests));
    expect_status(ND_CANCELED, result_of(&other, kept));
}

/* Requests that begin while the handle is being closed: none stays. */

enum { RACES = 15 };

struct racer {
    struct cq *cq;
    struct op *op;
    HANDLE going;
    HRESULT last;
    unsigned wrong;
};

static DWORD WINAPI notify_until_refused(void *arg)
{
    struct racer *racer = arg;
    for (;;) {
        racer->last = CALL(racer->cq, Notify, ND_CQ_NOTIFY_ANY, &racer->op->overlapped);
        SetEvent(racer->going);
        if (racer->last != ND_PENDING)
            return 0;
        if (WaitForSingleObject(racer->op->event, DEADLINE_MS) != WAIT_OBJECT_0)
            return ++racer->wrong;
        racer->wrong += (ULONG)racer->op->overlapped.Internal != SPEC_ND_CANCELED;
    }
}

static void races_with_new_requests(void)
{
    for (int i = 0; i < RACES; i++) {
        struct node *node = new_node();
        struct racer *racer = keep_memory(sizeof(*racer));
        HANDLE thread;
        *racer = (struct racer){
            .cq = new_cq(node, 4), .op = new_op(), .going = CreateEventA(NULL, TRUE, FALSE, NULL)
        };
        keep_handle(racer->going);
        thread = CreateThread(NULL, 0, notify_until_refused, racer, 0, NULL);
        expect_true(thread != NULL);
        keep_handle(thread);
        expect_equal(WAIT_OBJECT_0, WaitForSingleObject(racer->going, DEADLINE_MS));
        for (int k = 0; k < i % 4; k++) /* now under one, now between two */
            CALL(racer->cq, CancelOverlappedRequests);
        close_file(node);
        expect_equal(WAIT_OBJECT_0, WaitForSingleObject(thread, DEADLINE_MS));
        expect_equal(0, racer->wrong);
        expect_status(ND_INVALID_HANDLE, racer->last);
    }
}

/* The objects go while the file is being closed. */
static DWORD WINAPI close_handle(void *arg)
{
    return CloseHandle(arg);
}

static void races_with_the_last_release(void)
{
    for (int i = 0; i < RACES; i++) {
        struct node *node = new_node();
        struct cq *cq = new_cq(node, 4);
        struct op *op = new_op();
        HANDLE file = node->file, duplicate = NULL, thread;
        expect_true(DuplicateHandle(GetCurrentProcess(), file, GetCurrentProcess(), &duplicate, 0,
            FALSE, DUPLICATE_SAME_ACCESS));
        expect_status(ND_PENDING, CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped));
        close_file(node);
        thread = CreateThread(NULL, 0, close_handle, duplicate, 0, NULL);
        expect_true(thread != NULL);
        keep_handle(thread);
        expect_equal(0, release_now(cq));
        expect_true(event_is_set(op));
        expect_status(ND_CANCELED, (HRESULT)op->overlapped.Internal);
        expect_equal(WAIT_OBJECT_0, WaitForSingleObject(thread, DEADLINE_MS));
    }
}

SUITE(closing);
