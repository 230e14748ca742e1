/* SPDX-License-Identifier: MIT */
/* transfer.c - octets in and out: WSASend, WSASendTo, WSARecv, WSARecvFrom, and ReadFile and WriteFile on sockets. */
#include "win32/sockets/blocked.h"
#include "win32/sockets/network_events.h"
#include "win32/sockets/object.h"

#include "winobj/status.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* The parts that are still to do, as one system call takes them. */
static struct msghdr rest_of(struct win_socket_request *request)
{
    const unsigned count = request->count - request->next;

    return (struct msghdr){ .msg_iov = request->parts + request->next,
        .msg_iovlen = count < IOV_MAX ? count : IOV_MAX,
        .msg_control = request->control,
        .msg_controllen = request->control_bytes };
}

static void advance(struct win_socket_request *request, size_t bytes)
{
    request->done += bytes;
    while (request->next < request->count && bytes >= request->parts[request->next].iov_len)
        bytes -= request->parts[request->next++].iov_len;
    if (bytes) {
        struct iovec *part = &request->parts[request->next];

        part->iov_base = (char *)part->iov_base + bytes;
        part->iov_len -= bytes;
    }
}

static bool is_stream(const struct win_socket *socket)
{
    return socket->type == SOCK_STREAM;
}

bool win_socket_again(const struct win_socket *socket, int error)
{
    return error == EINTR ||
           (error == ECONNREFUSED && !is_stream(socket) && atomic_load(&socket->quiet));
}

/* A receive of no octets on a stream ends when there are some, or the stream has ended. */
static LONG look_for_data(struct win_socket *socket)
{
    char octet;

    if (recv(socket->fd, &octet, 1, MSG_PEEK | MSG_DONTWAIT) >= 0)
        return STATUS_SUCCESS;
    return errno == EAGAIN || errno == EINTR ? WIN_SOCKET_PENDING
                                             : win_socket_status(socket, errno);
}

static void put_address(
    struct win_socket_request *request, const struct sockaddr_storage *from, socklen_t length)
{
    const socklen_t room = request->from ? (socklen_t)*request->from_length : 0;

    if (!request->from)
        return;
    memcpy(request->from, from, length < room ? length : room);
    *request->from_length = (INT)length;
}

/* What WSARecvMsg tells besides; ancillary data that had no room make the call fail, too. */
static void put_message(
    struct win_socket_request *request, const struct msghdr *message, LONG *status)
{
    if (!request->message)
        return;
    request->message->Control.len = (ULONG)message->msg_controllen;
    request->message->dwFlags = (ULONG)message->msg_flags & (MSG_TRUNC | MSG_CTRUNC);
    if (message->msg_flags & MSG_CTRUNC)
        *status = STATUS_BUFFER_OVERFLOW;
}

/*
 * One recvmsg. Returns what it returns; the status in *status unless the kernel would block. flags: besides the
 * request's
 */
static ssize_t receive_once(
    struct win_socket *socket, struct win_socket_request *request, int flags, LONG *status)
{
    struct sockaddr_storage from;
    struct msghdr message = rest_of(request);
    ssize_t bytes;

    message.msg_name = &from;
    message.msg_namelen = sizeof(from);
    do
        bytes = recvmsg(socket->fd, &message, request->flags | flags);
    while (bytes < 0 && win_socket_again(socket, errno));
    if (bytes < 0) {
        *status = errno == EAGAIN ? WIN_SOCKET_PENDING : win_socket_status(socket, errno);
        return bytes;
    }
    *status = STATUS_SUCCESS;
    advance(request, (size_t)bytes);
    put_message(request, &message, status);
    if (is_stream(socket))
        return bytes;
    if (message.msg_flags & MSG_TRUNC) {
        *status = STATUS_BUFFER_OVERFLOW;
        request->result_flags = MSG_PARTIAL;
    }
    put_address(request, &from, message.msg_namelen);
    return bytes;
}

LONG win_socket_receive_locked(struct win_socket *socket, struct win_socket_request *request)
{
    const bool whole = request->flags & MSG_WAITALL;
    LONG status;

    lock_assert_held(&socket->lock);
    if (is_stream(socket) && !request->total) {
        if ((status = look_for_data(socket)) == WIN_SOCKET_PENDING)
            socket->readable = false;
        return status;
    }
    for (;;) {
        const size_t wanted = request->total - request->done;
        const ssize_t bytes = receive_once(socket, request, MSG_DONTWAIT, &status);

        if (status == WIN_SOCKET_PENDING)
            socket->readable = false;
        if (bytes <= 0)
            return status;
        /* TCP has no more than this: the next octet makes an event. */
        if ((size_t)bytes < wanted && socket->added && !socket->whole_reads)
            socket->readable = false;
        if (!whole || request->done == request->total)
            return status;
    }
}

