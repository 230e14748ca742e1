/* SPDX-License-Identifier: MIT */
/* option.h - options of sockets that the socket calls know of. */
#ifndef WIN32_SOCKETS_OPTION_H
#define WIN32_SOCKETS_OPTION_H

#include "win32/sockets/object.h"

/* Whether EAGAIN of a call that waits means that its SO_RCVTIMEO or SO_SNDTIMEO is over: the socket blocks. */
bool win_socket_timed_out(int fd);

/*
 * protocol_info.c: stores a WSAPROTOCOL_INFOA, or W. Returns 0; SOCKET_ERROR with WSAEFAULT, the length needed in
 * *bytes, or WSAENOPROTOOPT: Windows has no such protocol.
 */
int win_protocol_info(int fd, bool wide, void *value, socklen_t *bytes);

#endif
