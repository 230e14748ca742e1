/* SPDX-License-Identifier: MIT */
/*
 * test_connector.c - IND2Connector: every call in every state, then connecting, refusing, private data, read limits.
 */
#include "fixture.h"

/* The state machine */

enum state {
    IDLE,
    QUEUED, /* in a GetConnectionRequest */
    BOUND,
    REFUSED, /* Bound again, with reject data */
    REQ_SENT,
    REQ_RECEIVED,
    REP_RECEIVED,
    REP_SENT,
    CONNECTED, /* active side */
    CONNECTED_PASSIVE,
    PEER_LEFT, /* PassiveDisconnect */
    LEFT,      /* Disconnected: own Disconnect has ended */
    REJECTED,  /* Disconnected: rejected the peer's request */
    CANCELLED, /* Disconnected: Connect was cancelled */
    STATES
};

static const char *const state_names[STATES] = { "Idle", "Queued", "Bound", "Bound after a refusal",
    "ReqSent", "ReqReceived", "RepReceived", "RepSent", "Connected, active", "Connected, passive",
    "PassiveDisconnect", "Disconnected by Disconnect", "Disconnected by Reject",
    "Disconnected by cancel" };

static const char hello[] = "hello", sorry[] = "sorry";

/* A connector brought into a state. end: it and its queue pair. */
struct subject {
    struct pair *pair;
    struct end *end;
    struct op *op; /* the pending request that holds it there, if one does */
};

static struct subject reach(enum state state)
{
    static const struct pair_options options = { .connect_data = hello,
        .connect_length = sizeof(hello),
        .accept_data = hello,
        .accept_length = sizeof(hello) };
    struct pair *pair = new_pair(&options);
    struct end *active = &pair->active, *passive = &pair->passive;
    struct op *op = new_op();
    note("state %s", state_names[state]);
    switch (state) {
    case IDLE: return (struct subject){ pair, passive, NULL };
    case QUEUED:
        expect_status(ND_PENDING,
            CALL(pair->listener, GetConnectionRequest, passive->connector, &op->overlapped));
        return (struct subject){ pair, passive, op };
    case BOUND: return (struct subject){ pair, active, NULL };
    case REFUSED:
    case REJECTED:
        pair_request(pair);
        expect_status(ND_SUCCESS, CALL(passive->connector, Reject, sorry, sizeof(sorry)));
        expect_status(ND_CONNECTION_REFUSED, wait_op(active->connector, pair->connect));
        return (struct subject){ pair, state == REFUSED ? active : passive, NULL };
    case REQ_SENT:
    case CANCELLED:
        expect_status(ND_PENDING, start_connect(pair, op));
        if (state == REQ_SENT)
            return (struct subject){ pair, active, op };
        expect_status(ND_SUCCESS, CALL(active->connector, CancelOverlappedRequests));
        expect_status(ND_CANCELED, result_of(active->connector, op));
        return (struct subject){ pair, active, NULL };
    case REQ_RECEIVED: pair_request(pair); return (struct subject){ pair, passive, NULL };
    case REP_RECEIVED:
    case REP_SENT:
        pair_request(pair);
        pair_accept(pair);
        return state == REP_SENT ? (struct subject){ pair, passive, pair->accept }
                                 : (struct subject){ pair, active, NULL };
    default: break;
    }
    connect_ends(pair);
    if (state == PEER_LEFT) {
        expect_status(ND_PENDING, CALL(active->connector, NotifyDisconnect, &op->overlapped));
        disconnect(passive);
        expect_status(ND_SUCCESS, wait_op(active->connector, op));
    } else if (state == LEFT) {
        disconnect(active);
    }
    return (struct subject){ pair, state == CONNECTED_PASSIVE ? passive : active, NULL };
}

static HRESULT call_bind(struct subject *s)
{
    struct address address = test_address();
    return CALL(s->end->connector->v2, Bind, &address.any, address.length);
}

static HRESULT call_connect(struct subject *s)
{
    struct op *op = new_op();
    struct end *end = s->end;
    struct qp *qp = new_qp(end->node, end->cq, end, 1);
    return CALL(end->connector, Connect, qp, &s->pair->listen.any, s->pair->listen.length, 0, 0,
        NULL, 0, &op->overlapped);
}

