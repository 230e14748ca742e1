/* SPDX-License-Identifier: MIT */
/*
 * test_v1_connector.c - INDConnector and INDListen where they are not version 2's: endpoints, connection data,
 * listening.
 */
#include "fixture_v1.h"

/* CreateEndpoint */

struct endpoint_numbers {
    SIZE_T inbound, outbound, inbound_sge, outbound_sge, inbound_reads, outbound_reads;
};

static HRESULT create_endpoint(struct node *node, INDCompletionQueue *inbound,
    INDCompletionQueue *outbound, struct endpoint_numbers n)
{
    INDEndpoint *endpoint = (INDEndpoint *)node;
    HRESULT hr =
        CALL(new_connector(node)->v1, CreateEndpoint, inbound, outbound, n.inbound, n.outbound,
            n.inbound_sge, n.outbound_sge, n.inbound_reads, n.outbound_reads, NULL, &endpoint);
    expect_true((hr == ND_SUCCESS) == (endpoint != NULL));
    if (endpoint)
        keep_object(endpoint);
    return hr;
}

/* The code names the argument. */
static void endpoint_limits(void)
{
    struct node *node = new_node();
    const ND2_ADAPTER_INFO *max = &node->info;
    /* Where the two limits differ, the device refuses values between them. */
    const SIZE_T most = max->MaxInitiatorQueueDepth > max->MaxReceiveQueueDepth
                            ? max->MaxInitiatorQueueDepth
                            : max->MaxReceiveQueueDepth;
    INDCompletionQueue *cq = new_cq(node, 16)->v1;
    static const SIZE_T huge[] = { 0, 0xFFFFFFFEu, (SIZE_T)-2 }; /* beyond the limit, less one */
    const struct endpoint_numbers good = { max->MaxReceiveQueueDepth, max->MaxInitiatorQueueDepth,
        max->MaxReceiveSge, max->MaxInitiatorSge, max->MaxInboundReadLimit,
        max->MaxOutboundReadLimit };
    expect_status(ND_SUCCESS, create_endpoint(node, cq, cq, good));
    for (size_t i = 0; i < sizeof(huge) / sizeof(huge[0]); i++) {
        struct endpoint_numbers n = { 1, 1, 1, 1, 1, 1 };
        note("limit %d", (int)i);
#define REFUSED(code, member, limit)                                                               \
    n.member = (huge[i] ? huge[i] : (limit)) + 1;                                                  \
    expect_status(code, create_endpoint(node, cq, cq, n));                                         \
    n.member = 1
        REFUSED(ND_INVALID_PARAMETER_3, inbound, max->MaxReceiveQueueDepth);
        REFUSED(ND_INVALID_PARAMETER_4, outbound, most);
        REFUSED(ND_INVALID_PARAMETER_5, inbound_sge, max->MaxReceiveSge);
        REFUSED(ND_INVALID_PARAMETER_6, outbound_sge, max->MaxInitiatorSge);
        REFUSED(ND_INVALID_PARAMETER_7, inbound_reads, max->MaxInboundReadLimit);
        REFUSED(ND_INVALID_PARAMETER_8, outbound_reads, max->MaxOutboundReadLimit);
#undef REFUSED
        expect_status(ND_SUCCESS, create_endpoint(node, cq, cq, n));
    }
}

static void endpoint_on_queues_that_are_none(void)
{
    struct node *node = new_node(), *other = new_node();
    const struct endpoint_numbers n = { 1, 1, 1, 1, 1, 1 };
    INDCompletionQueue *cq = new_cq(node, 16)->v1, *far_cq = new_cq(other, 16)->v1;
    INDCompletionQueue *wrong = (INDCompletionQueue *)(void *)new_connector(node)->v1;
    INDCompletionQueue *const bad[] = { NULL, far_cq, wrong };
    for (int i = 0; i < 3; i++) {
        note("queue %d", i);
        expect_status(ND_INVALID_PARAMETER_1, create_endpoint(node, bad[i], cq, n));
        expect_status(ND_INVALID_PARAMETER_2, create_endpoint(node, cq, bad[i], n));
    }
    expect_status(E_POINTER,
        CALL(new_connector(node)->v1, CreateEndpoint, cq, cq, 1, 1, 1, 1, 1, 1, NULL, NULL));
}

/* pMaxInlineData is optional; its value is at most the adapter's limit. */
static void endpoint_tells_its_inline_data(void)
{
    struct node *node = new_node();
    INDCompletionQueue *cq = new_cq(node, 16)->v1;
    INDEndpoint *endpoint = NULL;
    SIZE_T told = (SIZE_T)-1;
    expect_status(ND_SUCCESS,
        CALL(new_connector(node)->v1, CreateEndpoint, cq, cq, 4, 4, 1, 1, 0, 0, &told, &endpoint));
    keep_object(endpoint);
    expect_true(told > 0 && told <= node->info.MaxInlineDataSize);
}

