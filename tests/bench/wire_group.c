/* SPDX-License-Identifier: MIT */
/* wire_group.c - a group's figures and ratios out of its tables (wire_group.h). */
#include "tests/bench/wire_group.h"

#include "tests/bench/peer.h"

static const struct {
    const char *key;     /* in results.json, behind the place */
    bench_play_fn *play; /* NULL: another's program, which measures by itself */
    bool (*measure)(const struct bench_test *test, double *value, const char **why);
} transports[TRANSPORTS] = {
    [TRANSPORT_TCP] = { "tcp", bench_tcp },
    [TRANSPORT_VERBS] = { "verbs", bench_verbs },
    [TRANSPORT_ND1] = { "v1", bench_nd1 },
    [TRANSPORT_ND2] = { "v2", bench_nd2 },
    [TRANSPORT_LIBFABRIC] = { "libfabric", .measure = bench_libfabric },
    [TRANSPORT_UCX] = { "ucx", .measure = bench_ucx },
    [TRANSPORT_RING] = { "ring", bench_ring },
};

/* Whether a test's figure is MB/s; otherwise it is a time. */
static bool is_throughput(const struct bench_test *test)
{
    return test->stream && !test->cpu;
}

static const char *unit(const struct bench_test *test)
{
    return test->cpu ? "s_per_GB" : test->stream ? "MBps" : "us";
}

static double in_unit(const struct bench_test *test, uint64_t elapsed_ns)
{
    double ns = (double)elapsed_ns, octets = (double)test->octets * test->count;

    if (test->cpu)
        return ns / octets;
    return test->stream ? octets * 1e3 / ns : ns / test->count / (test->burst ? 1e3 : 2e3);
}

static bool wire_measure(const struct bench_group *group, const struct bench_figure *figure,
    double *value, const char **absent)
{
    const struct wire_group *wire = (const struct wire_group *)group; /* its first member */
    const struct bench_test *test = &wire->tests[figure->what / TRANSPORTS].test;
    unsigned transport = figure->what % TRANSPORTS;
    uint64_t elapsed_ns;

    if (!transports[transport].play)
        return transports[transport].measure(test, value, absent);
    elapsed_ns =
        bench_run_pair(wire->place, transports[transport].key, test, transports[transport].play);
    *value = in_unit(test, elapsed_ns);
    return elapsed_ns != 0;
}

static const struct bench_figure *figure_of(
    const struct wire_group *wire, unsigned test, unsigned transport)
{
    for (unsigned i = 0; i < wire->group.figure_count; i++)
        if (wire->figures[i].what == test * TRANSPORTS + transport)
            return &wire->figures[i];
    return NULL;
}

/* "soft.v2.poll_8B.us", "tcp.poll_8B.us": what depends on no device carries no place. */
static void make_key(char key[BENCH_KEY], const struct wire_group *wire, unsigned transport,
    const char *test, const char *end)
{
    bool placed =
        transports[transport].play && transport != TRANSPORT_TCP && transport != TRANSPORT_RING;

    snprintf(key, BENCH_KEY, "%s%s%s.%s.%s", placed ? wire->place->name : "", placed ? "." : "",
        transports[transport].key, test, end);
}

static void add_figure(struct wire_group *wire, unsigned test, unsigned transport)
{
    const struct bench_test *of = &wire->tests[test].test;
    struct bench_figure *figure = &wire->figures[wire->group.figure_count++];

    make_key(figure->key, wire, transport, of->name, unit(of));
    figure->test = of->name;
    figure->what = test * TRANSPORTS + transport;
}

struct bench_group *wire_group_make(struct wire_group *wire, const struct bench_place *place,
    const struct wire_test *tests, unsigned test_count, const struct wire_ratio *compared,
    unsigned compared_count)
{
    wire->place = place;
    wire->tests = tests;
    wire->group.tests = wire->names;
    wire->group.figures = wire->figures;
    wire->group.ratios = wire->ratios;
    wire->group.measure = wire_measure;
    for (unsigned test = 0; test < test_count; test++) {
        wire->names[test] = tests[test].test.name;
        for (unsigned transport = 0; transport < TRANSPORTS; transport++)
            if (tests[test].by & 1u << transport)
                add_figure(wire, test, transport);
    }
    for (unsigned i = 0; i < compared_count; i++) {
        struct bench_ratio *ratio = &wire->ratios[wire->group.ratio_count++];

        make_key(ratio->key, wire, compared[i].transport, wire->names[compared[i].test],
            compared[i].suffix);
        ratio->figure = figure_of(wire, compared[i].test, compared[i].transport);
        ratio->to = figure_of(wire, compared[i].other_test, compared[i].other_transport);
        ratio->aim = compared[i].aim;
        ratio->at_least = is_throughput(&tests[compared[i].test].test);
    }
    return &wire->group;
}
