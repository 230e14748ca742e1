/* SPDX-License-Identifier: MIT */
/* Ends of a connection of version 1 over the embedded device: by a call of either side, or by releases in any order. */
#include "tests/unit/ndspi/connection/nd1_connection.h"

#include <string.h>

/* ---- the end of a connection ---- */

static void test_notify_disconnect_tells_whose_end_it_was(void **state)
{
    struct nd1_pair *pair = *state;
    INDConnector *active = pair->active.connector, *passive = pair->passive.connector;

    assert_int_equal(CALL(active, NotifyDisconnect, nd1_fresh(&pair->active, 1)), INVALID);
    nd1_reach_connected(pair);
    assert_int_equal(CALL(active, NotifyDisconnect, NULL), BAD_PARAM);
    assert_int_equal(CALL(active, NotifyDisconnect, nd1_fresh(&pair->active, 1)), PENDING);
    assert_int_equal(CALL(active, NotifyDisconnect, nd1_fresh(&pair->active, 2)), PENDING);
    assert_int_equal(CALL(passive, NotifyDisconnect, nd1_fresh(&pair->passive, 1)), PENDING);
    assert_int_equal(nd1_disconnect(&pair->active), OK);
    for (unsigned n = 1; n < 3; n++)
        assert_int_equal(
            nd1_ended(active, PENDING, &pair->active.requests[n].overlapped), CANCELED);
    assert_int_equal(nd1_ended(passive, PENDING, &pair->passive.requests[1].overlapped), OK);
    /* Afterwards: the active side is disconnected; the passive side knows that its peer is. */
    assert_int_equal(CALL(active, NotifyDisconnect, nd1_fresh(&pair->active, 1)), INVALID);
    assert_int_equal(CALL(passive, NotifyDisconnect, nd1_fresh(&pair->passive, 1)), PENDING);
    assert_int_equal(nd1_ended(passive, PENDING, &pair->passive.requests[1].overlapped), OK);
    assert_int_equal(nd1_disconnect(&pair->passive), OK);
    assert_int_equal(nd1_disconnect(&pair->passive), INVALID);
    assert_int_equal(nd1_disconnect(&pair->active), INVALID);
}

static void test_cancel_ends_the_requests_of_its_connector_alone(void **state)
{
    struct nd1_pair *pair = *state;

    nd1_reach_connected(pair);
    assert_int_equal(
        CALL(pair->active.connector, NotifyDisconnect, nd1_fresh(&pair->active, 1)), PENDING);
    assert_int_equal(
        CALL(pair->passive.connector, NotifyDisconnect, nd1_fresh(&pair->passive, 1)), PENDING);
    assert_int_equal(CALL(pair->active.adapter, CancelOverlappedRequests), OK);
    assert_true(nd1_running(&pair->active, 1));
    assert_int_equal(CALL(pair->active.connector, CancelOverlappedRequests), OK);
    assert_int_equal(pair->active.requests[1].overlapped.Internal, 0xC0000120u);
    assert_true(nd1_running(&pair->passive, 1));
    /* The connection is still there. */
    assert_int_equal(nd1_disconnect(&pair->active), OK);
    assert_int_equal(
        nd1_ended(pair->passive.connector, PENDING, &pair->passive.requests[1].overlapped), OK);
}

/* ---- releases ---- */

/* The next result of an end; fails the test when there is none by the deadline. */
static ND_RESULT *result_of(struct nd1_end *end)
{
    ND_RESULT *result = NULL;

    while (!CALL(end->cq, GetResults, &result, 1)) {
        OVERLAPPED *overlapped = nd1_fresh(end, REQUESTS - 1);
        HRESULT hr = CALL(end->cq, Notify, ND_CQ_NOTIFY_ANY, overlapped);

        assert_int_equal(nd1_ended(end->cq, hr, overlapped), OK);
    }
    return result;
}

/* Not connected yet; the active connector is released as soon as it is. */
static void connection_lasts_as_long_as_the_endpoint(struct nd1_pair *pair)
{
    INDConnector *passive = pair->passive.connector;
    ND_RESULT sent, received;

    assert_int_equal(CALL(pair->passive.endpoint, Receive, &received, NULL, 0), OK);
    nd1_reach_connected(pair);
    assert_int_equal(CALL(passive, NotifyDisconnect, nd1_fresh(&pair->passive, 1)), PENDING);
    assert_int_equal(
        CALL(pair->active.connector, NotifyDisconnect, nd1_fresh(&pair->active, 1)), PENDING);
    RELEASE(pair->active.connector);
    assert_int_equal(pair->active.requests[1].overlapped.Internal, 0xC0000120u);
    assert_int_equal(CALL(pair->active.endpoint, Send, &sent, NULL, 0, 0), OK);
    assert_ptr_equal(result_of(&pair->passive), &received);
    assert_int_equal(received.Status, OK);
    assert_true(nd1_running(&pair->passive, 1));
    RELEASE(pair->active.endpoint);
    assert_int_equal(nd1_ended(passive, PENDING, &pair->passive.requests[1].overlapped), OK);
}

