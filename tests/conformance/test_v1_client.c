/* SPDX-License-Identifier: MIT */
/*
 * test_v1_client.c - the whole conversation of a message-passing library over version 1, in its own order: ports and
 * packets for everything, one queue for both directions, windows for large messages, a retry after a lost race.
 */
#include "fixture_v1.h"

enum { RECEIVES = 64, SENDS = 16, MESSAGE = 256, PROTOCOL = 123, LARGE = 40000 };

/* What the library hangs behind each result; its callbacks find it by the pointer. */
struct transfer {
    ND_RESULT result;
    enum { RECEIVED, SENT, BOUND, FETCHED, TAKEN_BACK } kind;
    BYTE *buffer;
    bool done;
    SIZE_T octets;
};

/* What it sends with Connect: 28 octets. */
struct business_card {
    BYTE octets[28];
};

struct peer {
    INDAdapter *adapter;
    HANDLE port;
    INDCompletionQueue *cq;
    INDListen *listen;
    INDConnector *connector;
    INDEndpoint *endpoint;
    ND_ADAPTER_INFO1 info;
    struct address address; /* with the port it listens at */
    BYTE *memory;           /* of the messages */
    ND_MR_HANDLE handle;
    struct transfer receives[RECEIVES], sends[SENDS], other[4];
    OVERLAPPED request, connect, disconnect;
};

static struct packet take(struct peer *peer, OVERLAPPED *what)
{
    struct packet packet = take_packet(peer->port, DEADLINE_MS);
    expect_pointer(what, packet.overlapped);
    return packet;
}

/* A synchronous call on a file with a port: tagged event, no packet. */
static ND_MR_HANDLE register_now(struct peer *peer, void *memory, SIZE_T length)
{
    struct op *op = new_op_tagged();
    ND_MR_HANDLE handle = NULL;
    SIZE_T octets = 9;
    HRESULT hr = CALL(peer->adapter, RegisterMemory, memory, length, &op->overlapped, &handle);
    if (hr == ND_PENDING)
        hr = CALL(peer->adapter, GetOverlappedResult, &op->overlapped, &octets, TRUE);
    expect_status(ND_SUCCESS, hr);
    return handle;
}

static void start(struct peer *peer, struct address address)
{
    SIZE_T size = sizeof(peer->info);
    expect_status(ND_SUCCESS, NdOpenV1Adapter(&address.any, address.length, &peer->adapter));
    keep_object(peer->adapter);
    expect_status(ND_SUCCESS, CALL(peer->adapter, Query, 1, &peer->info, &size));
    SIZE_T reads = peer->info.MaxInboundReadLimit < 8 ? peer->info.MaxInboundReadLimit : 8;
    expect_true(peer->info.MaxCqEntries >= RECEIVES + SENDS + 3 * reads);
    peer->port = new_port();
    attach(peer->port, CALL(peer->adapter, GetFileHandle), 1);
    expect_status(ND_SUCCESS,
        CALL(peer->adapter, CreateCompletionQueue, RECEIVES + SENDS + 3 * reads, &peer->cq));
    keep_object(peer->cq);
    peer->memory = keep_memory((RECEIVES + SENDS) * MESSAGE);
    peer->handle = register_now(peer, peer->memory, (RECEIVES + SENDS) * MESSAGE);
    USHORT port = 0;
    expect_status(ND_SUCCESS, CALL(peer->adapter, Listen, 0, PROTOCOL, 0, &port, &peer->listen));
    keep_object(peer->listen);
    peer->address = with_port(address, ntohs(port));
}

static INDConnector *fresh_connector(struct peer *peer)
{
    INDConnector *connector = NULL;
    expect_status(ND_SUCCESS, CALL(peer->adapter, CreateConnector, &connector));
    keep_object(connector);
    return connector;
}

static void expect_request(struct peer *peer)
{
    peer->connector = fresh_connector(peer);
    expect_true(
        SUCCEEDED(CALL(peer->listen, GetConnectionRequest, peer->connector, &peer->request)));
}

