/* SPDX-License-Identifier: MIT */
/*
 * test_params.c - arguments of the creating methods: which position is named, and the limits as such.
 */
#include "fixture.h"

/* CreateQueuePair with everything right but one number. */
struct qp_numbers {
    ULONG receives, initiators, receive_sge, initiator_sge, inline_bytes;
};

static HRESULT create_qp(struct node *node, struct qp_numbers n)
{
    IUnknown *cq = new_cq(node, 16)->unknown;
    IND2QueuePair *qp = NULL;
    HRESULT hr = CALL(node->v2, CreateQueuePair, &IID_IND2QueuePair, cq, cq, NULL, n.receives,
        n.initiators, n.receive_sge, n.initiator_sge, n.inline_bytes, (void **)&qp);
    expect_true((hr == ND_SUCCESS) == (qp != NULL));
    if (qp)
        keep_object(qp);
    return hr;
}

static HRESULT create_qp_with_srq(
    struct node *node, ULONG initiators, ULONG sge, ULONG inline_bytes)
{
    IUnknown *cq = new_cq(node, 16)->unknown, *srq = new_srq(node, 4, 1, 0)->unknown;
    IND2QueuePair *qp = NULL;
    HRESULT hr = CALL(node->v2, CreateQueuePairWithSrq, &IID_IND2QueuePair, cq, cq, srq, NULL,
        initiators, sge, inline_bytes, (void **)&qp);
    expect_true((hr == ND_SUCCESS) == (qp != NULL));
    if (qp)
        keep_object(qp);
    return hr;
}

static HRESULT create_cq(struct node *node, HANDLE file, ULONG depth)
{
    IND2CompletionQueue *cq = NULL;
    HRESULT hr = CALL(
        node->v2, CreateCompletionQueue, &IID_IND2CompletionQueue, file, depth, 0, 0, (void **)&cq);
    expect_true((hr == ND_SUCCESS) == (cq != NULL));
    if (cq)
        keep_object(cq);
    return hr;
}

static HRESULT create_srq(struct node *node, HANDLE file, ULONG depth, ULONG sge, ULONG threshold)
{
    IND2SharedReceiveQueue *srq = NULL;
    HRESULT hr = CALL(node->v2, CreateSharedReceiveQueue, &IID_IND2SharedReceiveQueue, file, depth,
        sge, threshold, 0, 0, (void **)&srq);
    expect_true((hr == ND_SUCCESS) == (srq != NULL));
    if (srq)
        keep_object(srq);
    return hr;
}

static void queue_pair_depths(void)
{
    struct node *node = new_node();
    ULONG r = node->info.MaxReceiveQueueDepth, i = node->info.MaxInitiatorQueueDepth;
    /* where the limits differ, up to the other one it is the device that refuses */
    ULONG most = i > r ? i : r;
    expect_status(ND_SUCCESS, create_qp(node, (struct qp_numbers){ r, i, 1, 1, 0 }));
    expect_status(
        ND_INVALID_PARAMETER_5, create_qp(node, (struct qp_numbers){ r + 1, 1, 1, 1, 0 }));
    expect_status(
        ND_INVALID_PARAMETER_5, create_qp(node, (struct qp_numbers){ 0xFFFFFFFFu, 1, 1, 1, 0 }));
    expect_status(
        ND_INVALID_PARAMETER_6, create_qp(node, (struct qp_numbers){ 1, most + 1, 1, 1, 0 }));
    expect_status(
        ND_INVALID_PARAMETER_6, create_qp(node, (struct qp_numbers){ 1, 0xFFFFFFFFu, 1, 1, 0 }));
}

static void queue_pair_sge(void)
{
    struct node *node = new_node();
    ULONG r = node->info.MaxReceiveSge, i = node->info.MaxInitiatorSge;
    expect_status(ND_SUCCESS, create_qp(node, (struct qp_numbers){ 1, 1, r, i, 0 }));
    expect_status(
        ND_INVALID_PARAMETER_7, create_qp(node, (struct qp_numbers){ 1, 1, r + 1, 1, 0 }));
    expect_status(
        ND_INVALID_PARAMETER_8, create_qp(node, (struct qp_numbers){ 1, 1, 1, i + 1, 0 }));
    expect_status(
        ND_INVALID_PARAMETER_7, create_qp(node, (struct qp_numbers){ 1, 1, 0xFFFFFFFFu, 1, 0 }));
    expect_status(
        ND_INVALID_PARAMETER_8, create_qp(node, (struct qp_numbers){ 1, 1, 1, 0xFFFFFFFFu, 0 }));
}

