/* SPDX-License-Identifier: MIT */
/*
 * calls.c - the functions that Linux has under the same name, with Windows' last error: a failure sets it, a success
 * sets 0, but for that of connect. Programs call them by these names (wincompat/socket_calls.h). Those that wait end
 * with WSAEINTR when another thread closes the socket (blocked.h).
 */
#include "win32/sockets/calls.h"

#include "win32/sockets/blocked.h"
#include "win32/sockets/network_events.h"
#include "win32/sockets/object.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

/*
 * Windows' flags, and those of Linux that sources use wherever the name is defined: Linux would ignore any other bit,
 * which Windows refuses.
 */
enum {
    SEND_FLAGS =
        MSG_OOB | MSG_DONTROUTE | MSG_MORE | MSG_EOR | MSG_CONFIRM | MSG_DONTWAIT | MSG_NOSIGNAL,
    RECEIVE_FLAGS = MSG_OOB | MSG_PEEK | MSG_WAITALL | MSG_TRUNC | MSG_MORE | MSG_ERRQUEUE |
                    MSG_DONTWAIT | MSG_NOSIGNAL,
};

/* Whether the descriptor is one of a socket: what a number that is none fails with. */
static bool has_option(int fd, int option, int *value)
{
    socklen_t length = sizeof(*value);

    return !(getsockopt)(fd, SOL_SOCKET, option, value, &length);
}

/* Sets the error of a call that transfers nothing. error: Windows' error where Linux has EINVAL; 0: WSAEINVAL. */
static int ended(int result, DWORD error)
{
    if (result < 0)
        return error && errno == EINVAL ? win_winsock_fail(error) : win_winsock_fail_errno();
    SetLastError(ERROR_SUCCESS);
    return result;
}

/* Ends a call that sends or receives; event: the network event that it enables. WSAEINTR: the socket was closed. */
static ssize_t transferred(int fd, _Atomic uint32_t *calls, ssize_t result, LONG event)
{
    const int error = errno;

    if (win_blocked_selected(calls))
        win_network_events_called(fd, event, result < 0 ? error : 0);
    if (win_blocked_end(calls) && result <= 0)
        return win_winsock_fail(WSAEINTR);
    if (result < 0)
        return win_winsock_fail_transfer(fd, error);
    SetLastError(ERROR_SUCCESS);
    return result;
}

/* Whether a transfer that failed is to be made again: the error is that of an older datagram (SIO_UDP_CONNRESET). */
static bool is_old_error(int fd, ssize_t result)
{
    struct win_socket *found;
    bool again;

    if (result >= 0 || errno != ECONNREFUSED || !(found = win_socket_find((SOCKET)fd)))
        return false;
    again = win_socket_again(found, ECONNREFUSED);
    win_socket_unref(found);
    errno = ECONNREFUSED;
    return again;
}

/* Whether an address has as many octets as its family's; WSAEFAULT. */
static bool is_whole(const struct sockaddr *address, socklen_t length)
{
    if (address && length >= sizeof(address->sa_family) &&
        length >= win_address_size(address->sa_family))
        return true;
    win_winsock_fail(WSAEFAULT);
    return false;
}

/*
 * socket - Linux' own, after WSAStartup. INVALID_SOCKET with WSANOTINITIALISED, WSAEAFNOSUPPORT, WSAESOCKTNOSUPPORT
 * (type), WSAEPROTONOSUPPORT, WSAEACCES, WSAEMFILE, WSAENOBUFS. Any thread, as with all of these.
 */
int wincompat_socket(int family, int type, int protocol)
{
    int fd;

    if (!win_winsock_started())
        return -1;
    if ((fd = socket(family, type, protocol)) >= 0)
        win_socket_new(fd);
    return ended(fd, WSAESOCKTNOSUPPORT);
}

/*
 * bind - Linux' own. SOCKET_ERROR with WSANOTINITIALISED, WSAENOTSOCK, WSAEFAULT (no address, or too short a one),
 * WSAEINVAL (bound already), WSAEADDRINUSE, WSAEADDRNOTAVAIL, WSAEACCES.
 */
int wincompat_bind(int fd, const struct sockaddr *address, socklen_t length)
{
    int type;

    if (!win_winsock_started())
        return SOCKET_ERROR;
    if (!has_option(fd, SO_TYPE, &type))
        return win_winsock_fail_errno();
    return is_whole(address, length) ? ended(bind(fd, address, length), 0) : SOCKET_ERROR;
}

