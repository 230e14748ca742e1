/* SPDX-License-Identifier: MIT */
/*
 * Connections over the embedded device, step by step: what each side sees of the other's calls, cancels, releases, and
 * what is left afterwards. The usual course of things is the conformance suite's.
 */
#include "tests/unit/ndspi/connection.h"

#include "util/clock.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#define CALL(object, method, ...) ((object)->lpVtbl->method((object), ##__VA_ARGS__))

static HRESULT accepted(struct pair *pair)
{
    return ended(pair->passive.connector, PENDING, &pair->passive.requests[0].overlapped);
}

static HRESULT connected(struct pair *pair)
{
    return ended(pair->active.connector, PENDING, &pair->active.requests[0].overlapped);
}

static void release_connector(struct side *side)
{
    assert_int_equal(CALL(side->connector, Release), 0);
    side->connector = NULL;
}

static void post_receives(struct side *side, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(CALL(side->qp, Receive, (void *)(uintptr_t)(i + 1), NULL, 0), OK);
}

static void assert_receives_canceled(struct side *side, unsigned count)
{
    ND2_RESULT flushed[QUEUE_DEPTH];

    results(side, flushed, count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(flushed[i].Status, CANCELED);
        assert_ptr_equal(flushed[i].RequestContext, (void *)(uintptr_t)(i + 1));
    }
}

/* ---- refusal and retry ---- */

static void test_connect_to_a_port_without_listener_is_refused_and_may_be_retried(void **state)
{
    struct pair *pair = *state;
    struct sockaddr_in before, after;
    ULONG length = sizeof(before);

    assert_int_equal(CALL(pair->listener, Release), 0);
    pair->listener = NULL;
    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(
        CALL(pair->active.connector, GetLocalAddress, (struct sockaddr *)&before, &length), OK);
    for (int i = 0; i < 3; i++)
        assert_int_equal(connect_to(&pair->active, &pair->listening, NULL, 0), REFUSED);

    pair->listener = side_new_listener(&pair->passive);
    assert_int_equal(
        CALL(pair->listener, Bind, (struct sockaddr *)&pair->listening, sizeof(pair->listening)),
        OK);
    assert_int_equal(CALL(pair->listener, Listen, 0), OK);
    assert_int_equal(connect_begin(pair), PENDING);
    assert_int_equal(get_request(pair), OK);
    assert_int_equal(accept_begin(&pair->passive, NULL, 0), PENDING);
    assert_int_equal(connected(pair), OK);
    assert_int_equal(complete_connect(&pair->active), OK);
    assert_int_equal(accepted(pair), OK);
    length = sizeof(after);
    assert_int_equal(
        CALL(pair->active.connector, GetLocalAddress, (struct sockaddr *)&after, &length), OK);
    assert_int_equal(before.sin_port, after.sin_port);
}

static void test_reject_data_reaches_the_active_side(void **state)
{
    struct pair *pair = *state;
    char data[256];
    ULONG octets = 0;

    reach_request(pair);
    assert_int_equal(CALL(pair->active.connector, GetPrivateData, NULL, &octets), INVALID);
    assert_int_equal(CALL(pair->passive.connector, Reject, "go away", 8), OK);
    assert_int_equal(CALL(pair->passive.connector, Reject, NULL, 0), INVALID);
    assert_int_equal(connected(pair), REFUSED);
    octets = 0;
    assert_int_equal(CALL(pair->active.connector, GetPrivateData, NULL, &octets), OVERFLOWS);
    assert_true(octets >= 8);
    octets = 3;
    assert_int_equal(CALL(pair->active.connector, GetPrivateData, data, &octets), OVERFLOWS);
    assert_memory_equal(data, "go ", 3);
    octets = sizeof(data);
    assert_int_equal(CALL(pair->active.connector, GetPrivateData, data, &octets), OK);
    assert_string_equal(data, "go away");
    /* The queue pair is as it was: it still serves a second attempt. */
    side_new_connector(&pair->passive);
    assert_int_equal(connect_begin(pair), PENDING);
    assert_int_equal(get_request(pair), OK);
    assert_int_equal(accept_begin(&pair->passive, NULL, 0), PENDING);
    assert_int_equal(connected(pair), OK);
}

static void test_connect_to_the_wildcard_or_no_address_is_a_bad_name(void **state)
{
    struct pair *pair = *state;
    struct sockaddr_in6 v6 = {
        .sin6_family = AF_INET6, .sin6_port = 7, .sin6_addr = IN6ADDR_LOOPBACK_INIT
    };
    struct sockaddr_in to = pair->listening;
    OVERLAPPED *overlapped;

    assert_int_equal(bind_to(&pair->active, 0), OK);
    to.sin_addr.s_addr = 0;
    assert_int_equal(connect_to(&pair->active, &to, NULL, 0), BAD_NAME);
    overlapped = fresh(&pair->active, 0);
    assert_int_equal(ended(pair->active.connector,
                         CALL(pair->active.connector, Connect, (IUnknown *)pair->active.qp,
                             (struct sockaddr *)&v6, sizeof(v6), 0, 0, NULL, 0, overlapped),
                         overlapped),
        BAD_NAME);
    assert_int_equal(ended(pair->active.connector,
                         CALL(pair->active.connector, Connect, (IUnknown *)pair->active.qp,
                             (struct sockaddr *)&pair->listening, 3, 0, 0, NULL, 0, overlapped),
                         overlapped),
        BAD_NAME);
    /* and the connector still works */
    assert_int_equal(connect_begin(pair), PENDING);
    assert_int_equal(get_request(pair), OK);
}

