/* SPDX-License-Identifier: MIT */
/*
 * shm.c - the group "shm": NetworkDirect on the embedded device with both ends on one host, through the memory that
 * they share (NDSPI_SOFT_SHM=1), against raw TCP, a bare ring in shared memory, the shared memory of UCX and libfabric,
 * and the same connection over TCP.
 *
 * Processor time is compared between ends that sleep for their messages: one that polls always has a whole processor.
 */
#include "tests/bench/wire_group.h"

#include <netinet/in.h>

enum {
    POLL,
    POLL_4K,
    POLL_64K,
    POLL_1M,
    EVENT,
    STREAM_64K,
    STREAM,
    CPU,
    SHARED_BATCH,
    NETWORK_BATCH,
    TESTS
};

#define BY_PEERS (BY(LIBFABRIC) | BY(UCX))

#define MEBIBYTES .stream = true, .octets = 1 << 20, .warmup = 60, .count = 600
/* Version 2 has no request batches: 16 Sends in a row. */
#define BATCH     .burst = 16, .octets = 64, .warmup = 300, .count = 3000

static const struct wire_test tests[TESTS] = {
    [POLL] = { BY(TCP) | BY(ND2) | BY(RING) | BY_PEERS,
        { .name = "shm_8B", .shared = true, .octets = 8, .warmup = 1000, .count = 10000 } },
    [POLL_4K] = { BY(ND2) | BY_PEERS,
        { .name = "shm_4KiB", .shared = true, .octets = 4 << 10, .warmup = 1000, .count = 10000 } },
    [POLL_64K] = { BY(ND2) | BY_PEERS,
        { .name = "shm_64KiB", .shared = true, .octets = 64 << 10, .warmup = 300, .count = 3000 } },
    [POLL_1M] = { BY(ND2) | BY_PEERS,
        { .name = "shm_1MiB", .shared = true, .octets = 1 << 20, .warmup = 60, .count = 600 } },
    [EVENT] = { BY(TCP) | BY(ND2), { .name = "shm_event_8B",
                                       .shared = true,
                                       .wait = BENCH_EVENT,
                                       .octets = 8,
                                       .warmup = 300,
                                       .count = 3000 } },
    [STREAM_64K] = { BY(ND2) | BY(UCX), { .name = "shm_stream_64KiB",
                                            .shared = true,
                                            .stream = true,
                                            .octets = 64 << 10,
                                            .warmup = 600,
                                            .count = 9600 } },
    [STREAM] = { BY(TCP) | BY(ND2) | BY(UCX),
        { .name = "shm_stream_1MiB", .shared = true, MEBIBYTES } },
    [CPU] = { BY(TCP) | BY(ND2), { .name = "shm_stream_1MiB_cpu",
                                     .shared = true,
                                     .cpu = true,
                                     .wait = BENCH_EVENT,
                                     MEBIBYTES } },
    [SHARED_BATCH] = { BY(ND2), { .name = "shm_batch16_64B", .shared = true, BATCH } },
    [NETWORK_BATCH] = { BY(ND2), { .name = "network_batch16_64B", BATCH } },
};

static const struct wire_ratio compared[] = {
    { TRANSPORT_ND2, POLL, "vs_tcp", TRANSPORT_TCP, POLL, 0.25 },
    { TRANSPORT_ND2, POLL, "vs_ucx", TRANSPORT_UCX, POLL, 1.25 },
    { TRANSPORT_ND2, POLL, "vs_libfabric", TRANSPORT_LIBFABRIC, POLL, 0 },
    { TRANSPORT_ND2, POLL_4K, "vs_ucx", TRANSPORT_UCX, POLL_4K, 1.0 },
    { TRANSPORT_ND2, POLL_4K, "vs_libfabric", TRANSPORT_LIBFABRIC, POLL_4K, 0 },
    { TRANSPORT_ND2, POLL_64K, "vs_ucx", TRANSPORT_UCX, POLL_64K, 1.0 },
    { TRANSPORT_ND2, POLL_64K, "vs_libfabric", TRANSPORT_LIBFABRIC, POLL_64K, 0 },
    { TRANSPORT_ND2, POLL_1M, "vs_ucx", TRANSPORT_UCX, POLL_1M, 0.6 },
    { TRANSPORT_ND2, POLL_1M, "vs_libfabric", TRANSPORT_LIBFABRIC, POLL_1M, 0 },
    { TRANSPORT_ND2, STREAM_64K, "vs_ucx", TRANSPORT_UCX, STREAM_64K, 1.2 },
    { TRANSPORT_ND2, STREAM, "vs_ucx", TRANSPORT_UCX, STREAM, 1.0 },
    { TRANSPORT_ND2, POLL, "vs_ring", TRANSPORT_RING, POLL, 6 },
    { TRANSPORT_ND2, EVENT, "vs_tcp", TRANSPORT_TCP, EVENT, 0.8 },
    { TRANSPORT_ND2, STREAM, "vs_tcp", TRANSPORT_TCP, STREAM, 1.8 },
    { TRANSPORT_ND2, CPU, "vs_tcp", TRANSPORT_TCP, CPU, 0.5 },
    { TRANSPORT_ND2, SHARED_BATCH, "vs_network", TRANSPORT_ND2, NETWORK_BATCH, 0.25 },
};

struct bench_group *bench_shm(void)
{
    static struct bench_place place = {
        .name = "soft", .server.device = "soft", .client.device = "soft"
    };
    static struct wire_group shm = {
        .group.name = "shm",
        .group.about =
            "the embedded device through shared memory, TCP, a bare ring, UCX, libfabric: "
            "us one way, MB/s, CPU s a GB, us a burst",
    };

    place.server.address_be = place.client.address_be = htonl(INADDR_LOOPBACK);
    return wire_group_make(
        &shm, &place, tests, TESTS, compared, sizeof compared / sizeof compared[0]);
}