static HRESULT call_complete_connect(struct subject *s)
{
    struct op *op = new_op();
    return finish(s->end->connector, CALL(s->end->connector, CompleteConnect, &op->overlapped), op);
}

static HRESULT call_accept(struct subject *s)
{
    struct op *op = new_op();
    struct qp *qp = new_qp(s->end->node, s->end->cq, s->end, 1);
    return CALL(s->end->connector, Accept, qp, 0, 0, NULL, 0, &op->overlapped);
}

static HRESULT call_reject(struct subject *s)
{
    return CALL(s->end->connector, Reject, NULL, 0);
}

static HRESULT call_get_read_limits(struct subject *s)
{
    ULONG inbound = 0, outbound = 0;
    return CALL(s->end->connector, GetReadLimits, &inbound, &outbound);
}

static HRESULT call_get_private_data(struct subject *s)
{
    char data[512];
    ULONG size = sizeof(data);
    return CALL(s->end->connector, GetPrivateData, data, &size);
}

static HRESULT call_get_local_address(struct subject *s)
{
    struct address address;
    ULONG size = sizeof(address.v6);
    return CALL(s->end->connector, GetLocalAddress, &address.any, &size);
}

static HRESULT call_get_peer_address(struct subject *s)
{
    struct address address;
    ULONG size = sizeof(address.v6);
    return CALL(s->end->connector, GetPeerAddress, &address.any, &size);
}

static HRESULT call_notify_disconnect(struct subject *s)
{
    struct op *op = new_op();
    HRESULT hr = CALL(s->end->connector, NotifyDisconnect, &op->overlapped);
    return hr == ND_PENDING ? result_of(s->end->connector, op) : hr;
}

static HRESULT call_disconnect(struct subject *s)
{
    struct op *op = new_op();
    return finish(s->end->connector, CALL(s->end->connector, Disconnect, &op->overlapped), op);
}

/* expected[STATES] gives the result of a call in each state; a state not named there expects `others`. */
#define NOT_NAMED ((HRESULT)0x0BADBAD0)
struct expectation {
    enum state state;
    HRESULT status;
};

static void in_every_state(HRESULT (*call)(struct subject *), HRESULT others,
    const struct expectation *named, size_t count)
{
    for (int state = 0; state < STATES; state++) {
        HRESULT expected = others;
        for (size_t i = 0; i < count; i++)
            if ((int)named[i].state == state)
                expected = named[i].status;
        struct subject subject = reach((enum state)state);
        expect_status(expected, call(&subject));
    }
}
#define IN_EVERY_STATE(call, others, ...)                                                          \
    in_every_state(call, others, (const struct expectation[]){ __VA_ARGS__ },                      \
        sizeof((const struct expectation[]){ __VA_ARGS__ }) / sizeof(struct expectation))

static void bind_in_every_state(void)
{
    IN_EVERY_STATE(call_bind, NT_ADDRESS_ALREADY_ASSOCIATED, { IDLE, ND_SUCCESS });
}

static void connect_in_every_state(void)
{
    IN_EVERY_STATE(call_connect, ND_CONNECTION_ACTIVE, { BOUND, ND_PENDING },
        { REFUSED, ND_PENDING }, { IDLE, NT_ADDRESS_NOT_ASSOCIATED },
        { QUEUED, ND_INVALID_DEVICE_STATE }, { LEFT, ND_INVALID_DEVICE_STATE },
        { REJECTED, ND_INVALID_DEVICE_STATE }, { CANCELLED, ND_INVALID_DEVICE_STATE });
}

static void complete_connect_in_every_state(void)
{
    IN_EVERY_STATE(call_complete_connect, ND_CONNECTION_INVALID, { REP_RECEIVED, ND_SUCCESS },
        { LEFT, ND_CONNECTION_ABORTED }, { REJECTED, ND_CONNECTION_ABORTED },
        { CANCELLED, ND_CONNECTION_ABORTED });
}

static void accept_in_every_state(void)
{
    IN_EVERY_STATE(call_accept, ND_CONNECTION_ACTIVE, { REQ_RECEIVED, ND_PENDING },
        { LEFT, ND_CONNECTION_ABORTED }, { REJECTED, ND_CONNECTION_ABORTED },
        { CANCELLED, ND_CONNECTION_ABORTED });
}

