/* SPDX-License-Identifier: MIT */
/* The state machine of a connector, row by row, against the interface pages of IND2Connector and INDConnector. */
#include "tests/unit/util/cmocka_test.h"

#include "ndspi/core/connection/connector.h"
#include "ndspi/core/queue/qp.h"

#include <stdio.h>
#include <string.h>

/* Codes are typed here, not taken from headers. */
#define OK_       0x00000000u
#define PENDING_  0x00000103u
#define ASSOC     0xC0000238u /* already associated */
#define NOT_ASSOC 0xC0000239u
#define INVALID_  0xC000023Au
#define ACTIVE_   0xC000023Bu
#define ABORTED_  0xC0000241u
#define BADSTATE  0xC0000184u
#define ENDED_    0xC000020Cu
#define REFUSED_  0xC0000236u
#define CANCELED_ 0xC0000120u
#define IOTIME    0xC00000B5u
#define TIME_     0x00000102u
#define REMOVED_  0xC00002B6u
#define GIVEN_    0xC00000CCu /* what the tests give with an event */

/* In the order of enum nd_connector_state:
 * Idle Queued Bound Resolving ReqSent ReqReceived RepReceived RepSent Connected Passive Active Disconnected
 * Canceled */
static const struct {
    const char *name;
    enum nd_connector_call call;
    unsigned result[13];
} calls[] = {
    { "GetConnectionRequest", ND_CALL_QUEUE,
        { PENDING_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_,
            ACTIVE_, ACTIVE_, ACTIVE_ } },
    { "Bind", ND_CALL_BIND,
        { OK_, ASSOC, ASSOC, ASSOC, ASSOC, ASSOC, ASSOC, ASSOC, ASSOC, ASSOC, ASSOC, ASSOC,
            ASSOC } },
    { "Connect of version 1, its binding", ND_CALL_BIND_AND_CONNECT,
        { OK_, BADSTATE, OK_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_,
            ACTIVE_, BADSTATE, ACTIVE_ } },
    { "Connect", ND_CALL_CONNECT,
        { NOT_ASSOC, BADSTATE, PENDING_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_,
            ACTIVE_, ACTIVE_, BADSTATE, ACTIVE_ } },
    { "CompleteConnect", ND_CALL_COMPLETE_CONNECT,
        { INVALID_, INVALID_, INVALID_, INVALID_, INVALID_, INVALID_, PENDING_, INVALID_, INVALID_,
            INVALID_, INVALID_, ABORTED_, ABORTED_ } },
    { "Accept", ND_CALL_ACCEPT,
        { ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_, PENDING_, ACTIVE_, ACTIVE_, ACTIVE_, ACTIVE_,
            ACTIVE_, ABORTED_, ABORTED_ } },
    { "Reject", ND_CALL_REJECT,
        { BADSTATE, BADSTATE, BADSTATE, BADSTATE, BADSTATE, OK_, OK_, BADSTATE, BADSTATE, BADSTATE,
            BADSTATE, INVALID_, INVALID_ } },
    { "GetReadLimits", ND_CALL_GET_READ_LIMITS,
        { INVALID_, INVALID_, INVALID_, INVALID_, INVALID_, OK_, OK_, INVALID_, INVALID_, INVALID_,
            INVALID_, INVALID_, INVALID_ } },
    { "GetPrivateData", ND_CALL_GET_PRIVATE_DATA,
        { INVALID_, INVALID_, OK_, INVALID_, INVALID_, OK_, OK_, INVALID_, INVALID_, INVALID_,
            INVALID_, OK_, OK_ } },
    { "GetLocalAddress", ND_CALL_GET_LOCAL_ADDRESS,
        { INVALID_, INVALID_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_ } },
    { "GetPeerAddress", ND_CALL_GET_PEER_ADDRESS,
        { INVALID_, INVALID_, INVALID_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_, OK_ } },
    { "NotifyDisconnect", ND_CALL_NOTIFY_DISCONNECT,
        { INVALID_, INVALID_, INVALID_, INVALID_, INVALID_, INVALID_, INVALID_, INVALID_, PENDING_,
            OK_, ENDED_, ENDED_, ENDED_ } },
    { "Disconnect", ND_CALL_DISCONNECT,
        { INVALID_, INVALID_, INVALID_, INVALID_, INVALID_, INVALID_, INVALID_, INVALID_, PENDING_,
            OK_, BADSTATE, INVALID_, INVALID_ } },
};

