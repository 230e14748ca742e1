/* SPDX-License-Identifier: MIT */
/*
 * mutex.h - what dispatch.c and thread.c need to know of mutexes: who has one. An owner is a thread, from its first wait for a
 * mutex on; when it ends, what it has is abandoned. _locked: the dispatcher lock.
 */
#ifndef WINOBJ_MUTEX_H
#define WINOBJ_MUTEX_H

#include "winobj/dispatch.h"

struct win_owner;

/* The calling thread; NULL with the last error ERROR_NOT_ENOUGH_MEMORY. */
struct win_owner *win_owner_self(void);

/* Gives a mutex to its new owner, or once more to the one it has. Returns whether it was abandoned. */
bool win_mutex_take_locked(struct win_waitable *waitable, struct win_owner *owner);
bool win_mutex_is_owned_locked(const struct win_waitable *waitable, const struct win_owner *owner);

/* The calling thread ends. */
void win_owner_abandon(void);

#endif
