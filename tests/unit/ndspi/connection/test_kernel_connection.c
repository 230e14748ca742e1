/* SPDX-License-Identifier: MIT */
/*
 * test_kernel_connection.c - connections of the kernel flavour over the embedded device: requests that are delivered,
 * a listener that pauses, the end of a connection told once, data that stay readable, and ports that have one owner.
 *
 * Source: NDKPI, NdkListen, NdkControlConnectEvents, NdkConnect to NdkDisconnect, NdkCreateSharedEndpoint.
 */
#include "tests/unit/ndspi/connection/kernel_pair.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

static void endpoint_gone(struct nd_object *object)
{
    nd_endpoint_fini((struct nd_endpoint *)object);
    free(object);
}

/* ---- tests ---- */

/* The side that ends the connection hears nothing; the other one hears of it once, after its connection was told. */
static void test_the_end_is_told_once_to_the_other_side(void **state)
{
    struct server *server = start_server();

    (void)state;
    for (int active_ends = 0; active_ends < 2; active_ends++) {
        struct pair pair = connect_pair(server);
        struct end *first = active_ends ? pair.active : pair.passive,
                   *other = active_ends ? pair.passive : pair.active;

        assert_int_equal(atomic_load(&other->told.ends), 0);
        assert_int_equal(
            nd_connector_disconnect(first->connector, begin(&first->step)), SPEC_ND_PENDING);
        assert_int_equal(end_of(&first->step), 0);
        assert_int_equal(end_of(&first->told), SPEC_ND_CANCELED);
        assert_int_equal(end_of(&other->told), 0);
        assert_int_equal(nd_connector_end_reason(other->connector), 0);
        assert_false(nd_qp_flushed(other->qp)); /* that is for its own Disconnect */
        assert_int_equal(
            nd_connector_disconnect(other->connector, begin(&other->step)), SPEC_ND_PENDING);
        assert_int_equal(end_of(&other->step), 0);
        assert_true(nd_qp_flushed(other->qp));
        drop_pair(pair);
    }
    nd_listener_close(&server->core);
}

/*
 * Flush and close without a Disconnect, as known programs do. The device may take the flush for the end of the
 * connection, and tell this side of it before it closes.
 */
static void test_closing_tells_the_peer(void **state)
{
    struct server *server = start_server();
    struct pair pair = connect_pair(server);
    uint32_t status;

    (void)state;
    assert_int_equal(nd_qp_flush(pair.active->qp), 0);
    nd_connector_close(pair.active->connector);
    pair.active->connector = NULL;
    status = end_of(&pair.active->told);
    assert_true(status == SPEC_ND_CANCELED || status == 0);
    assert_int_equal(end_of(&pair.passive->told), 0);
    drop_pair(pair);
    nd_listener_close(&server->core);
}

/* Accept ends before the end of the connection is told, also if the peer has gone by then. */
static void test_accept_ends_before_the_connection_does(void **state)
{
    struct server *server = start_server();
    struct pair pair = { .active = new_end() };

    (void)state;
    assert_int_equal(connect_from(pair.active, NULL, 0, server->port), SPEC_ND_PENDING);
    pair.passive = accept_next(server);
    assert_int_equal(end_of(&pair.active->step), 0);
    assert_int_equal(nd_connector_complete_connect_telling(
                         pair.active->connector, NULL, begin(&pair.active->step)),
        SPEC_ND_PENDING);
    assert_int_equal(nd_connector_disconnect(pair.active->connector, begin(&pair.active->told)),
        SPEC_ND_PENDING);
    assert_int_equal(end_of(&pair.active->step), 0);
    assert_int_equal(end_of(&pair.passive->step), 0);
    assert_int_equal(end_of(&pair.passive->told), 0);
    assert_true(pair.passive->step.turn < pair.passive->told.turn);
    assert_int_equal(end_of(&pair.active->told), 0);
    drop_pair(pair);
    nd_listener_close(&server->core);
}

