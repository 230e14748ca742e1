/* SPDX-License-Identifier: MIT */
/* result.c - how a socket's request ends: statuses, Winsock errors, WSAGetOverlappedResult. */
#include "win32/sockets/object.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

/* Statuses that sockets end with, and their Winsock errors. In order of NTSTATUS. */
#define STATUSES(ROW)                                                                              \
    ROW(STATUS_BUFFER_OVERFLOW, WSAEMSGSIZE)                                                       \
    ROW(STATUS_ACCESS_VIOLATION, WSAEFAULT)                                                        \
    ROW(STATUS_INVALID_HANDLE, WSAENOTSOCK)                                                        \
    ROW(STATUS_INVALID_PARAMETER, WSAEINVAL)                                                       \
    ROW(STATUS_ACCESS_DENIED, WSAEACCES)                                                           \
    ROW(STATUS_INSUFFICIENT_RESOURCES, WSAENOBUFS)                                                 \
    ROW(STATUS_PIPE_DISCONNECTED, WSAESHUTDOWN)                                                    \
    ROW(STATUS_IO_TIMEOUT, WSAETIMEDOUT)                                                           \
    ROW(STATUS_NOT_SUPPORTED, WSAEOPNOTSUPP)                                                       \
    ROW(STATUS_CANCELLED, WSA_OPERATION_ABORTED)                                                   \
    ROW(STATUS_INVALID_CONNECTION, WSAENOTCONN)                                                    \
    ROW(STATUS_INVALID_BUFFER_SIZE, WSAEMSGSIZE)                                                   \
    ROW(STATUS_INVALID_ADDRESS_COMPONENT, WSAEADDRNOTAVAIL)                                        \
    ROW(STATUS_ADDRESS_ALREADY_EXISTS, WSAEADDRINUSE)                                              \
    ROW(STATUS_CONNECTION_RESET, WSAECONNRESET)                                                    \
    ROW(STATUS_CONNECTION_REFUSED, WSAECONNREFUSED)                                                \
    ROW(STATUS_CONNECTION_ACTIVE, WSAEISCONN)                                                      \
    ROW(STATUS_NETWORK_UNREACHABLE, WSAENETUNREACH)                                                \
    ROW(STATUS_HOST_UNREACHABLE, WSAEHOSTUNREACH)                                                  \
    ROW(STATUS_PORT_UNREACHABLE, WSAECONNRESET)                                                    \
    ROW(STATUS_CONNECTION_ABORTED, WSAECONNABORTED)

DWORD win_winsock_error(LONG status)
{
    switch (status) {
#define ROW(status_, error)                                                                        \
    case status_: return error;
        STATUSES(ROW)
#undef ROW
    default: return status >= 0 ? 0 : WSAENETDOWN;
    }
}

LONG win_socket_sends_no_more(int fd)
{
    struct tcp_info info;
    socklen_t length = sizeof(info);

    if ((getsockopt)(fd, IPPROTO_TCP, TCP_INFO, &info, &length))
        return STATUS_CONNECTION_RESET;
    if (info.tcpi_state != TCP_CLOSE)
        return STATUS_PIPE_DISCONNECTED;
    /* The handshake has measured the time of a round trip. */
    return info.tcpi_rtt ? STATUS_CONNECTION_RESET : STATUS_INVALID_CONNECTION;
}

LONG win_socket_status(const struct win_socket *socket, int error)
{
    switch (error) {
    case ECONNRESET: return STATUS_CONNECTION_RESET;
    case EPIPE: return win_socket_sends_no_more(socket->fd);
    case ECONNREFUSED:
        return socket->type == SOCK_DGRAM ? STATUS_PORT_UNREACHABLE : STATUS_CONNECTION_REFUSED;
    case ECONNABORTED: return STATUS_CONNECTION_ABORTED;
    case ETIMEDOUT: return STATUS_IO_TIMEOUT;
    case EDESTADDRREQ: /* a datagram without an address */
    case ENOTCONN: return STATUS_INVALID_CONNECTION;
    case EISCONN: return STATUS_CONNECTION_ACTIVE;
    case EHOSTDOWN:
    case EHOSTUNREACH: return STATUS_HOST_UNREACHABLE;
    case ENETUNREACH: return STATUS_NETWORK_UNREACHABLE;
    case EADDRINUSE: return STATUS_ADDRESS_ALREADY_EXISTS;
    case ENODEV: /* no such interface */
    case EADDRNOTAVAIL: return STATUS_INVALID_ADDRESS_COMPONENT;
    case EMSGSIZE: return STATUS_INVALID_BUFFER_SIZE;
    case EFAULT: return STATUS_ACCESS_VIOLATION;
    case EACCES:
    case EPERM: return STATUS_ACCESS_DENIED;
    case EBADF:
    case ENOTSOCK: return STATUS_INVALID_HANDLE;
    case EOPNOTSUPP: return STATUS_NOT_SUPPORTED;
    case EINVAL:
    case EAFNOSUPPORT: return STATUS_INVALID_PARAMETER;
    default: return STATUS_INSUFFICIENT_RESOURCES;
    }
}

int win_socket_end(LONG status)
{
    if (status)
        return win_winsock_fail(win_winsock_error(status));
    SetLastError(ERROR_SUCCESS);
    return 0;
}

/*
 * WSAGetOverlappedResult - the result of a request on a socket.
 * bytes   out: moved by the request; 0 with ERROR_IO_INCOMPLETE
 * wait    TRUE: until it has ended; needs no event
 * flags   out: of WSARecv and WSARecvFrom: MSG_PARTIAL when a datagram was longer than the buffers, else 0; of other
 *         requests not meant
 * Returns FALSE with WSANOTINITIALISED, WSAENOTSOCK, WSAEFAULT (a NULL pointer), WSA_IO_INCOMPLETE (still pending,
 *         and wait is FALSE), or the request's own error: WSA_OPERATION_ABORTED (cancelled, or the socket closed),
 *         WSAECONNRESET, WSAEMSGSIZE, ...
 */
BOOL WSAAPI WSAGetOverlappedResult(
    SOCKET socket, LPWSAOVERLAPPED overlapped, LPDWORD bytes, BOOL wait, LPDWORD flags)
{
    struct win_socket *found = win_socket_get(socket);
    LONG status;

    if (!found)
        return FALSE;
    if (!overlapped || !bytes || !flags) {
        win_socket_unref(found);
        win_winsock_fail(WSAEFAULT);
        return FALSE;
    }
    status = win_overlapped_result(found->file, overlapped, wait);
    win_socket_unref(found);
    if (status == WIN_SOCKET_PENDING) {
        *bytes = 0;
        win_winsock_fail(WSA_IO_INCOMPLETE);
        return FALSE;
    }
    *bytes = (DWORD)overlapped->InternalHigh;
    *flags = overlapped->Offset;
    return !win_socket_end(status);
}
