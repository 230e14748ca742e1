/* SPDX-License-Identifier: MIT */
/* process.h - every measurement runs in processes of its own, forked for it. */
#ifndef TESTS_BENCH_PROCESS_H
#define TESTS_BENCH_PROCESS_H

#include <stdint.h>

enum {
    BENCH_PROCESSES = 4,       /* at most */
    BENCH_DEADLINE_MS = 30000, /* of one measurement */
};

/* What a process does. The first one's result is the measurement's, in nanoseconds; errors end it (bench_die). */
typedef uint64_t bench_process_fn(const void *argument);

struct bench_process {
    bench_process_fn *run;
    const void *argument;
    char who[96]; /* for messages */
};

/*
 * bench_run - fork count (1 to BENCH_PROCESSES) processes, the first on the first processor, the second on the second
 * (bench_pin), the third on the first, and wait for them. Returns the first one's nanoseconds, 0 when one failed (it
 * has said why) or the deadline passed.
 */
uint64_t bench_run(const struct bench_process *processes, unsigned count);
/* The same with another deadline. */
uint64_t bench_run_for(const struct bench_process *processes, unsigned count, uint64_t limit_ms);

/*
 * Where the calling thread runs: on the first, or the second, of the processors this program may use. Left to itself
 * the scheduler sometimes puts both sides on one, which alone changes a ping-pong two- to tenfold.
 */
void bench_pin(unsigned place);
/* First of all: which processors there are. */
void bench_pin_begin(void);

/* Says what failed and ends the process. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
