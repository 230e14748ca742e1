/* SPDX-License-Identifier: MIT */
/*
 * test_states.c - a connector: every call in every state.
 */
#include "fixture.h"

enum state {
    IDLE,
    QUEUED,  /* in a GetConnectionRequest */
    BOUND,   /* version 1 binds with Connect: as Idle */
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
    CANCELLED, /* Connect was cancelled */
    STATES
};

static const char *const state_names[STATES] = { "Idle", "Queued", "Bound", "Bound after a refusal",
    "ReqSent", "ReqReceived", "RepReceived", "RepSent", "Connected, active", "Connected, passive",
    "PassiveDisconnect", "Disconnected by Disconnect", "Disconnected by Reject", "Cancelled" };

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
        if (state == REP_RECEIVED)
            return (struct subject){ pair, active, NULL };
        if (!row_holds_in_full()) /* where the reply is the establishment: soon is not at once */
            expect_status(ND_SUCCESS, wait_op(passive->connector, pair->accept));
        return (struct subject){ pair, passive, pair->accept };
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
    struct address address = *s->end->node->address;
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
        /* Where the reply establishes the connection, the state ends without a call of the peer. */
        int like = state == REP_SENT && !row_holds_in_full() ? CONNECTED_PASSIVE : state;
        HRESULT expected = others;
        for (size_t i = 0; i < count; i++)
            if ((int)named[i].state == like)
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

/* Cancelled: Microsoft's pages of Connect list ND_CONNECTION_ACTIVE, and a card under Windows returns it. */
static void connect_in_every_state(void)
{
    IN_EVERY_STATE(call_connect, ND_CONNECTION_ACTIVE, { BOUND, ND_PENDING },
        { REFUSED, ND_PENDING }, { IDLE, V2_V1(NT_ADDRESS_NOT_ASSOCIATED, ND_PENDING) },
        { QUEUED, ND_INVALID_DEVICE_STATE }, { LEFT, ND_INVALID_DEVICE_STATE },
        { REJECTED, ND_INVALID_DEVICE_STATE });
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
        { QUEUED, ND_CONNECTION_INVALID }, { BOUND, V2_V1(ND_SUCCESS, ND_CONNECTION_INVALID) });
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
        { LEFT, V2_V1(NT_CONNECTION_DISCONNECTED, ND_CONNECTION_INVALID) },
        { REJECTED, V2_V1(NT_CONNECTION_DISCONNECTED, ND_CONNECTION_INVALID) },
        { CANCELLED, V2_V1(NT_CONNECTION_DISCONNECTED, ND_CONNECTION_INVALID) });
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
        if (state == REQ_SENT || (state == REP_SENT && row_holds_in_full()))
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

SUITE(states);
