/* SPDX-License-Identifier: MIT */
/*
 * rush.h - one side of connections that are made and broken as fast as possible by several threads with one completion
 * queue. A server's threads take requests of one listener; a client's connect to it.
 */
#ifndef TESTS_ROBUSTNESS_RUSH_H
#define TESTS_ROBUSTNESS_RUSH_H

#include <winsock2.h>
#include <windows.h>

#include <stdbool.h>

enum { RUSH_THREADS_MAX = 8 };

struct rush;

struct rush_ways {
    bool polls; /* each thread looks at the completion queue, in place of one that waits for it */
    /* clients release everything somewhere on the way, now and then; of a server: its clients do */
    bool breaks_off;
};

/*
 * rush_begin - opens everything and starts the threads. NdStartup has been called.
 * port_be  in: of the server, for a client; 0: this is a server
 * Returns NULL, with a line on standard error, when something cannot be opened.
 */
struct rush *rush_begin(unsigned threads, struct rush_ways ways, USHORT port_be);
/* Of a server: where it listens. */
USHORT rush_port_be(const struct rush *rush);
/* Lets them run for so long, or until something goes wrong. */
void rush_wait(struct rush *rush, unsigned ms);
/*
 * rush_end - stops and releases everything; a client before its server. Prints how many connections there were, and
 * every failure. Returns whether there was none, and each thread had a connection.
 */
bool rush_end(struct rush *rush, const char *name);

#endif