static void test_connector_state_answers_every_call_in_every_state(void **state)
{
    (void)state;
    assert_int_equal(sizeof(calls) / sizeof(calls[0]), ND_CALLS);
    assert_int_equal(ND_CONNECTOR_STATES, 13);
    for (unsigned c = 0; c < ND_CALLS; c++)
        for (unsigned s = 0; s < 13; s++) {
            unsigned got = (unsigned)nd_connector_answer(s, calls[c].call)->result;

            if (got != calls[c].result[s])
                print_error("%s in %s\n", calls[c].name, nd_connector_state_name(s));
            assert_int_equal(got, calls[c].result[s]);
        }
}

static void test_connector_state_calls_lead_where_the_pages_say(void **state)
{
    static const struct {
        enum nd_connector_state from;
        enum nd_connector_call call;
        enum nd_connector_state to;
    } moves[] = {
        { ND_CONNECTOR_IDLE, ND_CALL_QUEUE, ND_CONNECTOR_QUEUED },
        { ND_CONNECTOR_IDLE, ND_CALL_BIND, ND_CONNECTOR_BOUND },
        { ND_CONNECTOR_IDLE, ND_CALL_BIND_AND_CONNECT, ND_CONNECTOR_BOUND },
        { ND_CONNECTOR_BOUND, ND_CALL_CONNECT, ND_CONNECTOR_RESOLVING },
        { ND_CONNECTOR_REPLY_RECEIVED, ND_CALL_COMPLETE_CONNECT, ND_CONNECTOR_CONNECTED },
        { ND_CONNECTOR_REQUEST_RECEIVED, ND_CALL_ACCEPT, ND_CONNECTOR_REPLY_SENT },
        { ND_CONNECTOR_REQUEST_RECEIVED, ND_CALL_REJECT, ND_CONNECTOR_DISCONNECTED },
        { ND_CONNECTOR_REPLY_RECEIVED, ND_CALL_REJECT, ND_CONNECTOR_DISCONNECTED },
        { ND_CONNECTOR_CONNECTED, ND_CALL_DISCONNECT, ND_CONNECTOR_ACTIVE_DISCONNECT },
        { ND_CONNECTOR_PASSIVE_DISCONNECT, ND_CALL_DISCONNECT, ND_CONNECTOR_DISCONNECTED },
    };
    unsigned changes = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof(moves) / sizeof(moves[0]); i++)
        assert_int_equal(nd_connector_answer(moves[i].from, moves[i].call)->next, moves[i].to);
    /* No other call changes the state. */
    for (unsigned c = 0; c < ND_CALLS; c++)
        for (unsigned s = 0; s < 13; s++) {
            const struct nd_connector_answer *answer = nd_connector_answer(s, c);

            changes += answer->result >= 0 && answer->next != s;
        }
    assert_int_equal(changes, sizeof(moves) / sizeof(moves[0]));
}

/* One letter per state: where an event leads. */
static const char letters[] =
    "IQBrsmpPCaADX"; /* Idle Queued Bound resolving sent reQ-received rePly-received ... */

