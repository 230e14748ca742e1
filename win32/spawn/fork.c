/* SPDX-License-Identifier: MIT */
/* fork.c - the child of a fork: win32's part of what winobj/requests/fork.c does. */
#include "win32/fork.h"

#include "win32/names/names.h"

static void forked(void)
{
    win_addresses_forked();
    win_blocked_forked();
    win_changes_forked();
    win_ring_forked();
}

static void ended(void)
{
    win_pool_forked();
    names_forked();
    win_parcels_forked(); /* this and the next drop references, which need what is reset above */
    win_inherit_forked();
}

FORK_ROW(.place = WIN_FORK_PARTS, .child = forked);
FORK_ROW(.place = WIN_FORK_END, .child = ended);
