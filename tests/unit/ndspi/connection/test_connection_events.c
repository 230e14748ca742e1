/* SPDX-License-Identifier: MIT */
/*
 * What a kernel's connection manager may say at each step, and what the client gets: over a device without a network,
 * whose events the test raises. The library destroys ids later here, as on every kernel device.
 */
#include "tests/support/fake_device.h"
#include "tests/unit/ndspi/connection/connection.h"

#include "tests/support/settle.h"

#include <errno.h>
#include <stdlib.h>

#define IO_TIMEOUT ((HRESULT)SPEC_ND_IO_TIMEOUT)
#define NO_NETWORK ((HRESULT)SPEC_ND_NETWORK_UNREACHABLE)
#define NO_HOST    ((HRESULT)SPEC_ND_HOST_UNREACHABLE)
#define REMOVED    ((HRESULT)SPEC_ND_DEVICE_REMOVED)
#define NO_PORT    ((HRESULT)SPEC_ND_TOO_MANY_ADDRESSES)
#define RESOURCES  ((HRESULT)SPEC_ND_INSUFFICIENT_RESOURCES)

static int set_up(void **state)
{
    fake_reset();
    fake_set_answer(false);
    return pair_set_up(state);
}

/* Ids of ended connections go later, on a thread of the library's. */
static int tear_down(void **state)
{
    int failed;

    fake_reset();
    failed = pair_tear_down(state);
    return failed || !SETTLES(!fake_live());
}

/* A Connect whose request is out and has no answer yet. GetOverlappedResult makes progress on it. */
static void connecting(struct pair *pair)
{
    struct side *side = &pair->active;
    unsigned before = fake_connects();

    assert_int_equal(connect_begin(pair), PENDING);
    while (fake_connects() == before)
        assert_int_equal(
            CALL(side->connector, GetOverlappedResult, &side->requests[0].overlapped, FALSE),
            PENDING);
}

static HRESULT connect_meets(struct pair *pair, enum rdma_cm_event_type event, int status)
{
    connecting(pair);
    fake_raise_cm(event, status);
    return ended(pair->active.connector, PENDING, &pair->active.requests[0].overlapped);
}

static void test_connect_failures_have_their_codes_and_may_be_retried(void **state)
{
    static const struct {
        enum rdma_cm_event_type event;
        int status;
        HRESULT ends;
    } rows[] = {
        { RDMA_CM_EVENT_ADDR_ERROR, -EADDRNOTAVAIL, BAD_NAME },
        { RDMA_CM_EVENT_ADDR_ERROR, -ENETUNREACH, NO_NETWORK },
        { RDMA_CM_EVENT_ADDR_ERROR, -EHOSTUNREACH, NO_HOST },
        { RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT, NO_HOST },
        { RDMA_CM_EVENT_ROUTE_ERROR, -EINVAL, NO_HOST },
        { RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT, IO_TIMEOUT },
        { RDMA_CM_EVENT_REJECTED, 8, REFUSED },
        { RDMA_CM_EVENT_REJECTED, 28, REFUSED },
        { RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, IO_TIMEOUT },
        { RDMA_CM_EVENT_UNREACHABLE, -ENETUNREACH, NO_NETWORK },
        { RDMA_CM_EVENT_UNREACHABLE, -EHOSTUNREACH, NO_HOST },
        { RDMA_CM_EVENT_CONNECT_ERROR, -EINVAL, IO_TIMEOUT },
        { RDMA_CM_EVENT_CONNECT_ERROR, -ECONNREFUSED, REFUSED },
        { RDMA_CM_EVENT_CONNECT_ERROR, -ECONNRESET, REFUSED },
        { RDMA_CM_EVENT_DISCONNECTED, 0, REFUSED },
    };
    struct pair *pair = *state;
    ULONG octets = 0;

    assert_int_equal(bind_to(&pair->active, 0), OK);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        HRESULT got = connect_meets(pair, rows[i].event, rows[i].status);

        if (got != rows[i].ends)
            print_error("%s %d\n", rdma_event_str(rows[i].event), rows[i].status);
        assert_int_equal(got, rows[i].ends);
        assert_int_equal(CALL(pair->active.connector, GetPrivateData, NULL, &octets), INVALID);
    }
    fake_set_answer(true);
    assert_int_equal(connect_to(&pair->active, &pair->listening, NULL, 0), OK);
    assert_int_equal(complete_connect(&pair->active), OK);
}