/* In the order of enum nd_connector_event; '.': the event means nothing in that state. */
static const struct {
    const char *name;
    enum nd_connector_event event;
    const char next[14];
} events[] = {
    /*                                           IQBrsmpPCaADX */
    { "request", ND_EVENT_REQUEST, ".m..........." },
    { "unqueued", ND_EVENT_UNQUEUED, ".I..........." },
    { "routed", ND_EVENT_ROUTED, "...s........." },
    { "port taken", ND_EVENT_PORT_TAKEN, "....r........" },
    { "failed", ND_EVENT_FAILED, "...BB..DD...." },
    { "rejected", ND_EVENT_REJECTED, "...BBDDDa.D.." },
    { "unreachable", ND_EVENT_UNREACHABLE, "...BBDDDa.D.." },
    { "response", ND_EVENT_RESPONSE, "....p........" },
    { "established", ND_EVENT_ESTABLISHED, "....p..C....." },
    { "disconnected", ND_EVENT_DISCONNECTED, "...BBDDaa.D.." },
    { "broken", ND_EVENT_BROKEN, "........a...." },
    { "removed", ND_EVENT_REMOVED, "..DDDDDDDDD.." },
    { "deadline", ND_EVENT_DEADLINE, "..........D.." },
    { "cancel", ND_EVENT_CANCEL, "...XX..DC.D.." },
    { "queue pair flushed", ND_EVENT_QP_FLUSHED, ".......D....." },
    { "queue pair closed", ND_EVENT_QP_CLOSED, "...XX.DDAaA.." },
    { "release", ND_EVENT_RELEASE, "DDDDDDDDDDD.." },
    { "leave", ND_EVENT_LEAVE, "DDDDDDDDCDD.." },
};

static void test_connector_state_follows_every_event_in_every_state(void **state)
{
    (void)state;
    assert_int_equal(sizeof(events) / sizeof(events[0]), ND_EVENTS);
    for (unsigned e = 0; e < ND_EVENTS; e++)
        for (unsigned s = 0; s < 13; s++) {
            const struct nd_connector_row *row = nd_connector_row(s, events[e].event);
            char got = row ? letters[row->next] : '.';

            if (got != events[e].next[s])
                print_error("%s in %s: %c\n", events[e].name, nd_connector_state_name(s), got);
            assert_int_equal(got, events[e].next[s]);
        }
}

