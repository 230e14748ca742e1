/* SPDX-License-Identifier: MIT */
/*
 * blocked.h - which descriptors threads are in a call of that may block, so that closing a socket ends these calls; and
 * when each was connected.
 */
#ifndef WINOBJ_BLOCKED_H
#define WINOBJ_BLOCKED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A call on a descriptor begins and ends. The former returns what the latter takes; NULL: the call is not known. */
_Atomic uint32_t *win_blocked_begin(int fd);
/* What the former has returned. */
_Atomic uint32_t *win_blocked_calls(int fd);
/* Returns whether the socket is being closed. */
bool win_blocked_end(_Atomic uint32_t *calls);

/*
 * A descriptor is closed: win_blocked_close ends the calls on it and waits for them, and calls that begin wait until
 * win_blocked_closed.
 */
void win_blocked_close(int fd);
void win_blocked_closed(int fd);

/* The descriptor is connected, from now on; for how many seconds it has been. */
void win_blocked_connected(int fd);
uint32_t win_blocked_connected_for(int fd);

/* Another process has the socket, too: its calls go on when this one closes it, and so do those here. */
void win_blocked_share(int fd);

#endif
