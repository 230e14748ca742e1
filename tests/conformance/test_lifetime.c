/* SPDX-License-Identifier: MIT */
/*
 * test_lifetime.c - hostile orders of release, pending requests at the last Release, reuse of one OVERLAPPED.
 */
#include "fixture.h"

/* In the order of some conformance programs: they release an object before its users. */
static void hostile_order_of_release(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct op *op = new_op();
    struct mw *mw = new_mw(a->node);
    expect_status(ND_SUCCESS,
        CALL(a->qp, Bind, TAG(1), a->memory.mr, mw, a->memory.bytes, 64, ND_OP_FLAG_ALLOW_READ));
    expect_result(a, Nd2RequestTypeBind, TAG(1), ND_SUCCESS);
    expect_status(ND_SUCCESS, post_receive(a, TAG(2), 0, 8));
    expect_status(ND_PENDING, CALL(a->cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped));
    if (!row_is_v1())
        expect_equal(0, release_now(a->memory.mr)); /* before the window bound to it */
    expect_equal(0, release_now(mw));
    expect_equal(0, release_now(a->cq)); /* before the queue pair that uses it */
    expect_true(event_is_set(op));
    expect_status(ND_CANCELED, (HRESULT)op->overlapped.Internal);
    expect_equal(0, release_now(a->qp)); /* before its connector */
    expect_equal(0, release_now(a->connector));
    if (a->node != p->node) {
        close_file(a->node);
        expect_equal(0, release_now(a->node));
    }
}

/* The adapter first: everything else keeps it alive. */
static void adapter_is_released_first(void)
{
    struct pair *pair = new_pair(NULL);
    struct end *ends[2] = { &pair->active, &pair->passive };
    for (int e = 0; e < 2; e++) {
        if (e == 1 && ends[1]->node == ends[0]->node)
            break;
        expect_equal(0, release_now(ends[e]->node));
    }
    connect_ends(pair);
    exchange(&pair->active, &pair->passive);
    exchange(&pair->passive, &pair->active);
    disconnect(&pair->active);
}

static void queues_are_released_before_their_use(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){ .active = { .two_cqs = true } });
    struct end *a = &pair->active, *p = &pair->passive;
    expect_equal(0, release_now(a->cq));
    expect_equal(0, release_now(a->initiator_cq));
    /* The queue pair still works; its completions are lost, the peer's Receive shows it. */
    expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, 8));
    expect_status(ND_SUCCESS, post_send(a, TAG(2), 0, 8, 0));
    expect_equal(8, expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
}

/* Which requests are under way when the last reference goes, and what they come to. */

static void gone(any_object object, struct op *op)
{
    expect_status(ND_PENDING, result_of(object, op));
    expect_equal(0, release_now(object));
    /* Over, before Release has returned. */
    expect_true(event_is_set(op));
    expect_status(ND_CANCELED, (HRESULT)op->overlapped.Internal);
}

static void last_release_with_a_notify(void)
{
    struct cq *cq = new_cq(new_node(), 4);
    struct op *op = new_op();
    for (ULONG type = 0; type <= 2; type++)
        expect_status(ND_PENDING, CALL(cq, Notify, type, &new_op()->overlapped));
    expect_status(ND_PENDING, CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped));
    gone(cq, op);
}

static void last_release_with_a_connect(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *op = new_op();
    expect_status(ND_PENDING, start_connect(pair, op));
    gone(pair->active.connector, op);
}

static void last_release_with_an_accept(void)
{
    struct pair *pair = new_pair(NULL);
    pair_request(pair);
    pair_accept(pair);
    gone(pair->passive.connector, pair->accept);
    /* The peer's answer comes too late for the Accept. */
    struct op *op = new_op();
    HRESULT hr = CALL(pair->active.connector, CompleteConnect, &op->overlapped);
    (void)finish(pair->active.connector, hr, op);
}

static void last_release_with_a_notify_disconnect(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *op = new_op();
    expect_status(ND_PENDING, CALL(pair->active.connector, NotifyDisconnect, &op->overlapped));
    gone(pair->active.connector, op);
}

/* Cancelled, unless it ended in time. */
static void last_release_with_a_disconnect(void)
{
    for (int i = 0; i < 20; i++) {
        struct pair *pair = connected_pair(NULL);
        struct op *op = new_op();
        expect_status(ND_PENDING, CALL(pair->active.connector, Disconnect, &op->overlapped));
        expect_equal(0, release_now(pair->active.connector));
        expect_true(event_is_set(op));
        expect_one_of((HRESULT)op->overlapped.Internal, ND_CANCELED, ND_SUCCESS);
    }
}

static void last_release_with_a_connection_request(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *op = new_op();
    expect_status(ND_PENDING,
        CALL(pair->listener, GetConnectionRequest, pair->passive.connector, &op->overlapped));
    gone(pair->listener, op);
}

