/* SPDX-License-Identifier: MIT */
/*
 * ndspi-bench - measures NetworkDirect on the embedded device against raw verbs calls on the same device, raw TCP, and
 * libfabric's tcp provider, all over the loopback interface.
 *
 * usage: ndspi-bench DIRECTORY [TEST]
 * Writes DIRECTORY/results.json, one flat object of numbers, and DIRECTORY/results.txt, the table it prints. TEST limits it
 * to one of the tests below, or to "instructions".
 *
 * What one network, one scheduler and one machine do to a figure they do to all, so the ratios are what counts: every
 * round measures everything once, in turn, and each figure is the median of its rounds.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRANSPORT_TCP,
    TRANSPORT_VERBS,
    TRANSPORT_ND1,
    TRANSPORT_ND2,
    TRANSPORT_LIBFABRIC,
    TRANSPORTS
};

static const struct {
    const char *key;  /* prefix in results.json */
    const char *name; /* in the table */
    bench_play_fn *play;
} transports[TRANSPORTS] = {
    [TRANSPORT_TCP] = { "tcp", "TCP sockets", bench_tcp },
    [TRANSPORT_VERBS] = { "soft.verbs", "verbs calls, softrdma", bench_verbs },
    [TRANSPORT_ND1] = { "soft.v1", "NetworkDirect v1, softrdma", bench_nd1 },
    [TRANSPORT_ND2] = { "soft.v2", "NetworkDirect v2, softrdma", bench_nd2 },
    [TRANSPORT_LIBFABRIC] = { "libfabric", "libfabric tcp (fi_pingpong)", NULL },
};

enum { POLL, EVENT, PORT, STREAM, SINGLE, BATCH, TESTS };

#define BY(transport) (1u << TRANSPORT_##transport)
#define BY_ND         (BY(ND1) | BY(ND2))
#define BY_ALL        (BY(TCP) | BY(VERBS) | BY_ND | BY(LIBFABRIC))

static const struct {
    unsigned
        by; /* the transports it is measured on: a port is NetworkDirect's, fi_pingpong only polls */
    struct bench_test test;
} tests[TESTS] = {
    [POLL] = { BY_ALL, { .name = "poll_8B", .octets = 8, .warmup = 2000, .count = 20000 } },
    [EVENT] = { BY_ALL & ~BY(LIBFABRIC),
        { .name = "event_8B", .wait = BENCH_EVENT, .octets = 8, .warmup = 500, .count = 5000 } },
    [PORT] = { BY_ND,
        { .name = "port_8B", .wait = BENCH_PORT, .octets = 8, .warmup = 500, .count = 5000 } },
    [STREAM] = { BY_ALL, { .name = "stream_1MiB",
                             .stream = true,
                             .octets = 1 << 20,
                             .warmup = 100,
                             .count = 1000 } },
    [SINGLE] = { BY(ND1),
        { .name = "single16_64B", .burst = 16, .octets = 64, .warmup = 500, .count = 5000 } },
    [BATCH] = { BY(ND1), { .name = "batch16_64B",
                             .batch = true,
                             .burst = 16,
                             .octets = 64,
                             .warmup = 500,
                             .count = 5000 } },
};

/* What a NetworkDirect version's figure of a test is held against: another transport's figure of a test. */
static const struct {
    unsigned transport, test;
    const char *suffix;
    unsigned other_transport, other_test;
    double aim; /* a time's ratio at most, a stream's at least; 0: none */
} ratios[] = {
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

static const struct {
    const char *name; /* in the key */
    double aim;       /* at most, completions fetched together */
} counted[BENCH_COUNTED] = {
    [BENCH_COUNTED_V1] = { "v1", 140 },
    [BENCH_COUNTED_V2] = { "v2", 120 },
};

struct series {
    double value[BENCH_ROUNDS]; /* in unit() of the test */
    unsigned count;
};

static struct series measured[TESTS][TRANSPORTS];
static const char *absent_why; /* why libfabric has no figures */

/* Both files get the same text. */
static FILE *table;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *format, ...)
{
    va_list args;

    for (int i = 0; i < 2; i++) {
        va_start(args, format);
        vfprintf(i ? table : stdout, format, args);
        va_end(args);
    }
}

static int compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* NAN where nothing was measured. */
static double median(unsigned test, unsigned transport)
{
    const struct series *series = &measured[test][transport];
    double sorted[BENCH_ROUNDS];

    if (series->count == 0)
        return NAN;
    memcpy(sorted, series->value, sizeof sorted);
    qsort(sorted, series->count, sizeof sorted[0], compare_doubles);
    return series->count % 2 ? sorted[series->count / 2]
                             : (sorted[series->count / 2 - 1] + sorted[series->count / 2]) / 2;
}

static bool measure(unsigned test_index, unsigned transport)
{
    const struct bench_test *test = &tests[test_index].test;
    struct series *series = &measured[test_index][transport];
    uint64_t elapsed_ns;
    double value;

    if (transport == TRANSPORT_LIBFABRIC) {
        if (absent_why || !bench_libfabric(test, &value, &absent_why))
            return true;
        absent_why = NULL;
    } else {
        elapsed_ns = bench_run_pair(transports[transport].key, test, transports[transport].play);
        if (elapsed_ns == 0)
            return false;
        value = test->stream ? (double)test->octets * test->count * 1e3 / (double)elapsed_ns
                             : (double)elapsed_ns / test->count / (test->burst ? 1e3 : 2e3);
    }
    series->value[series->count++] = value;
    return true;
}

