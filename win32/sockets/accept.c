/* SPDX-License-Identifier: MIT */
/*
 * accept.c - AcceptEx, GetAcceptExSockaddrs. The kernel makes a descriptor for a connection; the one that the program
 * named takes its place (dup3), so the SOCKET, its port and its key stay.
 */
#include "win32/sockets/blocked.h"
#include "win32/sockets/network_events.h"
#include "win32/sockets/object.h"

#include <mswsock.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { ADDRESS_EXTRA = 16 }; /* what an address takes in the buffer beyond itself, at most */

static void accept_free(struct win_request *base)
{
    struct win_accept *accept = container_of(base, struct win_accept, base);

    if (accept->socket)
        win_socket_unref(accept->socket);
    free(accept);
}

/* Ends an AcceptEx. The socket is free for another one before the program learns of it. */
static void end_locked(
    struct win_socket *listener, struct win_accept *accept, LONG status, size_t bytes)
{
    struct win_socket *socket = accept->socket, *reference;

    lock_assert_held(&listener->accept_lock);
    list_del(&accept->queued);
    lock_acquire(&socket->lock);
    reference = socket->listener;
    socket->listener = NULL;
    socket->accept = NULL;
    lock_release(&socket->lock);
    if (win_request_claim(&accept->base))
        win_request_end(&accept->base, status, bytes);
    win_socket_unref(reference);
}

static void accept_cancel(struct win_request *base)
{
    struct win_accept *accept = container_of(base, struct win_accept, base);
    struct win_socket *listener = win_file_room(base->file);

    lock_acquire(&listener->accept_lock);
    if (list_linked(&accept->queued))
        end_locked(listener, accept, STATUS_CANCELLED, 0);
    lock_release(&listener->accept_lock);
}

static const struct win_request_ops accept_ops = {
    .cancel = accept_cancel,
    .free = accept_free,
};

/* An address in the buffer: its length, then itself. */
static void put_address(char *at, DWORD room, const struct sockaddr_storage *address, INT length)
{
    if (!room)
        return;
    memcpy(at, &length, sizeof(length));
    memcpy(at + sizeof(length), address, (size_t)length);
}

static void put_addresses(struct win_socket *listener, struct win_accept *accept,
    const struct sockaddr_storage *remote, socklen_t remote_length)
{
    struct sockaddr_storage local = listener->local;
    socklen_t length = listener->local_length;
    char *at = accept->buffer + accept->data_bytes;

    if (!length && accept->local_bytes) {
        length = sizeof(local);
        if (getsockname(accept->socket->fd, (struct sockaddr *)&local, &length))
            length = 0;
    }
    put_address(at, accept->local_bytes, &local, (INT)length);
    put_address(at + accept->local_bytes, accept->remote_bytes, remote, (INT)remote_length);
}

/* Receives the first data, if they are there; else the event of the socket leads here again. */
static void data_locked(struct win_socket *listener, struct win_accept *accept)
{
    struct win_socket *socket = accept->socket;
    LONG status = STATUS_SUCCESS;
    ssize_t bytes;

    lock_acquire(&socket->lock);
    bytes = recv(socket->fd, accept->buffer, accept->data_bytes, MSG_DONTWAIT);
    if (bytes < 0 && (errno == EAGAIN || errno == EINTR)) {
        socket->readable = false;
        status = win_socket_watch_locked(socket, EPOLLIN) ? STATUS_INSUFFICIENT_RESOURCES
                                                          : WIN_SOCKET_PENDING;
    } else if (bytes < 0) {
        status = win_socket_status(socket, errno);
    }
    lock_release(&socket->lock);
    if (status != WIN_SOCKET_PENDING)
        end_locked(listener, accept, status, bytes < 0 ? 0 : (size_t)bytes);
}

/* An AcceptEx has its connection: ends, or waits for data. */
static void accepted_locked(struct win_socket *listener, struct win_accept *accept,
    const struct sockaddr_storage *remote, socklen_t remote_length)
{
    put_addresses(listener, accept, remote, remote_length);
    if (!accept->data_bytes) {
        end_locked(listener, accept, STATUS_SUCCESS, 0);
        return;
    }
    list_del(&accept->queued);
    list_add_tail(&listener->receiving, &accept->queued);
    accept->accepted = true;
    data_locked(listener, accept);
}