/* What is completed, with which status in versions 2 and 1. */
static const struct {
    const char *states; /* letters */
    enum nd_connector_event event;
    unsigned what; /* ND_DO_END_* */
    unsigned v2, v1;
} ends[] = {
    { "rs", ND_EVENT_FAILED, ND_DO_END_CONNECT, GIVEN_, GIVEN_ },
    { "rs", ND_EVENT_REJECTED, ND_DO_END_CONNECT, REFUSED_, REFUSED_ },
    { "rs", ND_EVENT_UNREACHABLE, ND_DO_END_CONNECT, GIVEN_, GIVEN_ }, /* without one: see below */
    { "rs", ND_EVENT_DISCONNECTED, ND_DO_END_CONNECT, REFUSED_, REFUSED_ },
    { "rs", ND_EVENT_REMOVED, ND_DO_END_CONNECT, REMOVED_, REMOVED_ },
    { "rs", ND_EVENT_CANCEL, ND_DO_END_CONNECT, CANCELED_, CANCELED_ },
    { "rs", ND_EVENT_QP_CLOSED, ND_DO_END_CONNECT, CANCELED_, CANCELED_ },
    { "rs", ND_EVENT_RELEASE, ND_DO_END_CONNECT, CANCELED_, CANCELED_ },
    { "rs", ND_EVENT_LEAVE, ND_DO_END_CONNECT, CANCELED_, CANCELED_ },
    { "s", ND_EVENT_RESPONSE, ND_DO_END_CONNECT, OK_, OK_ },
    { "s", ND_EVENT_ESTABLISHED, ND_DO_END_CONNECT, OK_, OK_ },
    { "P", ND_EVENT_ESTABLISHED, ND_DO_END_ACCEPT, OK_, OK_ },
    { "P", ND_EVENT_DISCONNECTED, ND_DO_END_ACCEPT, OK_, OK_ },
    { "P", ND_EVENT_REJECTED, ND_DO_END_ACCEPT, REFUSED_, ABORTED_ },
    { "P", ND_EVENT_UNREACHABLE, ND_DO_END_ACCEPT, IOTIME, TIME_ },
    { "P", ND_EVENT_FAILED, ND_DO_END_ACCEPT, GIVEN_, GIVEN_ },
    { "P", ND_EVENT_REMOVED, ND_DO_END_ACCEPT, REMOVED_, REMOVED_ },
    { "P", ND_EVENT_CANCEL, ND_DO_END_ACCEPT, CANCELED_, CANCELED_ },
    { "P", ND_EVENT_QP_FLUSHED, ND_DO_END_ACCEPT, CANCELED_, CANCELED_ },
    { "P", ND_EVENT_QP_CLOSED, ND_DO_END_ACCEPT, CANCELED_, CANCELED_ },
    { "P", ND_EVENT_RELEASE, ND_DO_END_ACCEPT, CANCELED_, CANCELED_ },
    { "P", ND_EVENT_LEAVE, ND_DO_END_ACCEPT, CANCELED_, CANCELED_ },
    { "C", ND_EVENT_DISCONNECTED, ND_DO_END_NOTIFY, OK_, OK_ },
    { "C", ND_EVENT_REJECTED, ND_DO_END_NOTIFY, OK_, OK_ },
    { "C", ND_EVENT_UNREACHABLE, ND_DO_END_NOTIFY, OK_, OK_ },
    { "C", ND_EVENT_BROKEN, ND_DO_END_NOTIFY, OK_, OK_ },
    { "C", ND_EVENT_FAILED, ND_DO_END_NOTIFY, OK_, OK_ },
    { "C", ND_EVENT_REMOVED, ND_DO_END_NOTIFY, REMOVED_, REMOVED_ },
    { "C", ND_EVENT_CANCEL, ND_DO_END_NOTIFY, CANCELED_, CANCELED_ },
    { "C", ND_EVENT_QP_CLOSED, ND_DO_END_NOTIFY, ENDED_, CANCELED_ },
    { "C", ND_EVENT_RELEASE, ND_DO_END_NOTIFY, CANCELED_, CANCELED_ },
    { "C", ND_EVENT_LEAVE, ND_DO_END_NOTIFY, CANCELED_, CANCELED_ },
    { "A", ND_EVENT_DISCONNECTED, ND_DO_END_DISCONNECT, OK_, OK_ },
    { "A", ND_EVENT_REJECTED, ND_DO_END_DISCONNECT, OK_, OK_ },
    { "A", ND_EVENT_UNREACHABLE, ND_DO_END_DISCONNECT, OK_, OK_ },
    { "A", ND_EVENT_DEADLINE, ND_DO_END_DISCONNECT, TIME_, TIME_ },
    { "A", ND_EVENT_REMOVED, ND_DO_END_DISCONNECT, REMOVED_, REMOVED_ },
    { "A", ND_EVENT_CANCEL, ND_DO_END_DISCONNECT, CANCELED_, CANCELED_ },
    { "A", ND_EVENT_RELEASE, ND_DO_END_DISCONNECT, CANCELED_, CANCELED_ },
    { "A", ND_EVENT_LEAVE, ND_DO_END_DISCONNECT, CANCELED_, CANCELED_ },
};

#define ENDS (ND_DO_END_CONNECT | ND_DO_END_ACCEPT | ND_DO_END_NOTIFY | ND_DO_END_DISCONNECT)

static void test_connector_state_completes_with_the_status_of_its_version(void **state)
{
    unsigned rows = 0, listed = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        for (const char *at = ends[i].states; *at; at++, listed++) {
            const struct nd_connector_row *row = nd_connector_row(
                (enum nd_connector_state)(strchr(letters, *at) - letters), ends[i].event);
            enum nd_connector_status ends_with =
                ends[i].what == ND_DO_END_NOTIFY ? row->notify : row->status;

            if ((row->actions & ENDS) != ends[i].what)
                print_error("%s in '%c'\n", events[ends[i].event].name, *at);
            assert_int_equal(row->actions & ENDS, ends[i].what);
            assert_int_equal(
                (unsigned)nd_connector_status(&nd_dialect_v2, ends_with, (HRESULT)GIVEN_),
                ends[i].v2);
            assert_int_equal(
                (unsigned)nd_connector_status(&nd_dialect_v1, ends_with, (HRESULT)GIVEN_),
                ends[i].v1);
        }
    }
    /* Nothing else completes anything. */
    for (unsigned s = 0; s < 13; s++)
        for (unsigned e = 0; e < ND_EVENTS; e++)
            rows += nd_connector_row(s, e) && nd_connector_row(s, e)->actions & ENDS;
    assert_int_equal(rows, listed);
}

