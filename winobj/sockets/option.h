/* SPDX-License-Identifier: MIT */
/* option.h - options of sockets that the socket calls know of. */
#ifndef WINOBJ_SOCKET_OPTION_H
#define WINOBJ_SOCKET_OPTION_H

#include "winobj/sockets/object.h"

/* Whether EAGAIN of a call that waits means that its SO_RCVTIMEO or SO_SNDTIMEO is over: the socket blocks. */
bool win_socket_timed_out(int fd);

#endif
