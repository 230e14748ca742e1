/* SPDX-License-Identifier: MIT */
/*
 * test_listener.c - IND2Listener: binding, listening, handing out connection requests.
 */
#include "fixture.h"

static HRESULT get_request(struct listener *listener, struct connector *connector, struct op *op)
{
    return CALL(listener, GetConnectionRequest, connector, &op->overlapped);
}

/* An active connector that connects to the listener; its private data identifies it. */
static struct connector *start_one(
    struct node *node, struct cq *cq, const struct address *to, BYTE data, struct op *op)
{
    struct connector *connector = new_bound_connector(node);
    struct qp *qp = new_qp(node, cq, NULL, 1);
    expect_status(ND_PENDING,
        CALL(connector, Connect, qp, &to->any, to->length, 0, 0, &data, 1, &op->overlapped));
    return connector;
}

static BYTE data_of(struct connector *connector)
{
    BYTE data[256];
    ULONG size = sizeof(data);
    expect_status(ND_SUCCESS, CALL(connector, GetPrivateData, data, &size));
    expect_true(size >= 1);
    return data[0];
}

static void bind_port_zero_chooses_a_port(void)
{
    struct node *node = new_node();
    struct address address = test_address(), got;
    struct listener *listener = new_listener(node);
    expect_status(ND_SUCCESS, CALL(listener->v2, Bind, &address.any, address.length));
    /* GetLocalAddress works before Listen already. */
    got.length = sizeof(got.v6);
    expect_status(ND_SUCCESS, CALL(listener->v2, GetLocalAddress, &got.any, &got.length));
    expect_true(same_ip(&address, &got));
    expect_true(port_of(&got) != 0);
    unsigned port = port_of(&got);
    expect_status(ND_SUCCESS, CALL(listener->v2, Listen, 0));
    got.length = sizeof(got.v6);
    expect_status(ND_SUCCESS, CALL(listener->v2, GetLocalAddress, &got.any, &got.length));
    expect_equal(port, port_of(&got));
}

static void second_bind(void)
{
    struct node *node = new_node();
    struct address address = test_address();
    struct listener *listener = new_listener(node);
    expect_status(ND_SUCCESS, CALL(listener->v2, Bind, &address.any, address.length));
    expect_status(
        NT_ADDRESS_ALREADY_ASSOCIATED, CALL(listener->v2, Bind, &address.any, address.length));
    expect_status(ND_SUCCESS, CALL(listener->v2, Listen, 0));
    expect_status(
        NT_ADDRESS_ALREADY_ASSOCIATED, CALL(listener->v2, Bind, &address.any, address.length));
}

static void second_listen(void)
{
    struct address at;
    struct listener *listener = new_listening(new_node(), 0, &at);
    expect_status(ND_INVALID_DEVICE_STATE, CALL(listener->v2, Listen, 0));
}

static void listen_before_bind(void)
{
    struct listener *listener = new_listener(new_node());
    expect_status(ND_INVALID_DEVICE_STATE, CALL(listener->v2, Listen, 0));
}

static void local_address_before_bind(void)
{
    struct address address;
    ULONG size = sizeof(address.v6);
    struct listener *listener = new_listener(new_node());
    expect_status(
        ND_INVALID_DEVICE_STATE, CALL(listener->v2, GetLocalAddress, &address.any, &size));
}

static void short_address_buffer(void)
{
    struct address at, address;
    struct listener *listener = new_listening(new_node(), 0, &at);
    ULONG size = 0;
    expect_status(ND_BUFFER_OVERFLOW, CALL(listener->v2, GetLocalAddress, NULL, &size));
    expect_equal(at.length, size);
    size = at.length - 1;
    expect_status(ND_BUFFER_OVERFLOW, CALL(listener->v2, GetLocalAddress, &address.any, &size));
    expect_equal(at.length, size);
    expect_status(ND_SUCCESS, CALL(listener->v2, GetLocalAddress, &address.any, &size));
}

static void request_before_listen(void)
{
    struct node *node = new_node();
    struct address address = test_address();
    struct listener *listener = new_listener(node);
    struct connector *connector = new_connector(node);
    struct op *op = new_op();
    expect_status(ND_INVALID_DEVICE_STATE, get_request(listener, connector, op));
    expect_status(ND_SUCCESS, CALL(listener->v2, Bind, &address.any, address.length));
    expect_status(ND_INVALID_DEVICE_STATE, get_request(listener, connector, op));
}

