/* SPDX-License-Identifier: MIT */
/* mutex.h - what thread.c needs to know of mutexes. */
#ifndef WINOBJ_MUTEX_H
#define WINOBJ_MUTEX_H

/* The calling thread ends: what it has is abandoned. */
void win_owner_abandon(void);

#endif
