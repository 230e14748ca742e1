/* SPDX-License-Identifier: MIT */
/* path_nd.h - two ends of a NetworkDirect connection, both played by one thread, for what looks at each call. */
#ifndef TESTS_BENCH_PATH_ND_H
#define TESTS_BENCH_PATH_ND_H

#include "tests/support/nd2_end.h"

#include <stdbool.h>

enum path_call {
    PATH_SEND,
    PATH_HIT, /* the GetResults that finds the message */
    PATH_RECEIVE,
    PATH_MISS, /* a GetResults that finds nothing */
    PATH_CALLS,
    PATH_OTHER = -1 /* a look that found what it was not made for */
};

/* Called around each call of the library; begin last before it, end first after it. */
struct path_probe {
    void (*begin)(void);
    void (*end)(enum path_call call);
};

/* Errors of these end the process (bench_die). NULL for probe: nobody looks. */
void path_pair(struct nd2_end ends[2]);
void path_message(struct nd2_end *from, struct nd2_end *to, const struct path_probe *probe);
void path_close(struct nd2_end ends[2]);

#endif
