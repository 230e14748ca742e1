/* SPDX-License-Identifier: MIT */
/*
 * wire.c - the group "wire": NetworkDirect on the embedded device against raw verbs calls on the same device, raw TCP,
 * libfabric's tcp provider and UCX's, all over the loopback interface.
 */
#include "tests/bench/wire_group.h"

#include <netinet/in.h>

enum { POLL, EVENT, PORT, STREAM, CRC_STREAM, SINGLE, BATCH, TESTS };

#define BY_PEERS (BY(LIBFABRIC) | BY(UCX))
#define BY_ALL   (BY(TCP) | BY(VERBS) | BY_ND | BY_PEERS)

static const struct wire_test tests[TESTS] = {
    [POLL] = { BY_ALL, { .name = "poll_8B", .octets = 8, .warmup = 1000, .count = 10000 } },
    [EVENT] = { BY_ALL & ~BY_PEERS,
        { .name = "event_8B", .wait = BENCH_EVENT, .octets = 8, .warmup = 300, .count = 3000 } },
    [PORT] = { BY_ND,
        { .name = "port_8B", .wait = BENCH_PORT, .octets = 8, .warmup = 300, .count = 3000 } },
    [STREAM] = { BY_ALL,
        { .name = "stream_1MiB", .stream = true, .octets = 1 << 20, .warmup = 60, .count = 600 } },
    [CRC_STREAM] = { BY(ND2), { .name = "crc_stream_1MiB",
                                  .stream = true,
                                  .crc = true,
                                  .octets = 1 << 20,
                                  .warmup = 60,
                                  .count = 600 } },
    [SINGLE] = { BY(ND1),
        { .name = "single16_64B", .burst = 16, .octets = 64, .warmup = 300, .count = 3000 } },
    [BATCH] = { BY(ND1), { .name = "batch16_64B",
                             .batch = true,
                             .burst = 16,
                             .octets = 64,
                             .warmup = 300,
                             .count = 3000 } },
};

static const struct wire_ratio compared[] = {
    { TRANSPORT_ND1, POLL, "vs_v2", TRANSPORT_ND2, POLL, 1.05 },
    { TRANSPORT_ND1, POLL, "vs_verbs", TRANSPORT_VERBS, POLL, 1.05 },
    { TRANSPORT_ND1, POLL, "vs_tcp", TRANSPORT_TCP, POLL, 1.4 },
    { TRANSPORT_ND1, EVENT, "vs_v2", TRANSPORT_ND2, EVENT, 1.05 },
    { TRANSPORT_ND1, EVENT, "vs_verbs", TRANSPORT_VERBS, EVENT, 1.05 },
    { TRANSPORT_ND1, EVENT, "vs_tcp", TRANSPORT_TCP, EVENT, 1.6 },
    { TRANSPORT_ND1, PORT, "vs_v2", TRANSPORT_ND2, PORT, 1.05 },
    { TRANSPORT_ND1, PORT, "vs_verbs", TRANSPORT_VERBS, EVENT, 1.05 },
    { TRANSPORT_ND1, PORT, "vs_tcp", TRANSPORT_TCP, EVENT, 1.8 },
    { TRANSPORT_ND1, STREAM, "vs_v2", TRANSPORT_ND2, STREAM, 0.95 },
    { TRANSPORT_ND1, STREAM, "vs_verbs", TRANSPORT_VERBS, STREAM, 0.95 },
    { TRANSPORT_ND1, STREAM, "vs_tcp", TRANSPORT_TCP, STREAM, 0.85 },
    { TRANSPORT_ND1, BATCH, "vs_single", TRANSPORT_ND1, SINGLE, 1.0 },
    { TRANSPORT_ND2, POLL, "vs_verbs", TRANSPORT_VERBS, POLL, 1.05 },
    { TRANSPORT_ND2, POLL, "vs_tcp", TRANSPORT_TCP, POLL, 1.15 },
    { TRANSPORT_ND2, POLL, "vs_libfabric", TRANSPORT_LIBFABRIC, POLL, 1.0 },
    { TRANSPORT_ND2, POLL, "vs_ucx", TRANSPORT_UCX, POLL, 0.95 },
    { TRANSPORT_ND2, EVENT, "vs_verbs", TRANSPORT_VERBS, EVENT, 1.05 },
    { TRANSPORT_ND2, EVENT, "vs_tcp", TRANSPORT_TCP, EVENT, 0.87 },
    { TRANSPORT_ND2, PORT, "vs_verbs", TRANSPORT_VERBS, EVENT, 1.05 },
    { TRANSPORT_ND2, PORT, "vs_tcp", TRANSPORT_TCP, EVENT, 1.8 },
    { TRANSPORT_ND2, STREAM, "vs_tcp", TRANSPORT_TCP, STREAM, 0.85 },
    { TRANSPORT_ND2, STREAM, "vs_libfabric", TRANSPORT_LIBFABRIC, STREAM, 0 },
    { TRANSPORT_ND2, STREAM, "vs_ucx", TRANSPORT_UCX, STREAM, 1.0 },
    { TRANSPORT_ND2, STREAM, "vs_verbs", TRANSPORT_VERBS, STREAM, 0.95 },
    { TRANSPORT_ND2, CRC_STREAM, "vs_plain", TRANSPORT_ND2, STREAM, 0.8 },
};

struct bench_group *bench_wire(void)
{
    static struct bench_place place = {
        .name = "soft", .server.device = "soft", .client.device = "soft"
    };
    static struct wire_group wire = {
        .group.name = "wire",
        .group.about =
            "NetworkDirect, verbs calls, TCP, libfabric and UCX over the loopback interface: "
            "us one way, MB/s, us a burst",
    };

    place.server.address_be = place.client.address_be = htonl(INADDR_LOOPBACK);
    return wire_group_make(
        &wire, &place, tests, TESTS, compared, sizeof compared / sizeof compared[0]);
}
