/* SPDX-License-Identifier: MIT */
/*
 * test_split.c - Reads of more entries than the device takes in one (version 1): several of the device's, and one request
 * to the program, however they end.
 */
#include "tests/unit/util/cmocka_test.h"

#include "ndspi/core/queue/batch.h"
#include "tests/unit/ndspi/core_fake_v1.h"

#include <errno.h>
#include <string.h>

enum { DEPTH = 8, REMOTE = 0x100000, TOKEN = 0x44332211 };

#define FULL     0x8000001A
#define CANCELED 0xC0000120
#define REFUSED  0xC000013D /* by the peer */
#define INVALID  0xC0000010

static int setup_one(void **state)
{
    return fake_v1_set_up_split(state, DEPTH, 1);
}

static int setup_two(void **state)
{
    return fake_v1_set_up_split(state, DEPTH, 2);
}

static uint32_t read_list(
    struct fake_v1 *f, unsigned n, const ND_SGE *list, unsigned count, uint32_t flags)
{
    const struct nd_remote remote = { .address = REMOTE, .token = TOKEN };

    return (uint32_t)nd_qp_read(f->qp, &f->results[n], list, count, &remote, flags);
}

/* `filled` entries of 1, 2, 3 and 4 bytes. */
static uint32_t read_it(struct fake_v1 *f, unsigned n, unsigned filled, uint32_t flags)
{
    ND_SGE list[FAKE_V1_SGE];

    for (unsigned i = 0; i < filled; i++)
        list[i] = (ND_SGE){ f->memory + 16 * i, i + 1, f->mr };
    return read_list(f, n, list, filled, flags);
}

static uint32_t send_it(struct fake_v1 *f, unsigned n)
{
    const ND_SGE sge = { f->memory, 8, f->mr };

    return (uint32_t)nd_queue_send(ND_V1, &f->qp->initiator, &f->results[n], &sge, 1, 0);
}

static void expect(struct fake_v1 *f, unsigned n, uint32_t status, size_t octets)
{
    ND_RESULT *result;

    assert_int_equal(fake_v1_fetch(f, &result, 1), 1);
    assert_ptr_equal(result, &f->results[n]);
    assert_int_equal((uint32_t)result->Status, status);
    assert_int_equal(result->BytesTransferred, octets);
}

static void expect_nothing(struct fake_v1 *f)
{
    ND_RESULT *result;

    assert_int_equal(fake_v1_fetch(f, &result, 1), 0);
}

static const struct fake_request *posted(struct fake_v1 *f, unsigned at)
{
    assert_true(at < f->device->send.count);
    return &f->device->send.requests[at];
}

/* ---- slices ---- */

static void test_each_slice_reads_on_where_the_last_one_ends(void **state)
{
    struct fake_v1 *f = *state;
    uint32_t token;

    assert_true(nd_region_token(f->adapter->regions.table, &f->mr, &token));
    assert_int_equal(read_it(f, 0, 4, ND_OP_FLAG_READ_FENCE), 0);
    assert_int_equal(fake_device.post_calls, 1); /* nothing comes between */
    assert_int_equal(f->device->send.count, 4);
    for (unsigned i = 0, remote = REMOTE; i < 4; remote += ++i) {
        const struct fake_request *slice = posted(f, i);

        assert_int_equal(slice->opcode, IBV_WR_RDMA_READ);
        assert_int_equal(slice->num_sge, 1);
        assert_int_equal(slice->first_sge.addr, (uintptr_t)f->memory + 16 * i);
        assert_int_equal(slice->first_sge.length, i + 1);
        assert_int_equal(slice->first_sge.lkey, token);
        assert_int_equal(slice->remote, remote);
        assert_int_equal(slice->send_flags, i == 0   ? IBV_SEND_FENCE
                                            : i == 3 ? IBV_SEND_SIGNALED
                                                     : 0);
    }
    fake_v1_sends_end(f, 3, IBV_WC_SUCCESS);
    expect_nothing(f);
    fake_v1_sends_end(f, 1, IBV_WC_SUCCESS);
    expect(f, 0, 0, 10);
}

