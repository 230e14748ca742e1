/* SPDX-License-Identifier: MIT */
/*
 * network_events.h - WSAEventSelect: what a socket has to tell its event object. A network event is recorded once, and
 * again only after the call that re-enables it; when the socket becomes ready, by such a call and by WSAEventSelect the
 * record is brought up to date from what the kernel says then.
 */
#ifndef WIN32_SOCKETS_NETWORK_EVENTS_H
#define WIN32_SOCKETS_NETWORK_EVENTS_H

#include "win32/sockets/object.h"

/* Called when the reactor finds that the socket may be ready. */
void win_network_events_ready_locked(struct win_socket *socket);

/* connect is about to be called on a selected socket: what it comes to is recorded. */
void win_network_events_connects(int fd);
/*
 * A call on a socket that has been selected has ended: events (FD_*) are recorded again. error: an errno of a send that
 * failed, else 0. Keeps errno.
 */
void win_network_events_called(int fd, LONG events, int error);
void win_network_events_called_locked(struct win_socket *socket, LONG events, int error);

/* A connection has been accepted: it has its listener's event object and network events, and blocks as little. */
void win_network_events_accepted(int listener, int fd);

/* Whether a socket has an event object. */
bool win_network_events_selected(int fd);

/* What the last connect of a selected socket failed with, in Winsock's codes; 0: it did not. */
int win_network_events_failure(int fd);

/* The socket is closed. */
void win_network_events_close_locked(struct win_socket *socket);

#endif
