/* SPDX-License-Identifier: MIT */
/* stage.h - how far a socket is: what Linux' readiness means to Windows depends on that. */
#ifndef WIN32_SOCKETS_STAGE_H
#define WIN32_SOCKETS_STAGE_H

#include <stdbool.h>

enum win_stage {
    WIN_STAGE_NONE,  /* no socket */
    WIN_STAGE_FRESH, /* a stream that has not been connected; its connect may have failed */
    WIN_STAGE_CONNECTING,
    WIN_STAGE_CONNECTED, /* its connection may have ended */
    WIN_STAGE_LISTENING,
    WIN_STAGE_DATAGRAM, /* no stream */
};

enum win_stage win_socket_stage(int fd);

/* Whether octets wait to be read. */
bool win_socket_has_data(int fd);

#endif