static void test_slices_take_as_many_entries_as_the_device_does(void **state)
{
    struct fake_v1 *f = *state;

    assert_int_equal(read_it(f, 0, 3, 0), 0);
    assert_int_equal(f->device->send.count, 2);
    assert_int_equal(posted(f, 0)->num_sge, 2);
    assert_int_equal(posted(f, 0)->second_sge.length, 2);
    assert_int_equal(posted(f, 0)->remote, REMOTE);
    assert_int_equal(posted(f, 1)->num_sge, 1);
    assert_int_equal(posted(f, 1)->first_sge.length, 3);
    assert_int_equal(posted(f, 1)->remote, REMOTE + 3);
    assert_int_equal(read_it(f, 1, 2, 0), 0); /* these it takes at once */
    assert_int_equal(f->device->send.count, 3);
    assert_int_equal(posted(f, 2)->num_sge, 2);
    fake_v1_sends_end(f, 3, IBV_WC_SUCCESS);
    expect(f, 0, 0, 6);
    expect(f, 1, 0, 3);
}

static void test_empty_entries_make_no_slices(void **state)
{
    struct fake_v1 *f = *state;
    ND_SGE list[] = { { NULL, 0, NULL }, { f->memory, 5, f->mr }, { f->memory, 0, f->mr },
        { f->memory + 16, 6, f->mr } };

    assert_int_equal(read_list(f, 0, list, 4, 0), 0);
    assert_int_equal(f->device->send.count, 2);
    assert_int_equal(posted(f, 1)->remote, REMOTE + 5);
    list[3].Length = 0;
    assert_int_equal(read_list(f, 1, list, 4, 0), 0);
    assert_int_equal(f->device->send.count, 3);
    list[1].Length = 0;
    assert_int_equal(read_list(f, 2, list, 4, 0), 0);
    assert_int_equal(f->device->send.count, 4);
    assert_int_equal(posted(f, 3)->num_sge, 0);
    fake_v1_sends_end(f, 4, IBV_WC_SUCCESS);
    expect(f, 0, 0, 11);
    expect(f, 1, 0, 5);
    expect(f, 2, 0, 0);
}

static void test_limits_are_those_of_a_send(void **state)
{
    struct fake_v1 *f = *state;
    struct nd_remote remote = { .address = REMOTE, .token = TOKEN, .bounded = true, .room = 9 };
    ND_SGE list[FAKE_V1_SGE + 1];

    for (unsigned i = 0; i <= FAKE_V1_SGE; i++)
        list[i] = (ND_SGE){ f->memory, 1, f->mr };
    assert_int_equal(read_list(f, 0, list, FAKE_V1_SGE + 1, 0), 0xC000003C);
    list[2].hMr = NULL;
    assert_int_equal(read_list(f, 0, list, FAKE_V1_SGE, 0), 0xC0000008);
    list[2] = (ND_SGE){ f->memory, 7, f->mr };
    assert_int_equal((uint32_t)nd_qp_read(f->qp, f->results, list, 4, &remote, 0), REFUSED);
    assert_int_equal(fake_device.post_calls, 0);
}

/* ---- the queue ---- */

