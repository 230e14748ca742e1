/* SPDX-License-Identifier: MIT */
/*
 * peer.h - programs of others that measure messages between two processes of their own, by their own loop and clock.
 */
#ifndef TESTS_BENCH_PEER_H
#define TESTS_BENCH_PEER_H

#include "tests/bench/wire.h"

struct bench_peer {
    const char *program,
        *missing; /* its name, and what to say where it is not installed (static) */
    char *const *server, *const *client; /* command lines */
    /* Takes the value of a test out of what the client printed. Returns false where it does not understand that. */
    bool (*parse)(const char *text, const struct bench_test *test, double *value);
};

/*
 * bench_peer_run - the server on the second processor, the client on the first, until the client has ended.
 * value  out: what parse found
 * why    out: the reason, where it fails (static)
 * Returns false when the program is missing, fails, takes longer than BENCH_DEADLINE_MS, or is not understood.
 */
bool bench_peer_run(
    const struct bench_peer *peer, const struct bench_test *test, double *value, const char **why);

/* A port of TCP for the next run: a server that was killed may have left its last one in use. */
unsigned bench_peer_port(void);

/*
 * bench_libfabric  fi_pingpong on libfabric's tcp provider, on its shm provider where the test's ends share memory
 * bench_ucx        ucx_perftest's tag matching over UCX's TCP, or its shared memory
 * value  out: microseconds one way (ping-pong), or MB/s (stream: fi_pingpong measures large messages turn by turn)
 * Returns false, with the reason in why, when the program is missing or fails.
 */
bool bench_libfabric(const struct bench_test *test, double *value, const char **why);
bool bench_ucx(const struct bench_test *test, double *value, const char **why);

#endif
