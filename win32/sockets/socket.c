/* SPDX-License-Identifier: MIT */
/* socket.c - socket functions that Linux has under another name. A SOCKET is a descriptor. */
#include "win32/sockets/blocked.h"
#include "win32/sockets/network_events.h"
#include "win32/sockets/object.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* Whether a descriptor is a socket; WSANOTINITIALISED or WSAENOTSOCK otherwise. */
static bool is_socket(SOCKET socket)
{
    struct stat status;

    if (!win_winsock_started())
        return false;
    if (socket <= INT32_MAX && !fstat((int)socket, &status) && S_ISSOCK(status.st_mode))
        return true;
    win_winsock_fail(WSAENOTSOCK);
    return false;
}

/*
 * closesocket - closes a socket. Requests that are pending on it, or on a listener with it, end with STATUS_CANCELLED
 * (ERROR_OPERATION_ABORTED) before it returns, calls of other threads that wait on it with WSAEINTR; select finds it
 * ready. Where another process has the socket, too, such calls go on. SOCKET_ERROR with WSANOTINITIALISED, WSAENOTSOCK.
 */
int WSAAPI closesocket(SOCKET socket)
{
    if (!is_socket(socket))
        return SOCKET_ERROR;
    if (win_socket_close((int)socket))
        return 0;
    win_blocked_close((int)socket);
    close((int)socket); /* it frees the descriptor even if it fails */
    win_blocked_closed((int)socket);
    return 0;
}

/*
 * WSASocketA, WSASocketW - a socket of a family, type and protocol; closed on exec.
 * info, group  must be NULL and 0
 * flags        WSA_FLAG_OVERLAPPED and WSA_FLAG_NO_HANDLE_INHERIT, which change nothing: every socket, those of
 *              socket and accept, too, can have overlapped requests
 * Returns      INVALID_SOCKET with WSANOTINITIALISED, WSAEINVAL (info, group, another flag), or the error of socket.
 */
SOCKET WSAAPI WSASocketW(
    int family, int type, int protocol, LPWSAPROTOCOL_INFOW info, GROUP group, DWORD flags)
{
    int fd;

    if (!win_winsock_started())
        return INVALID_SOCKET;
    if (info || group || (flags & ~(DWORD)(WSA_FLAG_OVERLAPPED | WSA_FLAG_NO_HANDLE_INHERIT))) {
        win_winsock_fail(WSAEINVAL);
        return INVALID_SOCKET;
    }
    if ((fd = socket(family, type | SOCK_CLOEXEC, protocol)) < 0) {
        win_winsock_fail_errno();
        return INVALID_SOCKET;
    }
    win_socket_new(fd);
    SetLastError(ERROR_SUCCESS);
    return (SOCKET)fd;
}

SOCKET WSAAPI WSASocketA(
    int family, int type, int protocol, LPWSAPROTOCOL_INFOA info, GROUP group, DWORD flags)
{
    return WSASocketW(family, type, protocol, (LPWSAPROTOCOL_INFOW)info, group, flags);
}

static uint64_t integer_load(const void *from, size_t bytes)
{
    uint64_t value = 0;

    memcpy(
        &value, from, bytes > sizeof(value) ? sizeof(value) : bytes); /* the low bytes come first */
    return value;
}

/*
 * ioctlsocket - FIONBIO: the socket does not block when the argument is not 0; FIONREAD: how many bytes can be read;
 * SIOCATMARK: whether no urgent data wait to be read.
 * SOCKET_ERROR with WSANOTINITIALISED, WSAENOTSOCK, WSAEFAULT, WSAEOPNOTSUPP (another command), WSAEINVAL (the
 * socket is to block, and has network events of WSAEventSelect).
 */
int WSAAPI wincompat_ioctlsocket(SOCKET socket, long command, void *argument, size_t bytes)
{
    uint64_t wide;
    int value;

    if (!is_socket(socket))
        return SOCKET_ERROR;
    if (!argument)
        return win_winsock_fail(WSAEFAULT);
    value = integer_load(argument, bytes) != 0;
    if (command != FIONBIO && command != FIONREAD && command != SIOCATMARK)
        return win_winsock_fail(WSAEOPNOTSUPP);
    if (command == FIONBIO && !value && win_network_events_selected((int)socket))
        return win_winsock_fail(WSAEINVAL);
    if (ioctl((int)socket, (unsigned long)command, &value))
        return win_winsock_fail_errno();
    wide = command == SIOCATMARK
               ? !value
               : (uint64_t)value; /* Linux tells whether the next octet is urgent */
    if (command != FIONBIO)
        memcpy(argument, &wide, bytes > sizeof(wide) ? sizeof(wide) : bytes);
    SetLastError(ERROR_SUCCESS);
    return 0;
}

/* __WSAFDIsSet - FD_ISSET as a function: whether a socket is in a set; 0 for a number that none can have there. */
int PASCAL __WSAFDIsSet(SOCKET socket, fd_set *set)
{
    return set && socket < FD_SETSIZE && FD_ISSET((int)socket, set);
}

/* A call on each socket of a set begins, or ends; the latter tells in *closing whether one is being closed. */
static void calls_of(const fd_set *set, bool begin, bool *closing)
{
    const unsigned long *words = (const unsigned long *)set;
    enum { BITS = 8 * sizeof(*words) };

    for (size_t i = 0; set && i < FD_SETSIZE / BITS; i++)
        for (unsigned long left = words[i]; left; left &= left - 1) {
            const int fd = (int)(i * BITS) + __builtin_ctzl(left);
            _Atomic uint32_t *calls = begin ? win_blocked_begin(fd) : win_blocked_calls(fd);

            if (!begin && win_blocked_end(calls))
                *closing = true;
        }
}

/*
 * select - waits until one of the sockets is ready. The sets are the C library's, so every SOCKET in one is below
 * FD_SETSIZE. Returns how many are ready, 0 at the timeout; a socket that another thread closes meanwhile is ready to
 * read and to write. SOCKET_ERROR with WSAEINVAL (three NULL sets, a negative timeout), WSAENOTSOCK (also of a socket
 * that is closed meanwhile, if none is ready).
 */
int WSAAPI wincompat_select(
    int ignored, fd_set *readable, fd_set *writable, fd_set *failed, const struct timeval *timeout)
{
    fd_set *const sets[] = { readable, writable, failed };
    fd_set asked[3];
    struct timeval left;
    bool closing = false;
    int ready, error;

    (void)ignored;
    if (!win_winsock_started())
        return SOCKET_ERROR;
    if (!readable && !writable && !failed)
        return win_winsock_fail(WSAEINVAL);
    if (timeout)
        left = *timeout;
    for (int i = 0; i < 3; i++) {
        if (sets[i])
            asked[i] = *sets[i];
        calls_of(sets[i], true, &closing);
    }
    ready = select(FD_SETSIZE, readable, writable, failed, timeout ? &left : NULL);
    error = errno;
    for (int i = 0; i < 3; i++)
        calls_of(sets[i] ? &asked[i] : NULL, false, &closing);
    errno = closing && !ready ? EBADF : error;
    if (ready < 0 || (closing && !ready))
        return win_winsock_fail_errno();
    SetLastError(ERROR_SUCCESS);
    return ready;
}
