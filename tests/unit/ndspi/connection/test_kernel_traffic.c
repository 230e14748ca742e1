/* SPDX-License-Identifier: MIT */
/*
 * test_kernel_traffic.c - requests of the kernel flavour over the embedded device: arms that miss nothing, chains,
 * keys that the peer invalidates, and queue pairs that end with requests that nobody fetches.
 *
 * Source: NDKPI, NdkArmCq, NdkGetCqResultsEx, NdkSendAndInvalidate, NdkCloseObject.
 */
#include "tests/unit/ndspi/connection/kernel_pair.h"

#include "ndspi/core/memory/mw.h"

#include <endian.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGES = 3000, AT_ONCE = 4 };

/* One side: its queue pair, its completion queue, a registered buffer. */
struct side {
    struct end *end;
    struct nd_cq *cq;
    struct nd_mr *mr;
    struct request arm;
    OVERLAPPED *request; /* of it: the one of the queue */
    uint32_t data[16];
};

struct sides {
    struct server *server;
    struct side active, passive;
};

/* Not on a stack: an arm may be under way until its queue is closed. */
static struct sides s;

static ND2_SGE word_of(struct side *side, unsigned index)
{
    return (ND2_SGE){ &side->data[index], 4, atomic_load(&side->mr->local_token) };
}

static void open_side(struct side *side, struct end *end, struct nd_cq *own)
{
    side->end = end;
    side->cq = own;
    side->request = begin(&side->arm);
    side->mr = make_mr(side->data, sizeof(side->data));
}

static void open_sides(void)
{
    struct nd_cq *first = cq, *second = make_cq(64);
    struct end *active = new_end(), *passive;

    memset(&s, 0, sizeof(s));
    s.server = start_server();
    assert_int_equal(connect_from(active, NULL, 0, s.server->port), SPEC_ND_PENDING);
    cq = second;
    passive = accept_next(s.server);
    cq = first;
    complete(active, passive);
    open_side(&s.active, active, first);
    open_side(&s.passive, passive, second);
}

/* Not the adapter's own queue. */
static void close_sides(void)
{
    drop_end(s.active.end);
    drop_end(s.passive.end);
    assert_true(SETTLES(!atomic_load(&living_qps))); /* both queues are still open */
    nd_mr_close(s.active.mr);
    nd_mr_close(s.passive.mr);
    nd_cq_close(s.passive.cq);
    nd_listener_close(&s.server->core);
}

static uint32_t receive_word(struct side *side, unsigned index)
{
    ND2_SGE sge = word_of(side, index);

    return (uint32_t)nd_queue_receive_v2(
        &side->end->qp->receive, (void *)(uintptr_t)index, &sge, 1);
}

static uint32_t send_word(struct side *side, unsigned index, uint32_t flags)
{
    ND2_SGE sge = word_of(side, index);

    return (uint32_t)nd_queue_send_v2(
        &side->end->qp->initiator, (void *)(uintptr_t)index, &sge, 1, flags);
}

/*
 * Arms twice, and waits for one end. The first arm may have ended before the second: then that one has an end of its
 * own, which a later wait finds.
 */
static void wait_armed(struct side *side, ULONG first, ULONG then)
{
    nd_cq_arm(side->cq, first, side->request);
    nd_cq_arm(side->cq, then, side->request);
    wait_for(&side->arm.ended);
    assert_int_equal(side->arm.status, 0);
}

/* The next result, waited for by arms. */
static struct nd_result next_result(struct side *side)
{
    struct nd_result result;

    while (!nd_cq_results_kernel_ex(&side->cq->poll, &result, 1))
        wait_armed(side, ND_CQ_NOTIFY_ANY, ND_CQ_NOTIFY_ERRORS);
    return result;
}

/* ---- arms ---- */

/* One for each Receive: a message without one ends its connection when the receiver sleeps too long. */
static sem_t credits;

