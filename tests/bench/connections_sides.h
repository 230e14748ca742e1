/* SPDX-License-Identifier: MIT */
/*
 * connections_sides.h - the processes that measure N connections (connections.c): the active side and the passive one,
 * and a pair with one connection alone that pings by turns with them. The machine's own pace changes by half within
 * seconds, so a ratio to one connection alone is taken from turns that follow each other.
 */
#ifndef TESTS_BENCH_CONNECTIONS_SIDES_H
#define TESTS_BENCH_CONNECTIONS_SIDES_H

#include <stdint.h>

enum what {
    KIB_EACH,
    KIB_EACH_PEER,
    SETUPS_PER_S,
    ENDS_PER_S,
    POLL_US,
    EVENT_US,
    BUSY_PER_S,
    THREADS,
    LOST_MS,
    FIGURES, /* of these; then what is held against one connection alone */
    POLL_VS_ALONE = FIGURES,
    EVENT_VS_ALONE,
    VALUES
};

/* Both processes' results; shared memory. */
struct outcome {
    double value[VALUES];
};

struct scene {
    unsigned count;
    int control[2]; /* of the active side, the passive */
    int turns[2];   /* of the measured active side, the one beside it; -1: there is none */
    struct outcome *outcome;
};

/* Each is a process (bench_process_fn). argument in: its scene. */
uint64_t active_process(const void *argument);
uint64_t passive_process(const void *argument);
/* The active side of the pair with one connection: pings when it is told to. */
uint64_t active_process_beside(const void *argument);

#endif
