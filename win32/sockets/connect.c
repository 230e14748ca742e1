/* SPDX-License-Identifier: MIT */
/* connect.c - ConnectEx, DisconnectEx. */
#include "win32/sockets/blocked.h"
#include "win32/sockets/object.h"

#include <mswsock.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

static int option_of(const struct win_socket *socket, int option)
{
    int value = 0;
    socklen_t length = sizeof(value);

    (getsockopt)(socket->fd, SOL_SOCKET, option, &value, &length);
    return value;
}

/* Whether the socket has a port of its own; a family without ports has. */
static bool is_bound(const struct win_socket *socket)
{
    struct sockaddr_in6 local = { .sin6_port = 0 }; /* the port is at the same place in AF_INET */
    socklen_t length = sizeof(local);

    return !win_address_size(socket->family) ||
           (!getsockname(socket->fd, (struct sockaddr *)&local, &length) && local.sin6_port);
}

static bool is_connected(const struct win_socket *socket)
{
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);

    return !getpeername(socket->fd, (struct sockaddr *)&peer, &length);
}

/* connect that does not wait. Returns 0 or an errno, EINPROGRESS mostly. */
static int connect_begin(const struct win_socket *socket, const struct win_socket_request *request)
{
    const struct sockaddr *to = (const struct sockaddr *)&request->to;
    int flags = fcntl(socket->fd, F_GETFL), error, tries = 0;

    if (flags < 0)
        return errno;
    if (!(flags & O_NONBLOCK) && fcntl(socket->fd, F_SETFL, flags | O_NONBLOCK))
        return errno;
    do /* the first call after a failed connect reports only that failure */
        error = connect(socket->fd, to, request->to_length) ? errno : 0;
    while (error == ECONNABORTED && tries++ == 0);
    if (!(flags & O_NONBLOCK))
        fcntl(socket->fd, F_SETFL, flags);
    return error;
}

void win_socket_connect_advance_locked(struct win_socket *socket)
{
    struct win_socket_request *request = socket->connect;
    int error;

    lock_assert_held(&socket->lock);
    if ((error = option_of(socket, SO_ERROR))) {
        win_socket_end_locked(socket, request, win_socket_status(socket, error));
        return;
    }
    if (!is_connected(socket))
        return;
    win_socket_fresh(socket);
    win_blocked_connected(socket->fd, true);
    socket->called = true;
    request->to_length = 0;
    socket->connect = NULL;
    list_add_head(&socket->sends, &request->queued);
    if (!request->total)
        win_socket_end_locked(socket, request, STATUS_SUCCESS);
}

/* Begins a request to connect. Returns a Winsock error. */
static DWORD connect_submit(struct win_socket *socket, struct win_socket_request *request)
{
    const bool cancelled = atomic_load(&request->base.cancelling);
    int error;

    lock_acquire(&socket->lock);
    if (socket->closed)
        error = EBADF;
    else if (cancelled)
        error = ECANCELED;
    else if (socket->connect || socket->listener)
        error = EINVAL;
    else if ((error = connect_begin(socket, request)) == EINPROGRESS || !error)
        error = -win_socket_watch_locked(socket, EPOLLOUT);
    if (error) {
        const LONG status = cancelled ? STATUS_CANCELLED : win_socket_status(socket, error);

        win_request_claim(&request->base); /* no cancel has ended it */
        win_request_end_at_once(&request->base, status, 0);
        lock_release(&socket->lock);
        return error == EALREADY ? WSAEALREADY : win_winsock_error(status);
    }
    socket->connect = request;
    win_socket_advance_locked(socket);
    lock_release(&socket->lock);
    return WSA_IO_PENDING;
}

static DWORD connect_check(const struct win_socket *socket, const struct sockaddr *name,
    int name_length, const void *buffer, DWORD bytes, const OVERLAPPED *overlapped)
{
    if (!overlapped)
        return ERROR_INVALID_PARAMETER;
    if (!name || name_length < (int)sizeof(name->sa_family) ||
        (size_t)name_length > sizeof(struct sockaddr_storage) || (bytes && !buffer))
        return WSAEFAULT;
    if (socket->type != SOCK_STREAM || !is_bound(socket) || option_of(socket, SO_ACCEPTCONN))
        return WSAEINVAL;
    return is_connected(socket) ? WSAEISCONN : 0;
}

/*
 * ConnectEx - connects a socket, then sends.
 * socket         of a stream, bound, not connected
 * buffer, bytes  in: sent once the connection is there; NULL, 0: nothing
 * sent           ignored: the request is always pending first
 * overlapped     ends with the octets that were sent
 * Returns        FALSE with ERROR_IO_PENDING, or WSANOTINITIALISED, WSAENOTSOCK, ERROR_INVALID_PARAMETER (no
 *                overlapped), WSAEFAULT (name, buffer), WSAEINVAL (not bound; no stream; it listens; a request connects
 *                it already), WSAEALREADY (connect does), WSAEISCONN, WSAENETUNREACH, WSAEHOSTUNREACH,
 *                WSAEADDRNOTAVAIL, WSAENOBUFS.
 *                The request ends with STATUS_CONNECTION_REFUSED (ERROR_CONNECTION_REFUSED, WSAECONNREFUSED),
 *                STATUS_IO_TIMEOUT (ERROR_SEM_TIMEOUT, WSAETIMEDOUT) and the like.
 * Threads        any
 */