static void receive(struct peer *peer, int i)
{
    struct transfer *t = &peer->receives[i];
    ND_SGE sge = { peer->memory + i * MESSAGE, MESSAGE, peer->handle };
    *t = (struct transfer){ .kind = RECEIVED, .buffer = sge.pAddr };
    expect_status(ND_SUCCESS, CALL(peer->endpoint, Receive, &t->result, &sge, 1));
}

static void make_endpoint(struct peer *peer)
{
    expect_status(ND_SUCCESS, CALL(peer->connector, CreateEndpoint, peer->cq, peer->cq, RECEIVES,
                                  SENDS, 1, 1, 8, 8, NULL, &peer->endpoint));
    keep_object(peer->endpoint);
    CALL(peer->endpoint, StartRequestBatch);
    for (int i = 0; i < RECEIVES; i++)
        receive(peer, i);
    CALL(peer->endpoint, SubmitRequestBatch);
}

/* Every send waits for the Reads before it. */
static struct transfer *send_octets(struct peer *peer, int i, const void *octets, SIZE_T length)
{
    struct transfer *t = &peer->sends[i];
    BYTE *at = peer->memory + (RECEIVES + i) * MESSAGE;
    ND_SGE sge = { at, length, peer->handle };
    *t = (struct transfer){ .kind = SENT, .buffer = at };
    memcpy(at, octets, length);
    expect_status(
        ND_SUCCESS, CALL(peer->endpoint, Send, &t->result, &sge, 1, ND_OP_FLAG_READ_FENCE));
    return t;
}

/* GetResults one by one; going idle, a Notify is armed and the queue looked at once more. */
static struct transfer *progress(struct peer *peer, HRESULT status)
{
    ND_RESULT *result = NULL;
    struct op *op = new_op_without_event();
    while (CALL(peer->cq, GetResults, &result, 1) == 0) {
        expect_status(ND_PENDING, CALL(peer->cq, Notify, ND_CQ_NOTIFY_ANY, &op->overlapped));
        bool found = CALL(peer->cq, GetResults, &result, 1) == 1;
        if (found)
            CALL(peer->cq, CancelOverlappedRequests);
        take(peer, &op->overlapped);
        if (found)
            break;
    }
    struct transfer *t = (struct transfer *)result;
    expect_status(status, t->result.Status);
    t->done = true;
    t->octets = t->result.BytesTransferred;
    return t;
}

static struct transfer *progress_until(struct peer *peer, struct transfer *wanted)
{
    while (!wanted->done)
        progress(peer, ND_SUCCESS);
    return wanted;
}

/* Both sides connect; the one of higher rank refuses and is connected to. */
static void lose_the_race(struct peer *low, struct peer *high)
{
    struct business_card card, got;
    SIZE_T in = 0, out = 0, length = sizeof(got);
    struct address from;
    SIZE_T from_length = sizeof(from.v6);
    expect_request(low);
    INDConnector *asked = low->connector;
    low->connector = fresh_connector(low);
    make_endpoint(low);
    expect_request(high);
    fill(card.octets, sizeof(card), 1);
    expect_true(SUCCEEDED(CALL(low->connector, Connect, low->endpoint, &high->address.any,
        high->address.length, PROTOCOL, 0, &card, sizeof(card), &low->connect)));
    expect_true(take(high, &high->request).ok);
    HRESULT hr = CALL(high->connector, GetConnectionData, &in, &out, &got, &length);
    expect_one_of(hr, ND_SUCCESS, ND_BUFFER_OVERFLOW); /* transports may pad */
    expect_equal(0, memcmp(&card, &got, sizeof(card)));
    expect_equal(8, in);
    expect_equal(8, out);
    expect_status(ND_SUCCESS, CALL(high->connector, GetPeerAddress, &from.any, &from_length));
    expect_true(same_ip(&from, &low->address));
    expect_status(ND_SUCCESS, CALL(high->connector, Reject, NULL, 0));
    struct packet packet = take(low, &low->connect);
    expect_equal(1225, packet.error); /* ERROR_CONNECTION_REFUSED */
    SIZE_T octets = 5;
    expect_status(ND_CONNECTION_REFUSED,
        CALL(low->connector, GetOverlappedResult, &low->connect, &octets, FALSE));
    expect_equal(0, octets);
    expect_equal(0, release_kept(high->connector));
    expect_equal(0, release_kept(low->endpoint));
    /* Its Receives are canceled, without a call for that. */
    for (int i = 0; i < RECEIVES; i++)
        expect_pointer(&low->receives[i], progress(low, ND_CANCELED));
    expect_equal(0, release_kept(low->connector));
    low->connector = asked; /* still waits for a request */
}

