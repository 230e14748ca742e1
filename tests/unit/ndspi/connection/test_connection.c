/* SPDX-License-Identifier: MIT */
/*
 * Attempts of a connection over the embedded device, step by step: what each side sees of the other's calls, cancels
 * and releases. The usual course of things is the conformance suite's.
 */
#include "tests/unit/ndspi/connection/connection.h"

#include "util/clock.h"

#include <arpa/inet.h>
#include <string.h>

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
    assert_int_equal(connect_ended(pair), OK);
    assert_int_equal(complete_connect(&pair->active), OK);
    assert_int_equal(accept_ended(pair), OK);
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
    assert_int_equal(connect_ended(pair), REFUSED);
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
    assert_int_equal(connect_ended(pair), OK);
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
    assert_int_equal(connect_ended(pair), OK);
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
    assert_int_equal(connect_ended(pair), OK);
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
    assert_int_equal(accept_ended(pair), REFUSED);
    assert_receives_canceled(&pair->passive, 2);
    assert_int_equal(
        CALL(pair->active.connector, CompleteConnect, fresh(&pair->active, 0)), ABORTED);
}

static void test_active_release_refuses_the_accept(void **state)
{
    struct pair *pair = *state;

    post_receives(&pair->passive, 2);
    reach_reply(pair);
    RELEASE(pair->active.connector);
    assert_int_equal(accept_ended(pair), REFUSED);
    assert_receives_canceled(&pair->passive, 2);
}

static void test_active_queue_pair_release_refuses_the_accept(void **state)
{
    struct pair *pair = *state;

    reach_reply(pair);
    assert_int_equal(CALL(pair->active.qp, Release), 0);
    pair->active.qp = NULL;
    assert_int_equal(accept_ended(pair), REFUSED);
}

static void test_passive_release_of_a_request_refuses_the_connect(void **state)
{
    struct pair *pair = *state;

    reach_request(pair);
    RELEASE(pair->passive.connector);
    assert_int_equal(connect_ended(pair), REFUSED);
}

static void test_passive_release_after_accept_ends_the_attempt(void **state)
{
    struct pair *pair = *state;
    HRESULT hr;

    reach_reply(pair);
    RELEASE(pair->passive.connector);
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
    RELEASE(pair->active.connector);
    /* Accept returns the same, whether the end's event came before it or it runs into the end. */
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
    assert_int_equal(connect_begin(pair), ACTIVE);
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
    assert_int_equal(accept_ended(pair), OK);
    assert_int_equal(CALL(pair->active.connector, CancelOverlappedRequests), OK);
    assert_int_equal(CALL(pair->listener, CancelOverlappedRequests), OK);
    assert_int_equal(disconnect(&pair->active), OK);
    assert_int_equal(CALL(pair->active.connector, CancelOverlappedRequests), OK);
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
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
