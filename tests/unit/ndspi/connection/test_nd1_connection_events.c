/* SPDX-License-Identifier: MIT */
/* test_connection_events.c for version 1, whose codes differ where a peer does not answer. */
#include "tests/support/fake_device.h"
#include "tests/unit/ndspi/connection/nd1_connection.h"

#include "tests/support/settle.h"

#include <errno.h>

#define NO_NETWORK ((HRESULT)SPEC_ND_NETWORK_UNREACHABLE)
#define NO_HOST    ((HRESULT)SPEC_ND_HOST_UNREACHABLE)
#define REMOVED    ((HRESULT)SPEC_ND_DEVICE_REMOVED)

static int set_up(void **state)
{
    fake_reset();
    fake_set_answer(false);
    return nd1_pair_set_up(state);
}

/* Ids of ended connections go later, on a thread of the library's. */
static int tear_down(void **state)
{
    int failed;

    fake_reset();
    failed = nd1_pair_tear_down(state);
    return failed || !SETTLES(!fake_live());
}

/* A Connect whose request is out and has no answer yet. GetOverlappedResult makes progress on it. */
static void connecting(struct nd1_pair *pair)
{
    struct nd1_end *end = &pair->active;
    unsigned before = fake_connects();
    SIZE_T octets;

    assert_int_equal(nd1_connect_begin(end, &pair->listening, NULL, 0), PENDING);
    while (fake_connects() == before)
        assert_int_equal(
            CALL(end->connector, GetOverlappedResult, &end->requests[0].overlapped, &octets, FALSE),
            PENDING);
}

/* All that leaves hope ends with a code of the success class, and any of them may be tried again at once. */
static void test_connect_without_an_answer_times_out_and_may_be_retried_for_ever(void **state)
{
    static const struct {
        enum rdma_cm_event_type event;
        int status;
        HRESULT ends;
    } rows[] = {
        { RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, TIMEOUT },
        { RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT, TIMEOUT },
        { RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL, TIMEOUT },
        { RDMA_CM_EVENT_UNREACHABLE, -ENETUNREACH, NO_NETWORK },
        { RDMA_CM_EVENT_UNREACHABLE, -EHOSTUNREACH, NO_HOST },
        { RDMA_CM_EVENT_REJECTED, 28, REFUSED },
        { RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, TIMEOUT },
    };
    struct nd1_pair *pair = *state;

    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        connecting(pair);
        fake_raise_cm(rows[i].event, rows[i].status);
        assert_int_equal(nd1_connected(&pair->active), rows[i].ends);
    }
    fake_set_answer(true);
    assert_int_equal(nd1_connect(&pair->active, &pair->listening), OK);
    assert_int_equal(nd1_complete_connect(&pair->active), OK);
}

static void test_accept_without_an_answer_times_out(void **state)
{
    struct nd1_pair *pair = *state;

    assert_true(fake_request());
    assert_int_equal(nd1_get_request(pair), OK);
    assert_int_equal(nd1_accept_begin(&pair->passive, NULL, 0), PENDING);
    fake_raise_cm(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
    assert_int_equal(nd1_connected(&pair->passive), TIMEOUT);
}

static void test_disconnect_without_an_answer_times_out(void **state)
{
    struct nd1_pair *pair = *state;

    fake_set_answer(true);
    assert_int_equal(nd1_connect(&pair->active, &pair->listening), OK);
    assert_int_equal(nd1_complete_connect(&pair->active), OK);
    fake_set_answer(false);
    assert_int_equal(nd1_disconnect(&pair->active), TIMEOUT);
}

static void test_removed_device_is_told_by_every_call(void **state)
{
    struct nd1_pair *pair = *state;
    struct nd1_end *end = &pair->active;
    INDConnector *connector = NULL;
    INDCompletionQueue *cq = NULL;
    INDListen *listen = NULL;
    INDEndpoint *endpoint = NULL;
    ND_ADAPTER_INFO info;
    SIZE_T size = sizeof(info);
    USHORT port_be = 0;

    connecting(pair);
    assert_int_equal(CALL(pair->listen, GetConnectionRequest, pair->passive.connector,
                         fresh_request(&pair->get)),
        PENDING);
    fake_raise_removal();
    assert_int_equal(nd1_connected(end), REMOVED);
    assert_int_equal(nd1_ended(pair->listen, PENDING, &pair->get.overlapped), REMOVED);
    assert_int_equal(CALL(end->adapter, Query, 1, &info, &size), REMOVED);
    assert_int_equal(CALL(end->adapter, CreateCompletionQueue, 8, &cq), REMOVED);
    assert_int_equal(CALL(end->adapter, CreateConnector, &connector), REMOVED);
    assert_int_equal(CALL(end->adapter, Listen, 0, 0, 0, &port_be, &listen), REMOVED);
    assert_int_equal(
        CALL(end->connector, CreateEndpoint, end->cq, end->cq, 8, 8, 1, 1, 1, 1, NULL, &endpoint),
        REMOVED);
    assert_int_equal(nd1_connect_begin(end, &pair->listening, NULL, 0), REMOVED);
    assert_int_equal(nd1_complete_connect(end), REMOVED);
    assert_int_equal(nd1_accept_begin(end, NULL, 0), REMOVED);
    assert_int_equal(CALL(end->connector, Reject, NULL, 0), REMOVED);
    assert_int_equal(CALL(end->connector, NotifyDisconnect, nd1_fresh(end, 0)), REMOVED);
    assert_int_equal(nd1_disconnect(end), REMOVED);
    assert_ptr_not_equal(CALL(end->adapter, GetFileHandle), INVALID_HANDLE_VALUE);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_connect_without_an_answer_times_out_and_may_be_retried_for_ever),
        TEST(test_accept_without_an_answer_times_out),
        TEST(test_disconnect_without_an_answer_times_out),
        TEST(test_removed_device_is_told_by_every_call),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