/* Its answer may have come within the first call, which then did not notice. */
static void test_silent_neighbour_is_asked_twice(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(bind_to(&pair->active, 0), OK);
    fake_set_answer(true);
    fake_set_silent_neighbours(2);
    assert_int_equal(connect_to(&pair->active, &pair->listening, NULL, 0), NO_HOST);
    for (int attempt = 0; attempt < 2; attempt++) {
        fake_set_silent_neighbours(1);
        assert_int_equal(connect_to(&pair->active, &pair->listening, NULL, 0), OK);
        assert_int_equal(CALL(pair->active.connector, Reject, NULL, 0), OK);
        side_new_qp(&pair->active);
        side_new_connector(&pair->active);
        assert_int_equal(bind_to(&pair->active, 0), OK);
    }
}

/* A local port that has had a connection to the same peer, which TCP still remembers. */
static void test_connect_takes_another_port(void **state)
{
    struct pair *pair = *state;
    struct sockaddr_in bound, now;
    ULONG octets = sizeof(bound);

    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(
        CALL(pair->active.connector, GetLocalAddress, (struct sockaddr *)&bound, &octets), OK);
    fake_set_answer(true);
    fake_set_taken_ports(100); /* until no other is tried */
    assert_int_equal(connect_to(&pair->active, &pair->listening, NULL, 0), NO_PORT);
    fake_set_taken_ports(8);
    assert_int_equal(connect_to(&pair->active, &pair->listening, NULL, 0), OK);
    assert_int_equal(
        CALL(pair->active.connector, GetLocalAddress, (struct sockaddr *)&now, &octets), OK);
    assert_int_equal(now.sin_port, bound.sin_port); /* as the program got it before */
    assert_int_equal(complete_connect(&pair->active), OK);
}

static void test_connect_may_be_established_by_the_reply(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(connect_meets(pair, RDMA_CM_EVENT_ESTABLISHED, 0), OK);
    assert_int_equal(
        CALL(pair->active.connector, NotifyDisconnect, fresh(&pair->active, 1)), INVALID);
    assert_int_equal(complete_connect(&pair->active), OK);
    assert_int_equal(
        CALL(pair->active.connector, NotifyDisconnect, fresh(&pair->active, 1)), PENDING);
    fake_raise_cm(RDMA_CM_EVENT_DISCONNECTED, 0);
    assert_int_equal(
        ended(pair->active.connector, PENDING, &pair->active.requests[1].overlapped), OK);
}

static void test_reject_after_an_establishing_reply_disconnects(void **state)
{
    struct pair *pair = *state;

    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(connect_meets(pair, RDMA_CM_EVENT_ESTABLISHED, 0), OK);
    assert_int_equal(CALL(pair->active.connector, Reject, NULL, 0), OK);
    assert_int_equal(
        CALL(pair->active.connector, CompleteConnect, fresh(&pair->active, 0)), ABORTED);
}

static void test_reply_whose_sender_gives_up_aborts_complete_connect(void **state)
{
    struct pair *pair = *state;
    uint64_t deadline_ms = clock_now_ms() + DEADLINE_MS;
    char data[8];
    ULONG octets = sizeof(data);

    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(connect_meets(pair, RDMA_CM_EVENT_CONNECT_RESPONSE, 0), OK);
    fake_raise_cm(RDMA_CM_EVENT_REJECTED, 28);
    /* The client's next call finds it; nothing reports it before. */
    while (CALL(pair->active.connector, GetPrivateData, data, &octets) == OK)
        assert_true(clock_now_ms() < deadline_ms);
    assert_int_equal(
        CALL(pair->active.connector, CompleteConnect, fresh(&pair->active, 0)), ABORTED);
    assert_int_equal(CALL(pair->active.connector, Reject, NULL, 0), INVALID);
}

/* ---- passive ---- */