/* ---- arguments and wrong states ---- */

static void test_connect_checks_its_arguments_and_leaves_the_overlapped_alone(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    OVERLAPPED *overlapped = fresh(side, 0);
    char data[512] = { 0 };

    overlapped->Internal = 0x1234;
    assert_int_equal(connect_begin(pair), UNBOUND);
    assert_int_equal(bind_to(side, 0), OK);
    assert_int_equal(bind_to(side, 0), ASSOCIATED);
    overlapped->Internal = 0x1234;
    assert_int_equal(
        CALL(side->connector, Connect, (IUnknown *)side->cq, (struct sockaddr *)&pair->listening,
            sizeof(pair->listening), 0, 0, NULL, 0, overlapped),
        BAD_PARAM1);
    assert_int_equal(CALL(side->connector, Connect, NULL, (struct sockaddr *)&pair->listening,
                         sizeof(pair->listening), 0, 0, NULL, 0, overlapped),
        BAD_PARAM1);
    assert_int_equal(CALL(side->connector, Connect, (IUnknown *)pair->passive.qp,
                         (struct sockaddr *)&pair->listening, sizeof(pair->listening), 0, 0, NULL,
                         0, overlapped),
        BAD_PARAM1);
    assert_int_equal(
        CALL(side->connector, Connect, (IUnknown *)side->qp, (struct sockaddr *)&pair->listening,
            sizeof(pair->listening), 0, 0, data, 57, overlapped),
        BAD_SIZE);
    assert_int_equal(overlapped->Internal, 0x1234);
    assert_int_equal(WaitForSingleObject(overlapped->hEvent, 0), WAIT_TIMEOUT);
    assert_int_equal(
        CALL(side->connector, Connect, (IUnknown *)side->qp, (struct sockaddr *)&pair->listening,
            sizeof(pair->listening), 0, 0, data, 56, overlapped),
        PENDING);
    assert_int_equal(
        CALL(side->connector, Connect, (IUnknown *)side->qp, (struct sockaddr *)&pair->listening,
            sizeof(pair->listening), 0, 0, data, 56, fresh(side, 1)),
        ACTIVE);
}

static void test_bind_takes_only_addresses_of_the_adapter(void **state)
{
    struct pair *pair = *state;
    struct sockaddr_in foreign = { .sin_family = AF_INET,
        .sin_addr.s_addr = htonl(0xc0000201) }; /* TEST-NET-1 */
    struct sockaddr_in any = { .sin_family = AF_INET };
    IND2Listener *listener = side_new_listener(&pair->active);

    assert_int_equal(
        CALL(pair->active.connector, Bind, (struct sockaddr *)&foreign, sizeof(foreign)), BAD_ADDR);
    assert_int_equal(
        CALL(pair->active.connector, Bind, (struct sockaddr *)&any, sizeof(any)), BAD_ADDR);
    assert_int_equal(CALL(pair->active.connector, Bind, NULL, 0), BAD_ADDR);
    assert_int_equal(CALL(listener, Bind, (struct sockaddr *)&foreign, sizeof(foreign)), BAD_ADDR);
    assert_int_equal(CALL(listener, Release), 0);
    assert_int_equal(bind_to(&pair->active, 0), OK);
}

static void test_accept_with_too_much_data_keeps_the_request(void **state)
{
    struct pair *pair = *state;
    char data[512], got[512];
    ULONG octets = sizeof(got);

    memset(data, 'x', sizeof(data));
    reach_request(pair);
    assert_int_equal(accept_begin(&pair->passive, data, 149), BAD_SIZE);
    assert_int_equal(accept_begin(&pair->passive, data, 148), PENDING);
    assert_int_equal(connected(pair), OK);
    assert_int_equal(CALL(pair->active.connector, GetPrivateData, got, &octets), OK);
    assert_true(octets >= 148);
    assert_memory_equal(got, data, 148);
}

