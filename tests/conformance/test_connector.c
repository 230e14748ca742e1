/* SPDX-License-Identifier: MIT */
/*
 * test_connector.c - a connector: binding and connecting.
 */
#include "fixture.h"

/* Binding */

static void bind_port_zero_chooses_a_port(void)
{
    struct node *node = new_node();
    struct connector *connector = new_bound_connector(node);
    struct address wanted = test_address(), address;
    address.length = sizeof(address.v6);
    expect_status(ND_SUCCESS, CALL(connector, GetLocalAddress, &address.any, &address.length));
    expect_true(same_ip(&wanted, &address));
    expect_true(port_of(&address) != 0);
    expect_equal(wanted.length, address.length);
}

static void bind_to_a_foreign_address(void)
{
    struct address address = make_address("203.0.113.7", 0);
    struct connector *connector = new_connector(new_node());
    expect_status(ND_INVALID_ADDRESS, CALL(connector->v2, Bind, &address.any, address.length));
    address = test_address();
    expect_status(ND_SUCCESS, CALL(connector->v2, Bind, &address.any, address.length));
}

/* Clients bind all their connectors to the address of their listener. */
static void bind_to_the_port_of_a_listener(void)
{
    struct pair *pair = new_pair(NULL);
    struct node *node = pair->passive.node;
    struct connector *first = new_connector(node), *second = new_connector(node);
    struct address *listen = &pair->listen, address;
    bind_connector(first, listen);
    bind_connector(second, listen);
    address.length = sizeof(address.v6);
    if (!row_is_v1()) {
        expect_status(ND_SUCCESS, CALL(second, GetLocalAddress, &address.any, &address.length));
        expect_equal(port_of(listen), port_of(&address));
    }

    /* And they connect: here, to the very listener. */
    struct op *connect = new_op(), *request = new_op();
    expect_status(ND_PENDING,
        CALL(pair->listener, GetConnectionRequest, pair->passive.connector, &request->overlapped));
    expect_status(
        ND_PENDING, CALL(first, Connect, new_qp(node, pair->passive.cq, NULL, 1), &listen->any,
                        listen->length, 0, 0, NULL, 0, &connect->overlapped));
    expect_status(ND_SUCCESS, wait_op(pair->listener, request));
    expect_status(ND_SUCCESS, CALL(pair->passive.connector, Reject, NULL, 0));
    expect_status(ND_CONNECTION_REFUSED, wait_op(first, connect));
}

static void connect_from_an_explicit_port(void)
{
    /* A port that was free a moment ago: a listener had it and is gone. Another program may have taken it since. */
    for (int tries = 0; tries < 5; tries++) {
        struct pair *pair = new_pair(NULL);
        struct address local, peer;
        struct listener *listener = new_listening(pair->active.node, 0, &local);
        release_now(listener);
        release_now(pair->active.connector);
        pair->active.connector = new_connector(pair->active.node);
        bind_connector(pair->active.connector, &local);
        connect_ends(pair);
        peer.length = sizeof(peer.v6);
        expect_status(
            ND_SUCCESS, CALL(pair->passive.connector, GetPeerAddress, &peer.any, &peer.length));
        exchange(&pair->active, &pair->passive);
        if (port_of(&local) == port_of(&peer))
            return;
    }
    fail_row("never connected from the port that was asked for");
}

/* Connecting */

static void both_ends_tell_the_same_addresses(void)
{
    struct pair *pair = connected_pair(NULL);
    struct address a_local, a_peer, p_local, p_peer;
    struct connector *active = pair->active.connector, *passive = pair->passive.connector;
    a_local.length = a_peer.length = p_local.length = p_peer.length = sizeof(a_local.v6);
    expect_status(ND_SUCCESS, CALL(active, GetLocalAddress, &a_local.any, &a_local.length));
    expect_status(ND_SUCCESS, CALL(active, GetPeerAddress, &a_peer.any, &a_peer.length));
    expect_status(ND_SUCCESS, CALL(passive, GetLocalAddress, &p_local.any, &p_local.length));
    expect_status(ND_SUCCESS, CALL(passive, GetPeerAddress, &p_peer.any, &p_peer.length));
    expect_true(same_ip(&a_local, &p_peer) && same_ip(&a_peer, &p_local));
    expect_equal(port_of(&a_local), port_of(&p_peer));
    expect_equal(port_of(&a_peer), port_of(&p_local));
    expect_equal(port_of(&pair->listen), port_of(&p_local));
}

