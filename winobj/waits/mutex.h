/* SPDX-License-Identifier: MIT */
/* mutex.h - what waits and the end of a thread do to mutexes. _locked: under the dispatcher lock. */
#ifndef WINOBJ_MUTEX_H
#define WINOBJ_MUTEX_H

#include "winobj/exported.h"
#include "winobj/waits/dispatch.h"

struct win_owner; /* a thread, as the owner of mutexes */

/* The calling thread as owner; NULL with ERROR_NOT_ENOUGH_MEMORY. */
struct win_owner *win_owner_self(void);

/* Its number, which no other thread of the process has. */
uint32_t win_owner_id(const struct win_owner *owner);

bool win_mutex_is_owned_locked(const struct win_waitable *mutex, const struct win_owner *owner);

/* Gives the mutex to its new owner, or once more to its present one. Returns whether it was abandoned. */
bool win_mutex_take_locked(struct win_waitable *mutex, struct win_owner *owner);

/* Abandons the mutexes of the calling thread, which is about to end. */
void win_owner_abandon(void);

#endif