static void queue_pair_inline(void)
{
    struct node *node = new_node();
    ULONG n = node->info.MaxInlineDataSize;
    expect_status(ND_SUCCESS, create_qp(node, (struct qp_numbers){ 1, 1, 1, 1, n }));
    expect_status(
        ND_INVALID_PARAMETER_9, create_qp(node, (struct qp_numbers){ 1, 1, 1, 1, n + 1 }));
    expect_status(
        ND_INVALID_PARAMETER_9, create_qp(node, (struct qp_numbers){ 1, 1, 1, 1, 0xFFFFFFFFu }));
}

static void queue_pair_with_srq(void)
{
    struct node *node = new_node();
    ULONG i = node->info.MaxInitiatorQueueDepth, sge = node->info.MaxInitiatorSge;
    ULONG r = node->info.MaxReceiveQueueDepth, most = i > r ? i : r;
    ULONG n = node->info.MaxInlineDataSize;
    expect_status(ND_SUCCESS, create_qp_with_srq(node, i, 1, 0));
    expect_status(ND_SUCCESS, create_qp_with_srq(node, 1, sge, n));
    expect_status(ND_INVALID_PARAMETER_6, create_qp_with_srq(node, most + 1, 1, 0));
    expect_status(ND_INVALID_PARAMETER_7, create_qp_with_srq(node, 1, sge + 1, 0));
    expect_status(ND_INVALID_PARAMETER_8, create_qp_with_srq(node, 1, 1, n + 1));
}

static void completion_queue_depth(void)
{
    struct node *node = new_node();
    ULONG max = node->info.MaxCompletionQueueDepth;
    expect_status(ND_SUCCESS, create_cq(node, node->file, 1));
    expect_status(ND_SUCCESS, create_cq(node, node->file, max));
    expect_status(ND_INVALID_PARAMETER_3, create_cq(node, node->file, 0));
    expect_status(ND_INVALID_PARAMETER_3, create_cq(node, node->file, max + 1));
    expect_status(ND_INVALID_PARAMETER_3, create_cq(node, node->file, 0xFFFFFFFFu));
}

static void affinity_is_a_hint(void)
{
    struct node *node = new_node();
    IND2CompletionQueue *cq = NULL;
    expect_status(ND_SUCCESS, CALL(node->v2, CreateCompletionQueue, &IID_IND2CompletionQueue,
                                  node->file, 4, 0, 1, (void **)&cq));
    keep_object(cq);
    expect_status(ND_SUCCESS, CALL(node->v2, CreateCompletionQueue, &IID_IND2CompletionQueue,
                                  node->file, 4, 0, (KAFFINITY)-1, (void **)&cq));
    keep_object(cq);
}

static void shared_receive_queue(void)
{
    struct node *node = new_node();
    ULONG max = node->info.MaxSharedReceiveQueueDepth, sge = node->info.MaxReceiveSge;
    expect_true(max > 0);
    expect_status(ND_SUCCESS, create_srq(node, node->file, max, 1, 0));
    expect_status(ND_SUCCESS, create_srq(node, node->file, 1, sge, 0));
    expect_status(ND_SUCCESS, create_srq(node, node->file, 8, 1, 8));
    expect_status(ND_INVALID_PARAMETER_3, create_srq(node, node->file, 0, 1, 0));
    expect_status(ND_INVALID_PARAMETER_3, create_srq(node, node->file, max + 1, 1, 0));
    expect_status(ND_INVALID_PARAMETER_4, create_srq(node, node->file, 1, sge + 1, 0));
}

/* Files */

static HRESULT with_file(struct node *node, int which, HANDLE file)
{
    void *object = &object;
    HRESULT hr = E_NOTIMPL;
    switch (which) {
    case 0: return create_cq(node, file, 4);
    case 1: return create_srq(node, file, 4, 1, 0);
    case 2: hr = CALL(node->v2, CreateMemoryRegion, &IID_IND2MemoryRegion, file, &object); break;
    case 3: hr = CALL(node->v2, CreateConnector, &IID_IND2Connector, file, &object); break;
    case 4: hr = CALL(node->v2, CreateListener, &IID_IND2Listener, file, &object); break;
    }
    expect_true((hr == ND_SUCCESS) == (object != NULL));
    if (object)
        keep_object(object);
    return hr;
}