static void bind_to_a_foreign_address(void)
{
    struct address address = make_address("203.0.113.7", 0);
    struct listener *listener = new_listener(new_node());
    expect_status(ND_INVALID_ADDRESS, CALL(listener->v2, Bind, &address.any, address.length));
    address = test_address();
    expect_status(ND_SUCCESS, CALL(listener->v2, Bind, &address.any, address.length));
}

static void port_is_taken(void)
{
    struct address at;
    struct node *node = new_node();
    new_listening(node, 0, &at);
    struct listener *second = new_listener(node);
    expect_status(ND_SHARING_VIOLATION, CALL(second->v2, Bind, &at.any, at.length));
    /* A client searches a free port with fresh listeners. */
    struct address address = test_address();
    expect_status(ND_SUCCESS, CALL(second->v2, Bind, &address.any, address.length));
}

static void port_is_free_after_the_release(void)
{
    struct address at;
    struct node *node = new_node();
    struct listener *first = new_listening(node, 0, &at);
    expect_equal(0, release_now(first));
    for (int i = 0; i < 20; i++) {
        struct listener listener;
        struct address again;
        expect_status(ND_SUCCESS, CALL(node, Listen, &at, 0, &again, &listener));
        expect_equal(port_of(&at), port_of(&again));
        expect_equal(0, CALL(listener.unknown, Release));
    }
}

static void connector_is_not_idle(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *op = new_op(), *second = new_op();
    if (!row_is_v1()) /* where binding is no state */
        expect_status(ND_CONNECTION_ACTIVE,
            get_request(pair->listener, new_bound_connector(pair->passive.node), op));
    expect_status(ND_PENDING, get_request(pair->listener, pair->passive.connector, op));
    expect_status(
        ND_CONNECTION_ACTIVE, get_request(pair->listener, pair->passive.connector, second));
    /* That does not disturb the request that waits. */
    pair->connect = new_op();
    expect_status(ND_PENDING, start_connect(pair, pair->connect));
    expect_status(ND_SUCCESS, wait_op(pair->listener, op));
    expect_status(
        ND_CONNECTION_ACTIVE, get_request(pair->listener, pair->passive.connector, second));
}

/* Requests wait for connectors and connectors wait for requests; each is handed out once, oldest first. */
static void requests_come_in_order(void)
{
    struct pair *pair = new_pair(NULL);
    struct connector *passive[4];
    struct op *request[4], *connect[4];
    for (int i = 0; i < 4; i++) {
        passive[i] = new_connector(pair->passive.node);
        request[i] = new_op();
        connect[i] = new_op();
    }
    /* Two connectors wait: the first request goes to the first of them. */
    expect_status(ND_PENDING, get_request(pair->listener, passive[0], request[0]));
    expect_status(ND_PENDING, get_request(pair->listener, passive[1], request[1]));
    for (int i = 0; i < 2; i++) {
        start_one(pair->active.node, pair->active.cq, &pair->listen, (BYTE)i, connect[i]);
        expect_status(ND_SUCCESS, wait_op(pair->listener, request[i]));
        expect_equal(i, data_of(passive[i]));
        if (i == 0)
            expect_status(ND_PENDING, result_of(pair->listener, request[1]));
    }
    /* Requests that came before GetConnectionRequest. */
    start_one(pair->active.node, pair->active.cq, &pair->listen, 2, connect[2]);
    expect_status(ND_PENDING, get_request(pair->listener, passive[2], request[2]));
    expect_status(ND_SUCCESS, wait_op(pair->listener, request[2]));
    expect_equal(2, data_of(passive[2]));
    start_one(pair->active.node, pair->active.cq, &pair->listen, 3, connect[3]);
    expect_status(ND_PENDING, get_request(pair->listener, passive[3], request[3]));
    expect_status(ND_SUCCESS, wait_op(pair->listener, request[3]));
    expect_equal(3, data_of(passive[3]));
}

