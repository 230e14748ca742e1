/* SPDX-License-Identifier: MIT */
/*
 * fork.c - the child of a fork: its handles of events, ports and threads go on working, on copies of the objects; the
 * parent's waiting threads and exported descriptors stay the parent's. The reactor has handled its own fork before.
 */
#include "winobj/fork.h"

#include "win32/names/names.h"

#include "util/fork.h"

static void forked(void)
{
    win_addresses_forked();
    win_results_forked();
    win_routines_forked();
    win_dispatch_forked();
    win_timers_forked();
    win_blocked_forked();
    win_changes_forked();
    win_ring_forked();
    win_handles_forked();
    win_pool_forked();
    names_forked();
    win_parcels_forked(); /* which drops references, as the next does */
    win_inherit_forked();
}

FORK_ROW(.place = 0, .child = forked);
