/* SPDX-License-Identifier: MIT */
/*
 * Several threads at once end connections at random points: cancel, reject, release, disconnect against any pending
 * request. Each request must end, the library may not touch freed memory (the sanitizers watch) and may leave nothing
 * behind.
 */
#include "tests/unit/ndspi/connection/connection.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { THREADS = 3, ROUNDS = 60, REQUEST_TIMEOUT_MS = 15000 };

struct worker {
    pthread_t thread;
    struct pair *pair;
    unsigned seed;
    const char *failed; /* assertions of cmocka belong to the main thread */
    unsigned connected;
};

#define CHECK(worker, condition)                                                                   \
    do {                                                                                           \
        if (!(condition) && !(worker)->failed)                                                     \
            (worker)->failed = #condition;                                                         \
    } while (0)

static unsigned roll(struct worker *worker, unsigned sides)
{
    return (unsigned)rand_r(&worker->seed) % sides;
}

/* Waits for the end of a begun call; its status, PENDING when it hangs. */
static HRESULT finish(void *object, HRESULT hr, OVERLAPPED *overlapped)
{
    IND2Overlapped *owner = object;

    if (hr != PENDING)
        return hr;
    WaitForSingleObject(overlapped->hEvent, REQUEST_TIMEOUT_MS);
    return CALL(owner, GetOverlappedResult, overlapped, FALSE);
}

/* One of the ways a program ends something. True: the connector is no more. */
static bool cut(struct worker *worker, struct side *side)
{
    switch (roll(worker, 5)) {
    case 0: CALL(side->connector, CancelOverlappedRequests); return false;
    case 1: CALL(side->connector, Reject, NULL, 0); return false;
    case 2:
        finish(side->connector, CALL(side->connector, Disconnect, fresh(side, 2)),
            &side->requests[2].overlapped);
        return false;
    case 3: return false;
    default:
        CHECK(worker, CALL(side->connector, Release) == 0);
        side->connector = NULL;
        return true;
    }
}

static void active_round(struct worker *worker, struct side *side)
{
    struct sockaddr_in *to = &worker->pair->listening;
    OVERLAPPED *overlapped = fresh(side, 0);
    HRESULT hr;

    side_new_connector(side);
    side_new_qp(side);
    CHECK(worker, bind_to(side, 0) == OK);
    hr = CALL(side->connector, Connect, (IUnknown *)side->qp, (struct sockaddr *)to, sizeof(*to), 1,
        1, NULL, 0, overlapped);
    CHECK(worker, hr == PENDING);
    if (roll(worker, 3) == 0 && cut(worker, side)) {
        CHECK(worker, overlapped->Internal != SPEC_ND_PENDING);
        return;
    }
    hr = finish(side->connector, hr, overlapped);
    CHECK(worker, hr == OK || hr == REFUSED || hr == CANCELED);
    if (roll(worker, 3) == 0 && cut(worker, side))
        return;
    hr =
        finish(side->connector, CALL(side->connector, CompleteConnect, fresh(side, 0)), overlapped);
    CHECK(worker, hr != PENDING);
    if (hr != OK)
        return;
    worker->connected++;
    hr = CALL(side->connector, NotifyDisconnect, fresh(side, 1));
    cut(worker, side);
    if (side->connector)
        CALL(side->connector, CancelOverlappedRequests);
    CHECK(worker, FAILED(hr) || side->requests[1].overlapped.Internal != SPEC_ND_PENDING);
}

static void *active_main(void *context)
{
    struct worker *worker = context;
    ND2_RESULT result;
    struct side side;

    side_open(&side);
    for (int i = 0; i < ROUNDS && !worker->failed; i++) {
        active_round(worker, &side);
        CALL(side.cq, GetResults, &result, 1);
    }
    side_close(&side);
    return NULL;
}

static void passive_round(struct worker *worker, struct side *side, HRESULT got)
{
    HRESULT hr;

    if (got != OK)
        return;
    if (roll(worker, 4) == 0 && cut(worker, side))
        return;
    hr = CALL(side->connector, Accept, (IUnknown *)side->qp, 1, 1, NULL, 0, fresh(side, 0));
    if (roll(worker, 4) == 0 && cut(worker, side)) {
        CHECK(worker, FAILED(hr) || side->requests[0].overlapped.Internal != SPEC_ND_PENDING);
        return;
    }
    hr = finish(side->connector, hr, &side->requests[0].overlapped);
    CHECK(worker, hr != PENDING);
    if (hr == OK) {
        hr = CALL(side->connector, NotifyDisconnect, fresh(side, 1));
        cut(worker, side);
        if (side->connector)
            CALL(side->connector, CancelOverlappedRequests);
        CHECK(worker, FAILED(hr) || side->requests[1].overlapped.Internal != SPEC_ND_PENDING);
    }
}

static atomic_bool over;

static void *passive_main(void *context)
{
    struct worker *worker = context;
    struct pair *pair = worker->pair;
    struct side *side = &pair->passive;
    ND2_RESULT result;

    while (!atomic_load(&over) && !worker->failed) {
        OVERLAPPED *overlapped = fresh_request(&pair->get);
        HRESULT hr;

        side_new_connector(side);
        side_new_qp(side);
        hr = CALL(pair->listener, GetConnectionRequest, (IUnknown *)side->connector, overlapped);
        /* The main thread cancels it when the others are done. */
        while (hr == PENDING && !atomic_load(&over) &&
               WaitForSingleObject(overlapped->hEvent, 50) == WAIT_TIMEOUT)
            ;
        if (hr == PENDING && atomic_load(&over))
            CALL(pair->listener, CancelOverlappedRequests);
        passive_round(worker, side, finish(pair->listener, hr, overlapped));
        CALL(side->cq, GetResults, &result, 1);
    }
    return NULL;
}

static void test_connections_cut_at_random_leave_nothing(void **state)
{
    struct worker workers[THREADS + 1] = { 0 };
    const char *wanted = getenv("NDSPI_TEST_SEED");
    unsigned seed = wanted ? (unsigned)atoi(wanted) : 1, connected = 0;

    atomic_store(&over, false);
    for (unsigned i = 0; i <= THREADS; i++) {
        workers[i].pair = *state;
        workers[i].seed = seed * 100 + i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL,
                             i < THREADS ? active_main : passive_main, &workers[i]),
            0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        connected += workers[i].connected;
    }
    atomic_store(&over, true);
    pthread_join(workers[THREADS].thread, NULL);
    for (unsigned i = 0; i <= THREADS; i++) {
        if (workers[i].failed)
            print_error("thread %u: %s\n", i, workers[i].failed);
        assert_null(workers[i].failed);
    }
    assert_true(connected > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            test_connections_cut_at_random_leave_nothing, pair_set_up, pair_tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