static void short_address_buffer(void)
{
    struct pair *pair = connected_pair(NULL);
    struct connector *connector = pair->active.connector;
    struct address address;
    ULONG needed = test_address().length, size = 0;
    expect_status(ND_BUFFER_OVERFLOW, CALL(connector, GetLocalAddress, NULL, &size));
    expect_equal(needed, size);
    memset(&address, 0x77, sizeof(address));
    size = needed - 1;
    expect_status(ND_BUFFER_OVERFLOW, CALL(connector, GetPeerAddress, &address.any, &size));
    expect_equal(needed, size);
    expect_status(ND_SUCCESS, CALL(connector, GetPeerAddress, &address.any, &size));
    expect_equal(needed, size);
}

static void nobody_listens(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *op = new_op();
    stop_listening(pair);
    HRESULT hr = start_connect(pair, op);
    expect_status(ND_PENDING, hr);
    expect_status(ND_CONNECTION_REFUSED, wait_op(pair->active.connector, op));
}

/* After a refusal the same connector and the same queue pair, Receives included, connect elsewhere. */
static void refused_connector_connects_again(void)
{
    struct pair *pair = new_pair(NULL);
    struct address before, after;
    struct op *op = new_op();
    struct connector *connector = pair->active.connector;
    stop_listening(pair);
    expect_status(ND_SUCCESS, post_receive(&pair->active, TAG(1), 0, 100));
    expect_status(ND_PENDING, start_connect(pair, op));
    expect_status(ND_CONNECTION_REFUSED, wait_op(connector, op));
    expect_no_result(pair->active.cq);
    before.length = sizeof(before.v6);
    if (!row_is_v1()) /* there each Connect binds */
        expect_status(ND_SUCCESS, CALL(connector, GetLocalAddress, &before.any, &before.length));

    pair->listener = new_listening(pair->passive.node, 0, &pair->listen);
    connect_ends(pair);
    after.length = sizeof(after.v6);
    expect_status(ND_SUCCESS, CALL(connector, GetLocalAddress, &after.any, &after.length));
    if (!row_is_v1())
        expect_equal(port_of(&before), port_of(&after));
    expect_status(ND_SUCCESS, post_send(&pair->passive, TAG(2), 0, 100, 0));
    expect_equal(100, expect_result(&pair->active, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
}

static void connect_to_the_wildcard_address(void)
{
    struct pair *pair = new_pair(NULL);
    struct address address = make_address(
        pair->listen.any.sa_family == AF_INET ? "0.0.0.0" : "::", port_of(&pair->listen));
    struct op *op = new_op();
    struct connector *connector = pair->active.connector;
    HRESULT hr = CALL(connector, Connect, pair->active.qp, &address.any, address.length, 0, 0, NULL,
        0, &op->overlapped);
    expect_status(NT_BAD_NETWORK_NAME, finish(connector, hr, op));
    connect_ends(pair); /* the connector is as it was */
}

/* From a loopback address there is no way out of the host. */
static void connect_without_a_route(void)
{
    struct pair *pair = new_pair(NULL);
    struct address address =
        make_address(pair->listen.any.sa_family == AF_INET ? "203.0.113.7" : "2001:db8::7", 7);
    struct address local = test_address();
    struct op *op = new_op();
    struct connector *connector = pair->active.connector;
    if (local.any.sa_family != AF_INET || (ntohl(local.v4.sin_addr.s_addr) >> 24) != 127)
        return; /* a real interface may have a way there */
    HRESULT hr = CALL(connector, Connect, pair->active.qp, &address.any, address.length, 0, 0, NULL,
        0, &op->overlapped);
    expect_one_of(finish(connector, hr, op), ND_NETWORK_UNREACHABLE, ND_HOST_UNREACHABLE);
    connect_ends(pair);
}

static void second_connect_of_a_connector(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *op = new_op();
    pair_request(pair);
    expect_status(ND_CONNECTION_ACTIVE, start_connect(pair, op));
    pair_accept(pair);
    pair_complete(pair);
    expect_status(ND_CONNECTION_ACTIVE, start_connect(pair, op));
    exchange(&pair->active, &pair->passive);
}

static void queue_pair_is_connected_already(void)
{
    struct pair *pair = connected_pair(NULL);
    struct connector *other = new_bound_connector(pair->active.node);
    struct op *op = new_op();
    expect_status(ND_CONNECTION_ACTIVE, CALL(other, Connect, pair->active.qp, &pair->listen.any,
                                            pair->listen.length, 0, 0, NULL, 0, &op->overlapped));
    exchange(&pair->active, &pair->passive);
}

static void accept_with_a_connected_queue_pair(void)
{
    struct pair *pair = connected_pair(NULL);
    struct qp *used = pair->passive.qp;
    pair->passive.connector = new_connector(pair->passive.node);
    pair->active.connector = new_bound_connector(pair->active.node);
    pair->active.qp = new_qp(pair->active.node, pair->active.cq, &pair->active, 4);
    pair_request(pair);
    struct op *op = new_op();
    expect_status(ND_CONNECTION_ACTIVE,
        CALL(pair->passive.connector, Accept, used, 0, 0, NULL, 0, &op->overlapped));
    pair->passive.qp = new_qp(pair->passive.node, pair->passive.cq, &pair->passive, 4);
    pair_accept(pair);
    pair_complete(pair);
    exchange(&pair->active, &pair->passive);
}

static void one_adapter_for_both_ends(void)
{
    struct pair *pair = connected_pair(&(struct pair_options){ .one_adapter = true });
    exchange(&pair->active, &pair->passive);
    exchange(&pair->passive, &pair->active);
    disconnect(&pair->active);
}

/* Data may arrive, and be answered, before the program looks at its Accept. */
static void data_before_the_accept_is_reaped(void)
{
    struct pair *pair = new_pair(&(struct pair_options){ .active = { .two_cqs = true } });
    struct op *complete = new_op();
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
    expect_status(ND_SUCCESS, post_receive(&pair->active, TAG(2), 0, 8));
    pair_request(pair);
    pair_accept(pair);
    HRESULT hr = CALL(pair->active.connector, CompleteConnect, &complete->overlapped);
    expect_status(ND_PENDING, hr);
    expect_status(ND_SUCCESS, wait_op(pair->active.connector, complete));
    expect_status(ND_SUCCESS, post_send(&pair->active, TAG(3), 8, 8, 0));
    expect_equal(8, expect_result(&pair->passive, Nd2RequestTypeReceive, TAG(1), ND_SUCCESS));
    expect_status(ND_SUCCESS, post_send(&pair->passive, TAG(4), 8, 8, 0));
    expect_equal(8, expect_result(&pair->active, Nd2RequestTypeReceive, TAG(2), ND_SUCCESS));
    expect_status(ND_SUCCESS, wait_op(pair->passive.connector, pair->accept));
}

/* A client asks for the peer's disconnect while its CompleteConnect is under way. */
static void notify_disconnect_behind_complete_connect(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *complete = new_op(), *notify = new_op();
    struct connector *connector = pair->active.connector;
    pair_request(pair);
    pair_accept(pair);
    expect_status(ND_PENDING, CALL(connector, CompleteConnect, &complete->overlapped));
    expect_status(ND_PENDING, CALL(connector, NotifyDisconnect, &notify->overlapped));
    expect_status(ND_SUCCESS, wait_op(connector, complete));
    expect_status(ND_SUCCESS, wait_op(pair->passive.connector, pair->accept));
    expect_status(ND_PENDING, result_of(connector, notify));
    disconnect(&pair->passive);
    expect_status(ND_SUCCESS, wait_op(connector, notify));
}

/* Many */

/* Both sides connect at once; the higher one rejects, the loser flushes and releases in the handler. */
static void head_to_head(void)
{
    struct pair *ab = new_pair(NULL);
    struct pair *ba = new_pair(&(struct pair_options){
        .active = { .node = ab->passive.node }, .passive = { .node = ab->active.node } });
    pair_request(ab);
    pair_request(ba);
    /* b outranks a: it rejects a's and has its own accepted. */
    expect_status(ND_SUCCESS, post_receive(&ab->active, TAG(1), 0, 8));
    expect_status(ND_SUCCESS, CALL(ab->passive.connector, Reject, NULL, 0));
    release_now(ab->passive.connector);
    expect_status(ND_CONNECTION_REFUSED, wait_op(ab->active.connector, ab->connect));
    expect_status(ND_SUCCESS, CALL(ab->active.qp, Flush));
    expect_result(&ab->active, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
    expect_equal(0, release_now(ab->active.qp));
    expect_equal(0, release_now(ab->active.connector));
    pair_accept(ba);
    pair_complete(ba);
    exchange(&ba->active, &ba->passive);
    exchange(&ba->passive, &ba->active);
}

/* Connections in sequence, each with its own queue pair, all released before the next: the library may leak nothing. */
static void many_connections(void)
{
    struct pair *pair = new_pair(NULL);
    for (unsigned i = 0; i < 200; i++) {
        note("connection %u", i);
        connect_ends(pair);
        exchange(&pair->active, &pair->passive);
        disconnect(i % 2 ? &pair->active : &pair->passive);
        struct end *ends[] = { &pair->active, &pair->passive };
        for (int e = 0; e < 2; e++) {
            expect_equal(0, release_now(ends[e]->connector));
            expect_equal(0, release_now(ends[e]->qp));
            ends[e]->qp = new_qp(ends[e]->node, ends[e]->cq, ends[e], 4);
        }
        pair->active.connector = new_bound_connector(pair->active.node);
        pair->passive.connector = new_connector(pair->passive.node);
        close_now(pair->request->event);
        close_now(pair->connect->event);
        close_now(pair->accept->event);
        close_now(pair->complete->event);
    }
}

#define AT_ONCE 40
/* Requests come in any order; the private data identifies them. */
static void many_connections_at_once(void)
{
    struct pair *pair = new_pair(&(struct pair_options){ .passive = { .cq_depth = 256 } });
    struct {
        struct connector *active, *passive;
        struct qp *active_qp, *passive_qp;
        struct op *request, *connect, *accept, *complete;
        DWORD data;
    } c[AT_ONCE];
    for (DWORD i = 0; i < AT_ONCE; i++) {
        c[i].data = i;
        c[i].active = new_bound_connector(pair->active.node);
        c[i].passive = new_connector(pair->passive.node);
        c[i].active_qp = new_qp(pair->active.node, pair->active.cq, NULL, 2);
        c[i].passive_qp = new_qp(pair->passive.node, pair->passive.cq, NULL, 2);
        c[i].request = new_op();
        c[i].connect = new_op();
        c[i].accept = new_op();
        c[i].complete = new_op();
        expect_status(ND_PENDING,
            CALL(pair->listener, GetConnectionRequest, c[i].passive, &c[i].request->overlapped));
    }
    for (DWORD i = 0; i < AT_ONCE; i++)
        expect_status(ND_PENDING,
            CALL(c[i].active, Connect, c[i].active_qp, &pair->listen.any, pair->listen.length, 1, 1,
                &c[i].data, sizeof(DWORD), &c[i].connect->overlapped));
    bool seen[AT_ONCE] = { false };
    for (DWORD i = 0; i < AT_ONCE; i++) {
        char data[256];
        DWORD who;
        ULONG size = sizeof(data);
        expect_status(ND_SUCCESS, wait_op(pair->listener, c[i].request));
        expect_status(ND_SUCCESS, CALL(c[i].passive, GetPrivateData, data, &size));
        memcpy(&who, data, sizeof(who));
        expect_true(size >= sizeof(who) && who < AT_ONCE && !seen[who]);
        seen[who] = true;
        expect_status(ND_PENDING,
            CALL(c[i].passive, Accept, c[i].passive_qp, 1, 1, NULL, 0, &c[i].accept->overlapped));
    }
    for (DWORD i = 0; i < AT_ONCE; i++) {
        expect_status(ND_SUCCESS, wait_op(c[i].active, c[i].connect));
        expect_status(ND_PENDING, CALL(c[i].active, CompleteConnect, &c[i].complete->overlapped));
    }
    for (DWORD i = 0; i < AT_ONCE; i++) {
        expect_status(ND_SUCCESS, wait_op(c[i].active, c[i].complete));
        expect_status(ND_SUCCESS, wait_op(c[i].passive, c[i].accept));
    }
}

SUITE(connector);
