/* SPDX-License-Identifier: MIT */
/*
 * fork.h - what a library does around a fork: one table in the order of the locks, whose rows stand in the files that
 * they are about. docs/internals/fork.md says what a child may do, and what each row is for.
 *
 * Before the fork each row takes its lock and calls prepare, the lowest place first. After it, the highest first, each
 * calls parent or child and releases its lock; without a child function the child does what the parent does. Of several
 * libraries the upper one prepares first, and the lower one is done first in the child.
 */
#ifndef UTIL_FORK_H
#define UTIL_FORK_H

#include "util/lock.h"

#include <limits.h>

struct fork_row {
    int place; /* the level of its lock (enum lock_level); a leaf's is above each that its holder may wait for */
    /* the lock to hold over the fork, so that what it guards is whole in the child; NULL: none */
    struct lock *lock;
    bool leaf; /* its holder takes no other lock, so it needs no place in the order of levels */
    void (*prepare)(void), (*parent)(void), (*child)(void); /* NULL: nothing to do */
    struct fork_row *lower, *higher;                        /* set by fork_add_ */
};

/* Adds a row, which the arguments initialise. Stands at file scope, before a semicolon. */
#define FORK_ROW(...)               FORK_ROW_AT(__LINE__, __VA_ARGS__)
/* Adds a row for a lock that is held over the fork: a leaf whose holder waits for no other thread. */
#define FORK_HOLDS(held, its_place) FORK_ROW(.place = its_place, .lock = held, .leaf = true)
/* Adds a row for a function that the child calls before all others, with the locks held; these rows have no order. */
#define FORK_CHILD(function)        FORK_ROW(.place = INT_MAX, .child = function)

#define FORK_ROW_AT(line, ...) FORK_ROW_NAMED(line, __VA_ARGS__)
#define FORK_ROW_NAMED(line, ...)                                                                  \
    static struct fork_row fork_row_##line = { __VA_ARGS__ };                                      \
    __attribute__((constructor(200))) static void fork_load_##line(void)                           \
    {                                                                                              \
        fork_add_(&fork_row_##line);                                                               \
    }                                                                                              \
    _Static_assert(true, "")

void fork_add_(struct fork_row *row);

#endif
