/* SPDX-License-Identifier: MIT */
/*
 * ndspi-bench - what NetworkDirect and the Windows objects below it cost, against what they stand on.
 *
 * usage: ndspi-bench [-q] [-r ROUNDS] DIRECTORY [GROUP|TEST]
 *        ndspi-bench [-q] [-r ROUNDS] -d NAME=SERVER[,CLIENT] DIRECTORY [TEST]
 * The second measures a device that rdma-core drives, between two of its addresses, and nothing else. Writes
 * DIRECTORY/results.json, one flat object of numbers, and DIRECTORY/results.txt, the tables it prints (not with -q).
 *
 * What one network, one scheduler and one machine do to a figure they do to all, so the ratios are what counts.
 * Everything is measured once a round, in many short rounds, in an order that changes from round to round (rounds.c),
 * each measurement in processes of its own. A ratio is the median over the rounds of the ratio within the round.
 */
#include "tests/bench/connections.h"
#include "tests/bench/instructions.h"
#include "tests/bench/process.h"
#include "tests/bench/report.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { GROUPS_MAX = 9 };

static struct bench_group *groups[GROUPS_MAX + 1]; /* NULL behind the last */
static bool with_others; /* what is measured in its own way: connections, instructions */
static struct bench_report report = { .rounds = BENCH_ROUNDS };

static void usage(FILE *to)
{
    fprintf(to,
        "usage: ndspi-bench [-q] [-r ROUNDS] DIRECTORY [GROUP|TEST]\n"
        "       ndspi-bench [-q] [-r ROUNDS] -d NAME=SERVER[,CLIENT] DIRECTORY [TEST]\n"
        "Measures everything, or one group of tests, or one test with what it is held against.\n"
        "Writes DIRECTORY/results.json and DIRECTORY/results.txt.\n"
        "  -d   measure a device that rdma-core drives (its IPv4 address, or one for each side) "
        "and\n"
        "       nothing else; NAME begins the keys\n"
        "  -q   print no table\n"
        "  -r   rounds, in place of %d; with few of them trust no figure\n",
        BENCH_ROUNDS);
    for (unsigned i = 0; groups[i]; i++) {
        fprintf(to, "\n%-14s %s\n", groups[i]->name, groups[i]->about);
        for (unsigned j = 0; groups[i]->tests[j]; j++)
            fprintf(to, "  %s\n", groups[i]->tests[j]);
    }
    if (with_others)
        fprintf(to,
            "\n%-14s 1 to 10000 connections between two processes: memory, rates, what idle ones "
            "cost\n"
            "\n%-14s what a Send, a Receive and their completions cost beyond verbs calls\n",
            BENCH_CONNECTIONS, BENCH_INSTRUCTIONS);
}

static bool is_other(const char *name)
{
    return with_others && (bench_is_connections(name) || strcmp(name, BENCH_INSTRUCTIONS) == 0);
}

static bool is_test(const char *name)
{
    for (unsigned i = 0; groups[i]; i++) {
        if (strcmp(name, groups[i]->name) == 0)
            return true;
        for (unsigned j = 0; groups[i]->tests[j]; j++)
            if (strcmp(name, groups[i]->tests[j]) == 0)
                return true;
    }
    return is_other(name);
}

static bool group_wanted(const struct bench_group *group, const char *only)
{
    for (unsigned i = 0; group->tests[i]; i++)
        if (bench_wanted(group, group->tests[i], only))
            return true;
    return false;
}

/* Returns false when a measurement that must work failed. */
static bool measure(const char *only)
{
    bool good = true;

    for (unsigned i = 0; groups[i]; i++)
        bench_begin(groups[i]);
    for (unsigned round = 0; round < report.rounds; round++) {
        fprintf(stderr, "round %u of %u:", round + 1, report.rounds);
        for (unsigned i = 0; groups[i]; i++)
            good = bench_round(groups[i], round, only) && good;
        fputc('\n', stderr);
    }
    for (unsigned i = 0; groups[i]; i++)
        if (group_wanted(groups[i], only))
            bench_report_group(&report, groups[i]);
    return good;
}

static void all_groups(void)
{
    groups[0] = bench_wire();
    groups[1] = bench_fair();
    groups[2] = bench_winobj();
    groups[3] = bench_wine();
    groups[4] = bench_fast_register();
    groups[5] = bench_ndk();
    groups[6] = bench_sockets();
    groups[7] = bench_shm();
    groups[8] = bench_idioms();
    with_others = true;
}

/* 0: not a number from 1 to BENCH_ROUNDS. */
static unsigned parse_rounds(const char *text)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    return *end || value > BENCH_ROUNDS ? 0 : (unsigned)value;
}

/* Returns -1 to go on, or the exit status. */
static int options(int argc, char **argv)
{
    const char *device = NULL;
    static const struct option words[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
    int option, help = 0;

    while ((option = getopt_long(argc, argv, "d:r:qh", words, NULL)) != -1) {
        switch (option) {
        case 'd': device = optarg; break;
        case 'r': report.rounds = parse_rounds(optarg); break;
        case 'q': report.quiet = true; break;
        case 'h': help = 1; break;
        default: help = 2; break;
        }
    }
    if (!device) {
        all_groups();
    } else if (!(groups[0] = bench_device(device))) {
        return 2;
    } else {
        report.device = groups[0]->name;
    }
    if (report.rounds == 0) {
        fprintf(stderr, "ndspi-bench: -r wants a number from 1 to %d\n", BENCH_ROUNDS);
        return 2;
    }
    if (help || optind == argc || argc - optind > 2) {
        usage(help == 1 ? stdout : stderr);
        return help == 1 ? 0 : 2;
    }
    return -1;
}

int main(int argc, char **argv)
{
    const char *only;
    bool good = true;
    int status = options(argc, argv);

    if (status >= 0)
        return status;
    report.directory = argv[optind];
    only = argv[optind + 1];
    if (only && !is_test(only)) {
        fprintf(stderr,
            "ndspi-bench: no test or group is called \"%s\" (ndspi-bench -h lists them)\n", only);
        return 2;
    }
    if (!bench_report_open(&report)) {
        fprintf(stderr, "ndspi-bench: %s: %s\n", report.directory, strerror(errno));
        return 2;
    }
    bench_pin_begin();
    if (!only || !is_other(only))
        good = measure(only);
    if (with_others && (!only || bench_is_connections(only)))
        good = bench_connections(&report, only) && good;
    if (with_others && (!only || strcmp(only, BENCH_INSTRUCTIONS) == 0))
        good = bench_instructions(&report) && good;
    if (!bench_report_close(&report)) {
        fprintf(stderr, "ndspi-bench: %s: %s\n", report.directory, strerror(errno));
        return 2;
    }
    return good ? 0 : 1;
}