/* A connection that never came up has no end to tell. */
static void test_a_failed_accept_tells_nothing(void **state)
{
    struct server *server = start_server();
    struct pair pair = { .active = new_end() };

    (void)state;
    assert_int_equal(connect_from(pair.active, NULL, 0, server->port), SPEC_ND_PENDING);
    pair.passive = accept_next(server);
    assert_int_equal(end_of(&pair.active->step), 0);
    assert_int_equal(nd_connector_reject(pair.active->connector, NULL, 0), 0);
    assert_int_equal(end_of(&pair.passive->step), SPEC_ND_CONNECTION_ABORTED);
    nd_connector_close(pair.passive->connector);
    pair.passive->connector = NULL;
    assert_int_equal(atomic_load(&pair.passive->told.ends), 0);
    drop_pair(pair);
    nd_listener_close(&server->core);
}

/* A request of one side fails at the other: both ends hear of it. */
static void test_a_failed_request_ends_the_connection(void **state)
{
    struct server *server = start_server();
    struct pair pair = connect_pair(server);
    const struct nd_remote nowhere = { .address = 0x1000, .token = 0x12345678 };
    struct nd_result result;
    char data[16];
    struct nd_mr *mr = make_mr(data, sizeof(data));
    ND2_SGE sge = { data, sizeof(data), atomic_load(&mr->local_token) };

    (void)state;
    assert_int_equal(nd_qp_write(pair.active->qp, (void *)1, &sge, 1, &nowhere, 0), 0);
    assert_true(SETTLES(nd_cq_results_kernel_ex(&cq->poll, &result, 1) == 1));
    assert_int_equal((uint32_t)result.status, SPEC_ND_ACCESS_VIOLATION);
    assert_int_not_equal(result.vendor, 0);
    assert_int_equal(end_of(&pair.active->told), 0);
    assert_int_equal(end_of(&pair.passive->told), 0);
    assert_int_equal(nd_connector_end_reason(pair.active->connector), result.vendor);
    drop_pair(pair);
    nd_mr_close(mr);
    nd_listener_close(&server->core);
}

/* ---- data and limits ---- */

static void expect_data(
    struct nd_connector *connector, const char *data, size_t octets, ULONG inbound, ULONG outbound)
{
    ULONG in = 99, out = 99;
    char got[512];
    size_t size = sizeof(got);

    assert_int_equal(nd_connector_get_data(connector, &in, &out, got, &size), 0);
    assert_int_equal(size, octets);
    assert_memory_equal(got, data, octets);
    assert_int_equal(in, inbound);
    assert_int_equal(out, outbound);
    size = 2;
    assert_int_equal((uint32_t)nd_connector_get_data(connector, NULL, NULL, got, &size),
        SPEC_ND_BUFFER_OVERFLOW);
    assert_int_equal(size, octets);
}

/* Before, during and after the connection; the limits are the smaller ones of both sides. */
/* The device reports it, and nothing else shows: both sides hear of the end, once. */
static void test_a_failed_queue_pair_ends_the_connection(void **state)
{
    static const enum ibv_event_type types[] = { IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR,
        IBV_EVENT_QP_ACCESS_ERR };
    struct server *server = start_server();

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct pair pair = connect_pair(server);
        struct nd_child *child = pair.active->qp->ibv->qp_context;

        child->ops->event(child, types[i]);
        child->ops->event(child, types[i]);
        assert_int_equal(end_of(&pair.active->told), 0);
        assert_int_equal(end_of(&pair.passive->told), 0);
        assert_int_equal(nd_connector_end_reason(pair.active->connector), 19);
        assert_int_equal(
            (unsigned)nd_queue_send(ND_V2, &pair.active->qp->initiator, NULL, NULL, 0, 0),
            SPEC_ND_CONNECTION_INVALID);
        drop_pair(pair);
    }
    nd_listener_close(&server->core);
}