/* Codes of calls and of steps that failed: version 1 returns the ones its pages list. */
static void test_connector_state_dialects_name_their_own_codes(void **state)
{
    (void)state;
    assert_int_equal((unsigned)nd_dialect_v2.reject_of_dead, ABORTED_);
    assert_int_equal((unsigned)nd_dialect_v1.reject_of_dead, INVALID_);
    assert_int_equal((unsigned)nd_dialect_v2.notify_of_ended, ENDED_);
    assert_int_equal((unsigned)nd_dialect_v1.notify_of_ended, INVALID_);
    assert_int_equal((unsigned)nd_dialect_v2.port_taken, 0xC0000043u);
    assert_int_equal((unsigned)nd_dialect_v1.port_taken, 0xC000020Au);
    assert_int_equal((unsigned)nd_dialect_v2.no_port_free, 0xC0000209u);
    assert_int_equal((unsigned)nd_dialect_v1.no_port_free, 0xC000009Au);
    assert_int_equal((unsigned)nd_dialect_kernel.reject_of_dead, ABORTED_);
    assert_int_equal((unsigned)nd_dialect_kernel.accept_refused, ABORTED_);
    assert_int_equal((unsigned)nd_dialect_kernel.port_taken, 0xC0000043u);
    assert_int_equal((unsigned)nd_dialect_kernel.no_port_free, 0xC0000209u);
    assert_int_equal((unsigned)nd_dialect_kernel.port_busy, 0xC000020Au);
    assert_int_equal((unsigned)nd_dialect_v2.unresolved, 0xC00000CCu);
    assert_int_equal((unsigned)nd_dialect_v1.unresolved, 0xC00000CCu);
    assert_int_equal((unsigned)nd_dialect_kernel.unresolved, 0xC000023Du);
    assert_int_equal(
        (unsigned)nd_connector_status(&nd_dialect_kernel, ND_ENDS_WITH_NO_ANSWER, 0), IOTIME);
    assert_int_equal(
        (unsigned)nd_connector_status(&nd_dialect_kernel, ND_ENDS_WITH_TIMEOUT, 0), IOTIME);
    /* A step that timed out may be tried again. */
    assert_int_equal(
        (unsigned)nd_connector_status(&nd_dialect_v2, ND_ENDS_WITH_GIVEN, (HRESULT)IOTIME), IOTIME);
    assert_int_equal(
        (unsigned)nd_connector_status(&nd_dialect_v1, ND_ENDS_WITH_GIVEN, (HRESULT)IOTIME), TIME_);
}

static void test_connector_state_unreached_peer_without_a_reason_is_a_timeout(void **state)
{
    enum nd_connector_status ends_with =
        nd_connector_row(ND_CONNECTOR_REQUEST_SENT, ND_EVENT_UNREACHABLE)->status;

    (void)state;
    assert_int_equal((unsigned)nd_connector_status(&nd_dialect_v2, ends_with, 0), IOTIME);
    assert_int_equal((unsigned)nd_connector_status(&nd_dialect_v1, ends_with, 0), TIME_);
}

static void test_connector_state_failed_connect_leaves_the_queue_pair_as_it_was(void **state)
{
    (void)state;
    for (unsigned s = ND_CONNECTOR_RESOLVING; s <= ND_CONNECTOR_REQUEST_SENT; s++)
        for (unsigned e = 0; e < ND_EVENTS; e++) {
            const struct nd_connector_row *row = nd_connector_row(s, e);

            if (row && row->next == ND_CONNECTOR_BOUND)
                assert_int_equal(row->actions & (ND_DO_FLUSH | ND_DO_UNCLAIM | ND_DO_DROP_ID),
                    ND_DO_UNCLAIM | ND_DO_DROP_ID);
        }
}

