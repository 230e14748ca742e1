/* SPDX-License-Identifier: MIT */
/* wire_group.h - groups of tests that send messages over a connection, each given as two tables (wire_group.c). */
#ifndef TESTS_BENCH_WIRE_GROUP_H
#define TESTS_BENCH_WIRE_GROUP_H

#include "tests/bench/bench.h"
#include "tests/bench/wire.h"

enum wire_transport {
    TRANSPORT_TCP,
    TRANSPORT_VERBS, /* this and NetworkDirect are measured at the group's place */
    TRANSPORT_ND1,
    TRANSPORT_ND2,
    TRANSPORT_LIBFABRIC,
    TRANSPORT_UCX,
    TRANSPORT_RING,
    TRANSPORTS
};

#define BY(transport) (1u << TRANSPORT_##transport)
#define BY_ND         (BY(ND1) | BY(ND2))

struct wire_test {
    /* the transports it is measured on: completion ports are NetworkDirect's alone, others' programs only poll */
    unsigned by;
    struct bench_test test;
};

/* Another transport's figure of a test, which a NetworkDirect version's figure is compared with. */
struct wire_ratio {
    enum wire_transport transport;
    unsigned test;
    const char *suffix;
    enum wire_transport other_transport;
    unsigned other_test;
    double aim; /* a time's ratio at most, a throughput's at least; 0: none */
};

enum { WIRE_TESTS_MAX = 24, WIRE_RATIOS_MAX = 32 };

struct wire_group {
    struct bench_group group;
    const struct bench_place *place;
    const struct wire_test *tests;
    const char *names[WIRE_TESTS_MAX + 1];
    struct bench_figure figures[WIRE_TESTS_MAX * TRANSPORTS];
    struct bench_ratio ratios[WIRE_RATIOS_MAX];
};

/* Fills in the rest of a group of which name and about are there. Returns what the rounds use. */
struct bench_group *wire_group_make(struct wire_group *wire, const struct bench_place *place,
    const struct wire_test *tests, unsigned test_count, const struct wire_ratio *compared,
    unsigned compared_count);

#endif
