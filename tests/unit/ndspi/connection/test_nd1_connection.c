/* SPDX-License-Identifier: MIT */
/*
 * Connections of version 1 over the embedded device, step by step: where they differ from those of version 2
 * (test_connection.c), and against a queue pair of version 2.
 */
#include "tests/unit/ndspi/connection/nd1_connection.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

static struct sockaddr_in local_of(INDConnector *connector)
{
    struct sockaddr_in address = { 0 };
    SIZE_T length = sizeof(address);

    assert_int_equal(CALL(connector, GetLocalAddress, (struct sockaddr *)&address, &length), OK);
    assert_int_equal(length, 16);
    return address;
}

static struct sockaddr_in peer_of(INDConnector *connector)
{
    struct sockaddr_in address = { 0 };
    SIZE_T length = sizeof(address);

    assert_int_equal(CALL(connector, GetPeerAddress, (struct sockaddr *)&address, &length), OK);
    assert_int_equal(length, 16);
    return address;
}

/* ---- Connect: addresses and ports ---- */

static void test_connect_leaves_from_the_address_of_its_adapter(void **state)
{
    struct nd1_pair *pair = *state;
    struct sockaddr_in local, peer;
    SIZE_T length = sizeof(local);

    assert_int_equal(
        CALL(pair->active.connector, GetLocalAddress, (struct sockaddr *)&local, &length), INVALID);
    nd1_reach_request(pair);
    local = local_of(pair->active.connector);
    peer = peer_of(pair->passive.connector);
    assert_int_equal(local.sin_addr.s_addr, htonl(0x7f000001));
    assert_int_not_equal(local.sin_port, 0);
    assert_memory_equal(&peer, &local, sizeof(peer));
    peer = peer_of(pair->active.connector);
    assert_int_equal(peer.sin_port, pair->listening.sin_port);
    length = 15;
    assert_int_equal(
        CALL(pair->active.connector, GetLocalAddress, (struct sockaddr *)&local, &length),
        OVERFLOWS);
    assert_int_equal(length, 16);
    assert_int_equal(CALL(pair->active.connector, GetPeerAddress, NULL, NULL), BAD_PARAM);
}

/* A port that is free at this moment. */
static USHORT free_port(struct nd1_end *end)
{
    USHORT port_be = 0;
    INDListen *listen = nd1_listen(end, &port_be);

    RELEASE(listen);
    return port_be;
}

static HRESULT connect_from(struct nd1_end *end, USHORT local_port_be, const struct sockaddr_in *to)
{
    OVERLAPPED *overlapped = nd1_fresh(end, 0);

    return nd1_ended(end->connector,
        CALL(end->connector, Connect, end->endpoint, (const struct sockaddr *)to, sizeof(*to), 0,
            local_port_be, NULL, 0, overlapped),
        overlapped);
}

static void test_connect_binds_anew_in_each_attempt(void **state)
{
    struct nd1_pair *pair = *state;
    struct nd1_end *active = &pair->active;
    struct sockaddr_in nobody = loopback(free_port(active));
    USHORT first_be = free_port(active), second_be = free_port(active);

    assert_int_equal(connect_from(active, first_be, &nobody), REFUSED);
    assert_int_equal(local_of(active->connector).sin_port, first_be);
    assert_int_equal(connect_from(active, second_be, &nobody), REFUSED);
    assert_int_equal(local_of(active->connector).sin_port, second_be);
    /* A program may repeat it any number of times, on the same connector and endpoint. */
    for (int i = 0; i < 5; i++)
        assert_int_equal(connect_from(active, 0, &nobody), REFUSED);
    assert_int_not_equal(local_of(active->connector).sin_port, 0);
    nd1_reach_connected(pair);
}

