/* SPDX-License-Identifier: MIT */
/*
 * test_srq.c - IND2SharedReceiveQueue: which queue pair gets the Receives, the threshold, limits.
 */
#include "fixture.h"

static HRESULT srq_receive(
    struct srq *srq, void *context, const struct memory *m, SIZE_T offset, ULONG length)
{
    ND2_SGE sge = { m->bytes + offset, length, m->local };
    return CALL(srq->v2, Receive, context, &sge, 1);
}

/* Connections that share one adapter, SRQ and buffer on their passive side. */
struct shared {
    struct node *node;
    struct srq *srq;
    struct memory memory;
    struct pair *pairs[2];
};

static struct shared make_shared(ULONG depth, ULONG threshold, int pairs)
{
    struct shared s = { .node = new_node() };
    s.srq = new_srq(s.node, depth, 2, threshold);
    s.memory = new_memory(s.node, 64 * 1024, MR_LOCAL);
    for (int i = 0; i < pairs; i++)
        s.pairs[i] = connected_pair(&(struct pair_options){
            .active = { .node = new_node() }, .passive = { .node = s.node, .srq = s.srq } });
    return s;
}

static void two_queue_pairs_take_from_one(void)
{
    struct shared s = make_shared(16, 0, 2);
    for (unsigned i = 0; i < 16; i++)
        expect_status(ND_SUCCESS, srq_receive(s.srq, TAG(i), &s.memory, i * 64, 64));
    expect_status(ND_NO_MORE_ENTRIES, srq_receive(s.srq, TAG(16), &s.memory, 0, 64));
    for (unsigned i = 0; i < 16; i++) {
        struct pair *pair = s.pairs[(i / 3) % 2];
        fill(pair->active.memory.bytes, 64, i);
        expect_status(ND_SUCCESS, post_send(&pair->active, TAG(100 + i), 0, 64, 0));
        /* On the queue of the connection that consumed it, with that queue pair's context. */
        expect_equal(64, expect_result(&pair->passive, Nd2RequestTypeReceive, TAG(i), ND_SUCCESS));
        expect_result(&pair->active, Nd2RequestTypeSend, TAG(100 + i), ND_SUCCESS);
        expect_filled(s.memory.bytes + i * 64, 64, i);
    }
    expect_status(ND_SUCCESS, srq_receive(s.srq, TAG(16), &s.memory, 0, 64));
}

/* The sender waits, for longer than it would for a queue of the receiver's own. */
static void empty_queue_does_not_break_the_sender(void)
{
    struct shared s = make_shared(4, 0, 1);
    struct pair *other = connected_pair(NULL);
    struct end *a = &s.pairs[0]->active;
    expect_status(ND_SUCCESS, post_send(a, TAG(1), 0, 64, 0));
    /* When this Send times out, the first one would have as well. */
    expect_status(ND_SUCCESS, post_send(&other->active, TAG(2), 0, 8, 0));
    expect_result(&other->active, Nd2RequestTypeSend, TAG(2), ND_IO_TIMEOUT);
    expect_no_result(a->cq);
    expect_status(ND_SUCCESS, srq_receive(s.srq, TAG(3), &s.memory, 0, 64));
    expect_equal(
        64, expect_result(&s.pairs[0]->passive, Nd2RequestTypeReceive, TAG(3), ND_SUCCESS));
    expect_result(a, Nd2RequestTypeSend, TAG(1), ND_SUCCESS);
}

static void many_messages_wait_and_are_served_in_order(void)
{
    struct shared s = make_shared(4, 0, 1);
    struct end *a = &s.pairs[0]->active, *p = &s.pairs[0]->passive;
    for (unsigned i = 0; i < 12; i++) {
        fill(a->memory.bytes + i * 512, 512, i);
        expect_status(ND_SUCCESS, post_send(a, TAG(i), i * 512, 512, 0));
    }
    for (unsigned i = 0; i < 12; i++) {
        expect_status(ND_SUCCESS, srq_receive(s.srq, TAG(i), &s.memory, i * 512, 512));
        expect_equal(512, expect_result(p, Nd2RequestTypeReceive, TAG(i), ND_SUCCESS));
        expect_filled(s.memory.bytes + i * 512, 512, i);
        expect_result(a, Nd2RequestTypeSend, TAG(i), ND_SUCCESS);
    }
}

static void take_one(struct shared *s, void *context)
{
    struct pair *pair = s->pairs[0];
    expect_status(ND_SUCCESS, post_send(&pair->active, TAG(500), 0, 8, 0));
    expect_result(&pair->passive, Nd2RequestTypeReceive, context, ND_SUCCESS);
    expect_result(&pair->active, Nd2RequestTypeSend, TAG(500), ND_SUCCESS);
}

