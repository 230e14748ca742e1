/* SPDX-License-Identifier: MIT */
/*
 * test_qp.c - IND2QueuePair: what a post returns at once, depth accounting, Flush.
 */
#include "fixture.h"

static void posts_before_connecting(void)
{
    struct pair *pair = new_pair(NULL);
    struct end *end = &pair->active;
    struct mw *mw = new_mw(end->node);
    void *own = end->memory.bytes;
    expect_status(ND_CONNECTION_INVALID, post_send(end, TAG(1), 0, 8, 0));
    expect_status(ND_CONNECTION_INVALID, post_read(end, TAG(1), 0, 8, own, 1, 0));
    expect_status(ND_CONNECTION_INVALID, post_write(end, TAG(1), 0, 8, own, 1, 0));
    expect_status(ND_CONNECTION_INVALID,
        CALL(end->qp, Bind, TAG(1), end->memory.mr, mw, own, 8, ND_OP_FLAG_ALLOW_READ));
    expect_status(ND_SUCCESS, post_receive(end, TAG(1), 0, 8));
    expect_no_result(end->cq);
}

static void posts_while_connecting(void)
{
    struct pair *pair = new_pair(NULL);
    pair_request(pair);
    expect_status(ND_CONNECTION_INVALID, post_send(&pair->active, TAG(1), 0, 8, 0));
    expect_status(ND_CONNECTION_INVALID, post_send(&pair->passive, TAG(1), 0, 8, 0));
    pair_accept(pair);
    expect_status(ND_CONNECTION_INVALID, post_send(&pair->active, TAG(1), 0, 8, 0));
    pair_complete(pair);
    exchange(&pair->active, &pair->passive);
    exchange(&pair->passive, &pair->active);
}

/* Exactly as many as the queue was made for, and one more as soon as a completion was fetched. */
static void receive_queue_depth_is_exact(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){ .passive = { .receive_depth = 5 } });
    for (int i = 0; i < 5; i++)
        expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(i), 0, 8));
    expect_status(ND_NO_MORE_ENTRIES, post_receive(&pair->passive, TAG(5), 0, 8));
    expect_status(ND_SUCCESS, post_send(&pair->active, TAG(10), 0, 8, 0));
    expect_result(&pair->active, Nd2RequestTypeSend, TAG(10), ND_SUCCESS);
    expect_result(&pair->passive, Nd2RequestTypeReceive, TAG(0), ND_SUCCESS);
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(6), 0, 8));
    expect_status(ND_NO_MORE_ENTRIES, post_receive(&pair->passive, TAG(7), 0, 8));
}

static void initiator_queue_depth_is_exact(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){
        .active = { .initiator_depth = 3, .two_cqs = true }, .passive = { .receive_depth = 16 } });
    struct end *a = &pair->active, *p = &pair->passive;
    for (int i = 0; i < 8; i++)
        expect_status(ND_SUCCESS, post_receive(p, TAG(i), 0, 8));
    for (int i = 0; i < 3; i++)
        expect_status(ND_SUCCESS, post_send(a, TAG(i), 0, 8, 0));
    /* All three have arrived; none was fetched, so the queue is full. */
    for (int i = 0; i < 3; i++)
        expect_result(p, Nd2RequestTypeReceive, TAG(i), ND_SUCCESS);
    expect_status(ND_NO_MORE_ENTRIES, post_send(a, TAG(3), 0, 8, 0));
    expect_status(ND_NO_MORE_ENTRIES, post_write(a, TAG(3), 0, 8, p->memory.bytes, 0, 0));
    expect_result(a, Nd2RequestTypeSend, TAG(0), ND_SUCCESS);
    expect_status(ND_SUCCESS, post_send(a, TAG(3), 0, 8, 0));
    expect_status(ND_NO_MORE_ENTRIES, post_send(a, TAG(4), 0, 8, 0));
    for (int i = 1; i < 4; i++)
        expect_result(a, Nd2RequestTypeSend, TAG(i), ND_SUCCESS);
}

static void depth_one(void)
{
    struct pair *pair = connected_pair(
        &(struct pair_options){ .active = { .initiator_depth = 1, .receive_depth = 1 },
            .passive = { .initiator_depth = 1, .receive_depth = 1 } });
    for (int i = 0; i < 20; i++) {
        exchange(&pair->active, &pair->passive);
        exchange(&pair->passive, &pair->active);
    }
}

static void too_many_sge(void)
{
    ULONG most = new_node()->info.MaxInitiatorSge, n = most < 2 ? most : 2;
    struct pair *pair =
        connected_pair(&(struct pair_options){ .active = { .sge = n }, .passive = { .sge = n } });
    struct end *a = &pair->active;
    struct sge sge[3] = { sge_of(a, 0, 8), sge_of(a, 8, 8), sge_of(a, 16, 8) };
    UINT64 remote = (UINT64)(uintptr_t)pair->passive.memory.bytes;
    UINT32 token = remote_token(&pair->passive);
    expect_status(ND_DATA_OVERRUN, CALL(a->qp, Send, TAG(1), sge, n + 1, 0));
    expect_status(ND_DATA_OVERRUN, CALL(a->qp, Receive, TAG(1), sge, n + 1));
    expect_status(ND_DATA_OVERRUN, CALL(a->qp, Write, TAG(1), sge, n + 1, remote, token, 0));
    expect_status(ND_DATA_OVERRUN, CALL(a->qp, Read, TAG(1), sge, n + 1, remote, token, 0));
    /* After a failing call the queue pair is as it was. */
    exchange(&pair->active, &pair->passive);
    expect_no_result(a->cq);
}

