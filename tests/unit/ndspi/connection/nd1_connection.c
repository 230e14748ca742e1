/* SPDX-License-Identifier: MIT */
#include "tests/unit/ndspi/connection/nd1_connection.h"

#include "tests/support/settle.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

enum { PROTOCOL = 123 }; /* of a known program; not looked at */

INDAdapter *nd1_open_adapter(void)
{
    struct sockaddr_in address = loopback(htons(4711));
    INDProvider *provider = NULL;
    INDAdapter *adapter = NULL;

    assert_int_equal(
        DllGetClassObject(&CLSID_NDSPI_PROVIDER_V1, &IID_INDProvider, (void **)&provider), OK);
    assert_int_equal(
        CALL(provider, OpenAdapter, (struct sockaddr *)&address, sizeof(address), &adapter), OK);
    assert_int_equal(CALL(provider, Release), 1); /* the adapter's */
    return adapter;
}

void nd1_new_connector(struct nd1_end *end)
{
    RELEASE(end->connector);
    assert_int_equal(CALL(end->adapter, CreateConnector, &end->connector), OK);
}

void nd1_new_endpoint(struct nd1_end *end)
{
    RELEASE(end->endpoint);
    assert_int_equal(CALL(end->connector, CreateEndpoint, end->cq, end->cq, QUEUE_DEPTH,
                         QUEUE_DEPTH, 1, 1, 4, 4, NULL, &end->endpoint),
        OK);
}

INDListen *nd1_listen(struct nd1_end *end, USHORT *port_be)
{
    INDListen *listen = NULL;

    assert_int_equal(CALL(end->adapter, Listen, 0, PROTOCOL, *port_be, port_be, &listen), OK);
    return listen;
}

void nd1_end_open(struct nd1_end *end)
{
    memset(end, 0, sizeof(*end));
    end->adapter = nd1_open_adapter();
    assert_int_equal(CALL(end->adapter, CreateCompletionQueue, 4 * QUEUE_DEPTH, &end->cq), OK);
    nd1_new_connector(end);
    nd1_new_endpoint(end);
}

static void close_event(OVERLAPPED *overlapped)
{
    if (overlapped->hEvent)
        CloseHandle(overlapped->hEvent);
    overlapped->hEvent = NULL;
}

void nd1_end_close(struct nd1_end *end)
{
    RELEASE(end->connector);
    RELEASE(end->endpoint);
    RELEASE(end->cq);
    RELEASE(end->adapter);
    for (unsigned i = 0; i < REQUESTS; i++)
        close_event(&end->requests[i].overlapped);
}

int nd1_pair_set_up(void **state)
{
    struct nd1_pair *pair = calloc(1, sizeof(*pair));

    assert_non_null(pair);
    nd1_end_open(&pair->active);
    nd1_end_open(&pair->passive);
    pair->listening = loopback(0);
    pair->listen = nd1_listen(&pair->passive, &pair->listening.sin_port);
    assert_int_not_equal(pair->listening.sin_port, 0);
    *state = pair;
    return 0;
}

int nd1_pair_tear_down(void **state)
{
    struct nd1_pair *pair = *state;

    nd1_end_close(&pair->active);
    RELEASE(pair->listen);
    nd1_end_close(&pair->passive);
    close_event(&pair->get.overlapped);
    free(pair);
    /* An adapter may end on a thread of the library's. */
    return !SETTLES(DllCanUnloadNow() == S_OK);
}

OVERLAPPED *nd1_fresh(struct nd1_end *end, unsigned n)
{
    return fresh_request(&end->requests[n]);
}

HRESULT nd1_ended(void *object, HRESULT hr, OVERLAPPED *overlapped)
{
    INDOverlapped *owner = object;
    SIZE_T octets = ~(SIZE_T)0;

    if (hr != PENDING)
        return hr;
    assert_int_equal(WaitForSingleObject(overlapped->hEvent, DEADLINE_MS), WAIT_OBJECT_0);
    hr = CALL(owner, GetOverlappedResult, overlapped, &octets, FALSE);
    assert_int_equal(octets, 0);
    return hr;
}

BOOL nd1_running(struct nd1_end *end, unsigned n)
{
    return WaitForSingleObject(end->requests[n].overlapped.hEvent, 0) == WAIT_TIMEOUT;
}

HRESULT nd1_connect_begin(
    struct nd1_end *end, const struct sockaddr_in *to, const void *data, SIZE_T octets)
{
    return CALL(end->connector, Connect, end->endpoint, (const struct sockaddr *)to, sizeof(*to),
        PROTOCOL, 0, data, octets, nd1_fresh(end, 0));
}

HRESULT nd1_connected(struct nd1_end *end)
{
    return nd1_ended(end->connector, PENDING, &end->requests[0].overlapped);
}

HRESULT nd1_connect(struct nd1_end *end, const struct sockaddr_in *to)
{
    HRESULT hr = nd1_connect_begin(end, to, NULL, 0);

    return hr == PENDING ? nd1_connected(end) : hr;
}

HRESULT nd1_complete_connect(struct nd1_end *end)
{
    OVERLAPPED *overlapped = nd1_fresh(end, 0);

    return nd1_ended(end->connector, CALL(end->connector, CompleteConnect, overlapped), overlapped);
}

HRESULT nd1_get_request(struct nd1_pair *pair)
{
    OVERLAPPED *overlapped = fresh_request(&pair->get);

    return nd1_ended(pair->listen,
        CALL(pair->listen, GetConnectionRequest, pair->passive.connector, overlapped), overlapped);
}

HRESULT nd1_accept_begin(struct nd1_end *end, const void *data, SIZE_T octets)
{
    return CALL(end->connector, Accept, end->endpoint, data, octets, nd1_fresh(end, 0));
}

HRESULT nd1_disconnect(struct nd1_end *end)
{
    OVERLAPPED *overlapped = nd1_fresh(end, 0);

    return nd1_ended(end->connector, CALL(end->connector, Disconnect, overlapped), overlapped);
}

void nd1_reach_request(struct nd1_pair *pair)
{
    assert_int_equal(nd1_connect_begin(&pair->active, &pair->listening, NULL, 0), PENDING);
    assert_int_equal(nd1_get_request(pair), OK);
}

void nd1_reach_reply(struct nd1_pair *pair)
{
    nd1_reach_request(pair);
    assert_int_equal(nd1_accept_begin(&pair->passive, NULL, 0), PENDING);
    assert_int_equal(nd1_connected(&pair->active), OK);
}

void nd1_reach_connected(struct nd1_pair *pair)
{
    nd1_reach_reply(pair);
    assert_int_equal(nd1_complete_connect(&pair->active), OK);
    assert_int_equal(nd1_connected(&pair->passive), OK);
}

HRESULT nd1_accept_ended(struct nd1_pair *pair)
{
    return nd1_connected(&pair->passive);
}
