/* SPDX-License-Identifier: MIT */
/*
 * nd1pingpong - ndpingpong for version 1 of NetworkDirect, in the manner of a message-passing library.
 *
 * Shows: INDAdapter to INDEndpoint, request batches, results by address, memory windows sent as descriptors.
 *
 * Small messages are sent. For a large one the sender binds a window over it and sends the window's descriptor; the
 * receiver reads the data with it and sends "done"; the sender takes the window back. Every message has a header of one
 * byte, so the descriptor behind it is at an odd address. Each end keeps RECEIVES receives posted, from before the
 * connection on. Results of either direction come from one completion queue and lead to the REQUEST they are part of.
 */
#include "ndsample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RECEIVES = 64,
    SENDS = 16,           /* of all kinds, outstanding */
    MAX_SMALL = 16 << 10, /* of a message that is sent */
    PROTOCOL = 0,         /* the library ignores it */
};

static const char usage[] =
    "usage: nd1pingpong -s ip[:port] [-b|-p] [-t bytes]              on one host, and then\n"
    "       nd1pingpong -c ip[:port] [-b|-p] [-t bytes] [-n rounds] [-m bytes]\n"
    "                                                                on the other, with the "
    "address "
    "of the first\n"
    "  -b  wait for completions asleep     -p  poll for them (default)\n"
    "  -t  longest message that is sent, at most 16384; longer ones are read by the receiver\n"
    "      (default: what the adapter advises)\n"
    "  -n  round trips of each size (default: up to 1000, fewer for larger messages)\n"
    "  -m  largest message in bytes, at most 4194304 (default)\n"
    "  -V  print the version               -h  print this\n"
    "An IPv6 address with a port is written [ip]:port. The default port is 54325.\n"
    "Latency is that of one way: half a round trip.\n";

/* The first byte of a message. */
enum { DATA = 'd', WINDOW = 'w', DONE = 'f' };

#pragma pack(push, 1)
typedef struct _MESSAGE {
    UINT8 kind;
    union {
        ND_MW_DESCRIPTOR descriptor; /* WINDOW */
        unsigned char data[1];       /* DATA */
    };
} MESSAGE;
#pragma pack(pop)

enum { HEADER = 1, WINDOW_SIZE = sizeof(MESSAGE), SLOT_SIZE = HEADER + MAX_SMALL };

typedef struct _REQUEST {
    ND_RESULT result; /* first: the address of a result is that of its request */
    const char *name;
    BOOL pending;
} REQUEST;

/* Registered memory. */
typedef struct _BUFFER {
    unsigned char *data;
    SIZE_T size;
    ND_MR_HANDLE mr;
} BUFFER;

static SAMPLE sample = { .name = "nd1pingpong" };
static SAMPLE_ORDER order;
static ND_ADAPTER_INFO info;
static ULONG threshold; /* longest message that is sent */
static INDAdapter *adapter;
static INDCompletionQueue *cq; /* of both directions */
static INDConnector *connector;
static INDEndpoint *endpoint;
static INDMemoryWindow *window;

static BUFFER outgoing; /* a header, the data */
static BUFFER incoming; /* large messages */
static BUFFER control;  /* a WINDOW message, a DONE message */
static BUFFER slots;    /* small messages: RECEIVES times SLOT_SIZE */
static REQUEST receives[RECEIVES];
static ULONG arrived,
    taken; /* receives of the ring that have completed, and that this program has consumed */
static REQUEST send_data = { .name = "Send" }, send_done = { .name = "Send" },
               bind_window = { .name = "Bind" }, take_back = { .name = "Invalidate" },
               read_data = { .name = "Read" };

/* ---- overlapped requests and memory ---------------------------------------------------------------------------- */

static void wait_for(void *object, HRESULT hr, const char *what)
{
    INDOverlapped *overlapped = (INDOverlapped *)object;
    SIZE_T bytes;
    if (hr == ND_PENDING)
        hr = overlapped->lpVtbl->GetOverlappedResult(overlapped, &sample.overlapped, &bytes, TRUE);
    sample_check(&sample, hr, what);
}

