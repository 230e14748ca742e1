/* SPDX-License-Identifier: MIT */
/*
 * ndrpingpong - one-sided transfers of growing size between two hosts: Writes back and forth, then Reads.
 *
 * Shows: memory windows (Bind, Invalidate), Write and Read, and how a peer learns the addresses.
 *
 * Each end binds a window over its buffer for incoming data and one over data that the peer may read, and sends both
 * descriptions. Write: the receiver spins on the last byte of the data, which arrives last, or (-b) sleeps until the
 * empty Send that follows each Write. Read: the client reads; the server's only part is to wait for the Send that ends
 * it.
 */
#include "ndsample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: ndrpingpong -s ip[:port]                                 on one host, and then\n"
    "       ndrpingpong -c ip[:port] [-b|-p] [-n rounds] [-m bytes]  on the other, with the "
    "address of the first\n"
    "  -b  wait asleep, on both sides      -p  poll for completions and for written data "
    "(default)\n"
    "  -n  rounds of each size (default: up to 1000, fewer for larger transfers)\n"
    "  -m  largest transfer in bytes, at most 4194304 (default)\n"
    "  -V  print the version               -h  print this\n"
    "An IPv6 address with a port is written [ip]:port. The default port is 54325.\n"
    "Latency of Write is one way, half a round trip; that of Read is the whole Read.\n";

/* A window as a message describes it to the peer, in network order. */
typedef struct _WINDOW_DESCRIPTION {
    UINT32 address_high;
    UINT32 address_low;
    UINT32 token; /* in network order to begin with */
} WINDOW_DESCRIPTION;

typedef struct _MESSAGE {
    WINDOW_DESCRIPTION incoming; /* may be written */
    WINDOW_DESCRIPTION outgoing; /* may be read */
} MESSAGE;

static SAMPLE sample = { .name = "ndrpingpong" };
static SAMPLE_ORDER order;
static unsigned char *outgoing, *incoming;
static MESSAGE *messages; /* [0] ours, [1] the peer's */
static IND2MemoryRegion *outgoing_region, *incoming_region, *message_region;
static IND2MemoryWindow *outgoing_window, *incoming_window;
static int done,
    received; /* results seen that await has not consumed yet: of our requests, of Receives */

/* ---- results and messages -------------------------------------------------------------------------------------- */

static void count(const ND2_RESULT *result)
{
    if (result->RequestType == Nd2RequestTypeReceive)
        ++received;
    else
        ++done;
}

static void await(int *counter)
{
    ND2_RESULT result;
    while (*counter == 0) {
        sample_next(&sample, &result);
        count(&result);
    }
    --*counter;
}

static void post_receive(void)
{
    ND2_SGE sge = { &messages[1], sizeof(messages[1]),
        message_region->lpVtbl->GetLocalToken(message_region) };
    sample_check(&sample, sample.qp->lpVtbl->Receive(sample.qp, NULL, &sge, 1), "Receive");
}

/* size 0: an empty message */
static void post_send(ULONG size)
{
    ND2_SGE sge = { &messages[0], size, message_region->lpVtbl->GetLocalToken(message_region) };
    sample_check(&sample, sample.qp->lpVtbl->Send(sample.qp, NULL, &sge, size ? 1 : 0, 0), "Send");
}

/* ---- windows --------------------------------------------------------------------------------------------------- */

static IND2MemoryWindow *bind_window(IND2MemoryRegion *region, void *buffer, ULONG flags)
{
    IND2MemoryWindow *window;
    sample_check(&sample,
        sample.adapter->lpVtbl->CreateMemoryWindow(
            sample.adapter, &IID_IND2MemoryWindow, (void **)&window),
        "CreateMemoryWindow");
    sample_check(&sample,
        sample.qp->lpVtbl->Bind(
            sample.qp, NULL, (IUnknown *)region, (IUnknown *)window, buffer, order.max_size, flags),
        "Bind");
    await(&done);
    return window;
}

static void invalidate(IND2MemoryWindow *window)
{
    sample_check(&sample, sample.qp->lpVtbl->Invalidate(sample.qp, NULL, (IUnknown *)window, 0),
        "Invalidate");
    await(&done);
    window->lpVtbl->Release(window);
}

