/* SPDX-License-Identifier: MIT */
/* transfer.c - octets and messages of a named pipe, in and out. */
#include "win32/pipes/pipe.h"

#include <errno.h>
#include <linux/sockios.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

enum {
    BORDER = 1, /* the octet in front of a message */
    /* octets of memory for messages that are taken off the socket before they are read */
    PULL_MOST = 1 << 20,
    ONE_PACKET_LEAST =
        256 /* the least that the kernel charges for a packet; 1 may remain after a read */
};

static int fd_of(const struct win_pipe *pipe)
{
    return pipe->channel->source.fd;
}

/* Handles the failure of a system call: -1 and errno, or 0 of a receive: the end. */
static LONG failed_locked(
    struct win_pipe *pipe, const struct pipe_request *request, ssize_t n, bool reads)
{
    if (n < 0 && errno == EAGAIN) {
        if (pipe->channel->added && reads) /* else no event would report more */
            pipe->readable = false;
        else if (pipe->channel->added)
            pipe->writable = false;
        return PIPE_PENDING;
    }
    if (n < 0 && errno == EFAULT)
        return STATUS_ACCESS_VIOLATION;
    if (n < 0 && (errno == EMSGSIZE || errno == ENOBUFS || errno == ENOMEM))
        return STATUS_INSUFFICIENT_RESOURCES;
    return pipe_ended_locked(pipe, reads, request->waited);
}

/* Whether to repeat a call. The kernel returns ECONNRESET once, before the data that is still unread. */
static bool again(struct win_pipe *pipe, ssize_t n)
{
    if (n >= 0 || (errno != EINTR && errno != ECONNRESET))
        return false;
    pipe->reset |= errno == ECONNRESET;
    return true;
}

static ssize_t receive(struct win_pipe *pipe, void *buffer, size_t bytes, int flags)
{
    ssize_t n;

    do
        n = recv(fd_of(pipe), buffer, bytes, flags | MSG_DONTWAIT);
    while (again(pipe, n));
    return n;
}

/* A read without room ends when octets are there, and leaves them. */
static LONG read_octets(struct win_pipe *pipe, struct pipe_request *request)
{
    char octet;
    ssize_t n = request->in_bytes ? receive(pipe, request->in, request->in_bytes, 0)
                                  : receive(pipe, &octet, 1, MSG_PEEK);

    if (n <= 0)
        return failed_locked(pipe, request, n, true);
    if (request->in_bytes)
        request->got = (size_t)n;
    return STATUS_SUCCESS;
}

/* The length of the message that comes next on the socket; 0 or -1: none, as recv. */
static ssize_t next_length(struct win_pipe *pipe, size_t *bytes)
{
    char border;
    ssize_t n = receive(pipe, &border, sizeof(border), MSG_PEEK | MSG_TRUNC);

    *bytes = n > 0 ? (size_t)n - BORDER : 0;
    return n;
}

/* Takes one message off the socket. 1, or 0 or -1 as recv. */
static ssize_t pull_one(struct win_pipe *pipe)
{
    struct pipe_message *message;
    struct iovec parts[2];
    struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };
    char border;
    size_t bytes;
    ssize_t n = next_length(pipe, &bytes);

    if (n <= 0)
        return n;
    if (!(message = malloc(sizeof(*message) + bytes))) {
        errno = ENOMEM;
        return -1;
    }
    parts[0] = (struct iovec){ &border, BORDER };
    parts[1] = (struct iovec){ message->octets, bytes };
    do
        n = recvmsg(fd_of(pipe), &packet, MSG_DONTWAIT);
    while (again(pipe, n));
    if (n <= 0) {
        free(message);
        return n;
    }
    message->bytes = (size_t)n - BORDER;
    message->taken = 0;
    list_node_init(&message->link);
    list_add_tail(&pipe->messages, &message->link);
    pipe->message_count++;
    pipe->message_bytes += message->bytes;
    return 1;
}

/* Empty messages take memory, too. */
static bool may_pull(const struct win_pipe *pipe)
{
    return pipe->message_bytes + pipe->message_count * sizeof(struct pipe_message) < PULL_MOST;
}

void pipe_pull_locked(struct win_pipe *pipe)
{
    lock_assert_held(&pipe->lock);
    while (may_pull(pipe) && pull_one(pipe) > 0)
        ;
    if (!list_empty(&pipe->receives)) /* another thread waits for these messages */
        pipe_advance_locked(pipe);
}

void pipe_forget_messages(struct win_pipe *pipe)
{
    struct list_node *node;

    while ((node = list_pop(&pipe->messages)))
        free(list_entry(node, struct pipe_message, link));
    pipe->message_count = pipe->message_bytes = 0;
}

