/* SPDX-License-Identifier: MIT */
/*
 * Two threads at one connector of version 1: releases that cross, and Connects that cross, each of which binds. The
 * sanitizers watch that nothing is touched that is gone.
 */
#include "tests/unit/ndspi/connection/nd1_connection.h"

#include <pthread.h>

enum { ROUNDS = 40 };

/* What the other thread does, at the same time as the test. */
struct other {
    pthread_barrier_t start;
    struct nd1_end *end;
    const struct sockaddr_in *to;
    OVERLAPPED *overlapped;
    HRESULT hr;
};

static void *release_endpoint(void *context)
{
    struct other *other = context;

    pthread_barrier_wait(&other->start);
    other->hr = (HRESULT)CALL(other->end->endpoint, Release);
    return NULL;
}

static HRESULT connect_on(struct nd1_end *end, const struct sockaddr_in *to, OVERLAPPED *overlapped)
{
    return CALL(end->connector, Connect, end->endpoint, (const struct sockaddr *)to, sizeof(*to), 0,
        0, NULL, 0, overlapped);
}

static void *connect_too(void *context)
{
    struct other *other = context;

    pthread_barrier_wait(&other->start);
    other->hr = connect_on(other->end, other->to, other->overlapped);
    return NULL;
}

static pthread_t start(struct other *other, void *(*play)(void *))
{
    pthread_t thread;

    assert_int_equal(pthread_barrier_init(&other->start, NULL, 2), 0);
    assert_int_equal(pthread_create(&thread, NULL, play, other), 0);
    return thread;
}

static void join(struct other *other, pthread_t thread)
{
    assert_int_equal(pthread_join(thread, NULL), 0);
    pthread_barrier_destroy(&other->start);
}

/* The last Release ends the connection, once. */
static void test_connector_and_endpoint_are_released_by_two_threads(void **state)
{
    struct nd1_pair *pair = *state;
    INDConnector *passive;

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct other other = { .end = &pair->active };
        pthread_t thread;

        nd1_reach_connected(pair);
        passive = pair->passive.connector;
        assert_int_equal(CALL(passive, NotifyDisconnect, nd1_fresh(&pair->passive, 1)), PENDING);
        assert_int_equal(
            CALL(pair->active.connector, NotifyDisconnect, nd1_fresh(&pair->active, 1)), PENDING);
        thread = start(&other, release_endpoint);
        pthread_barrier_wait(&other.start);
        assert_int_equal(CALL(pair->active.connector, Release), 0);
        assert_int_equal(pair->active.requests[1].overlapped.Internal, 0xC0000120u);
        join(&other, thread);
        assert_int_equal(other.hr, 0);
        assert_int_equal(nd1_ended(passive, PENDING, &pair->passive.requests[1].overlapped), OK);
        pair->active.connector = NULL;
        pair->active.endpoint = NULL;
        nd1_new_connector(&pair->active);
        nd1_new_endpoint(&pair->active);
        nd1_new_connector(&pair->passive);
        nd1_new_endpoint(&pair->passive);
    }
}

/* One Connect is under way, the other gets the code for that. */
static void test_connects_of_two_threads_make_one_attempt(void **state)
{
    struct nd1_pair *pair = *state;
    struct nd1_end *active = &pair->active;

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct other other = {
            .end = active, .to = &pair->listening, .overlapped = nd1_fresh(active, 1)
        };
        OVERLAPPED *overlapped = nd1_fresh(active, 0);
        pthread_t thread = start(&other, connect_too);
        HRESULT hr;

        pthread_barrier_wait(&other.start);
        hr = connect_on(active, &pair->listening, overlapped);
        join(&other, thread);
        assert_true((hr == PENDING && other.hr == ACTIVE) || (hr == ACTIVE && other.hr == PENDING));
        assert_int_equal(nd1_get_request(pair), OK);
        assert_int_equal(CALL(pair->passive.connector, Reject, NULL, 0), OK);
        assert_int_equal(
            nd1_ended(active->connector, PENDING, hr == PENDING ? overlapped : other.overlapped),
            REFUSED);
        nd1_new_connector(&pair->passive);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, nd1_pair_set_up, nd1_pair_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_connector_and_endpoint_are_released_by_two_threads),
        TEST(test_connects_of_two_threads_make_one_attempt),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
