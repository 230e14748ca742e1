/* SPDX-License-Identifier: MIT */
/*
 * steps.h - counts the instructions that one thread executes in marked parts, by stepping it (ptrace). Locked ones are
 * those with a lock prefix, exchanges with memory, and mfence. On x86-64 alone.
 */
#ifndef TESTS_BENCH_STEPS_H
#define TESTS_BENCH_STEPS_H

#include <stdbool.h>
#include <stdint.h>

enum { STEPS_PARTS = 8, STEPS_SAMPLES = 512 };

/* Medians over the runs of a part. count 0: it was not run. */
struct steps {
    unsigned count;
    uint32_t instructions, locked;
};

/*
 * steps_run - runs body in a process of its own and counts what its first thread does between steps_begin and
 * steps_end there. What other threads of it do is not counted, and goes on meanwhile.
 * of  out: of each part
 * Returns false where that cannot be done here, or body failed; it has said why.
 */
bool steps_run(void (*body)(void *argument), void *argument, struct steps of[STEPS_PARTS]);

/*
 * In body, its first thread. steps_begin, steps_end: what lies between the two is one run of the part; part < 0: it is
 * not counted. From the first steps_begin on the other threads stand still, until steps_rest, or until the first one
 * has waited for long.
 */
void steps_begin(void);
void steps_end(int part);
void steps_rest(void);

#endif