static void requested(struct pair *pair)
{
    OVERLAPPED *overlapped = fresh_request(&pair->get);
    HRESULT hr =
        CALL(pair->listener, GetConnectionRequest, (IUnknown *)pair->passive.connector, overlapped);

    assert_true(fake_request());
    assert_int_equal(ended(pair->listener, hr, overlapped), OK);
}

/* A dead request, whichever event reports it: its private data cannot be read any more. */
static void test_data_of_a_dead_request_is_gone(void **state)
{
    static const enum rdma_cm_event_type deaths[] = { RDMA_CM_EVENT_REJECTED,
        RDMA_CM_EVENT_UNREACHABLE, RDMA_CM_EVENT_DISCONNECTED };
    struct pair *pair = *state;

    for (unsigned i = 0; i < 3; i++) {
        uint64_t deadline_ms = clock_now_ms() + DEADLINE_MS;
        ULONG octets = 0;

        side_new_connector(&pair->passive);
        requested(pair);
        assert_int_equal(CALL(pair->passive.connector, GetPrivateData, NULL, &octets), OK);
        fake_raise_cm(deaths[i], 0);
        while (CALL(pair->passive.connector, GetReadLimits, NULL, NULL) == OK)
            assert_true(clock_now_ms() < deadline_ms);
        assert_int_equal(CALL(pair->passive.connector, GetPrivateData, NULL, &octets), INVALID);
    }
}

static void accept_meets(struct pair *pair, enum rdma_cm_event_type event, int status, HRESULT ends)
{
    side_new_connector(&pair->passive);
    side_new_qp(&pair->passive);
    requested(pair);
    assert_int_equal(accept_begin(&pair->passive, NULL, 0), PENDING);
    assert_true(running(&pair->passive, 0));
    fake_raise_cm(event, status);
    assert_int_equal(
        ended(pair->passive.connector, PENDING, &pair->passive.requests[0].overlapped), ends);
}

static void test_accept_ends_as_the_peer_behaves(void **state)
{
    struct pair *pair = *state;

    accept_meets(pair, RDMA_CM_EVENT_ESTABLISHED, 0, OK);
    accept_meets(pair, RDMA_CM_EVENT_REJECTED, 28, REFUSED);
    assert_int_equal(accept_begin(&pair->passive, NULL, 0), ABORTED);
    accept_meets(pair, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT, IO_TIMEOUT);
    accept_meets(pair, RDMA_CM_EVENT_CONNECT_ERROR, -ETIMEDOUT, IO_TIMEOUT);
    /* A DISCONNECTED event that comes first proves that the connection was up. */
    accept_meets(pair, RDMA_CM_EVENT_DISCONNECTED, 0, OK);
    assert_int_equal(
        CALL(pair->passive.connector, NotifyDisconnect, fresh(&pair->passive, 1)), PENDING);
    assert_int_equal(pair->passive.requests[1].overlapped.Internal, 0);
}

/* Connection managers have several words for a request whose sender has gone. */
static void test_accept_that_the_device_refuses_has_its_code(void **state)
{
    static const struct {
        int error;
        HRESULT ends;
    } rows[] = { { EINVAL, ABORTED }, { ECONNRESET, ABORTED }, { ENOTCONN, ABORTED },
        { EPIPE, ABORTED }, { ENOMEM, RESOURCES } };
    struct pair *pair = *state;

    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        side_new_connector(&pair->passive);
        side_new_qp(&pair->passive);
        requested(pair);
        fake_break(FAKE_ACCEPT, rows[i].error);
        assert_int_equal(accept_begin(&pair->passive, NULL, 0), PENDING);
        assert_int_equal(accept_ended(pair), rows[i].ends);
        fake_break(FAKE_ACCEPT, 0);
    }
}

static void test_request_that_dies_in_the_listener_is_not_handed_out(void **state)
{
    struct pair *pair = *state;
    unsigned live = fake_live();

    assert_true(fake_request());
    fake_raise_cm(RDMA_CM_EVENT_REJECTED, 28);
    assert_true(SETTLES(fake_live() == live)); /* its id and its events are gone */
    assert_int_equal(CALL(pair->listener, GetConnectionRequest, (IUnknown *)pair->passive.connector,
                         fresh_request(&pair->get)),
        PENDING);
    assert_int_equal(pair->get.overlapped.Internal, SPEC_ND_PENDING);
    assert_int_equal(CALL(pair->listener, CancelOverlappedRequests), OK);
    requested(pair);
}