static void test_data_and_limits_stay_until_the_end(void **state)
{
    struct server *server = start_server();
    struct pair pair = { .active = new_end() };

    (void)state;
    assert_int_equal(connect_from(pair.active, NULL, 0, server->port), SPEC_ND_PENDING);
    wait_for(&server->arrived);
    sem_post(&server->arrived);
    expect_data(server->delivered[0], caller_data, sizeof(caller_data), 5, 3);
    pair.passive = accept_next(server);
    assert_int_equal(end_of(&pair.active->step), 0);
    expect_data(pair.active->connector, callee_data, sizeof(callee_data), 2, 4);
    pair.active->step = (struct request){ 0 };
    assert_int_equal(nd_connector_complete_connect_telling(pair.active->connector,
                         begin(&pair.active->told), begin(&pair.active->step)),
        SPEC_ND_PENDING);
    assert_int_equal(end_of(&pair.active->step), 0);
    assert_int_equal(end_of(&pair.passive->step), 0);
    expect_data(pair.active->connector, callee_data, sizeof(callee_data), 2, 4);
    expect_data(pair.passive->connector, caller_data, sizeof(caller_data), 4, 2);
    assert_int_equal(nd_connector_disconnect(pair.active->connector, begin(&pair.active->step)),
        SPEC_ND_PENDING);
    assert_int_equal(end_of(&pair.active->step), 0);
    assert_int_equal(end_of(&pair.passive->told), 0);
    expect_data(pair.active->connector, callee_data, sizeof(callee_data), 2, 4);
    expect_data(pair.passive->connector, caller_data, sizeof(caller_data), 4, 2);
    drop_pair(pair);
    nd_listener_close(&server->core);
}

static void test_a_rejects_data_stay(void **state)
{
    struct server *server = start_server();
    struct end *end = new_end();
    char got[64];
    size_t size = sizeof(got);

    (void)state;
    assert_int_equal(connect_from(end, NULL, 0, server->port), SPEC_ND_PENDING);
    wait_for(&server->arrived);
    assert_int_equal(nd_connector_reject(server->delivered[0], "no", 3), 0);
    assert_int_equal(end_of(&end->step), SPEC_ND_CONNECTION_REFUSED);
    assert_int_equal(nd_connector_get_data(end->connector, NULL, NULL, got, &size), 0);
    assert_int_equal(size, 3);
    assert_string_equal(got, "no");
    nd_connector_close(server->delivered[0]);
    drop_end(end);
    nd_listener_close(&server->core);
}

/* ---- the listener ---- */

static uint32_t try_connect(uint16_t port)
{
    struct end *end = new_end();
    uint32_t status;

    assert_int_equal(connect_from(end, NULL, 0, port), SPEC_ND_PENDING);
    status = end_of(&end->step);
    drop_end(end);
    return status;
}

static void test_a_paused_listener_refuses(void **state)
{
    struct server *server = start_server();
    struct pair before = connect_pair(server), after;

    (void)state;
    nd_listener_pause(&server->core, true);
    assert_int_equal(try_connect(server->port), SPEC_ND_CONNECTION_REFUSED);
    assert_int_equal(atomic_load(&server->count), 1);
    assert_int_equal(atomic_load(&server->made), 1);
    nd_listener_pause(&server->core, false);
    after = connect_pair(server);
    drop_pair(before);
    drop_pair(after);
    nd_listener_close(&server->core);
}

static void test_no_memory_for_a_connector_refuses(void **state)
{
    struct server *server = start_server();

    (void)state;
    server->no_memory = true;
    assert_int_equal(try_connect(server->port), SPEC_ND_CONNECTION_REFUSED);
    server->no_memory = false;
    drop_pair(connect_pair(server));
    nd_listener_close(&server->core);
}

