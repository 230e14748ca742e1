/* SPDX-License-Identifier: MIT */
/* fork.c - the table of fork.h: the only place of a library that tells the C library of a fork. */
#include "util/fork.h"

#include <pthread.h>

/* The linker's: the rows of this library. */
extern const struct fork_row *__start_fork_rows[] __attribute__((visibility("hidden")));
extern const struct fork_row *__stop_fork_rows[] __attribute__((visibility("hidden")));

static void sort_rows(void)
{
    for (const struct fork_row **at = __start_fork_rows; at < __stop_fork_rows; at++)
        for (const struct fork_row **to = at; to > __start_fork_rows; to--) {
            const struct fork_row *row = *to;

            if (to[-1]->place <= row->place)
                break;
            *to = to[-1];
            to[-1] = row;
        }
}

/* As lock_acquire, but without its check for a leaf, which may go against the order. */
static void hold(const struct fork_row *row)
{
    if (!row->leaf)
        lock_debug_check(row->lock);
    lock_hold(row->lock);
    lock_debug_taken(row->lock);
}

static void fork_begins(void)
{
    for (const struct fork_row **at = __start_fork_rows; at < __stop_fork_rows; at++) {
        if ((*at)->lock)
            hold(*at);
        if ((*at)->prepare)
            (*at)->prepare();
    }
}

static void fork_ended(bool child)
{
    for (const struct fork_row **at = __stop_fork_rows; at-- > __start_fork_rows;) {
        void (*run)(void) = child && (*at)->child ? (*at)->child : (*at)->parent;

        if (run)
            run();
        if ((*at)->lock)
            lock_release((*at)->lock);
    }
}

static void in_parent(void)
{
    fork_ended(false);
}

static void in_child(void)
{
    fork_ended(true);
}

/* Of each row's constructor, so that the linker takes this file where there are rows. */
void fork_watch_(void)
{
    static bool watching;

    if (watching)
        return;
    watching = true;
    sort_rows();
    pthread_atfork(fork_begins, in_parent, in_child);
}
