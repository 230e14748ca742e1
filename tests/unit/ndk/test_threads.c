/* SPDX-License-Identifier: MIT */
/*
 * test_threads.c - what a consumer may do beside its own posts, on the embedded device: flush the queue pair, close the
 * connector. Each request that was taken ends once; from some moment on none is taken. And what its callbacks may do
 * while the call that brought them about has not returned.
 */
#include "tests/unit/ndk/pair.h"

#include <string.h>

#define CANCELLED ((NTSTATUS)SPEC_STATUS_CANCELLED)
#define INVALID   ((NTSTATUS)SPEC_STATUS_CONNECTION_INVALID)
#define FULL      ((NTSTATUS)SPEC_STATUS_INSUFFICIENT_RESOURCES)

enum { ROUNDS = 40, BEFORE = 20 };

/* One of the two queues of the active side's queue pair; its thread alone posts to it, and takes its results. */
struct poster {
    struct side *side;
    NDK_CQ *cq;
    NTSTATUS (*post)(struct poster *poster);
    UINT64 there; /* of the peer */
    UINT32 token;
    pthread_t thread;
    atomic_uint taken; /* requests */
    unsigned ended;
    NTSTATUS refused; /* the first other status than success and a full queue */
    unsigned wrong;   /* results of a wrong status or context */
};

static NTSTATUS post_receive(struct poster *poster)
{
    struct side *side = poster->side;
    NDK_SGE entry = sge(side->memory, 16, side->token);

    return side->qp->Dispatch->NdkReceive(side->qp, poster, &entry, 1);
}

/* Every other one is deferred. */
static NTSTATUS post_write(struct poster *poster)
{
    struct side *side = poster->side;
    NDK_SGE entry = sge(side->memory + 4096, 16, side->token);
    ULONG flags = atomic_load(&poster->taken) % 2 ? NDK_OP_FLAG_DEFER : 0;

    return side->qp->Dispatch->NdkWrite(
        side->qp, poster, &entry, 1, poster->there, poster->token, flags);
}

static void take_results(struct poster *poster)
{
    NDK_RESULT result;

    while (poster->cq->Dispatch->NdkGetCqResults(poster->cq, &result, 1)) {
        poster->ended++;
        poster->wrong += result.RequestContext != poster || result.QPContext != poster->side ||
                         (result.Status != STATUS_SUCCESS && result.Status != CANCELLED);
    }
}

static void *post_until_refused(void *argument)
{
    struct poster *poster = argument;
    NTSTATUS status;

    while ((status = poster->post(poster)) == STATUS_SUCCESS || status == FULL) {
        if (status == STATUS_SUCCESS)
            atomic_fetch_add(&poster->taken, 1);
        take_results(poster);
        if (status == FULL)
            sched_yield();
    }
    poster->refused = status;
    return NULL;
}

/* Both queues are posted to while end is called. */
static void post_beside(struct pair *pair, void (*end)(struct side *side))
{
    struct side *side = &pair->active;
    struct poster posters[2] = {
        { .side = side, .cq = side->receive_cq, .post = post_receive },
        { .side = side,
            .cq = side->initiator_cq,
            .post = post_write,
            .there = (UINT64)(ULONG_PTR)pair->passive.memory,
            .token = pair->passive.remote_token },
    };
    const unsigned before[2] = { 1, BEFORE };

    for (int i = 0; i < 2; i++)
        assert_int_equal(
            pthread_create(&posters[i].thread, NULL, post_until_refused, &posters[i]), 0);
    for (int i = 0; i < 2; i++)
        while (atomic_load(&posters[i].taken) < before[i])
            sched_yield();
    end(side);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(pthread_join(posters[i].thread, NULL), 0);
        assert_int_equal(posters[i].refused, INVALID);
        assert_int_equal(posters[i].post(&posters[i]), INVALID);
        while (posters[i].ended < atomic_load(&posters[i].taken))
            take_results(&posters[i]);
        take_results(&posters[i]);
        assert_int_equal(posters[i].ended, atomic_load(&posters[i].taken));
        assert_int_equal(posters[i].wrong, 0);
    }
}