static void cancelled_connectors_are_idle_again(void)
{
    struct pair *pair = new_pair(NULL);
    struct connector *first = pair->passive.connector, *second = new_connector(pair->passive.node);
    struct op *op1 = new_op(), *op2 = new_op();
    expect_status(ND_PENDING, get_request(pair->listener, first, op1));
    expect_status(ND_PENDING, get_request(pair->listener, second, op2));
    expect_status(ND_SUCCESS, CALL(pair->listener, CancelOverlappedRequests));
    expect_true(event_is_set(op1) && event_is_set(op2));
    expect_status(ND_CANCELED, result_of(pair->listener, op1));
    expect_status(ND_CANCELED, result_of(pair->listener, op2));
    bind_connector(second, second->node->address);
    connect_ends(pair); /* with the first one queued anew */
    exchange(&pair->active, &pair->passive);
}

static void release_cancels(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *op = new_op();
    expect_status(ND_PENDING, get_request(pair->listener, pair->passive.connector, op));
    CALL(pair->listener->unknown, AddRef);
    expect_equal(1, CALL(pair->listener->unknown, Release));
    expect_equal(0, release_now(pair->listener));
    expect_true(event_is_set(op));
    expect_status(ND_CANCELED, (HRESULT)op->overlapped.Internal);
    /* The connector is idle. */
    bind_connector(pair->passive.connector, pair->passive.node->address);
}

/* A connector that waits in a GetConnectionRequest is released. */
static void release_of_a_queued_connector(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *op = new_op();
    struct connector *gone = new_connector(pair->passive.node);
    expect_status(ND_PENDING, get_request(pair->listener, gone, op));
    expect_equal(0, release_now(gone));
    connect_ends(pair); /* the request goes to the next */
    expect_status(ND_CANCELED, result_of(pair->listener, op));
    exchange(&pair->active, &pair->passive);
}

static void release_refuses_what_nobody_took(void)
{
    struct pair *pair = new_pair(NULL);
    struct op *op = new_op();
    /* A request that has arrived and was not taken: the first of two was handed out, so the second has arrived. */
    expect_status(ND_PENDING, start_connect(pair, op));
    expect_equal(0, release_now(pair->listener));
    expect_status(ND_CONNECTION_REFUSED, wait_op(pair->active.connector, op));
}

static void requests_outlive_their_listener(void)
{
    struct pair *pair = new_pair(NULL);
    pair_request(pair);
    expect_equal(0, release_now(pair->listener));
    pair_accept(pair);
    pair_complete(pair);
    exchange(&pair->active, &pair->passive);
    exchange(&pair->passive, &pair->active);
}

/* Beyond the backlog connections are refused; those within it are served. */
static void backlog_limits_unanswered_requests(void)
{
    struct pair *pair = new_pair(NULL);
    struct address at;
    struct listener *listener = new_listening(pair->passive.node, 2, &at);
    enum { TRIES = 12 };
    struct op *connect[TRIES];
    HANDLE events[TRIES];
    struct connector *active[TRIES];
    for (BYTE i = 0; i < TRIES; i++) {
        connect[i] = new_op();
        events[i] = connect[i]->event;
        active[i] = start_one(pair->active.node, pair->active.cq, &at, i, connect[i]);
    }
    DWORD which = WaitForMultipleObjects(TRIES, events, FALSE, DEADLINE_MS);
    expect_true(which < WAIT_OBJECT_0 + TRIES);
    expect_status(ND_CONNECTION_REFUSED, result_of(active[which], connect[which]));
    for (int i = 0; i < 2; i++) {
        struct connector *passive = new_connector(pair->passive.node);
        struct op *request = new_op();
        expect_status(ND_PENDING, get_request(listener, passive, request));
        expect_status(ND_SUCCESS, wait_op(listener, request));
        BYTE who = data_of(passive);
        expect_true(who < TRIES);
        expect_status(ND_PENDING, result_of(active[who], connect[who]));
    }
}

