/* SPDX-License-Identifier: MIT */
/*
 * ndspi-bench - what NetworkDirect and the Windows objects below it cost, against what they stand on.
 *
 * usage: ndspi-bench DIRECTORY [GROUP|TEST]
 * Writes DIRECTORY/results.json, one flat object of numbers, and DIRECTORY/results.txt, the tables it prints.
 *
 * What one network, one scheduler and one machine do to a figure they do to all, so the ratios are what counts. Everything
 * is measured once a round, in many short rounds, in an order that changes from round to round (rounds.c), each
 * measurement in processes of its own. A ratio is the median over the rounds of the ratio within the round.
 */
#include "tests/bench/instructions.h"
#include "tests/bench/process.h"
#include "tests/bench/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bench_group_fn *const makers[] = { bench_wire, bench_winobj };

enum { GROUPS = sizeof makers / sizeof makers[0] };

static struct bench_group *groups[GROUPS];

static void usage(FILE *to)
{
    fprintf(to,
        "usage: ndspi-bench DIRECTORY [GROUP|TEST]\n"
        "Measures everything, or one group of tests, or one test with what it is held against.\n"
        "Writes DIRECTORY/results.json and DIRECTORY/results.txt.\n");
    for (unsigned i = 0; i < GROUPS; i++) {
        fprintf(to, "\n%-14s %s\n", groups[i]->name, groups[i]->about);
        for (unsigned j = 0; groups[i]->tests[j]; j++)
            fprintf(to, "  %s\n", groups[i]->tests[j]);
    }
    fprintf(to, "\n%-14s what a Send, a Receive and their completions cost beyond verbs calls\n",
        BENCH_INSTRUCTIONS);
}

static bool is_test(const char *name)
{
    for (unsigned i = 0; i < GROUPS; i++) {
        if (strcmp(name, groups[i]->name) == 0)
            return true;
        for (unsigned j = 0; groups[i]->tests[j]; j++)
            if (strcmp(name, groups[i]->tests[j]) == 0)
                return true;
    }
    return strcmp(name, BENCH_INSTRUCTIONS) == 0;
}

static bool group_wanted(const struct bench_group *group, const char *only)
{
    for (unsigned i = 0; group->tests[i]; i++)
        if (bench_wanted(group, group->tests[i], only))
            return true;
    return false;
}

/* Returns false when a measurement that must work failed. */
static bool measure(struct bench_report *report, const char *only)
{
    bool good = true;

    for (unsigned i = 0; i < GROUPS; i++)
        bench_begin(groups[i]);
    for (unsigned round = 0; round < BENCH_ROUNDS; round++) {
        fprintf(stderr, "round %u of %d:", round + 1, BENCH_ROUNDS);
        for (unsigned i = 0; i < GROUPS; i++)
            good = bench_round(groups[i], round, only) && good;
        fputc('\n', stderr);
    }
    for (unsigned i = 0; i < GROUPS; i++)
        if (group_wanted(groups[i], only))
            bench_report_group(report, groups[i]);
    return good;
}

int main(int argc, char **argv)
{
    const char *only = argc > 2 ? argv[2] : NULL;
    struct bench_report report;
    bool good = true;

    bench_pin_begin();
    for (unsigned i = 0; i < GROUPS; i++)
        groups[i] = makers[i]();
    if (argc == 2 && (strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "--help") == 0)) {
        usage(stdout);
        return 0;
    }
    if (argc < 2 || argc > 3 || argv[1][0] == '-') {
        usage(stderr);
        return 2;
    }
    if (only && !is_test(only)) {
        fprintf(stderr,
            "ndspi-bench: no test or group is called \"%s\" (ndspi-bench -h lists them)\n", only);
        return 2;
    }
    setenv("NDSPI_DEVICE", "soft", 1);
    if (!bench_report_open(&report, argv[1])) {
        fprintf(stderr, "ndspi-bench: %s: %s\n", argv[1], strerror(errno));
        return 2;
    }
    if (!only || strcmp(only, BENCH_INSTRUCTIONS) != 0)
        good = measure(&report, only);
    if (!only || strcmp(only, BENCH_INSTRUCTIONS) == 0)
        good = bench_instructions(&report) && good;
    if (!bench_report_close(&report)) {
        fprintf(stderr, "ndspi-bench: %s: %s\n", argv[1], strerror(errno));
        return 2;
    }
    return good ? 0 : 1;
}