/*
 * Takes a connection, and puts it in the socket's place, unless the program has closed that: then the connection is the
 * next one's. Returns the status, or WIN_SOCKET_PENDING with errno.
 */
static LONG take_locked(struct win_socket *listener, struct win_accept *accept,
    struct sockaddr_storage *remote, socklen_t *length)
{
    struct win_socket *socket = accept->socket;
    LONG status = STATUS_CANCELLED;
    int fd;

    lock_acquire(&socket->lock);
    if (!socket->closed) {
        fd = accept4(listener->fd, (struct sockaddr *)remote, length,
            SOCK_CLOEXEC | (accept->nonblocking ? SOCK_NONBLOCK : 0));
        status = WIN_SOCKET_PENDING;
        if (fd >= 0) {
            status = win_socket_replace_locked(socket, fd) ? STATUS_INSUFFICIENT_RESOURCES
                                                           : STATUS_SUCCESS;
            socket->called = false;
            win_blocked_connected(socket->fd, false);
            close(fd);
        }
    }
    lock_release(&socket->lock);
    return status;
}

/* Whether accept's error concerns one lost connection only; the next one may be acceptable. */
static bool of_that_connection(int error)
{
    return error == EINTR || error == ECONNABORTED || error == EPROTO || error == ENETDOWN ||
           error == ENETUNREACH || error == EHOSTDOWN || error == EHOSTUNREACH;
}

/* Accepts connections, as long as there are some and an AcceptEx waits. */
static void run_locked(struct win_socket *listener)
{
    lock_assert_held(&listener->accept_lock);
    while (listener->acceptable && !list_empty(&listener->accepts)) {
        struct win_accept *accept = list_entry(listener->accepts.n.next, struct win_accept, queued);
        struct sockaddr_storage remote;
        socklen_t length = sizeof(remote);
        const LONG status = take_locked(listener, accept, &remote, &length);

        if (!status)
            accepted_locked(listener, accept, &remote, length);
        else if (status != WIN_SOCKET_PENDING)
            end_locked(listener, accept, status, 0);
        else if (errno == EAGAIN)
            listener->acceptable = false;
        else if (!of_that_connection(errno)) { /* a shortage: the others wait for the next event */
            end_locked(listener, accept, win_socket_status(listener, errno), 0);
            return;
        }
    }
}

void win_socket_accept_ready(struct win_socket *listener)
{
    lock_acquire(&listener->accept_lock);
    listener->acceptable = true;
    if (!listener->accepts_closed)
        run_locked(listener);
    lock_release(&listener->accept_lock);
}

/* The AcceptEx that a socket is for, if it is this listener's; it stays, as long as its accept_lock is held. */
static struct win_accept *accept_of_locked(struct win_socket *listener, struct win_socket *socket)
{
    struct win_accept *accept;

    lock_assert_held(&listener->accept_lock);
    lock_acquire(&socket->lock);
    accept = socket->listener == listener ? socket->accept : NULL;
    lock_release(&socket->lock);
    return accept;
}

void win_socket_accept_data(struct win_socket *listener, struct win_socket *socket)
{
    struct win_accept *accept;

    lock_acquire(&listener->accept_lock);
    accept = accept_of_locked(listener, socket);
    if (accept && accept->accepted)
        data_locked(listener, accept);
    lock_release(&listener->accept_lock);
}

void win_socket_accept_abandon(struct win_socket *socket)
{
    struct win_socket *listener;
    struct win_accept *accept;

    lock_acquire(&socket->lock);
    if ((listener = socket->listener))
        win_socket_ref(listener);
    lock_release(&socket->lock);
    if (!listener)
        return;
    lock_acquire(&listener->accept_lock);
    if ((accept = accept_of_locked(listener, socket)) && list_linked(&accept->queued))
        end_locked(listener, accept, STATUS_CANCELLED, 0);
    lock_release(&listener->accept_lock);
    win_socket_unref(listener);
}

