/* SPDX-License-Identifier: MIT */
/*
 * fork.h - what each part of winobj does in the child of a fork; requests/fork.c calls it. The table is libwinobj's
 * (util/fork.h), and win32 has rows in it, too.
 */
#ifndef WINOBJ_FORK_H
#define WINOBJ_FORK_H

#include "util/fork.h"

/* Places: what the child does when all locks are released, the last first. */
enum {
    WIN_FORK_END,     /* win32: what drops references to objects */
    WIN_FORK_HANDLES, /* winobj: every object with a handle */
    WIN_FORK_PARTS,   /* win32: what its objects need for that */
    WIN_FORK_WAITS,   /* winobj: waits, requests and timers */
};

/* Has a lock held over the fork: one under which no other is taken. */
enum { WIN_FORK_LEAF = LOCK_WIN_RING + 1 };
#define WIN_HELD_OVER_FORK(held) FORK_HOLDS(&(held), WIN_FORK_LEAF)

/* Run in the child, when all locks are released. */
void win_results_forked(void);
void win_routines_forked(void);
void win_dispatch_forked(void);
void win_timers_forked(void);
void win_handles_forked(void); /* every object's */

#endif