static void notify_below_the_threshold(void)
{
    struct shared s = make_shared(8, 3, 1);
    struct op *first = new_op(), *second = new_op();
    for (int i = 0; i < 5; i++)
        expect_status(ND_SUCCESS, srq_receive(s.srq, TAG(i), &s.memory, 0, 64));
    expect_status(ND_PENDING, CALL(s.srq->v2, Notify, &first->overlapped));
    expect_status(ND_PENDING, CALL(s.srq->v2, Notify, &second->overlapped));
    take_one(&s, TAG(0));
    take_one(&s, TAG(1)); /* three left: not below */
    expect_status(ND_PENDING, result_of(s.srq, first));
    expect_status(ND_PENDING, result_of(s.srq, second));
    take_one(&s, TAG(2));
    expect_status(ND_SUCCESS, wait_op(s.srq, first));
    expect_status(ND_SUCCESS, wait_op(s.srq, second));

    /* Filled up again it works once more. */
    for (int i = 5; i < 7; i++)
        expect_status(ND_SUCCESS, srq_receive(s.srq, TAG(i), &s.memory, 0, 64));
    expect_status(ND_PENDING, CALL(s.srq->v2, Notify, &first->overlapped));
    take_one(&s, TAG(3)); /* 4 were there */
    expect_status(ND_PENDING, result_of(s.srq, first));
    take_one(&s, TAG(4));
    expect_status(ND_SUCCESS, wait_op(s.srq, first));
}

static void notify_when_it_is_below_already(void)
{
    struct shared s = make_shared(8, 4, 1);
    struct op *op = new_op();
    for (int i = 0; i < 6; i++)
        expect_status(ND_SUCCESS, srq_receive(s.srq, TAG(i), &s.memory, 0, 64));
    for (int i = 0; i < 4; i++)
        take_one(&s, TAG(i));
    expect_status(ND_PENDING, CALL(s.srq->v2, Notify, &op->overlapped));
    expect_status(ND_SUCCESS, wait_op(s.srq, op));
}

static void notify_without_a_threshold(void)
{
    struct shared s = make_shared(8, 0, 1);
    struct op *op = new_op();
    for (int i = 0; i < 2; i++)
        expect_status(ND_SUCCESS, srq_receive(s.srq, TAG(i), &s.memory, 0, 64));
    expect_status(ND_PENDING, CALL(s.srq->v2, Notify, &op->overlapped));
    take_one(&s, TAG(0));
    take_one(&s, TAG(1));
    expect_status(ND_PENDING, result_of(s.srq, op));
    expect_status(ND_SUCCESS, CALL(s.srq, CancelOverlappedRequests));
    expect_status(ND_CANCELED, result_of(s.srq, op));
}

static void modify_threshold(void)
{
    struct shared s = make_shared(8, 0, 1);
    struct op *op = new_op();
    expect_status(ND_SUCCESS, CALL(s.srq->v2, Modify, 0, 2));
    for (int i = 0; i < 3; i++)
        expect_status(ND_SUCCESS, srq_receive(s.srq, TAG(i), &s.memory, 0, 64));
    expect_status(ND_PENDING, CALL(s.srq->v2, Notify, &op->overlapped));
    take_one(&s, TAG(0));
    expect_status(ND_PENDING, result_of(s.srq, op));
    take_one(&s, TAG(1));
    expect_status(ND_SUCCESS, wait_op(s.srq, op));
}

static void modify_beyond_the_depth(void)
{
    struct srq *srq = new_srq(new_node(), 8, 1, 0);
    expect_status(ND_INVALID_PARAMETER, CALL(srq->v2, Modify, 0, 9));
    expect_status(ND_INVALID_PARAMETER, CALL(srq->v2, Modify, 4, 5));
    expect_status(ND_SUCCESS, CALL(srq->v2, Modify, 0, 8));
    expect_status(ND_INVALID_PARAMETER, CALL(srq->v2, Modify, 7, 0)); /* the threshold is kept */
    expect_status(ND_SUCCESS, CALL(srq->v2, Modify, 7, 7));
}

static void modify_depth(void)
{
    struct node *node = new_node();
    struct srq *srq = new_srq(node, 4, 1, 0);
    struct memory m = new_memory(node, 64, MR_LOCAL);
    for (int i = 0; i < 4; i++)
        expect_status(ND_SUCCESS, srq_receive(srq, TAG(i), &m, 0, 64));
    expect_status(ND_NO_MORE_ENTRIES, srq_receive(srq, TAG(4), &m, 0, 64));
    expect_status(ND_SUCCESS, CALL(srq->v2, Modify, 6, 0));
    for (int i = 4; i < 6; i++)
        expect_status(ND_SUCCESS, srq_receive(srq, TAG(i), &m, 0, 64));
    expect_status(ND_NO_MORE_ENTRIES, srq_receive(srq, TAG(6), &m, 0, 64));
    expect_status(ND_BUFFER_OVERFLOW, CALL(srq->v2, Modify, 5, 0));
    expect_status(ND_SUCCESS, CALL(srq->v2, Modify, 0, 0));
    expect_status(ND_NO_MORE_ENTRIES, srq_receive(srq, TAG(6), &m, 0, 64));
    expect_status(
        ND_INVALID_PARAMETER, CALL(srq->v2, Modify, node->info.MaxSharedReceiveQueueDepth + 1, 0));
    expect_status(row_holds_in_full() ? ND_SUCCESS : ND_INSUFFICIENT_RESOURCES,
        CALL(srq->v2, Modify, node->info.MaxSharedReceiveQueueDepth, 0));
    expect_status(
        row_holds_in_full() ? ND_SUCCESS : ND_NO_MORE_ENTRIES, srq_receive(srq, TAG(6), &m, 0, 64));
}