static WINDOW_DESCRIPTION describe(IND2MemoryWindow *window, const void *buffer)
{
    UINT64 address = (UINT64)(ULONG_PTR)buffer;
    WINDOW_DESCRIPTION description = { htonl((ULONG)(address >> 32)), htonl((ULONG)address),
        window->lpVtbl->GetRemoteToken(window) };
    return description;
}

static UINT64 remote_address(const WINDOW_DESCRIPTION *description)
{
    return (UINT64)ntohl(description->address_high) << 32 | ntohl(description->address_low);
}

/* Exchanges descriptions. The client sends first: the server can send only after that. Returns the peer's windows. */
static MESSAGE exchange_windows(void)
{
    MESSAGE peer;
    incoming_window = bind_window(incoming_region, incoming, ND_OP_FLAG_ALLOW_WRITE);
    outgoing_window = bind_window(outgoing_region, outgoing, ND_OP_FLAG_ALLOW_READ);
    messages[0].incoming = describe(incoming_window, incoming);
    messages[0].outgoing = describe(outgoing_window, outgoing);
    if (!sample.server)
        post_send(sizeof(messages[0]));
    await(&received);
    peer = messages[1];
    post_receive();
    if (sample.server)
        post_send(sizeof(messages[0]));
    await(&done);
    return peer;
}

/* ---- data ------------------------------------------------------------------------------------------------------ */

/* The last byte of a Write; never what it was before: 1 to 251, going on over all sizes. */
static unsigned char next_number(void)
{
    static unsigned number;
    number = number % 251 + 1;
    return (unsigned char)number;
}

static void post_write(const MESSAGE *peer, ULONG size, unsigned char number)
{
    ND2_SGE sge = { outgoing, size, outgoing_region->lpVtbl->GetLocalToken(outgoing_region) };
    outgoing[size - 1] = number;
    sample_check(&sample,
        sample.qp->lpVtbl->Write(
            sample.qp, NULL, &sge, 1, remote_address(&peer->incoming), peer->incoming.token, 0),
        "Write");
    if (sample.blocking)
        post_send(0);
}

/* volatile: without it the compiler reads the byte once. Polling for results here keeps a polled device going. */
static void await_data(ULONG size, unsigned char number)
{
    volatile unsigned char *last = &incoming[size - 1];
    ND2_RESULT result;
    if (sample.blocking) {
        await(&received);
        post_receive();
        if (*last != number)
            sample_fail(
                &sample, "a Write of %u bytes was overtaken by the Send after it", (unsigned)size);
    }
    while (*last != number)
        if (sample_try_next(&sample, &result))
            count(&result);
}

/* Seconds of rounds round trips, after a first one that is compared but not timed. */
static double run_writes(const MESSAGE *peer, ULONG size, ULONG rounds)
{
    double start = 0;
    sample_fill(outgoing, size, size);
    for (ULONG round = 0; round <= rounds; ++round) {
        unsigned char number = next_number();
        if (round == 1)
            start = sample_seconds();
        if (!sample.server)
            post_write(peer, size, number);
        await_data(size, number);
        if (round == 0)
            sample_compare(&sample, incoming, 0, size - 1, size);
        if (sample.server)
            post_write(peer, size, number);
        await(&done);
        if (sample.blocking)
            await(&done);
    }
    return sample_seconds() - start;
}

/* The same for Reads; the peer has filled its buffer with a pattern seeded 0. */
static double run_reads(const MESSAGE *peer, ULONG size, ULONG rounds)
{
    ND2_SGE sge = { incoming, size, incoming_region->lpVtbl->GetLocalToken(incoming_region) };
    double start = 0;
    memset(incoming, 0xff, size);
    for (ULONG round = 0; round <= rounds; ++round) {
        if (round == 1)
            start = sample_seconds();
        sample_check(&sample,
            sample.qp->lpVtbl->Read(
                sample.qp, NULL, &sge, 1, remote_address(&peer->outgoing), peer->outgoing.token, 0),
            "Read");
        await(&done);
        if (round == 0)
            sample_compare(&sample, incoming, 0, size, 0);
    }
    return sample_seconds() - start;
}