static void test_queue_full_of_split_reads_fits_the_device(void **state)
{
    struct fake_v1 *f = *state;

    assert_int_equal(f->device->send.depth, DEPTH * 4 + 1);
    assert_int_equal(fake_cq_of(f->cq)->ibv.cqe, 64 * 4 + 64);
    for (int round = 0; round < 3; round++) {
        for (unsigned i = 0; i < DEPTH; i++)
            assert_int_equal(read_it(f, i, 4, 0), 0);
        assert_int_equal(read_it(f, DEPTH, 4, 0), FULL);
        assert_int_equal(send_it(f, DEPTH), FULL);
        fake_v1_sends_end(f, 3, IBV_WC_SUCCESS);
        assert_int_equal(send_it(f, DEPTH), FULL);
        fake_v1_sends_end(f, 1, IBV_WC_SUCCESS);
        expect(f, 0, 0, 10);
        assert_int_equal(send_it(f, DEPTH), 0);
        assert_int_equal(read_it(f, DEPTH + 1, 4, 0), FULL);
        fake_v1_sends_end(f, 4 * (DEPTH - 1) + 1, IBV_WC_SUCCESS);
        for (unsigned i = 1; i < DEPTH; i++)
            expect(f, i, 0, 10);
        expect(f, DEPTH, 0, 8);
    }
}

