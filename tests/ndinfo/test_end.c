/* SPDX-License-Identifier: MIT */
/*
 * What an end of a probe makes of results in every order that a device may have them, on a queue pair and a completion
 * queue that this test plays.
 */
#include "tools/info/end.h"

#include "tests/unit/util/cmocka_test.h"
#include "tests/support/spec_codes.h"

#include <string.h>

/*
 * A result, there once so many Sends are posted, and so much later than the one before. A Receive's message has the
 * number.
 */
struct played {
    ND2_REQUEST_TYPE type;
    HRESULT status;
    unsigned sends;
    UINT32 number;
    ULONG late_ms;
};

#define RECEIVED_LATE(number, sends, late_ms)                                                      \
    {                                                                                              \
        Nd2RequestTypeReceive, ND_SUCCESS, sends, number, late_ms                                  \
    }
#define RECEIVED(number, sends) RECEIVED_LATE(number, sends, 0)
#define SENT(sends)                                                                                \
    {                                                                                              \
        Nd2RequestTypeSend, ND_SUCCESS, sends, 0, 0                                                \
    }

static struct {
    const struct played *results;
    unsigned count, taken; /* of results */
    unsigned sends, receives;
    ULONGLONG now_ms, taken_at_ms;
} device;

/* The test's clock: each call advances it. */
ULONGLONG WINAPI GetTickCount64(void)
{
    return device.now_ms += 100;
}

static struct end end;

static HRESULT STDMETHODCALLTYPE post_send(
    IND2QueuePair *qp, VOID *context, const ND2_SGE *sge, ULONG count, ULONG flags)
{
    (void)qp, (void)context, (void)flags;
    assert_int_equal(count, 1);
    assert_int_equal(sge->BufferLength, END_MESSAGE_OCTETS);
    device.sends++;
    return ND_SUCCESS;
}

static HRESULT STDMETHODCALLTYPE post_receive(
    IND2QueuePair *qp, VOID *context, const ND2_SGE *sge, ULONG count)
{
    (void)qp, (void)context;
    assert_int_equal(count, 1);
    assert_ptr_equal(sge->Buffer, end.memory[1]);
    device.receives++;
    return ND_SUCCESS;
}

/* Fails the test when no result can come any more: the code then waits for one that it has thrown away. */
static ULONG STDMETHODCALLTYPE get_results(
    IND2CompletionQueue *cq, ND2_RESULT results[], ULONG count)
{
    const struct played *next = &device.results[device.taken];

    (void)cq;
    assert_int_equal(count, 1);
    if (device.taken == device.count || next->sends > device.sends)
        fail_msg("it waits after %u results and %u Sends", device.taken, device.sends);
    if (device.now_ms - device.taken_at_ms < next->late_ms)
        return 0;
    device.taken_at_ms = device.now_ms;
    device.taken++;
    *results = (ND2_RESULT){ .Status = next->status, .RequestType = next->type };
    if (next->type == Nd2RequestTypeReceive) {
        UINT32 number_be = htonl(next->number);

        assert_true(device.receives > 0);
        device.receives--;
        memcpy(end.memory[1], &number_be, sizeof(number_be));
    }
    return 1;
}

static UINT32 STDMETHODCALLTYPE get_local_token(IND2MemoryRegion *region)
{
    (void)region;
    return 7;
}

static IND2QueuePairVtbl qp_methods = { .Send = post_send, .Receive = post_receive };
static IND2CompletionQueueVtbl cq_methods = { .GetResults = get_results };
static IND2MemoryRegionVtbl region_methods = { .GetLocalToken = get_local_token };
static IND2QueuePair qp = { .lpVtbl = &qp_methods };
static IND2CompletionQueue cq = { .lpVtbl = &cq_methods };
static IND2MemoryRegion region = { .lpVtbl = &region_methods };