void win_socket_accept_close(struct win_socket *listener)
{
    struct list_head *const lists[] = { &listener->accepts, &listener->receiving };

    lock_acquire(&listener->accept_lock);
    listener->accepts_closed = true;
    for (int i = 0; i < 2; i++)
        while (!list_empty(lists[i]))
            end_locked(listener, list_entry(lists[i]->n.next, struct win_accept, queued),
                STATUS_CANCELLED, 0);
    lock_release(&listener->accept_lock);
}

/*
 * Prepares a listener at its first AcceptEx: accept must not block the driving thread, and no connection may be missed.
 */
static int listen_begin(struct win_socket *listener)
{
    const int flags = fcntl(listener->fd, F_GETFL);
    struct sockaddr_storage local;
    const void *address = (char *)&local + offsetof(struct sockaddr_in, sin_addr);
    socklen_t length = sizeof(local);
    int error = 0;

    if (flags < 0 || fcntl(listener->fd, F_SETFL, flags | O_NONBLOCK) ||
        getsockname(listener->fd, (struct sockaddr *)&local, &length))
        return -errno;
    lock_acquire(&listener->accept_lock);
    if (!atomic_load(&listener->listening)) {
        listener->acceptable = true;
        if (local.ss_family == AF_INET && memcmp(address, &(struct in_addr){ INADDR_ANY }, 4)) {
            listener->local = local;
            listener->local_length = length;
        }
        lock_acquire(&listener->lock);
        error = listener->closed ? -EBADF : win_socket_watch_locked(listener, EPOLLIN);
        lock_release(&listener->lock);
        atomic_store(&listener->blocked, !(flags & O_NONBLOCK));
        atomic_store(&listener->listening, !error);
    }
    lock_release(&listener->accept_lock);
    return error;
}

static bool listens(const struct win_socket *socket)
{
    int value = 0;
    socklen_t length = sizeof(value);

    return !(getsockopt)(socket->fd, SOL_SOCKET, SO_ACCEPTCONN, &value, &length) && value;
}

/* Whether a socket can become a connection: a stream of the listener's family, neither bound nor connected. */
static bool is_unused(const struct win_socket *listener, const struct win_socket *socket)
{
    struct sockaddr_in6 local = { .sin6_port = 0 };
    socklen_t length = sizeof(local);

    return socket != listener && socket->type == listener->type &&
           socket->family == listener->family &&
           !getsockname(socket->fd, (struct sockaddr *)&local, &length) && !local.sin6_port;
}

/* Whether there is room for an address; 0 octets: it is not wanted, which is allowed for the local one only. */
static bool is_room(const struct win_socket *listener, DWORD bytes, bool optional)
{
    return bytes ? bytes >= win_address_size(listener->family) + ADDRESS_EXTRA : optional;
}

static DWORD accept_check(
    struct win_socket *listener, struct win_socket *socket, const struct win_accept *accept)
{
    if (!accept->buffer || !is_room(listener, accept->remote_bytes, false) ||
        !is_room(listener, accept->local_bytes, true))
        return WSAEFAULT;
    if (!win_address_size(listener->family) || listener->type != SOCK_STREAM ||
        !listens(listener) || !is_unused(listener, socket))
        return WSAEINVAL;
    return !atomic_load(&listener->listening) && listen_begin(listener) ? WSAENOBUFS : 0;
}

/* Takes the socket for an AcceptEx. False: another one has it, or it is closed. */
static bool claim(struct win_socket *listener, struct win_socket *socket, struct win_accept *accept)
{
    bool claimed;

    lock_acquire(&socket->lock);
    if ((claimed = !socket->listener && !socket->connect && !socket->closed)) {
        socket->listener = win_socket_ref(listener);
        socket->accept = accept;
        accept->socket = win_socket_ref(socket);
        accept->nonblocking = fcntl(socket->fd, F_GETFL) & O_NONBLOCK;
    }
    lock_release(&socket->lock);
    return claimed;
}

/* Queues an AcceptEx that has begun, and takes a connection if one is there. */
static void submit(struct win_socket *listener, struct win_accept *accept)
{
    lock_acquire(&listener->accept_lock);
    list_add_tail(&listener->accepts, &accept->queued);
    if (listener->accepts_closed || atomic_load(&accept->base.cancelling))
        end_locked(listener, accept, STATUS_CANCELLED, 0);
    else
        run_locked(listener);
    lock_release(&listener->accept_lock);
}