/* Lengths are added before any memory is looked at. */
static void too_long(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active;
    struct sge sge[2] = { sge_of(a, 0, 0xFFFFFFFFu), sge_of(a, 0, 0xFFFFFFFFu) };
    UINT64 remote = (UINT64)(uintptr_t)pair->passive.memory.bytes;
    UINT32 token = remote_token(&pair->passive);
    HRESULT too_long = a->node->info.MaxInitiatorSge < 2 ? ND_DATA_OVERRUN : ND_BUFFER_OVERFLOW;
    expect_status(too_long, CALL(a->qp, Send, TAG(1), sge, 2, 0));
    expect_status(ND_BUFFER_OVERFLOW, CALL(a->qp, Receive, TAG(1), sge, 2));
    expect_status(too_long, CALL(a->qp, Write, TAG(1), sge, 2, remote, token, 0));
    expect_status(a->node->info.MaxReadSge < 2 ? ND_DATA_OVERRUN : ND_BUFFER_OVERFLOW,
        CALL(a->qp, Read, TAG(1), sge, 2, remote, token, 0));
    exchange(&pair->active, &pair->passive);
}

static void one_octet_beyond_the_transfer_limit(void)
{
    struct pair *pair = connected_pair(NULL);
    ULONG limit = pair->active.node->info.MaxTransferLength;
    if (limit == 0xFFFFFFFFu)
        return; /* cannot be exceeded in one entry; too_long exceeds it in two */
    struct sge sge = sge_of(&pair->active, 0, limit + 1);
    expect_status(ND_BUFFER_OVERFLOW, CALL(pair->active.qp, Send, TAG(1), &sge, 1, 0));
    exchange(&pair->active, &pair->passive);
}

static void unknown_flags(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active;
    struct mw *mw = new_mw(a->node);
    void *remote = pair->passive.memory.bytes;
    UINT32 token = remote_token(&pair->passive);
    static const ULONG send[] = { 0x08, 0x10, 0x40, 0x80000000 };
    static const ULONG read[] = { 0x04, 0x08, 0x10, 0x20, 0x40 };
    static const ULONG write[] = { 0x04, 0x08, 0x10, 0x40 };
    static const ULONG bind[] = { 0x04, 0x20, 0x40 };
    static const ULONG invalidate[] = { 0x04, 0x08, 0x10, 0x20, 0x40 };
    for (int i = 0; i < 4; i++)
        expect_status(ND_INVALID_PARAMETER_4, post_send(a, TAG(1), 0, 8, send[i]));
    for (int i = 0; i < 5; i++)
        expect_status(ND_INVALID_PARAMETER_6, post_read(a, TAG(1), 0, 8, remote, token, read[i]));
    for (int i = 0; i < 4; i++)
        expect_status(ND_INVALID_PARAMETER_6, post_write(a, TAG(1), 0, 8, remote, token, write[i]));
    for (int i = 0; i < 3; i++)
        expect_status(ND_INVALID_PARAMETER_6,
            CALL(a->qp, Bind, TAG(1), a->memory.mr, mw, a->memory.bytes, 8, bind[i]));
    for (int i = 0; i < 5; i++)
        expect_status(ND_INVALID_PARAMETER_3, CALL(a->qp, Invalidate, TAG(1), mw, invalidate[i]));
    exchange(&pair->active, &pair->passive);
}

