/* SPDX-License-Identifier: MIT */
/* fork.h - what each part of winobj does around a fork; fork.c calls it. */
#ifndef WINOBJ_FORK_H
#define WINOBJ_FORK_H

#include "util/lock.h"

/*
 * Has fork.c hold a lock over the fork. For those under which no other is taken and nothing is waited for: they are
 * taken in any order.
 */
#define WIN_HELD_OVER_FORK(held)                                                                   \
    static struct lock *const held##_over_fork __attribute__((section("win_fork_locks"), used)) =  \
        &(held)

/* Hold the part's lock over the fork, so that the child finds consistent state. */
void win_callbacks_fork_begin(void);
void win_callbacks_fork_end(void);
void win_dispatch_fork_begin(void);
void win_dispatch_fork_end(void);
void win_handles_fork_begin(void);
void win_handles_fork_end(void);
void win_parcels_fork_begin(void);
void win_parcels_fork_end(void);
void win_inherit_fork_begin(void);
void win_inherit_fork_end(void);
void win_heaps_fork_begin(void);
void win_heaps_fork_end(void);
void win_ring_fork_begin(void);
void win_ring_fork_end(void);

/* Run in the child, after the lock is released. */
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
