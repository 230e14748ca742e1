/* SPDX-License-Identifier: MIT */
/* fork.h - what each part of win32 does in the child of a fork; spawn/fork.c calls it. */
#ifndef WIN32_FORK_H
#define WIN32_FORK_H

#include "winobj/fork.h"

/* Run in the child, when all locks are released. */
void win_addresses_forked(void);
void win_blocked_forked(void);
void win_changes_forked(void);
void win_ring_forked(void);
void win_parcels_forked(void);
void win_inherit_forked(void);
void win_pool_forked(void); /* runs after the forked of the port's type */

#endif