static void reject_in_every_state(void)
{
    IN_EVERY_STATE(call_reject, ND_INVALID_DEVICE_STATE, { REQ_RECEIVED, ND_SUCCESS },
        { REP_RECEIVED, ND_SUCCESS }, { LEFT, ND_CONNECTION_INVALID },
        { REJECTED, ND_CONNECTION_INVALID }, { CANCELLED, ND_CONNECTION_INVALID });
}

static void get_read_limits_in_every_state(void)
{
    IN_EVERY_STATE(call_get_read_limits, ND_CONNECTION_INVALID, { REQ_RECEIVED, ND_SUCCESS },
        { REP_RECEIVED, ND_SUCCESS });
}

static void get_private_data_in_every_state(void)
{
    IN_EVERY_STATE(call_get_private_data, ND_CONNECTION_INVALID, { REQ_RECEIVED, ND_SUCCESS },
        { REP_RECEIVED, ND_SUCCESS }, { REFUSED, ND_SUCCESS });
}

static void get_local_address_in_every_state(void)
{
    IN_EVERY_STATE(call_get_local_address, ND_SUCCESS, { IDLE, ND_CONNECTION_INVALID },
        { QUEUED, ND_CONNECTION_INVALID });
}

static void get_peer_address_in_every_state(void)
{
    IN_EVERY_STATE(call_get_peer_address, ND_SUCCESS, { IDLE, ND_CONNECTION_INVALID },
        { QUEUED, ND_CONNECTION_INVALID }, { BOUND, ND_CONNECTION_INVALID },
        { REFUSED, ND_CONNECTION_INVALID });
}

static void notify_disconnect_in_every_state(void)
{
    IN_EVERY_STATE(call_notify_disconnect, ND_CONNECTION_INVALID, { CONNECTED, ND_PENDING },
        { CONNECTED_PASSIVE, ND_PENDING }, { PEER_LEFT, ND_SUCCESS },
        { LEFT, NT_CONNECTION_DISCONNECTED }, { REJECTED, NT_CONNECTION_DISCONNECTED },
        { CANCELLED, NT_CONNECTION_DISCONNECTED });
}

static void disconnect_in_every_state(void)
{
    IN_EVERY_STATE(call_disconnect, ND_CONNECTION_INVALID, { CONNECTED, ND_SUCCESS },
        { CONNECTED_PASSIVE, ND_SUCCESS }, { PEER_LEFT, ND_SUCCESS });
}

static void cancel_in_every_state(void)
{
    for (int state = 0; state < STATES; state++) {
        struct subject s = reach((enum state)state);
        expect_status(ND_SUCCESS, CALL(s.end->connector, CancelOverlappedRequests));
        if (state == REQ_SENT || state == REP_SENT)
            expect_status(ND_CANCELED, result_of(s.end->connector, s.op));
        else if (state == QUEUED) /* the listener's request, not the connector's */
            expect_status(ND_PENDING, result_of(s.pair->listener, s.op));
    }
}

static void release_in_every_state_returns_zero(void)
{
    for (int state = 0; state < STATES; state++) {
        struct subject s = reach((enum state)state);
        expect_equal(0, release_now(s.end->connector));
    }
}