LONG win_socket_send_locked(struct win_socket *socket, struct win_socket_request *request)
{
    ssize_t bytes;

    lock_assert_held(&socket->lock);
    do {
        struct msghdr message = rest_of(request);

        message.msg_name = request->to_length ? &request->to : NULL;
        message.msg_namelen = request->to_length;
        bytes = sendmsg(socket->fd, &message, request->flags | MSG_DONTWAIT | MSG_NOSIGNAL);
        if (bytes >= 0)
            advance(request, (size_t)bytes);
        else if (errno == EAGAIN)
            socket->writable = false;
        else if (!win_socket_again(socket, errno))
            return win_socket_status(socket, errno);
    } while (socket->writable && (bytes < 0 || request->done < request->total));
    return bytes < 0 ? WIN_SOCKET_PENDING : STATUS_SUCCESS;
}

/* A call without OVERLAPPED: it waits, unless the socket is non-blocking. Consumes the request. */
static int receive_now(
    struct win_socket *socket, struct win_socket_request *request, DWORD *received, DWORD *flags)
{
    const int fd = socket->fd;
    _Atomic uint32_t *const calls = win_blocked_begin(fd);
    LONG status;

    receive_once(socket, request, 0, &status);
    if (win_blocked_selected(calls))
        win_network_events_called(fd, request->flags & MSG_OOB ? FD_OOB : FD_READ, 0);
    if (win_blocked_end(calls) && !request->done) {
        free(request);
        return win_winsock_fail(WSAEINTR);
    }
    if (!status || status == STATUS_BUFFER_OVERFLOW) {
        *received = (DWORD)request->done;
        *flags = request->result_flags;
    }
    free(request);
    return status == WIN_SOCKET_PENDING ? win_winsock_fail_transfer(fd, EAGAIN)
                                        : win_socket_end(status);
}

static int send_now(struct win_socket *socket, struct win_socket_request *request, DWORD *sent)
{
    const int fd = socket->fd;
    _Atomic uint32_t *const calls = win_blocked_begin(fd);
    ssize_t bytes;
    LONG status = STATUS_SUCCESS;
    bool closing;

    do {
        struct msghdr message = rest_of(request);

        message.msg_name = request->to_length ? &request->to : NULL;
        message.msg_namelen = request->to_length;
        bytes = sendmsg(socket->fd, &message, request->flags | MSG_NOSIGNAL);
        if (bytes >= 0)
            advance(request, (size_t)bytes);
        else if (errno == EAGAIN)
            status = WIN_SOCKET_PENDING;
        else if (!win_socket_again(socket, errno))
            status = win_socket_status(socket, errno);
    } while (!status && (bytes < 0 || request->done < request->total));
    if (win_blocked_selected(calls))
        win_network_events_called(fd, FD_WRITE, status == WIN_SOCKET_PENDING ? EAGAIN : 0);
    closing = win_blocked_end(calls) && status;
    if (status == WIN_SOCKET_PENDING && request->done)
        status = STATUS_SUCCESS;
    if (!status)
        *sent = (DWORD)request->done;
    free(request);
    if (closing)
        return win_winsock_fail(WSAEINTR);
    return status == WIN_SOCKET_PENDING ? win_winsock_fail_transfer(fd, EAGAIN)
                                        : win_socket_end(status);
}

/* Begins a request and submits it. Returns its status; *done in octets. Consumes the request. */
static LONG start(struct win_socket *socket, struct win_socket_request *request, bool receives,
    OVERLAPPED *overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine, DWORD *done)
{
    const int fd = socket->fd;
    LONG status = win_socket_routine_begin(socket->file, overlapped, routine);
    DWORD error;

    if (status) {
        free(request);
        return status;
    }
    error = win_request_begin(socket->file, &request->base, &win_socket_request_ops, overlapped);
    if (error) {
        free(request);
        win_socket_routine_drop(overlapped, routine);
        return error == ERROR_INVALID_HANDLE ? STATUS_INVALID_HANDLE
                                             : STATUS_INSUFFICIENT_RESOURCES;
    }
    status =
        win_socket_submit(socket, request, receives ? &socket->receives : &socket->sends, done);
    if (status < 0) /* else the request has the routine, or has handed it on */
        win_socket_routine_drop(overlapped, routine);
    if (win_blocked_selected(win_blocked_calls(fd)))
        win_network_events_called(fd, receives ? FD_READ : FD_WRITE, 0);
    return status;
}

static int result_of(LONG status, DWORD done, DWORD *bytes)
{
    if (status == WIN_SOCKET_PENDING)
        return win_winsock_fail(WSA_IO_PENDING);
    if (bytes && (!status || status == STATUS_BUFFER_OVERFLOW))
        *bytes = done;
    return win_socket_end(status);
}