static void win_the_race(struct peer *low, struct peer *high)
{
    struct business_card card, got;
    SIZE_T length = sizeof(got);
    BYTE code = 0, one = 0xA7;
    OVERLAPPED accept;
    memset(&accept, 0, sizeof(accept));
    high->connector = fresh_connector(high);
    make_endpoint(high);
    fill(card.octets, sizeof(card), 2);
    expect_true(SUCCEEDED(CALL(high->connector, Connect, high->endpoint, &low->address.any,
        low->address.length, PROTOCOL, 0, &card, sizeof(card), &high->connect)));
    expect_true(take(low, &low->request).ok);
    expect_true(SUCCEEDED(CALL(low->connector, GetConnectionData, NULL, NULL, &got, &length)) ||
                length >= sizeof(card));
    make_endpoint(low);
    expect_true(SUCCEEDED(CALL(low->connector, Accept, low->endpoint, &one, 1, &accept)));
    expect_true(take(high, &high->connect).ok);
    length = 1;
    expect_one_of(CALL(high->connector, GetConnectionData, NULL, NULL, &code, &length), ND_SUCCESS,
        ND_BUFFER_OVERFLOW);
    expect_true(length >= 1);
    expect_equal(0xA7, code);
    expect_true(SUCCEEDED(CALL(high->connector, CompleteConnect, &high->connect)));
    expect_true(take(high, &high->connect).ok); /* a packet, pending or not */
    expect_true(take(low, &accept).ok);
}

/* Every receive is there, used in order, and posted again. */
static void small_messages(struct peer *from, struct peer *to, int count)
{
    for (int i = 0; i < count; i++) {
        BYTE text[MESSAGE];
        fill(text, MESSAGE, (unsigned)i);
        struct transfer *sent = send_octets(from, i % SENDS, text, 1 + (SIZE_T)i % MESSAGE);
        struct transfer *got = progress(to, ND_SUCCESS);
        expect_equal(RECEIVED, got->kind);
        expect_equal(1 + i % MESSAGE, got->octets);
        expect_filled(got->buffer, got->octets, (unsigned)i);
        receive(to, (int)(got - to->receives));
        progress_until(from, sent);
    }
}