static void test_read_limits_are_the_lower_of_both_sides(void **state)
{
    struct pair *pair = *state;
    ULONG inbound = 99, outbound = 99;

    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(CALL(pair->active.connector, GetReadLimits, &inbound, &outbound), INVALID);
    assert_int_equal(CALL(pair->active.connector, Connect, (IUnknown *)pair->active.qp,
                         (struct sockaddr *)&pair->listening, sizeof(pair->listening), 6, 3, NULL,
                         0, fresh(&pair->active, 0)),
        PENDING);
    assert_int_equal(get_request(pair), OK);
    assert_int_equal(CALL(pair->passive.connector, GetReadLimits, &inbound, &outbound), OK);
    assert_int_equal(inbound, 3);
    assert_int_equal(outbound, 6);
    assert_int_equal(CALL(pair->passive.connector, Accept, (IUnknown *)pair->passive.qp, 5, 2, NULL,
                         0, fresh(&pair->passive, 0)),
        PENDING);
    assert_int_equal(connected(pair), OK);
    assert_int_equal(CALL(pair->active.connector, GetReadLimits, &inbound, NULL), OK);
    assert_int_equal(CALL(pair->active.connector, GetReadLimits, NULL, &outbound), OK);
    assert_int_equal(inbound, 2);
    assert_int_equal(outbound, 3);
}

/* ---- backing out ---- */

static void test_active_reject_refuses_the_accept(void **state)
{
    struct pair *pair = *state;

    post_receives(&pair->passive, 2);
    reach_reply(pair);
    assert_int_equal(CALL(pair->active.connector, Reject, "no", 3), OK);
    assert_int_equal(accepted(pair), REFUSED);
    assert_receives_canceled(&pair->passive, 2);
    assert_int_equal(
        CALL(pair->active.connector, CompleteConnect, fresh(&pair->active, 0)), ABORTED);
}

static void test_active_release_refuses_the_accept(void **state)
{
    struct pair *pair = *state;

    post_receives(&pair->passive, 2);
    reach_reply(pair);
    release_connector(&pair->active);
    assert_int_equal(accepted(pair), REFUSED);
    assert_receives_canceled(&pair->passive, 2);
}

static void test_active_queue_pair_release_refuses_the_accept(void **state)
{
    struct pair *pair = *state;

    reach_reply(pair);
    assert_int_equal(CALL(pair->active.qp, Release), 0);
    pair->active.qp = NULL;
    assert_int_equal(accepted(pair), REFUSED);
}

static void test_passive_release_of_a_request_refuses_the_connect(void **state)
{
    struct pair *pair = *state;

    reach_request(pair);
    release_connector(&pair->passive);
    assert_int_equal(connected(pair), REFUSED);
}

static void test_passive_release_after_accept_ends_the_attempt(void **state)
{
    struct pair *pair = *state;
    HRESULT hr;

    reach_reply(pair);
    release_connector(&pair->passive);
    assert_int_equal(pair->passive.requests[0].overlapped.Internal, 0xC0000120u);
    /* The answer was on its way already: CompleteConnect may meet a connection that is over, or one that ends. */
    hr = complete_connect(&pair->active);
    assert_true(hr == ABORTED || hr == OK);
    if (hr == OK) {
        OVERLAPPED *overlapped = fresh(&pair->active, 1);

        assert_int_equal(
            ended(pair->active.connector,
                CALL(pair->active.connector, NotifyDisconnect, overlapped), overlapped),
            OK);
    }
}

static void test_accept_of_a_dead_request_is_aborted(void **state)
{
    struct pair *pair = *state;
    OVERLAPPED *overlapped = fresh(&pair->passive, 0);
    uint64_t deadline_ms = clock_now_ms() + DEADLINE_MS;
    HRESULT hr;

    reach_request(pair);
    release_connector(&pair->active);
    /* Whether the end has been heard of before Accept or is met by it, the result is one. */
    hr = ended(pair->passive.connector,
        CALL(pair->passive.connector, Accept, (IUnknown *)pair->passive.qp, 0, 0, NULL, 0,
            overlapped),
        overlapped);
    assert_true(hr == ABORTED || hr == REFUSED);
    assert_true(clock_now_ms() < deadline_ms);
}

/* ---- cancel ---- */

static void test_cancel_of_connect_ends_it_and_the_connector(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(connect_begin(pair), PENDING);
    assert_int_equal(CALL(pair->active.connector, CancelOverlappedRequests), OK);
    assert_int_equal(pair->active.requests[0].overlapped.Internal, 0xC0000120u);
    assert_int_equal(
        WaitForSingleObject(pair->active.requests[0].overlapped.hEvent, 0), WAIT_OBJECT_0);
    assert_int_equal(connect_begin(pair), BAD_STATE);
    /* The queue pair is free for another connector. */
    side_new_connector(&pair->active);
    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(connect_begin(pair), PENDING);
}

static void test_cancel_of_accept_ends_it_and_refuses_the_peer(void **state)
{
    struct pair *pair = *state;

    post_receives(&pair->passive, 1);
    reach_reply(pair);
    assert_int_equal(CALL(pair->passive.connector, CancelOverlappedRequests), OK);
    assert_int_equal(pair->passive.requests[0].overlapped.Internal, 0xC0000120u);
    assert_receives_canceled(&pair->passive, 1);
    assert_int_equal(accept_begin(&pair->passive, NULL, 0), ABORTED);
}