static void last_release_with_an_srq_notify(void)
{
    struct srq *srq = new_srq(new_node(), 4, 1, 0);
    struct op *op = new_op();
    expect_status(ND_PENDING, CALL(srq->v2, Notify, &op->overlapped));
    gone(srq, op);
}

static void last_release_after_a_registration(void)
{
    static BYTE buffer[64];
    struct node *node = new_node();
    for (int i = 0; i < 50; i++) {
        struct mr *mr = new_mr(node);
        struct op *op = new_op();
        expect_status(ND_PENDING, CALL(mr, Register, buffer, 64, MR_LOCAL, &op->overlapped));
        expect_equal(0, release_now(mr));
        expect_status(ND_SUCCESS, (HRESULT)op->overlapped.Internal);
    }
}

/* Nothing touches a structure after the last Release of its object: it is given new contents at once. */
static void structures_are_free_after_the_release(void)
{
    for (int i = 0; i < 30; i++) {
        struct pair *pair = new_pair(NULL);
        struct op *connect = new_op(), *request = new_op();
        expect_status(ND_PENDING, CALL(pair->listener, GetConnectionRequest,
                                      pair->passive.connector, &request->overlapped));
        expect_status(ND_PENDING, start_connect(pair, connect));
        /* The request may be arriving right now. */
        expect_equal(0, release_now(pair->active.connector));
        expect_equal(0, release_now(pair->listener));
        memset(&connect->overlapped, 0x5A, sizeof(OVERLAPPED));
        memset(&request->overlapped, 0x5A, sizeof(OVERLAPPED));
        expect_equal(0, release_now(pair->passive.connector));
        for (size_t k = 0; k < sizeof(OVERLAPPED); k++) {
            expect_equal(0x5A, ((BYTE *)&connect->overlapped)[k]);
            expect_equal(0x5A, ((BYTE *)&request->overlapped)[k]);
        }
    }
}

/* One OVERLAPPED for two requests at once, during teardown: no crash, no write to it afterwards. */
static void one_overlapped_twice(void)
{
    for (int i = 0; i < 20; i++) {
        struct pair *pair = connected_pair(NULL);
        struct end *a = &pair->active;
        struct op *op = new_op();
        expect_status(ND_PENDING, CALL(a->connector, Disconnect, &op->overlapped));
        expect_true(SUCCEEDED(CALL(a->memory.mr, Deregister, &op->overlapped)));
        if (!row_is_v1())
            expect_equal(0, release_now(a->memory.mr));
        expect_equal(0, release_now(a->cq));
        expect_equal(0, release_now(a->qp));
        expect_equal(0, release_now(a->connector));
        memset(&op->overlapped, 0x5A, sizeof(OVERLAPPED));
        struct op *other = new_op();
        HRESULT hr = CALL(pair->passive.connector, Disconnect, &other->overlapped);
        (void)finish(pair->passive.connector, hr, other);
        for (size_t k = 0; k < sizeof(OVERLAPPED); k++)
            expect_equal(0x5A, ((BYTE *)&op->overlapped)[k]);
    }
}

/* The request outlives its structure's owner's interest: the event is closed under it. */
static void event_is_closed_while_pending(void)
{
    struct cq *cq = new_cq(new_node(), 4);
    struct op *op = new_op();
    expect_status(ND_PENDING, CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped));
    close_now(op->event);
    expect_status(ND_SUCCESS, CALL(cq, CancelOverlappedRequests));
    expect_status(ND_CANCELED, result_of(cq, op));
}

static void port_is_closed_while_pending(void)
{
    struct node *node = new_node();
    struct cq *cq = new_cq(node, 4);
    HANDLE port = new_port();
    struct op *op = new_op();
    attach(port, node->file, 1);
    expect_status(ND_PENDING, CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped));
    close_now(port);
    expect_status(ND_SUCCESS, CALL(cq, CancelOverlappedRequests));
    expect_status(ND_CANCELED, wait_op(cq, op));
}

/* Threads */

struct canceller {
    struct cq *cq;
    volatile LONG stop;
};

static DWORD WINAPI cancel_for_ever(void *arg)
{
    struct canceller *canceller = arg;
    while (InterlockedExchangeAdd(&canceller->stop, 0) == 0)
        CALL(canceller->cq, CancelOverlappedRequests);
    return 0;
}

/* Whether a result comes: where a cancel won, the device may still be flushing. Ends no row: a thread of it runs. */
static bool result_comes(struct cq *cq)
{
    ND2_RESULT result;
    ULONGLONG end = GetTickCount64() + DEADLINE_MS;
    while (CALL(cq, GetResults, &result, 1) == 0) {
        if (GetTickCount64() > end)
            return false;
        SwitchToThread();
    }
    return true;
}

