/* SPDX-License-Identifier: MIT */
/* stage.c - how far a socket is (stage.h). */
#include "win32/sockets/stage.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static int option_of(int fd, int option)
{
    int value = -1;
    socklen_t length = sizeof(value);

    return getsockopt(fd, SOL_SOCKET, option, &value, &length) ? -1 : value;
}

/* The stage of a stream that does not listen and is not TCP. */
static enum win_stage stage_by_peer(int fd)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);

    return getpeername(fd, (struct sockaddr *)&peer, &length) ? WIN_STAGE_FRESH
                                                              : WIN_STAGE_CONNECTED;
}

enum win_stage win_socket_stage(int fd)
{
    struct tcp_info info;
    socklen_t length = sizeof(info);
    const int type = option_of(fd, SO_TYPE);

    if (type < 0)
        return WIN_STAGE_NONE;
    if (type != SOCK_STREAM)
        return WIN_STAGE_DATAGRAM;
    if (option_of(fd, SO_ACCEPTCONN) == 1)
        return WIN_STAGE_LISTENING;
    if (getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length))
        return stage_by_peer(fd);
    switch (info.tcpi_state) {
    case TCP_SYN_SENT:
    case TCP_SYN_RECV: return WIN_STAGE_CONNECTING;
    case TCP_CLOSE: /* the handshake has measured the time of a round trip */
        return info.tcpi_rtt ? WIN_STAGE_CONNECTED : WIN_STAGE_FRESH;
    default: return WIN_STAGE_CONNECTED;
    }
}

bool win_socket_has_data(int fd)
{
    int octets = 0;

    return !ioctl(fd, FIONREAD, &octets) && octets > 0;
}
