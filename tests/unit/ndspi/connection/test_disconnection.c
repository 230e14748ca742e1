/* SPDX-License-Identifier: MIT */
/*
 * Ends of a connection over the embedded device, by either side's call or release, and what is left afterwards.
 */
#include "tests/unit/ndspi/connection/connection.h"

#include <dirent.h>
#include <malloc.h>
#include <stdlib.h>

/* ---- the end of a connection ---- */

static void test_peer_disconnect_completes_every_notify_and_leaves_requests(void **state)
{
    struct pair *pair = *state;
    struct side *side = &pair->passive;
    ND2_RESULT result;

    post_receives(side, 3);
    reach_connected(pair);
    for (unsigned i = 1; i <= 3; i++)
        assert_int_equal(CALL(side->connector, NotifyDisconnect, fresh(side, i)), PENDING);
    assert_int_equal(disconnect(&pair->active), OK);
    for (unsigned i = 1; i <= 3; i++)
        assert_int_equal(ended(side->connector, PENDING, &side->requests[i].overlapped), OK);
    assert_int_equal(CALL(side->cq, GetResults, &result, 1), 0);
    /* late ones end at once, and so does our own Disconnect, which flushes */
    assert_int_equal(CALL(side->connector, NotifyDisconnect, fresh(side, 4)), PENDING);
    assert_int_equal(side->requests[4].overlapped.Internal, 0);
    assert_int_equal(CALL(side->cq, GetResults, &result, 1), 0);
    assert_int_equal(CALL(side->connector, Disconnect, fresh(side, 4)), PENDING);
    assert_int_equal(side->requests[4].overlapped.Internal, 0);
    assert_receives_canceled(side, 3);
    assert_int_equal(CALL(side->connector, NotifyDisconnect, fresh(side, 4)), ENDED);
    assert_int_equal(CALL(side->connector, Disconnect, fresh(side, 4)), INVALID);
}

static void test_peer_disconnect_without_a_notify_flushes(void **state)
{
    struct pair *pair = *state;

    post_receives(&pair->passive, 3);
    reach_connected(pair);
    assert_int_equal(
        CALL(pair->passive.connector, NotifyDisconnect, fresh(&pair->passive, 1)), PENDING);
    assert_int_equal(CALL(pair->passive.connector, CancelOverlappedRequests), OK);
    assert_int_equal(disconnect(&pair->active), OK);
    assert_receives_canceled(&pair->passive, 3);
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
    RELEASE(pair->active.connector);
    assert_int_equal(pair->active.requests[1].overlapped.Internal, 0xC0000120u);
    assert_int_equal(
        ended(pair->passive.connector, PENDING, &pair->passive.requests[1].overlapped), OK);
    assert_int_equal(disconnect(&pair->passive), OK);
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
    assert_int_equal(disconnect(&pair->passive), OK);
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
        TEST(test_peer_disconnect_completes_every_notify_and_leaves_requests),
        TEST(test_peer_disconnect_without_a_notify_flushes),
        TEST(test_own_disconnect_completes_notify_as_disconnected),
        TEST(test_disconnect_on_both_sides_succeeds_on_both),
        TEST(test_disconnect_without_a_connection_is_invalid),
        TEST(test_release_of_a_connected_connector_disconnects),
        TEST(test_release_of_a_connected_queue_pair_disconnects),
        TEST(test_message_sent_before_disconnect_arrives_before_the_flush),
        TEST(test_thousand_connections_leak_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