static void backlog_zero_is_unlimited(void)
{
    struct pair *pair = new_pair(&(struct pair_options){ .active = { .cq_depth = 128 } });
    enum { COUNT = 64 };
    struct op *connect[COUNT];
    for (BYTE i = 0; i < COUNT; i++) {
        connect[i] = new_op();
        start_one(pair->active.node, pair->active.cq, &pair->listen, i, connect[i]);
    }
    bool seen[COUNT] = { false };
    for (int i = 0; i < COUNT; i++) {
        struct connector *passive = new_connector(pair->passive.node);
        struct op *request = new_op();
        expect_status(ND_PENDING, get_request(pair->listener, passive, request));
        expect_status(ND_SUCCESS, wait_op(pair->listener, request));
        BYTE who = data_of(passive);
        expect_true(who < COUNT && !seen[who]);
        seen[who] = true;
    }
}

static void reach_wildcard(const char *wildcard, const char *const *targets, int count)
{
    struct address any = make_address(wildcard, 0), bound;
    struct node *node = new_node();
    struct cq *cq = new_cq(node, 16);
    struct listener *listener = new_listener(node);
    expect_status(ND_SUCCESS, CALL(listener->v2, Bind, &any.any, any.length));
    expect_status(ND_SUCCESS, CALL(listener->v2, Listen, 0));
    bound.length = sizeof(bound.v6);
    expect_status(ND_SUCCESS, CALL(listener->v2, GetLocalAddress, &bound.any, &bound.length));
    expect_true(port_of(&bound) != 0);
    for (int i = 0; i < count; i++) {
        note("%s through %s", targets[i], wildcard);
        struct address to = make_address(targets[i], port_of(&bound)), told;
        struct address from = make_address(targets[i], 0);
        struct connector *active = new_connector(node), *passive = new_connector(node);
        struct op *request = new_op(), *connect = new_op();
        expect_status(ND_PENDING, get_request(listener, passive, request));
        expect_status(ND_SUCCESS, CALL(active->v2, Bind, &from.any, from.length));
        expect_status(ND_PENDING, CALL(active, Connect, new_qp(node, cq, NULL, 1), &to.any,
                                      to.length, 0, 0, NULL, 0, &connect->overlapped));
        expect_status(ND_SUCCESS, wait_op(listener, request));
        /* The connector returns the address it was reached at. */
        told.length = sizeof(told.v6);
        expect_status(ND_SUCCESS, CALL(passive, GetLocalAddress, &told.any, &told.length));
        expect_true(same_ip(&to, &told));
        expect_status(ND_SUCCESS, CALL(passive, Reject, NULL, 0));
        expect_status(ND_CONNECTION_REFUSED, wait_op(active, connect));
    }
}

/* Addresses of the test's adapter that are IPv4, or IPv6, as text. */
static int adapter_addresses(int family, char text[][64], int room)
{
    struct node *node = new_node();
    ULONG size = 0;
    int count = 0;
    expect_status(ND_BUFFER_OVERFLOW, CALL(node->v2, QueryAddressList, NULL, &size));
    SOCKET_ADDRESS_LIST *list = keep_memory(size);
    expect_status(ND_SUCCESS, CALL(node->v2, QueryAddressList, list, &size));
    for (int i = 0; i < list->iAddressCount && count < room; i++) {
        DWORD length = 64;
        const struct sockaddr_in6 *v6 = (const void *)list->Address[i].lpSockaddr;
        if (v6->sin6_family != family)
            continue;
        if (family == AF_INET6 && v6->sin6_addr.s6_addr[0] == 0xFE)
            continue; /* link-local addresses need a scope */
        expect_equal(0, WSAAddressToStringA(list->Address[i].lpSockaddr,
                            (DWORD)list->Address[i].iSockaddrLength, NULL, text[count], &length));
        count++;
    }
    return count;
}

static void wildcard_listens_on_every_address(void)
{
    static char text[8][64];
    const char *targets[8];
    int count = adapter_addresses(AF_INET, text, 8);
    for (int i = 0; i < count; i++)
        targets[i] = text[i];
    expect_true(count > 0);
    reach_wildcard("0.0.0.0", targets, count);
}

static void ipv6_wildcard_listens_on_every_address(void)
{
    static char text[8][64];
    const char *targets[8];
    int count = adapter_addresses(AF_INET6, text, 8);
    for (int i = 0; i < count; i++)
        targets[i] = text[i];
    if (count > 0)
        reach_wildcard("::", targets, count);
}

SUITE(listener);