/* An arriving request adds an id if the listener keeps it, and none if the listener rejects it. */
static void arrives(bool kept)
{
    unsigned before = fake_live();

    assert_true(fake_request());
    assert_true(SETTLES(fake_live() == before + kept));
}

/* A connector that has taken a request that was kept; port: of its peer, above that of the request before. */
static IND2Connector *take_kept(struct pair *pair, uint16_t *port)
{
    struct side *side = &pair->passive;
    struct sockaddr_in peer;
    ULONG octets = sizeof(peer);
    OVERLAPPED *overlapped = fresh_request(&pair->get);
    IND2Connector *taker = NULL;
    HRESULT hr;

    assert_int_equal(
        CALL(side->adapter, CreateConnector, &IID_IND2Connector, side->file, (void **)&taker), OK);
    hr = CALL(pair->listener, GetConnectionRequest, (IUnknown *)taker, overlapped);
    assert_int_equal(ended(pair->listener, hr, overlapped), OK);
    assert_int_equal(CALL(taker, GetPeerAddress, (struct sockaddr *)&peer, &octets), OK);
    assert_true(ntohs(peer.sin_port) > *port);
    *port = ntohs(peer.sin_port);
    return taker;
}

/* Requests taken, or withdrawn by their peer, count no more. GetConnectionRequest takes them in order. */
static void test_backlog_counts_the_requests_that_are_kept(void **state)
{
    struct pair *pair = *state;
    struct sockaddr_in address = loopback(0);
    IND2Connector *takers[10];
    unsigned taken = 0;
    uint16_t port = 0;

    RELEASE(pair->listener);
    pair->listener = side_new_listener(&pair->passive);
    assert_int_equal(CALL(pair->listener, Bind, (struct sockaddr *)&address, sizeof(address)), OK);
    assert_int_equal(CALL(pair->listener, Listen, 2), OK);
    for (int round = 0; round < 3; round++) {
        arrives(true);
        arrives(true);
        arrives(false);
        takers[taken++] = take_kept(pair, &port);
        arrives(true);
        arrives(false);
        takers[taken++] = take_kept(pair, &port);
        takers[taken++] = take_kept(pair, &port);
    }
    for (int round = 0; round < 3; round++) {
        unsigned live = fake_live();

        arrives(true);
        fake_raise_cm(RDMA_CM_EVENT_REJECTED, 28);
        assert_true(SETTLES(fake_live() == live));
    }
    arrives(true);
    takers[taken++] = take_kept(pair, &port);
    for (unsigned i = 0; i < taken; i++)
        RELEASE(takers[i]);
}

/* ---- the end ---- */

static void test_disconnect_without_an_answer_ends_after_two_seconds(void **state)
{
    struct pair *pair = *state;
    uint64_t start_ms;

    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(connect_meets(pair, RDMA_CM_EVENT_CONNECT_RESPONSE, 0), OK);
    assert_int_equal(complete_connect(&pair->active), OK);
    assert_int_equal(
        CALL(pair->active.connector, NotifyDisconnect, fresh(&pair->active, 1)), PENDING);
    start_ms = clock_now_ms();
    assert_int_equal(disconnect(&pair->active), TIMEOUT);
    assert_in_range(clock_now_ms() - start_ms, 1900, 15000);
    assert_int_equal(pair->active.requests[1].overlapped.Internal, 0xC000020Cu);
    assert_int_equal(disconnect(&pair->active), INVALID);
}

static void establish(struct pair *pair)
{
    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(connect_meets(pair, RDMA_CM_EVENT_CONNECT_RESPONSE, 0), OK);
    assert_int_equal(complete_connect(&pair->active), OK);
}

