/* SPDX-License-Identifier: MIT */
/*
 * wire.h - messages over a connection, by several transports.
 *
 * A test is measured by a pair of processes: the client, which takes the time, and the server (pair.c). Each transport
 * brings a struct bench_api; driver.h plays either side with it. wire.c has the tables.
 */
#ifndef TESTS_BENCH_WIRE_H
#define TESTS_BENCH_WIRE_H

#include "tests/bench/process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum bench_wait { BENCH_POLL, BENCH_EVENT, BENCH_PORT };

/* How version 2's ends get at their results. A Notify reports results since the last look, too. */
enum bench_idiom {
    BENCH_LOOK,         /* look; without a result Notify, and wait */
    BENCH_NOTIFY_FIRST, /* Notify, wait, look */
    BENCH_LOOK_TWICE,   /* look, Notify, look, wait */
    BENCH_ONE_EACH,     /* as BENCH_LOOK, one result a call */
    BENCH_TWO_QUEUES,   /* one for Sends, one for Receives; Notify of both, wait at their port */
    BENCH_BESIDE,       /* poll, while another thread sleeps for the results of another queue */
};

struct bench_test {
    const char *name;     /* as in the keys: "poll_8B" */
    enum bench_wait wait; /* how both sides learn of a message */
    bool stream;          /* one direction, several outstanding; otherwise a ping-pong */
    unsigned answered;    /* a stream of which the server answers each n-th message, for devices
                             whose sends end before they arrive; warmup and count: multiples */
    bool batch;           /* a burst is posted as one request batch */
    bool crc;             /* both sides ask for CRC; otherwise as NDSPI_SOFT_CRC says */
    bool shared;          /* softrdma's ends share memory; otherwise they use TCP */
    bool cpu;             /* time is what both processes have of processors, not the clock's */
    unsigned burst;       /* messages the client sends for one answer; 0 = 1 */
    size_t octets;        /* of a message */
    unsigned warmup;      /* messages (round trips) before the clock starts */
    unsigned count;       /* messages (round trips) measured */
    /* of BENCH_BESIDE, wait says how the other thread sleeps */
    enum bench_idiom idiom;
};

enum {
    BENCH_WINDOW = 4,              /* messages outstanding in a stream */
    BENCH_DEPTH_MAX = 32,          /* of a queue */
    BENCH_BATCH = 8,               /* completions fetched at once */
    BENCH_SHARED_OCTETS = 1 << 16, /* of the memory that both sides have */
};

/* How deep both queues of an end are, and how many receives it keeps posted. */
static inline unsigned bench_depth(const struct bench_test *test)
{
    return 2 * (test->burst > BENCH_WINDOW ? test->burst : BENCH_WINDOW);
}

/* Where NetworkDirect and the verbs calls are measured: a device, and the addresses of both sides. */
struct bench_place {
    char name[16]; /* prefix of its keys */
    bool kernel;   /* verbs calls are rdma-core's, not softrdma's */
    struct {
        uint32_t address_be;
        char device[64]; /* NDSPI_DEVICE */
    } server, client;
};

struct bench_side;
/*
 * Play one side. The client returns the nanoseconds that test->count took, of both sides' processors if the test is
 * about these; errors end the process (bench_die).
 */
typedef uint64_t bench_play_fn(const struct bench_side *side);

/* One side of a measurement. */
struct bench_side {
    const struct bench_test *test;
    const struct bench_place *place;
    bench_play_fn *play;
    bool client;
    int control;  /* stream socket to the other side, for set-up */
    void *shared; /* BENCH_SHARED_OCTETS that both sides have, zeroes at first */
};

bench_play_fn bench_tcp, bench_verbs, bench_nd1, bench_nd2, bench_ring;

/* bench_run_pair - both sides, as bench_run. */
uint64_t bench_run_pair(const struct bench_place *place, const char *transport,
    const struct bench_test *test, bench_play_fn *play);

static inline uint32_t bench_local_be(const struct bench_side *side)
{
    return side->client ? side->place->client.address_be : side->place->server.address_be;
}

/* Set-up messages between the sides. */
void bench_tell(const struct bench_side *side, const void *data, size_t octets);
void bench_hear(const struct bench_side *side, void *data, size_t octets);
/* Returns when both sides are there. */
void bench_meet(const struct bench_side *side);

/*
 * A message buffer, touched. Every message of a side is sent from, or received into, the same one, as the usual tools
 * do (fi_pingpong among them): what is in which cache is then alike for all. Ends the process on failure.
 */
void *bench_alloc(size_t octets);

#endif
