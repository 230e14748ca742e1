/* SPDX-License-Identifier: MIT */
/*
 * blocked.h - which descriptors threads are in a call of that may block, so that closing a socket ends these calls; and
 * when each was connected.
 */
#ifndef WIN32_SOCKETS_BLOCKED_H
#define WIN32_SOCKETS_BLOCKED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A call on a descriptor begins. Returns what win_blocked_end takes; NULL: the call is not known. */
_Atomic uint32_t *win_blocked_begin(int fd);
/* Returns what win_blocked_begin returned for the descriptor. */
_Atomic uint32_t *win_blocked_calls(int fd);
/* The call ends. Returns whether the socket is being closed. */
bool win_blocked_end(_Atomic uint32_t *calls);
/*
 * Called while a call goes on: whether the socket is being closed; whether it has been given to WSAEventSelect, which
 * wants to know of its calls.
 */
bool win_blocked_is_closing(const _Atomic uint32_t *calls);
bool win_blocked_selected(const _Atomic uint32_t *calls);
void win_blocked_select(int fd);

/*
 * A descriptor is closed: win_blocked_close ends the calls on it and waits for them, and calls that begin wait until
 * win_blocked_closed.
 */
void win_blocked_close(int fd);
void win_blocked_closed(int fd);

/* The descriptor is connected, from now on, by connect or not; whether it was by connect; for how many seconds. */
void win_blocked_connected(int fd, bool by_connect);
bool win_blocked_called(int fd);
uint32_t win_blocked_connected_for(int fd);

/* Another process has the socket, too: its calls go on when this one closes it, and so do those here. */
void win_blocked_share(int fd);

#endif