/* Whether a socket of the Internet has no port yet. */
static bool is_unbound(int fd)
{
    struct sockaddr_in6 local = { .sin6_port = 0 }; /* the port is at the same place in AF_INET */
    socklen_t length = sizeof(local);

    return !getsockname(fd, (struct sockaddr *)&local, &length) &&
           win_address_size(local.sin6_family) && !local.sin6_port;
}

/* listen - Linux' own. SOCKET_ERROR with WSANOTINITIALISED, WSAENOTSOCK, WSAEINVAL (not bound), WSAEOPNOTSUPP. */
int wincompat_listen(int fd, int backlog)
{
    int type;

    if (!win_winsock_started())
        return SOCKET_ERROR;
    if (has_option(fd, SO_TYPE, &type) && type == SOCK_STREAM && is_unbound(fd))
        return win_winsock_fail(WSAEINVAL);
    return ended(listen(fd, backlog), 0);
}

/* A connection does not block if its listener does not, as the program sees it: AcceptEx makes that non-blocking. */
static void inherit_blocking(int listener, int fd)
{
    const int flags = fcntl(listener, F_GETFL);
    struct win_socket *found;
    bool blocks = flags < 0 || !(flags & O_NONBLOCK);

    if (!blocks && (found = win_socket_find((SOCKET)listener))) {
        blocks = atomic_load(&found->listening) && atomic_load(&found->blocked);
        win_socket_unref(found);
    }
    if (!blocks)
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

/*
 * accept - Linux' own, but that the connection has the listener's WSAEventSelect and FIONBIO. INVALID_SOCKET with
 * WSANOTINITIALISED, WSAENOTSOCK, WSAEINVAL (listen was not called), WSAEOPNOTSUPP (no stream), WSAEWOULDBLOCK,
 * WSAEMFILE.
 */
int wincompat_accept(int fd, struct sockaddr *address, socklen_t *length)
{
    _Atomic uint32_t *calls;
    int accepted, error;
    bool selected;

    if (!win_winsock_started())
        return -1;
    calls = win_blocked_begin(fd);
    accepted = accept(fd, address, length);
    error = errno;
    selected = win_blocked_selected(calls);
    if (accepted >= 0) {
        win_socket_new(accepted);
        win_blocked_connected(accepted, false);
        inherit_blocking(fd, accepted);
        if (selected)
            win_network_events_accepted(fd, accepted);
    }
    if (selected)
        win_network_events_called(fd, FD_ACCEPT, 0);
    if (win_blocked_end(calls) && accepted < 0)
        return win_winsock_fail(WSAEINTR);
    errno = error;
    return ended(accepted, 0);
}

/*
 * connect - Linux' own; a success leaves the last error. SOCKET_ERROR with WSANOTINITIALISED, WSAENOTSOCK,
 * WSAEFAULT (no address, or too short a one), WSAEWOULDBLOCK (it goes on), WSAEALREADY, WSAEISCONN, WSAECONNREFUSED,
 * WSAETIMEDOUT, WSAENETUNREACH, WSAEHOSTUNREACH, WSAEADDRNOTAVAIL, WSAEAFNOSUPPORT.
 */
int wincompat_connect(int fd, const struct sockaddr *address, socklen_t length)
{
    _Atomic uint32_t *calls;
    int result, error, tries = 0;
    bool selected;

    if (!win_winsock_started())
        return SOCKET_ERROR;
    if (!is_whole(address, length))
        return SOCKET_ERROR;
    calls = win_blocked_begin(fd);
    if ((selected = win_blocked_selected(calls)))
        win_network_events_connects(fd);
    do /* the first call after a failed connect reports only that failure */
        result = connect(fd, address, length);
    while (result && errno == ECONNABORTED && tries++ == 0);
    error = errno;
    if (!result || error == EINPROGRESS)
        win_blocked_connected(fd, true); /* a connect that goes on counts from now, too */
    if (selected)
        win_network_events_called(fd, 0, 0);
    if (win_blocked_end(calls) && result)
        return win_winsock_fail(WSAEINTR);
    errno = error;
    return result ? win_winsock_fail_errno() : 0;
}

/*
 * send, sendto - Linux' own. The octets; SOCKET_ERROR with WSANOTINITIALISED, WSAENOTSOCK, WSAENOTCONN, WSAESHUTDOWN,
 * WSAEWOULDBLOCK, WSAETIMEDOUT (SO_SNDTIMEO), WSAECONNRESET, WSAECONNABORTED, WSAEMSGSIZE, WSAEFAULT, WSAENETUNREACH,
 * WSAEHOSTUNREACH, WSAEINVAL (another flag than SEND_FLAGS).
 */
ssize_t wincompat_sendto(int fd, const void *buffer, size_t bytes, int flags,
    const struct sockaddr *to, socklen_t length)
{
    _Atomic uint32_t *calls;
    ssize_t result;

    if (!win_winsock_started())
        return SOCKET_ERROR;
    if (flags & ~SEND_FLAGS)
        return win_winsock_fail(WSAEINVAL);
    calls = win_blocked_begin(fd);
    do
        result = sendto(fd, buffer, bytes, flags | MSG_NOSIGNAL, to, length);
    while (is_old_error(fd, result));
    return transferred(fd, calls, result, FD_WRITE);
}

ssize_t wincompat_send(int fd, const void *buffer, size_t bytes, int flags)
{
    return wincompat_sendto(fd, buffer, bytes, flags, NULL, 0);
}

/*
 * recv, recvfrom - Linux' own. The octets, 0 at the end of a stream; SOCKET_ERROR with WSANOTINITIALISED, WSAENOTSOCK,
 * WSAENOTCONN, WSAEWOULDBLOCK, WSAETIMEDOUT (SO_RCVTIMEO), WSAECONNRESET, WSAEMSGSIZE (a datagram longer than the
 * buffer, which is full; the rest is lost), WSAEFAULT, WSAEINVAL (another flag than RECEIVE_FLAGS; MSG_OOB without such
 * data).
 */
ssize_t wincompat_recvfrom(
    int fd, void *buffer, size_t bytes, int flags, struct sockaddr *from, socklen_t *length)
{
    struct iovec part = { buffer, bytes };
    struct msghdr message = { .msg_name = from,
        .msg_namelen = from && length ? *length : 0,
        .msg_iov = &part,
        .msg_iovlen = 1 };
    _Atomic uint32_t *calls;
    ssize_t result;

    if (!win_winsock_started())
        return SOCKET_ERROR;
    if (flags & ~RECEIVE_FLAGS)
        return win_winsock_fail(WSAEINVAL);
    calls = win_blocked_begin(fd);
    do
        result = recvmsg(fd, &message, flags);
    while (is_old_error(fd, result));
    if (result >= 0 && from && length)
        *length = message.msg_namelen;
    if (result >= 0 && (message.msg_flags & MSG_TRUNC) && !(flags & MSG_TRUNC)) {
        errno = EMSGSIZE;
        result = -1;
    }
    return transferred(fd, calls, result, flags & MSG_OOB ? FD_OOB : FD_READ);
}

ssize_t wincompat_recv(int fd, void *buffer, size_t bytes, int flags)
{
    return wincompat_recvfrom(fd, buffer, bytes, flags, NULL, NULL);
}

/* shutdown - Linux' own. SOCKET_ERROR with WSANOTINITIALISED, WSAENOTSOCK, WSAEINVAL (how), WSAENOTCONN. */
int wincompat_shutdown(int fd, int how)
{
    return win_winsock_started() ? ended(shutdown(fd, how), 0) : SOCKET_ERROR;
}

/*
 * getsockname - Linux' own. SOCKET_ERROR with WSANOTINITIALISED, WSAENOTSOCK, WSAEFAULT (a NULL pointer, too little
 * room), WSAEINVAL (not bound).
 */
int wincompat_getsockname(int fd, struct sockaddr *address, socklen_t *length)
{
    int family;

    if (!win_winsock_started())
        return SOCKET_ERROR;
    if (!has_option(fd, SO_DOMAIN, &family))
        return win_winsock_fail_errno();
    if (is_unbound(fd))
        return win_winsock_fail(WSAEINVAL);
    if (!address || !length || *length < win_address_size(family))
        return win_winsock_fail(WSAEFAULT);
    return ended(getsockname(fd, address, length), 0);
}

/* getpeername - Linux' own. SOCKET_ERROR with WSANOTINITIALISED, WSAENOTSOCK, WSAEFAULT, WSAENOTCONN. */
int wincompat_getpeername(int fd, struct sockaddr *address, socklen_t *length)
{
    struct sockaddr_storage peer;
    socklen_t needed = sizeof(peer);

    if (!win_winsock_started())
        return SOCKET_ERROR;
    if (getpeername(fd, (struct sockaddr *)&peer, &needed))
        return win_winsock_fail_errno();
    if (!address || !length || *length < win_address_size(peer.ss_family))
        return win_winsock_fail(WSAEFAULT);
    return ended(getpeername(fd, address, length), 0);
}
