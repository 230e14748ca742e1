/* SPDX-License-Identifier: MIT */
/*
 * bench.h - what is measured, in every group alike: figures, taken once a round, and aims they are held against.
 *
 * A group of tests brings a struct bench_group and is listed in main.c; nothing else knows it. Its figures are measured
 * in rounds: each round measures every figure once, the figures of one test after each other (bench_order says in which
 * order), so what the machine does meanwhile it does to all of them. A figure is reported as the median of its rounds;
 * a ratio as the median of the ratios within the rounds, never as the ratio of two medians: what slowed one round
 * slowed both of its sides.
 */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdbool.h>

enum { BENCH_ROUNDS = 31, BENCH_KEY = 64 };

struct bench_figure {
    char key[BENCH_KEY];        /* in results.json, with the unit: "soft.v2.poll_8B.us" */
    const char *test;           /* its test's name, in the group's list */
    unsigned what;              /* the group's own */
    double aim;                 /* at most; 0: none */
    double value[BENCH_ROUNDS]; /* NAN where nothing was measured */
    bool ended;                 /* it failed, or cannot be measured here: not tried again */
    const char *absent;         /* then: why it cannot */
};

/* A figure compared with another one of the group. */
struct bench_ratio {
    char key[BENCH_KEY];
    const struct bench_figure *figure, *to;
    double aim;    /* 0: none */
    bool at_least; /* otherwise at most */
};

struct bench_group {
    const char *name, *about; /* for the command line */
    const char *const *tests; /* names, NULL at the end */
    struct bench_figure *figures;
    unsigned figure_count;
    const struct bench_ratio *ratios;
    unsigned ratio_count;
    /*
     * Measures a figure once. Returns false when that failed (it has said why), or when it cannot be measured here:
     * *absent then says why (static).
     */
    bool (*measure)(const struct bench_group *group, const struct bench_figure *figure,
        double *value, const char **absent);
};

/* Each makes its group; called once. */
struct bench_group *bench_wire(void), *bench_fair(void), *bench_winobj(void), *bench_wine(void),
    *bench_fast_register(void), *bench_ndk(void), *bench_sockets(void), *bench_shm(void),
    *bench_idioms(void);

/*
 * bench_device - the group of a device that rdma-core drives.
 * text  "NAME=SERVER[,CLIENT]": the prefix of its keys, and the device's IPv4 address; or both sides' addresses
 * Returns NULL when text is not understood or no device has an address (it has said so).
 */
struct bench_group *bench_device(const char *text);

/*
 * bench_order - which of count things is measured as the i-th of a round. Over the rounds each of them follows each
 * other one equally often (within one), and each comes at each place.
 */
unsigned bench_order(unsigned count, unsigned round, unsigned i);

/*
 * What was asked for on the command line: NULL (everything), a group's name, or a test's, with what that is held
 * against.
 */
bool bench_wanted(const struct bench_group *group, const char *test, const char *only);

/* Before the first round. */
void bench_begin(struct bench_group *group);

/* Measures what is wanted of a group in one round. Returns false when anything failed. */
bool bench_round(struct bench_group *group, unsigned round, const char *only);

#endif