/* Whether a test is to be run when only one was asked for: itself, or what it is compared with. */
static bool wanted(unsigned test, const char *only)
{
    if (!only || strcmp(only, tests[test].test.name) == 0)
        return true;
    for (unsigned i = 0; i < sizeof ratios / sizeof ratios[0]; i++)
        if (ratios[i].other_test == test && strcmp(only, tests[ratios[i].test].test.name) == 0)
            return true;
    return false;
}

/* Returns false when a measurement that must work failed. */
static bool measure_all(const char *only)
{
    for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
        fprintf(stderr, "round %u of %d:", round + 1, BENCH_ROUNDS);
        for (unsigned test = 0; test < TESTS; test++) {
            const char *name = tests[test].test.name;

            if (!wanted(test, only))
                continue;
            fprintf(stderr, " %s", name);
            for (unsigned transport = 0; transport < TRANSPORTS; transport++)
                if (tests[test].by & 1u << transport && !measure(test, transport)) {
                    fprintf(stderr, "\n%s %s failed\n", transports[transport].name, name);
                    return false;
                }
        }
        fputc('\n', stderr);
    }
    return true;
}

static const char *unit(const struct bench_test *test)
{
    return test->stream ? "MB/s" : test->burst ? "us a burst" : "us one way";
}

static void report_absolutes(FILE *json)
{
    say("medians of %d rounds%-*s", BENCH_ROUNDS, 11, "");
    for (unsigned test = 0; test < TESTS; test++)
        say(" %12s", tests[test].test.name);
    say("\n%-30s", "");
    for (unsigned test = 0; test < TESTS; test++)
        say(" %12s", unit(&tests[test].test));
    say("\n");
    for (unsigned transport = 0; transport < TRANSPORTS; transport++) {
        say("%-30s", transports[transport].name);
        for (unsigned test = 0; test < TESTS; test++) {
            const struct bench_test *of = &tests[test].test;
            double value = median(test, transport);

            if (isnan(value)) {
                say(" %12s", "-");
                continue;
            }
            say(of->stream ? " %12.0f" : " %12.2f", value);
            fprintf(json, "  \"%s.%s.%s\": %.3f,\n", transports[transport].key, of->name,
                of->stream ? "MBps" : "us", value);
        }
        say("\n");
    }
    if (absent_why)
        say("libfabric was not measured: %s\n", absent_why);
    say("\n");
}

static void report_ratios(FILE *json)
{
    say("%-38s %8s %10s\n", "NetworkDirect to the others", "ratio", "aim");
    for (unsigned i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
        const struct bench_test *test = &tests[ratios[i].test].test;
        double value = median(ratios[i].test, ratios[i].transport) /
                       median(ratios[i].other_test, ratios[i].other_transport);
        const char *sign = test->stream ? ">=" : "<=";
        bool met = test->stream ? value >= ratios[i].aim : value <= ratios[i].aim;
        char key[64];

        if (isnan(value))
            continue;
        snprintf(key, sizeof key, "%s.%s.%s", transports[ratios[i].transport].key, test->name,
            ratios[i].suffix);
        fprintf(json, "  \"%s\": %.4f,\n", key, value);
        if (ratios[i].aim > 0)
            say("%-38s %8.3f   %s %5.2f%s\n", key, value, sign, ratios[i].aim,
                met ? "" : "   MISSED");
        else
            say("%-38s %8.3f\n", key, value);
    }
    say("\n");
}

static bool report_instructions(FILE *json, const char *directory)
{
    struct bench_instructions instructions[BENCH_COUNTED];
    const char *why;

    fprintf(stderr, "counting instructions under callgrind\n");
    if (!bench_count_instructions(directory, table, instructions, &why)) {
        say("instructions were not counted: %s\n", why);
        return false;
    }
    say("instructions added to one Send, one Receive and their two completions\n");
    for (unsigned i = 0; i < BENCH_COUNTED; i++) {
        double together = instructions[i].together, singly = instructions[i].singly;

        fprintf(json, "  \"overhead.%s_instructions\": %.1f,\n", counted[i].name, together);
        fprintf(json, "  \"overhead.%s_instructions_singly\": %.1f,\n", counted[i].name, singly);
        say("  NetworkDirect %s: completions fetched together %.1f, one by one %.1f   <= %.0f%s\n",
            counted[i].name, together, singly, counted[i].aim,
            together <= counted[i].aim ? "" : "   MISSED");
    }
    say("  (by function: %s/results.txt)\n", directory);
    return true;
}

static FILE *open_in(const char *directory, const char *name)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "w");
    if (!file) {
        fprintf(stderr, "ndspi-bench: %s: %s\n", path, strerror(errno));
        exit(2);
    }
    return file;
}

int main(int argc, char **argv)
{
    const char *only = argc > 2 ? argv[2] : NULL;
    bool good = true;
    FILE *json;

    if (argc < 2 || argc > 3) {
        fprintf(stderr, "usage: ndspi-bench DIRECTORY [TEST]\n");
        return 2;
    }
    setenv("NDSPI_DEVICE", "soft", 1);
    json = open_in(argv[1], "results.json");
    table = open_in(argv[1], "results.txt");
    fprintf(json, "{\n");
    if (!only || strcmp(only, "instructions") != 0) {
        good = measure_all(only);
        report_absolutes(json);
        report_ratios(json);
    }
    if (!only || strcmp(only, "instructions") == 0)
        good = report_instructions(json, argv[1]) && good;
    fprintf(json, "  \"rounds\": %d\n}\n", BENCH_ROUNDS);
    if (fclose(json) != 0 || fclose(table) != 0) {
        fprintf(stderr, "ndspi-bench: %s: %s\n", argv[1], strerror(errno));
        return 2;
    }
    return good ? 0 : 1;
}
