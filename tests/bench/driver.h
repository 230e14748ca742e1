/* SPDX-License-Identifier: MIT */
/*
 * driver.h - plays one side of a measurement with a transport's operations.
 *
 * Included once by each transport, which calls bench_play with a constant struct bench_api: all of it is inlined there,
 * so that every transport has its own straight loop and no call through a pointer sits in a measured path.
 */
#ifndef TESTS_BENCH_DRIVER_H
#define TESTS_BENCH_DRIVER_H

#include "tests/bench/wire.h"

#include "util/clock.h"

/* Operations on one end of a connection over the loopback interface. Errors end the process (bench_die). */
struct bench_api {
    void *(*open)(const struct bench_side *side);
    /* Passive side: listen on a port of the system's choice and return it (network order); then take one connection. */
    uint16_t (*listen)(void *end);
    void (*accept)(void *end);
    /* Active side. Either way bench_depth() receives are posted when the connection is there. */
    void (*connect)(void *end, uint16_t port_be);
    void (*close)(void *end);

    void (*receive)(void *end);             /* posts one, for a message of the test's size */
    void (*send)(void *end, size_t octets); /* posts one, of the one message buffer */
    /* Fetches completions, at least one, waiting as the test says. Returns how many sends; received out: receives. */
    unsigned (*wait)(void *end, unsigned *received);
    /* What is sent from begin (true) to end (false) may be held back. Only needed for tests of batches. */
    void (*batch)(void *end, bool begin);
};

#define BENCH_INLINE static inline __attribute__((always_inline))

/* What the test's time is counted in. */
BENCH_INLINE uint64_t bench_now_ns(const struct bench_test *test)
{
    struct timespec used;

    if (!test->cpu)
        return clock_now_ns();
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    return (uint64_t)used.tv_sec * 1000000000u + (uint64_t)used.tv_nsec;
}

/* For the client: both sides' nanoseconds. */
BENCH_INLINE uint64_t bench_sum(const struct bench_side *side, uint64_t own_ns)
{
    uint64_t peer_ns;

    if (!side->client) {
        bench_tell(side, &own_ns, sizeof own_ns);
        return own_ns;
    }
    bench_hear(side, &peer_ns, sizeof peer_ns);
    return own_ns + peer_ns;
}

BENCH_INLINE void bench_ping(
    const struct bench_api *api, void *end, const struct bench_test *test, unsigned burst)
{
    if (test->batch)
        api->batch(end, true);
    for (unsigned i = 0; i < burst; i++)
        api->send(end, test->octets);
    if (test->batch)
        api->batch(end, false);
}

/* The client sends a burst (usually of one), the server answers it. */
BENCH_INLINE uint64_t bench_ping_pong(
    const struct bench_api *api, void *end, const struct bench_side *side)
{
    const struct bench_test *test = side->test;
    unsigned burst = test->burst ? test->burst : 1, ours = side->client ? burst : 1,
             theirs = side->client ? 1 : burst, depth = bench_depth(test);
    unsigned posted = 0, sent = 0, due = 0, received = 0;
    uint64_t start_ns = 0;

    for (unsigned i = 0; i < test->warmup + test->count; i++) {
        if (i == test->warmup)
            start_ns = bench_now_ns(test);
        if (side->client) {
            bench_ping(api, end, test, ours);
            posted += ours;
        }
        due += theirs;
        /* The completion of a send may come as late as with the peer's next message; only the queue's depth counts. */
        while (received < due || posted - sent > depth - ours) {
            unsigned arrived;

            sent += api->wait(end, &arrived);
            received += arrived;
            while (arrived-- > 0)
                api->receive(end);
        }
        if (!side->client) {
            api->send(end, test->octets);
            posted++;
        }
    }
    return bench_now_ns(test) - start_ns;
}

/*
 * Of a stream: up to which message the client may post before it has heard more; the server's queue holds two windows.
 */
BENCH_INLINE unsigned bench_stream_limit(
    const struct bench_test *test, unsigned stop, unsigned answers)
{
    unsigned heard = answers * test->answered + 2 * BENCH_WINDOW;

    return test->answered && heard < stop ? heard : stop;
}

/*
 * The client keeps BENCH_WINDOW sends outstanding; the server answers the last of the warm-up, and the last of all, or
 * as often as the test says.
 */
BENCH_INLINE uint64_t bench_stream(
    const struct bench_api *api, void *end, const struct bench_side *side)
{
    const struct bench_test *test = side->test;
    unsigned total = test->warmup + test->count, posted = 0, sent = 0, received = 0, answers = 0;
    uint64_t start_ns = 0;

    for (unsigned stop = test->warmup;; stop = total) {
        unsigned last = test->answered  ? stop / test->answered
                        : stop == total ? 2
                                        : 1,
                 due = side->client ? last : stop;

        while (received < due) {
            unsigned arrived;

            while (side->client && posted - sent < BENCH_WINDOW &&
                   posted < bench_stream_limit(test, stop, received)) {
                api->send(end, test->octets);
                posted++;
            }
            sent += api->wait(end, &arrived);
            received += arrived;
            while (arrived-- > 0)
                api->receive(end);
            while (!side->client && test->answered && answers < received / test->answered) {
                api->send(end, 1);
                answers++;
            }
        }
        if (!side->client && !test->answered)
            api->send(end, 1);
        if (stop == total)
            break;
        start_ns = bench_now_ns(test);
    }
    return bench_now_ns(test) - start_ns;
}

/* Returns what bench_play_fn returns. */
BENCH_INLINE uint64_t bench_play(const struct bench_api *api, const struct bench_side *side)
{
    void *end = api->open(side);
    uint16_t port_be;
    uint64_t elapsed_ns;

    if (side->client) {
        bench_hear(side, &port_be, sizeof port_be);
        api->connect(end, port_be);
    } else {
        port_be = api->listen(end);
        bench_tell(side, &port_be, sizeof port_be);
        api->accept(end);
    }
    bench_meet(side); /* siw may lose sight of what comes before its accept has ended */
    elapsed_ns =
        side->test->stream ? bench_stream(api, end, side) : bench_ping_pong(api, end, side);
    if (side->test->cpu)
        elapsed_ns = bench_sum(side, elapsed_ns);
    bench_meet(side); /* neither side hangs up before the other has its last message */
    api->close(end);
    return elapsed_ns;
}

#endif
