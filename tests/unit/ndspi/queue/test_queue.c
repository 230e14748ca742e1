/* SPDX-License-Identifier: MIT */
/*
 * test_queue.c - requests from post to result: exact depth, silent requests, inline data, refusals, and what lives on
 * after releases, over a device that the test plays.
 */
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/ndspi/core_fake.h"

#include <errno.h>
#include <string.h>

enum { DEPTH = 8 };

struct fixture {
    struct nd_adapter *adapter;
    struct nd_cq *cq;
    struct nd_qp *qp;
    struct fake_qp *device;
    ND2_SGE sge[4];
    char data[64];
};

static int setup(void **state)
{
    static struct fixture f;

    memset(&f, 0, sizeof(f));
    f.adapter = fake_adapter_open();
    f.cq = fake_make_cq(f.adapter, 64);
    f.qp = fake_make_qp(f.adapter, f.cq, NULL, DEPTH);
    f.device = fake_qp_of(f.qp);
    for (int i = 0; i < 4; i++)
        f.sge[i] = (ND2_SGE){ f.data + 8 * i, 4, 0 };
    nd_qp_set_sendable(f.qp);
    *state = &f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    if (f->qp)
        nd_qp_close(f->qp);
    if (f->cq)
        nd_cq_close(f->cq);
    fake_adapter_close(f->adapter);
    return 0;
}

static uint32_t send_it(struct fixture *f, uintptr_t context, uint32_t flags)
{
    return (uint32_t)nd_queue_send_v2(&f->qp->initiator, (void *)context, f->sge, 1, flags);
}

static uint32_t receive_it(struct fixture *f, uintptr_t context)
{
    return (uint32_t)nd_queue_receive_v2(&f->qp->receive, (void *)context, f->sge, 1);
}

static void sends_end(struct fixture *f, unsigned count, enum ibv_wc_status status)
{
    fake_complete(f->cq, &f->device->send, &f->device->ibv, count, status);
}

static unsigned fetch(struct fixture *f, ND2_RESULT *results, unsigned room)
{
    return nd_cq_results_v2(&f->cq->poll, results, room);
}

static void test_depth_is_exact_and_counts_until_fetched(void **state)
{
    struct fixture *f = *state;
    ND2_RESULT result;

    for (uintptr_t i = 1; i <= DEPTH; i++)
        assert_int_equal(send_it(f, i, 0), 0);
    assert_int_equal(send_it(f, 99, 0), SPEC_ND_NO_MORE_ENTRIES);
    sends_end(f, 2, IBV_WC_SUCCESS);
    nd_cq_look(f->cq); /* seen, not fetched */
    assert_int_equal(send_it(f, 99, 0), SPEC_ND_NO_MORE_ENTRIES);
    assert_int_equal(fetch(f, &result, 1), 1);
    assert_int_equal((uintptr_t)result.RequestContext, 1);
    assert_int_equal(send_it(f, 9, 0), 0);
    assert_int_equal(send_it(f, 99, 0), SPEC_ND_NO_MORE_ENTRIES);
    assert_int_equal(fetch(f, &result, 1), 1);
    assert_int_equal((uintptr_t)result.RequestContext, 2);
    assert_int_equal(send_it(f, 10, 0), 0);
    assert_int_equal(send_it(f, 99, 0), SPEC_ND_NO_MORE_ENTRIES);
    for (uintptr_t i = 3; i <= 10; i++) {
        sends_end(f, 1, IBV_WC_SUCCESS);
        assert_int_equal(fetch(f, &result, 1), 1);
        assert_int_equal((uintptr_t)result.RequestContext, i);
    }
    for (uintptr_t i = 1; i <= DEPTH; i++)
        assert_int_equal(receive_it(f, i), 0);
    assert_int_equal(receive_it(f, 99), SPEC_ND_NO_MORE_ENTRIES);
}

static struct nd_counts counts_of(struct fixture *f)
{
    struct nd_counts counts;

    nd_adapter_count(f->adapter, &counts);
    return counts;
}

