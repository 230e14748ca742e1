/* SPDX-License-Identifier: MIT */
/* test_connection.c - connectors, listeners and shared endpoints. */
#include "tests/unit/ndk/pair.h"

#include <arpa/inet.h>
#include <string.h>

static NTSTATUS get_data(NDK_CONNECTOR *connector, void *data, ULONG *length)
{
    return connector->Dispatch->NdkGetConnectionData(connector, NULL, NULL, data, length);
}

/* Private data comes as it was given, or filled with zeros up to what the transport carries. */
static ULONG told_length(ULONG given, ULONG carried)
{
    return row_holds_in_full() ? given : carried;
}

static void both_sides_agree(void **state)
{
    struct pair *pair = *state;
    NDK_CONNECTOR *active = pair->active.connector, *passive;
    ULONG inbound = 0, outbound = 0, length;
    struct sockaddr_in address;
    char data[300];

    assert_int_equal(start_connect(&pair->active, &pair->address, "hello", 5), SPEC_STATUS_PENDING);
    take_incoming(pair);
    passive = pair->passive.connector;
    /* The length: asked for without a buffer, too small, enough. */
    length = 0;
    assert_int_equal(get_data(passive, NULL, &length), 0);
    assert_int_equal(length, told_length(5, 56));
    assert_int_equal(get_data(passive, NULL, &length), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(get_data(passive, data, NULL), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    length = 3;
    memset(data, 'x', sizeof(data));
    assert_int_equal(get_data(passive, data, &length), (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(length, told_length(5, 56));
    assert_memory_equal(data, "helxx", 5);
    length = sizeof(data);
    assert_int_equal(
        passive->Dispatch->NdkGetConnectionData(passive, &inbound, &outbound, data, &length), 0);
    assert_int_equal(length, told_length(5, 56));
    assert_memory_equal(data, row_holds_in_full() ? "hellox" : "hello\0", 6);
    assert_int_equal(inbound, 8); /* the peer's outbound */
    assert_int_equal(outbound, 4);

    assert_int_equal(start_accept(&pair->passive, "good day", 8), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    length = sizeof(data);
    assert_int_equal(
        active->Dispatch->NdkGetConnectionData(active, &inbound, &outbound, data, &length), 0);
    assert_int_equal(length, told_length(8, 148));
    assert_memory_equal(data, "good day", 8);
    assert_int_equal(inbound, 2);  /* 4 asked for, 2 offered */
    assert_int_equal(outbound, 8); /* 8 asked for, 16 offered */
    assert_int_equal(start_complete(&pair->active), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    assert_int_equal(outcome(&pair->passive), 0);

    /* Addresses; sizes as for data, but a query without a buffer is too small. */
    length = 0;
    assert_int_equal(active->Dispatch->NdkGetPeerAddress(active, NULL, &length),
        (NTSTATUS)SPEC_STATUS_BUFFER_TOO_SMALL);
    assert_int_equal(length, 16);
    assert_int_equal(active->Dispatch->NdkGetPeerAddress(active, NULL, NULL),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(active->Dispatch->NdkGetPeerAddress(active, (SOCKADDR *)&address, &length), 0);
    assert_int_equal(address.sin_port, pair->address.sin_port);
    assert_int_equal(
        active->Dispatch->NdkGetLocalAddress(active, (SOCKADDR *)&address, &length), 0);
    assert_int_equal(address.sin_addr.s_addr, own_address(0).sin_addr.s_addr);
    length = sizeof(data);
    assert_int_equal(passive->Dispatch->NdkGetPeerAddress(passive, (SOCKADDR *)data, &length), 0);
    assert_int_equal(length, 16);
    assert_int_equal(((struct sockaddr_in *)data)->sin_port, address.sin_port);
    /* What the peer gave can be read until the close. */
    length = sizeof(data);
    assert_int_equal(get_data(active, data, &length), 0);
    assert_int_equal(length, told_length(8, 148));
}

static void disconnect_tells_the_peer_once(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(start_disconnect(&pair->active), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    told_wait(&pair->passive.disconnect);
    assert_int_equal(pair->passive.disconnect.level, 2);
    assert_int_equal(start_disconnect(&pair->passive), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->passive), 0);
    assert_int_equal(atomic_load(&pair->active.disconnect.count), 0);
    assert_int_equal(atomic_load(&pair->passive.disconnect.count), 1);
}

/* Each end's request ends well, whichever the other end saw first. */
static void both_sides_disconnect_at_once(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(start_disconnect(&pair->active), SPEC_STATUS_PENDING);
    assert_int_equal(start_disconnect(&pair->passive), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    assert_int_equal(outcome(&pair->passive), 0);
    assert_int_equal(start_disconnect(&pair->active), (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    close_connector(pair->active.connector);
    close_connector(pair->passive.connector);
    pair->active.connector = pair->passive.connector = NULL;
    assert_int_equal(atomic_load(&pair->active.disconnect.count), 0);
    assert_true(atomic_load(&pair->passive.disconnect.count) <= 1);
}

/* They bring no callback, or another one; that of the call which made the connection stays. */
static void refused_calls_leave_the_event(void **state)
{
    struct pair *pair = *state;
    struct side *active = &pair->active, *passive = &pair->passive;
    NDK_QP *qp = qp_create(passive->pd, passive->receive_cq, passive->initiator_cq, NULL);
    NDK_CONNECTOR *connector = active->connector;
    struct told other, never;

    told_init(&other);
    told_init(&never);
    assert_int_equal(
        connector->Dispatch->NdkCompleteConnect(connector, NULL, NULL, tell_request, &never),
        (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    assert_int_equal(connector->Dispatch->NdkCompleteConnectEx(
                         connector, tell_disconnect_ex, &other, tell_request, &never),
        (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    connector = passive->connector;
    assert_int_equal(connector->Dispatch->NdkAccept(
                         connector, qp, 1, 1, NULL, 0, NULL, NULL, tell_request, &never),
        (NTSTATUS)SPEC_STATUS_CONNECTION_ACTIVE);
    assert_int_equal(connector->Dispatch->NdkAcceptEx(connector, qp, 1, 1, NULL, 0,
                         tell_disconnect_ex, &other, tell_request, &never),
        (NTSTATUS)SPEC_STATUS_CONNECTION_ACTIVE);
    passive->qp->Dispatch->NdkFlush(passive->qp);
    close_connector(passive->connector);
    passive->connector = NULL;
    told_wait(&active->disconnect);
    assert_int_equal(active->disconnect.status, 0);
    assert_int_equal(atomic_load(&active->disconnect.count), 1);
    assert_int_equal(atomic_load(&other.count), 0);
    assert_int_equal(atomic_load(&never.count), 0);
    close_qp(qp);
}

/* The same at the side that accepted; a refused Accept that comes before the good one leaves nothing. */
static void refused_accepts_leave_the_event(void **state)
{
    static char data[149];
    struct pair *pair = *state;
    struct side *passive = &pair->passive;
    struct told other, never;
    NDK_CONNECTOR *connector;

    told_init(&other);
    told_init(&never);
    assert_int_equal(start_connect(&pair->active, &pair->address, NULL, 0), SPEC_STATUS_PENDING);
    take_incoming(pair);
    connector = passive->connector;
    assert_int_equal(connector->Dispatch->NdkAcceptEx(connector, passive->qp, 1, 1, data,
                         sizeof(data), tell_disconnect_ex, &other, tell_request, &never),
        (NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE);
    assert_int_equal(start_accept(passive, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    assert_int_equal(start_complete(&pair->active), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    assert_int_equal(outcome(passive), 0);
    assert_int_equal(connector->Dispatch->NdkCompleteConnectEx(
                         connector, tell_disconnect_ex, &other, tell_request, &never),
        (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    assert_int_equal(start_disconnect(&pair->active), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    told_wait(&passive->disconnect);
    assert_int_equal(atomic_load(&passive->disconnect.count), 1);
    assert_int_equal(atomic_load(&other.count), 0);
    assert_int_equal(atomic_load(&never.count), 0);
}

static NTSTATUS receive(struct side *side, void *context)
{
    const NDK_SGE entry = sge(side->memory, 16, side->token);

    return side->qp->Dispatch->NdkReceive(side->qp, context, &entry, 1);
}

static ULONG take(struct side *side, NDK_RESULT *result)
{
    return side->receive_cq->Dispatch->NdkGetCqResults(side->receive_cq, result, 1);
}

/* Has two Receives posted when the peer leaves: Microsoft's page of the callback has the provider not flush them. */
static void keep_receives(struct pair *pair)
{
    struct side *side = &pair->passive;
    NDK_RESULT result;

    assert_int_equal(receive(side, &pair), 0);
    assert_int_equal(receive(side, &side), 0);
    assert_int_equal(start_disconnect(&pair->active), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    told_wait(&side->disconnect);
    assert_int_equal(take(side, &result), 0);
}

static void expect_receives_cancelled(struct side *side, unsigned count)
{
    NDK_RESULT result;

    for (unsigned i = 0; i < count; i++) {
        while (!take(side, &result))
            sched_yield();
        assert_int_equal(result.Status, (NTSTATUS)SPEC_STATUS_CANCELLED);
    }
    assert_int_equal(take(side, &result), 0);
}

/* It goes on taking requests, and its own disconnect ends them. */
static void requests_stay_when_the_peer_leaves(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->passive;
    NDK_RESULT result;

    keep_receives(pair);
    assert_int_equal(receive(side, state), 0);
    assert_int_equal(take(side, &result), 0);
    assert_int_equal(start_disconnect(side), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(side), 0);
    expect_receives_cancelled(side, 3);
}

static void flush_ends_what_the_peer_left(void **state)
{
    struct pair *pair = *state;

    keep_receives(pair);
    pair->passive.qp->Dispatch->NdkFlush(pair->passive.qp);
    expect_receives_cancelled(&pair->passive, 2);
}

static void close_ends_what_the_peer_left(void **state)
{
    struct pair *pair = *state;

    keep_receives(pair);
    close_connector(pair->passive.connector);
    pair->passive.connector = NULL;
    expect_receives_cancelled(&pair->passive, 2);
}

static void close_of_a_connector_disconnects(void **state)
{
    struct pair *pair = *state;
    NDK_RESULT result;
    NDK_SGE entry = sge(pair->passive.memory, 16, pair->passive.token);

    assert_int_equal(pair->passive.qp->Dispatch->NdkReceive(pair->passive.qp, NULL, &entry, 1), 0);
    close_connector(pair->active.connector);
    pair->active.connector = NULL;
    told_wait(&pair->passive.disconnect);
    close_connector(pair->passive.connector);
    pair->passive.connector = NULL;
    while (
        !pair->passive.receive_cq->Dispatch->NdkGetCqResults(pair->passive.receive_cq, &result, 1))
        sched_yield();
    assert_int_equal(result.Status, (NTSTATUS)SPEC_STATUS_CANCELLED);
    assert_int_equal(atomic_load(&pair->active.disconnect.count), 0);
    assert_int_equal(atomic_load(&pair->passive.disconnect.count), 1);
}

static void events_have_a_reason_since_2_1(void **state)
{
    struct pair *pair = *state;
    struct side *active = &pair->active, *passive = &pair->passive;

    assert_int_equal(start_connect(active, &pair->address, NULL, 0), SPEC_STATUS_PENDING);
    take_incoming(pair);
    assert_int_equal(
        passive->connector->Dispatch->NdkAcceptEx(passive->connector, passive->qp, 1, 1, NULL, 0,
            tell_disconnect_ex, &passive->disconnect, tell_request, &passive->request),
        SPEC_STATUS_PENDING);
    assert_int_equal(outcome(active), 0);
    assert_int_equal(active->connector->Dispatch->NdkCompleteConnectEx(active->connector,
                         tell_disconnect_ex, &active->disconnect, tell_request, &active->request),
        SPEC_STATUS_PENDING);
    assert_int_equal(outcome(active), 0);
    assert_int_equal(outcome(passive), 0);
    assert_int_equal(start_disconnect(passive), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(passive), 0);
    told_wait(&active->disconnect);
    assert_int_equal(active->disconnect.status, 0); /* a disconnect as it should be gives none */
    assert_int_equal(atomic_load(&passive->disconnect.count), 0);
}

/* ---- refusals ---- */

static void reject_refuses_with_data(void **state)
{
    struct pair *pair = *state;
    char data[300];
    ULONG length = sizeof(data);

    assert_int_equal(
        start_connect(&pair->active, &pair->address, "please", 6), SPEC_STATUS_PENDING);
    take_incoming(pair);
    assert_int_equal(get_data(pair->passive.connector, data, &length), 0);
    assert_int_equal(length, told_length(6, 56));
    assert_memory_equal(data, "please", 6);
    length = sizeof(data);
    assert_int_equal(pair->passive.connector->Dispatch->NdkReject(pair->passive.connector, NULL, 1),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(
        pair->passive.connector->Dispatch->NdkReject(pair->passive.connector, data, 149),
        (NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE);
    assert_int_equal(
        pair->passive.connector->Dispatch->NdkReject(pair->passive.connector, "sorry", 5), 0);
    assert_int_equal(outcome(&pair->active), (NTSTATUS)SPEC_STATUS_CONNECTION_REFUSED);
    assert_int_equal(get_data(pair->active.connector, data, &length), 0);
    assert_int_equal(length, told_length(5, 148));
    assert_memory_equal(data, "sorry", 5);
}

/*
 * Microsoft's page of NdkConnect says of four statuses, STATUS_CONNECTION_REFUSED among them, that the attempt can be
 * retried. The queue pair of the failed one is free, and may even be closed.
 */
static void refused_connects_are_tried_again(void **state)
{
    struct pair *pair = *state;
    struct side *active = &pair->active;
    NDK_QP *first = active->qp;
    char data[300];
    ULONG length = sizeof(data);

    for (int i = 0; i < 6; i++) { /* more often than there are antecedents */
        assert_int_equal(start_connect(active, &pair->address, NULL, 0), SPEC_STATUS_PENDING);
        take_incoming(pair);
        assert_int_equal(
            pair->passive.connector->Dispatch->NdkReject(pair->passive.connector, "no", 2), 0);
        assert_int_equal(outcome(active), (NTSTATUS)SPEC_STATUS_CONNECTION_REFUSED);
        close_connector(pair->passive.connector);
        pair->passive.connector = NULL;
    }
    active->qp = qp_create(active->pd, active->receive_cq, active->initiator_cq, NULL);
    close_qp(first);
    pair_connect(pair);
    assert_int_equal(get_data(active->connector, data, &length), 0);
    assert_true(length == 0 || data[0] == 0); /* not the refusals' */
    assert_int_equal(
        start_connect(active, &pair->address, NULL, 0), (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
}

static void close_of_a_request_refuses(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(start_connect(&pair->active, &pair->address, NULL, 0), SPEC_STATUS_PENDING);
    take_incoming(pair);
    close_connector(pair->passive.connector);
    pair->passive.connector = NULL;
    assert_int_equal(outcome(&pair->active), (NTSTATUS)SPEC_STATUS_CONNECTION_REFUSED);
}

static void nobody_listens(void **state)
{
    struct pair *pair = *state;

    close_listener(pair->listener);
    pair->listener = NULL;
    assert_int_equal(start_connect(&pair->active, &pair->address, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), (NTSTATUS)SPEC_STATUS_CONNECTION_REFUSED);
}

static void active_side_backs_out(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(start_connect(&pair->active, &pair->address, NULL, 0), SPEC_STATUS_PENDING);
    take_incoming(pair);
    assert_int_equal(start_accept(&pair->passive, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    assert_int_equal(
        pair->active.connector->Dispatch->NdkReject(pair->active.connector, NULL, 0), 0);
    if (!row_holds_in_full()) { /* the Accept has ended already, and there is a disconnect */
        assert_int_equal(outcome(&pair->passive), 0);
        told_wait(&pair->passive.disconnect);
        return;
    }
    assert_int_equal(outcome(&pair->passive), (NTSTATUS)SPEC_STATUS_CONNECTION_ABORTED);
    assert_int_equal(atomic_load(&pair->passive.disconnect.count), 0);
}

/*
 * Microsoft's page of NdkAccept: STATUS_CONNECTION_ABORTED where the peer abandoned the connection. The device may
 * learn of that only when it answers.
 */
static void accept_after_the_peer_gave_up_ends(void **state)
{
    struct pair *pair = *state;
    struct side *passive = &pair->passive;
    NTSTATUS status;

    assert_int_equal(start_connect(&pair->active, &pair->address, NULL, 0), SPEC_STATUS_PENDING);
    take_incoming(pair);
    close_connector(pair->active.connector);
    pair->active.connector = NULL;
    assert_int_equal(outcome(&pair->active), (NTSTATUS)SPEC_STATUS_CANCELLED);
    if ((status = start_accept(passive, NULL, 0)) == SPEC_STATUS_PENDING)
        status = outcome(passive);
    if (!row_holds_in_full() && status == 0) { /* it may end before that is known */
        told_wait(&passive->disconnect);
        return;
    }
    assert_int_equal(status, (NTSTATUS)SPEC_STATUS_CONNECTION_ABORTED);
    assert_int_equal(atomic_load(&passive->disconnect.count), 0);
}

static void paused_listener_refuses(void **state)
{
    struct pair *pair = *state;
    NDK_CONNECTOR *second = connector_create(pair->active.adapter), *first;

    pair->listener->Dispatch->NdkControlConnectEvents(pair->listener, TRUE);
    assert_int_equal(start_connect(&pair->active, &pair->address, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), (NTSTATUS)SPEC_STATUS_CONNECTION_REFUSED);
    assert_int_equal(atomic_load(&pair->incoming.count), 0);
    pair->listener->Dispatch->NdkControlConnectEvents(pair->listener, FALSE);
    first = pair->active.connector;
    pair->active.connector = second;
    pair_connect(pair); /* the refused attempt left the queue pair free, but for its close */
    close_connector(first);
}

/* ---- what is refused in the call ---- */

static void bad_calls_of_connectors(void **state)
{
    static char data[300];
    struct pair *pair = *state;
    struct side *active = &pair->active;
    NDK_CONNECTOR *connector = active->connector;
    const NDK_CONNECTOR_DISPATCH *table = connector->Dispatch;
    struct sockaddr_in here = own_address(0), any = { .sin_family = AF_INET }, far = own_address(0);
    struct sockaddr_in any_taken = { .sin_family = AF_INET, .sin_port = pair->address.sin_port };
    SOCKADDR *from = (SOCKADDR *)&here, *to = (SOCKADDR *)&pair->address;
    const struct {
        NDK_QP *qp;
        SOCKADDR *from;
        ULONG from_length;
        SOCKADDR *to;
        char *data;
        ULONG length;
        NDK_FN_REQUEST_COMPLETION completion;
        NTSTATUS status;
    } rows[] = {
        { NULL, from, 16, to, NULL, 0, tell_request, (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER },
        { one_device() ? NULL : pair->passive.qp, from, 16, to, NULL, 0, tell_request,
            (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER },
        { (NDK_QP *)active->pd, from, 16, to, NULL, 0, tell_request,
            (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER },
        { active->qp, NULL, 16, to, NULL, 0, tell_request,
            (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER },
        { active->qp, from, 16, NULL, NULL, 0, tell_request,
            (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER },
        { active->qp, from, 16, to, NULL, 1, tell_request,
            (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER },
        { active->qp, from, 16, to, data, 57, tell_request,
            (NTSTATUS)SPEC_STATUS_INVALID_BUFFER_SIZE },
        { active->qp, from, 16, to, NULL, 0, NULL, (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER },
        { active->qp, from, 3, to, NULL, 0, tell_request, (NTSTATUS)SPEC_STATUS_INVALID_ADDRESS },
        { active->qp, (SOCKADDR *)&any_taken, 16, to, NULL, 0, tell_request,
            (NTSTATUS)SPEC_STATUS_INVALID_ADDRESS },
        { active->qp, (SOCKADDR *)&any, 16, to, NULL, 0, tell_request,
            (NTSTATUS)SPEC_STATUS_INVALID_ADDRESS },
        { active->qp, (SOCKADDR *)&far, 16, to, NULL, 0, tell_request,
            (NTSTATUS)SPEC_STATUS_INVALID_ADDRESS },
    };
    ULONG length = sizeof(data);

    far.sin_addr.s_addr = htonl(0xC6336401); /* 198.51.100.1, for documents */
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(table->NdkConnect(connector, rows[i].qp, rows[i].from, rows[i].from_length,
                             rows[i].to, sizeof(struct sockaddr_in), 1, 1, rows[i].data,
                             rows[i].length, rows[i].completion, &active->request),
            rows[i].status);
    assert_int_equal(start_complete(active), (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    assert_int_equal(start_disconnect(active), (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    assert_int_equal(
        table->NdkReject(connector, NULL, 0), (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    assert_int_equal(get_data(connector, data, &length), (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    assert_int_equal(table->NdkGetPeerAddress(connector, (SOCKADDR *)data, &length),
        (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    assert_int_equal(atomic_load(&active->request.count), 0);
    pair_connect(pair); /* none of these used it up */
    assert_int_equal(start_complete(active), (NTSTATUS)SPEC_STATUS_CONNECTION_INVALID);
    assert_int_equal(
        table->NdkReject(connector, NULL, 0), (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
}

static NTSTATUS listen_at(NDK_LISTENER *listener, const struct sockaddr_in *address, ULONG length)
{
    struct told told;

    told_init(&told);
    return ended(&told,
        listener->Dispatch->NdkListen(listener, (SOCKADDR *)address, length, tell_request, &told));
}

static void bad_calls_of_listeners(void **state)
{
    struct pair *pair = *state;
    struct told incoming;
    NDK_LISTENER *listener = listener_create(pair->passive.adapter, &incoming);
    struct sockaddr_in address = peer_address(0), foreign = peer_address(0);
    NDK_ADAPTER *adapter = pair->passive.adapter;
    ULONG length = 0;

    assert_int_equal(
        adapter->Dispatch->NdkCreateListener(adapter, NULL, NULL, tell_create, NULL, &listener),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(listen_at(listener, NULL, 16), (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(listen_at(listener, &address, 3), (NTSTATUS)SPEC_STATUS_INVALID_ADDRESS);
    foreign.sin_addr.s_addr = htonl(0xC6336401);
    assert_int_equal(
        listen_at(listener, &foreign, sizeof(foreign)), (NTSTATUS)SPEC_STATUS_INVALID_ADDRESS);
    assert_int_equal(listen_at(listener, &pair->address, sizeof(pair->address)),
        (NTSTATUS)SPEC_STATUS_SHARING_VIOLATION);
    assert_int_equal(listener->Dispatch->NdkGetLocalAddress(listener, NULL, &length),
        (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    assert_int_equal(listener->Dispatch->NdkGetLocalAddress(listener, NULL, NULL),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);
    assert_int_equal(listen_at(listener, &address, sizeof(address)), 0);
    assert_int_equal(
        listen_at(listener, &address, sizeof(address)), (NTSTATUS)SPEC_STATUS_INVALID_DEVICE_STATE);
    close_listener(listener);
}

/* ---- order of closes ---- */

static void listener_ends_after_its_connectors(void **state)
{
    struct pair *pair = *state;
    struct told told;

    told_init(&told);
    assert_int_equal(
        pair->listener->Dispatch->NdkCloseListener(&pair->listener->Header, tell_close, &told),
        SPEC_STATUS_PENDING);
    pair->listener = NULL;
    for (int i = 0; i < 1000; i++)
        sched_yield();
    assert_int_equal(atomic_load(&told.count), 0);
    close_connector(pair->passive.connector);
    pair->passive.connector = NULL;
    told_wait(&told);
}

static void queue_pair_ends_after_its_connector(void **state)
{
    struct pair *pair = *state;
    struct told told;

    told_init(&told);
    assert_int_equal(
        pair->active.qp->Dispatch->NdkCloseQp(&pair->active.qp->Header, tell_close, &told),
        SPEC_STATUS_PENDING);
    pair->active.qp = NULL;
    told_wait(&pair->passive.disconnect); /* the close has ended the connection */
    assert_int_equal(atomic_load(&told.count), 0);
    close_connector(pair->active.connector);
    pair->active.connector = NULL;
    told_wait(&told);
}

static struct {
    NDK_CONNECTOR *connector;
    struct told closed;
    NTSTATUS status;
} closing;

static VOID close_when_ended(PVOID context, NTSTATUS status)
{
    (void)context;
    closing.status = status;
    closing.connector->Dispatch->NdkCloseConnector(
        &closing.connector->Header, tell_close, &closing.closed);
}

static void close_inside_the_completion(void **state)
{
    struct pair *pair = *state;
    struct sockaddr_in from = own_address(0);

    closing.connector = pair->active.connector;
    pair->active.connector = NULL;
    told_init(&closing.closed);
    pair->listener->Dispatch->NdkControlConnectEvents(pair->listener, TRUE);
    assert_int_equal(closing.connector->Dispatch->NdkConnect(closing.connector, pair->active.qp,
                         (SOCKADDR *)&from, sizeof(from), (SOCKADDR *)&pair->address,
                         sizeof(pair->address), 1, 1, NULL, 0, close_when_ended, NULL),
        SPEC_STATUS_PENDING);
    told_wait(&closing.closed);
    assert_int_equal(closing.status, (NTSTATUS)SPEC_STATUS_CONNECTION_REFUSED);
    assert_int_equal(atomic_load(&closing.closed.count), 1);
}

static void close_ends_what_is_pending(void **state)
{
    struct pair *pair = *state;
    NDK_CONNECTOR *connector = pair->active.connector;
    struct told told;
    NTSTATUS closed;

    told_init(&told);
    assert_int_equal(start_connect(&pair->active, &pair->address, NULL, 0), SPEC_STATUS_PENDING);
    take_incoming(pair);
    pair->active.connector = NULL;
    closed = connector->Dispatch->NdkCloseConnector(&connector->Header, tell_close, &told);
    assert_int_equal(outcome(&pair->active), (NTSTATUS)SPEC_STATUS_CANCELLED);
    /* In the call where the Connect's callback returned before the call looked. */
    assert_true(closed == STATUS_PENDING || closed == STATUS_SUCCESS);
    if (closed == STATUS_PENDING)
        told_wait(&told);
    else
        assert_int_equal(atomic_load(&told.count), 0);
    assert_int_equal(atomic_load(&pair->active.request.count), 1);
}

static struct {
    KEVENT entered, go;
    struct told told;
} held;

static VOID hold_incoming(PVOID context, NDK_CONNECTOR *connector)
{
    (void)context;
    KeSetEvent(&held.entered, 0, FALSE);
    while (!KeReadStateEvent(&held.go))
        sched_yield();
    tell_incoming(&held.told, connector);
}

/* The first request's callback runs while the listener is closed; the second one's has not begun. */
static void listener_close_refuses_what_was_not_told(void **state)
{
    struct pair *pair = *state;
    struct side *active = &pair->active;
    NDK_ADAPTER *adapter = pair->passive.adapter;
    NDK_QP *qp = qp_create(active->pd, active->receive_cq, active->initiator_cq, NULL);
    NDK_CONNECTOR *second = connector_create(active->adapter);
    struct sockaddr_in from = own_address(0), address = peer_address(0);
    ULONG length = sizeof(address);
    NDK_LISTENER *listener = NULL;
    struct told told, refused;

    KeInitializeEvent(&held.entered, NotificationEvent, FALSE);
    KeInitializeEvent(&held.go, NotificationEvent, FALSE);
    told_init(&held.told);
    told_init(&refused);
    told_init(&told);
    listener = made(&told,
        adapter->Dispatch->NdkCreateListener(
            adapter, hold_incoming, NULL, tell_create, &told, &listener),
        &listener);
    assert_int_equal(listen_at(listener, &address, sizeof(address)), 0);
    assert_int_equal(
        listener->Dispatch->NdkGetLocalAddress(listener, (SOCKADDR *)&address, &length), 0);
    assert_int_equal(start_connect(active, &address, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(KeWaitForSingleObject(&held.entered, Executive, KernelMode, FALSE, NULL), 0);
    assert_int_equal(second->Dispatch->NdkConnect(second, qp, (SOCKADDR *)&from, 16,
                         (SOCKADDR *)&address, 16, 1, 1, NULL, 0, tell_request, &refused),
        SPEC_STATUS_PENDING);
    told_init(&told);
    assert_int_equal(listener->Dispatch->NdkCloseListener(&listener->Header, tell_close, &told),
        SPEC_STATUS_PENDING);
    KeSetEvent(&held.go, 0, FALSE);
    told_wait(&refused);
    assert_int_equal(refused.status, (NTSTATUS)SPEC_STATUS_CONNECTION_REFUSED);
    told_wait(&held.told);
    close_connector((NDK_CONNECTOR *)held.told.object);
    told_wait(&told);
    assert_int_equal(outcome(active), (NTSTATUS)SPEC_STATUS_CONNECTION_REFUSED);
    assert_int_equal(atomic_load(&held.told.count), 1);
    close_connector(second);
    close_qp(qp);
}

/* ---- shared endpoints ---- */

static NTSTATUS make_endpoint(
    NDK_ADAPTER *adapter, const struct sockaddr_in *address, NDK_SHARED_ENDPOINT **out)
{
    struct told told;
    NDK_SHARED_ENDPOINT *endpoint = NULL;
    NTSTATUS status;

    told_init(&told);
    status = adapter->Dispatch->NdkCreateSharedEndpoint(
        adapter, (SOCKADDR *)address, sizeof(*address), tell_create, &told, &endpoint);
    *out = made(&told, status, &endpoint);
    if (*out)
        return 0;
    return status == SPEC_STATUS_PENDING ? told.status : status;
}

static NTSTATUS connect_over(struct side *side, NDK_CONNECTOR *connector, NDK_QP *qp,
    NDK_SHARED_ENDPOINT *endpoint, const struct sockaddr_in *to)
{
    return connector->Dispatch->NdkConnectWithSharedEndpoint(connector, qp, endpoint,
        (SOCKADDR *)to, sizeof(*to), 1, 1, NULL, 0, tell_request, &side->request);
}

static void connectors_share_an_endpoint(void **state)
{
    struct pair *pair = *state;
    struct side *active = &pair->active;
    struct sockaddr_in any_port = own_address(0), address, local;
    NDK_SHARED_ENDPOINT *endpoint, *other;
    NDK_CONNECTOR *second = connector_create(active->adapter);
    NDK_QP *qp = qp_create(active->pd, active->receive_cq, active->initiator_cq, NULL);
    ULONG length = sizeof(address);
    struct told told, qp_told;

    assert_int_equal(make_endpoint(active->adapter, &any_port, &endpoint), 0);
    assert_int_equal(endpoint->Header.ObjectType, 7);
    assert_int_equal(
        endpoint->Dispatch->NdkGetLocalAddress(endpoint, (SOCKADDR *)&address, &length), 0);
    assert_int_equal(length, 16);
    assert_int_not_equal(address.sin_port, 0);
    assert_int_equal(
        make_endpoint(active->adapter, &address, &other), (NTSTATUS)SPEC_STATUS_SHARING_VIOLATION);
    assert_int_equal(connect_over(active, active->connector, active->qp, NULL, &pair->address),
        (NTSTATUS)SPEC_STATUS_INVALID_PARAMETER);

    assert_int_equal(connect_over(active, active->connector, active->qp, endpoint, &pair->address),
        SPEC_STATUS_PENDING);
    take_incoming(pair);
    length = sizeof(local);
    assert_int_equal(pair->passive.connector->Dispatch->NdkGetPeerAddress(
                         pair->passive.connector, (SOCKADDR *)&local, &length),
        0);
    assert_int_equal(local.sin_port, address.sin_port);
    assert_int_equal(start_accept(&pair->passive, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(active), 0);
    assert_int_equal(start_complete(active), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(active), 0);
    assert_int_equal(outcome(&pair->passive), 0);
    /* The same destination once more. */
    assert_int_equal(connect_over(active, second, qp, endpoint, &pair->address),
        (NTSTATUS)SPEC_STATUS_ADDRESS_ALREADY_EXISTS);
    /* The endpoint ends after its connectors, and so does each connector's queue pair. */
    told_init(&told);
    told_init(&qp_told);
    assert_int_equal(
        endpoint->Dispatch->NdkCloseSharedEndpoint(&endpoint->Header, tell_close, &told),
        SPEC_STATUS_PENDING);
    assert_int_equal(active->qp->Dispatch->NdkCloseQp(&active->qp->Header, tell_close, &qp_told),
        SPEC_STATUS_PENDING);
    active->qp = NULL;
    assert_int_equal(atomic_load(&told.count), 0);
    assert_int_equal(atomic_load(&qp_told.count), 0);
    close_connector(active->connector);
    active->connector = NULL;
    told_wait(&told);
    told_wait(&qp_told);
    close_connector(second);
    close_qp(qp);
}

/* A refused connector leaves its endpoint, and the destination is free again. */
static void refused_connects_leave_their_endpoint(void **state)
{
    struct pair *pair = *state;
    struct side *active = &pair->active;
    struct sockaddr_in any_port = own_address(0);
    NDK_SHARED_ENDPOINT *endpoints[2];

    for (int i = 0; i < 2; i++) {
        assert_int_equal(make_endpoint(active->adapter, &any_port, &endpoints[i]), 0);
        assert_int_equal(
            connect_over(active, active->connector, active->qp, endpoints[i], &pair->address),
            SPEC_STATUS_PENDING);
        take_incoming(pair);
        close_connector(pair->passive.connector);
        pair->passive.connector = NULL;
        assert_int_equal(outcome(active), (NTSTATUS)SPEC_STATUS_CONNECTION_REFUSED);
    }
    close_object(&endpoints[0]->Header, endpoints[0]->Dispatch->NdkCloseSharedEndpoint);
    assert_int_equal(
        connect_over(active, active->connector, active->qp, endpoints[1], &pair->address),
        SPEC_STATUS_PENDING);
    take_incoming(pair);
    assert_int_equal(start_accept(&pair->passive, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(active), 0);
    assert_int_equal(start_complete(active), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(active), 0);
    assert_int_equal(outcome(&pair->passive), 0);
    close_connector(active->connector);
    active->connector = NULL;
    close_object(&endpoints[1]->Header, endpoints[1]->Dispatch->NdkCloseSharedEndpoint);
}

static void assert_dynamic(const struct sockaddr_in *address)
{
    assert_in_range(ntohs(address->sin_port), 49152, 65535);
}

/* Microsoft's page of NdkConnect: a local port of zero is allocated from the ephemeral ports, 49152 to 65535. */
static void any_port_is_a_dynamic_one(void **state)
{
    struct pair *pair = *state;
    struct side *active = &pair->active;
    struct sockaddr_in any_port = own_address(0), address;
    ULONG length = sizeof(address);
    NDK_SHARED_ENDPOINT *endpoint;

    assert_dynamic(&pair->address);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(make_endpoint(active->adapter, &any_port, &endpoint), 0);
        assert_int_equal(
            endpoint->Dispatch->NdkGetLocalAddress(endpoint, (SOCKADDR *)&address, &length), 0);
        assert_dynamic(&address);
        close_object(&endpoint->Header, endpoint->Dispatch->NdkCloseSharedEndpoint);
    }
    pair_connect(pair);
    assert_int_equal(active->connector->Dispatch->NdkGetLocalAddress(
                         active->connector, (SOCKADDR *)&address, &length),
        0);
    assert_dynamic(&address);
}

/* One address, two destinations; what arrives at each comes over its own connection. */
static void endpoint_has_two_destinations(void **state)
{
    struct pair *pair = *state;
    struct side *active = &pair->active, *passive = &pair->passive;
    struct sockaddr_in any_port = own_address(0), second_address = peer_address(0), local[3];
    NDK_CONNECTOR *second = connector_create(active->adapter), *first = active->connector;
    NDK_CONNECTOR *ends[2];
    NDK_QP *qp = qp_create(active->pd, active->receive_cq, active->initiator_cq, NULL);
    NDK_QP *far_qp = qp_create(passive->pd, passive->receive_cq, passive->initiator_cq, NULL);
    NDK_QP *qps[2] = { active->qp, qp }, *far_qps[2] = { passive->qp, far_qp };
    NDK_SHARED_ENDPOINT *endpoint;
    struct told incoming;
    NDK_LISTENER *listener = listener_create(passive->adapter, &incoming);
    ULONG length = sizeof(second_address);

    assert_int_equal(listen_at(listener, &second_address, sizeof(second_address)), 0);
    assert_int_equal(
        listener->Dispatch->NdkGetLocalAddress(listener, (SOCKADDR *)&second_address, &length), 0);
    assert_int_equal(make_endpoint(active->adapter, &any_port, &endpoint), 0);
    length = sizeof(local[0]);
    assert_int_equal(
        endpoint->Dispatch->NdkGetLocalAddress(endpoint, (SOCKADDR *)&local[2], &length), 0);
    for (int i = 0; i < 2; i++) {
        active->connector = i ? second : first;
        assert_int_equal(connect_over(active, active->connector, qps[i], endpoint,
                             i ? &second_address : &pair->address),
            SPEC_STATUS_PENDING);
        told_wait(i ? &incoming : &pair->incoming);
        ends[i] = (NDK_CONNECTOR *)(i ? incoming.object : pair->incoming.object);
        length = sizeof(local[i]);
        assert_int_equal(
            ends[i]->Dispatch->NdkGetPeerAddress(ends[i], (SOCKADDR *)&local[i], &length), 0);
        assert_int_equal(local[i].sin_port, local[2].sin_port);
        assert_int_equal(ends[i]->Dispatch->NdkAccept(ends[i], far_qps[i], 1, 1, NULL, 0, NULL,
                             NULL, tell_request, &passive->request),
            SPEC_STATUS_PENDING);
        assert_int_equal(outcome(active), 0);
        assert_int_equal(start_complete(active), SPEC_STATUS_PENDING);
        assert_int_equal(outcome(active), 0);
        assert_int_equal(outcome(passive), 0);
    }
    for (int i = 0; i < 2; i++) {
        NDK_SGE room = sge(passive->memory, 8, passive->token);
        NDK_SGE entry = sge(active->memory, 8, active->token);
        NDK_RESULT result;

        assert_int_equal(far_qps[i]->Dispatch->NdkReceive(far_qps[i], &ends[i], &room, 1), 0);
        assert_int_equal(qps[i]->Dispatch->NdkSend(qps[i], NULL, &entry, 1, 0), 0);
        while (!passive->receive_cq->Dispatch->NdkGetCqResults(passive->receive_cq, &result, 1))
            sched_yield();
        assert_int_equal(result.Status, 0);
        assert_ptr_equal(result.RequestContext, &ends[i]);
    }
    close_connector(first);
    close_connector(second);
    active->connector = NULL;
    close_connector(ends[0]);
    close_connector(ends[1]);
    close_listener(listener);
    close_qp(qp);
    close_qp(far_qp);
    close_object(&endpoint->Header, endpoint->Dispatch->NdkCloseSharedEndpoint);
}

int main(void)
{
#define ROW(test)       cmocka_unit_test_setup_teardown(test, pair_set_up, pair_tear_down)
#define CONNECTED(test) cmocka_unit_test_setup_teardown(test, pair_set_up_connected, pair_tear_down)
    const struct CMUnitTest tests[] = {
        ROW(both_sides_agree),
        CONNECTED(disconnect_tells_the_peer_once),
        CONNECTED(both_sides_disconnect_at_once),
        CONNECTED(refused_calls_leave_the_event),
        ROW(refused_accepts_leave_the_event),
        CONNECTED(requests_stay_when_the_peer_leaves),
        CONNECTED(flush_ends_what_the_peer_left),
        CONNECTED(close_ends_what_the_peer_left),
        CONNECTED(close_of_a_connector_disconnects),
        ROW(events_have_a_reason_since_2_1),
        ROW(reject_refuses_with_data),
        ROW(refused_connects_are_tried_again),
        ROW(close_of_a_request_refuses),
        ROW(nobody_listens),
        ROW(active_side_backs_out),
        ROW(accept_after_the_peer_gave_up_ends),
        ROW(paused_listener_refuses),
        ROW(bad_calls_of_connectors),
        ROW(bad_calls_of_listeners),
        CONNECTED(listener_ends_after_its_connectors),
        CONNECTED(queue_pair_ends_after_its_connector),
        ROW(close_inside_the_completion),
        ROW(close_ends_what_is_pending),
        ROW(listener_close_refuses_what_was_not_told),
        ROW(connectors_share_an_endpoint),
        ROW(refused_connects_leave_their_endpoint),
        ROW(any_port_is_a_dynamic_one),
        ROW(endpoint_has_two_destinations),
    };

    return run_in_modes("connection", tests);
}
