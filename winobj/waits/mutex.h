/* SPDX-License-Identifier: MIT */
/* mutex.h - what the end of a thread does to its mutexes. */
#ifndef WINOBJ_MUTEX_H
#define WINOBJ_MUTEX_H

/* Abandons the mutexes of the calling thread, which is about to end. */
void win_owner_abandon(void);

#endif
