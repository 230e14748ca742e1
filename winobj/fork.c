/* SPDX-License-Identifier: MIT */
/*
 * fork.c - the child of a fork: its handles of events, ports and threads go on working, on copies of the objects; the
 * parent's waiting threads and exported descriptors stay the parent's. The reactor has handled its own fork before.
 */
#include "winobj/fork.h"

#include "winobj/names/names.h"

#include "util/held_over_fork.h"

#include <pthread.h>

/* The linker's: the pointers of WIN_HELD_OVER_FORK. */
extern struct lock *const __start_win_fork_locks[] __attribute__((visibility("hidden")));
extern struct lock *const __stop_win_fork_locks[] __attribute__((visibility("hidden")));

static void fork_begin(void)
{
    win_callbacks_fork_begin();
    win_dispatch_fork_begin();
    names_fork_begin();
    win_parcels_fork_begin();
    win_inherit_fork_begin();
    win_handles_fork_begin();
    win_ring_fork_begin();
    for (struct lock *const *one = __start_win_fork_locks; one < __stop_win_fork_locks; one++)
        lock_acquire_for_fork(*one);
    win_heaps_fork_begin();
}

static void fork_end(void)
{
    win_heaps_fork_end();
    for (struct lock *const *one = __start_win_fork_locks; one < __stop_win_fork_locks; one++)
        lock_release(*one);
    win_ring_fork_end();
    win_handles_fork_end();
    win_inherit_fork_end();
    win_parcels_fork_end();
    names_fork_end();
    win_dispatch_fork_end();
    win_callbacks_fork_end();
}

static void fork_child(void)
{
    fork_end();
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

__attribute__((constructor(200))) static void fork_load(void)
{
    pthread_atfork(fork_begin, fork_end, fork_child);
}
