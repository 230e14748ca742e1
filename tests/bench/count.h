/* SPDX-License-Identifier: MIT */
/* count.h - between ndspi-bench-count and what runs it. */
#ifndef TESTS_BENCH_COUNT_H
#define TESTS_BENCH_COUNT_H

#define BENCH_COUNT_ROUNDS   1000
#define BENCH_COUNT_FUNCTION "bench_counted"

#endif
