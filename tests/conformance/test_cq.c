/* SPDX-License-Identifier: MIT */
/*
 * test_cq.c - IND2CompletionQueue without Notify: results, depth, resizing, overrun.
 */
#include "fixture.h"

/* count results on a queue, without a connection: Receives that are flushed. Contexts are TAG(first) on. */
static void add_results(struct node *node, struct cq *cq, int first, int count)
{
    struct qp *qp = new_qp(node, cq, TAG(9999), (ULONG)count);
    for (int i = 0; i < count; i++)
        expect_status(ND_SUCCESS, CALL(qp, Receive, TAG(first + i), NULL, 0));
    expect_status(ND_SUCCESS, CALL(qp, Flush));
}

static void results_come_in_arrays(void)
{
    struct node *node = new_node();
    struct cq *cq = new_cq(node, 16);
    ND2_RESULT results[16];
    expect_equal(0, CALL(cq, GetResults, results, 16));
    add_results(node, cq, 0, 10);
    expect_equal(0, CALL(cq, GetResults, results, 0));
    expect_equal(1, next_results(cq, results, 1, 1));
    expect_pointer(TAG(0), results[0].RequestContext);
    expect_equal(4, next_results(cq, results, 4, 4));
    for (int i = 0; i < 4; i++)
        expect_pointer(TAG(1 + i), results[i].RequestContext);
    memset(results, 0xCC, sizeof(results));
    expect_equal(5, next_results(cq, results, 16, 5));
    for (int i = 0; i < 5; i++)
        expect_pointer(TAG(5 + i), results[i].RequestContext);
    for (size_t i = 5 * sizeof(results[0]); i < sizeof(results); i++)
        expect_equal(0xCC, ((BYTE *)results)[i]); /* no more is written than the count returned */
    expect_equal(0, CALL(cq, GetResults, results, 16));
}

static void result_of_each_kind(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){ .active = { .two_cqs = true } });
    struct end *a = &pair->active, *p = &pair->passive;
    struct mw *mw = new_mw(a->node);
    const UINT32 token = remote_token(p); /* before p's queue holds other results */
    expect_status(ND_SUCCESS, post_receive(p, TAG(0), 0, 64));
    expect_status(ND_SUCCESS, post_send(a, TAG(1), 0, 64, 0));
    expect_status(ND_SUCCESS,
        CALL(a->qp, Bind, TAG(2), a->memory.mr, mw, a->memory.bytes, 8, ND_OP_FLAG_ALLOW_READ));
    expect_status(ND_SUCCESS, CALL(a->qp, Invalidate, TAG(3), mw, 0));
    expect_status(ND_SUCCESS, post_read(a, TAG(4), 0, 8, p->memory.bytes, token, 0));
    expect_status(ND_SUCCESS, post_write(a, TAG(5), 0, 8, p->memory.bytes, token, 0));
    expect_equal(64, expect_result(p, Nd2RequestTypeReceive, TAG(0), ND_SUCCESS));
    static const int types[] = { 1, 2, 3, 4, 5 }; /* the published numbers */
    for (int i = 0; i < 5; i++) {
        ND2_RESULT result = next_result(a->initiator_cq);
        expect_equal(types[i], result.RequestType);
        expect_pointer(TAG(1 + i), result.RequestContext);
        expect_pointer(a, result.QueuePairContext);
        expect_status(ND_SUCCESS, result.Status);
    }
}

static void depth_smaller_than_its_queue_pairs(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){
        .active = { .cq_depth = 2, .receive_depth = 64, .initiator_depth = 64 } });
    for (int i = 0; i < 64; i++)
        expect_status(ND_SUCCESS, post_receive(&pair->active, TAG(i), 0, 8));
    for (int i = 0; i < 64; i++) {
        expect_status(ND_SUCCESS, post_send(&pair->passive, TAG(i), 0, 8, 0));
        expect_result(&pair->active, Nd2RequestTypeReceive, TAG(i), ND_SUCCESS);
        expect_result(&pair->passive, Nd2RequestTypeSend, TAG(i), ND_SUCCESS);
    }
}

/*
 * The server of a Microsoft sample (ndpingpong, ndping -b) makes its completion queue as deep as its Receives, and at
 * its end looks at none of their results before all are flushed, behind a Send: cards round a depth up, so it ends.
 */