static void test_connect_checks_its_arguments_and_may_be_called_again(void **state)
{
    struct nd1_pair *pair = *state;
    struct nd1_end *active = &pair->active;
    struct sockaddr *to = (struct sockaddr *)&pair->listening;
    struct sockaddr_in wildcard = { .sin_family = AF_INET, .sin_port = pair->listening.sin_port };
    OVERLAPPED *overlapped = nd1_fresh(active, 0);
    char data[57] = { 0 };

    assert_int_equal(
        CALL(active->connector, Connect, NULL, to, 16, 0, 0, NULL, 0, overlapped), BAD_PARAM1);
    assert_int_equal(
        CALL(active->connector, Connect, pair->passive.endpoint, to, 16, 0, 0, NULL, 0, overlapped),
        BAD_PARAM1);
    assert_int_equal(
        CALL(active->connector, Connect, active->endpoint, to, 16, 0, 0, NULL, 0, NULL), BAD_PARAM);
    assert_int_equal(
        CALL(active->connector, Connect, active->endpoint, to, 16, 0, 0, NULL, 1, overlapped),
        BAD_PARAM);
    /* Until here it is as new: a listen takes it. */
    assert_int_equal(
        CALL(pair->listen, GetConnectionRequest, pair->passive.connector, nd1_fresh(active, 1)),
        PENDING);
    assert_int_equal(CALL(pair->listen, CancelOverlappedRequests), OK);

    assert_int_equal(CALL(active->connector, Connect, active->endpoint, to, 16, 0, 0, data,
                         sizeof(data), overlapped),
        BAD_SIZE);
    assert_int_equal(
        CALL(active->connector, Connect, active->endpoint, NULL, 16, 0, 0, NULL, 0, overlapped),
        BAD_NAME);
    assert_int_equal(
        CALL(active->connector, Connect, active->endpoint, to, 15, 0, 0, NULL, 0, overlapped),
        BAD_NAME);
    assert_int_equal(CALL(active->connector, Connect, active->endpoint,
                         (struct sockaddr *)&wildcard, 16, 0, 0, NULL, 0, overlapped),
        BAD_NAME);
    assert_int_equal(WaitForSingleObject(overlapped->hEvent, 0), WAIT_TIMEOUT);

    assert_int_equal(nd1_connect_begin(active, &pair->listening, data, 56), PENDING);
    assert_int_equal(CALL(active->connector, Connect, active->endpoint, to, 16, 0, 0, NULL, 0,
                         nd1_fresh(active, 1)),
        ACTIVE);
    assert_int_equal(nd1_get_request(pair), OK);
}

static void test_connect_takes_an_endpoint_of_another_connector_of_its_adapter(void **state)
{
    struct nd1_pair *pair = *state;
    INDConnector *maker = pair->active.connector;

    pair->active.connector = NULL;
    nd1_new_connector(&pair->active);
    nd1_reach_connected(pair);
    /* Its endpoint is taken. */
    {
        struct nd1_end other = pair->active;

        other.connector = maker;
        memset(&other.requests, 0, sizeof(other.requests));
        assert_int_equal(nd1_connect(&other, &pair->listening), ACTIVE);
        CloseHandle(other.requests[0].overlapped.hEvent);
    }
    RELEASE(maker);
    assert_int_equal(nd1_disconnect(&pair->active), OK);
}

/* ---- GetConnectionData ---- */

static void test_connection_data_is_told_in_any_part(void **state)
{
    struct nd1_pair *pair = *state;
    INDConnector *connector = pair->passive.connector;
    SIZE_T inbound = 99, outbound = 99, octets = 28;
    char sent[28] = "the card of a known program", data[160];

    assert_int_equal(CALL(connector, GetConnectionData, &inbound, &outbound, NULL, NULL), INVALID);
    assert_int_equal(
        nd1_connect_begin(&pair->active, &pair->listening, sent, sizeof(sent)), PENDING);
    assert_int_equal(nd1_get_request(pair), OK);

    memset(data, 0xAA, sizeof(data));
    assert_int_equal(CALL(connector, GetConnectionData, &inbound, &outbound, data, &octets), OK);
    assert_int_equal(inbound, 4);
    assert_int_equal(outbound, 4);
    assert_int_equal(octets, 28);
    assert_memory_equal(data, sent, 28);
    assert_int_equal((unsigned char)data[28], 0xAA);

    assert_int_equal(CALL(connector, GetConnectionData, NULL, NULL, NULL, NULL), OK);
    inbound = 99;
    assert_int_equal(CALL(connector, GetConnectionData, &inbound, NULL, NULL, NULL), OK);
    assert_int_equal(inbound, 4);
    octets = 0;
    assert_int_equal(CALL(connector, GetConnectionData, NULL, NULL, NULL, &octets), OVERFLOWS);
    assert_int_equal(octets, 28);
    /* What fits is there, and so is everything else. */
    memset(data, 0xAA, sizeof(data));
    octets = 3;
    outbound = 99;
    assert_int_equal(CALL(connector, GetConnectionData, NULL, &outbound, data, &octets), OVERFLOWS);
    assert_int_equal(octets, 28);
    assert_int_equal(outbound, 4);
    assert_memory_equal(data, "the", 3);
    assert_int_equal((unsigned char)data[3], 0xAA);
    assert_int_equal(CALL(connector, GetConnectionData, NULL, NULL, data, NULL), BAD_PARAM);
}

