/* SPDX-License-Identifier: MIT */
/*
 * report.h - where results go: results.json, and the same table to results.txt and standard output.
 *
 * results.json is one flat object of numbers: each figure and ratio under its key; where it has an aim, that under
 * KEY.aim, and under KEY.met 1 or 0; how many rounds there were under "rounds", or NAME.rounds for a device of that
 * name.
 */
#ifndef TESTS_BENCH_REPORT_H
#define TESTS_BENCH_REPORT_H

#include "tests/bench/bench.h"

#include <stdio.h>

struct bench_report {
    const char *directory;
    const char *device; /* whose results these are, or NULL */
    unsigned rounds;
    bool quiet; /* nothing to standard output */
    FILE *json, *table;
};

/* Opens both files of a report whose other members are there; false with errno. */
bool bench_report_open(struct bench_report *report);
/* Ends and closes both files; false with errno when a write to them failed. */
bool bench_report_close(struct bench_report *report);

/* To the table and to standard output. */
void bench_say(struct bench_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One number of results.json. */
void bench_put(struct bench_report *report, const char *key, double value);

/* Everything measured of a group: the figures, then the ratios. */
void bench_report_group(struct bench_report *report, const struct bench_group *group);

/*
 * "<= 1.05" and whether that is met: the end of a figure's line in the table, and in results.json. aim 0 says nothing.
 */
void bench_judge(
    struct bench_report *report, const char *key, double value, double aim, bool at_least);

#endif