static void buffer_open(BUFFER *buffer, SIZE_T size)
{
    buffer->size = size;
    buffer->data = (unsigned char *)calloc(1, size);
    if (!buffer->data)
        sample_fail(&sample, "out of memory");
    wait_for(adapter,
        adapter->lpVtbl->RegisterMemory(
            adapter, buffer->data, buffer->size, &sample.overlapped, &buffer->mr),
        "RegisterMemory");
}

static void buffer_close(BUFFER *buffer)
{
    wait_for(adapter, adapter->lpVtbl->DeregisterMemory(adapter, buffer->mr, &sample.overlapped),
        "DeregisterMemory");
    free(buffer->data);
}

/* ---- results --------------------------------------------------------------------------------------------------- */

/* Takes one result, if there is one. */
static BOOL progress(void)
{
    ND_RESULT *result;
    if (cq->lpVtbl->GetResults(cq, &result, 1) == 0)
        return FALSE;
    REQUEST *request = (REQUEST *)result;
    sample_check(&sample, result->Status, request->name);
    request->pending = FALSE;
    if (request >= receives && request < receives + RECEIVES) {
        if (request != &receives[arrived % RECEIVES])
            sample_fail(&sample, "receives ended out of order");
        ++arrived;
    }
    return TRUE;
}

/* Sleeps until a request may have completed. A Notify may miss results that arrived before it, so poll once more. */
static void sleep_for_result(void)
{
    SIZE_T bytes;
    HRESULT hr = ND_PENDING;

    if (!sample.notified)
        hr = cq->lpVtbl->Notify(cq, ND_CQ_NOTIFY_ANY, &sample.notify);
    sample_check(&sample, hr, "Notify");
    sample.notified = hr == ND_PENDING;
    if (progress())
        return;
    if (sample.notified)
        sample_check(
            &sample, cq->lpVtbl->GetOverlappedResult(cq, &sample.notify, &bytes, TRUE), "Notify");
    sample.notified = FALSE;
}

static void go_on(void)
{
    if (!progress() && sample.blocking)
        sleep_for_result();
}

static void await(const REQUEST *request)
{
    while (request->pending)
        go_on();
}

/* ---- messages -------------------------------------------------------------------------------------------------- */

static void posted(REQUEST *request, HRESULT hr)
{
    sample_check(&sample, hr, request->name);
    request->pending = TRUE;
}

static void post_receive(ULONG number)
{
    REQUEST *request = &receives[number % RECEIVES];
    ND_SGE sge = { slots.data + number % RECEIVES * SLOT_SIZE, SLOT_SIZE, slots.mr };
    request->name = "Receive";
    posted(request, endpoint->lpVtbl->Receive(endpoint, &request->result, &sge, 1));
}

static void post_send(REQUEST *request, BUFFER *buffer, SIZE_T offset, SIZE_T size)
{
    ND_SGE sge = { buffer->data + offset, size, buffer->mr };
    await(request); /* before its memory is used again */
    posted(request,
        endpoint->lpVtbl->Send(endpoint, &request->result, &sge, 1, ND_OP_FLAG_READ_FENCE));
}

/* Waits for the next message, which must be of one of two kinds. It is valid until drop_message. */
static MESSAGE *await_message(UINT8 kind, UINT8 other, SIZE_T *size)
{
    while (taken == arrived)
        go_on();
    const REQUEST *request = &receives[taken % RECEIVES];
    MESSAGE *message = (MESSAGE *)(slots.data + taken % RECEIVES * SLOT_SIZE);
    *size = request->result.BytesTransferred;
    if (*size < HEADER || (message->kind != kind && message->kind != other) ||
        (message->kind == WINDOW && *size != WINDOW_SIZE))
        sample_fail(&sample, "a message came that is not due (%u bytes, kind %u)", (unsigned)*size,
            (unsigned)message->kind);
    return message;
}

static void drop_message(void)
{
    post_receive(taken++);
}

/* ---- small and large ------------------------------------------------------------------------------------------- */