/* NULL, no handle at all, an event, another adapter's, a closed one. */
static void file_is_not_of_this_adapter(void)
{
    struct node *node = new_node(), *other = new_node();
    HANDLE closed = NULL;
    expect_status(ND_SUCCESS, CALL(node->v2, CreateOverlappedFile, &closed));
    expect_true(CloseHandle(closed));
    struct op *op = new_op();
    HANDLE wrong[] = { NULL, INVALID_HANDLE_VALUE, op->event, new_port(), other->file, closed };
    for (int which = 0; which < 5; which++) {
        for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
            note("object %d, handle %d", which, (int)i);
            expect_status(ND_INVALID_HANDLE, with_file(node, which, wrong[i]));
        }
        expect_status(ND_SUCCESS, with_file(node, which, node->file));
    }
}

/* Queues of another adapter are refused like foreign objects. */
static void peers_of_another_adapter(void)
{
    struct node *node = new_node(), *other = new_node();
    IUnknown *cq = new_cq(node, 4)->unknown, *far_cq = new_cq(other, 4)->unknown;
    IUnknown *far_srq = new_srq(other, 4, 1, 0)->unknown;
    IND2QueuePair *qp = NULL;
    struct op *op = new_op();
    expect_status(ND_INVALID_PARAMETER_2, CALL(node->v2, CreateQueuePair, &IID_IND2QueuePair,
                                              far_cq, cq, NULL, 2, 2, 1, 1, 0, (void **)&qp));
    expect_status(ND_INVALID_PARAMETER_3, CALL(node->v2, CreateQueuePair, &IID_IND2QueuePair, cq,
                                              far_cq, NULL, 2, 2, 1, 1, 0, (void **)&qp));
    expect_status(ND_INVALID_PARAMETER_4, CALL(node->v2, CreateQueuePairWithSrq, &IID_IND2QueuePair,
                                              cq, cq, far_srq, NULL, 2, 1, 0, (void **)&qp));
    struct pair *pair = new_pair(NULL);
    struct qp *far_qp = new_qp(node, new_cq(node, 4), NULL, 2);
    expect_status(
        ND_INVALID_PARAMETER_1, CALL(pair->active.connector, Connect, far_qp, &pair->listen.any,
                                    pair->listen.length, 0, 0, NULL, 0, &op->overlapped));
    expect_status(ND_INVALID_PARAMETER_1,
        CALL(pair->listener, GetConnectionRequest, new_connector(node), &op->overlapped));
    connect_ends(pair);
}

/* Addresses that are none */

static void malformed_addresses(void)
{
    struct pair *pair = new_pair(NULL);
    struct address good = pair->listen, bad = good;
    struct op *op = new_op();
    struct connector *connector = new_connector(pair->active.node);
    struct listener *listener = new_listener(pair->active.node);
    bad.any.sa_family = 77;
    expect_status(ND_INVALID_ADDRESS, CALL(connector->v2, Bind, &bad.any, bad.length));
    expect_status(ND_INVALID_ADDRESS, CALL(listener->v2, Bind, &bad.any, bad.length));
    expect_true(FAILED(CALL(connector->v2, Bind, &good.any, good.length - 1)));
    expect_true(FAILED(CALL(listener->v2, Bind, &good.any, good.length - 1)));
    expect_true(FAILED(CALL(connector->v2, Bind, NULL, 0)));
    expect_true(FAILED(CALL(listener->v2, Bind, NULL, 0)));
    struct connector *active = pair->active.connector;
    HRESULT hr = CALL(
        active, Connect, pair->active.qp, &bad.any, bad.length, 0, 0, NULL, 0, &op->overlapped);
    expect_true(FAILED(finish(active, hr, op)));
    hr = CALL(active, Connect, pair->active.qp, &good.any, good.length - 1, 0, 0, NULL, 0,
        &op->overlapped);
    expect_true(FAILED(finish(active, hr, op)));
    connect_ends(pair); /* all of it left the connector as it was */
}

/* Lengths that are looked at before the pointer. */
static void private_data_without_a_pointer(void)
{
    struct pair *pair = new_pair(NULL);
    pair_request(pair);
    expect_status(ND_SUCCESS, CALL(pair->passive.connector, Reject, NULL, 0));
    expect_status(ND_CONNECTION_REFUSED, wait_op(pair->active.connector, pair->connect));
}

SUITE(params);
