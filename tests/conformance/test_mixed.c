/* SPDX-License-Identifier: MIT */
/*
 * test_mixed.c - both versions in one process: their ends talk to each other, their objects do not mix.
 */
#include "fixture_v1.h"

/* active_v1: the active end is of version 1 and the passive one of version 2, or the other way round. */
static struct pair *mixed_pair(bool active_v1)
{
    struct address address = test_address(), peer = peer_address();
    struct node *v1 = new_node_of(&dialect_v1, &address), *v2 = new_node_of(&dialect_v2, &peer);
    note("version %d connects", active_v1 ? 1 : 2);
    return new_pair(&(struct pair_options){
        .active = { .node = active_v1 ? v1 : v2 }, .passive = { .node = active_v1 ? v2 : v1 } });
}

static void messages_both_ways(void)
{
    for (int v1 = 0; v1 < 2; v1++) {
        struct pair *pair = mixed_pair(v1);
        connect_ends(pair);
        for (int i = 0; i < 20; i++) {
            exchange(&pair->active, &pair->passive);
            exchange(&pair->passive, &pair->active);
        }
        disconnect(&pair->active);
    }
}

/* A descriptor of one is an address and a token of the other. */
static void windows_and_tokens(void)
{
    for (int v1 = 0; v1 < 2; v1++) {
        struct pair *pair = mixed_pair(v1);
        connect_ends(pair);
        struct end *ends[2] = { &pair->active, &pair->passive };
        for (int e = 0; e < 2; e++) {
            struct end *from = ends[e], *owner = ends[!e];
            UINT32 token = remote_token(owner);
            fill(from->memory.bytes, 3000, (unsigned)e);
            expect_status(
                ND_SUCCESS, post_write(from, TAG(1), 0, 3000, owner->memory.bytes + 7, token, 0));
            expect_result(from, Nd2RequestTypeWrite, TAG(1), ND_SUCCESS);
            expect_status(
                ND_SUCCESS, post_read(from, TAG(2), 5000, 3000, owner->memory.bytes + 7, token, 0));
            expect_result(from, Nd2RequestTypeRead, TAG(2), ND_SUCCESS);
            expect_filled(from->memory.bytes + 5000, 3000, (unsigned)e);
        }
    }
}

/* Each side gets its own version's codes. */
static void failures_in_both_words(void)
{
    for (int v1 = 0; v1 < 2; v1++) {
        struct pair *pair = mixed_pair(v1);
        struct end *a = &pair->active, *p = &pair->passive;
        connect_ends(pair);
        expect_status(ND_SUCCESS, post_receive(p, TAG(1), 0, 8));
        expect_status(ND_SUCCESS, post_write(a, TAG(2), 0, 8, p->memory.bytes, 0x77777777, 0));
        expect_refused(a, Nd2RequestTypeWrite, TAG(2), v1 ? ND_REMOTE_ERROR : ND_ACCESS_VIOLATION);
        expect_result(p, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);

        /* A passive side whose peer backs out. */
        pair = mixed_pair(v1);
        pair_request(pair);
        pair_accept(pair);
        expect_status(ND_SUCCESS, CALL(pair->active.connector, Reject, NULL, 0));
        HRESULT unconfirmed = v1 ? ND_CONNECTION_REFUSED : ND_CONNECTION_ABORTED;
        expect_status(row_holds_in_full() ? unconfirmed : ND_SUCCESS,
            wait_op(pair->passive.connector, pair->accept));

        /* A side that waits for its peer's end and makes it itself. */
        pair = mixed_pair(v1);
        connect_ends(pair);
        struct op *ops[2] = { new_op(), new_op() };
        expect_status(
            ND_PENDING, CALL(pair->active.connector, NotifyDisconnect, &ops[0]->overlapped));
        expect_status(
            ND_PENDING, CALL(pair->passive.connector, NotifyDisconnect, &ops[1]->overlapped));
        disconnect(&pair->active);
        expect_status(
            v1 ? ND_CANCELED : NT_CONNECTION_DISCONNECTED, wait_op(pair->active.connector, ops[0]));
        expect_status(ND_SUCCESS, wait_op(pair->passive.connector, ops[1]));
    }
}