/* A connector that is closed in place of an Accept rejects. */
static void test_closing_a_request_rejects_it(void **state)
{
    struct server *server = start_server();
    struct end *end = new_end();

    (void)state;
    assert_int_equal(connect_from(end, NULL, 0, server->port), SPEC_ND_PENDING);
    wait_for(&server->arrived);
    nd_connector_close(server->delivered[0]);
    assert_int_equal(end_of(&end->step), SPEC_ND_CONNECTION_REFUSED);
    drop_end(end);
    nd_listener_close(&server->core);
}

/* A closed listener takes no more; its connections go on, and have its port. */
static void test_a_closed_listener_leaves_its_connections(void **state)
{
    struct server *server = start_server(), *next = new_server();
    struct pair pair = connect_pair(server);
    uint16_t port = server->port;

    (void)state;
    assert_int_equal(listen_on(next, port), SPEC_ND_SHARING_VIOLATION);
    nd_listener_close(&server->core);
    assert_int_equal(try_connect(port), SPEC_ND_CONNECTION_REFUSED);
    assert_int_equal(atomic_load(&pair.active->told.ends), 0);
    assert_int_equal(listen_on(next, port), SPEC_ND_SHARING_VIOLATION);
    drop_pair(pair);
    assert_true(SETTLES(listen_on(next, port) == 0));
    nd_listener_close(&next->core);
}

/* ---- ports ---- */

static void test_a_port_has_one_owner(void **state)
{
    struct server *server = start_server();
    struct pair pair = connect_pair(server);
    uint16_t port = port_of(pair.active->connector, false);
    struct server *other = new_server();
    struct end *end = new_end();

    (void)state;
    assert_int_equal(port_of(pair.passive->connector, true), port);
    assert_int_equal(port_of(pair.passive->connector, false), server->port);
    assert_int_equal(connect_from(end, NULL, port, server->port), SPEC_ND_SHARING_VIOLATION);
    assert_int_equal(
        connect_from(end, NULL, server->port, server->port), SPEC_ND_SHARING_VIOLATION);
    assert_int_equal(listen_on(other, port), SPEC_ND_SHARING_VIOLATION);
    drop_pair(pair);
    /* The one that had it is gone, and the port is free. */
    assert_true(SETTLES(connect_from(end, NULL, port, server->port) == SPEC_ND_PENDING));
    wait_for(&server->arrived);
    assert_int_equal(port_of(server->delivered[1], true), port);
    nd_connector_close(server->delivered[1]);
    assert_int_equal(end_of(&end->step), SPEC_ND_CONNECTION_REFUSED);
    drop_end(end);
    nd_listener_close(&other->core);
    nd_listener_close(&server->core);
}

static void test_connecting_needs_an_address_of_the_adapter(void **state)
{
    struct sockaddr_storage any = { .ss_family = AF_INET }, to = address_of(1);
    struct end *end = new_end();
    const struct nd_connect_params params = { .qp = end->qp };

    (void)state;
    assert_int_equal((uint32_t)nd_connector_bind_and_connect(end->connector, &any, &params,
                         (struct sockaddr *)&to, sizeof(struct sockaddr_in), begin(&end->step)),
        SPEC_ND_INVALID_ADDRESS);
    assert_int_equal(connect_from(end, NULL, 0, 1), SPEC_ND_PENDING); /* nobody listens there */
    assert_int_equal(end_of(&end->step), SPEC_ND_CONNECTION_REFUSED);
    drop_end(end);
}

static struct nd_endpoint *make_endpoint(uint16_t port, uint32_t expected)
{
    struct nd_endpoint *endpoint = nd_object_alloc(sizeof(*endpoint));
    struct sockaddr_storage address = address_of(port);

    assert_int_equal((uint32_t)nd_endpoint_init(endpoint, adapter, (struct sockaddr *)&address,
                         sizeof(struct sockaddr_in), endpoint_gone),
        expected);
    if (!expected)
        return endpoint;
    free(endpoint);
    return NULL;
}

