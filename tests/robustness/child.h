/* SPDX-License-Identifier: MIT */
/*
 * child.h - a second process of a test: the same program, executed anew so that it shares no library state.
 */
#ifndef TESTS_ROBUSTNESS_CHILD_H
#define TESTS_ROBUSTNESS_CHILD_H

#include "tests/support/nd2_end.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <cmocka.h>

struct child {
    pid_t pid;
    int control; /* stream socket */
};

/* What a child plays; the control socket is to its parent. Its return value is the exit status. */
typedef int (*child_play)(const char *name, int control);

/*
 * In main, first: runs the play and exits when this process is a child.
 */
void child_main(int argc, char **argv, child_play play);

/* Starts a child that plays name. */
void child_start(struct child *child, const char *name);

/* Stops it for good, and waits until it is gone. */
void child_kill(struct child *child);
/* Has all its threads stop, for good. */
void child_stop(const struct child *child);
/* Waits until it has ended by itself, with status 0. */
void child_finish(struct child *child);

/* Messages between both. In the child, control is its socket. A parent's test fails, a child ends, when that fails. */
void child_tell(int control, const void *data, size_t octets);
void child_hear(int control, void *data, size_t octets);

/* Where and how the other side's memory is reached. */
struct child_memory {
    uint64_t address;
    UINT32 token;
};

/* In a child: ends it with a message unless hr is ND_SUCCESS. */
void child_check(HRESULT hr, const struct nd2_end *end);

/* In a child: the library and an end. */
void child_open(struct nd2_end *end, const struct nd2_end_options *options);
/*
 * In a child: the end listens, sends through `control` where it can be reached, and takes the request of child_reach's
 * end.
 */
void child_serve(struct nd2_end *end, int control);
/* In the parent: opens an end of its own and reads where the child's memory is. Returns the port to connect to. */
USHORT child_reach(struct child *child, struct nd2_end *end, const struct nd2_end_options *options,
    struct child_memory *memory);

/* A step of the child, reported to its parent. */
void child_tell_phase(int control);
void child_hear_phase(struct child *child);

/* Group fixtures: the library in the parent. */
int child_group_open(void **state);
int child_group_close(void **state);

#endif
