/* SPDX-License-Identifier: MIT */
/*
 * test_nd1_race.c - one window, taken back by its owner and by the peer at the same time, in two threads, over the
 * embedded device: exactly one of them succeeds, and the owner's results agree with it.
 *
 * Source: NetworkDirect SPI version 1, INDEndpoint::Invalidate, SendAndInvalidate.
 */
#include "tests/unit/ndspi/connection/nd1_connection.h"

#include "util/clock.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 40, PART = 64 };

struct owner {
    INDMemoryWindow *window;
    ND_MR_HANDLE mr;
    char memory[PART];
    ND_RESULT bound, received, invalidated, told;
};

struct peer {
    INDEndpoint *endpoint;
    ND_MW_DESCRIPTOR descriptor;
    pthread_barrier_t *start;
    unsigned delay;
    ND_RESULT sent;
    HRESULT posted;
};

/* The next result of a queue; fails the test when none comes. */
static ND_RESULT *next_result(INDCompletionQueue *cq)
{
    uint64_t deadline_ms = clock_now_ms() + DEADLINE_MS;
    ND_RESULT *result = NULL;

    while (CALL(cq, GetResults, &result, 1) == 0)
        if (clock_now_ms() > deadline_ms)
            fail_msg("a result is missing");
    return result;
}

static ND_MR_HANDLE register_memory(struct nd1_end *end, void *memory, SIZE_T octets)
{
    OVERLAPPED *overlapped = nd1_fresh(end, 1);
    ND_MR_HANDLE mr = NULL;

    assert_int_equal(
        nd1_ended(end->adapter, CALL(end->adapter, RegisterMemory, memory, octets, overlapped, &mr),
            overlapped),
        OK);
    return mr;
}

static void owner_open(struct nd1_end *end, struct owner *owner, ND_MW_DESCRIPTOR *descriptor)
{
    const ND_SGE sge = { owner->memory, PART, NULL };
    ND_SGE receive = sge;

    memset(owner, 0x55, sizeof(*owner));
    owner->mr = register_memory(end, owner->memory, PART);
    receive.hMr = owner->mr;
    assert_int_equal(CALL(end->adapter, CreateMemoryWindow, &owner->told, &owner->window), OK);
    assert_int_equal(CALL(end->endpoint, Bind, &owner->bound, owner->mr, owner->window,
                         owner->memory, PART, ND_OP_FLAG_ALLOW_READ, descriptor),
        OK);
    assert_ptr_equal(next_result(end->cq), &owner->bound);
    assert_int_equal(owner->bound.Status, OK);
    assert_int_equal(CALL(end->endpoint, Receive, &owner->received, &receive, 1), OK);
}

static void spin(unsigned rounds)
{
    for (volatile unsigned i = 0; i < rounds; i++)
        ;
}

static void *take_back(void *argument)
{
    struct peer *peer = argument;

    pthread_barrier_wait(peer->start);
    spin(peer->delay);
    peer->posted =
        CALL(peer->endpoint, SendAndInvalidate, &peer->sent, NULL, 0, &peer->descriptor, 0);
    return NULL;
}

/*
 * Returns whether the owner's Invalidate won. The owner's requests all end; `told` may come once, right after the
 * Receive.
 */
static bool collect(struct nd1_end *end, struct owner *owner, HRESULT called)
{
    unsigned expected = called == OK ? 2 : 1;
    bool told = false, received = false, own = false;

    while (expected) {
        ND_RESULT *result = next_result(end->cq);

        if (result == &owner->told) {
            assert_true(received && !told);
            told = true;
            continue;
        }
        expected--;
        if (result == &owner->received)
            received = true;
        else
            own = result->Status == OK;
    }
    if (owner->received.Status == OK && !told) {
        assert_ptr_equal(next_result(end->cq), &owner->told);
        told = true;
    }
    assert_int_equal(told, owner->received.Status == OK);
    assert_true(own != told);
    if (called == OK && !own)
        assert_int_equal((uint32_t)owner->invalidated.Status, SPEC_ND_INVALID_DEVICE_REQUEST);
    return own;
}

/* Returns whether the owner's won. */
static bool race(struct nd1_pair *pair, unsigned round)
{
    struct nd1_end *end = &pair->passive;
    pthread_barrier_t start;
    struct owner *owner = calloc(1, sizeof(*owner));
    struct peer peer = { .endpoint = pair->active.endpoint, .start = &start };
    pthread_t thread;
    HRESULT called;
    bool own;

    assert_non_null(owner);
    nd1_reach_connected(pair);
    owner_open(end, owner, &peer.descriptor);
    peer.delay = round % 4 < 2 ? round * 400 : 0;
    pthread_barrier_init(&start, NULL, 2);
    assert_int_equal(pthread_create(&thread, NULL, take_back, &peer), 0);
    pthread_barrier_wait(&start);
    if (round % 4 >= 2)
        spin(round * 20000);
    if (round % 4 == 3) /* it may have been seen by then */
        while (CALL(end->cq, Notify, ND_CQ_NOTIFY_ANY, nd1_fresh(end, 2)) != PENDING)
            ;
    called = CALL(end->endpoint, Invalidate, &owner->invalidated, owner->window, 0);
    pthread_join(thread, NULL);
    pthread_barrier_destroy(&start);
    assert_int_equal(peer.posted, OK);
    assert_true(called == OK || called == (HRESULT)SPEC_ND_INVALID_DEVICE_REQUEST);
    own = collect(end, owner, called);
    assert_int_equal(own, FAILED(next_result(pair->active.cq)->Status));
    assert_int_equal(CALL(end->cq, CancelOverlappedRequests), OK);
    assert_int_equal(CALL(owner->window, Release), 0);
    free(owner);
    return own;
}

static void test_exactly_one_of_two_invalidations_wins(void **state)
{
    unsigned own = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        own += race(*state, round);
        assert_int_equal(nd1_pair_tear_down(state), 0);
        assert_int_equal(nd1_pair_set_up(state), 0);
    }
    print_message("the owner's won %u of %u\n", own, ROUNDS);
    assert_in_range(own, 1, ROUNDS); /* half of the rounds give it the start */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_exactly_one_of_two_invalidations_wins, nd1_pair_set_up, nd1_pair_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