static void test_endpoint_keeps_the_connection_of_its_released_connector(void **state)
{
    connection_lasts_as_long_as_the_endpoint(*state);
}

/*
 * Programs go on with a new connector after a timeout. The maker of one endpoint is released before, of the other
 * after.
 */
static void test_endpoint_keeps_the_connection_of_another_connector(void **state)
{
    struct nd1_pair *pair = *state;
    INDConnector *made_by = pair->active.connector;

    pair->active.connector = NULL;
    nd1_new_connector(&pair->active);
    nd1_new_connector(&pair->passive);
    connection_lasts_as_long_as_the_endpoint(pair);
    RELEASE(made_by);
}

static void test_released_connector_ends_what_is_no_connection_yet(void **state)
{
    struct nd1_pair *pair = *state;

    nd1_reach_reply(pair);
    RELEASE(pair->active.connector); /* its endpoint lives */
    assert_int_equal(nd1_accept_ended(pair), ABORTED);

    nd1_new_connector(&pair->passive);
    nd1_new_endpoint(&pair->passive);
    nd1_new_connector(&pair->active);
    nd1_new_endpoint(&pair->active);
    nd1_reach_request(pair);
    RELEASE(pair->passive.connector);
    assert_int_equal(nd1_connected(&pair->active), REFUSED);
}

static void release_in_order(struct nd1_end *end, const unsigned order[4])
{
    for (unsigned i = 0; i < 4; i++)
        switch (order[i]) {
        case 0: RELEASE(end->connector); break;
        case 1: RELEASE(end->endpoint); break;
        case 2: RELEASE(end->cq); break;
        default: RELEASE(end->adapter); break;
        }
}

/* The n-th of 24. */
static void permutation(unsigned n, unsigned order[4])
{
    unsigned left[4] = { 0, 1, 2, 3 };

    for (unsigned i = 0, size = 4; i < 4; i++, size--) {
        unsigned pick = n % size;

        n /= size;
        order[i] = left[pick];
        memmove(&left[pick], &left[pick + 1], (size - pick - 1) * sizeof(left[0]));
    }
}

/*
 * Each order from two of the stages; requests are pending. The other end's NotifyDisconnect ends, and nothing is left.
 */
static void test_release_in_every_order_from_every_stage_is_safe(void **state)
{
    static void (*const stages[])(
        struct nd1_pair *) = { nd1_reach_request, nd1_reach_reply, nd1_reach_connected };
    struct nd1_pair *pair = *state;

    for (unsigned n = 0; n < 48; n++) {
        struct nd1_end *end = n < 24 ? &pair->active : &pair->passive;
        unsigned stage = n < 24 ? n % 3 : (n + 1) % 3, order[4];

        permutation(n % 24, order);
        stages[stage](pair);
        if (stage == 2)
            assert_int_equal(CALL(end->connector, NotifyDisconnect, nd1_fresh(end, 1)), PENDING);
        assert_int_equal(CALL(end->cq, Notify, ND_CQ_NOTIFY_ANY, nd1_fresh(end, 2)), PENDING);
        release_in_order(end, order);
        assert_int_equal(end->requests[2].overlapped.Internal, 0xC0000120u);
        nd1_new_connector(n < 24 ? &pair->passive : &pair->active);
        nd1_new_endpoint(n < 24 ? &pair->passive : &pair->active);
        for (unsigned i = 0; i < 3; i++)
            CloseHandle(end->requests[i].overlapped.hEvent);
        nd1_end_open(end);
        if (end == &pair->passive) {
            RELEASE(pair->listen);
            pair->listening.sin_port = 0;
            pair->listen = nd1_listen(end, &pair->listening.sin_port);
        }
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, nd1_pair_set_up, nd1_pair_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_notify_disconnect_tells_whose_end_it_was),
        TEST(test_cancel_ends_the_requests_of_its_connector_alone),
        TEST(test_endpoint_keeps_the_connection_of_its_released_connector),
        TEST(test_endpoint_keeps_the_connection_of_another_connector),
        TEST(test_released_connector_ends_what_is_no_connection_yet),
        TEST(test_release_in_every_order_from_every_stage_is_safe),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