/* Connection data */

static HRESULT data_of(struct connector *c, SIZE_T *in, SIZE_T *out, void *data, SIZE_T *length)
{
    return CALL(c->v1, GetConnectionData, in, out, data, length);
}

/* Everything in one call, or any part of it. */
static void connection_data_in_parts(void)
{
    char *hello = keep_memory(28), got[256];
    fill((BYTE *)hello, 28, 1);
    struct pair *pair =
        new_pair(&(struct pair_options){ .active = { .inbound_reads = 3, .outbound_reads = 5 },
            .connect_data = hello,
            .connect_length = 28 });
    struct connector *c = pair->passive.connector;
    pair_request(pair);
    SIZE_T in = 77, out = 77, length = sizeof(got);
    expect_status(ND_SUCCESS, data_of(c, &in, &out, got, &length));
    expect_equal(5, in); /* the peer's outbound limit is this end's inbound one */
    expect_equal(3, out);
    expect_true(length >= 28);
    expect_equal(0, memcmp(hello, got, 28));
    const SIZE_T full = length;
    in = out = 77;
    expect_status(ND_SUCCESS, data_of(c, &in, NULL, NULL, NULL));
    expect_equal(5, in);
    expect_status(ND_SUCCESS, data_of(c, NULL, &out, NULL, NULL));
    expect_equal(3, out);
    expect_status(ND_SUCCESS, data_of(c, NULL, NULL, NULL, NULL));
    length = 0;
    expect_status(ND_BUFFER_OVERFLOW, data_of(c, NULL, NULL, NULL, &length));
    expect_equal(full, length);
    /* Cut to the buffer, and still good with everything else that was asked for. */
    memset(got, 0, sizeof(got));
    in = out = 77;
    length = 5;
    expect_status(ND_BUFFER_OVERFLOW, data_of(c, &in, &out, got, &length));
    expect_equal(full, length);
    expect_equal(5, in);
    expect_equal(3, out);
    expect_equal(0, memcmp(hello, got, 5));
    expect_equal(0, got[5]);
    expect_true(FAILED(data_of(c, NULL, NULL, got, NULL)));
    pair_accept(pair);
    pair_complete(pair);
}

/* Either side's limits are those given to CreateEndpoint. */
static void read_limits_come_from_the_endpoint(void)
{
    struct pair *pair =
        new_pair(&(struct pair_options){ .active = { .inbound_reads = 2, .outbound_reads = 6 },
            .passive = { .inbound_reads = 4, .outbound_reads = 1 } });
    SIZE_T in = 0, out = 0;
    pair_request(pair);
    pair_accept(pair);
    expect_status(ND_SUCCESS, data_of(pair->active.connector, &in, &out, NULL, NULL));
    expect_equal(1, in); /* the peer's outbound 1, of the 2 that were offered */
    /* the peer's inbound 4, of the 6; in part: all that was offered */
    expect_equal(row_holds_in_full() ? 4 : 6, out);
    pair_complete(pair);
    exchange(&pair->active, &pair->passive);
}

/* Connecting */

/* Success class: a program that asks FAILED() goes on. */
static void timeout_is_no_failure(void)
{
    expect_equal(SPEC_ND_TIMEOUT, (ULONG)ND_TIMEOUT);
    expect_true(SUCCEEDED(ND_TIMEOUT));
}