/* Two threads' calls may overlap a Disconnect that is under way: it may have ended before the next call. */
static void second_disconnect_while_one_runs(void)
{
    struct pair *pair = connected_pair(NULL);
    struct op *first = new_op(), *second = new_op();
    struct connector *connector = pair->active.connector;
    expect_status(ND_PENDING, CALL(connector, Disconnect, &first->overlapped));
    expect_one_of(CALL(connector, Disconnect, &second->overlapped), ND_INVALID_DEVICE_STATE,
        ND_CONNECTION_INVALID);
    expect_status(ND_SUCCESS, wait_op(connector, first));
}

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
    expect_status(ND_SUCCESS, CALL(first->v2, Bind, &listen->any, listen->length));
    expect_status(ND_SUCCESS, CALL(second->v2, Bind, &listen->any, listen->length));
    address.length = sizeof(address.v6);
    expect_status(ND_SUCCESS, CALL(second, GetLocalAddress, &address.any, &address.length));
    expect_equal(port_of(listen), port_of(&address));

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
    /* A port that was free a moment ago: that of a listener which is gone. Somebody else may have taken it since. */
    for (int tries = 0; tries < 5; tries++) {
        struct pair *pair = new_pair(NULL);
        struct address local, peer;
        struct listener *listener = new_listening(pair->active.node, 0, &local);
        release_now(listener);
        release_now(pair->active.connector);
        pair->active.connector = new_connector(pair->active.node);
        expect_status(ND_SUCCESS, CALL(pair->active.connector->v2, Bind, &local.any, local.length));
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
    expect_status(ND_SUCCESS, CALL(connector, GetLocalAddress, &before.any, &before.length));

    pair->listener = new_listening(pair->passive.node, 0, &pair->listen);
    connect_ends(pair);
    after.length = sizeof(after.v6);
    expect_status(ND_SUCCESS, CALL(connector, GetLocalAddress, &after.any, &after.length));
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

/* Data may arrive, and be answered, before anybody has looked at the Accept. */
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

/* Refusing */

static void passive_side_rejects(void)
{
    struct pair *pair = new_pair(NULL);
    char data[256] = "";
    ULONG size = sizeof(data);
    pair_request(pair);
    expect_status(ND_SUCCESS, CALL(pair->passive.connector, Reject, sorry, sizeof(sorry)));
    expect_status(ND_CONNECTION_REFUSED, wait_op(pair->active.connector, pair->connect));
    expect_status(ND_SUCCESS, CALL(pair->active.connector, GetPrivateData, data, &size));
    expect_true(size >= sizeof(sorry));
    expect_true(strcmp(data, sorry) == 0);
}

static void active_side_rejects(void)
{
    struct pair *pair = new_pair(NULL);
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
    pair_request(pair);
    pair_accept(pair);
    expect_status(ND_SUCCESS, CALL(pair->active.connector, Reject, sorry, sizeof(sorry)));
    expect_status(ND_CONNECTION_REFUSED, wait_op(pair->passive.connector, pair->accept));
    expect_result(&pair->passive, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
}

static void active_side_is_released_unconfirmed(void)
{
    struct pair *pair = new_pair(NULL);
    expect_status(ND_SUCCESS, post_receive(&pair->passive, TAG(1), 0, 8));
    pair_request(pair);
    pair_accept(pair);
    expect_equal(0, release_now(pair->active.connector));
    expect_status(ND_CONNECTION_REFUSED, wait_op(pair->passive.connector, pair->accept));
    expect_result(&pair->passive, Nd2RequestTypeReceive, TAG(1), ND_CANCELED);
}

static void passive_side_is_released_unanswered(void)
{
    struct pair *pair = new_pair(NULL);
    pair_request(pair);
    expect_equal(0, release_now(pair->passive.connector));
    expect_status(ND_CONNECTION_REFUSED, wait_op(pair->active.connector, pair->connect));
}

static void reject_with_too_much_data(void)
{
    struct pair *pair = new_pair(NULL);
    ULONG limit = pair->passive.node->info.MaxCalleeData;
    char *data = keep_memory(limit + 1);
    pair_request(pair);
    expect_status(ND_INVALID_BUFFER_SIZE, CALL(pair->passive.connector, Reject, data, limit + 1));
    expect_status(ND_SUCCESS, CALL(pair->passive.connector, Reject, data, limit));
    expect_status(ND_CONNECTION_REFUSED, wait_op(pair->active.connector, pair->connect));
}

/* Waits until the passive connector has learnt that its request is dead. */
static void wait_until_dead(struct connector *connector)
{
    ULONGLONG end = GetTickCount64() + DEADLINE_MS;
    ULONG inbound, outbound;
    while (CALL(connector, GetReadLimits, &inbound, &outbound) == ND_SUCCESS) {
        if (GetTickCount64() > end)
            fail_row("the peer has gone and the connector does not know");
        SwitchToThread();
    }
}

static void accept_of_a_dead_request(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *op = new_op();
    pair_request(pair);
    release_now(pair->active.connector);
    wait_until_dead(pair->passive.connector);
    expect_status(
        ND_CONNECTION_ABORTED, finish(pair->passive.connector, start_accept(pair, op), op));
}

static void reject_of_a_dead_request(void)
{
    struct pair *pair = new_pair(NULL);
    ULONG inbound, outbound;
    pair_request(pair);
    release_now(pair->active.connector);
    wait_until_dead(pair->passive.connector);
    expect_status(
        ND_CONNECTION_INVALID, CALL(pair->passive.connector, GetReadLimits, &inbound, &outbound));
    expect_status(ND_CONNECTION_INVALID, CALL(pair->passive.connector, Reject, NULL, 0));
}

static void cancel_connect(void)
{
    struct pair *pair = new_pair(NULL);
    pair_request(pair);
    expect_status(ND_SUCCESS, CALL(pair->active.connector, CancelOverlappedRequests));
    expect_true(event_is_set(pair->connect));
    expect_status(ND_CANCELED, result_of(pair->active.connector, pair->connect));
    wait_until_dead(pair->passive.connector);
}

static void cancel_accept(void)
{
    struct pair *pair = new_pair(NULL);
    pair_request(pair);
    pair_accept(pair);
    expect_status(ND_SUCCESS, CALL(pair->passive.connector, CancelOverlappedRequests));
    expect_true(event_is_set(pair->accept));
    expect_status(ND_CANCELED, result_of(pair->passive.connector, pair->accept));
    struct op *op = new_op();
    expect_status(
        ND_CONNECTION_ABORTED, finish(pair->passive.connector, start_accept(pair, op), op));
}

/* Private data */

static void connect_with_too_much_data(void)
{
    struct pair *pair = new_pair(NULL);
    ULONG limit = pair->active.node->info.MaxCallerData, size = 0;
    char *sent = keep_memory(limit + 1), *received = keep_memory(512);
    struct op *op = new_op();
    struct address address = test_address();
    expect_true(limit > 0);
    memset(sent, 'x', limit + 1);
    pair->options.connect_data = sent;
    pair->options.connect_length = limit + 1;
    expect_status(ND_INVALID_BUFFER_SIZE, start_connect(pair, op));
    (void)CALL(pair->active.connector->v2, Bind, &address.any, address.length);
    pair->options.connect_length = limit;
    pair_request(pair);
    expect_status(ND_BUFFER_OVERFLOW, CALL(pair->passive.connector, GetPrivateData, NULL, &size));
    expect_true(size >= limit && size <= 512);
    expect_status(ND_SUCCESS, CALL(pair->passive.connector, GetPrivateData, received, &size));
    expect_equal(0, memcmp(sent, received, limit));
    pair_accept(pair);
    pair_complete(pair);
}

static void accept_with_too_much_data(void)
{
    struct pair *pair = new_pair(NULL);
    ULONG limit = pair->passive.node->info.MaxCalleeData, size = 512;
    char *sent = keep_memory(limit + 1), *received = keep_memory(size);
    struct op *op = new_op();
    expect_true(limit > 0);
    memset(sent, 'y', limit + 1);
    pair->options.accept_data = sent;
    pair->options.accept_length = limit + 1;
    pair_request(pair);
    expect_status(ND_INVALID_BUFFER_SIZE, start_accept(pair, op));
    pair->options.accept_length = limit;
    pair_accept(pair);
    expect_status(ND_SUCCESS, CALL(pair->active.connector, GetPrivateData, received, &size));
    expect_true(size >= limit);
    expect_equal(0, memcmp(sent, received, limit));
    pair_complete(pair);
}

static void private_data_both_ways(ULONG from_active, ULONG from_passive)
{
    char *hi = keep_memory(256), *ho = keep_memory(256), *got = keep_memory(512);
    ULONG size = 0;
    fill((BYTE *)hi, 256, from_active);
    fill((BYTE *)ho, 256, from_passive);
    note("%u octets, answered by %u", (unsigned)from_active, (unsigned)from_passive);
    struct pair *pair = new_pair(&(struct pair_options){ .connect_data = hi,
        .connect_length = from_active,
        .accept_data = ho,
        .accept_length = from_passive });
    pair_request(pair);
    struct connector *connector = pair->passive.connector;
    expect_status(ND_BUFFER_OVERFLOW, CALL(connector, GetPrivateData, NULL, &size));
    expect_true(size >= from_active && size <= 512);
    ULONG full = size;
    expect_status(ND_SUCCESS, CALL(connector, GetPrivateData, got, &size));
    expect_true(size >= from_active);
    expect_equal(0, memcmp(got, hi, from_active));

    /* A short buffer is filled, and the full size told. */
    memset(got, 0, 512);
    size = from_active - 1;
    expect_status(ND_BUFFER_OVERFLOW, CALL(connector, GetPrivateData, got, &size));
    expect_equal(full, size);
    expect_equal(0, memcmp(got, hi, from_active - 1));
    expect_equal(0, got[from_active - 1]);

    pair_accept(pair);
    size = 512;
    expect_status(ND_SUCCESS, CALL(pair->active.connector, GetPrivateData, got, &size));
    expect_true(size >= from_passive);
    expect_equal(0, memcmp(got, ho, from_passive));
    pair_complete(pair);
}

static void private_data_arrives(void)
{
    private_data_both_ways(36, 4);
    private_data_both_ways(40, 36);
    private_data_both_ways(1, 1);
    private_data_both_ways(56, 148);
}

/* Read limits */

struct limits {
    ULONG active_in, active_out, passive_in, passive_out; /* asked for */
};

static ULONG least(ULONG a, ULONG b)
{
    return a < b ? a : b;
}

static void read_limits(struct limits asked)
{
    note("asked for %u/%u and %u/%u", (unsigned)asked.active_in, (unsigned)asked.active_out,
        (unsigned)asked.passive_in, (unsigned)asked.passive_out);
#define ASK(n) ((n) ? (n) : READS_NONE)
    struct pair *pair =
        new_pair(&(struct pair_options){ .active = { .inbound_reads = ASK(asked.active_in),
                                             .outbound_reads = ASK(asked.active_out) },
            .passive = { .inbound_reads = ASK(asked.passive_in),
                .outbound_reads = ASK(asked.passive_out) } });
    ULONG max_in = pair->active.node->info.MaxInboundReadLimit;
    ULONG max_out = pair->active.node->info.MaxOutboundReadLimit;
    ULONG in = 777, out = 777;
    pair_request(pair);
    expect_status(ND_SUCCESS, CALL(pair->passive.connector, GetReadLimits, &in, &out));
    ULONG offer_in = least(asked.active_out, max_in), offer_out = least(asked.active_in, max_out);
    expect_equal(offer_in, in);
    expect_equal(offer_out, out);
    pair_accept(pair);
    expect_status(ND_SUCCESS, CALL(pair->active.connector, GetReadLimits, &in, &out));
    expect_equal(least(asked.passive_out, offer_out), in);
    expect_equal(least(asked.passive_in, offer_in), out);
    expect_status(ND_SUCCESS, CALL(pair->active.connector, GetReadLimits, &in, NULL));
    expect_status(ND_SUCCESS, CALL(pair->active.connector, GetReadLimits, NULL, &out));
    pair_complete(pair);
    exchange(&pair->active, &pair->passive);
}

static void read_limits_are_negotiated(void)
{
    read_limits((struct limits){ 4, 4, 4, 4 });
    read_limits((struct limits){ 2, 8, 8, 8 });
    read_limits((struct limits){ 8, 8, 3, 5 });
    read_limits((struct limits){ 6, 1, 2, 7 });
}

static void read_limits_of_zero(void)
{
    read_limits((struct limits){ 6, 0, 6, 6 });
    read_limits((struct limits){ 0, 6, 6, 6 });
    read_limits((struct limits){ 0, 0, 6, 6 });
    read_limits((struct limits){ 6, 6, 0, 0 });
    read_limits((struct limits){ 0, 0, 0, 0 });
}

static void read_limits_above_everything(void)
{
    read_limits((struct limits){ 256, 256, 256, 256 });
    read_limits((struct limits){ 300, 1000, 65536, 0x7FFFFFFF });
    read_limits((struct limits){ 0xFFFFFFFE, 255, 254, 0xFFFFFFFE });
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

/* One after the other, each with its own queue pair, all released before the next: nothing may pile up. */
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
/* Requests come in any order; who is who is told by the private data. */
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
