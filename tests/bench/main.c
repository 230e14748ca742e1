/* SPDX-License-Identifier: MIT */
/*
 * ndspi-bench - measures NetworkDirect on the embedded device against raw verbs calls on the same
 * device, raw TCP, and libfabric's tcp provider, all over the loopback interface.
 *
 * usage: ndspi-bench DIRECTORY [TEST]
 * Writes DIRECTORY/results.json, one flat object of numbers, and DIRECTORY/results.txt, the table
 * it prints. TEST limits it to one of poll_8B, event_8B, port_8B, stream_1MiB, instructions.
 *
 * What one network, one scheduler and one machine do to a figure they do to all, so the ratios are
 * what counts: every round measures everything once, in turn, and each figure is the median of its
 * rounds.
 */
#include "tests/bench/bench.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { TRANSPORT_TCP, TRANSPORT_VERBS, TRANSPORT_ND2, TRANSPORT_LIBFABRIC, TRANSPORTS };

static const struct {
    const char *key;  /* prefix in results.json */
    const char *name; /* in the table */
    uint64_t (*play)(const struct bench_side *side);
} transports[TRANSPORTS] = {
    [TRANSPORT_TCP] = { "tcp", "TCP sockets", bench_tcp },
    [TRANSPORT_VERBS] = { "soft.verbs", "verbs calls, softrdma", bench_verbs },
    [TRANSPORT_ND2] = { "soft.v2", "NetworkDirect v2, softrdma", bench_nd2 },
    [TRANSPORT_LIBFABRIC] = { "libfabric", "libfabric tcp (fi_pingpong)", NULL },
};

static const struct bench_test tests[] = {
    { .name = "poll_8B", .wait = BENCH_POLL, .octets = 8, .warmup = 2000, .count = 20000 },
    { .name = "event_8B", .wait = BENCH_EVENT, .octets = 8, .warmup = 500, .count = 5000 },
    { .name = "port_8B", .wait = BENCH_PORT, .octets = 8, .warmup = 500, .count = 5000 },
    { .name = "stream_1MiB",
        .wait = BENCH_POLL,
        .stream = true,
        .octets = 1 << 20,
        .warmup = 100,
        .count = 1000 },
};

enum { TESTS = sizeof tests / sizeof tests[0] };

/* What NetworkDirect's figure of a test is held against; aim 0: none. */
static const struct {
    unsigned test, transport;
    const char *suffix;
    double aim; /* a ping-pong's ratio at most, a stream's at least */
} ratios[] = {
    { 0, TRANSPORT_VERBS, "vs_verbs", 1.05 },
    { 0, TRANSPORT_TCP, "vs_tcp", 1.4 },
    { 0, TRANSPORT_LIBFABRIC, "vs_libfabric", 1.0 },
    { 1, TRANSPORT_VERBS, "vs_verbs", 1.05 },
    { 1, TRANSPORT_TCP, "vs_tcp", 1.6 },
    { 2, TRANSPORT_VERBS, "vs_verbs", 1.05 },
    { 2, TRANSPORT_TCP, "vs_tcp", 1.8 },
    { 3, TRANSPORT_TCP, "vs_tcp", 0.85 },
    { 3, TRANSPORT_LIBFABRIC, "vs_libfabric", 0 },
    { 3, TRANSPORT_VERBS, "vs_verbs", 0.95 },
};

static const double instructions_aim = 120;

struct series {
    double value[BENCH_ROUNDS]; /* us one way, or MB/s */
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

/* A port is NetworkDirect's; the others block as they do in event_8B, and are not measured twice.
 */
static bool measures(unsigned test, unsigned transport)
{
    if (tests[test].wait == BENCH_PORT)
        return transport == TRANSPORT_ND2;
    return transport != TRANSPORT_LIBFABRIC || tests[test].wait == BENCH_POLL;
}

static bool measure(unsigned test_index, unsigned transport)
{
    const struct bench_test *test = &tests[test_index];
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
                             : (double)elapsed_ns / test->count / 2e3;
    }
    series->value[series->count++] = value;
    return true;
}

/* Returns false when a measurement that must work failed. */
static bool measure_all(const char *only)
{
    for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
        fprintf(stderr, "round %u of %d:", round + 1, BENCH_ROUNDS);
        for (unsigned test = 0; test < TESTS; test++) {
            if (only && strcmp(only, tests[test].name) != 0 &&
                !(tests[test].wait == BENCH_EVENT && strcmp(only, "port_8B") == 0))
                continue;
            fprintf(stderr, " %s", tests[test].name);
            for (unsigned transport = 0; transport < TRANSPORTS; transport++)
                if (measures(test, transport) && !measure(test, transport)) {
                    fprintf(
                        stderr, "\n%s %s failed\n", transports[transport].name, tests[test].name);
                    return false;
                }
        }
        fputc('\n', stderr);
    }
    return true;
}

static unsigned reference_test(unsigned test)
{
    return tests[test].wait == BENCH_PORT ? 1 : test;
}

static void report_absolutes(FILE *json)
{
    say("%-30s", "medians of 7 rounds");
    for (unsigned test = 0; test < TESTS; test++)
        say(" %12s", tests[test].name);
    say("\n%-30s", "");
    for (unsigned test = 0; test < TESTS; test++)
        say(" %12s", tests[test].stream ? "MB/s" : "us one way");
    say("\n");
    for (unsigned transport = 0; transport < TRANSPORTS; transport++) {
        say("%-30s", transports[transport].name);
        for (unsigned test = 0; test < TESTS; test++) {
            double value = median(test, transport);

            if (isnan(value)) {
                say(" %12s", "-");
                continue;
            }
            say(tests[test].stream ? " %12.0f" : " %12.2f", value);
            fprintf(json, "  \"%s.%s.%s\": %.3f,\n", transports[transport].key, tests[test].name,
                tests[test].stream ? "MBps" : "us", value);
        }
        say("\n");
    }
    if (absent_why)
        say("libfabric was not measured: %s\n", absent_why);
    say("\n");
}

static void report_ratios(FILE *json)
{
    say("%-38s %8s %10s\n", "NetworkDirect v2 to the others", "ratio", "aim");
    for (unsigned i = 0; i < sizeof ratios / sizeof ratios[0]; i++) {
        unsigned test = ratios[i].test;
        double value =
            median(test, TRANSPORT_ND2) / median(reference_test(test), ratios[i].transport);
        const char *sign = tests[test].stream ? ">=" : "<=";
        bool met = tests[test].stream ? value >= ratios[i].aim : value <= ratios[i].aim;
        char key[64];

        if (isnan(value))
            continue;
        snprintf(key, sizeof key, "soft.v2.%s.%s", tests[test].name, ratios[i].suffix);
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
    double together, singly;
    const char *why;

    fprintf(stderr, "counting instructions under callgrind\n");
    if (!bench_count_instructions(directory, table, &together, &singly, &why)) {
        say("instructions were not counted: %s\n", why);
        return false;
    }
    fprintf(json, "  \"overhead.v2_instructions\": %.1f,\n", together);
    fprintf(json, "  \"overhead.v2_instructions_singly\": %.1f,\n", singly);
    say("instructions added by NetworkDirect v2 to one Send, one Receive and their two "
        "completions:\n"
        "  completions fetched together %.1f, one by one %.1f   <= %.0f%s\n"
        "  (by function: %s/results.txt)\n",
        together, singly, instructions_aim, together <= instructions_aim ? "" : "   MISSED",
        directory);
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