static void test_cancel_of_notify_disconnect_keeps_the_connection(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;
    ND2_RESULT result;

    reach_connected(pair);
    assert_int_equal(CALL(side->connector, NotifyDisconnect, fresh(side, 1)), PENDING);
    assert_int_equal(CALL(side->connector, NotifyDisconnect, fresh(side, 2)), PENDING);
    assert_int_equal(CALL(side->connector, CancelOverlappedRequests), OK);
    assert_int_equal(side->requests[1].overlapped.Internal, 0xC0000120u);
    assert_int_equal(side->requests[2].overlapped.Internal, 0xC0000120u);
    post_receives(&pair->passive, 1);
    assert_int_equal(CALL(side->qp, Send, NULL, NULL, 0, 0), OK);
    results(&pair->passive, &result, 1);
    assert_int_equal(result.Status, OK);
    assert_int_equal(CALL(side->connector, NotifyDisconnect, fresh(side, 1)), PENDING);
    assert_int_equal(CALL(side->connector, CancelOverlappedRequests), OK);
}

static void test_cancel_with_nothing_pending_succeeds_in_every_state(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(CALL(pair->active.connector, CancelOverlappedRequests), OK);
    reach_reply(pair);
    assert_int_equal(CALL(pair->active.connector, CancelOverlappedRequests), OK);
    assert_int_equal(complete_connect(&pair->active), OK);
    assert_int_equal(accepted(pair), OK);
    assert_int_equal(CALL(pair->active.connector, CancelOverlappedRequests), OK);
    assert_int_equal(CALL(pair->listener, CancelOverlappedRequests), OK);
    assert_int_equal(disconnect(&pair->active), OK);
    assert_int_equal(CALL(pair->active.connector, CancelOverlappedRequests), OK);
}

/* ---- the end of a connection ---- */

static void test_peer_disconnect_completes_every_notify_and_flushes(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->passive;

    post_receives(side, 3);
    reach_connected(pair);
    for (unsigned i = 1; i <= 3; i++)
        assert_int_equal(CALL(side->connector, NotifyDisconnect, fresh(side, i)), PENDING);
    assert_int_equal(disconnect(&pair->active), OK);
    for (unsigned i = 1; i <= 3; i++)
        assert_int_equal(ended(side->connector, PENDING, &side->requests[i].overlapped), OK);
    assert_receives_canceled(side, 3);
    /* late ones end at once, and so does our own Disconnect */
    assert_int_equal(CALL(side->connector, NotifyDisconnect, fresh(side, 4)), PENDING);
    assert_int_equal(side->requests[4].overlapped.Internal, 0);
    assert_int_equal(CALL(side->connector, Disconnect, fresh(side, 4)), PENDING);
    assert_int_equal(side->requests[4].overlapped.Internal, 0);
    assert_int_equal(CALL(side->connector, NotifyDisconnect, fresh(side, 4)), ENDED);
    assert_int_equal(CALL(side->connector, Disconnect, fresh(side, 4)), INVALID);
}

static void test_own_disconnect_completes_notify_as_disconnected(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->active;

    post_receives(side, 2);
    reach_connected(pair);
    assert_int_equal(CALL(side->connector, NotifyDisconnect, fresh(side, 1)), PENDING);
    assert_int_equal(disconnect(side), OK);
    assert_int_equal(side->requests[1].overlapped.Internal, 0xC000020Cu);
    assert_receives_canceled(side, 2);
    assert_int_equal(CALL(side->connector, NotifyDisconnect, fresh(side, 1)), ENDED);
}

static void test_disconnect_on_both_sides_succeeds_on_both(void **state)
{
    struct pair *pair = *state;
    OVERLAPPED *a = fresh(&pair->active, 0), *p = fresh(&pair->passive, 0);
    HRESULT active, passive;

    reach_connected(pair);
    a = fresh(&pair->active, 0);
    p = fresh(&pair->passive, 0);
    active = CALL(pair->active.connector, Disconnect, a);
    passive = CALL(pair->passive.connector, Disconnect, p);
    assert_int_equal(active, PENDING);
    assert_int_equal(passive, PENDING);
    assert_true(SUCCEEDED(ended(pair->active.connector, active, a)));
    assert_true(SUCCEEDED(ended(pair->passive.connector, passive, p)));
}

static void test_disconnect_without_a_connection_is_invalid(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(CALL(pair->active.connector, Disconnect, fresh(&pair->active, 0)), INVALID);
    assert_int_equal(
        CALL(pair->active.connector, NotifyDisconnect, fresh(&pair->active, 0)), INVALID);
    reach_request(pair);
    assert_int_equal(CALL(pair->passive.connector, Disconnect, fresh(&pair->passive, 0)), INVALID);
    assert_int_equal(
        CALL(pair->passive.connector, NotifyDisconnect, fresh(&pair->passive, 0)), INVALID);
}

