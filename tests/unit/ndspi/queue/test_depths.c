/* SPDX-License-Identifier: MIT */
/*
 * test_depths.c - limits of queue pairs, by the public interfaces: programs ask for the limit of one queue in both, on
 * a device with that many entries for all requests of a send queue together; and on a device whose Reads take fewer
 * entries than its Sends.
 */
#include "tests/support/fake_device.h"
#include "tests/unit/ndspi/connection/nd1_connection.h"

#include "tests/support/settle.h"

#define BAD_PARAM_N(n) ((HRESULT)(SPEC_ND_INVALID_PARAMETER_1 - 1 + (n)))

static int set_up(void **state)
{
    fake_reset();
    fake_set_send_entries(4096);
    return nd1_pair_set_up(state);
}

static int tear_down(void **state)
{
    int failed;

    fake_reset();
    failed = nd1_pair_tear_down(state);
    return failed || !SETTLES(!fake_live());
}

static HRESULT make_endpoint(struct nd1_end *end, SIZE_T inbound, SIZE_T outbound, SIZE_T sge)
{
    INDEndpoint *endpoint = NULL;
    HRESULT hr = CALL(end->connector, CreateEndpoint, end->cq, end->cq, inbound, outbound, 1, sge,
        1, 1, NULL, &endpoint);

    assert_true((hr == OK) == (endpoint != NULL));
    RELEASE(endpoint);
    return hr;
}

static void test_version_1(void **state)
{
    struct nd1_end *end = &((struct nd1_pair *)*state)->active;
    ND_ADAPTER_INFO info;
    SIZE_T size = sizeof(info);

    assert_int_equal(CALL(end->adapter, Query, 1, &info, &size), OK);
    assert_int_equal(info.MaxOutboundSge, 4);
    assert_int_equal(info.MaxOutboundRequests, 1023); /* of four entries */
    assert_int_equal(info.MaxInboundRequests, 4095);
    assert_int_equal(make_endpoint(end, 4095, 1023, 4), OK);
    assert_int_equal(make_endpoint(end, 4095, 4095, 1), OK);
    assert_int_equal(make_endpoint(end, 4095, 4095, 4), BAD_PARAM_N(4));
    assert_int_equal(make_endpoint(end, 4095, 4096, 1), BAD_PARAM_N(4));
    assert_int_equal(make_endpoint(end, 4096, 1, 1), BAD_PARAM_N(3));
}

static HRESULT make_qp(struct side *side, ULONG receive, ULONG initiator, ULONG sge)
{
    IND2QueuePair *qp = NULL;
    HRESULT hr = CALL(side->adapter, CreateQueuePair, &IID_IND2QueuePair, (IUnknown *)side->cq,
        (IUnknown *)side->cq, NULL, receive, initiator, 1, sge, 0, (void **)&qp);

    assert_true((hr == OK) == (qp != NULL));
    RELEASE(qp);
    return hr;
}

static void test_version_2(void **state)
{
    struct side side;
    ND2_ADAPTER_INFO info = { .InfoVersion = ND_VERSION_2 };
    ULONG size = sizeof(info);

    (void)state;
    side_open(&side);
    assert_int_equal(CALL(side.adapter, Query, &info, &size), OK);
    assert_int_equal(info.MaxTransferLength, 1u << 30);
    assert_int_equal(info.MaxInitiatorSge, 4);
    assert_int_equal(info.MaxInitiatorQueueDepth, 1023);
    assert_int_equal(info.MaxReceiveQueueDepth, 4095);
    assert_int_equal(make_qp(&side, 4095, 1023, 4), OK);
    assert_int_equal(make_qp(&side, 4095, 4095, 1), OK);
    assert_int_equal(make_qp(&side, 4095, 4095, 4), BAD_PARAM_N(6));
    assert_int_equal(make_qp(&side, 4095, 4096, 1), BAD_PARAM_N(6));
    assert_int_equal(make_qp(&side, 4096, 1, 1), BAD_PARAM_N(5));
    side_close(&side);
}

static int set_up_short_reads(void **state)
{
    fake_reset();
    fake_set_read_sge(1);
    return nd1_pair_set_up(state);
}

static void test_version_1_has_the_limit_of_reads_for_all(void **state)
{
    struct nd1_end *end = &((struct nd1_pair *)*state)->active;
    ND_ADAPTER_INFO info;
    SIZE_T size = sizeof(info);

    assert_int_equal(CALL(end->adapter, Query, 1, &info, &size), OK);
    assert_int_equal(info.MaxOutboundSge, 1);
    assert_int_equal(info.MaxInboundSge, 4);
    assert_int_equal(info.MaxOutboundRequests, 4095); /* of 4096, one of them the library's */
    assert_int_equal(info.MaxCqEntries, 65472);       /* of 65536, 64 of them the library's */
    assert_int_equal(make_endpoint(end, 4095, 4095, 1), OK);
    assert_int_equal(make_endpoint(end, 4095, 4095, 2), BAD_PARAM_N(6));
}

static void test_version_2_has_a_limit_of_reads(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_version_1, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_version_2, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_version_1_has_the_limit_of_reads_for_all, set_up_short_reads, tear_down),
        cmocka_unit_test_setup_teardown(
            test_version_2_has_a_limit_of_reads, set_up_short_reads, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