static void as_deep_as_its_receives(void)
{
    static const ULONG depths[] = { 1, 127, 1023 };
    for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
        const ULONG n = depths[i];
        struct pair *pair = connected_pair(&(struct pair_options){
            .passive = { .cq_depth = n, .receive_depth = n, .initiator_depth = 1 } });
        struct end *a = &pair->active, *p = &pair->passive;
        note("depth %u", (unsigned)n);
        expect_status(ND_SUCCESS, post_receive(a, TAG(0), 0, 8));
        for (ULONG k = 0; k < n; k++)
            expect_status(ND_SUCCESS, post_receive(p, TAG(1 + k), 0, 8));
        expect_status(ND_SUCCESS, post_send(p, TAG(0), 0, 8, 0));
        expect_result(a, Nd2RequestTypeReceive, TAG(0), ND_SUCCESS);
        expect_status(ND_SUCCESS, CALL(p->qp, Flush));
        BYTE *seen = keep_memory(n + 1);
        for (ULONG k = 0; k <= n; k++) {
            ND2_RESULT result = next_result(p->cq);
            uintptr_t at = (uintptr_t)result.RequestContext - (uintptr_t)TAG(0);
            expect_true(at <= n && !seen[at]++);
            if (at)
                expect_status(ND_CANCELED, result.Status);
        }
    }
}

/* Room for 64 results more than the depth is there at least. */
static void room_beyond_the_depth(void)
{
    struct node *node = new_node();
    struct cq *cq = new_cq(node, 5);
    ND2_RESULT results[80];
    for (int round = 0; round < 2; round++) {
        add_results(node, cq, 0, 5 + 64);
        expect_equal(5 + 64, next_results(cq, results, 80, 5 + 64));
        expect_pointer(TAG(68), results[68].RequestContext);
    }
    if (node->info.AdapterFlags & 0x100) { /* CQ_RESIZE_SUPPORTED */
        expect_status(ND_SUCCESS, CALL(cq, Resize, 2));
        add_results(node, cq, 0, 2 + 64);
        expect_equal(2 + 64, next_results(cq, results, 80, 2 + 64));
    }
}

/* More results than a queue of a few entries has room for, however it is rounded up here. */
enum { TOO_MANY = 200 };

/* TOO_MANY results on the passive end's queue of this depth: messages, so a Notify for errors tells the overrun. */
static struct pair *pair_of_many(ULONG depth)
{
    return connected_pair(
        &(struct pair_options){ .active = { .initiator_depth = TOO_MANY, .cq_depth = TOO_MANY },
            .passive = { .cq_depth = depth, .receive_depth = TOO_MANY } });
}

static void send_many(struct pair *pair)
{
    for (int i = 0; i < TOO_MANY; i++)
        expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(i), 0, 8));
    for (int i = 0; i < TOO_MANY; i++)
        expect_status(ND_SUCCESS, post_send(&pair->active, TAG(i), 0, 8, 0));
}

/* A full queue is not an overrun. */
static void exactly_full(void)
{
    struct node *node = new_node();
    struct cq *cq = new_cq(node, 5);
    ND2_RESULT results[8];
    for (int round = 0; round < 3; round++) {
        add_results(node, cq, 0, 5);
        expect_equal(5, next_results(cq, results, 8, 5));
    }
    struct op *op = new_op();
    expect_status(ND_PENDING, CALL(cq, Notify, ND_CQ_NOTIFY_ERRORS, &op->overlapped));
    expect_status(ND_PENDING, result_of(cq, op));
}

static void overrun_fails_the_queue(void)
{
    struct pair *pair = pair_of_many(4);
    struct cq *cq = pair->passive.cq;
    struct op *waiting[3], *later = new_op();
    ND2_RESULT results[8];
    for (int i = 0; i < 3; i++) {
        waiting[i] = new_op();
        expect_status(ND_PENDING, CALL(cq, Notify, ND_CQ_NOTIFY_ERRORS, &waiting[i]->overlapped));
    }
    send_many(pair);
    for (int i = 0; i < 3; i++)
        expect_status(ND_BUFFER_OVERFLOW, wait_op(cq, waiting[i]));
    for (ULONG type = 0; type <= 2; type++) {
        HRESULT hr = CALL(cq, Notify, type, &later->overlapped);
        expect_status(ND_BUFFER_OVERFLOW, finish(cq, hr, later));
    }
    expect_equal(0, CALL(cq, GetResults, results, 8));
}

