/* SPDX-License-Identifier: MIT */
/* queue.c - the requests of a socket that wait: they are tried in their order when the socket is ready. */
#include "win32/sockets/network_events.h"
#include "win32/sockets/object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

enum { ENDED = EPOLLRDHUP | EPOLLHUP | EPOLLERR };

static const struct reactor_source_ops source_ops = {
    .ready = win_socket_ready,
    .free = win_socket_freed,
    .shared = true, /* otherwise an edge that reactor_poll reads would be lost */
};

static struct win_socket *of_source(struct reactor_source *source)
{
    return container_of(source, struct win_socket, source);
}

/* The last reference to the source is gone: drops the one that the source held to the file. */
void win_socket_freed(struct reactor_source *source)
{
    win_socket_unref(of_source(source));
}

int win_socket_watch_locked(struct win_socket *socket, uint32_t events)
{
    int error;

    lock_assert_held(&socket->lock);
    events |= socket->events | EPOLLET | EPOLLIN | EPOLLPRI | EPOLLRDHUP;
    if (socket->added && events == socket->events)
        return 0;
    if (socket->added) {
        error = reactor_update(&socket->source, events);
    } else {
        reactor_source_init(&socket->source, &source_ops, socket->fd);
        win_socket_ref(socket);
        if ((error = reactor_add(&socket->source, events)))
            reactor_unref(&socket->source);
    }
    if (error)
        return error;
    socket->added = true;
    socket->events = events;
    return 0;
}

void win_socket_fresh(struct win_socket *socket)
{
    socket->readable = socket->writable = true;
    socket->whole_reads =
        socket->type != SOCK_STREAM || (socket->family != AF_INET && socket->family != AF_INET6);
}

int win_socket_replace_locked(struct win_socket *socket, int fd)
{
    int error;

    lock_assert_held(&socket->lock);
    if (socket->added)
        reactor_update(&socket->source, 0);
    error = dup3(fd, socket->fd, O_CLOEXEC) < 0 ? -errno : 0;
    win_socket_fresh(socket);
    if (socket->added && !error)
        error = reactor_update(&socket->source, socket->events);
    return error;
}

struct win_socket_request *win_socket_request_new(const WSABUF *buffers, DWORD count)
{
    struct win_socket_request *request = calloc(1, sizeof(*request) + count * sizeof(struct iovec));

    if (!request)
        return NULL;
    list_node_init(&request->queued);
    request->count = count;
    for (DWORD i = 0; i < count; i++) {
        request->parts[i] = (struct iovec){ buffers[i].buf, buffers[i].len };
        request->total += buffers[i].len;
    }
    return request;
}

static void request_free(struct win_request *base)
{
    free(container_of(base, struct win_socket_request, base));
}

/* Stores what the program reads besides the status; called before the request ends. */
static void put_flags(struct win_socket_request *request)
{
    if (request->wants_flags)
        request->base.overlapped->Offset = request->result_flags;
}

void win_socket_end_locked(
    struct win_socket *socket, struct win_socket_request *request, LONG status)
{
    lock_assert_held(&socket->lock);
    list_del(&request->queued);
    if (socket->connect == request)
        socket->connect = NULL;
    if (!win_request_claim(&request->base))
        return;
    put_flags(request);
    win_request_end(&request->base, status, request->done);
}

static void request_cancel(struct win_request *base)
{
    struct win_socket_request *request = container_of(base, struct win_socket_request, base);
    struct win_socket *socket = win_file_room(base->file);

    lock_acquire(&socket->lock);
    if (list_linked(&request->queued) || socket->connect == request)
        win_socket_end_locked(socket, request, STATUS_CANCELLED);
    lock_release(&socket->lock);
}

const struct win_request_ops win_socket_request_ops = {
    .cancel = request_cancel,
    .free = request_free,
};

static struct win_socket_request *first_of(const struct list_head *queue)
{
    return list_empty(queue) ? NULL : list_entry(queue->n.next, struct win_socket_request, queued);
}

