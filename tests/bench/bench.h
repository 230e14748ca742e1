/* SPDX-License-Identifier: MIT */
/*
 * bench.h - what the benchmark program's parts share.
 *
 * A test is measured by a pair of processes forked for it: the client, which takes the time, and the server (pair.c).
 * Each transport brings a struct bench_api; driver.h plays either side with it.
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
    bool batch;           /* a burst is posted as one request batch */
    unsigned burst;       /* messages the client sends for one answer; 0 = 1 */
    size_t octets;        /* of a message */
    unsigned warmup;      /* messages (round trips) before the clock starts */
    unsigned count;       /* messages (round trips) measured */
};

enum {
    BENCH_WINDOW = 4,         /* messages outstanding in a stream */
    BENCH_DEPTH_MAX = 32,     /* of a queue */
    BENCH_BATCH = 8,          /* completions fetched at once */
    BENCH_ROUNDS = 7,         /* of every measurement, interleaved */
    BENCH_DEADLINE_MS = 30000 /* of one measurement */
};

/* How deep both queues of an end are, and how many receives it keeps posted. */
static inline unsigned bench_depth(const struct bench_test *test)
{
    return 2 * (test->burst > BENCH_WINDOW ? test->burst : BENCH_WINDOW);
}

/* One side of a measurement. */
struct bench_side {
    const struct bench_test *test;
    bool client;
    int control; /* stream socket to the other side, for set-up */
};

/* Play one side. The client returns the nanoseconds that test->count took; errors end the process (bench_die). */
typedef uint64_t bench_play_fn(const struct bench_side *side);
bench_play_fn bench_tcp, bench_verbs, bench_nd1, bench_nd2;

/*
 * bench_run_pair - fork both sides and wait. Returns the client's nanoseconds, 0 when a side failed (it has said why) or
 * the deadline passed.
 */
uint64_t bench_run_pair(const char *transport, const struct bench_test *test, bench_play_fn *play);

/*
 * bench_libfabric - the same through fi_pingpong on libfabric's tcp provider.
 * value  out: microseconds one way (ping-pong), or MB/s (stream: fi_pingpong measures large messages turn by turn)
 * Returns false, with the reason in why, when the program is missing or fails.
 */
bool bench_libfabric(const struct bench_test *test, double *value, const char **why);

/*
 * Where a side runs: on one processor, the client on the first allowed one and the server on the next. Left to itself the
 * scheduler sometimes puts both on one, which alone changes a ping-pong two- to tenfold.
 */
void bench_pin(bool client);

/* Says what failed and ends this side. */
_Noreturn void bench_die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Set-up messages between the sides. */
void bench_tell(const struct bench_side *side, const void *data, size_t octets);
void bench_hear(const struct bench_side *side, void *data, size_t octets);

/*
 * A message buffer, touched. Every message of a side is sent from, or received into, the same one, as the usual tools do
 * (fi_pingpong among them): what is in which cache is then alike for all. Ends the process on failure.
 */
void *bench_alloc(size_t octets);

enum bench_counted { BENCH_COUNTED_V1, BENCH_COUNTED_V2, BENCH_COUNTED };

/* What one Send, one Receive and both completions cost more in a NetworkDirect version than by raw verbs calls. */
struct bench_instructions {
    double together; /* completions fetched by one call */
    double singly;
};

/*
 * bench_count_instructions - run ndspi-bench-count under callgrind.
 * directory     in: where its output files go
 * table         in: the readable report is appended here
 * instructions  out
 * Returns false, with the reason in why, when valgrind is missing or fails.
 */
bool bench_count_instructions(const char *directory, FILE *table,
    struct bench_instructions instructions[BENCH_COUNTED], const char **why);

#endif
