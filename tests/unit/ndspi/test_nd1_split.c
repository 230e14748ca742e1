/* SPDX-License-Identifier: MIT */
/*
 * test_nd1_split.c - an adapter of version 1 over a device whose Reads take one entry, by the public interfaces: what it
 * promises, and that the device has room for all of it (it aborts where more is posted than it was told).
 */
#include "tests/support/fake_device.h"
#include "tests/unit/ndspi/nd1_connection.h"

#include "tests/support/settle.h"

#define FULL      ((HRESULT)0x8000001A)
#define NO_ACCESS ((HRESULT)0xC000013D) /* the peer's */

static int set_up(void **state)
{
    fake_reset();
    fake_set_read_sge(1);
    return nd1_pair_set_up(state);
}

static int tear_down(void **state)
{
    int failed;

    fake_reset();
    failed = nd1_pair_tear_down(state);
    return failed || !SETTLES(!fake_live());
}

static void test_limits_leave_room_for_the_slices(void **state)
{
    struct nd1_end *end = &((struct nd1_pair *)*state)->active;
    INDCompletionQueue *cq = NULL;
    INDEndpoint *endpoint = NULL;
    ND_ADAPTER_INFO info;
    SIZE_T size = sizeof(info);

    assert_int_equal(CALL(end->adapter, Query, 1, &info, &size), OK);
    assert_int_equal(info.MaxOutboundSge, 4);
    assert_int_equal(info.MaxOutboundRequests, 1023); /* of 4096, one of them the library's */
    assert_int_equal(info.MaxCqEntries, 16368);       /* of 65536, 64 of them the library's */
    assert_int_equal(info.MaxInboundRequests, 4095); /* as many as version 2 tells for either queue */
    assert_int_equal(CALL(end->adapter, CreateCompletionQueue, info.MaxCqEntries, &cq), OK);
    assert_int_equal(CALL(end->connector, CreateEndpoint, cq, cq, info.MaxInboundRequests,
                         info.MaxOutboundRequests, info.MaxInboundSge, info.MaxOutboundSge, 1, 1,
                         NULL, &endpoint),
        OK);
    RELEASE(endpoint);
    RELEASE(cq);
}

static void test_version_2_tells_what_the_device_takes(void **state)
{
    struct side side;
    ND2_ADAPTER_INFO info = { .InfoVersion = ND_VERSION_2 };
    ULONG size = sizeof(info);

    (void)state;
    side_open(&side);
    assert_int_equal(CALL(side.adapter, Query, &info, &size), OK);
    assert_int_equal(info.MaxReadSge, 1);
    assert_int_equal(info.MaxInitiatorSge, 4);
    assert_int_equal(info.MaxInitiatorQueueDepth, 4095);
    assert_int_equal(info.MaxCompletionQueueDepth, 65472);
    side_close(&side);
}

static void connect_with_entries(struct nd1_pair *pair)
{
    struct nd1_end *end = &pair->active;

    RELEASE(end->endpoint);
    assert_int_equal(CALL(end->connector, CreateEndpoint, end->cq, end->cq, QUEUE_DEPTH,
                         QUEUE_DEPTH, 1, 4, 4, 4, NULL, &end->endpoint),
        OK);
    assert_int_equal(nd1_connect(end, &pair->listening), OK);
    assert_int_equal(nd1_complete_connect(end), OK);
    fake_set_mode(FAKE_HOLD);
}

struct reads {
    struct nd1_end *end;
    char memory[64];
    ND_MR_HANDLE mr;
    ND_RESULT results[QUEUE_DEPTH + 1];
};

static void begin_reads(struct reads *reads, struct nd1_end *end)
{
    OVERLAPPED *overlapped = nd1_fresh(end, 1);

    *reads = (struct reads){ .end = end };
    assert_int_equal(nd1_ended(end->adapter,
                         CALL(end->adapter, RegisterMemory, reads->memory, sizeof(reads->memory),
                             overlapped, &reads->mr),
                         overlapped),
        OK);
}

static void end_reads(struct reads *reads)
{
    OVERLAPPED *overlapped = nd1_fresh(reads->end, 1);

    assert_int_equal(
        nd1_ended(reads->end->adapter,
            CALL(reads->end->adapter, DeregisterMemory, reads->mr, overlapped), overlapped),
        OK);
}

static HRESULT read_it(struct reads *reads, unsigned n)
{
    const ND_MW_DESCRIPTOR remote = { .Base = 0, .Length = 0xFFFFFFFFFFFFFFFF, .Token = 0x200 };
    ND_SGE list[4];

    for (unsigned i = 0; i < 4; i++)
        list[i] = (ND_SGE){ reads->memory + 16 * i, 16, reads->mr };
    return CALL(reads->end->endpoint, Read, &reads->results[n], list, 4, &remote, 0, 0);
}

static void expect(struct reads *reads, unsigned n, HRESULT status)
{
    ND_RESULT *result = NULL;

    assert_int_equal(CALL(reads->end->cq, GetResults, &result, 1), 1);
    assert_ptr_equal(result, &reads->results[n]);
    assert_int_equal(result->Status, status);
    assert_int_equal(result->BytesTransferred, status ? 0 : 64);
}

static void test_depth_is_in_requests_of_the_program(void **state)
{
    struct nd1_pair *pair = *state;
    struct reads reads;
    ND_RESULT *result;

    connect_with_entries(pair);
    begin_reads(&reads, &pair->active);
    for (int round = 0; round < 2; round++) {
        for (unsigned i = 0; i < QUEUE_DEPTH; i++)
            assert_int_equal(read_it(&reads, i), OK);
        assert_int_equal(read_it(&reads, QUEUE_DEPTH), FULL);
        assert_int_equal(fake_held(0, false), 4 * QUEUE_DEPTH);
        for (unsigned i = 0; i < 4 * QUEUE_DEPTH; i++) {
            assert_int_equal(CALL(pair->active.cq, GetResults, &result, 1), 0);
            assert_true(fake_complete(0, false, IBV_WC_SUCCESS, 16));
            if (i % 4 == 3)
                expect(&reads, i / 4, OK);
        }
    }
    end_reads(&reads);
}

static void test_each_read_fails_once(void **state)
{
    struct nd1_pair *pair = *state;
    struct reads reads;
    ND_RESULT *result;

    connect_with_entries(pair);
    begin_reads(&reads, &pair->active);
    for (unsigned i = 0; i < QUEUE_DEPTH; i++)
        assert_int_equal(read_it(&reads, i), OK);
    assert_true(fake_complete(0, false, IBV_WC_SUCCESS, 16));
    assert_true(fake_complete(0, false, IBV_WC_REM_ACCESS_ERR, 0)); /* and all others are flushed */
    expect(&reads, 0, NO_ACCESS);
    for (unsigned i = 1; i < QUEUE_DEPTH; i++)
        expect(&reads, i, CANCELED);
    assert_int_equal(CALL(pair->active.cq, GetResults, &result, 1), 0);
    end_reads(&reads);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_limits_leave_room_for_the_slices),
        TEST(test_version_2_tells_what_the_device_takes),
        TEST(test_depth_is_in_requests_of_the_program),
        TEST(test_each_read_fails_once),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