static void send_small(ULONG size)
{
    outgoing.data[0] = DATA;
    post_send(&send_data, &outgoing, 0, HEADER + size);
}

static void send_finished(void)
{
    control.data[WINDOW_SIZE] = DONE;
    post_send(&send_done, &control, WINDOW_SIZE, HEADER);
}

/* When this returns the peer has read the data, and the window is invalidated. */
static void send_large(ULONG size)
{
    MESSAGE *message = (MESSAGE *)control.data;
    ND_MW_DESCRIPTOR descriptor;
    SIZE_T done_size;

    message->kind = WINDOW;
    posted(&bind_window, endpoint->lpVtbl->Bind(endpoint, &bind_window.result, outgoing.mr, window,
                             outgoing.data + HEADER, size, ND_OP_FLAG_ALLOW_READ, &descriptor));
    await(&send_data);
    message->descriptor = descriptor; /* as it is: it is in network order */
    post_send(&send_data, &control, 0, WINDOW_SIZE);
    await_message(DONE, DONE, &done_size);
    drop_message();
    posted(&take_back, endpoint->lpVtbl->Invalidate(endpoint, &take_back.result, window, 0));
    await(&take_back);
    await(&bind_window);
}

/* The window's length in its descriptor: eight bytes, most significant first, at any address. */
static UINT64 window_length(const ND_MW_DESCRIPTOR *descriptor)
{
    unsigned char bytes[sizeof(descriptor->Length)];
    UINT64 length = 0;
    memcpy(bytes, (const unsigned char *)descriptor + sizeof(descriptor->Base), sizeof(bytes));
    for (size_t i = 0; i < sizeof(bytes); ++i)
        length = length << 8 | bytes[i];
    return length;
}

static SIZE_T receive_large(const ND_MW_DESCRIPTOR *descriptor)
{
    UINT64 length = window_length(descriptor);
    if (length > incoming.size)
        sample_fail(&sample, "a window came that is longer than any message is to be");

    ND_SGE sge = { incoming.data, (SIZE_T)length, incoming.mr };
    posted(
        &read_data, endpoint->lpVtbl->Read(endpoint, &read_data.result, &sge, 1, descriptor, 0, 0));
    await(&read_data);
    send_finished();
    return (SIZE_T)length;
}

/* ---- ping and pong --------------------------------------------------------------------------------------------- */

static void send_message(ULONG size, ULONG number)
{
    unsigned char *data = outgoing.data + HEADER;
    await(&send_data);
    data[0] = data[size - 1] = (unsigned char)number;
    if (size <= threshold)
        send_small(size);
    else
        send_large(size);
}

/* The whole message is compared if compare says so, otherwise its ends. */
static void receive_message(ULONG size, ULONG number, BOOL compare)
{
    SIZE_T length;
    const MESSAGE *message = await_message(DATA, WINDOW, &length);
    const unsigned char *data = message->data;

    if (message->kind == WINDOW) {
        length = receive_large(&message->descriptor);
        data = incoming.data;
    } else {
        length -= HEADER;
    }
    if (length != size)
        sample_fail(&sample, "a message of %u bytes came where %u were expected", (unsigned)length,
            (unsigned)size);
    if (data[0] != (unsigned char)number || data[size - 1] != (unsigned char)number)
        sample_fail(&sample, "message %u of %u bytes is damaged", (unsigned)number, (unsigned)size);
    if (compare)
        sample_compare(&sample, data, 1, size - 1, size);
    drop_message();
}

/* Seconds of rounds round trips, after a first one that is compared but not timed. */
static double run(ULONG size, ULONG rounds)
{
    double start = 0;

    await(&send_data);
    sample_fill(outgoing.data + HEADER, size, size);
    for (ULONG number = 0; number <= rounds; ++number) {
        if (number == 1)
            start = sample_seconds();
        if (!sample.server)
            send_message(size, number);
        receive_message(size, number, number == 0);
        if (sample.server)
            send_message(size, number);
    }
    return sample_seconds() - start;
}

/* ---- connection ------------------------------------------------------------------------------------------------ */