/* Reads of a message that was pulled, as much as there is room for. Returns whether it was all. */
static bool read_pulled(struct win_pipe *pipe, struct pipe_request *request)
{
    struct pipe_message *message = list_entry(pipe->messages.n.next, struct pipe_message, link);
    const size_t rest = message->bytes - message->taken, room = request->in_bytes - request->got;
    const size_t bytes = rest < room ? rest : room;

    if (bytes)
        memcpy(request->in + request->got, message->octets + message->taken, bytes);
    message->taken += bytes;
    request->got += bytes;
    pipe->message_bytes -= bytes;
    if (rest > bytes)
        return false;
    list_del(&message->link);
    pipe->message_count--;
    free(message);
    return true;
}

/* A message that fits goes to the program without a copy. */
static LONG read_message(struct win_pipe *pipe, struct pipe_request *request)
{
    struct iovec parts[2];
    struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };
    char border;
    size_t bytes;
    ssize_t n;

    if (list_empty(&pipe->messages)) {
        if ((n = next_length(pipe, &bytes)) <= 0)
            return failed_locked(pipe, request, n, true);
        if (bytes <= request->in_bytes) {
            parts[0] = (struct iovec){ &border, BORDER };
            parts[1] = (struct iovec){ request->in, request->in_bytes };
            do
                n = recvmsg(fd_of(pipe), &packet, MSG_DONTWAIT);
            while (again(pipe, n));
            if (n <= 0)
                return failed_locked(pipe, request, n, true);
            request->got = (size_t)n - BORDER;
            return STATUS_SUCCESS;
        }
        if ((n = pull_one(pipe)) <= 0)
            return failed_locked(pipe, request, n, true);
    }
    return read_pulled(pipe, request) ? STATUS_SUCCESS : STATUS_BUFFER_OVERFLOW;
}

/*
 * PIPE_READMODE_BYTE on a pipe of messages: as many as fit, without their borders. If there are but empty ones, the
 * read ends without octets.
 */
static LONG read_messages(struct win_pipe *pipe, struct pipe_request *request)
{
    bool any = false;
    ssize_t n;

    for (;;) {
        for (; !list_empty(&pipe->messages); any = true)
            if (!read_pulled(pipe, request) || (request->got && request->got == request->in_bytes))
                return STATUS_SUCCESS;
        if ((n = pull_one(pipe)) > 0)
            continue;
        return any ? STATUS_SUCCESS : failed_locked(pipe, request, n, true);
    }
}

LONG pipe_read_locked(struct win_pipe *pipe, struct pipe_request *request)
{
    lock_assert_held(&pipe->lock);
    if (!pipe->server && list_empty(&pipe->messages) && pipe_place_disconnected(&pipe->place))
        return STATUS_PIPE_DISCONNECTED;
    if (!pipe->message)
        return read_octets(pipe, request);
    return pipe->message_reads ? read_message(pipe, request) : read_messages(pipe, request);
}

static LONG write_message(struct win_pipe *pipe, struct pipe_request *request)
{
    char border = 0;
    struct iovec parts[] = { { &border, BORDER },
        { (void *)(uintptr_t)request->out, request->out_bytes } };
    struct msghdr packet = { .msg_iov = parts, .msg_iovlen = 2 };
    ssize_t n;

    do
        n = sendmsg(fd_of(pipe), &packet, MSG_DONTWAIT | MSG_NOSIGNAL);
    while (again(pipe, n));
    if (n < 0)
        return failed_locked(pipe, request, n, false);
    request->sent = request->out_bytes;
    return STATUS_SUCCESS;
}

LONG pipe_write_locked(struct win_pipe *pipe, struct pipe_request *request)
{
    lock_assert_held(&pipe->lock);
    if (pipe->message)
        return write_message(pipe, request);
    while (request->sent < request->out_bytes) {
        ssize_t n = send(fd_of(pipe), request->out + request->sent,
            request->out_bytes - request->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (n >= 0)
            request->sent += (size_t)n;
        else if (!again(pipe, n))
            return failed_locked(pipe, request, n, false);
    }
    return STATUS_SUCCESS;
}

/* Ends when the other end has taken everything: each packet that it frees makes an event. */
LONG pipe_flush_locked(struct win_pipe *pipe, struct pipe_request *request)
{
    int left = 0, error = 0;
    socklen_t length = sizeof(error);

    lock_assert_held(&pipe->lock);
    if (request->waited && pipe->hung) {
        if (!(getsockopt)(fd_of(pipe), SOL_SOCKET, SO_ERROR, &error, &length))
            pipe->reset |= error == ECONNRESET;
        return pipe->reset ? STATUS_PIPE_BROKEN : STATUS_SUCCESS;
    }
    if (ioctl(fd_of(pipe), SIOCOUTQ, &left))
        return STATUS_INSUFFICIENT_RESOURCES;
    if (left < ONE_PACKET_LEAST)
        return STATUS_SUCCESS;
    if (pipe->channel->added)
        pipe->writable = false;
    return PIPE_PENDING;
}