/* Laps of the ring, refused posts between them, silent requests, results that wait in the software queue. */
static void test_requests_are_counted_once(void **state)
{
    struct fixture *f = *state;
    ND2_RESULT results[DEPTH];

    for (unsigned i = 0; i < 5 * DEPTH; i++) {
        assert_int_equal(send_it(f, 1, 0), 0);
        fake_device.post_error = EIO;
        fake_device.taken = 0;
        (void)send_it(f, 1, 0);
        fake_device.post_error = 0;
        assert_int_equal(send_it(f, 1, 1), 0); /* silent */
        assert_int_equal(send_it(f, 1, 0), 0);
        assert_int_equal(counts_of(f).now.initiator_pending, 3);
        sends_end(f, 3, IBV_WC_SUCCESS);
        if (i % 2)
            nd_cq_look(f->cq);
        assert_int_equal(fetch(f, results, DEPTH), 2);
        assert_int_equal(counts_of(f).now.initiator_pending, 0);
    }
    assert_int_equal(counts_of(f).sends, 15 * DEPTH);
    assert_int_equal(counts_of(f).send_octets, 4 * 15 * DEPTH);
    assert_int_equal(counts_of(f).receives, 0);
    assert_int_equal(counts_of(f).failed, 0);
}

/* Failed and flushed requests are none that completed, before they are fetched and after. */
static void test_receives_that_fail_are_counted_apart(void **state)
{
    struct fixture *f = *state;
    ND2_RESULT results[DEPTH];

    for (uintptr_t i = 1; i <= 6; i++)
        assert_int_equal(receive_it(f, i), 0);
    fake_complete(f->cq, &f->device->receive, &f->device->ibv, 2, IBV_WC_SUCCESS);
    assert_int_equal(fetch(f, results, DEPTH), 2);
    fake_complete(f->cq, &f->device->receive, &f->device->ibv, 1, IBV_WC_LOC_LEN_ERR);
    fake_complete(f->cq, &f->device->receive, &f->device->ibv, 2, IBV_WC_WR_FLUSH_ERR);
    nd_cq_look(f->cq);
    assert_int_equal(counts_of(f).receives, 2);
    assert_int_equal(counts_of(f).now.receive_pending, 4);
    assert_int_equal(counts_of(f).now.results_waiting, 3);
    assert_int_equal(fetch(f, results, DEPTH), 3);
    assert_int_equal(counts_of(f).receives, 2);
    assert_int_equal(counts_of(f).failed, 1);
    assert_int_equal(counts_of(f).flushed, 2);
    assert_int_equal(counts_of(f).now.receive_pending, 1);
    assert_int_equal(atomic_load(&f->adapter->counts.connection_errors), 1);
}

/* Room for more than a batch: through the software queue, in order, all there. */
static void test_results_come_in_order_through_every_path(void **state)
{
    struct fixture *f = *state;
    ND2_RESULT results[40];
    uintptr_t next = 1, expected = 1;

    for (int round = 0; round < 200; round++) {
        unsigned posts = 1 + (unsigned)round % DEPTH, room = 1 + (unsigned)round * 7 % 40, got = 0;

        for (unsigned i = 0; i < posts; i++)
            assert_int_equal(send_it(f, next++, 0), 0);
        sends_end(f, posts, IBV_WC_SUCCESS);
        if (round % 3 == 0)
            nd_cq_look(f->cq);
        while (got < posts) {
            unsigned count = fetch(f, results, room);

            assert_in_range(count, 1, room);
            for (unsigned i = 0; i < count; i++) {
                assert_int_equal((uintptr_t)results[i].RequestContext, expected++);
                assert_int_equal(results[i].Status, 0);
                assert_int_equal(results[i].RequestType, 1);
                assert_ptr_equal(results[i].QueuePairContext, f->qp);
            }
            got += count;
        }
        assert_int_equal(fetch(f, results, room), 0);
    }
}

static void test_silent_requests_for_ever_show_nothing(void **state)
{
    struct fixture *f = *state;
    ND2_RESULT result;

    for (uintptr_t i = 0; i < 10 * DEPTH; i++) {
        assert_int_equal(send_it(f, i, ND_OP_FLAG_SILENT_SUCCESS), 0);
        sends_end(f, 1, IBV_WC_SUCCESS);
    }
    assert_int_equal(fetch(f, &result, 1), 0);
    assert_int_equal(send_it(f, 7, 0), 0);
    sends_end(f, 1, IBV_WC_SUCCESS);
    assert_int_equal(fetch(f, &result, 1), 1);
    assert_int_equal((uintptr_t)result.RequestContext, 7);
}