static void test_connection_data_of_the_reply_and_of_a_refusal(void **state)
{
    struct nd1_pair *pair = *state;
    INDConnector *active = pair->active.connector;
    SIZE_T inbound = 99, octets = 1;
    char byte = 0;

    nd1_reach_request(pair);
    assert_int_equal(CALL(active, GetConnectionData, &inbound, NULL, NULL, NULL), INVALID);
    assert_int_equal(CALL(pair->passive.connector, Reject, "no", 2), OK);
    assert_int_equal(nd1_connected(&pair->active), REFUSED);
    /* The data of the refusal is there; limits there are none. */
    assert_int_equal(CALL(active, GetConnectionData, NULL, NULL, &byte, &octets), OVERFLOWS);
    assert_int_equal(byte, 'n');
    assert_int_equal(CALL(active, GetConnectionData, &inbound, NULL, &byte, &octets), INVALID);
    assert_int_equal(inbound, 99);

    nd1_new_connector(&pair->passive);
    nd1_reach_request(pair);
    assert_int_equal(nd1_accept_begin(&pair->passive, "y", 1), PENDING);
    assert_int_equal(nd1_connected(&pair->active), OK);
    octets = 1;
    assert_int_equal(CALL(active, GetConnectionData, &inbound, NULL, &byte, &octets), OK);
    assert_int_equal(octets, 1);
    assert_int_equal(byte, 'y');
    assert_int_equal(inbound, 4);
    assert_int_equal(nd1_complete_connect(&pair->active), OK);
    assert_int_equal(CALL(active, GetConnectionData, NULL, NULL, &byte, &octets), INVALID);
}

static void test_read_limits_are_those_of_the_endpoints(void **state)
{
    struct nd1_pair *pair = *state;
    SIZE_T inbound = 99, outbound = 99;

    RELEASE(pair->active.endpoint);
    assert_int_equal(CALL(pair->active.connector, CreateEndpoint, pair->active.cq, pair->active.cq,
                         8, 8, 1, 1, 3, 2, NULL, &pair->active.endpoint),
        OK);
    RELEASE(pair->passive.endpoint);
    assert_int_equal(CALL(pair->passive.connector, CreateEndpoint, pair->passive.cq,
                         pair->passive.cq, 8, 8, 1, 1, 1, 8, NULL, &pair->passive.endpoint),
        OK);
    nd1_reach_request(pair);
    /* The passive side's view: we may be read twice, and may read thrice. */
    assert_int_equal(
        CALL(pair->passive.connector, GetConnectionData, &inbound, &outbound, NULL, NULL), OK);
    assert_int_equal(inbound, 2);
    assert_int_equal(outbound, 3);
    assert_int_equal(nd1_accept_begin(&pair->passive, NULL, 0), PENDING);
    assert_int_equal(nd1_connected(&pair->active), OK);
    assert_int_equal(
        CALL(pair->active.connector, GetConnectionData, &inbound, &outbound, NULL, NULL), OK);
    assert_int_equal(inbound, 3);
    assert_int_equal(outbound, 1);
}

/* ---- Accept and Reject ---- */