/* However many results the client asks for. */
static void overrun_whatever_the_array(void)
{
    static const ULONG rooms[] = { 1, 4, 5, 16, 32 };
    struct node *node = new_node();
    for (size_t i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++) {
        struct cq *cq = new_cq(node, 4);
        struct op *op = new_op();
        ND2_RESULT results[32];
        note("array of %u", (unsigned)rooms[i]);
        add_results(node, cq, 0, TOO_MANY);
        expect_equal(0, CALL(cq, GetResults, results, rooms[i]));
        HRESULT hr = CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped);
        expect_status(ND_BUFFER_OVERFLOW, finish(cq, hr, op));
        expect_equal(0, CALL(cq, GetResults, results, rooms[i]));
    }
}

/* The device may have room for many more. */
static void overrun_by_sends(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){
        .active = { .cq_depth = 2, .initiator_depth = TOO_MANY, .two_cqs = true },
        .passive = { .two_cqs = true } });
    struct end *a = &pair->active, *p = &pair->passive;
    struct op *op = new_op();
    ND2_RESULT results[8];
    expect_status(ND_PENDING, CALL(a->initiator_cq, Notify, ND_CQ_NOTIFY_ERRORS, &op->overlapped));
    for (int i = 0; i < TOO_MANY; i++) {
        expect_status(ND_SUCCESS, post_receive(p, TAG(i), 0, 8));
        expect_status(ND_SUCCESS, post_send(a, TAG(i), 0, 8, 0));
        expect_result(p, Nd2RequestTypeReceive, TAG(i), ND_SUCCESS);
    }
    expect_status(ND_BUFFER_OVERFLOW, wait_op(a->initiator_cq, op));
    expect_equal(0, CALL(a->initiator_cq, GetResults, results, 8));
}

/* Completions of a live connection overrun it as well. */
static void overrun_by_messages(void)
{
    struct pair *pair = pair_of_many(2);
    struct op *op = new_op();
    expect_status(ND_PENDING, CALL(pair->passive.cq, Notify, ND_CQ_NOTIFY_ERRORS, &op->overlapped));
    send_many(pair);
    expect_status(ND_BUFFER_OVERFLOW, wait_op(pair->passive.cq, op));
}

/* Resizing */

static struct node *node_that_resizes(void)
{
    struct node *node = new_node();
    expect_true(node->info.AdapterFlags & 0x100); /* CQ_RESIZE_SUPPORTED */
    return node;
}

static void resize_up_with_entries_queued(void)
{
    struct node *node = node_that_resizes();
    struct cq *cq = new_cq(node, 4);
    ND2_RESULT results[32];
    add_results(node, cq, 0, 4);
    expect_status(ND_SUCCESS, CALL(cq, Resize, 16));
    add_results(node, cq, 4, 12);
    expect_equal(16, next_results(cq, results, 32, 16));
    for (int i = 0; i < 16; i++)
        expect_pointer(TAG(i), results[i].RequestContext);
}

static void resize_down_with_entries_queued(void)
{
    struct node *node = node_that_resizes();
    struct cq *cq = new_cq(node, 64);
    ND2_RESULT results[32];
    add_results(node, cq, 0, 5);
    expect_status(ND_BUFFER_OVERFLOW, CALL(cq, Resize, 4));
    expect_status(ND_SUCCESS, CALL(cq, Resize, 5));
    expect_equal(5, next_results(cq, results, 32, 5));
    for (int i = 0; i < 5; i++)
        expect_pointer(TAG(i), results[i].RequestContext);
    expect_status(ND_SUCCESS, CALL(cq, Resize, 2));
    add_results(node, cq, 7, 2);
    expect_equal(2, next_results(cq, results, 32, 2));
    expect_pointer(TAG(7), results[0].RequestContext);
    /* What is beyond the new depth is limited. */
    struct op *op = new_op();
    add_results(node, cq, 0, TOO_MANY);
    HRESULT hr = CALL(cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped);
    expect_status(ND_BUFFER_OVERFLOW, finish(cq, hr, op));
}