/* Consumes accept unless it returns WSA_IO_PENDING. */
static DWORD accept_start(struct win_socket *listener, struct win_socket *socket,
    struct win_accept *accept, OVERLAPPED *overlapped)
{
    DWORD error = accept_check(listener, socket, accept);

    if (!error && !claim(listener, socket, accept))
        error = WSAEINVAL;
    if (error) {
        free(accept);
        return error;
    }
    if (win_request_begin(listener->file, &accept->base, &accept_ops, overlapped)) {
        lock_acquire(
            &listener->accept_lock); /* a thread that has found `accept` no longer uses it then */
        lock_acquire(&socket->lock);
        socket->listener = NULL;
        socket->accept = NULL;
        lock_release(&socket->lock);
        lock_release(&listener->accept_lock);
        win_socket_unref(listener);
        win_socket_unref(socket);
        free(accept);
        return WSAENOBUFS;
    }
    submit(listener, accept);
    return WSA_IO_PENDING;
}

/*
 * AcceptEx - accepts a connection into a socket that the program has made.
 * listener      listens; of AF_INET or AF_INET6. From the first AcceptEx on accept on it does not wait either
 * socket        of the same kind, neither bound nor connected. It gets the listener's options, as with accept, and
 *               keeps its port, its key and whether it blocks
 * buffer        out: data_bytes of the first data (0: does not wait for any), then both addresses, for
 *               GetAcceptExSockaddrs. local_bytes, remote_bytes: an address and 16 octets; local_bytes may be 0
 * received      ignored: the request is always pending first
 * overlapped    of the listener; ends with the octets of data, 0 also if the peer has ended
 * Returns       FALSE with ERROR_IO_PENDING, or WSANOTINITIALISED, WSAENOTSOCK, ERROR_INVALID_PARAMETER (no
 *               overlapped), WSAEFAULT (buffer, room for an address), WSAEINVAL (not listening; socket is in use),
 *               WSAENOBUFS. Closing either socket cancels the request.
 * Threads       any
 */
BOOL PASCAL AcceptEx(SOCKET listener, SOCKET socket, PVOID buffer, DWORD data_bytes,
    DWORD local_bytes, DWORD remote_bytes, LPDWORD received, LPOVERLAPPED overlapped)
{
    struct win_socket *from = win_socket_get(listener), *to;
    struct win_accept *accept;
    DWORD error = 0;

    (void)received;
    if (!from)
        return FALSE;
    if (!(to = win_socket_get(socket))) {
        win_socket_unref(from);
        return FALSE;
    }
    accept = overlapped ? calloc(1, sizeof(*accept)) : NULL;
    if (accept) {
        list_node_init(&accept->queued);
        accept->buffer = buffer;
        accept->data_bytes = data_bytes;
        accept->local_bytes = local_bytes;
        accept->remote_bytes = remote_bytes;
        error = accept_start(from, to, accept, overlapped);
        if (win_blocked_selected(win_blocked_calls(from->fd)))
            win_network_events_called(from->fd, FD_ACCEPT, 0);
    } else {
        error = overlapped ? WSAENOBUFS : ERROR_INVALID_PARAMETER;
    }
    win_socket_unref(to);
    win_socket_unref(from);
    win_winsock_fail(error);
    return FALSE;
}

static void get_address(char *at, DWORD room, struct sockaddr **address, LPINT length)
{
    *address = NULL;
    *length = 0;
    if (!room)
        return;
    memcpy(length, at, sizeof(*length));
    *address = (struct sockaddr *)(void *)(at + sizeof(*length));
}

/*
 * GetAcceptExSockaddrs - where AcceptEx has put the addresses. Arguments as of AcceptEx; out: the addresses inside of
 * buffer, and their lengths; NULL and 0 for one of 0 octets.
 */
VOID PASCAL GetAcceptExSockaddrs(PVOID buffer, DWORD data_bytes, DWORD local_bytes,
    DWORD remote_bytes, struct sockaddr **local, LPINT local_length, struct sockaddr **remote,
    LPINT remote_length)
{
    char *at = (char *)buffer + data_bytes;

    get_address(at, local_bytes, local, local_length);
    get_address(at + local_bytes, remote_bytes, remote, remote_length);
}