static void test_accept_with_too_much_data_keeps_the_request(void **state)
{
    struct nd1_pair *pair = *state;
    char data[149] = "x";

    nd1_reach_request(pair);
    assert_int_equal(CALL(pair->passive.connector, Accept, pair->active.endpoint, NULL, 0,
                         nd1_fresh(&pair->passive, 0)),
        BAD_PARAM1);
    assert_int_equal(nd1_accept_begin(&pair->passive, data, 149), BAD_SIZE);
    assert_int_equal(nd1_accept_begin(&pair->passive, data, 148), PENDING);
    assert_int_equal(CALL(pair->passive.connector, Accept, pair->passive.endpoint, NULL, 0,
                         nd1_fresh(&pair->passive, 1)),
        ACTIVE);
    assert_int_equal(nd1_connected(&pair->active), OK);
    assert_int_equal(nd1_complete_connect(&pair->active), OK);
    assert_int_equal(nd1_accept_ended(pair), OK);
}

static void test_reject_by_the_active_side_aborts_the_accept(void **state)
{
    struct nd1_pair *pair = *state;

    assert_int_equal(CALL(pair->active.connector, Reject, NULL, 0), BAD_STATE);
    nd1_reach_reply(pair);
    assert_int_equal(CALL(pair->active.connector, Reject, NULL, 1), BAD_PARAM);
    assert_int_equal(CALL(pair->active.connector, Reject, NULL, 0), OK);
    assert_int_equal(nd1_accept_ended(pair), ABORTED);
    assert_int_equal(CALL(pair->active.connector, Reject, NULL, 0), INVALID);
    assert_int_equal(CALL(pair->passive.connector, Reject, NULL, 0), INVALID);
    assert_int_equal(nd1_complete_connect(&pair->active), ABORTED);
}

/* The call returns the same, whether the end's event came before it or it runs into the end. */
static void test_dead_request_is_invalid_to_reject_and_aborts_an_accept(void **state)
{
    struct nd1_pair *pair = *state;
    OVERLAPPED *overlapped;

    nd1_reach_request(pair);
    RELEASE(pair->active.connector);
    overlapped = nd1_fresh(&pair->passive, 0);
    assert_int_equal(
        nd1_ended(pair->passive.connector,
            CALL(pair->passive.connector, Accept, pair->passive.endpoint, NULL, 0, overlapped),
            overlapped),
        ABORTED);
    assert_int_equal(CALL(pair->passive.connector, Reject, NULL, 0), INVALID);
    assert_int_equal(
        CALL(pair->passive.connector, GetConnectionData, NULL, NULL, NULL, NULL), INVALID);
    assert_int_equal(nd1_accept_begin(&pair->passive, NULL, 0), ABORTED);
}

/* ---- against version 2 ---- */

static void v2_bind_connect_begin(struct side *side, const struct sockaddr_in *to)
{
    assert_int_equal(bind_to(side, 0), OK);
    assert_int_equal(
        CALL(side->connector, Connect, (IUnknown *)side->qp, (const struct sockaddr *)to,
            sizeof(*to), 3, 2, "from v2", 8, fresh(side, 0)),
        PENDING);
}

static void test_version_2_connects_to_version_1(void **state)
{
    struct nd1_pair *pair = *state;
    SIZE_T inbound, outbound, octets = 8;
    struct side side;
    char data[8];

    side_open(&side);
    v2_bind_connect_begin(&side, &pair->listening);
    assert_int_equal(nd1_get_request(pair), OK);
    assert_int_equal(
        CALL(pair->passive.connector, GetConnectionData, &inbound, &outbound, data, &octets), OK);
    assert_int_equal(inbound, 2);
    assert_int_equal(outbound, 3);
    assert_string_equal(data, "from v2");
    assert_int_equal(nd1_accept_begin(&pair->passive, "v1", 3), PENDING);
    assert_int_equal(ended(side.connector, PENDING, &side.requests[0].overlapped), OK);
    assert_int_equal(complete_connect(&side), OK);
    assert_int_equal(nd1_accept_ended(pair), OK);
    assert_int_equal(
        CALL(pair->passive.connector, NotifyDisconnect, nd1_fresh(&pair->passive, 1)), PENDING);
    assert_int_equal(disconnect(&side), OK);
    assert_int_equal(
        nd1_ended(pair->passive.connector, PENDING, &pair->passive.requests[1].overlapped), OK);
    side_close(&side);
}