static void failed_resize_changes_nothing(void)
{
    struct node *node = node_that_resizes();
    struct cq *cq = new_cq(node, 4);
    ND2_RESULT results[8];
    expect_status(ND_INVALID_PARAMETER, CALL(cq, Resize, node->info.MaxCompletionQueueDepth + 1));
    expect_status(ND_INVALID_PARAMETER, CALL(cq, Resize, 0));
    if (!row_holds_in_full())
        expect_status(
            ND_INSUFFICIENT_RESOURCES, CALL(cq, Resize, node->info.MaxCompletionQueueDepth));
    add_results(node, cq, 0, 4);
    expect_equal(4, CALL(cq, GetResults, results, 8));
    if (row_holds_in_full())
        expect_status(ND_SUCCESS, CALL(cq, Resize, node->info.MaxCompletionQueueDepth));
}

static void resize_while_messages_arrive(void)
{
    enum { COUNT = 400 };
    struct pair *pair = connected_pair(&(struct pair_options){
        .active = { .two_cqs = true }, .passive = { .two_cqs = true, .cq_depth = 16 } });
    struct end *a = &pair->active, *p = &pair->passive;
    expect_true(p->node->info.AdapterFlags & 0x100);
    for (int i = 0; i < 16; i++)
        expect_status(ND_SUCCESS, post_receive(p, TAG(i), 0, 8));
    for (int i = 0; i < COUNT; i++) {
        expect_status(ND_SUCCESS, post_send(a, TAG(i), 0, 8, 0));
        HRESULT hr = CALL(p->cq, Resize, i % 2 ? 16 : 64);
        expect_status(ND_SUCCESS, hr);
        if (i % 8 == 7)
            for (int k = i - 7; k <= i; k++) {
                expect_result(p, Nd2RequestTypeReceive, TAG(k), ND_SUCCESS);
                expect_status(ND_SUCCESS, post_receive(p, TAG(k + 16), 0, 8));
                expect_result(a, Nd2RequestTypeSend, TAG(k), ND_SUCCESS);
            }
    }
}

static void notify_affinity(void)
{
    struct cq *cq = new_cq(new_node(), 4);
    USHORT group = 99;
    KAFFINITY affinity = 0;
    HRESULT hr = expect_one_of(
        CALL(cq->v2, GetNotifyAffinity, &group, &affinity), ND_SUCCESS, ND_NOT_SUPPORTED);
    if (hr == ND_SUCCESS)
        expect_equal(0, group);
    expect_status(ND_INVALID_PARAMETER, CALL(cq->v2, GetNotifyAffinity, NULL, &affinity));
    expect_status(ND_INVALID_PARAMETER, CALL(cq->v2, GetNotifyAffinity, &group, NULL));
}

/* Results of one queue taken by several threads: each exactly once. */

enum { TAKERS = 3, RESULTS = 3000 };
struct taker {
    struct cq *cq;
    volatile LONG *left;
    BYTE *seen; /* one per result; each index is written by the thread that took it */
    volatile LONG *twice;
};

static DWORD WINAPI take_results(void *arg)
{
    struct taker *taker = arg;
    ULONGLONG end = GetTickCount64() + DEADLINE_MS;
    while (InterlockedExchangeAdd(taker->left, 0) > 0 && GetTickCount64() < end) {
        ND2_RESULT results[7];
        ULONG n = CALL(taker->cq, GetResults, results, 7);
        for (ULONG i = 0; i < n; i++) {
            uintptr_t index = (uintptr_t)results[i].RequestContext - (uintptr_t)TAG(0);
            if (index >= RESULTS || taker->seen[index]++)
                InterlockedIncrement(taker->twice);
        }
        InterlockedExchangeAdd(taker->left, -(LONG)n);
    }
    return 0;
}

static void several_threads_take_results(void)
{
    struct node *node = new_node();
    struct cq *cq = new_cq(node, RESULTS);
    static volatile LONG left, twice;
    struct taker taker = { cq, &left, keep_memory(RESULTS), &twice };
    HANDLE threads[TAKERS];
    left = RESULTS;
    twice = 0;
    for (int i = 0; i < TAKERS; i++) {
        threads[i] = CreateThread(NULL, 0, take_results, &taker, 0, NULL);
        expect_true(threads[i] != NULL);
        keep_handle(threads[i]);
    }
    for (int i = 0; i < RESULTS; i += 100)
        add_results(node, cq, i, 100);
    expect_equal(WAIT_OBJECT_0, WaitForMultipleObjects(TAKERS, threads, TRUE, 2 * DEADLINE_MS));
    expect_equal(0, left);
    expect_equal(0, twice);
    for (int i = 0; i < RESULTS; i++)
        expect_equal(1, taker.seen[i]);
}

SUITE(cq);
