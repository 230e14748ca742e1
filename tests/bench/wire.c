/* SPDX-License-Identifier: MIT */
/*
 * wire.c - the group "wire": NetworkDirect on the embedded device against raw verbs calls on the same device, raw TCP, and
 * libfabric's tcp provider, all over the loopback interface.
 */
#include "tests/bench/bench.h"
#include "tests/bench/wire.h"

#include <math.h>
#include <stdio.h>

enum {
    TRANSPORT_TCP,
    TRANSPORT_VERBS,
    TRANSPORT_ND1,
    TRANSPORT_ND2,
    TRANSPORT_LIBFABRIC,
    TRANSPORTS
};

static const struct {
    const char *key;     /* prefix in results.json */
    bench_play_fn *play; /* NULL: fi_pingpong */
} transports[TRANSPORTS] = {
    [TRANSPORT_TCP] = { "tcp", bench_tcp },
    [TRANSPORT_VERBS] = { "soft.verbs", bench_verbs },
    [TRANSPORT_ND1] = { "soft.v1", bench_nd1 },
    [TRANSPORT_ND2] = { "soft.v2", bench_nd2 },
    [TRANSPORT_LIBFABRIC] = { "libfabric", NULL },
};

enum { POLL, EVENT, PORT, STREAM, SINGLE, BATCH, TESTS };

#define BY(transport) (1u << TRANSPORT_##transport)
#define BY_ND         (BY(ND1) | BY(ND2))
#define BY_ALL        (BY(TCP) | BY(VERBS) | BY_ND | BY(LIBFABRIC))

static const struct {
    unsigned
        by; /* the transports it is measured on: a port is NetworkDirect's, fi_pingpong only polls */
    struct bench_test test;
} wire_tests[TESTS] = {
    [POLL] = { BY_ALL, { .name = "poll_8B", .octets = 8, .warmup = 1000, .count = 10000 } },
    [EVENT] = { BY_ALL & ~BY(LIBFABRIC),
        { .name = "event_8B", .wait = BENCH_EVENT, .octets = 8, .warmup = 300, .count = 3000 } },
    [PORT] = { BY_ND,
        { .name = "port_8B", .wait = BENCH_PORT, .octets = 8, .warmup = 300, .count = 3000 } },
    [STREAM] = { BY_ALL,
        { .name = "stream_1MiB", .stream = true, .octets = 1 << 20, .warmup = 60, .count = 600 } },
    [SINGLE] = { BY(ND1),
        { .name = "single16_64B", .burst = 16, .octets = 64, .warmup = 300, .count = 3000 } },
    [BATCH] = { BY(ND1), { .name = "batch16_64B",
                             .batch = true,
                             .burst = 16,
                             .octets = 64,
                             .warmup = 300,
                             .count = 3000 } },
};

/* What a NetworkDirect version's figure of a test is held against: another transport's figure of a test. */
static const struct {
    unsigned transport, test;
    const char *suffix;
    unsigned other_transport, other_test;
    double aim; /* a time's ratio at most, a stream's at least; 0: none */
} compared[] = {
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
    { TRANSPORT_ND2, POLL, "vs_tcp", TRANSPORT_TCP, POLL, 1.4 },
    { TRANSPORT_ND2, POLL, "vs_libfabric", TRANSPORT_LIBFABRIC, POLL, 1.0 },
    { TRANSPORT_ND2, EVENT, "vs_verbs", TRANSPORT_VERBS, EVENT, 1.05 },
    { TRANSPORT_ND2, EVENT, "vs_tcp", TRANSPORT_TCP, EVENT, 1.6 },
    { TRANSPORT_ND2, PORT, "vs_verbs", TRANSPORT_VERBS, EVENT, 1.05 },
    { TRANSPORT_ND2, PORT, "vs_tcp", TRANSPORT_TCP, EVENT, 1.8 },
    { TRANSPORT_ND2, STREAM, "vs_tcp", TRANSPORT_TCP, STREAM, 0.85 },
    { TRANSPORT_ND2, STREAM, "vs_libfabric", TRANSPORT_LIBFABRIC, STREAM, 0 },
    { TRANSPORT_ND2, STREAM, "vs_verbs", TRANSPORT_VERBS, STREAM, 0.95 },
};

enum { COMPARED = sizeof compared / sizeof compared[0] };

static bool wire_measure(const struct bench_figure *figure, double *value, const char **absent)
{
    const struct bench_test *test = &wire_tests[figure->what / TRANSPORTS].test;
    unsigned transport = figure->what % TRANSPORTS;
    uint64_t elapsed_ns;

    if (!transports[transport].play)
        return bench_libfabric(test, value, absent);
    elapsed_ns = bench_run_pair(transports[transport].key, test, transports[transport].play);
    *value = test->stream ? (double)test->octets * test->count * 1e3 / (double)elapsed_ns
                          : (double)elapsed_ns / test->count / (test->burst ? 1e3 : 2e3);
    return elapsed_ns != 0;
}

/* Of all tests on all transports, those that are measured; in the order in which they are told. */
static struct bench_figure figures[TESTS * TRANSPORTS];
static struct bench_ratio ratios[COMPARED];
static const char *names[TESTS + 1];

static struct bench_group wire = {
    .name = "wire",
    .about = "NetworkDirect, verbs calls, TCP and libfabric over the loopback interface: us one "
             "way, MB/s, us a burst",
    .tests = names,
    .figures = figures,
    .ratios = ratios,
    .measure = wire_measure,
};

static const struct bench_figure *figure_of(unsigned test, unsigned transport)
{
    for (unsigned i = 0; i < wire.figure_count; i++)
        if (figures[i].what == test * TRANSPORTS + transport)
            return &figures[i];
    return NULL;
}

static void add_figure(unsigned test, unsigned transport)
{
    const struct bench_test *of = &wire_tests[test].test;
    struct bench_figure *figure = &figures[wire.figure_count++];

    snprintf(figure->key, sizeof figure->key, "%s.%s.%s", transports[transport].key, of->name,
        of->stream ? "MBps" : "us");
    figure->test = of->name;
    figure->what = test * TRANSPORTS + transport;
}

struct bench_group *bench_wire(void)
{
    for (unsigned test = 0; test < TESTS; test++) {
        names[test] = wire_tests[test].test.name;
        for (unsigned transport = 0; transport < TRANSPORTS; transport++)
            if (wire_tests[test].by & 1u << transport)
                add_figure(test, transport);
    }
    for (unsigned i = 0; i < COMPARED; i++) {
        struct bench_ratio *ratio = &ratios[wire.ratio_count++];

        snprintf(ratio->key, sizeof ratio->key, "%s.%s.%s", transports[compared[i].transport].key,
            names[compared[i].test], compared[i].suffix);
        ratio->figure = figure_of(compared[i].test, compared[i].transport);
        ratio->to = figure_of(compared[i].other_test, compared[i].other_transport);
        ratio->aim = compared[i].aim;
        ratio->at_least = wire_tests[compared[i].test].test.stream;
    }
    return &wire;
}
