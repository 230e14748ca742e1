/* SPDX-License-Identifier: MIT */
/* instructions.h - instructions, counted once: they do not change from round to round. */
#ifndef TESTS_BENCH_INSTRUCTIONS_H
#define TESTS_BENCH_INSTRUCTIONS_H

#include "tests/bench/report.h"

#define BENCH_INSTRUCTIONS "instructions" /* on the command line */

/*
 * bench_instructions - run ndspi-bench-count under callgrind and report what one Send, one Receive and both completions
 * cost more in a NetworkDirect version than by raw verbs calls. Its files go to the report's directory. Returns false
 * when valgrind is missing or fails (the table says so).
 */
bool bench_instructions(struct bench_report *report);

#endif