/* Two destinations from one port; nobody else has it, and no destination is had twice. */
static void test_a_shared_endpoint_reaches_several_peers(void **state)
{
    struct server *one = start_server(), *two = start_server(), *other = new_server();
    struct nd_endpoint *endpoint = make_endpoint(0, 0);
    struct end *first = new_end(), *second = new_end(), *third = new_end(), *peer, *peer_two;
    struct sockaddr_in in;
    size_t length = sizeof(in);
    uint16_t port;

    (void)state;
    assert_int_equal(nd_endpoint_get_local_address(endpoint, (struct sockaddr *)&in, &length), 0);
    port = ntohs(in.sin_port);
    assert_int_not_equal(port, 0);
    assert_null(make_endpoint(port, SPEC_ND_SHARING_VIOLATION));
    assert_int_equal(listen_on(other, port), SPEC_ND_SHARING_VIOLATION);
    assert_int_equal(connect_from(third, NULL, port, one->port), SPEC_ND_SHARING_VIOLATION);
    assert_int_equal(connect_from(first, endpoint, 0, one->port), SPEC_ND_PENDING);
    assert_int_equal(connect_from(third, endpoint, 0, one->port), SPEC_ND_ADDRESS_ALREADY_EXISTS);
    assert_int_equal(connect_from(second, endpoint, 0, two->port), SPEC_ND_PENDING);
    peer = accept_next(one);
    peer_two = accept_next(two);
    complete(first, peer);
    complete(second, peer_two);
    assert_int_equal(port_of(first->connector, false), port);
    assert_int_equal(port_of(second->connector, false), port);
    assert_int_equal(port_of(peer->connector, true), port);
    assert_int_equal(port_of(peer_two->connector, true), port);
    nd_object_unpin(&endpoint->object); /* the connectors have it still */
    assert_null(make_endpoint(port, SPEC_ND_SHARING_VIOLATION));
    drop_end(first);
    assert_null(make_endpoint(port, SPEC_ND_SHARING_VIOLATION));
    drop_end(second);
    assert_true(SETTLES(listen_on(other, port) == 0));
    drop_end(third);
    drop_end(peer);
    drop_end(peer_two);
    nd_listener_close(&other->core);
    nd_listener_close(&one->core);
    nd_listener_close(&two->core);
}

static void test_an_endpoint_is_on_the_adapter(void **state)
{
    struct nd_endpoint *endpoint = nd_object_alloc(sizeof(*endpoint));
    struct sockaddr_storage any = { .ss_family = AF_INET };
    struct server *server = start_server();

    (void)state;
    assert_int_equal((uint32_t)nd_endpoint_init(endpoint, adapter, (struct sockaddr *)&any,
                         sizeof(struct sockaddr_in), endpoint_gone),
        SPEC_ND_INVALID_ADDRESS);
    assert_int_equal((uint32_t)nd_endpoint_init(endpoint, adapter, NULL, 0, endpoint_gone),
        SPEC_ND_INVALID_ADDRESS);
    free(endpoint);
    assert_null(make_endpoint(server->port, SPEC_ND_SHARING_VIOLATION));
    nd_listener_close(&server->core);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_adapter, close_adapter)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_the_end_is_told_once_to_the_other_side),
        TEST(test_closing_tells_the_peer),
        TEST(test_accept_ends_before_the_connection_does),
        TEST(test_a_failed_accept_tells_nothing),
        TEST(test_a_failed_request_ends_the_connection),
        TEST(test_a_failed_queue_pair_ends_the_connection),
        TEST(test_data_and_limits_stay_until_the_end),
        TEST(test_a_rejects_data_stay),
        TEST(test_a_paused_listener_refuses),
        TEST(test_no_memory_for_a_connector_refuses),
        TEST(test_closing_a_request_rejects_it),
        TEST(test_a_closed_listener_leaves_its_connections),
        TEST(test_a_port_has_one_owner),
        TEST(test_connecting_needs_an_address_of_the_adapter),
        TEST(test_a_shared_endpoint_reaches_several_peers),
        TEST(test_an_endpoint_is_on_the_adapter),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
