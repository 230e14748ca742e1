/* SPDX-License-Identifier: MIT */
/*
 * ndpingpong - messages of growing size go back and forth between two hosts; prints latency and bandwidth.
 *
 * Shows: Send, Receive and completions, polled for or waited for.
 *
 * Each end has one buffer for incoming and one for outgoing messages. Before an end sends it has posted the Receive for
 * the answer, so the peer has a Receive for each message. Every message carries its number in the first and the last
 * byte; the first one of each size is compared byte by byte.
 *
 * A Send completes when its message is acknowledged. The peer's answer may arrive before that, so the program counts
 * results as they arrive. The server does not wait for its last Send: the client has the message by then, and ends the
 * connection.
 */
#include "ndsample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: ndpingpong -s ip[:port] [-b|-p]                         on one host, and then\n"
    "       ndpingpong -c ip[:port] [-b|-p] [-n rounds] [-m bytes]  on the other, with the address "
    "of the first\n"
    "  -b  wait for completions asleep     -p  poll for them (default)\n"
    "  -n  round trips of each size (default: up to 1000, fewer for larger messages)\n"
    "  -m  largest message in bytes, at most 4194304 (default)\n"
    "  -V  print the version               -h  print this\n"
    "An IPv6 address with a port is written [ip]:port. The default port is 54325.\n"
    "Latency is that of one way: half a round trip.\n";

static SAMPLE sample = { .name = "ndpingpong" };
static unsigned char *outgoing, *incoming;
static IND2MemoryRegion *outgoing_region, *incoming_region;
static int sends;          /* Sends without a result yet */
static BOOL arrived;       /* a message that the program has not consumed yet */
static ND2_RESULT message; /* its result */

static void allocate(ULONG max_size)
{
    outgoing = (unsigned char *)malloc(max_size);
    incoming = (unsigned char *)calloc(1, max_size);
    if (!outgoing || !incoming)
        sample_fail(&sample, "out of memory");
    outgoing_region = sample_register(&sample, outgoing, max_size, 0);
    incoming_region = sample_register(&sample, incoming, max_size, ND_MR_FLAG_ALLOW_LOCAL_WRITE);
}

static void post_receive(ULONG size)
{
    ND2_SGE sge = { incoming, size, incoming_region->lpVtbl->GetLocalToken(incoming_region) };
    sample_check(&sample, sample.qp->lpVtbl->Receive(sample.qp, NULL, &sge, 1), "Receive");
}

static void post_send(ULONG size, ULONG number)
{
    ND2_SGE sge = { outgoing, size, outgoing_region->lpVtbl->GetLocalToken(outgoing_region) };
    outgoing[0] = outgoing[size - 1] = (unsigned char)number;
    sample_check(&sample, sample.qp->lpVtbl->Send(sample.qp, NULL, &sge, 1, 0), "Send");
    ++sends;
}

static void take_result(void)
{
    ND2_RESULT result;
    sample_next(&sample, &result);
    if (result.RequestType == Nd2RequestTypeReceive) {
        message = result;
        arrived = TRUE;
    } else {
        --sends;
    }
}

static void await_message(ULONG size, ULONG number)
{
    while (!arrived)
        take_result();
    arrived = FALSE;
    if (message.BytesTransferred != size)
        sample_fail(&sample, "a message of %u bytes came where %u were expected",
            (unsigned)message.BytesTransferred, (unsigned)size);
    if (incoming[0] != (unsigned char)number || incoming[size - 1] != (unsigned char)number)
        sample_fail(&sample, "message %u of %u bytes is damaged", (unsigned)number, (unsigned)size);
}

/* Waits until the outgoing buffer is free again. */
static void await_sends(void)
{
    while (sends > 0)
        take_result();
}

/* rounds round trips after a first one that is checked but not timed. A Receive of this size is posted. */
static double run(ULONG size, ULONG rounds, ULONG next_size)
{
    double start = 0;

    await_sends();
    sample_fill(outgoing, size, size);
    for (ULONG number = 0; number <= rounds; ++number) {
        if (number == 1)
            start = sample_seconds();
        if (!sample.server)
            post_send(size, number);
        await_message(size, number);
        if (number == 0)
            sample_compare(&sample, incoming, 1, size - 1, size);
        if (number < rounds)
            post_receive(size);
        else if (next_size)
            post_receive(next_size);
        await_sends();
        if (sample.server)
            post_send(size, number);
    }
    return sample_seconds() - start;
}

/* Everything before the connection. order in: of a client's */
static void open_all(const SAMPLE_ORDER *order)
{
    sample_open(&sample, 4);
    sample_create_queue_pair(&sample, 2, 2);
    allocate(sample.server ? SAMPLE_MAX_SIZE : order->max_size);
    post_receive(1);
}

static void close_all(void)
{
    sample_deregister(&sample, incoming_region);
    sample_deregister(&sample, outgoing_region);
    sample_close(&sample);
    free(incoming);
    free(outgoing);
}

int main(int argc, char **argv)
{
    const char *values[2];
    sample_arguments(&sample, argc, argv, usage, "nm", values);
    SAMPLE_ORDER order = sample_order(&sample, values[0], values[1]);
    SAMPLE_ORDER order_be = sample_order_swap(order);

    for (open_all(&order); !sample_connect(&sample, &order_be, sizeof(order_be)); open_all(&order))
        close_all();
    order = sample_order_swap(order_be);
    if (order.max_size > SAMPLE_MAX_SIZE || order.max_size > sample.info.MaxTransferLength)
        sample_fail(&sample, "messages of %u bytes are too long: use -m", (unsigned)order.max_size);

    if (!sample.server)
        printf("%10s %10s %14s %16s\n", "bytes", "rounds", "latency us", "bandwidth MB/s");
    run(1, sample_rounds(&order, 1), 1); /* for caches, clocks and schedulers to settle */
    for (ULONG size = 1; size <= order.max_size; size *= 2) {
        ULONG count = sample_rounds(&order, size);
        double one_way = run(size, count, size * 2 <= order.max_size ? size * 2 : 0) / count / 2;
        if (!sample.server)
            printf("%10u %10u %14.2f %16.2f\n", (unsigned)size, (unsigned)count, one_way * 1e6,
                size / one_way / 1e6);
        sample_write_out(&sample);
    }
    sample_disconnect(&sample);
    close_all();
    WSACleanup();
    return 0;
}
