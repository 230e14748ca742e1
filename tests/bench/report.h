/* SPDX-License-Identifier: MIT */
/* report.h - where results go: results.json, and the same table to results.txt and standard output. */
#ifndef TESTS_BENCH_REPORT_H
#define TESTS_BENCH_REPORT_H

#include "tests/bench/bench.h"

#include <stdio.h>

struct bench_report {
    const char *directory;
    unsigned rounds;
    FILE *json, *table;
};

/* Opens both files; false with errno. */
bool bench_report_open(struct bench_report *report, const char *directory, unsigned rounds);
/* Ends and closes them; false with errno when what was written did not reach them. */
bool bench_report_close(struct bench_report *report);

/* To the table and to standard output. */
void bench_say(struct bench_report *report, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One number of results.json. */
void bench_put(struct bench_report *report, const char *key, double value);

/* Everything measured of a group: the figures, then the ratios. */
void bench_report_group(struct bench_report *report, const struct bench_group *group);

/* " <= 1.05", and whether it is missed: the end of a line of the table. aim 0 says nothing. */
void bench_judge(struct bench_report *report, double value, double aim, bool at_least);

#endif