/* The array is read during the call only. */
static void sge_array_may_be_reused(void)
{
    struct pair *pair = connected_pair(NULL);
    struct end *a = &pair->active, *p = &pair->passive;
    struct sge sge = sge_of(p, 100, 50);
    fill(a->memory.bytes, 50, 5);
    expect_status(ND_SUCCESS, CALL(p->qp, Receive, TAG(1), &sge, 1));
    memset(&sge, 0xEE, sizeof(sge));
    sge = sge_of(a, 0, 50);
    expect_status(ND_SUCCESS, CALL(a->qp, Send, TAG(2), &sge, 1, 0));
    memset(&sge, 0xEE, sizeof(sge));
    expect_equal(50, expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
    expect_result(a, Nd2RequestTypeSend, TAG(2), ND_SUCCESS);
    expect_filled(p->memory.bytes + 100, 50, 5);
}

/* Flush */

static void flush_without_a_connection(void)
{
    struct pair *pair = new_pair(NULL);
    struct end *end = &pair->active;
    struct op *op = new_op();
    expect_status(ND_SUCCESS, post_receive(end, TAG(1), 0, 8));
    expect_status(ND_SUCCESS, post_receive(end, TAG(2), 0, 8));
    expect_status(ND_SUCCESS, CALL(end->qp, Flush));
    expect_status(ND_PENDING, CALL(end->cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped));
    expect_status(ND_SUCCESS, wait_op(end->cq, op));
    ND2_RESULT results[4];
    expect_equal(2, next_results(end->cq, results, 4, 2));
    for (int i = 0; i < 2; i++) {
        expect_status(ND_CANCELED, results[i].Status);
        expect_equal(Nd2RequestTypeReceive, results[i].RequestType);
        expect_pointer(TAG(i + 1), results[i].RequestContext);
        expect_pointer(end, results[i].QueuePairContext);
    }
}

static void flush_of_an_empty_queue_pair(void)
{
    struct pair *pair = new_pair(NULL);
    expect_status(ND_SUCCESS, CALL(pair->active.qp, Flush));
    expect_status(ND_SUCCESS, CALL(pair->active.qp, Flush));
    expect_no_result(pair->active.cq);
}

static void flush_of_a_connected_queue_pair(void)
{
    struct pair *pair = connected_pair(
        &(struct pair_options){ .active = { .two_cqs = true }, .passive = { .empty_srq = true } });
    struct end *a = &pair->active;
    for (int i = 0; i < 3; i++)
        expect_status(ND_SUCCESS, post_receive(a, TAG(i), 0, 8));
    for (int i = 0; i < 3; i++)
        expect_status(ND_SUCCESS, post_send(a, TAG(10 + i), 0, 8, 0));
    expect_status(ND_SUCCESS, CALL(a->qp, Flush));
    for (int i = 0; i < 3; i++) {
        expect_result(a, Nd2RequestTypeReceive, TAG(i), ND_CANCELED);
        expect_result(a, Nd2RequestTypeSend, TAG(10 + i), ND_CANCELED);
    }
    expect_status(ND_SUCCESS, CALL(a->qp, Flush));
    expect_status(ND_SUCCESS, post_send(a, TAG(20), 0, 8, 0));
    expect_result(a, Nd2RequestTypeSend, TAG(20), ND_CANCELED);
}

/* The connection cannot come about any more, whatever the peer does. */
static void flush_ends_an_accept(void)
{
    struct pair *pair = new_pair(NULL);
    struct end *p = &pair->passive;
    pair_request(pair);
    pair_accept(pair);
    expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, 8));
    expect_status(ND_SUCCESS, CALL(p->qp, Flush));
    expect_status(ND_CANCELED, wait_op(p->connector, pair->accept));
    expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
    struct op *op = new_op();
    HRESULT hr = CALL(pair->active.connector, CompleteConnect, &op->overlapped);
    (void)finish(pair->active.connector, hr, op);
    hr = CALL(p->connector, Accept, p->qp, 1, 1, NULL, 0, &op->overlapped);
    expect_status(ND_CONNECTION_ABORTED, hr);
}

/* A silent request that is flushed is not silent. */
static void flush_reports_silent_requests(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){ .passive = { .empty_srq = true } });
    struct end *a = &pair->active;
    for (int i = 0; i < 4; i++)
        expect_status(ND_SUCCESS, post_send(a, TAG(i), 0, 8, ND_OP_FLAG_SILENT_SUCCESS));
    expect_status(ND_SUCCESS, CALL(a->qp, Flush));
    for (int i = 0; i < 4; i++)
        expect_result(a, Nd2RequestTypeSend, TAG(i), ND_CANCELED);
}

static void completions_outlive_the_queue_pair(void)
{
    struct pair *pair = new_pair(NULL);
    struct end *end = &pair->active;
    for (int i = 0; i < 3; i++)
        expect_status(ND_SUCCESS, post_receive(end, TAG(i), 0, 8));
    expect_status(ND_SUCCESS, CALL(end->qp, Flush));
    expect_equal(0, release_now(end->qp));
    for (int i = 0; i < 3; i++)
        expect_result(end, Nd2RequestTypeReceive, TAG(i), ND_CANCELED);
}

/* Queue pairs of one completion queue keep their own order and contexts. */
static void two_queue_pairs_on_one_cq(void)
{
    struct node *node = new_node();
    struct end ends[2];
    struct cq *cq = new_cq(node, 16);
    for (int e = 0; e < 2; e++) {
        memset(&ends[e], 0, sizeof(ends[e]));
        ends[e].cq = ends[e].initiator_cq = cq;
        ends[e].qp = new_qp(node, cq, &ends[e], 4);
        ends[e].memory = new_memory(node, 64, MR_LOCAL);
        for (int i = 0; i < 4; i++)
            expect_status(ND_SUCCESS, post_receive(&ends[e], TAG(i), 0, 8));
    }
    expect_status(ND_SUCCESS, CALL(ends[1].qp, Flush));
    for (int i = 0; i < 4; i++)
        expect_result(&ends[1], Nd2RequestTypeReceive, TAG(i), ND_CANCELED);
    expect_no_result(cq);
    expect_status(ND_SUCCESS, CALL(ends[0].qp, Flush));
    for (int i = 0; i < 4; i++)
        expect_result(&ends[0], Nd2RequestTypeReceive, TAG(i), ND_CANCELED);
}

SUITE(qp);
