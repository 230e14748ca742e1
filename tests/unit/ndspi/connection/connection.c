/* SPDX-License-Identifier: MIT */
#include "tests/unit/ndspi/connection/connection.h"

#include "tests/support/settle.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

struct sockaddr_in loopback(USHORT port_be)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = port_be, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)
    };
}

static IND2Adapter *open_adapter(void)
{
    struct sockaddr_in address = loopback(0);
    IND2Adapter *adapter = NULL;
    IND2Provider *provider = NULL;
    UINT64 id = 0;

    assert_int_equal(
        DllGetClassObject(&CLSID_NDSPI_PROVIDER_V2, &IID_IND2Provider, (void **)&provider), OK);
    assert_int_equal(
        CALL(provider, ResolveAddress, (struct sockaddr *)&address, sizeof(address), &id), OK);
    assert_int_equal(CALL(provider, OpenAdapter, &IID_IND2Adapter, id, (void **)&adapter), OK);
    assert_int_equal(CALL(provider, Release), 1); /* the adapter's */
    return adapter;
}

void side_new_qp(struct side *side)
{
    RELEASE(side->qp);
    assert_int_equal(
        CALL(side->adapter, CreateQueuePair, &IID_IND2QueuePair, (IUnknown *)side->cq,
            (IUnknown *)side->cq, side, QUEUE_DEPTH, QUEUE_DEPTH, 1, 1, 0, (void **)&side->qp),
        OK);
}

void side_new_connector(struct side *side)
{
    RELEASE(side->connector);
    assert_int_equal(CALL(side->adapter, CreateConnector, &IID_IND2Connector, side->file,
                         (void **)&side->connector),
        OK);
}

IND2Listener *side_new_listener(struct side *side)
{
    IND2Listener *listener = NULL;

    assert_int_equal(
        CALL(side->adapter, CreateListener, &IID_IND2Listener, side->file, (void **)&listener), OK);
    return listener;
}

void side_open(struct side *side)
{
    memset(side, 0, sizeof(*side));
    side->adapter = open_adapter();
    assert_int_equal(CALL(side->adapter, CreateOverlappedFile, &side->file), OK);
    assert_int_equal(CALL(side->adapter, CreateCompletionQueue, &IID_IND2CompletionQueue,
                         side->file, 4 * QUEUE_DEPTH, 0, 0, (void **)&side->cq),
        OK);
    side_new_qp(side);
    side_new_connector(side);
}

static void close_event(OVERLAPPED *overlapped)
{
    if (overlapped->hEvent)
        CloseHandle(overlapped->hEvent);
    overlapped->hEvent = NULL;
}

void side_close(struct side *side)
{
    RELEASE(side->connector);
    RELEASE(side->qp);
    RELEASE(side->cq);
    CloseHandle(side->file);
    RELEASE(side->adapter);
    for (unsigned i = 0; i < REQUESTS; i++)
        close_event(&side->requests[i].overlapped);
}

int pair_set_up(void **state)
{
    struct pair *pair = calloc(1, sizeof(*pair));
    ULONG length = sizeof(pair->listening);

    assert_non_null(pair);
    side_open(&pair->active);
    side_open(&pair->passive);
    pair->listener = side_new_listener(&pair->passive);
    pair->listening = loopback(0);
    assert_int_equal(
        CALL(pair->listener, Bind, (struct sockaddr *)&pair->listening, sizeof(pair->listening)),
        OK);
    assert_int_equal(
        CALL(pair->listener, GetLocalAddress, (struct sockaddr *)&pair->listening, &length), OK);
    assert_int_equal(CALL(pair->listener, Listen, 0), OK);
    *state = pair;
    return 0;
}

int pair_tear_down(void **state)
{
    struct pair *pair = *state;

    side_close(&pair->active);
    RELEASE(pair->listener);
    side_close(&pair->passive);
    close_event(&pair->get.overlapped);
    free(pair);
    /* An adapter may end on a thread of the library's. */
    return !SETTLES(DllCanUnloadNow() == S_OK);
}

OVERLAPPED *fresh_request(struct request *request)
{
    OVERLAPPED *overlapped = &request->overlapped;
    HANDLE event = overlapped->hEvent ? overlapped->hEvent : CreateEventA(NULL, TRUE, FALSE, NULL);

    assert_non_null(event);
    memset(overlapped, 0, sizeof(*overlapped));
    overlapped->hEvent = event;
    return overlapped;
}

OVERLAPPED *fresh(struct side *side, unsigned n)
{
    return fresh_request(&side->requests[n]);
}