static void test_version_1_connects_to_version_2(void **state)
{
    struct nd1_pair *pair = *state;
    struct sockaddr_in to = loopback(0);
    ULONG length = sizeof(to), octets = 8;
    IND2Listener *listener;
    struct side side;
    char data[8];

    side_open(&side);
    listener = side_new_listener(&side);
    assert_int_equal(CALL(listener, Bind, (struct sockaddr *)&to, sizeof(to)), OK);
    assert_int_equal(CALL(listener, GetLocalAddress, (struct sockaddr *)&to, &length), OK);
    assert_int_equal(CALL(listener, Listen, 0), OK);

    assert_int_equal(nd1_connect_begin(&pair->active, &to, "from v1", 8), PENDING);
    assert_int_equal(
        ended(listener,
            CALL(listener, GetConnectionRequest, (IUnknown *)side.connector, fresh(&side, 0)),
            &side.requests[0].overlapped),
        OK);
    assert_int_equal(CALL(side.connector, GetPrivateData, data, &octets), OK);
    assert_string_equal(data, "from v1");
    assert_int_equal(accept_begin(&side, NULL, 0), PENDING);
    assert_int_equal(nd1_connected(&pair->active), OK);
    assert_int_equal(nd1_complete_connect(&pair->active), OK);
    assert_int_equal(ended(side.connector, PENDING, &side.requests[0].overlapped), OK);
    assert_int_equal(CALL(side.connector, NotifyDisconnect, fresh(&side, 1)), PENDING);
    RELEASE(pair->active.endpoint);
    assert_int_equal(ended(side.connector, PENDING, &side.requests[1].overlapped), OK);
    RELEASE(listener);
    side_close(&side);
}

/* Objects of one version mean nothing to the other. */
static void test_versions_do_not_take_each_others_objects(void **state)
{
    struct nd1_pair *pair = *state;
    struct nd1_end *end = &pair->active;
    INDEndpoint *endpoint = NULL;
    struct side side;

    side_open(&side);
    assert_int_equal(CALL(end->connector, CreateEndpoint, (INDCompletionQueue *)side.cq, end->cq, 8,
                         8, 1, 1, 1, 1, NULL, &endpoint),
        BAD_PARAM1);
    assert_int_equal(CALL(end->connector, Connect, (INDEndpoint *)side.qp,
                         (struct sockaddr *)&pair->listening, 16, 0, 0, NULL, 0, nd1_fresh(end, 0)),
        BAD_PARAM1);
    assert_int_equal(
        CALL(pair->listen, GetConnectionRequest, (INDConnector *)side.connector, nd1_fresh(end, 0)),
        BAD_PARAM1);
    assert_int_equal(CALL(side.connector, Connect, (IUnknown *)end->endpoint,
                         (struct sockaddr *)&pair->listening, 16, 0, 0, NULL, 0, fresh(&side, 0)),
        BAD_PARAM1);
    side_close(&side);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, nd1_pair_set_up, nd1_pair_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_connect_leaves_from_the_address_of_its_adapter),
        TEST(test_connect_binds_anew_in_each_attempt),
        TEST(test_connect_checks_its_arguments_and_may_be_called_again),
        TEST(test_connect_takes_an_endpoint_of_another_connector_of_its_adapter),
        TEST(test_connection_data_is_told_in_any_part),
        TEST(test_connection_data_of_the_reply_and_of_a_refusal),
        TEST(test_read_limits_are_those_of_the_endpoints),
        TEST(test_accept_with_too_much_data_keeps_the_request),
        TEST(test_reject_by_the_active_side_aborts_the_accept),
        TEST(test_dead_request_is_invalid_to_reject_and_aborts_an_accept),
        TEST(test_version_2_connects_to_version_1),
        TEST(test_version_1_connects_to_version_2),
        TEST(test_versions_do_not_take_each_others_objects),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