static void test_release_of_a_connected_connector_disconnects(void **state)
{
    struct pair *pair = *state;

    post_receives(&pair->active, 2);
    post_receives(&pair->passive, 2);
    reach_connected(pair);
    assert_int_equal(
        CALL(pair->passive.connector, NotifyDisconnect, fresh(&pair->passive, 1)), PENDING);
    assert_int_equal(
        CALL(pair->active.connector, NotifyDisconnect, fresh(&pair->active, 1)), PENDING);
    release_connector(&pair->active);
    assert_int_equal(pair->active.requests[1].overlapped.Internal, 0xC0000120u);
    assert_int_equal(
        ended(pair->passive.connector, PENDING, &pair->passive.requests[1].overlapped), OK);
    assert_receives_canceled(&pair->active, 2);
    assert_receives_canceled(&pair->passive, 2);
}

static void test_release_of_a_connected_queue_pair_disconnects(void **state)
{
    struct pair *pair = *state;

    post_receives(&pair->active, 2);
    post_receives(&pair->passive, 2);
    reach_connected(pair);
    assert_int_equal(
        CALL(pair->passive.connector, NotifyDisconnect, fresh(&pair->passive, 1)), PENDING);
    assert_int_equal(
        CALL(pair->active.connector, NotifyDisconnect, fresh(&pair->active, 1)), PENDING);
    assert_int_equal(CALL(pair->active.qp, Release), 0);
    pair->active.qp = NULL;
    assert_int_equal(
        ended(pair->active.connector, PENDING, &pair->active.requests[1].overlapped), ENDED);
    assert_int_equal(
        ended(pair->passive.connector, PENDING, &pair->passive.requests[1].overlapped), OK);
    assert_receives_canceled(&pair->active, 2);
    assert_receives_canceled(&pair->passive, 2);
}

static void test_message_sent_before_disconnect_arrives_before_the_flush(void **state)
{
    struct pair *pair = *state;
    ND2_RESULT got[2];

    post_receives(&pair->active, 2);
    reach_connected(pair);
    assert_int_equal(CALL(pair->passive.qp, Send, NULL, NULL, 0, 0), OK);
    results(&pair->passive, got, 1);
    assert_int_equal(got[0].Status, OK);
    assert_int_equal(disconnect(&pair->passive), OK);
    results(&pair->active, got, 2);
    assert_int_equal(got[0].Status, OK);
    assert_int_equal(got[1].Status, CANCELED);
}

/* ---- listener ---- */

static void test_listener_hands_out_requests_in_order(void **state)
{
    struct pair *pair = *state;
    struct side other;
    char data[256];
    ULONG octets = sizeof(data);

    side_open(&other);
    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(bind_to(&other, 0), OK);
    assert_int_equal(CALL(pair->active.connector, Connect, (IUnknown *)pair->active.qp,
                         (struct sockaddr *)&pair->listening, sizeof(pair->listening), 0, 0,
                         "first", 6, fresh(&pair->active, 0)),
        PENDING);
    /* Two connectors wait: the first request goes to the first. */
    assert_int_equal(get_request(pair), OK);
    assert_int_equal(CALL(pair->passive.connector, GetPrivateData, data, &octets), OK);
    assert_string_equal(data, "first");
    assert_int_equal(
        CALL(other.connector, Connect, (IUnknown *)other.qp, (struct sockaddr *)&pair->listening,
            sizeof(pair->listening), 0, 0, "second", 7, fresh(&other, 0)),
        PENDING);
    side_new_connector(&pair->passive);
    assert_int_equal(connected(pair), REFUSED); /* the connector with its request was released */
    assert_int_equal(get_request(pair), OK);
    octets = sizeof(data);
    assert_int_equal(CALL(pair->passive.connector, GetPrivateData, data, &octets), OK);
    assert_string_equal(data, "second");
    side_close(&other);
}

static void test_listener_cancel_makes_connectors_idle_again(void **state)
{
    struct pair *pair = *state;
    OVERLAPPED *overlapped = fresh_request(&pair->get);

    assert_int_equal(
        CALL(pair->listener, GetConnectionRequest, (IUnknown *)pair->passive.connector, overlapped),
        PENDING);
    assert_int_equal(CALL(pair->listener, GetConnectionRequest, (IUnknown *)pair->passive.connector,
                         fresh(&pair->passive, 1)),
        ACTIVE);
    assert_int_equal(bind_to(&pair->passive, 0), ASSOCIATED);
    assert_int_equal(CALL(pair->listener, CancelOverlappedRequests), OK);
    assert_int_equal(overlapped->Internal, 0xC0000120u);
    reach_connected(pair);
}

static void test_listener_request_ends_with_its_connector(void **state)
{
    struct pair *pair = *state;
    OVERLAPPED *overlapped = fresh_request(&pair->get);

    assert_int_equal(
        CALL(pair->listener, GetConnectionRequest, (IUnknown *)pair->passive.connector, overlapped),
        PENDING);
    release_connector(&pair->passive);
    assert_int_equal(overlapped->Internal, 0xC0000120u);
    side_new_connector(&pair->passive);
    reach_connected(pair);
}