/* Rendezvous: a read-only window, its descriptor at an odd place of the message, fetched in two parts, taken back. */
static void large_message(struct peer *from, struct peer *to)
{
    BYTE *data = keep_memory(LARGE), *into = keep_memory(LARGE), envelope[64];
    ND_MR_HANDLE source = register_now(from, data, LARGE), target = register_now(to, into, LARGE);
    INDMemoryWindow *window = NULL;
    ND_MW_DESCRIPTOR descriptor;
    struct transfer *bound = &from->other[0], *back = &from->other[1],
                    *fetched[2] = { &to->other[0], &to->other[1] };
    expect_status(ND_SUCCESS, CALL(from->adapter, CreateMemoryWindow, NULL, &window));
    keep_object(window);
    fill(data, LARGE, 7);
    *bound = (struct transfer){ .kind = BOUND };
    expect_status(ND_SUCCESS, CALL(from->endpoint, Bind, &bound->result, source, window, data,
                                  LARGE, ND_OP_FLAG_ALLOW_READ, &descriptor));
    memset(envelope, 0, sizeof(envelope));
    memcpy(envelope + 21, &descriptor, sizeof(descriptor));
    send_octets(from, 0, envelope, sizeof(envelope));
    struct transfer *got = progress(to, ND_SUCCESS);
    const ND_MW_DESCRIPTOR *there = (const void *)(got->buffer + 21);
    expect_equal(LARGE, number_at(got->buffer + 29));
    for (int i = 0; i < 2; i++) {
        ND_SGE sge = { into + i * (LARGE / 2), LARGE / 2, target };
        *fetched[i] = (struct transfer){ .kind = FETCHED };
        expect_status(ND_SUCCESS, CALL(to->endpoint, Read, &fetched[i]->result, &sge, 1, there,
                                      (ULONGLONG)i * (LARGE / 2), 0));
    }
    for (int i = 0; i < 2; i++)
        expect_equal(LARGE / 2, progress_until(to, fetched[i])->octets);
    expect_filled(into, LARGE, 7);
    receive(to, (int)(got - to->receives));
    struct transfer *complete = send_octets(to, 1, "done", 4);
    do
        got = progress(from, ND_SUCCESS);
    while (got->kind != RECEIVED);
    receive(from, (int)(got - from->receives));
    *back = (struct transfer){ .kind = TAKEN_BACK };
    expect_status(ND_SUCCESS, CALL(from->endpoint, Invalidate, &back->result, window, 0));
    progress_until(from, back);
    progress_until(to, complete);
    expect_true(bound->done);
    /* Deregistered from the handler of the last completion: a packet each. */
    OVERLAPPED ov;
    memset(&ov, 0, sizeof(ov));
    expect_true(SUCCEEDED(CALL(from->adapter, DeregisterMemory, source, &ov)));
    expect_true(take(from, &ov).ok);
    expect_true(SUCCEEDED(CALL(to->adapter, DeregisterMemory, target, &ov)));
    expect_true(take(to, &ov).ok);
}

static void finish_conversation(struct peer *low, struct peer *high)
{
    OVERLAPPED gone;
    memset(&gone, 0, sizeof(gone));
    expect_true(SUCCEEDED(CALL(low->connector, NotifyDisconnect, &gone)));
    expect_true(SUCCEEDED(CALL(high->connector, Disconnect, &high->disconnect)));
    expect_true(take(high, &high->disconnect).ok);
    expect_true(take(low, &gone).ok); /* its Receives stay until it disconnects, too */
    expect_true(SUCCEEDED(CALL(low->connector, Disconnect, &low->disconnect)));
    expect_true(take(low, &low->disconnect).ok);
    for (int i = 0; i < RECEIVES; i++) {
        expect_equal(RECEIVED, progress(high, ND_CANCELED)->kind);
        expect_equal(RECEIVED, progress(low, ND_CANCELED)->kind);
    }
    /* At exit listens and queues are cancelled, and all is released without looking. */
    expect_request(high);
    expect_status(ND_SUCCESS, CALL(high->listen, CancelOverlappedRequests));
    expect_equal(SPEC_ERROR_OPERATION_ABORTED, take(high, &high->request).error);
    expect_status(ND_SUCCESS, CALL(high->cq, CancelOverlappedRequests));
}

static void whole_conversation(void)
{
    struct peer *low = keep_memory(sizeof(*low)), *high = keep_memory(sizeof(*high));
    start(low, test_address());
    start(high, peer_address());
    lose_the_race(low, high);
    win_the_race(low, high);
    small_messages(high, low, 300); /* the active side first */
    small_messages(low, high, 300);
    large_message(high, low);
    large_message(low, high);
    finish_conversation(low, high);
}

SUITE(v1_client);