static void receive_limits(void)
{
    struct node *node = new_node();
    struct srq *srq = new_srq(node, 4, 2, 0);
    struct memory m = new_memory(node, 64, MR_LOCAL);
    ND2_SGE sge[3] = { { m.bytes, 8, m.local }, { m.bytes, 8, m.local }, { m.bytes, 8, m.local } };
    expect_status(ND_SUCCESS, CALL(srq->v2, Receive, TAG(1), sge, 2));
    expect_status(ND_DATA_OVERRUN, CALL(srq->v2, Receive, TAG(1), sge, 3));
    expect_status(ND_SUCCESS, CALL(srq->v2, Receive, TAG(2), NULL, 0));
    sge[0].BufferLength = sge[1].BufferLength = 0xFFFFFFFFu;
    expect_status(ND_BUFFER_OVERFLOW, CALL(srq->v2, Receive, TAG(3), sge, 2));
}

static void scatter(void)
{
    struct shared s = make_shared(4, 0, 1);
    struct end *a = &s.pairs[0]->active;
    ND2_SGE sge[2] = { { s.memory.bytes + 5, 300, s.memory.local },
        { s.memory.bytes + 1000, 1000, s.memory.local } };
    fill(a->memory.bytes, 900, 44);
    expect_status(ND_SUCCESS, CALL(s.srq->v2, Receive, TAG(1), sge, 2));
    expect_status(ND_SUCCESS, post_send(a, TAG(2), 0, 900, 0));
    expect_equal(
        900, expect_result(&s.pairs[0]->passive, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
    memmove(s.memory.bytes, s.memory.bytes + 5, 300);
    memmove(s.memory.bytes + 300, s.memory.bytes + 1000, 600);
    expect_filled(s.memory.bytes, 900, 44);
}

/* A queue pair on a shared queue has none of its own. */
static void receive_on_the_queue_pair(void)
{
    struct shared s = make_shared(4, 0, 1);
    expect_true(FAILED(post_receive(&s.pairs[0]->passive, TAG(1), 0, 8)));
    expect_status(ND_SUCCESS, srq_receive(s.srq, TAG(0), &s.memory, 0, 64));
    take_one(&s, TAG(0));
}

/* The end of one connection takes nothing from the other. */
static void one_connection_ends(void)
{
    struct shared s = make_shared(4, 0, 2);
    struct op *op = new_op();
    for (int i = 0; i < 3; i++)
        expect_status(ND_SUCCESS, srq_receive(s.srq, TAG(i), &s.memory, 0, 64));
    expect_status(
        ND_PENDING, CALL(s.pairs[1]->passive.connector, NotifyDisconnect, &op->overlapped));
    disconnect(&s.pairs[1]->active);
    expect_status(ND_SUCCESS, wait_op(s.pairs[1]->passive.connector, op));
    expect_no_result(s.pairs[1]->passive.cq);
    for (int i = 0; i < 3; i++)
        take_one(&s, TAG(i));
}

static void released_before_its_queue_pairs(void)
{
    struct shared s = make_shared(4, 0, 1);
    expect_status(ND_SUCCESS, srq_receive(s.srq, TAG(0), &s.memory, 0, 64));
    expect_equal(0, release_now(s.srq));
    take_one(&s, TAG(0));
    disconnect(&s.pairs[0]->active);
}

static void release_cancels_notify(void)
{
    struct node *node = new_node();
    struct srq *srq = new_srq(node, 4, 1, 2);
    struct memory m = new_memory(node, 64, MR_LOCAL);
    struct op *op = new_op();
    for (int i = 0; i < 3; i++)
        expect_status(ND_SUCCESS, srq_receive(srq, TAG(i), &m, 0, 64));
    expect_status(ND_PENDING, CALL(srq->v2, Notify, &op->overlapped));
    expect_equal(0, release_now(srq));
    expect_true(event_is_set(op));
    expect_status(ND_CANCELED, (HRESULT)op->overlapped.Internal);
}

static void notify_affinity(void)
{
    struct srq *srq = new_srq(new_node(), 4, 1, 0);
    USHORT group = 99;
    KAFFINITY affinity = 0;
    HRESULT hr = expect_one_of(
        CALL(srq->v2, GetNotifyAffinity, &group, &affinity), ND_SUCCESS, ND_NOT_SUPPORTED);
    if (hr == ND_SUCCESS)
        expect_equal(0, group);
    expect_status(ND_INVALID_PARAMETER, CALL(srq->v2, GetNotifyAffinity, NULL, &affinity));
    expect_status(ND_INVALID_PARAMETER, CALL(srq->v2, GetNotifyAffinity, &group, NULL));
}

SUITE(srq);