static void test_listener_release_refuses_what_it_kept_and_cancels_who_waits(void **state)
{
    struct pair *pair = *state;
    IND2Listener *second = side_new_listener(&pair->passive);
    OVERLAPPED *overlapped = fresh_request(&pair->get);
    struct sockaddr_in address = loopback(0);

    assert_int_equal(CALL(second, Bind, (struct sockaddr *)&address, sizeof(address)), OK);
    assert_int_equal(CALL(second, Listen, 0), OK);
    assert_int_equal(
        CALL(second, GetConnectionRequest, (IUnknown *)pair->passive.connector, overlapped),
        PENDING);
    assert_int_equal(CALL(second, Release), 0);
    assert_int_equal(overlapped->Internal, 0xC0000120u);

    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(connect_begin(pair), PENDING);
    /* Another connection's request behind it proves that the first one has arrived and is kept. */
    assert_int_equal(CALL(pair->listener, Release), 0);
    pair->listener = NULL;
    assert_int_equal(connected(pair), REFUSED);
}

static void test_listener_backlog_refuses_the_rest(void **state)
{
    struct pair *pair = *state;
    IND2Listener *small = side_new_listener(&pair->passive);
    struct sockaddr_in address = loopback(0);
    ULONG length = sizeof(address);
    struct side other[3];
    unsigned refused = 0;
    HANDLE events[3];

    assert_int_equal(CALL(small, Bind, (struct sockaddr *)&address, sizeof(address)), OK);
    assert_int_equal(CALL(small, GetLocalAddress, (struct sockaddr *)&address, &length), OK);
    assert_int_equal(CALL(small, Listen, 1), OK);
    for (int i = 0; i < 3; i++) {
        side_open(&other[i]);
        assert_int_equal(bind_to(&other[i], 0), OK);
        events[i] = fresh(&other[i], 0)->hEvent;
        assert_int_equal(
            CALL(other[i].connector, Connect, (IUnknown *)other[i].qp, (struct sockaddr *)&address,
                sizeof(address), 0, 0, NULL, 0, &other[i].requests[0].overlapped),
            PENDING);
    }
    /* One is kept, two are refused; in which order is the network's business. */
    while (refused < 2) {
        DWORD which = WaitForMultipleObjects(3, events, FALSE, DEADLINE_MS);

        assert_in_range(which, WAIT_OBJECT_0, WAIT_OBJECT_0 + 2);
        assert_int_equal(other[which].requests[0].overlapped.Internal, 0xC0000236u);
        ResetEvent(events[which]);
        refused++;
    }
    assert_int_equal(CALL(small, Release), 0);
    for (int i = 0; i < 3; i++)
        side_close(&other[i]);
}

static void test_listener_bind_and_listen_rules(void **state)
{
    struct pair *pair = *state;
    IND2Listener *second = side_new_listener(&pair->passive);
    struct sockaddr_in address = loopback(0);
    ULONG length = sizeof(address);

    assert_int_equal(
        CALL(second, GetLocalAddress, (struct sockaddr *)&address, &length), BAD_STATE);
    assert_int_equal(CALL(second, Listen, 0), BAD_STATE);
    assert_int_equal(CALL(second, GetConnectionRequest, (IUnknown *)pair->passive.connector,
                         fresh_request(&pair->get)),
        BAD_STATE);
    assert_int_equal(
        CALL(second, Bind, (struct sockaddr *)&pair->listening, sizeof(pair->listening)), SHARING);
    assert_int_equal(CALL(second, Bind, (struct sockaddr *)&address, sizeof(address)), OK);
    assert_int_equal(CALL(second, Bind, (struct sockaddr *)&address, sizeof(address)), ASSOCIATED);
    assert_int_equal(CALL(second, GetConnectionRequest, (IUnknown *)pair->passive.connector,
                         fresh_request(&pair->get)),
        BAD_STATE);
    assert_int_equal(CALL(second, GetLocalAddress, NULL, &length), OVERFLOWS);
    assert_int_equal(length, 16);
    assert_int_equal(CALL(second, GetLocalAddress, (struct sockaddr *)&address, &length), OK);
    assert_true(address.sin_port != 0);
    assert_int_equal(CALL(second, Listen, 0), OK);
    assert_int_equal(CALL(second, Listen, 0), BAD_STATE);
    assert_int_equal(CALL(second, GetConnectionRequest, (IUnknown *)pair->active.connector,
                         fresh_request(&pair->get)),
        BAD_PARAM1); /* of another adapter */
    assert_int_equal(CALL(second, Release), 0);
}

static void test_listener_bound_elsewhere_keeps_its_port(void **state)
{
    struct pair *pair = *state;
    IND2Listener *first = side_new_listener(&pair->passive),
                 *second = side_new_listener(&pair->passive);
    struct sockaddr_in address = loopback(0);
    ULONG length = sizeof(address);

    assert_int_equal(CALL(first, Bind, (struct sockaddr *)&address, sizeof(address)), OK);
    assert_int_equal(CALL(first, GetLocalAddress, (struct sockaddr *)&address, &length), OK);
    assert_int_equal(CALL(second, Bind, (struct sockaddr *)&address, sizeof(address)), SHARING);
    assert_int_equal(CALL(first, Release), 0);
    assert_int_equal(CALL(second, Bind, (struct sockaddr *)&address, sizeof(address)), OK);
    assert_int_equal(CALL(second, Release), 0);
}

