/* SPDX-License-Identifier: MIT */
#include "tests/unit/ndk/pair.h"

#include <stdlib.h>
#include <string.h>

VOID tell_incoming(PVOID context, NDK_CONNECTOR *connector)
{
    tell_create(context, 0, &connector->Header);
}

VOID tell_disconnect(PVOID context)
{
    tell_request(context, 0);
}

VOID tell_disconnect_ex(PVOID context, ULONG reason)
{
    tell_request(context, (NTSTATUS)reason);
}

NDK_CONNECTOR *connector_create(NDK_ADAPTER *adapter)
{
    struct told told;
    NDK_CONNECTOR *connector = NULL;

    told_init(&told);
    connector = made(&told,
        adapter->Dispatch->NdkCreateConnector(adapter, tell_create, &told, &connector), &connector);
    assert_non_null(connector);
    assert_int_equal(connector->Header.ObjectType, 8);
    return connector;
}

NDK_LISTENER *listener_create(NDK_ADAPTER *adapter, struct told *incoming)
{
    struct told told;
    NDK_LISTENER *listener = NULL;

    told_init(&told);
    told_init(incoming);
    listener = made(&told,
        adapter->Dispatch->NdkCreateListener(
            adapter, tell_incoming, incoming, tell_create, &told, &listener),
        &listener);
    assert_non_null(listener);
    assert_int_equal(listener->Header.ObjectType, 9);
    return listener;
}

void side_open(struct side *side, struct sockaddr_in address)
{
    side->adapter = adapter_open_at(&address, newest_version().Major, newest_version().Minor);
    side->pd = pd_create(side->adapter);
    side->receive_cq = cq_create(side->adapter, 64, &side->received);
    side->initiator_cq = cq_create(side->adapter, 64, &side->initiated);
    side->qp = qp_create(side->pd, side->receive_cq, side->initiator_cq, side);
    assert_int_equal(posix_memalign((void **)&side->memory, 4096, MEMORY), 0);
    memset(side->memory, 0, MEMORY);
    side->mr = mr_register(side->pd, side->memory, MEMORY,
        NDK_MR_FLAG_ALLOW_REMOTE_READ | NDK_MR_FLAG_ALLOW_REMOTE_WRITE |
            NDK_MR_FLAG_RDMA_READ_SINK);
    side->token = side->mr->Dispatch->NdkGetLocalTokenFromMr(side->mr);
    side->remote_token = side->mr->Dispatch->NdkGetRemoteTokenFromMr(side->mr);
    told_init(&side->request);
    told_init(&side->disconnect);
}

void side_close(struct side *side)
{
    if (side->closed) {
        free(side->memory);
        return;
    }
    if (side->connector)
        close_connector(side->connector);
    if (side->qp)
        close_qp(side->qp);
    close_mr(side->mr);
    free(side->memory);
    close_cq(side->receive_cq);
    close_cq(side->initiator_cq);
    close_pd(side->pd);
}

void pair_open(struct pair *pair)
{
    struct sockaddr_in any_port = peer_address(0);
    ULONG length = sizeof(pair->address);
    struct told told;

    memset(pair, 0, sizeof(*pair));
    side_open(&pair->active, own_address(0));
    side_open(&pair->passive, peer_address(0));
    pair->active.connector = connector_create(pair->active.adapter);
    pair->listener = listener_create(pair->passive.adapter, &pair->incoming);
    told_init(&told);
    assert_int_equal(
        ended(&told, pair->listener->Dispatch->NdkListen(pair->listener, (SOCKADDR *)&any_port,
                         sizeof(any_port), tell_request, &told)),
        0);
    assert_int_equal(pair->listener->Dispatch->NdkGetLocalAddress(
                         pair->listener, (SOCKADDR *)&pair->address, &length),
        0);
    assert_int_equal(length, sizeof(struct sockaddr_in));
    assert_int_not_equal(pair->address.sin_port, 0);
}

void pair_close(struct pair *pair)
{
    side_close(&pair->active);
    side_close(&pair->passive);
    if (pair->listener)
        close_listener(pair->listener);
    NdklCloseAdapter(pair->active.adapter);
    NdklCloseAdapter(pair->passive.adapter);
}

int pair_set_up(void **state)
{
    struct pair *pair = malloc(sizeof(*pair));

    assert_non_null(pair);
    pair_open(pair);
    *state = pair;
    return 0;
}

int pair_set_up_connected(void **state)
{
    pair_set_up(state);
    pair_connect(*state);
    return 0;
}

int pair_tear_down(void **state)
{
    pair_close(*state);
    free(*state);
    return 0;
}

/* ---- connecting ---- */

NTSTATUS start_connect(
    struct side *side, const struct sockaddr_in *to, const void *data, ULONG length)
{
    struct sockaddr_in from = own_address(0);

    return side->connector->Dispatch->NdkConnect(side->connector, side->qp, (SOCKADDR *)&from,
        sizeof(from), (SOCKADDR *)to, sizeof(*to), 4, 8, (void *)data, length, tell_request,
        &side->request);
}

void take_incoming(struct pair *pair)
{
    told_wait(&pair->incoming);
    assert_int_equal(pair->incoming.level, 2);
    pair->passive.connector = (NDK_CONNECTOR *)pair->incoming.object;
    assert_int_equal(pair->passive.connector->Header.ObjectType, 8);
    assert_int_equal(pair->passive.connector->Header.Version.Major, newest_version().Major);
}

NTSTATUS start_accept(struct side *side, const void *data, ULONG length)
{
    return side->connector->Dispatch->NdkAccept(side->connector, side->qp, 16, 2, (void *)data,
        length, tell_disconnect, &side->disconnect, tell_request, &side->request);
}

NTSTATUS start_complete(struct side *side)
{
    return side->connector->Dispatch->NdkCompleteConnect(
        side->connector, tell_disconnect, &side->disconnect, tell_request, &side->request);
}

NTSTATUS start_disconnect(struct side *side)
{
    return side->connector->Dispatch->NdkDisconnect(side->connector, tell_request, &side->request);
}

NTSTATUS outcome(struct side *side)
{
    told_wait(&side->request);
    assert_int_equal(side->request.level, 2);
    return side->request.status;
}

void pair_connect(struct pair *pair)
{
    assert_int_equal(start_connect(&pair->active, &pair->address, NULL, 0), SPEC_STATUS_PENDING);
    take_incoming(pair);
    assert_int_equal(start_accept(&pair->passive, NULL, 0), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    assert_int_equal(start_complete(&pair->active), SPEC_STATUS_PENDING);
    assert_int_equal(outcome(&pair->active), 0);
    assert_int_equal(outcome(&pair->passive), 0);
}
