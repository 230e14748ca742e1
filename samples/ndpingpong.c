/* SPDX-License-Identifier: MIT */
/*
 * ndpingpong - messages of growing size go back and forth between two hosts; prints latency and bandwidth.
 *
 * Shows: Send, Receive and completions, polled for or waited for.
 *
 * Each end has one buffer for incoming and one for outgoing messages. Before an end sends it has posted the Receive for
 * the answer, so no message ever finds its peer unprepared. Every message carries its number in the first and the last
 * byte; the first one of each size is compared byte by byte.
 */
#include "ndsample.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZE = 4 << 20, DEFAULT_BYTES = 64 << 20, DEFAULT_ROUNDS = 1000, MIN_ROUNDS = 16 };

static const char usage[] =
    "usage: ndpingpong -s ip[:port] [-b|-p]                         on one host, and then\n"
    "       ndpingpong -c ip[:port] [-b|-p] [-n rounds] [-m bytes]  on the other, with the address "
    "of the first\n"
    "  -b  wait for completions asleep     -p  poll for them (default)\n"
    "  -n  round trips of each size (default: up to 1000, fewer for larger messages)\n"
    "  -m  largest message in bytes, at most 4194304 (default)\n"
    "An IPv6 address with a port is written [ip]:port. The port is 54325 unless told.\n"
    "Latency is that of one way: half a round trip.\n";

/* What the client tells the server, in network order. */
typedef struct _ORDER {
    UINT32 rounds; /* 0: by size */
    UINT32 max_size;
} ORDER;

static SAMPLE sample = { .name = "ndpingpong" };
static unsigned char *outgoing, *incoming;
static IND2MemoryRegion *outgoing_region, *incoming_region;

/* A byte of the message of this size: both ends know what has to arrive. */
static unsigned char pattern(ULONG size, ULONG offset)
{
    return (unsigned char)(offset * 7 + (offset >> 8) + size);
}

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
}

/* Waits for one message, and for the results of this side's Sends that come before it; *sends counts those open. */
static void await_message(ULONG size, ULONG number, int *sends)
{
    ND2_RESULT result;
    for (;;) {
        sample_next(&sample, &result);
        if (result.RequestType == Nd2RequestTypeReceive)
            break;
        --*sends;
    }
    if (result.BytesTransferred != size)
        sample_fail(&sample, "a message of %u bytes came where %u were expected",
            (unsigned)result.BytesTransferred, (unsigned)size);
    if (incoming[0] != (unsigned char)number || incoming[size - 1] != (unsigned char)number)
        sample_fail(&sample, "message %u of %u bytes is damaged", (unsigned)number, (unsigned)size);
}

static void await_sends(int *sends)
{
    ND2_RESULT result;
    for (; *sends > 0; --*sends)
        sample_next(&sample, &result);
}

static void compare(ULONG size)
{
    for (ULONG i = 1; i + 1 < size; ++i)
        if (incoming[i] != pattern(size, i))
            sample_fail(&sample, "byte %u of a message of %u bytes is damaged", (unsigned)i,
                (unsigned)size);
}

/* rounds round trips after a first one that is checked but not timed. A Receive of this size is posted. */
static double run(ULONG size, ULONG rounds, ULONG next_size)
{
    double start = 0;
    int sends = 0;

    for (ULONG i = 0; i < size; ++i)
        outgoing[i] = pattern(size, i);
    for (ULONG number = 0; number <= rounds; ++number) {
        if (number == 1)
            start = sample_seconds();
        if (!sample.server) {
            post_send(size, number);
            ++sends;
        }
        await_message(size, number, &sends);
        if (number == 0)
            compare(size);
        if (number < rounds)
            post_receive(size);
        else if (next_size)
            post_receive(next_size);
        await_sends(&sends); /* the buffer is used again */
        if (sample.server) {
            post_send(size, number);
            ++sends;
        }
    }
    double seconds = sample_seconds() - start;
    await_sends(&sends);
    return seconds;
}

static ULONG rounds_of(ULONG size)
{
    ULONG rounds = DEFAULT_BYTES / size;
    return rounds > DEFAULT_ROUNDS ? DEFAULT_ROUNDS : rounds < MIN_ROUNDS ? MIN_ROUNDS : rounds;
}

int main(int argc, char **argv)
{
    const char *values[2];
    sample_arguments(&sample, argc, argv, usage, "nm", values);
    ULONG rounds = sample_number(&sample, values[0], 1, 100000000, 0);
    ULONG max_size = sample_number(&sample, values[1], 1, MAX_SIZE, MAX_SIZE);
    ORDER order = { htonl(rounds), htonl(max_size) };

    sample_open(&sample, 4);
    sample_create_queue_pair(&sample, 2, 2);
    allocate(sample.server ? MAX_SIZE : max_size);
    post_receive(1);
    sample_connect(&sample, &order, sizeof(order));
    rounds = ntohl(order.rounds);
    max_size = ntohl(order.max_size);
    if (max_size > MAX_SIZE || max_size > sample.info.MaxTransferLength)
        sample_fail(&sample, "messages of %u bytes are too long: use -m", (unsigned)max_size);

    if (!sample.server)
        printf("%10s %10s %14s %16s\n", "bytes", "rounds", "latency us", "bandwidth MB/s");
    run(1, rounds ? rounds : rounds_of(1), 1); /* for caches, clocks and schedulers to settle */
    for (ULONG size = 1; size <= max_size; size *= 2) {
        ULONG count = rounds ? rounds : rounds_of(size);
        double one_way = run(size, count, size * 2 <= max_size ? size * 2 : 0) / count / 2;
        if (!sample.server)
            printf("%10u %10u %14.2f %16.2f\n", (unsigned)size, (unsigned)count, one_way * 1e6,
                size / one_way / 1e6);
        fflush(stdout);
    }
    sample_disconnect(&sample);
    sample_deregister(&sample, incoming_region);
    sample_deregister(&sample, outgoing_region);
    sample_close(&sample);
    free(incoming);
    free(outgoing);
    return 0;
}
