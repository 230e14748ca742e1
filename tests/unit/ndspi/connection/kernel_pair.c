/* SPDX-License-Identifier: MIT */
#include "tests/unit/ndspi/connection/kernel_pair.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

enum { NEVER = 1 }; /* no status of a request */

/* ---- requests ---- */

static atomic_uint turns;

static void request_ends(struct nd_call *call, HRESULT status)
{
    struct request *request = container_of(call, struct request, call);

    request->status = (uint32_t)status;
    request->turn = atomic_fetch_add(&turns, 1);
    atomic_fetch_add(&request->ends, 1);
    sem_post(&request->ended);
}

OVERLAPPED *begin(struct request *request)
{
    request->call.end = request_ends;
    atomic_init(&request->ends, 0);
    request->status = NEVER;
    sem_init(&request->ended, 0, 0);
    return nd_call_request(&request->call);
}

void wait_for(sem_t *what)
{
    while (sem_wait(what))
        ;
}

uint32_t end_of(struct request *request)
{
    wait_for(&request->ended);
    assert_int_equal(atomic_load(&request->ends), 1);
    return request->status;
}

/* ---- objects ---- */

struct nd_adapter *adapter;
struct nd_cq *cq;
static atomic_uint adapters;
atomic_uint living_qps;

static void adapter_gone(struct nd_object *object)
{
    nd_adapter_fini((struct nd_adapter *)object);
    free(object);
    atomic_fetch_sub(&adapters, 1);
}

static void cq_gone(struct nd_object *object)
{
    nd_cq_fini((struct nd_cq *)object);
    free(object);
}

static void qp_gone(struct nd_object *object)
{
    nd_qp_fini((struct nd_qp *)object);
    free(object);
    atomic_fetch_sub(&living_qps, 1);
}

static void connector_gone(struct nd_object *object)
{
    nd_connector_fini((struct nd_connector *)object);
    free(object);
}

static void mr_gone(struct nd_object *object)
{
    nd_mr_fini((struct nd_mr *)object);
    free(object);
}

struct sockaddr_storage address_of(uint16_t port)
{
    struct sockaddr_storage address = { 0 };
    struct sockaddr_in *in = (struct sockaddr_in *)&address;

    in->sin_family = AF_INET;
    in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    in->sin_port = htons(port);
    return address;
}

struct nd_cq *make_cq(uint32_t depth)
{
    struct nd_cq *made = nd_object_alloc(sizeof(*made));

    assert_int_equal(nd_cq_init(made, adapter, nd_sink_calls_file(), depth, 0, cq_gone), 0);
    return made;
}

struct nd_mr *make_mr(void *data, size_t length)
{
    struct nd_mr *mr = nd_object_alloc(sizeof(*mr));

    nd_mr_init(mr, adapter, nd_sink_calls_file(), mr_gone);
    assert_int_equal(nd_mr_enter(mr, data, length, ND_MR_FLAG_ALLOW_LOCAL_WRITE), 0);
    return mr;
}

struct nd_qp *make_qp(void)
{
    const struct nd_qp_params params = { .receive_cq = cq,
        .initiator_cq = cq,
        .receive_depth = 4,
        .initiator_depth = 4,
        .receive_sge = 1,
        .initiator_sge = 1 };
    struct nd_qp *qp = nd_object_alloc(sizeof(*qp));

    assert_int_equal(nd_qp_init(qp, adapter, &params, qp_gone), 0);
    atomic_fetch_add(&living_qps, 1);
    return qp;
}

struct nd_connector *make_connector(void)
{
    struct nd_connector *connector = nd_object_alloc(sizeof(*connector));

    nd_connector_init(connector, adapter, nd_sink_calls_file(), connector_gone);
    return connector;
}

uint16_t port_of(struct nd_connector *connector, bool peer)
{
    struct sockaddr_in in;
    size_t length = sizeof(in);

    assert_int_equal(
        peer ? nd_connector_get_peer_address(connector, (struct sockaddr *)&in, &length)
             : nd_connector_get_local_address(connector, (struct sockaddr *)&in, &length),
        0);
    return ntohs(in.sin_port);
}

/* ---- a listener and what is delivered to it ---- */

static struct nd_connector *make(struct nd_listener *listener)
{
    struct server *server = (struct server *)listener;

    if (server->no_memory)
        return NULL;
    atomic_fetch_add(&server->made, 1);
    return make_connector();
}

static void deliver(struct nd_listener *listener, struct nd_connector *connector)
{
    struct server *server = (struct server *)listener;

    server->delivered[atomic_fetch_add(&server->count, 1)] = connector;
    sem_post(&server->arrived);
}