static void test_listener_on_the_wildcard_hears_every_address(void **state)
{
    struct pair *pair = *state;
    IND2Listener *old = pair->listener;
    struct sockaddr_in any = { .sin_family = AF_INET };
    ULONG length = sizeof(any);

    pair->listener = side_new_listener(&pair->passive);
    assert_int_equal(CALL(pair->listener, Bind, (struct sockaddr *)&any, sizeof(any)), OK);
    assert_int_equal(CALL(pair->listener, GetLocalAddress, (struct sockaddr *)&any, &length), OK);
    assert_int_equal(any.sin_addr.s_addr, 0);
    assert_true(any.sin_port != 0);
    assert_int_equal(CALL(pair->listener, Listen, 0), OK);
    pair->listening.sin_port = any.sin_port;
    reach_connected(pair);
    assert_int_equal(CALL(old, Release), 0);
}

/* A client may bind each of its connectors to its own listener's port. */
static void test_connectors_may_name_the_port_of_a_listener(void **state)
{
    struct pair *pair = *state;
    struct sockaddr_in local;
    ULONG length = sizeof(local);
    struct side other;

    side_open(&other);
    assert_int_equal(bind_to(&pair->active, pair->listening.sin_port), OK);
    assert_int_equal(bind_to(&other, pair->listening.sin_port), OK);
    assert_int_equal(
        CALL(pair->active.connector, GetLocalAddress, (struct sockaddr *)&local, &length), OK);
    assert_int_equal(local.sin_port, pair->listening.sin_port);
    assert_int_equal(connect_begin(pair), PENDING);
    assert_int_equal(get_request(pair), OK);
    assert_int_equal(accept_begin(&pair->passive, NULL, 0), PENDING);
    assert_int_equal(connected(pair), OK);
    assert_int_equal(complete_connect(&pair->active), OK);
    assert_int_equal(accepted(pair), OK);
    side_close(&other);
}

static void test_addresses_are_told_from_the_right_state_on(void **state)
{
    struct pair *pair = *state;
    struct sockaddr_in address, active;
    ULONG length = sizeof(address);

    assert_int_equal(
        CALL(pair->active.connector, GetLocalAddress, (struct sockaddr *)&address, &length),
        INVALID);
    assert_int_equal(
        CALL(pair->active.connector, GetPeerAddress, (struct sockaddr *)&address, &length),
        INVALID);
    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(
        CALL(pair->active.connector, GetPeerAddress, (struct sockaddr *)&address, &length),
        INVALID);
    assert_int_equal(
        CALL(pair->active.connector, GetLocalAddress, (struct sockaddr *)&active, &length), OK);
    assert_true(active.sin_port != 0);
    assert_int_equal(connect_begin(pair), PENDING);
    assert_int_equal(get_request(pair), OK);
    assert_int_equal(
        CALL(pair->active.connector, GetPeerAddress, (struct sockaddr *)&address, &length), OK);
    assert_memory_equal(&address, &pair->listening, 8);
    assert_int_equal(
        CALL(pair->passive.connector, GetPeerAddress, (struct sockaddr *)&address, &length), OK);
    assert_memory_equal(&address, &active, 8);
    assert_int_equal(
        CALL(pair->passive.connector, GetLocalAddress, (struct sockaddr *)&address, &length), OK);
    assert_memory_equal(&address, &pair->listening, 8);
    length = 15;
    assert_int_equal(
        CALL(pair->passive.connector, GetLocalAddress, (struct sockaddr *)&address, &length),
        OVERFLOWS);
    assert_int_equal(length, 16);
}

static void test_connection_over_ipv6(void **state)
{
    struct pair *pair = *state;
    struct sockaddr_in6 local = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT }, to,
                        peer;
    IND2Listener *old = pair->listener;
    ULONG length = sizeof(to);
    HRESULT hr = CALL(pair->active.connector, Bind, (struct sockaddr *)&local, sizeof(local));

    if (hr == BAD_ADDR) {
        print_message("this host has no ::1\n");
        skip();
    }
    assert_int_equal(hr, OK);
    pair->listener = side_new_listener(&pair->passive);
    assert_int_equal(CALL(pair->listener, Bind, (struct sockaddr *)&local, sizeof(local)), OK);
    assert_int_equal(CALL(pair->listener, GetLocalAddress, (struct sockaddr *)&to, &length), OK);
    assert_int_equal(length, 28);
    assert_int_equal(CALL(pair->listener, Listen, 0), OK);
    assert_int_equal(
        CALL(pair->active.connector, Connect, (IUnknown *)pair->active.qp, (struct sockaddr *)&to,
            sizeof(to), 1, 1, NULL, 0, fresh(&pair->active, 0)),
        PENDING);
    assert_int_equal(get_request(pair), OK);
    length = sizeof(peer);
    assert_int_equal(
        CALL(pair->active.connector, GetLocalAddress, (struct sockaddr *)&local, &length), OK);
    assert_int_equal(
        CALL(pair->passive.connector, GetPeerAddress, (struct sockaddr *)&peer, &length), OK);
    assert_int_equal(peer.sin6_port, local.sin6_port);
    assert_memory_equal(&peer.sin6_addr, &local.sin6_addr, 16);
    assert_int_equal(accept_begin(&pair->passive, NULL, 0), PENDING);
    assert_int_equal(connected(pair), OK);
    assert_int_equal(complete_connect(&pair->active), OK);
    assert_int_equal(accepted(pair), OK);
    assert_int_equal(CALL(old, Release), 0);
}