/*
 * The end of a connection cancels requests that are still pending: the client disconnects when the server is done, too.
 * The server's last Send may not have completed by then, so the server does not wait for it.
 */
static void farewell(void)
{
    if (sample.server)
        post_send(0);
    else
        await(&received);
}

/* ---- program --------------------------------------------------------------------------------------------------- */

static void allocate(ULONG size)
{
    outgoing = (unsigned char *)malloc(size);
    incoming = (unsigned char *)calloc(1, size);
    messages = (MESSAGE *)calloc(2, sizeof(*messages));
    if (!outgoing || !incoming || !messages)
        sample_fail(&sample, "out of memory");
    outgoing_region = sample_register(&sample, outgoing, size, 0);
    /* the target of our Reads as well as of the peer's Writes */
    incoming_region = sample_register(
        &sample, incoming, size, ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_RDMA_READ_SINK);
    message_region =
        sample_register(&sample, messages, 2 * sizeof(*messages), ND_MR_FLAG_ALLOW_LOCAL_WRITE);
}

static void print_row(const char *what, ULONG size, ULONG rounds, double seconds)
{
    if (!sample.server)
        printf("%5s %10u %10u %14.2f %16.2f\n", what, (unsigned)size, (unsigned)rounds,
            seconds * 1e6, size / seconds / 1e6);
    sample_write_out(&sample);
}

static void run(const MESSAGE *peer)
{
    if (!sample.server)
        printf("%5s %10s %10s %14s %16s\n", "", "bytes", "rounds", "latency us", "bandwidth MB/s");
    run_writes(peer, 1, sample_rounds(&order, 1)); /* for caches, clocks and schedulers to settle */
    for (ULONG size = 1; size <= order.max_size; size *= 2) {
        ULONG count = sample_rounds(&order, size);
        print_row("Write", size, count, run_writes(peer, size, count) / count / 2);
    }
    if (sample.server) {
        sample_fill(outgoing, order.max_size, 0);
        post_send(0); /* go */
        await(&done);
        await(&received); /* the end */
        return;
    }
    await(&received);
    for (ULONG size = 1; size <= order.max_size; size *= 2) {
        ULONG count = sample_rounds(&order, size);
        print_row("Read", size, count, run_reads(peer, size, count) / count);
    }
    post_send(0);
    await(&done);
}

/* Everything before the connection. */
static void open_all(void)
{
    sample_open(&sample, 8);
    if (sample.info.MaxOutboundReadLimit == 0)
        sample_fail(&sample, "the adapter does no Reads");
    sample_create_queue_pair(&sample, 2, 4);
    allocate(sample.server ? SAMPLE_MAX_SIZE : order.max_size);
    /* Two: a message may come right behind another; without a Receive for it the connection ends. */
    post_receive();
    post_receive();
}

static void close_all(void)
{
    sample_deregister(&sample, message_region);
    sample_deregister(&sample, incoming_region);
    sample_deregister(&sample, outgoing_region);
    sample_close(&sample);
    free(messages);
    free(incoming);
    free(outgoing);
}

int main(int argc, char **argv)
{
    const char *values[2];
    sample_arguments(&sample, argc, argv, usage, "nm", values);
    order = sample_order(&sample, values[0], values[1]);
    SAMPLE_ORDER order_be = sample_order_swap(order);

    for (open_all(); !sample_connect(&sample, &order_be, sizeof(order_be)); open_all())
        close_all();
    order = sample_order_swap(order_be);
    sample.blocking = order.blocking != 0;
    if (order.max_size > SAMPLE_MAX_SIZE || order.max_size > sample.info.MaxTransferLength)
        sample_fail(
            &sample, "transfers of %u bytes are too long: use -m", (unsigned)order.max_size);

    MESSAGE peer = exchange_windows();
    run(&peer);

    invalidate(outgoing_window);
    invalidate(incoming_window);
    farewell();
    sample_disconnect(&sample);
    close_all();
    WSACleanup();
    return 0;
}