/* NULL: it is the turn of another address. */
static INDAdapter *open_at(SIZE_T local_size, const SOCKADDR_INET *local)
{
    INDAdapter *opened = NULL;
    HRESULT hr = NdOpenV1Adapter((const struct sockaddr *)local, local_size, &opened);

    if (FAILED(hr))
        sample_next_address(&sample, "NdOpenV1Adapter", hr);
    return opened;
}

static void open_adapter(const char *advised)
{
    SOCKADDR_INET local;
    SIZE_T size = sizeof(info);

    sample_check(&sample, NdStartup(), "NdStartup");
    while (!(adapter = open_at(sample_local_address(&sample, &local), &local)))
        continue;
    sample_check(&sample, adapter->lpVtbl->Query(adapter, 1, &info, &size), "Query");
    if (info.MaxCqEntries < RECEIVES + SENDS || info.MaxInboundRequests < RECEIVES ||
        info.MaxOutboundRequests < SENDS)
        sample_fail(&sample, "the adapter's queues are too short: %u receives and %u sends needed",
            RECEIVES, SENDS);
    threshold =
        info.LargeRequestThreshold < MAX_SMALL ? (ULONG)info.LargeRequestThreshold : MAX_SMALL;
    threshold = sample_number(&sample, advised, 1, MAX_SMALL, threshold);

    sample.overlapped.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
    sample.notify.hEvent = CreateEventW(NULL, TRUE, FALSE, NULL);
    if (!sample.overlapped.hEvent || !sample.notify.hEvent)
        sample_fail(&sample, "CreateEvent failed: error %u", (unsigned)GetLastError());
    sample_check(&sample, adapter->lpVtbl->CreateCompletionQueue(adapter, RECEIVES + SENDS, &cq),
        "CreateCompletionQueue");
    sample_check(
        &sample, adapter->lpVtbl->CreateMemoryWindow(adapter, NULL, &window), "CreateMemoryWindow");
    sample_check(&sample, adapter->lpVtbl->CreateConnector(adapter, &connector), "CreateConnector");
}

/* The endpoint and its memory; all receives are posted, in one batch. */
static void open_endpoint(void)
{
    if (order.max_size > SAMPLE_MAX_SIZE || order.max_size > info.MaxOutboundLength ||
        order.max_size > info.MaxWindowSize)
        sample_fail(&sample, "messages of %u bytes are too long: use -m", (unsigned)order.max_size);
    if (order.max_size > threshold && info.MaxOutboundReadLimit == 0)
        sample_fail(&sample, "the adapter does no Reads: use -m %u", (unsigned)threshold);
    sample_check(&sample,
        connector->lpVtbl->CreateEndpoint(connector, cq, cq, RECEIVES, SENDS, 1, 1,
            info.MaxInboundReadLimit, info.MaxOutboundReadLimit, NULL, &endpoint),
        "CreateEndpoint");
    buffer_open(&outgoing, HEADER + order.max_size);
    buffer_open(&incoming, order.max_size);
    buffer_open(&control, WINDOW_SIZE + HEADER);
    buffer_open(&slots, RECEIVES * SLOT_SIZE);
    endpoint->lpVtbl->StartRequestBatch(endpoint);
    for (ULONG i = 0; i < RECEIVES; ++i)
        post_receive(i);
    endpoint->lpVtbl->SubmitRequestBatch(endpoint);
}

static void close_endpoint(void)
{
    endpoint->lpVtbl->Release(endpoint);
    buffer_close(&slots);
    buffer_close(&control);
    buffer_close(&incoming);
    buffer_close(&outgoing);
}