/* An endpoint holds what made it: the connection lives until both are let go. */
static void endpoint_keeps_its_connection(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *op = new_op();
    expect_status(ND_PENDING, CALL(pair->passive.connector, NotifyDisconnect, &op->overlapped));
    expect_equal(0, release_now(pair->active.connector));
    exchange(&pair->active, &pair->passive);
    exchange(&pair->passive, &pair->active);
    expect_status(ND_PENDING, result_of(pair->passive.connector, op));
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
    expect_equal(0, release_now(pair->active.qp));
    expect_status(ND_SUCCESS, wait_op(pair->passive.connector, op));
    expect_status(ND_SUCCESS, CALL(pair->passive.qp, Flush));
    expect_result(&pair->passive, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
}

/* A connector makes any number of endpoints; each connects once. */
static void connector_makes_several_endpoints(void)
{
    struct pair *pair = new_pair(NULL);
    struct end *a = &pair->active;
    const struct qp_options options = { .receive_cq = a->cq,
        .initiator_cq = a->cq,
        .connector = a->connector,
        .context = a,
        .receive_depth = 4,
        .initiator_depth = 4,
        .receive_sge = 1,
        .initiator_sge = 1 };
    struct qp *second = keep_memory(sizeof(*second));
    expect_status(ND_SUCCESS, CALL(a->node, CreateQueuePair, &options, second));
    keep_object(second->unknown);
    expect_equal(0, release_now(a->qp));
    a->qp = second;
    connect_ends(pair);
    exchange(&pair->active, &pair->passive);
    exchange(&pair->passive, &pair->active);
}

static void connect_to_malformed_addresses(void)
{
    struct pair *pair = new_pair(NULL);
    struct address bad = pair->listen;
    struct op *op = new_op();
    INDConnector *connector = pair->active.connector->v1;
    INDEndpoint *endpoint = pair->active.qp->v1;
    bad.any.sa_family = 77;
    HRESULT hr =
        CALL(connector, Connect, endpoint, &bad.any, bad.length, 123, 0, NULL, 0, &op->overlapped);
    expect_true(FAILED(finish(pair->active.connector, hr, op)));
    hr = CALL(connector, Connect, endpoint, &pair->listen.any, pair->listen.length - 1, 123, 0,
        NULL, 0, &op->overlapped);
    expect_true(FAILED(finish(pair->active.connector, hr, op)));
    expect_status(
        ND_INVALID_PARAMETER_1, CALL(connector, Connect, NULL, &pair->listen.any,
                                    pair->listen.length, 123, 0, NULL, 0, &op->overlapped));
    connect_ends(pair);
}

/* Any protocol number will do. */
static void protocol_is_not_looked_at(void)
{
    static const INT protocols[] = { 0, 6, 123, -1 };
    for (int i = 0; i < 4; i++) {
        struct pair *pair = new_pair(NULL);
        struct op *connect = new_op(), *request = new_op();
        USHORT port = 0;
        INDListen *listen = NULL;
        expect_status(
            ND_SUCCESS, CALL(pair->passive.node->v1, Listen, 0, protocols[i], 0, &port, &listen));
        keep_object(listen);
        struct address at = with_port(pair->listen, ntohs(port));
        expect_status(
            ND_PENDING, CALL(pair->active.connector->v1, Connect, pair->active.qp->v1, &at.any,
                            at.length, protocols[3 - i], 0, NULL, 0, &connect->overlapped));
        HRESULT hr =
            CALL(listen, GetConnectionRequest, pair->passive.connector->v1, &request->overlapped);
        expect_status(ND_SUCCESS, finish(pair->listener, hr, request));
        expect_status(ND_SUCCESS, CALL(pair->passive.connector->v1, Reject, NULL, 0));
        expect_status(ND_CONNECTION_REFUSED, wait_op(pair->active.connector, connect));
    }
}

/* Listening */

static void listen_codes(void)
{
    struct node *node = new_node();
    USHORT port = 0, other = 0;
    INDListen *first = NULL, *second = (INDListen *)node;
    expect_status(ND_INVALID_PARAMETER_MIX, CALL(node->v1, Listen, 0, 123, 0, NULL, &second));
    expect_pointer(NULL, second);
    expect_status(ND_SUCCESS, CALL(node->v1, Listen, 0, 123, 0, &port, &first));
    keep_object(first);
    expect_true(port != 0);
    /* Taken, on this adapter and on another of the same address. */
    expect_status(ND_ADDRESS_ALREADY_EXISTS, CALL(node->v1, Listen, 0, 123, port, &other, &second));
    expect_pointer(NULL, second);
    expect_status(
        ND_ADDRESS_ALREADY_EXISTS, CALL(new_node()->v1, Listen, 0, 123, port, NULL, &second));
    expect_equal(0, release_kept(first));
    expect_status(ND_SUCCESS, CALL(node->v1, Listen, 0, 123, port, &other, &second));
    keep_object(second);
    expect_equal(port, other);
}

static void request_for_a_connector_that_is_none(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *op = new_op();
    INDListen *listen = pair->listener->v1;
    INDConnector *wrong = (INDConnector *)(void *)pair->active.cq->v1;
    INDConnector *const bad[] = { NULL, new_connector(new_node())->v1, wrong };
    for (int i = 0; i < 3; i++)
        expect_status(
            ND_INVALID_PARAMETER_1, CALL(listen, GetConnectionRequest, bad[i], &op->overlapped));
    connect_ends(pair);
}

/* Reject returns why there is no connection to reject. */
static void reject_codes(void)
{
    struct pair *pair = new_pair(NULL);
    expect_status(ND_INVALID_DEVICE_STATE, CALL(pair->passive.connector->v1, Reject, NULL, 0));
    pair_request(pair);
    expect_status(ND_SUCCESS, CALL(pair->passive.connector->v1, Reject, NULL, 0));
    expect_status(ND_CONNECTION_INVALID, CALL(pair->passive.connector->v1, Reject, NULL, 0));
    expect_status(ND_CONNECTION_REFUSED, wait_op(pair->active.connector, pair->connect));
    expect_status(ND_INVALID_DEVICE_STATE, CALL(pair->active.connector->v1, Reject, NULL, 0));
}

SUITE(v1_connector);