/* The connection manager's patience may end before ours. */
static void test_disconnect_that_the_device_gives_up_is_a_timeout(void **state)
{
    struct pair *pair = *state;

    establish(pair);
    assert_int_equal(CALL(pair->active.connector, Disconnect, fresh(&pair->active, 0)), PENDING);
    fake_raise_cm(RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);
    assert_int_equal(
        ended(pair->active.connector, PENDING, &pair->active.requests[0].overlapped), TIMEOUT);
    assert_int_equal(disconnect(&pair->active), INVALID);
}

/* An end that this side did not ask for is the peer's, whichever event reports it. It is not orderly, and flushes. */
static void test_connection_that_times_out_is_disconnected(void **state)
{
    struct pair *pair = *state;

    fake_set_mode(FAKE_HOLD);
    post_receives(&pair->active, 2);
    establish(pair);
    assert_int_equal(
        CALL(pair->active.connector, NotifyDisconnect, fresh(&pair->active, 1)), PENDING);
    fake_raise_cm(RDMA_CM_EVENT_DISCONNECTED, -ETIMEDOUT);
    assert_int_equal(
        ended(pair->active.connector, PENDING, &pair->active.requests[1].overlapped), OK);
    assert_receives_canceled(&pair->active, 2);
    assert_int_equal(disconnect(&pair->active), OK);
}

static void test_release_during_an_unanswered_disconnect_does_not_wait(void **state)
{
    struct pair *pair = *state;
    uint64_t start_ms;

    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(connect_meets(pair, RDMA_CM_EVENT_CONNECT_RESPONSE, 0), OK);
    assert_int_equal(complete_connect(&pair->active), OK);
    assert_int_equal(CALL(pair->active.connector, Disconnect, fresh(&pair->active, 0)), PENDING);
    start_ms = clock_now_ms();
    assert_int_equal(CALL(pair->active.connector, Release), 0);
    pair->active.connector = NULL;
    assert_int_equal(pair->active.requests[0].overlapped.Internal, 0xC0000120u);
    assert_true(clock_now_ms() - start_ms < 1500);
}

static void test_device_removal_ends_everything_and_releases_work(void **state)
{
    struct pair *pair = *state;
    OVERLAPPED *get = fresh_request(&pair->get);

    assert_int_equal(bind_to(&pair->active, 0), OK);
    connecting(pair);
    assert_int_equal(
        CALL(pair->listener, GetConnectionRequest, (IUnknown *)pair->passive.connector, get),
        PENDING);
    fake_raise_removal();
    assert_int_equal(
        ended(pair->active.connector, PENDING, &pair->active.requests[0].overlapped), REMOVED);
    assert_int_equal(ended(pair->listener, PENDING, get), REMOVED);
    assert_int_equal(connect_begin(pair), REMOVED);
    assert_int_equal(bind_to(&pair->active, 0), REMOVED);
    assert_int_equal(CALL(pair->listener, Listen, 0), REMOVED);
    assert_int_equal(
        CALL(pair->active.connector, CompleteConnect, fresh(&pair->active, 0)), REMOVED);
    assert_int_equal(CALL(pair->active.connector, Disconnect, fresh(&pair->active, 0)), REMOVED);
    assert_int_equal(CALL(pair->active.connector, CancelOverlappedRequests), OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_connect_failures_have_their_codes_and_may_be_retried),
        TEST(test_silent_neighbour_is_asked_twice),
        TEST(test_connect_takes_another_port),
        TEST(test_connect_may_be_established_by_the_reply),
        TEST(test_reject_after_an_establishing_reply_disconnects),
        TEST(test_reply_whose_sender_gives_up_aborts_complete_connect),
        TEST(test_data_of_a_dead_request_is_gone),
        TEST(test_accept_ends_as_the_peer_behaves),
        TEST(test_accept_that_the_device_refuses_has_its_code),
        TEST(test_request_that_dies_in_the_listener_is_not_handed_out),
        TEST(test_backlog_counts_the_requests_that_are_kept),
        TEST(test_disconnect_without_an_answer_ends_after_two_seconds),
        TEST(test_disconnect_that_the_device_gives_up_is_a_timeout),
        TEST(test_connection_that_times_out_is_disconnected),
        TEST(test_release_during_an_unanswered_disconnect_does_not_wait),
        TEST(test_device_removal_ends_everything_and_releases_work),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