/* ---- many ---- */

static unsigned entries(const char *folder)
{
    DIR *dir = opendir(folder);
    unsigned count = 0;

    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void cycle(struct pair *pair)
{
    ND2_RESULT result;

    reach_connected(pair);
    assert_true(SUCCEEDED(disconnect(&pair->active)));
    assert_true(SUCCEEDED(disconnect(&pair->passive)));
    side_new_connector(&pair->active);
    side_new_connector(&pair->passive);
    side_new_qp(&pair->active);
    side_new_qp(&pair->passive);
    /* A released queue pair goes when its completion queue has been looked at. */
    assert_int_equal(CALL(pair->active.cq, GetResults, &result, 1), 0);
    assert_int_equal(CALL(pair->passive.cq, GetResults, &result, 1), 0);
}

static void test_thousand_connections_leak_nothing(void **state)
{
    const char *wanted = getenv("NDSPI_TEST_CYCLES");
    int cycles = wanted ? atoi(wanted) : 1000;
    struct pair *pair = *state;
    unsigned descriptors, threads;
    size_t heap;

    for (int i = 0; i < 50; i++)
        cycle(pair);
    descriptors = entries("/proc/self/fd");
    threads = entries("/proc/self/task");
    heap = mallinfo2().uordblks;
    for (int i = 0; i < cycles; i++)
        cycle(pair);
    assert_in_range(entries("/proc/self/fd"), 0, descriptors + 4); /* sockets that linger */
    assert_int_equal(entries("/proc/self/task"), threads);
    /* Room for two connections that linger; less than 600 bytes a cycle. Smaller leaks are the sanitizer's. */
    assert_in_range(mallinfo2().uordblks, 0, heap + 600000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pair_set_up, pair_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_connect_to_a_port_without_listener_is_refused_and_may_be_retried),
        TEST(test_reject_data_reaches_the_active_side),
        TEST(test_connect_to_the_wildcard_or_no_address_is_a_bad_name),
        TEST(test_connect_checks_its_arguments_and_leaves_the_overlapped_alone),
        TEST(test_bind_takes_only_addresses_of_the_adapter),
        TEST(test_accept_with_too_much_data_keeps_the_request),
        TEST(test_read_limits_are_the_lower_of_both_sides),
        TEST(test_active_reject_refuses_the_accept),
        TEST(test_active_release_refuses_the_accept),
        TEST(test_active_queue_pair_release_refuses_the_accept),
        TEST(test_passive_release_of_a_request_refuses_the_connect),
        TEST(test_passive_release_after_accept_ends_the_attempt),
        TEST(test_accept_of_a_dead_request_is_aborted),
        TEST(test_cancel_of_connect_ends_it_and_the_connector),
        TEST(test_cancel_of_accept_ends_it_and_refuses_the_peer),
        TEST(test_cancel_of_notify_disconnect_keeps_the_connection),
        TEST(test_cancel_with_nothing_pending_succeeds_in_every_state),
        TEST(test_peer_disconnect_completes_every_notify_and_flushes),
        TEST(test_own_disconnect_completes_notify_as_disconnected),
        TEST(test_disconnect_on_both_sides_succeeds_on_both),
        TEST(test_disconnect_without_a_connection_is_invalid),
        TEST(test_release_of_a_connected_connector_disconnects),
        TEST(test_release_of_a_connected_queue_pair_disconnects),
        TEST(test_message_sent_before_disconnect_arrives_before_the_flush),
        TEST(test_listener_hands_out_requests_in_order),
        TEST(test_listener_cancel_makes_connectors_idle_again),
        TEST(test_listener_request_ends_with_its_connector),
        TEST(test_listener_release_refuses_what_it_kept_and_cancels_who_waits),
        TEST(test_listener_backlog_refuses_the_rest),
        TEST(test_listener_bind_and_listen_rules),
        TEST(test_listener_bound_elsewhere_keeps_its_port),
        TEST(test_listener_on_the_wildcard_hears_every_address),
        TEST(test_connectors_may_name_the_port_of_a_listener),
        TEST(test_addresses_are_told_from_the_right_state_on),
        TEST(test_connection_over_ipv6),
        TEST(test_thousand_connections_leak_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