/* FALSE: it cannot listen there. */
static BOOL serve(void)
{
    INDListen *listen;
    SOCKADDR_INET local = sample.address;
    SAMPLE_ORDER order_be;
    SIZE_T length = sizeof(order_be);
    HRESULT hr = adapter->lpVtbl->Listen(
        adapter, 0, PROTOCOL, local.Ipv4.sin_port, &local.Ipv4.sin_port, &listen);
    if (FAILED(hr)) {
        sample_next_address(&sample, "Listen", hr);
        return FALSE;
    }
    sample_listening(&sample, &local);
    wait_for(listen, listen->lpVtbl->GetConnectionRequest(listen, connector, &sample.overlapped),
        "GetConnectionRequest");
    listen->lpVtbl->Release(listen);
    hr = connector->lpVtbl->GetConnectionData(connector, NULL, NULL, &order_be, &length);
    sample_check_private_data(&sample, hr, "GetConnectionData", length, sizeof(order_be));
    order = sample_order_swap(order_be);
    open_endpoint();
    wait_for(connector, connector->lpVtbl->Accept(connector, endpoint, NULL, 0, &sample.overlapped),
        "Accept");
    return TRUE;
}

/* FALSE: another address is to be tried. */
static BOOL connect_to_server(void)
{
    SAMPLE_ORDER order_be = sample_order_swap(order);
    SIZE_T bytes;
    HRESULT hr;

    open_endpoint();
    do {
        hr = connector->lpVtbl->Connect(connector, endpoint, (struct sockaddr *)&sample.address,
            sample_address_size(&sample.address), PROTOCOL, 0, &order_be, sizeof(order_be),
            &sample.overlapped);
        if (hr == ND_PENDING)
            hr =
                connector->lpVtbl->GetOverlappedResult(connector, &sample.overlapped, &bytes, TRUE);
    } while ((hr == ND_CONNECTION_REFUSED || hr == ND_TIMEOUT) && sample.addresses.count == 1 &&
             sample_try_again(&sample.rounds));
    if (FAILED(hr) || hr == ND_TIMEOUT) {
        sample_next_address(&sample, "Connect", hr);
        close_endpoint();
        return FALSE;
    }
    wait_for(connector, connector->lpVtbl->CompleteConnect(connector, &sample.overlapped),
        "CompleteConnect");
    return TRUE;
}

/*
 * The end of a connection cancels requests that are still pending: the client disconnects when the server is done, too.
 * The server's last Send may not have completed by then, so the server does not wait for it.
 */
static void disconnect(void)
{
    await(&send_data);
    if (sample.server) {
        send_finished();
        wait_for(connector, connector->lpVtbl->NotifyDisconnect(connector, &sample.overlapped),
            "NotifyDisconnect");
    } else {
        SIZE_T size;
        await(&send_done);
        await_message(DONE, DONE, &size);
    }
    wait_for(connector, connector->lpVtbl->Disconnect(connector, &sample.overlapped), "Disconnect");
}

static void close_adapter(void)
{
    connector->lpVtbl->Release(connector);
    window->lpVtbl->Release(window);
    cq->lpVtbl->Release(cq);
    adapter->lpVtbl->Release(adapter);
    CloseHandle(sample.overlapped.hEvent);
    CloseHandle(sample.notify.hEvent);
    NdCleanup();
}

int main(int argc, char **argv)
{
    const char *values[3];
    sample_arguments(&sample, argc, argv, usage, "nmt", values);
    order = sample_order(&sample, values[0], values[1]);

    for (open_adapter(values[2]); !(sample.server ? serve() : connect_to_server());
         open_adapter(values[2]))
        close_adapter(); /* another address is to be tried */

    if (!sample.server)
        printf(
            "%10s %6s %10s %14s %16s\n", "bytes", "by", "rounds", "latency us", "bandwidth MB/s");
    run(1, sample_rounds(&order, 1)); /* for caches, clocks and schedulers to settle */
    for (ULONG size = 1; size <= order.max_size; size *= 2) {
        ULONG rounds = sample_rounds(&order, size);
        double one_way = run(size, rounds) / rounds / 2;
        if (!sample.server)
            printf("%10u %6s %10u %14.2f %16.2f\n", (unsigned)size,
                size <= threshold ? "Send" : "Read", (unsigned)rounds, one_way * 1e6,
                size / one_way / 1e6);
        sample_write_out(&sample);
    }
    disconnect();
    close_endpoint();
    close_adapter();
    WSACleanup();
    return 0;
}