static void test_silent_reads_tell_nothing_and_make_room(void **state)
{
    struct fake_v1 *f = *state;

    for (int round = 0; round < 5; round++) {
        for (unsigned i = 0; i < DEPTH; i++)
            assert_int_equal(read_it(f, i, 4, ND_OP_FLAG_SILENT_SUCCESS), 0);
        for (unsigned i = 0; i < 4 * DEPTH; i++)
            assert_int_equal(
                posted(f, i)->send_flags, i % 16 == 15 ? IBV_SEND_SIGNALED : 0); /* for the ring */
        fake_v1_sends_end(f, 4 * DEPTH, IBV_WC_SUCCESS);
        expect_nothing(f);
    }
    assert_int_equal(read_it(f, 0, 4, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(send_it(f, 1), 0);
    fake_v1_sends_end(f, 5, IBV_WC_SUCCESS);
    expect(f, 1, 0, 8);
}

/* ---- failures ---- */

/* The first of two Reads fails at one slice; the records are used once more while the queue pair is still flushed. */
static void fail_at(struct fake_v1 *f, unsigned slice, uint32_t flags)
{
    assert_int_equal(read_it(f, 0, 4, flags), 0);
    assert_int_equal(read_it(f, 1, 4, flags), 0);
    assert_int_equal(send_it(f, 2), 0);
    fake_v1_sends_end(f, slice, IBV_WC_SUCCESS);
    fake_v1_sends_end(f, 1, IBV_WC_REM_ACCESS_ERR);
    if (slice < 3) {
        expect_nothing(f); /* slices are left that may write to its memory */
        fake_v1_sends_end(f, 3 - slice, IBV_WC_WR_FLUSH_ERR);
    }
    expect(f, 0, REFUSED, 0);
    for (unsigned i = 3; i < 3 + DEPTH - 2; i++)
        assert_int_equal(read_it(f, i, 4, 0), 0);
    fake_v1_sends_end(f, f->device->send.count, IBV_WC_WR_FLUSH_ERR);
    for (unsigned i = 1; i < 3 + DEPTH - 2; i++)
        expect(f, i, CANCELED, 0);
    expect_nothing(f);
}

static void test_failure_of_any_slice_is_the_reads(void **state)
{
    for (unsigned slice = 0; slice < 4; slice++)
        for (int silent = 0; silent < 2; silent++) {
            fail_at(*state, slice, silent ? ND_OP_FLAG_SILENT_SUCCESS : 0);
            fake_v1_tear_down(state);
            setup_one(state);
        }
}

static void test_flush_ends_each_read_once(void **state)
{
    struct fake_v1 *f = *state;

    for (unsigned i = 0; i < DEPTH; i++)
        assert_int_equal(read_it(f, i, 4, i % 2 ? ND_OP_FLAG_SILENT_SUCCESS : 0), 0);
    fake_v1_sends_end(f, 1, IBV_WC_SUCCESS);
    assert_int_equal((uint32_t)nd_qp_flush(f->qp), 0);
    fake_v1_sends_end(f, f->device->send.count, IBV_WC_WR_FLUSH_ERR);
    for (unsigned i = 0; i < DEPTH; i++)
        expect(f, i, CANCELED, 0);
    expect_nothing(f);
}

/* A device that takes some slices and refuses the next: as a batch that it took in part. */
static void test_torn_read_ends_when_what_the_device_has_of_it_does(void **state)
{
    struct fake_v1 *f = *state;

    assert_int_equal(send_it(f, 0), 0);
    fake_device.post_error = ENOMEM;
    fake_device.taken = 2;
    fake_device.refuse_once = true; /* the slices, not the fence */
    assert_int_equal(read_it(f, 1, 4, 0), 0);
    assert_int_equal(f->device->send.count, 1 + 2 + 1);
    assert_int_equal(f->qp->ibv->state, IBV_QPS_ERR);
    assert_int_equal(posted(f, 3)->opcode, IBV_WR_RDMA_WRITE);
    fake_v1_sends_end(f, 1, IBV_WC_SUCCESS);
    expect(f, 0, 0, 8);
    fake_v1_sends_end(f, 2, IBV_WC_WR_FLUSH_ERR);
    expect_nothing(f);
    fake_v1_sends_end(f, 1, IBV_WC_WR_FLUSH_ERR);
    expect(f, 1, FULL, 0);
    expect_nothing(f);
    assert_int_equal(read_it(f, 2, 4, 0), 0);
    fake_v1_sends_end(f, 4, IBV_WC_WR_FLUSH_ERR);
    expect(f, 2, CANCELED, 0);
}

/* The fence is refused, too: then the next completion tells. */
static void test_torn_read_without_a_fence_waits(void **state)
{
    struct fake_v1 *f = *state;

    fake_device.post_error = EINVAL;
    fake_device.taken = 3;
    assert_int_equal(read_it(f, 0, 4, ND_OP_FLAG_SILENT_SUCCESS), 0);
    fake_device.post_error = 0;
    fake_v1_sends_end(f, 3, IBV_WC_WR_FLUSH_ERR);
    expect_nothing(f);
    assert_int_equal(read_it(f, 1, 4, 0), 0);
    fake_v1_sends_end(f, 4, IBV_WC_WR_FLUSH_ERR);
    expect(f, 0, INVALID, 0);
    expect(f, 1, CANCELED, 0);
}

static void test_read_refused_at_its_first_slice_is_refused(void **state)
{
    struct fake_v1 *f = *state;

    for (int i = 0; i < 2 * DEPTH; i++) {
        fake_device.post_error = ENOMEM;
        assert_int_equal(read_it(f, 0, 4, 0), FULL);
    }
    fake_device.post_error = 0;
    assert_int_equal(f->qp->ibv->state, IBV_QPS_INIT);
    assert_int_equal(read_it(f, 0, 4, 0), 0);
    fake_v1_sends_end(f, 4, IBV_WC_SUCCESS);
    expect(f, 0, 0, 10);
}

/* ---- batches ---- */

static void test_batch_keeps_slices_and_their_lists(void **state)
{
    struct fake_v1 *f = *state;
    ND_SGE list[] = { { f->memory, 1, f->mr }, { f->memory + 16, 2, f->mr },
        { f->memory + 32, 3, f->mr } };

    nd_queue_start_batch(&f->qp->initiator);
    assert_int_equal(send_it(f, 0), 0);
    assert_int_equal(read_list(f, 1, list, 3, 0), 0);
    memset(list, 0xee, sizeof(list));
    assert_int_equal(read_it(f, 2, 2, 0), 0);
    assert_int_equal(fake_device.post_calls, 0);
    nd_queue_end_batch(&f->qp->initiator);
    assert_int_equal(fake_device.post_calls, 1);
    assert_int_equal(f->device->send.count, 6);
    for (unsigned i = 0, remote = REMOTE; i < 3; remote += ++i) {
        assert_int_equal(posted(f, 1 + i)->first_sge.addr, (uintptr_t)f->memory + 16 * i);
        assert_int_equal(posted(f, 1 + i)->first_sge.length, i + 1);
        assert_int_equal(posted(f, 1 + i)->remote, remote);
    }
    fake_v1_sends_end(f, 6, IBV_WC_SUCCESS);
    expect(f, 0, 0, 8);
    expect(f, 1, 0, 6);
    expect(f, 2, 0, 3);
}

static void test_batch_has_room_for_a_queue_full_of_slices(void **state)
{
    struct fake_v1 *f = *state;

    for (int round = 0; round < 2; round++) {
        nd_queue_start_batch(&f->qp->initiator);
        for (unsigned i = 0; i < DEPTH; i++)
            assert_int_equal(i == 3 ? send_it(f, i) : read_it(f, i, 4, 0), 0);
        assert_int_equal(f->device->send.count, 0);
        assert_int_equal(read_it(f, DEPTH, 4, 0), FULL); /* that submits */
        assert_int_equal(f->device->send.count, 4 * DEPTH - 3);
        nd_queue_end_batch(&f->qp->initiator);
        fake_v1_sends_end(f, 4 * DEPTH - 3, IBV_WC_SUCCESS);
        for (unsigned i = 0; i < DEPTH; i++)
            expect(f, i, 0, i == 3 ? 8 : 10);
    }
}

/* A Send, a Read of four slices, another Send and another Read, of which the device takes `taken` of its requests. */
static void refuse_after(struct fake_v1 *f, unsigned taken, enum ibv_wc_status ends)
{
    static const unsigned last[] = { 1, 5, 6, 10 }; /* of each, counted in the device's */
    uint32_t status, refusal = INVALID;

    nd_queue_start_batch(&f->qp->initiator);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(i % 2 ? read_it(f, i, 4, 0) : send_it(f, i), 0);
    fake_device.post_error = EINVAL;
    fake_device.taken = taken;
    fake_device.refuse_once = true;
    nd_queue_end_batch(&f->qp->initiator);
    assert_int_equal(f->device->send.count, taken + 1);
    fake_v1_sends_end(f, taken, ends);
    for (unsigned i = 0; i < 4; i++) {
        bool done = last[i] <= taken;

        status = done ? ends == IBV_WC_SUCCESS ? 0 : CANCELED : refusal;
        if (!done && refusal == INVALID) {
            if (taken > (i ? last[i - 1] : 0))
                expect_nothing(f); /* torn: not before the fence */
            fake_v1_sends_end(f, 1, IBV_WC_WR_FLUSH_ERR);
            refusal = CANCELED;
        }
        expect(f, i, status, status ? 0 : i % 2 ? 10 : 8);
    }
    expect_nothing(f);
}

static void test_batch_that_the_device_takes_in_part(void **state)
{
    for (unsigned taken = 0; taken < 10; taken++)
        for (int i = 0; i < 2; i++) {
            refuse_after(*state, taken, i ? IBV_WC_SUCCESS : IBV_WC_WR_FLUSH_ERR);
            fake_v1_tear_down(state);
            setup_one(state);
        }
}

/* ---- devices that are special in other ways as well ---- */

static void be_special(struct fake_v1 *f, nd_quirk_set quirks)
{
    f->adapter->port.caps.quirks = quirks;
    f->qp->initiator.overtakes = f->qp->initiator.slow =
        nd_has_quirk(&f->adapter->port.caps, OVERTAKES);
    nd_queue_set_mode(&f->qp->initiator, ND_QUEUE_OPEN);
}

#define FORGETFUL (ND_QUIRK_BIT(LATE_RECEIVES) | ND_QUIRK_BIT(LATE_SENDS) | ND_QUIRK_BIT(FORGOTTEN))

static void test_what_overtakes_slices_waits_for_all(void **state)
{
    struct fake_v1 *f = *state;
    struct ibv_wc wc = { .status = IBV_WC_SUCCESS };

    be_special(f, ND_QUIRK_BIT(OVERTAKES));
    assert_int_equal(read_it(f, 0, 4, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(posted(f, 2)->send_flags, 0);
    assert_int_equal(posted(f, 3)->send_flags, IBV_SEND_SIGNALED);
    assert_int_equal(send_it(f, 1), 0);
    wc.wr_id = posted(f, 4)->wr_id;
    fake_cq_push(f->cq, &wc, false);
    expect_nothing(f);
    fake_v1_sends_end(f, 4, IBV_WC_SUCCESS);
    expect(f, 1, 0, 8);
    f->device->send.count = 0;
}

static void test_failed_slice_leads_to_the_flush_of_a_forgetful_device(void **state)
{
    struct fake_v1 *f = *state;

    be_special(f, FORGETFUL | ND_QUIRK_BIT(OVERTAKES));
    assert_int_equal(read_it(f, 0, 4, 0), 0);
    assert_int_equal(read_it(f, 1, 4, ND_OP_FLAG_SILENT_SUCCESS), 0);
    assert_int_equal(send_it(f, 2), 0);
    fake_v1_sends_end(f, 1, IBV_WC_SUCCESS);
    fake_v1_sends_end(f, 1, IBV_WC_REM_ACCESS_ERR); /* of the rest it tells nothing */
    f->device->send.count = 0;
    expect_nothing(f); /* that look flushes */
    assert_int_equal(f->qp->ibv->state, IBV_QPS_ERR);
    expect(f, 0, REFUSED, 0);
    expect(f, 1, CANCELED, 0);
    expect(f, 2, CANCELED, 0);
    assert_int_equal(read_it(f, 3, 4, 0), 0); /* late */
    nd_queue_start_batch(&f->qp->initiator);
    assert_int_equal(read_it(f, 4, 4, 0), 0);
    nd_queue_end_batch(&f->qp->initiator);
    assert_int_equal(f->device->send.count, 0);
    expect(f, 3, CANCELED, 0);
    expect(f, 4, CANCELED, 0);
    expect_nothing(f);
}

static void test_torn_read_of_a_forgetful_device_ends_with_the_flush(void **state)
{
    struct fake_v1 *f = *state;

    be_special(f, FORGETFUL | ND_QUIRK_BIT(OVERTAKES));
    fake_device.post_error = -ENOMEM;
    fake_device.taken = 1;
    assert_int_equal(read_it(f, 0, 4, 0), 0);
    fake_device.post_error = 0;
    assert_int_equal(f->device->send.count, 1);
    f->device->send.count = 0;
    expect(f, 0, FULL, 0);
    expect_nothing(f);
}

int main(void)
{
#define ONE(name) cmocka_unit_test_setup_teardown(name, setup_one, fake_v1_tear_down)
#define TWO(name) cmocka_unit_test_setup_teardown(name, setup_two, fake_v1_tear_down)
    const struct CMUnitTest tests[] = {
        ONE(test_each_slice_reads_on_where_the_last_one_ends),
        TWO(test_slices_take_as_many_entries_as_the_device_does),
        ONE(test_empty_entries_make_no_slices),
        ONE(test_limits_are_those_of_a_send),
        TWO(test_limits_are_those_of_a_send),
        ONE(test_queue_full_of_split_reads_fits_the_device),
        ONE(test_silent_reads_tell_nothing_and_make_room),
        ONE(test_failure_of_any_slice_is_the_reads),
        ONE(test_flush_ends_each_read_once),
        TWO(test_flush_ends_each_read_once),
        ONE(test_torn_read_ends_when_what_the_device_has_of_it_does),
        ONE(test_torn_read_without_a_fence_waits),
        ONE(test_read_refused_at_its_first_slice_is_refused),
        ONE(test_batch_keeps_slices_and_their_lists),
        ONE(test_batch_has_room_for_a_queue_full_of_slices),
        ONE(test_batch_that_the_device_takes_in_part),
        ONE(test_what_overtakes_slices_waits_for_all),
        ONE(test_failed_slice_leads_to_the_flush_of_a_forgetful_device),
        ONE(test_torn_read_of_a_forgetful_device_ends_with_the_flush),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