HRESULT ended(void *object, HRESULT hr, OVERLAPPED *overlapped)
{
    IND2Overlapped *owner = object;

    if (hr != PENDING)
        return hr;
    assert_int_equal(WaitForSingleObject(overlapped->hEvent, DEADLINE_MS), WAIT_OBJECT_0);
    return CALL(owner, GetOverlappedResult, overlapped, FALSE);
}

BOOL running(struct side *side, unsigned n)
{
    return WaitForSingleObject(side->requests[n].overlapped.hEvent, 0) == WAIT_TIMEOUT;
}

HRESULT bind_to(struct side *side, USHORT port_be)
{
    struct sockaddr_in address = loopback(port_be);

    return CALL(side->connector, Bind, (struct sockaddr *)&address, sizeof(address));
}

HRESULT connect_to(struct side *side, const struct sockaddr_in *to, const void *data, ULONG octets)
{
    OVERLAPPED *overlapped = fresh(side, 0);

    return ended(side->connector,
        CALL(side->connector, Connect, (IUnknown *)side->qp, (const struct sockaddr *)to,
            sizeof(*to), 4, 4, data, octets, overlapped),
        overlapped);
}

HRESULT connect_begin(struct pair *pair)
{
    struct side *side = &pair->active;

    return CALL(side->connector, Connect, (IUnknown *)side->qp, (struct sockaddr *)&pair->listening,
        sizeof(pair->listening), 4, 4, NULL, 0, fresh(side, 0));
}

HRESULT complete_connect(struct side *side)
{
    OVERLAPPED *overlapped = fresh(side, 0);

    return ended(side->connector, CALL(side->connector, CompleteConnect, overlapped), overlapped);
}

HRESULT get_request(struct pair *pair)
{
    OVERLAPPED *overlapped = fresh_request(&pair->get);

    return ended(pair->listener,
        CALL(pair->listener, GetConnectionRequest, (IUnknown *)pair->passive.connector, overlapped),
        overlapped);
}

HRESULT accept_begin(struct side *side, const void *data, ULONG octets)
{
    return CALL(side->connector, Accept, (IUnknown *)side->qp, 4, 4, data, octets, fresh(side, 0));
}

HRESULT disconnect(struct side *side)
{
    OVERLAPPED *overlapped = fresh(side, 0);

    return ended(side->connector, CALL(side->connector, Disconnect, overlapped), overlapped);
}

void reach_request(struct pair *pair)
{
    assert_int_equal(bind_to(&pair->active, 0), OK);
    assert_int_equal(connect_begin(pair), PENDING);
    assert_int_equal(get_request(pair), OK);
}

void reach_reply(struct pair *pair)
{
    reach_request(pair);
    assert_int_equal(accept_begin(&pair->passive, NULL, 0), PENDING);
    assert_int_equal(
        ended(pair->active.connector, PENDING, &pair->active.requests[0].overlapped), OK);
}

void reach_connected(struct pair *pair)
{
    reach_reply(pair);
    assert_int_equal(complete_connect(&pair->active), OK);
    assert_int_equal(
        ended(pair->passive.connector, PENDING, &pair->passive.requests[0].overlapped), OK);
}

void results(struct side *side, ND2_RESULT *out, unsigned count)
{
    uint64_t deadline_ms = clock_now_ms() + DEADLINE_MS;
    unsigned have = 0;

    while ((have += CALL(side->cq, GetResults, out + have, count - have)) < count) {
        OVERLAPPED *overlapped = fresh(side, REQUESTS - 1);
        HRESULT hr = CALL(side->cq, Notify, ND_CQ_NOTIFY_ANY, overlapped);

        assert_true(clock_now_ms() < deadline_ms);
        assert_int_equal(ended(side->cq, hr, overlapped), OK);
    }
}

HRESULT accept_ended(struct pair *pair)
{
    return ended(pair->passive.connector, PENDING, &pair->passive.requests[0].overlapped);
}

HRESULT connect_ended(struct pair *pair)
{
    return ended(pair->active.connector, PENDING, &pair->active.requests[0].overlapped);
}

void post_receives(struct side *side, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(CALL(side->qp, Receive, (void *)(uintptr_t)(i + 1), NULL, 0), OK);
}

void assert_receives_canceled(struct side *side, unsigned count)
{
    ND2_RESULT flushed[QUEUE_DEPTH];

    results(side, flushed, count);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(flushed[i].Status, CANCELED);
        assert_ptr_equal(flushed[i].RequestContext, (void *)(uintptr_t)(i + 1));
    }
}