static void discard(struct nd_listener *listener, struct nd_connector *connector)
{
    atomic_fetch_add(&((struct server *)listener)->discarded, 1);
    nd_connector_close(connector);
}

static const struct nd_listener_ops server_ops = {
    .make = make, .deliver = deliver, .discard = discard
};

static void listener_gone(struct nd_object *object)
{
    nd_listener_fini((struct nd_listener *)object);
    free(object);
}

uint32_t listen_on(struct server *server, uint16_t port)
{
    struct sockaddr_storage address = address_of(port);
    struct sockaddr_in in;
    size_t length = sizeof(in);
    HRESULT hr =
        nd_listener_bind(&server->core, (struct sockaddr *)&address, sizeof(struct sockaddr_in));

    if (FAILED(hr))
        return (uint32_t)hr;
    assert_int_equal(
        nd_listener_get_local_address(&server->core, (struct sockaddr *)&in, &length), 0);
    server->port = ntohs(in.sin_port);
    return (uint32_t)nd_listener_listen(&server->core, 0);
}

struct server *new_server(void)
{
    struct server *server = nd_object_alloc(sizeof(*server));

    nd_listener_init(&server->core, adapter, nd_sink_calls_file(), listener_gone);
    nd_listener_deliver_to(&server->core, &server_ops);
    sem_init(&server->arrived, 0, 0);
    return server;
}

struct server *start_server(void)
{
    struct server *server = new_server();

    assert_int_equal(listen_on(server, 0), 0);
    return server;
}

/* ---- connecting ---- */

struct end *new_end(void)
{
    struct end *end = nd_object_alloc(sizeof(*end));

    end->connector = make_connector();
    end->qp = make_qp();
    end->told.status = NEVER;
    return end;
}

void drop_end(struct end *end)
{
    if (end->connector)
        nd_connector_close(end->connector);
    nd_qp_close(end->qp);
    free(end);
}

const char caller_data[6] = "hello", callee_data[8] = "you too";

uint32_t connect_from(struct end *end, struct nd_endpoint *endpoint, uint16_t from, uint16_t to)
{
    struct sockaddr_storage local = address_of(from), destination = address_of(to);
    const struct nd_connect_params params = { .qp = end->qp,
        .inbound = 3,
        .outbound = 5,
        .data = caller_data,
        .data_octets = sizeof(caller_data),
        .endpoint = endpoint };

    return (uint32_t)nd_connector_bind_and_connect(end->connector, &local, &params,
        (struct sockaddr *)&destination, sizeof(struct sockaddr_in), begin(&end->step));
}

struct end *accept_next(struct server *server)
{
    struct end *end = nd_object_alloc(sizeof(*end));
    struct nd_connect_params params = {
        .inbound = 4, .outbound = 2, .data = callee_data, .data_octets = sizeof(callee_data)
    };

    wait_for(&server->arrived);
    end->connector = server->delivered[atomic_load(&server->count) - 1];
    params.qp = end->qp = make_qp();
    params.told = begin(&end->told);
    assert_int_equal(
        nd_connector_accept(end->connector, &params, begin(&end->step)), SPEC_ND_PENDING);
    return end;
}

void complete(struct end *end, struct end *peer)
{
    assert_int_equal(end_of(&end->step), 0);
    assert_int_equal(
        nd_connector_complete_connect_telling(end->connector, begin(&end->told), begin(&end->step)),
        SPEC_ND_PENDING);
    assert_int_equal(end_of(&end->step), 0);
    assert_int_equal(end_of(&peer->step), 0);
}

struct pair connect_pair(struct server *server)
{
    struct pair pair = { .active = new_end() };

    assert_int_equal(connect_from(pair.active, NULL, 0, server->port), SPEC_ND_PENDING);
    pair.passive = accept_next(server);
    complete(pair.active, pair.passive);
    return pair;
}

void drop_pair(struct pair pair)
{
    drop_end(pair.active);
    drop_end(pair.passive);
}

/* ---- fixture ---- */

int open_adapter(void **state)
{
    struct sockaddr_storage address = address_of(0);
    struct nd_device *device;

    (void)state;
    assert_int_equal(nd_provider_find(&address, &device), 0);
    adapter = nd_object_alloc(sizeof(*adapter));
    assert_int_equal(
        nd_adapter_init(adapter, device, &nd_dialect_kernel, &nd_sink_calls, adapter_gone), 0);
    atomic_store(&adapters, 1);
    cq = make_cq(64);
    return 0;
}

int close_adapter(void **state)
{
    (void)state;
    nd_cq_close(cq);
    nd_adapter_unpin(adapter);
    return SETTLES(!atomic_load(&adapters)) ? 0 : -1;
}
