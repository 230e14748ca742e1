/* SPDX-License-Identifier: MIT */
/* fork.c - the table of fork.h: the only place of a library that tells the C library of a fork. */
#include "util/fork.h"

#include <pthread.h>

static struct fork_row *lowest, *highest;
/* It is held over a fork, so a library that is loaded meanwhile adds its rows before the fork or after it. */
static struct lock rows_lock = { .word = LOCK_FREE };

/* Does what lock_acquire does, but does not check the level of a leaf, which may go against the order. */
static void hold(const struct fork_row *row)
{
    if (!row->leaf)
        lock_debug_check(row->lock);
    lock_hold(row->lock);
    lock_debug_taken(row->lock);
}

static void fork_begins(void)
{
    lock_hold(&rows_lock);
    for (struct fork_row *row = lowest; row; row = row->higher) {
        if (row->lock)
            hold(row);
        if (row->prepare)
            row->prepare();
    }
}

static void fork_ended(bool child)
{
    for (struct fork_row *row = highest; row; row = row->lower) {
        void (*run)(void) = child && row->child ? row->child : row->parent;

        if (run)
            run();
        if (row->lock)
            lock_release(row->lock);
    }
    lock_drop(&rows_lock);
}

static void in_parent(void)
{
    fork_ended(false);
}

static void in_child(void)
{
    fork_ended(true);
}

/* Each row's constructor calls it. Rows of equal place, which are of one library, keep the order of these calls. */
void fork_add_(struct fork_row *row)
{
    bool first;

    lock_hold(&rows_lock);
    first = !lowest;
    row->lower = highest;
    while (row->lower && row->lower->place > row->place)
        row->lower = row->lower->lower;
    row->higher = row->lower ? row->lower->higher : lowest;
    *(row->lower ? &row->lower->higher : &lowest) = row;
    *(row->higher ? &row->higher->lower : &highest) = row;
    lock_drop(&rows_lock);
    if (first)
        pthread_atfork(fork_begins, in_parent, in_child);
}