static void test_silent_requests_that_fail_are_reported(void **state)
{
    struct fixture *f = *state;
    ND2_RESULT results[4];

    assert_int_equal(send_it(f, 1, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(send_it(f, 2, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(send_it(f, 3, 0), 0);
    sends_end(f, 1, IBV_WC_SUCCESS);
    sends_end(f, 1, IBV_WC_REM_ACCESS_ERR);
    sends_end(f, 1, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(fetch(f, results, 4), 2);
    assert_int_equal((uintptr_t)results[0].RequestContext, 2);
    assert_int_equal((uint32_t)results[0].Status, SPEC_ND_ACCESS_VIOLATION);
    assert_int_equal(results[0].RequestType, 1);
    assert_ptr_equal(results[0].QueuePairContext, f->qp);
    assert_int_equal((uintptr_t)results[1].RequestContext, 3);
    assert_int_equal((uint32_t)results[1].Status, SPEC_ND_CANCELED);
    for (uintptr_t i = 1; i <= DEPTH; i++) /* all places are free again */
        assert_int_equal(send_it(f, i, 0), 0);
    assert_int_equal(send_it(f, 99, 0), SPEC_ND_NO_MORE_ENTRIES);
}

/* Every way a silent and a fetched one can share a ring: no place is lost, none is given twice. */
static void test_silent_and_fetched_mix_without_losing_places(void **state)
{
    struct fixture *f = *state;
    unsigned unfetched = 0;
    ND2_RESULT result;

    for (unsigned round = 0; round < 3000; round++) {
        bool silent = (round * 2654435761u >> 16) % 3 != 0;
        uint32_t status = send_it(f, round, silent ? ND_OP_FLAG_SILENT_SUCCESS : 0);

        if (status == SPEC_ND_NO_MORE_ENTRIES) {
            assert_true(unfetched > 0);
            assert_int_equal(fetch(f, &result, 1), 1);
            unfetched--;
            continue;
        }
        assert_int_equal(status, 0);
        unfetched += !silent;
        assert_in_range(unfetched, 0, DEPTH);
        sends_end(f, 1, IBV_WC_SUCCESS);
    }
    while (fetch(f, &result, 1))
        unfetched--;
    assert_int_equal(unfetched, 0);
}

static void test_flags_reach_the_device(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(send_it(f, 1, 0), 0);
    assert_int_equal(send_it(f, 2, ND_OP_FLAG_READ_FENCE), 0);
    assert_int_equal(send_it(f, 3, ND_OP_FLAG_SEND_AND_SOLICIT_EVENT), 0);
    assert_int_equal(send_it(f, 4, ND_OP_FLAG_SILENT_SUCCESS | ND_OP_FLAG_INLINE), 0);
    assert_int_equal(f->device->send.requests[0].send_flags, IBV_SEND_SIGNALED);
    assert_int_equal(f->device->send.requests[1].send_flags, IBV_SEND_SIGNALED | IBV_SEND_FENCE);
    assert_int_equal(
        f->device->send.requests[2].send_flags, IBV_SEND_SIGNALED | IBV_SEND_SOLICITED);
    assert_int_equal(f->device->send.requests[3].send_flags, IBV_SEND_INLINE);
    for (uint32_t flag = 0x40; flag; flag <<= 1)
        assert_int_equal(send_it(f, 9, flag), SPEC_ND_INVALID_PARAMETER_4);
    assert_int_equal(send_it(f, 9, ND_OP_FLAG_ALLOW_READ), SPEC_ND_INVALID_PARAMETER_4);
}

static void test_inline_takes_any_number_of_entries_up_to_its_length(void **state)
{
    struct fixture *f = *state;
    const struct fake_request *posted = &f->device->send.requests[0];

    memcpy(f->data, "abcd....efgh....ijkl....mnop", 28);
    assert_int_equal(nd_queue_send_v2(&f->qp->initiator, NULL, f->sge, 4, ND_OP_FLAG_INLINE),
        ND_SUCCESS); /* the device takes 2 */
    assert_int_equal(posted->num_sge, 1);
    assert_int_equal(posted->first_sge.length, 16);
    assert_memory_equal((void *)(uintptr_t)posted->first_sge.addr, "abcdefghijklmnop", 16);
    f->sge[0].BufferLength = 65;
    assert_int_equal(send_it(f, 1, ND_OP_FLAG_INLINE), SPEC_ND_BUFFER_OVERFLOW);
    f->sge[0].BufferLength = 64;
    assert_int_equal(send_it(f, 1, ND_OP_FLAG_INLINE), 0);
    assert_int_equal(
        (uint32_t)nd_queue_send_v2(&f->qp->initiator, NULL, f->sge, 3, 0), SPEC_ND_DATA_OVERRUN);
}

static void test_lengths_are_checked_in_sum(void **state)
{
    struct fixture *f = *state;

    f->sge[0].BufferLength = (1 << 20) + 1;
    assert_int_equal(send_it(f, 1, 0), SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal(receive_it(f, 1), SPEC_ND_BUFFER_OVERFLOW);
    f->sge[0].BufferLength = f->sge[1].BufferLength = 0xFFFFFFFF; /* the sum passes 32 bits */
    assert_int_equal(
        (uint32_t)nd_queue_send_v2(&f->qp->initiator, NULL, f->sge, 2, 0), SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal(
        (uint32_t)nd_queue_receive_v2(&f->qp->receive, NULL, f->sge, 2), SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal(
        (uint32_t)nd_queue_receive_v2(&f->qp->receive, NULL, f->sge, 3), SPEC_ND_DATA_OVERRUN);
    assert_int_equal((uint32_t)nd_queue_send_v2(&f->qp->initiator, NULL, NULL, 1, 0),
        SPEC_ND_INVALID_PARAMETER_2);
    assert_int_equal(
        (uint32_t)nd_queue_receive_v2(&f->qp->receive, NULL, NULL, 1), SPEC_ND_INVALID_PARAMETER_2);
    assert_int_equal((uint32_t)nd_queue_send_v2(&f->qp->initiator, NULL, NULL, 0, 0), 0);
    assert_int_equal((uint32_t)nd_queue_receive_v2(&f->qp->receive, NULL, NULL, 0), 0);
    assert_int_equal(f->device->send.requests[0].num_sge, 0);
}

/* Their tokens may be anything. */
static void test_empty_entries_do_not_reach_the_device(void **state)
{
    struct fixture *f = *state;
    const struct fake_request *sent = f->device->send.requests;
    const struct fake_request *received = f->device->receive.requests;
    ND2_SGE list[2] = { { f->data, 0, 0xdead }, { f->data + 8, 8, 5 } };

    assert_int_equal((uint32_t)nd_queue_send_v2(&f->qp->initiator, NULL, list, 2, 0), 0);
    assert_int_equal((uint32_t)nd_queue_receive_v2(&f->qp->receive, NULL, list, 2), 0);
    assert_int_equal(sent[0].num_sge, 1);
    assert_ptr_equal((void *)(uintptr_t)sent[0].first_sge.addr, f->data + 8);
    assert_int_equal(sent[0].first_sge.length, 8);
    assert_int_equal(sent[0].first_sge.lkey, 5);
    assert_int_equal(received[0].num_sge, 1);
    assert_ptr_equal((void *)(uintptr_t)received[0].first_sge.addr, f->data + 8);
    list[1].BufferLength = 0;
    assert_int_equal((uint32_t)nd_queue_send_v2(&f->qp->initiator, NULL, list, 2, 0), 0);
    assert_int_equal((uint32_t)nd_queue_receive_v2(&f->qp->receive, NULL, list, 2), 0);
    assert_int_equal(sent[1].num_sge, 0);
    assert_int_equal(received[1].num_sge, 0);
}

static void test_refused_by_the_device_leaves_the_place_free(void **state)
{
    struct fixture *f = *state;

    fake_device.post_error = ENOMEM;
    assert_int_equal(send_it(f, 1, 0), SPEC_ND_NO_MORE_ENTRIES);
    assert_int_equal(send_it(f, 1, ND_OP_FLAG_READ_FENCE), SPEC_ND_NO_MORE_ENTRIES);
    assert_int_equal(receive_it(f, 1), SPEC_ND_NO_MORE_ENTRIES);
    fake_device.post_error = 0;
    for (uintptr_t i = 1; i <= DEPTH; i++) {
        assert_int_equal(send_it(f, i, 0), 0);
        assert_int_equal(receive_it(f, i), 0);
    }
}

static void test_before_and_after_the_connection(void **state)
{
    struct fixture *f = *state;
    struct nd_qp *qp = fake_make_qp(f->adapter, f->cq, NULL, DEPTH);

    assert_int_equal(
        (uint32_t)nd_queue_send_v2(&qp->initiator, NULL, f->sge, 1, 0), SPEC_ND_CONNECTION_INVALID);
    assert_int_equal(
        (uint32_t)nd_queue_send_v2(&qp->initiator, NULL, f->sge, 1, ND_OP_FLAG_READ_FENCE),
        SPEC_ND_CONNECTION_INVALID);
    assert_int_equal((uint32_t)nd_queue_receive_v2(&qp->receive, NULL, f->sge, 1), 0);
    nd_qp_set_sendable(qp);
    assert_int_equal((uint32_t)nd_queue_send_v2(&qp->initiator, NULL, f->sge, 1, 0), 0);
    assert_int_equal(nd_qp_flush(qp), ND_SUCCESS);
    assert_int_equal(qp->ibv->state, IBV_QPS_ERR);
    assert_int_equal((uint32_t)nd_queue_send_v2(&qp->initiator, NULL, f->sge, 1, 0), 0);
    qp->child.ops->removed(&qp->child);
    assert_int_equal(
        (uint32_t)nd_queue_send_v2(&qp->initiator, NULL, f->sge, 1, 0), SPEC_ND_DEVICE_REMOVED);
    assert_int_equal(
        (uint32_t)nd_queue_receive_v2(&qp->receive, NULL, f->sge, 1), SPEC_ND_DEVICE_REMOVED);
    nd_qp_close(qp);
}

static void test_read_obeys_its_own_limits(void **state)
{
    struct fixture *f = *state;
    const struct nd_remote remote = { .address = 0x1000, .token = 0x78563412 };

    assert_int_equal(
        (uint32_t)nd_qp_read(f->qp, NULL, f->sge, 3, &remote, 0), SPEC_ND_DATA_OVERRUN);
    assert_int_equal((uint32_t)nd_qp_read(f->qp, NULL, f->sge, 1, &remote, ND_OP_FLAG_INLINE),
        SPEC_ND_INVALID_PARAMETER_6);
    assert_int_equal((uint32_t)nd_qp_write(f->qp, NULL, f->sge, 1, &remote, ND_OP_FLAG_ALLOW_READ),
        SPEC_ND_INVALID_PARAMETER_6);
    assert_int_equal((uint32_t)nd_qp_read(f->qp, NULL, f->sge, 2, &remote, 0), 0);
    f->qp->initiator.no_reads = true;
    assert_int_equal(
        (uint32_t)nd_qp_read(f->qp, NULL, f->sge, 1, &remote, 0), SPEC_ND_INVALID_DEVICE_REQUEST);
    assert_int_equal((uint32_t)nd_qp_write(f->qp, NULL, f->sge, 1, &remote, 0), 0);
}

/* The queue pair is gone for the client; its results are not. */
static void test_released_queue_pair_still_hands_out_its_results(void **state)
{
    struct fixture *f = *state;
    ND2_RESULT results[8];
    struct nd_qp *context = f->qp;

    assert_int_equal(send_it(f, 1, 0), 0);
    assert_int_equal(send_it(f, 2, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(receive_it(f, 3), 0);
    sends_end(f, 2, IBV_WC_SUCCESS); /* the silent one reports nothing */
    nd_qp_close(f->qp);
    f->qp = NULL;
    assert_int_equal(f->device->send.count, 1); /* a marker */
    fake_complete(f->cq, &f->device->receive, &f->device->ibv, 1, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(fake_device.objects, 2);
    sends_end(f, 1, IBV_WC_WR_FLUSH_ERR);
    assert_int_equal(fetch(f, results, 8), 2);
    assert_int_equal(fake_device.objects, 1); /* now it went */
    assert_int_equal((uintptr_t)results[0].RequestContext, 1);
    assert_int_equal((uintptr_t)results[1].RequestContext, 3);
    assert_int_equal((uint32_t)results[1].Status, SPEC_ND_CANCELED);
    assert_ptr_equal(results[1].QueuePairContext, context);
}

static void test_results_seen_before_the_release_outlive_the_queue_pair(void **state)
{
    struct fixture *f = *state;
    ND2_RESULT results[4];

    assert_int_equal(send_it(f, 1, 0), 0);
    assert_int_equal(send_it(f, 2, 0), 0);
    sends_end(f, 2, IBV_WC_SUCCESS);
    nd_cq_look(f->cq);
    nd_qp_close(f->qp);
    f->qp = NULL;
    assert_int_equal(fake_device.objects, 2); /* the marker is on its way */
    sends_end(f, 1, IBV_WC_WR_FLUSH_ERR);
    nd_cq_look(f->cq);
    assert_int_equal(fake_device.objects, 1);
    assert_int_equal(fetch(f, results, 4), 2);
    assert_int_equal((uintptr_t)results[1].RequestContext, 2);
}

/* How many results that wait say so of this queue. */
static unsigned results_of(struct fixture *f, const struct nd_queue *queue)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < f->cq->count; i++)
        count += f->cq->entries[(f->cq->head + i) % f->cq->capacity].queue == queue;
    return count;
}

static void one_send_each(struct fixture *f, struct nd_qp *other, uintptr_t context)
{
    assert_int_equal(send_it(f, context, 0), 0);
    assert_int_equal(
        (uint32_t)nd_queue_send_v2(&other->initiator, (void *)(context + 100), f->sge, 1, 0), 0);
    sends_end(f, 1, IBV_WC_SUCCESS);
    fake_complete(f->cq, &fake_qp_of(other)->send, &fake_qp_of(other)->ibv, 1, IBV_WC_SUCCESS);
    nd_cq_look(f->cq);
}

/* In a ring that was moved, whose start has moved since, and whose end comes round. */
static void test_a_queue_pair_leaves_its_own_results_alone(void **state)
{
    struct fixture *f = *state;
    struct nd_qp *other = fake_make_qp(f->adapter, f->cq, NULL, DEPTH);
    const struct nd_queue *gone = &f->qp->initiator, *stays = &other->initiator;
    ND2_RESULT results[12];

    nd_qp_set_sendable(other);
    assert_int_equal((uint32_t)nd_cq_resize(f->cq, 12), 0);
    for (uintptr_t i = 1; i <= 4; i++)
        one_send_each(f, other, i);
    assert_int_equal(fetch(f, results, 5), 5);
    assert_int_equal((uint32_t)nd_cq_resize(f->cq, 11), 0);
    for (uintptr_t i = 5; i <= 7; i++)
        one_send_each(f, other, i);
    assert_int_equal(fetch(f, results, 2), 2);
    for (uintptr_t i = 8; i <= 9; i++)
        one_send_each(f, other, i);
    assert_int_equal(results_of(f, gone), 5);
    assert_int_equal(results_of(f, stays), 6);
    nd_qp_close(f->qp);
    f->qp = NULL;
    sends_end(f, 1, IBV_WC_WR_FLUSH_ERR); /* the marker */
    nd_cq_look(f->cq);
    assert_int_equal(fake_device.objects, 2); /* it went */
    assert_int_equal(results_of(f, gone), 0);
    assert_int_equal(results_of(f, NULL), 5);
    assert_int_equal(results_of(f, stays), 6);
    assert_int_equal(fetch(f, results, 12), 11);
    assert_int_equal((uintptr_t)results[1].RequestContext, 5);
    assert_int_equal((uintptr_t)results[10].RequestContext, 109);
    assert_int_equal(stays->unfetched, 0);
    nd_qp_close(other);
}

static void test_completion_queue_released_first(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(send_it(f, 1, 0), 0);
    nd_cq_close(f->cq);
    f->cq = NULL;
    assert_int_equal(fake_device.objects, 2);
    assert_int_equal(send_it(f, 2, 0), 0);
    nd_qp_close(f->qp);
    f->qp = NULL;
    assert_int_equal(fake_device.objects, 0);
}

static void test_completion_queue_released_while_a_queue_pair_waits_for_it(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(receive_it(f, 1), 0);
    nd_qp_close(f->qp);
    f->qp = NULL;
    assert_int_equal(fake_device.objects, 2);
    nd_cq_close(f->cq);
    f->cq = NULL;
    assert_int_equal(fake_device.objects, 0);
}

static void test_resize_keeps_every_result(void **state)
{
    struct fixture *f = *state;
    ND2_RESULT results[8];

    for (int round = 0; round < 6; round++) { /* the ring's start moves */
        for (uintptr_t i = 1; i <= 5; i++)
            assert_int_equal(send_it(f, i, 0), 0);
        sends_end(f, 5, IBV_WC_SUCCESS);
        assert_int_equal((uint32_t)nd_cq_resize(f->cq, 4), SPEC_ND_BUFFER_OVERFLOW);
        assert_int_equal((uint32_t)nd_cq_resize(f->cq, 5), 0);
        assert_int_equal(fetch(f, results, 2), 2);
        assert_int_equal((uint32_t)nd_cq_resize(f->cq, 64 + (uint32_t)round), 0);
        assert_int_equal(fetch(f, results + 2, 6), 3);
        for (uintptr_t i = 0; i < 5; i++)
            assert_int_equal((uintptr_t)results[i].RequestContext, i + 1);
    }
    assert_int_equal((uint32_t)nd_cq_resize(f->cq, 0), SPEC_ND_INVALID_PARAMETER);
    assert_int_equal((uint32_t)nd_cq_resize(f->cq, 129), SPEC_ND_INVALID_PARAMETER);
}

/* What hidden completions need beside the client's entries is there for every queue, also after a Resize. */
static void test_resize_keeps_the_reserve_of_many_queue_pairs(void **state)
{
    struct fixture *f = *state;
    struct nd_qp *qps[12];

    for (int i = 0; i < 12; i++) {
        assert_non_null(qps[i] = fake_make_qp(f->adapter, f->cq, NULL, DEPTH));
        assert_true(fake_cq_of(f->cq)->ibv.cqe >= 64 + (i + 2) * 2 * 8);
    }
    assert_int_equal((uint32_t)nd_cq_resize(f->cq, 100), 0);
    assert_true(fake_cq_of(f->cq)->ibv.cqe >= 100 + 13 * 2 * 8);
    for (int i = 0; i < 12; i++)
        nd_qp_close(qps[i]);
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_depth_is_exact_and_counts_until_fetched),
        ROW(test_requests_are_counted_once),
        ROW(test_receives_that_fail_are_counted_apart),
        ROW(test_results_come_in_order_through_every_path),
        ROW(test_silent_requests_for_ever_show_nothing),
        ROW(test_silent_requests_that_fail_are_reported),
        ROW(test_silent_and_fetched_mix_without_losing_places),
        ROW(test_flags_reach_the_device),
        ROW(test_inline_takes_any_number_of_entries_up_to_its_length),
        ROW(test_lengths_are_checked_in_sum),
        ROW(test_empty_entries_do_not_reach_the_device),
        ROW(test_refused_by_the_device_leaves_the_place_free),
        ROW(test_before_and_after_the_connection),
        ROW(test_read_obeys_its_own_limits),
        ROW(test_released_queue_pair_still_hands_out_its_results),
        ROW(test_results_seen_before_the_release_outlive_the_queue_pair),
        ROW(test_a_queue_pair_leaves_its_own_results_alone),
        ROW(test_completion_queue_released_first),
        ROW(test_completion_queue_released_while_a_queue_pair_waits_for_it),
        ROW(test_resize_keeps_every_result),
        ROW(test_resize_keeps_the_reserve_of_many_queue_pairs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
