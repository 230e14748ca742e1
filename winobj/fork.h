/* SPDX-License-Identifier: MIT */
/* fork.h - what each part of winobj and of win32 does in the child of a fork; win32/spawn/fork.c calls it. */
#ifndef WINOBJ_FORK_H
#define WINOBJ_FORK_H

#include "util/fork.h"

/* Has a lock held over the fork: one under which no other is taken. */
enum { WIN_FORK_LEAF = LOCK_WIN_RING + 1 };
#define WIN_HELD_OVER_FORK(held) FORK_HOLDS(&(held), WIN_FORK_LEAF)

/* Run in the child, when all locks are released. */
void win_addresses_forked(void);
void win_blocked_forked(void);
void win_results_forked(void);
void win_routines_forked(void);
void win_dispatch_forked(void);
void win_timers_forked(void);
void win_changes_forked(void);
void win_ring_forked(void);
void win_parcels_forked(void);
void win_inherit_forked(void);
void win_handles_forked(void); /* every object's */
void win_pool_forked(void);    /* after the port's */

#endif