/* A cancel races with the completion: each request ends once, either way. */
static void cancel_races_with_completion(void)
{
    struct node *node = new_node();
    struct cq *cq = new_cq(node, 16);
    struct qp *qp = NULL;
    HANDLE port = new_port();
    struct op *op = new_op_without_event();
    struct canceller *canceller = keep_memory(sizeof(*canceller));
    canceller->cq = cq;
    attach(port, node->file, 1);
    HANDLE thread = CreateThread(NULL, 0, cancel_for_ever, canceller, 0, NULL);
    expect_true(thread != NULL);
    keep_handle(thread);
    unsigned succeeded = 0, cancelled = 0;
    bool right = true;
    for (int i = 0; i < 500 && right; i++) {
        qp = new_qp(node, cq, NULL, 1);
        right = CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped) == ND_PENDING &&
                CALL(qp, Receive, TAG(1), NULL, 0) == ND_SUCCESS && CALL(qp, Flush) == ND_SUCCESS;
        struct packet packet = take_packet(port, DEADLINE_MS);
        right = right && packet.overlapped == &op->overlapped;
        HRESULT hr = result_of(cq, op);
        succeeded += hr == ND_SUCCESS;
        cancelled += hr == ND_CANCELED;
        right = right && (hr == ND_SUCCESS || hr == ND_CANCELED) &&
                take_packet(port, 0).overlapped == NULL && result_comes(cq) && release_now(qp) == 0;
    }
    InterlockedIncrement(&canceller->stop);
    expect_equal(WAIT_OBJECT_0, WaitForSingleObject(thread, DEADLINE_MS));
    expect_true(right);
    expect_equal(500, succeeded + cancelled);
}

/* Connections made, used and torn down by several threads on one adapter. */

enum { WORKERS = 3, ROUNDS = 15 };
struct worker {
    struct node *node;
    struct address listen;
    struct listener *listener;
    bool right;
};

/* Without the fixture, whose expectations belong to the main thread. Returns whether all went as it should. */
static bool work_once(struct worker *w)
{
    OVERLAPPED ov[4];
    struct cq cq = { .unknown = NULL };
    struct qp qp[2] = { { .unknown = NULL }, { .unknown = NULL } };
    struct connector c[2] = { { .unknown = NULL }, { .unknown = NULL } };
    struct address local = with_port(w->listen, 0);
    bool right = CALL(w->node, CreateCompletionQueue, 8, &cq) == ND_SUCCESS;
    const struct qp_options options = { .receive_cq = &cq,
        .initiator_cq = &cq,
        .receive_depth = 2,
        .initiator_depth = 2,
        .receive_sge = 1,
        .initiator_sge = 1,
        .inbound_reads = 1,
        .outbound_reads = 1 };
    memset(ov, 0, sizeof(ov));
    for (int i = 0; i < 2 && right; i++)
        right = CALL(w->node, CreateQueuePair, &options, &qp[i]) == ND_SUCCESS &&
                CALL(w->node, CreateConnector, &c[i]) == ND_SUCCESS;
    right = right &&
            (w->node->lpVtbl == &dialect_v1 ||
                CALL(c[0].v2, Bind, &local.any, local.length) == ND_SUCCESS) &&
            CALL(w->listener, GetConnectionRequest, &c[1], &ov[0]) == ND_PENDING &&
            CALL(&c[0], Connect, &qp[0], &w->listen.any, w->listen.length, 1, 1, NULL, 0, &ov[1]) ==
                ND_PENDING &&
            CALL(w->listener, GetOverlappedResult, &ov[0], TRUE) == ND_SUCCESS &&
            CALL(&c[1], Accept, &qp[1], 1, 1, NULL, 0, &ov[2]) == ND_PENDING;
    IUnknown *const made[] = { c[0].unknown, c[1].unknown, qp[0].unknown, qp[1].unknown,
        cq.unknown };
    for (int i = 0; i < 5; i++)
        if (made[i])
            CALL(made[i], Release);
    return right;
}

static DWORD WINAPI work(void *arg)
{
    struct worker *worker = arg;
    worker->right = true;
    for (int i = 0; i < ROUNDS && worker->right; i++)
        worker->right = work_once(worker);
    return 0;
}

static void threads_connect_and_release(void)
{
    struct node *node = new_node();
    struct worker *workers = keep_memory(WORKERS * sizeof(*workers));
    HANDLE threads[WORKERS];
    for (int i = 0; i < WORKERS; i++) {
        workers[i].node = node;
        workers[i].listener = new_listening(node, 0, &workers[i].listen);
        threads[i] = CreateThread(NULL, 0, work, &workers[i], 0, NULL);
        expect_true(threads[i] != NULL);
        keep_handle(threads[i]);
    }
    expect_equal(WAIT_OBJECT_0, WaitForMultipleObjects(WORKERS, threads, TRUE, 3 * DEADLINE_MS));
    for (int i = 0; i < WORKERS; i++)
        expect_true(workers[i].right);
}

SUITE(lifetime);
