/* SPDX-License-Identifier: MIT */
/*
 * bench.h - what the benchmark program's parts share.
 *
 * A test is measured by a pair of processes forked for it: the client, which takes the time, and
 * the server. Each transport (raw TCP, raw verbs calls, NetworkDirect version 2) brings one
 * function that plays either side, with its own straight loop: nothing common sits in a measured
 * path.
 */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum bench_wait { BENCH_POLL, BENCH_EVENT, BENCH_PORT };

struct bench_test {
    const char *name;     /* as in the keys: "poll_8B" */
    enum bench_wait wait; /* how both sides learn of a message */
    bool stream;          /* one direction, several outstanding; otherwise a ping-pong */
    size_t octets;        /* of a message */
    unsigned warmup;      /* messages (round trips) before the clock starts */
    unsigned count;       /* messages (round trips) measured */
};

enum {
    BENCH_WINDOW = 4,         /* messages outstanding in a stream; receives posted, twice that */
    BENCH_ROUNDS = 7,         /* of every measurement, interleaved */
    BENCH_DEADLINE_MS = 30000 /* of one measurement */
};

/* One side of a measurement. */
struct bench_side {
    const struct bench_test *test;
    bool client;
    int control; /* stream socket to the other side, for set-up */
};

/* Play one side. The client returns the nanoseconds that test->count took; errors end the process
 * (bench_die). */
uint64_t bench_tcp(const struct bench_side *side);
uint64_t bench_verbs(const struct bench_side *side);
uint64_t bench_nd2(const struct bench_side *side);

/*
 * bench_run_pair - fork both sides and wait. Returns the client's nanoseconds, 0 when a side failed
 * (it has said why) or the deadline passed.
 */
uint64_t bench_run_pair(const char *transport, const struct bench_test *test,
    uint64_t (*play)(const struct bench_side *side));

/*
 * bench_libfabric - the same through fi_pingpong on libfabric's tcp provider.
 * value  out: microseconds one way (ping-pong), or MB/s (stream: fi_pingpong measures large
 * messages turn by turn) Returns false, with the reason in why, when the program is missing or
 * fails.
 */
bool bench_libfabric(const struct bench_test *test, double *value, const char **why);

/*
 * Where a side runs: on one processor, the client on the first allowed one and the server on the
 * next. Left to itself the scheduler sometimes puts both on one, which alone changes a ping-pong
 * two- to tenfold.
 */
void bench_pin(bool client);

/* Says what failed and ends this side. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Set-up messages between the sides. */
void bench_tell(const struct bench_side *side, const void *data, size_t octets);
void bench_hear(const struct bench_side *side, void *data, size_t octets);

/*
 * A message buffer, touched. Every message of a side is sent from, or received into, the same one,
 * as the usual tools do (fi_pingpong among them): what is in which cache is then alike for all.
 * Ends the process on failure.
 */
void *bench_alloc(size_t octets);

/*
 * bench_count_instructions - run ndspi-bench-count under callgrind.
 * directory  in: where its output files go
 * table      in: the readable report is appended here
 * Results out: instructions of one Send, one Receive and both completions more than by raw verbs
 * calls, completions fetched together, and one by one. False, with the reason in why, when valgrind
 * is missing or fails.
 */
bool bench_count_instructions(
    const char *directory, FILE *table, double *together, double *singly, const char **why);

#endif