struct win_socket *win_socket_checked(
    SOCKET socket, const WSABUF *buffers, DWORD count, const void *bytes, const void *overlapped)
{
    struct win_socket *found = win_socket_get(socket);
    DWORD error = 0;

    if (!found)
        return NULL;
    if (!buffers || (!bytes && !overlapped))
        error = WSAEFAULT;
    else if (!count)
        error = WSAEINVAL;
    if (!error)
        return found;
    win_socket_unref(found);
    win_winsock_fail(error);
    return NULL;
}

int win_socket_receive(struct win_socket *socket, struct win_socket_request *request,
    DWORD *received, DWORD *flags, OVERLAPPED *overlapped,
    LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    DWORD done = 0;
    LONG status;

    request->wants_flags = true;
    if (!overlapped)
        return receive_now(socket, request, received, flags);
    status = start(socket, request, true, overlapped, routine, &done);
    if (status == STATUS_SUCCESS || status == STATUS_BUFFER_OVERFLOW)
        *flags = status ? MSG_PARTIAL : 0;
    return result_of(status, done, received);
}

int win_socket_send(struct win_socket *socket, struct win_socket_request *request, DWORD *sent,
    OVERLAPPED *overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    DWORD done = 0;
    LONG status;

    if (!overlapped)
        return send_now(socket, request, sent);
    status = start(socket, request, false, overlapped, routine, &done);
    return result_of(status, done, sent);
}

static bool receive_flags_valid(
    const struct win_socket *socket, DWORD flags, const void *overlapped)
{
    if (flags & ~(DWORD)(MSG_PEEK | MSG_OOB | MSG_PARTIAL | MSG_WAITALL))
        return false;
    if ((flags & MSG_WAITALL) && (!is_stream(socket) || (flags & (MSG_PEEK | MSG_OOB))))
        return false;
    return !(flags & MSG_OOB) || !overlapped;
}

/*
 * WSARecvFrom - receives into several buffers, and tells who sent.
 * buffers      in: copied; the memory they name is the request's until it ends
 * received     out: octets, when the call returns 0; may be NULL with overlapped
 * flags        in: MSG_PEEK, MSG_PARTIAL (no effect), MSG_WAITALL (streams: until the buffers are full), without
 *              overlapped MSG_OOB; out: when the call returns 0: MSG_PARTIAL for a part of a datagram
 * from         out, datagrams: the sender; from_length: in: room, out: length. Both are written when the request ends
 * overlapped   NULL: the call waits, unless the socket is non-blocking
 * routine      with overlapped: the calling thread calls it in an alertable wait once the request has ended, be it in
 *              this call, unless that fails; hEvent is the program's own then. NULL: none
 * Returns      0: octets are there, or the stream has ended (0 octets); a packet is queued all the same (see
 *              SetFileCompletionNotificationModes). SOCKET_ERROR with WSA_IO_PENDING: the request ends later; that of a
 *              stream as soon as some octets are there, also one without room, which leaves them. WSANOTINITIALISED,
 *              WSAENOTSOCK, WSAEFAULT (a NULL pointer; from_length too small), WSAEINVAL (no buffers; a routine, and
 *              the socket has a port), WSAEOPNOTSUPP (another flag), WSAENOTCONN, WSAEMSGSIZE (a datagram longer than
 *              the buffers: they are full, the rest is lost, a packet is queued, the routine is called),
 *              WSAEWOULDBLOCK, WSAECONNRESET (also of a datagram that a host refused), WSAENOBUFS. Requests of a
 *              socket end in the order of the calls.
 * Threads      any
 */
int WSAAPI WSARecvFrom(SOCKET socket, LPWSABUF buffers, DWORD count, LPDWORD received,
    LPDWORD flags, struct sockaddr *from, LPINT from_length, LPWSAOVERLAPPED overlapped,
    LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    struct win_socket *found = win_socket_checked(socket, buffers, count, received, overlapped);
    struct win_socket_request *request = NULL;
    DWORD error = 0;
    int result;

    if (!found)
        return SOCKET_ERROR;
    if (!flags || (from && (!from_length || *from_length < (INT)win_address_size(found->family))))
        error = WSAEFAULT;
    else if (!receive_flags_valid(found, *flags, overlapped))
        error = WSAEOPNOTSUPP;
    else if (!(request = win_socket_request_new(buffers, count)))
        error = WSAENOBUFS;
    if (error) {
        win_socket_unref(found);
        return win_winsock_fail(error);
    }
    request->flags = (int)*flags & ~MSG_PARTIAL;
    request->from = from;
    request->from_length = from_length;
    result = win_socket_receive(found, request, received, flags, overlapped, routine);
    win_socket_unref(found);
    return result;
}