/* most in: disconnect events of this side */
static void run_rounds(void (*end)(struct side *side), unsigned most)
{
    for (int i = 0; i < ROUNDS; i++) {
        struct pair pair;

        pair_open(&pair);
        pair_connect(&pair);
        post_beside(&pair, end);
        pair_close(&pair);
        assert_true(atomic_load(&pair.active.disconnect.count) <= most);
        assert_true(atomic_load(&pair.passive.disconnect.count) <= 1);
    }
}

static void flush(struct side *side)
{
    side->qp->Dispatch->NdkFlush(side->qp);
}

static void close_its_connector(struct side *side)
{
    NDK_CONNECTOR *connector = side->connector;

    side->connector = NULL;
    close_connector(connector);
}

/* The embedded device is an iWARP one: it ends the connection with the queue pair, and may tell of that. */
static void queue_pair_is_flushed_beside_posts(void **state)
{
    (void)state;
    run_rounds(flush, 1);
}

static void connector_is_closed_beside_posts(void **state)
{
    (void)state;
    run_rounds(close_its_connector, 0);
}

/* ---- callbacks that come before the call has returned ---- */

enum { ARMS = 3000 };

struct armed {
    NDK_CQ *cq;
    KEVENT event;
    atomic_uint results;
};

/* It may run before the NdkArmCq that asked for it has returned. */
static VOID take_and_tell(PVOID context, NTSTATUS status)
{
    struct armed *armed = context;
    NDK_RESULT results[4];

    (void)status;
    atomic_fetch_add(&armed->results, armed->cq->Dispatch->NdkGetCqResults(armed->cq, results, 4));
    KeSetEvent(&armed->event, IO_NO_INCREMENT, FALSE);
}

/* Each round the result is there before the queue is armed, so that the callback is called at once. */
static void callback_comes_before_arm_has_returned(void **state)
{
    struct pair pair;
    struct side *side = &pair.active;
    struct armed armed = { 0 };

    (void)state;
    pair_open(&pair);
    KeInitializeEvent(&armed.event, SynchronizationEvent, FALSE);
    close_qp(side->qp);
    close_cq(side->receive_cq);
    assert_int_equal(side->adapter->Dispatch->NdkCreateCq(side->adapter, 16, take_and_tell, &armed,
                         NULL, NULL, NULL, &side->receive_cq),
        0);
    armed.cq = side->receive_cq;
    side->qp = qp_create(side->pd, side->receive_cq, side->initiator_cq, side);
    pair_connect(&pair);
    for (unsigned i = 0; i < ARMS; i++) {
        NDK_SGE target = sge(side->memory, 16, side->token);
        NDK_SGE source = sge(pair.passive.memory, 16, pair.passive.token);
        NDK_RESULT sent;

        assert_int_equal(side->qp->Dispatch->NdkReceive(side->qp, NULL, &target, 1), 0);
        assert_int_equal(
            pair.passive.qp->Dispatch->NdkSend(pair.passive.qp, NULL, &source, 1, 0), 0);
        while (!pair.passive.initiator_cq->Dispatch->NdkGetCqResults(
            pair.passive.initiator_cq, &sent, 1))
            sched_yield();
        armed.cq->Dispatch->NdkArmCq(armed.cq, NDK_CQ_NOTIFY_ANY);
        assert_int_equal(
            KeWaitForSingleObject(&armed.event, Executive, KernelMode, FALSE, NULL), 0);
    }
    assert_int_equal(atomic_load(&armed.results), ARMS);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queue_pair_is_flushed_beside_posts),
        cmocka_unit_test(connector_is_closed_beside_posts),
        cmocka_unit_test(callback_comes_before_arm_has_returned),
    };

    return run_in_modes(NULL, tests);
}
