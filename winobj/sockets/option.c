/* SPDX-License-Identifier: MIT */
/* option.c - setsockopt's options of mswsock.h, and SIO_KEEPALIVE_VALS. */
#include "winobj/sockets/object.h"

#include <mstcpip.h>
#include <mswsock.h>

#include <netinet/in.h>
#include <netinet/tcp.h>

/*
 * setsockopt - SOL_SOCKET, SO_UPDATE_ACCEPT_CONTEXT: value is the listener; SO_UPDATE_CONNECT_CONTEXT: no value. Both
 * succeed for a connected socket, which has all it needs: WSAENOTCONN, WSAEFAULT (no listener). Others are Linux' own.
 */
int WSAAPI wincompat_setsockopt(SOCKET socket, int level, int option, const void *value, int bytes)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);

    if (level != SOL_SOCKET ||
        (option != SO_UPDATE_ACCEPT_CONTEXT && option != SO_UPDATE_CONNECT_CONTEXT)) {
        const int result = socket > INT32_MAX
                               ? win_winsock_fail(WSAENOTSOCK)
                               : (setsockopt)((int)socket, level, option, value, (socklen_t)bytes);

        return result;
    }
    if (!win_winsock_started())
        return SOCKET_ERROR;
    if (option == SO_UPDATE_ACCEPT_CONTEXT && (!value || bytes < (int)sizeof(SOCKET)))
        return win_winsock_fail(WSAEFAULT);
    if (socket > INT32_MAX)
        return win_winsock_fail(WSAENOTSOCK);
    return getpeername((int)socket, (struct sockaddr *)&peer, &length) ? win_winsock_fail_errno()
                                                                       : 0;
}

static int seconds_of(ULONG milliseconds)
{
    return (int)(milliseconds / 1000 + !!(milliseconds % 1000));
}

static int set(int fd, int level, int option, int value)
{
    return (setsockopt)(fd, level, option, &value, sizeof(value));
}

int win_socket_keepalive(int fd, const struct tcp_keepalive *values)
{
    const int idle = seconds_of(values->keepalivetime);
    const int interval = seconds_of(values->keepaliveinterval);

    if (values->onoff && (set(fd, IPPROTO_TCP, TCP_KEEPIDLE, idle ? idle : 1) ||
                             set(fd, IPPROTO_TCP, TCP_KEEPINTVL, interval ? interval : 1)))
        return win_winsock_fail_errno();
    if (set(fd, SOL_SOCKET, SO_KEEPALIVE, values->onoff != 0))
        return win_winsock_fail_errno();
    return 0;
}