/* WSARecv - WSARecvFrom without the sender. */
int WSAAPI WSARecv(SOCKET socket, LPWSABUF buffers, DWORD count, LPDWORD received, LPDWORD flags,
    LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    return WSARecvFrom(socket, buffers, count, received, flags, NULL, NULL, overlapped, routine);
}

/*
 * WSASendTo - sends from several buffers; a datagram to an address.
 * buffers     in: copied; the memory they name is the request's until it ends
 * sent        out: octets, when the call returns 0; may be NULL with overlapped
 * flags       MSG_DONTROUTE, MSG_OOB
 * to          in: NULL: the peer of the connection. A stream takes none into account
 * overlapped, routine  as in WSARecvFrom. The request ends when the kernel has taken all octets
 * Returns     as WSARecvFrom; WSAEFAULT (to_length longer than any address), WSAESHUTDOWN (shutdown was called),
 *             WSAEMSGSIZE (a datagram too long), WSAENETUNREACH, WSAEHOSTUNREACH, WSAEACCES.
 * Threads     any
 */
int WSAAPI WSASendTo(SOCKET socket, LPWSABUF buffers, DWORD count, LPDWORD sent, DWORD flags,
    const struct sockaddr *to, int to_length, LPWSAOVERLAPPED overlapped,
    LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    struct win_socket *found = win_socket_checked(socket, buffers, count, sent, overlapped);
    struct win_socket_request *request = NULL;
    DWORD error = 0;
    int result;

    if (!found)
        return SOCKET_ERROR;
    if (flags & ~(DWORD)(MSG_DONTROUTE | MSG_OOB))
        error = WSAEOPNOTSUPP;
    else if (to && (to_length < 0 || (size_t)to_length > sizeof(request->to)))
        error = WSAEFAULT;
    else if (!(request = win_socket_request_new(buffers, count)))
        error = WSAENOBUFS;
    if (error) {
        win_socket_unref(found);
        return win_winsock_fail(error);
    }
    request->flags = (int)flags;
    if (to && !is_stream(found)) {
        memcpy(&request->to, to, (size_t)to_length);
        request->to_length = (socklen_t)to_length;
    }
    result = win_socket_send(found, request, sent, overlapped, routine);
    win_socket_unref(found);
    return result;
}

/* WSASend - WSASendTo of a connected socket. */
int WSAAPI WSASend(SOCKET socket, LPWSABUF buffers, DWORD count, LPDWORD sent, DWORD flags,
    LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    return WSASendTo(socket, buffers, count, sent, flags, NULL, 0, overlapped, routine);
}

/* Waits for the end of a request. Without memory for the wait it is cancelled. */
static LONG await(struct win_socket *socket, OVERLAPPED *overlapped)
{
    LONG status = win_overlapped_result(socket->file, overlapped, TRUE);

    if (status != WIN_SOCKET_PENDING)
        return status;
    win_requests_cancel(socket->file, overlapped, 0);
    status = win_overlapped_result(socket->file, overlapped, FALSE);
    return status == STATUS_CANCELLED ? STATUS_NO_MEMORY : status;
}

/* ReadFile and WriteFile, which wait without an OVERLAPPED: a Win32 error for a status. */
static DWORD transfer(
    struct win_file *file, const WSABUF *buffer, bool receives, DWORD *done, OVERLAPPED *overlapped)
{
    struct win_socket *socket = win_file_room(file);
    struct win_socket_request *request;
    OVERLAPPED own = { .hEvent = (HANDLE)(ULONG_PTR)1 }; /* no event, no packet */
    LONG status;

    if (!(request = win_socket_request_new(buffer, 1)))
        return ERROR_NOT_ENOUGH_MEMORY;
    status = start(socket, request, receives, overlapped ? overlapped : &own, NULL, done);
    if (status != WIN_SOCKET_PENDING)
        return win_error_from_status(status);
    if (overlapped)
        return ERROR_IO_PENDING;
    status = await(socket, &own);
    *done = (DWORD)own.InternalHigh;
    return win_error_from_status(status);
}

DWORD win_socket_read(
    struct win_file *file, void *buffer, DWORD bytes, DWORD *done, OVERLAPPED *overlapped)
{
    return transfer(file, &(WSABUF){ bytes, buffer }, true, done, overlapped);
}

DWORD win_socket_write(
    struct win_file *file, const void *buffer, DWORD bytes, DWORD *done, OVERLAPPED *overlapped)
{
    return transfer(file, &(WSABUF){ bytes, (char *)(uintptr_t)buffer }, false, done, overlapped);
}