static void run_locked(struct win_socket *socket, struct list_head *queue, const bool *ready,
    LONG (*try)(struct win_socket *socket, struct win_socket_request *request))
{
    struct win_socket_request *request;
    LONG status;

    while (*ready && (request = first_of(queue))) {
        if ((status = try(socket, request)) == WIN_SOCKET_PENDING)
            return;
        win_socket_end_locked(socket, request, status);
    }
}

void win_socket_advance_locked(struct win_socket *socket)
{
    lock_assert_held(&socket->lock);
    if (socket->connect)
        win_socket_connect_advance_locked(socket);
    run_locked(socket, &socket->receives, &socket->readable, win_socket_receive_locked);
    run_locked(socket, &socket->sends, &socket->writable, win_socket_send_locked);
}

void win_socket_cancel_locked(struct win_socket *socket)
{
    struct win_socket_request *request;

    if (socket->connect)
        win_socket_end_locked(socket, socket->connect, STATUS_CANCELLED);
    while ((request = first_of(&socket->receives)) || (request = first_of(&socket->sends)))
        win_socket_end_locked(socket, request, STATUS_CANCELLED);
}

/* The reactor: events of the descriptor. Any thread, so errno is the interrupted program's. */
void win_socket_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct win_socket *socket = of_source(source), *listener;
    int saved = errno;

    (void)how;
    lock_acquire(&socket->lock);
    if (socket->closed) {
        lock_release(&socket->lock);
        return;
    }
    if (events & (EPOLLIN | EPOLLPRI | ENDED))
        socket->readable = true;
    if (events & (EPOLLOUT | EPOLLHUP | EPOLLERR))
        socket->writable = true;
    if (events & (EPOLLPRI | ENDED))
        socket->whole_reads = true;
    win_socket_advance_locked(socket);
    win_network_events_ready_locked(socket);
    if ((listener = socket->listener))
        win_socket_ref(listener);
    lock_release(&socket->lock);
    if (listener) {
        win_socket_accept_data(listener, socket);
        win_socket_unref(listener);
    }
    if (atomic_load(&socket->listening))
        win_socket_accept_ready(socket);
    errno = saved;
}

/* Ends a request inside the call that began it. */
static LONG end_at_once(struct win_socket_request *request, LONG status, DWORD *done)
{
    const DWORD bytes = (DWORD)request->done;

    win_request_claim(&request->base); /* it was in no queue, so no cancel has ended it */
    put_flags(request);
    if (status ==
        STATUS_BUFFER_OVERFLOW) /* a warning: the datagram is there, and so is the packet */
        win_request_end(&request->base, status, bytes);
    else
        win_request_end_at_once(&request->base, status, bytes);
    *done = bytes;
    return status;
}

LONG win_socket_submit(struct win_socket *socket, struct win_socket_request *request,
    struct list_head *queue, DWORD *done)
{
    const bool receives = queue == &socket->receives;
    LONG status = WIN_SOCKET_PENDING;

    lock_acquire(&socket->lock);
    if (socket->closed)
        status = STATUS_INVALID_HANDLE;
    else if (atomic_load(&request->base.cancelling)) /* the cancel did not find it in a queue */
        status = STATUS_CANCELLED;
    else if (list_empty(queue) && !socket->connect &&
             (receives ? socket->readable : socket->writable))
        status = receives ? win_socket_receive_locked(socket, request)
                          : win_socket_send_locked(socket, request);
    if (status == WIN_SOCKET_PENDING &&
        win_socket_watch_locked(socket, receives ? EPOLLIN : EPOLLOUT))
        status = STATUS_INSUFFICIENT_RESOURCES;
    if (status == WIN_SOCKET_PENDING)
        list_add_tail(queue, &request->queued);
    else
        status = end_at_once(request, status, done);
    lock_release(&socket->lock);
    return status;
}