/* Takes results until at most `most` Sends are under way. Returns why it gave up, or NULL. */
static const char *wait_for_sends(struct side *side, unsigned sent, unsigned *ended, unsigned most)
{
    struct nd_result result;

    while (sent - *ended > most) {
        if (nd_cq_results_kernel_ex(&side->cq->poll, &result, 1)) {
            if (result.status)
                return "a Send failed";
            ++*ended;
            continue;
        }
        nd_cq_arm(side->cq, ND_CQ_NOTIFY_ANY, side->request);
        nd_cq_arm(side->cq, ND_CQ_NOTIFY_ERRORS, side->request);
        wait_for(&side->arm.ended);
        if (side->arm.status)
            return "an arm failed";
    }
    return NULL;
}

/* Sends all messages, a few at once, each with its number. Returns as wait_for_sends: it asserts nothing. */
static void *sender(void *arg)
{
    struct side *side = arg;
    const char *trouble = NULL;
    unsigned ended = 0;

    for (unsigned sent = 0; sent < MESSAGES && !trouble; sent++) {
        trouble = wait_for_sends(side, sent, &ended, AT_ONCE - 1);
        wait_for(&credits);
        side->data[sent % AT_ONCE] = sent;
        if (!trouble && send_word(side, sent % AT_ONCE, 0))
            trouble = "a Send was refused";
    }
    if (!trouble)
        trouble = wait_for_sends(side, MESSAGES, &ended, 0);
    return (void *)(uintptr_t)trouble;
}

/* Two threads, each of which arms its queue, is woken, and takes what is there: none waits for ever. */
static void test_no_arrival_is_missed(void **state)
{
    struct nd_result results[AT_ONCE];
    pthread_t thread;
    void *trouble;

    (void)state;
    open_sides();
    sem_init(&credits, 0, AT_ONCE);
    for (unsigned i = 0; i < AT_ONCE; i++)
        assert_int_equal(receive_word(&s.passive, i), 0);
    assert_int_equal(pthread_create(&thread, NULL, sender, &s.active), 0);
    for (unsigned received = 0; received < MESSAGES;) {
        unsigned count = nd_cq_results_kernel_ex(&s.passive.cq->poll, results, AT_ONCE);

        for (unsigned i = 0; i < count; i++, received++) {
            unsigned index = (unsigned)(uintptr_t)results[i].context;

            assert_int_equal((uint32_t)results[i].status, 0);
            assert_int_equal(results[i].octets, 4);
            assert_int_equal(s.passive.data[index], received);
            assert_int_equal(receive_word(&s.passive, index), 0);
            sem_post(&credits);
        }
        if (!count)
            wait_armed(&s.passive, received % 2 ? ND_CQ_NOTIFY_SOLICITED : ND_CQ_NOTIFY_ANY,
                ND_CQ_NOTIFY_ANY);
    }
    pthread_join(thread, &trouble);
    assert_null(trouble);
    close_sides();
}

/* A Send that asks for no event ends no arm for solicited ones; one that does ends it. */
static void test_solicited_messages_end_an_arm(void **state)
{
    struct nd_result result;
    (void)state;
    open_sides();
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(receive_word(&s.passive, i), 0);
    nd_cq_arm(s.passive.cq, ND_CQ_NOTIFY_SOLICITED, s.passive.request);
    assert_int_equal(send_word(&s.active, 0, 0), 0);
    assert_int_equal((uint32_t)next_result(&s.active).status, 0);
    assert_int_equal(atomic_load(&s.passive.arm.ends), 0);
    assert_int_equal(send_word(&s.active, 1, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT), 0);
    wait_for(&s.passive.arm.ended);
    assert_int_equal(atomic_load(&s.passive.arm.ends), 1);
    assert_int_equal(s.passive.arm.status, 0);
    for (uintptr_t i = 0; i < 2; i++) {
        assert_int_equal(nd_cq_results_kernel_ex(&s.passive.cq->poll, &result, 1), 1);
        assert_ptr_equal(result.context, (void *)i);
    }
    close_sides();
}

/* ---- chains ---- */