/* As many round trips, their results in this order; the first Receive is posted. */
static bool exchange(bool is_server, ULONG rounds, const struct played *results, unsigned count)
{
    memset(&device, 0, sizeof(device));
    device.results = results;
    device.count = count;
    device.now_ms = device.taken_at_ms = 1000;
    end = (struct end){ .qp = &qp, .cq = &cq, .region = &region, .patience_ms = 5000 };
    assert_true(end_post_receive(&end));
    for (ULONG i = 0; i < rounds; i++)
        if (!end_exchange(&end, is_server, i, i + 1 < rounds))
            return false;
    return true;
}

static void test_server_keeps_a_message_that_overtakes_the_end_of_its_own(void **state)
{
    static const struct played results[] = { RECEIVED(0, 0), RECEIVED(1, 1), SENT(1),
        RECEIVED(2, 2), SENT(2), SENT(3) };

    (void)state;
    assert_true(exchange(true, 3, results, 6));
    assert_true(end_last_sent(&end));
    assert_int_equal(device.taken, 6);
    assert_int_equal(device.sends, 3);
    assert_int_equal(device.receives, 0);
}

static void test_server_takes_the_end_of_its_message_before_the_next_one(void **state)
{
    static const struct played results[] = { RECEIVED(0, 0), SENT(1), RECEIVED(1, 1), SENT(2),
        RECEIVED(2, 2), SENT(3) };

    (void)state;
    assert_true(exchange(true, 3, results, 6));
    assert_true(end_last_sent(&end));
    assert_int_equal(device.taken, 6);
}

static void test_client_takes_answer_and_end_of_its_message_in_either_order(void **state)
{
    static const struct played results[] = { SENT(1), RECEIVED(0, 1), RECEIVED(1, 2), SENT(2) };

    (void)state;
    assert_true(exchange(false, 2, results, 4));
    assert_int_equal(device.taken, 4);
    assert_int_equal(device.receives, 0);
}

static void test_another_message_than_the_expected_one_fails(void **state)
{
    static const struct played results[] = { RECEIVED(0, 0), SENT(1), RECEIVED(2, 1) };

    (void)state;
    assert_false(exchange(true, 2, results, 3));
    assert_string_equal(end.failure.step, "Receive");
}

/* The peer may disconnect when it has the last message; what else becomes of that is a failure. */
static void test_last_message_may_be_cancelled(void **state)
{
    static const HRESULT statuses[] = { ND_CANCELED, ND_IO_TIMEOUT };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct played results[] = { RECEIVED(0, 0),
            { Nd2RequestTypeSend, statuses[i], 1, 0, 0 } };

        assert_true(exchange(true, 1, results, 2));
        assert_int_equal(end_last_sent(&end), statuses[i] == ND_CANCELED);
        assert_string_equal(end.failure.step, "Send");
        assert_int_equal(end.failure.status, statuses[i]);
    }
}

/* Three answers of 4 s are later together than one may be. */
static void test_patience_is_for_each_answer(void **state)
{
    static const struct played slow[] = { SENT(1), RECEIVED_LATE(0, 1, 4000), SENT(2),
        RECEIVED_LATE(1, 2, 4000), SENT(3), RECEIVED_LATE(2, 3, 4000) };
    static const struct played silent[] = { SENT(1), RECEIVED_LATE(0, 1, 4000), SENT(2),
        RECEIVED_LATE(1, 2, 6000) };

    (void)state;
    assert_true(exchange(false, 3, slow, 6));
    assert_int_equal(device.taken, 6);
    assert_false(exchange(false, 3, silent, 4));
    assert_string_equal(end.failure.step, "Receive");
    assert_int_equal(end.failure.status, (HRESULT)SPEC_ND_IO_TIMEOUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_server_keeps_a_message_that_overtakes_the_end_of_its_own),
        cmocka_unit_test(test_server_takes_the_end_of_its_message_before_the_next_one),
        cmocka_unit_test(test_client_takes_answer_and_end_of_its_message_in_either_order),
        cmocka_unit_test(test_another_message_than_the_expected_one_fails),
        cmocka_unit_test(test_last_message_may_be_cancelled),
        cmocka_unit_test(test_patience_is_for_each_answer),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
