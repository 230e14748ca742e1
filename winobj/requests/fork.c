/* SPDX-License-Identifier: MIT */
/*
 * fork.c - the child of a fork: its handles of events, ports and threads go on working, on copies of the objects; the
 * parent's waiting threads and exported descriptors stay the parent's. The reactor has handled its own fork before.
 */
#include "winobj/fork.h"

static void forked(void)
{
    win_results_forked();
    win_routines_forked();
    win_dispatch_forked();
    win_timers_forked();
}

FORK_ROW(.place = WIN_FORK_WAITS, .child = forked);
FORK_ROW(.place = WIN_FORK_HANDLES, .child = win_handles_forked);