static void test_deferred_messages_arrive_in_order(void **state)
{
    (void)state;
    open_sides();
    for (unsigned round = 0; round < 10; round++) {
        for (unsigned i = 0; i < AT_ONCE; i++)
            assert_int_equal(receive_word(&s.passive, i), 0);
        for (unsigned i = 0; i < AT_ONCE; i++) {
            s.active.data[i] = round * AT_ONCE + i;
            assert_int_equal(send_word(&s.active, i, i + 1 < AT_ONCE ? ND_POST_DEFER : 0), 0);
        }
        for (uintptr_t i = 0; i < AT_ONCE; i++) {
            assert_ptr_equal(next_result(&s.passive).context, (void *)i);
            assert_int_equal(s.passive.data[i], round * AT_ONCE + i);
            assert_ptr_equal(next_result(&s.active).context, (void *)i);
        }
    }
    close_sides();
}

/* ---- keys that the peer invalidates ---- */

static void mw_gone(struct nd_object *object)
{
    nd_mw_fini((struct nd_mw *)object);
    free(object);
}

static uint32_t send_invalidate(struct side *side, uint32_t key)
{
    ND2_SGE sge = word_of(side, 0);

    return (uint32_t)nd_qp_send_invalidate(side->end->qp, (void *)7, &sge, 1, htobe32(key), 0);
}

/* The receiver is told; the same key again is a bad one, and ends the connection at both sides. */
static void test_the_peer_invalidates_a_key_once(void **state)
{
    struct nd_mw *mw = nd_object_alloc(sizeof(*mw));
    struct nd_result result;
    uint32_t key;

    (void)state;
    open_sides();
    assert_int_equal(nd_mw_init(mw, adapter, mw_gone), 0);
    assert_int_equal((uint32_t)nd_qp_bind(s.active.end->qp, (void *)1, s.active.mr, mw,
                         s.active.data, 64, ND_OP_FLAG_ALLOW_READ),
        0);
    assert_int_equal(next_result(&s.active).type, 8);
    key = be32toh(atomic_load(&mw->token));
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(receive_word(&s.active, i), 0);
    assert_int_equal(send_invalidate(&s.passive, key), 0);
    result = next_result(&s.active);
    assert_int_equal((uint32_t)result.status, 0);
    assert_int_equal(result.type, 0x8001);
    assert_int_equal(result.token, key);
    assert_int_equal(result.octets, 4);
    result = next_result(&s.passive);
    assert_int_equal((uint32_t)result.status, 0);
    assert_int_equal(result.type, 2); /* as a Send */
    assert_int_equal((uint32_t)nd_qp_invalidate(s.active.end->qp, NULL, mw, 0),
        SPEC_ND_INVALID_DEVICE_REQUEST); /* it is free */
    assert_int_equal(send_invalidate(&s.passive, key), 0);
    assert_int_equal(end_of(&s.active.end->told), 0);
    assert_int_equal(end_of(&s.passive.end->told), 0);
    nd_mw_close(mw);
    close_sides();
}

/* ---- the end of queue pairs ---- */

/* With Receives and Sends under way, and results that nobody fetches; in each order with the connectors. */
static void test_queue_pairs_end_whatever_is_left(void **state)
{
    (void)state;
    for (int order = 0; order < 2; order++) {

        open_sides();
        for (unsigned i = 0; i < AT_ONCE; i++)
            assert_int_equal(receive_word(&s.passive, i), 0);
        for (unsigned i = 0; i < AT_ONCE; i++)
            assert_int_equal(send_word(&s.active, i, 0), 0);
        assert_int_equal(receive_word(&s.active, 0), 0);
        if (order) {
            nd_connector_close(s.active.end->connector);
            nd_connector_close(s.passive.end->connector);
            s.active.end->connector = s.passive.end->connector = NULL;
        }
        close_sides();
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_adapter, close_adapter)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_no_arrival_is_missed),
        TEST(test_solicited_messages_end_an_arm),
        TEST(test_deferred_messages_arrive_in_order),
        TEST(test_the_peer_invalidates_a_key_once),
        TEST(test_queue_pairs_end_whatever_is_left),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