static void private_data_and_read_limits(void)
{
    for (int v1 = 0; v1 < 2; v1++) {
        BYTE hello[28], got[512];
        struct pair *pair = mixed_pair(v1);
        ULONG size = sizeof(got), in = 0, out = 0;
        fill(hello, sizeof(hello), 3);
        pair->options.connect_data = hello;
        pair->options.connect_length = sizeof(hello);
        pair_request(pair);
        expect_status(ND_SUCCESS, CALL(pair->passive.connector, GetPrivateData, got, &size));
        expect_true(size >= sizeof(hello));
        expect_equal(0, memcmp(hello, got, sizeof(hello)));
        expect_status(ND_SUCCESS, CALL(pair->passive.connector, GetReadLimits, &in, &out));
        expect_equal(8, in);
        expect_equal(8, out);
        pair_accept(pair);
        pair_complete(pair);
        exchange(&pair->passive, &pair->active);
    }
}

/* The peer invalidates a window of version 2: that has no result to report it with, and the window is free again. */
static void version_1_takes_back_a_window_of_version_2(void)
{
    struct pair *pair = mixed_pair(true);
    struct end *a = &pair->active, *p = &pair->passive;
    struct mw *mw = new_mw(p->node);
    ND_RESULT sent;
    connect_ends(pair);
    for (int i = 0; i < 3; i++) {
        expect_status(ND_SUCCESS, CALL(p->qp, Bind, TAG(1), p->memory.mr, mw, p->memory.bytes, 64,
                                      ND_OP_FLAG_ALLOW_READ));
        expect_result(p, Nd2RequestTypeBind, TAG(1), ND_SUCCESS);
        ND_MW_DESCRIPTOR there = { 0, 0, CALL(mw, GetRemoteToken) };
        ND_SGE sge = sge_v1(a, 0, 8);
        expect_status(ND_SUCCESS, post_receive(p, TAG(2), 0, 8));
        expect_status(ND_SUCCESS, CALL(a->qp->v1, SendAndInvalidate, &sent, &sge, 1, &there, 0));
        expect_equal(8, expect_result(p, Nd2RequestTypeReceive, TAG(2), ND_SUCCESS));
        expect_own(a->cq, &sent, ND_SUCCESS, 8);
        expect_no_result(p->cq);
        expect_status(ND_INVALID_DEVICE_REQUEST, CALL(p->qp, Invalidate, TAG(3), mw, 0));
    }
}

/* Neither version's objects have the other's interfaces, but for those in common. */
static void other_versions_interfaces(void)
{
    static const IID *const of_v1[] = { &IID_INDProvider, &IID_INDAdapter, &IID_INDOverlapped,
        &IID_INDCompletionQueue, &IID_INDEndpoint, &IID_INDConnector, &IID_INDListen };
    static const IID *const of_v2[] = { &IID_IND2Provider, &IID_IND2Adapter, &IID_IND2Overlapped,
        &IID_IND2CompletionQueue, &IID_IND2SharedReceiveQueue, &IID_IND2MemoryRegion,
        &IID_IND2QueuePair, &IID_IND2Connector, &IID_IND2Listener };
    struct pair *pair = mixed_pair(true);
    struct end *ends[2] = { &pair->active, &pair->passive };
    for (int v2 = 0; v2 < 2; v2++) {
        struct end *end = ends[v2];
        IUnknown *const objects[] = { end->node->unknown, end->cq->unknown, end->qp->unknown,
            end->connector->unknown, new_mw(end->node)->unknown };
        size_t count = v2 ? sizeof(of_v1) / sizeof(of_v1[0]) : sizeof(of_v2) / sizeof(of_v2[0]);
        for (size_t o = 0; o < sizeof(objects) / sizeof(objects[0]); o++)
            for (size_t i = 0; i < count; i++) {
                void *out = &out;
                note("object %d of version %d, interface %d", (int)o, v2 + 1, (int)i);
                expect_status(E_NOINTERFACE,
                    CALL(objects[o], QueryInterface, v2 ? of_v1[i] : of_v2[i], &out));
                expect_pointer(NULL, out);
            }
    }
}