BOOL PASCAL win_connect_ex(SOCKET socket, const struct sockaddr *name, int name_length,
    PVOID buffer, DWORD bytes, LPDWORD sent, LPOVERLAPPED overlapped)
{
    const WSABUF data = { bytes, buffer };
    struct win_socket *found = win_socket_get(socket);
    struct win_socket_request *request = NULL;
    DWORD error;

    (void)sent;
    if (!found)
        return FALSE;
    error = connect_check(found, name, name_length, buffer, bytes, overlapped);
    if (!error && !(request = win_socket_request_new(&data, 1)))
        error = WSAENOBUFS;
    if (!error) {
        memcpy(&request->to, name, (size_t)name_length);
        request->to_length = (socklen_t)name_length;
        if (win_request_begin(found->file, &request->base, &win_socket_request_ops, overlapped)) {
            free(request);
            error = WSAENOBUFS;
        } else {
            error = connect_submit(found, request);
        }
    }
    win_socket_unref(found);
    win_winsock_fail(error);
    return FALSE;
}

/*
 * Makes a socket to replace a connected one; if ConnectEx connected that, binds the new one to any port of its address.
 * Returns its descriptor, or a negative errno.
 */
static int fresh_socket(const struct win_socket *old)
{
    struct sockaddr_in6 local = { .sin6_port = 0 };
    socklen_t length = sizeof(local);
    const int flags = fcntl(old->fd, F_GETFL);
    int fd, error = 0;

    if (flags < 0 || (old->called && getsockname(old->fd, (struct sockaddr *)&local, &length)))
        return -errno;
    fd =
        socket(old->family, old->type | SOCK_CLOEXEC | (flags & O_NONBLOCK ? SOCK_NONBLOCK : 0), 0);
    if (fd < 0)
        return -errno;
    local.sin6_port = 0;
    if (old->called && bind(fd, (struct sockaddr *)&local, length))
        error = -errno;
    if (error)
        close(fd);
    return error ? error : fd;
}

/* Detaches the connection, which goes on to close, so that the socket can have another one. Returns 0 or an errno. */
static int renew(struct win_socket *socket)
{
    const int fd = fresh_socket(socket);
    int error;

    if (fd < 0)
        return -fd;
    lock_acquire(&socket->lock);
    win_socket_cancel_locked(socket);
    error = socket->closed ? EBADF : -win_socket_replace_locked(socket, fd);
    socket->called = false;
    lock_release(&socket->lock);
    close(fd);
    return error;
}

static DWORD disconnect(struct win_socket *socket, DWORD flags)
{
    int error = 0;

    if (socket->type != SOCK_STREAM || !win_address_size(socket->family) || !is_connected(socket))
        return WSAENOTCONN;
    if (shutdown(socket->fd, SHUT_WR) || ((flags & TF_REUSE_SOCKET) && (error = renew(socket))))
        return win_winsock_error(win_socket_status(socket, error ? error : errno));
    return 0;
}

/* Reports a request that succeeded at once. Returns a Winsock error. */
static DWORD disconnect_report(struct win_socket *socket, OVERLAPPED *overlapped)
{
    struct win_socket_request *request = win_socket_request_new(NULL, 0);

    if (!request)
        return WSAENOBUFS;
    if (win_request_begin(socket->file, &request->base, &win_socket_request_ops, overlapped)) {
        free(request);
        return WSAENOBUFS;
    }
    win_request_claim(&request->base);
    return win_request_end_at_once(&request->base, STATUS_SUCCESS, 0);
}

/*
 * DisconnectEx - ends what a socket sends. The connection is gone when the peer has ended, too.
 * overlapped  may be NULL
 * flags       0, or TF_REUSE_SOCKET: the socket can be given to AcceptEx or ConnectEx again; its requests are
 *             cancelled, its options are those of a new socket, and the connection closes by itself, as after
 *             closesocket; one that ConnectEx had connected is bound, to another port of the same address
 * reserved    must be 0
 * Returns     TRUE: it has ended, and a packet is queued all the same. FALSE with WSANOTINITIALISED, WSAENOTSOCK,
 *             WSAEINVAL (flags, reserved), WSAENOTCONN, WSAENOBUFS.
 * Threads     any
 */
BOOL PASCAL win_disconnect_ex(SOCKET socket, LPOVERLAPPED overlapped, DWORD flags, DWORD reserved)
{
    struct win_socket *found = win_socket_get(socket);
    DWORD error;

    if (!found)
        return FALSE;
    error = (flags & ~(DWORD)TF_REUSE_SOCKET) || reserved ? WSAEINVAL : disconnect(found, flags);
    if (!error && overlapped)
        error = disconnect_report(found, overlapped);
    win_socket_unref(found);
    SetLastError(error);
    return !error;
}