static void test_connector_state_ends_of_a_connection_flush(void **state)
{
    static const enum nd_connector_event flushing[] = { ND_EVENT_REJECTED, ND_EVENT_UNREACHABLE,
        ND_EVENT_DISCONNECTED, ND_EVENT_REMOVED, ND_EVENT_RELEASE };

    (void)state;
    for (unsigned i = 0; i < sizeof(flushing) / sizeof(flushing[0]); i++) {
        assert_true(nd_connector_row(ND_CONNECTOR_REPLY_SENT, flushing[i])->actions & ND_DO_FLUSH);
        assert_true(nd_connector_row(ND_CONNECTOR_CONNECTED, flushing[i])->actions & ND_DO_FLUSH);
        assert_true(
            nd_connector_row(ND_CONNECTOR_ACTIVE_DISCONNECT, flushing[i])->actions & ND_DO_FLUSH);
    }
    assert_true(nd_connector_row(ND_CONNECTOR_REPLY_SENT, ND_EVENT_CANCEL)->actions & ND_DO_FLUSH);
    assert_true(
        nd_connector_row(ND_CONNECTOR_ACTIVE_DISCONNECT, ND_EVENT_DEADLINE)->actions & ND_DO_FLUSH);
}

static void test_connector_state_release_tells_the_peer(void **state)
{
    (void)state;
    assert_true(
        nd_connector_row(ND_CONNECTOR_REQUEST_RECEIVED, ND_EVENT_RELEASE)->actions & ND_DO_REJECT);
    assert_true(
        nd_connector_row(ND_CONNECTOR_REPLY_RECEIVED, ND_EVENT_RELEASE)->actions & ND_DO_REJECT);
    assert_true(
        nd_connector_row(ND_CONNECTOR_CONNECTED, ND_EVENT_RELEASE)->actions & ND_DO_DISCONNECT);
    assert_true(nd_connector_row(ND_CONNECTOR_CONNECTED, ND_EVENT_DISCONNECTED)->actions &
                ND_DO_DISCONNECT);
}

/* A queue pair that reports its end late finds the connector busy with another. */
static void test_connector_state_heeds_its_own_queue_pair_alone(void **state)
{
    static struct nd_connector connector;
    static struct nd_qp qps[2];
    struct nd_qp *own = &qps[0], *other = &qps[1];

    (void)state;
    lock_init(&connector.lock, LOCK_CONNECTOR, "connector");
    connector.qp = own;
    for (unsigned s = 0; s < 13; s++) {
        connector.state = s;
        nd_connector_qp_ops.closed(&connector.object, other);
        nd_connector_qp_ops.flushed(&connector.object, other);
        nd_connector_qp_ops.failed(&connector.object, other);
        assert_int_equal(connector.state, s);
        assert_ptr_equal(connector.qp, own);
    }
}

/* Nor does an id that the connector has given up, with an event under way. */
static void test_connector_state_heeds_its_own_id_alone(void **state)
{
    static const enum rdma_cm_event_type types[] = { RDMA_CM_EVENT_CONNECT_RESPONSE,
        RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_DISCONNECTED };
    static struct nd_connector connector;
    static struct nd_cm_id own, other;

    (void)state;
    lock_init(&connector.lock, LOCK_CONNECTOR, "connector");
    connector.id = &own;
    for (unsigned s = 0; s < 13; s++)
        for (unsigned i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
            struct nd_cm_event event = { .type = types[i] };

            connector.state = s;
            assert_true(nd_connector_id_ops.event(&connector, &other, &event));
            assert_int_equal(connector.state, s);
            assert_ptr_equal(connector.id, &own);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connector_state_answers_every_call_in_every_state),
        cmocka_unit_test(test_connector_state_calls_lead_where_the_pages_say),
        cmocka_unit_test(test_connector_state_follows_every_event_in_every_state),
        cmocka_unit_test(test_connector_state_completes_with_the_status_of_its_version),
        cmocka_unit_test(test_connector_state_dialects_name_their_own_codes),
        cmocka_unit_test(test_connector_state_unreached_peer_without_a_reason_is_a_timeout),
        cmocka_unit_test(test_connector_state_failed_connect_leaves_the_queue_pair_as_it_was),
        cmocka_unit_test(test_connector_state_ends_of_a_connection_flush),
        cmocka_unit_test(test_connector_state_release_tells_the_peer),
        cmocka_unit_test(test_connector_state_heeds_its_own_queue_pair_alone),
        cmocka_unit_test(test_connector_state_heeds_its_own_id_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