/* An object of the other version is refused like a foreign one. */
static void other_versions_objects(void)
{
    struct pair *pair = mixed_pair(true);
    struct end *v1 = &pair->active, *v2 = &pair->passive;
    struct op *op = new_op();
    INDEndpoint *endpoint = NULL;
    IND2QueuePair *qp = NULL;
    INDCompletionQueue *wrong_cq = (INDCompletionQueue *)(void *)v2->cq->v2;
    INDEndpoint *wrong_endpoint = (INDEndpoint *)(void *)v2->qp->v2;
    expect_status(ND_INVALID_PARAMETER_1, CALL(v1->connector->v1, CreateEndpoint, wrong_cq,
                                              v1->cq->v1, 4, 4, 1, 1, 0, 0, NULL, &endpoint));
    expect_status(ND_INVALID_PARAMETER_2, CALL(v1->connector->v1, CreateEndpoint, v1->cq->v1,
                                              wrong_cq, 4, 4, 1, 1, 0, 0, NULL, &endpoint));
    expect_status(
        ND_INVALID_PARAMETER_1, CALL(v1->connector->v1, Connect, wrong_endpoint, &pair->listen.any,
                                    pair->listen.length, 123, 0, NULL, 0, &op->overlapped));
    expect_status(ND_INVALID_PARAMETER_2,
        CALL(v2->node->v2, CreateQueuePair, &IID_IND2QueuePair, v1->cq->unknown, v2->cq->unknown,
            NULL, 2, 2, 1, 1, 0, (void **)&qp));
    expect_status(ND_INVALID_PARAMETER_1,
        CALL(pair->listener->v2, GetConnectionRequest, v1->connector->unknown, &op->overlapped));
    expect_status(ND_INVALID_PARAMETER_3, CALL(v2->qp->v2, Bind, TAG(1), v2->memory.mr->unknown,
                                              new_mw(v1->node)->unknown, v2->memory.bytes, 8, 0));
    connect_ends(pair);
    exchange(v1, v2);
}

/* Files of one version's adapters are no good for the other's. */
static void version_1_file_for_version_2(void)
{
    struct pair *pair = mixed_pair(true);
    void *out = &out;
    expect_status(ND_INVALID_HANDLE, CALL(pair->passive.node->v2, CreateMemoryRegion,
                                         &IID_IND2MemoryRegion, pair->active.node->file, &out));
    expect_pointer(NULL, out);
}

/* Many connections of either kind at once, one port for all of it. */
static void both_versions_side_by_side(void)
{
    struct pair *pairs[4];
    HANDLE port = new_port();
    struct op *ops[4];
    for (int i = 0; i < 4; i++) {
        pairs[i] = i < 2 ? mixed_pair(i) : new_pair(NULL);
        connect_ends(pairs[i]);
    }
    for (int round = 0; round < 10; round++)
        for (int i = 0; i < 4; i++)
            exchange(&pairs[i]->active, &pairs[i]->passive);
    for (int i = 0; i < 4; i++) { /* from here on, lest the exchanges' Notifies come as packets */
        ops[i] = new_op_without_event();
        attach(port, pairs[i]->passive.node->file, 70 + (ULONG_PTR)i);
        expect_status(
            ND_PENDING, CALL(pairs[i]->passive.connector, NotifyDisconnect, &ops[i]->overlapped));
    }
    for (int i = 3; i >= 0; i--) {
        note("connection %d ends", i);
        disconnect(&pairs[i]->active);
        expect_packet(port, 70 + (ULONG_PTR)i, ops[i], 0);
    }
    expect_no_packet(port);
}

SUITE(mixed);
