/* SPDX-License-Identifier: MIT */
/* network_events.c - WSAEventSelect, WSAEnumNetworkEvents (network_events.h). */
#include "win32/sockets/network_events.h"

#include "win32/sockets/blocked.h"
#include "win32/sockets/stage.h"

#include "winobj/waits/dispatch.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>

/* Consumes the kernel's error of a failed connect, and keeps it: the program asks for it by SO_ERROR, too. */
static void keep_failure(struct win_socket *socket)
{
    int error = 0;
    socklen_t length = sizeof(error);

    if ((getsockopt)(socket->fd, SOL_SOCKET, SO_ERROR, &error, &length) || !error)
        return;
    socket->network.failure = win_winsock_error_of(error);
}

static LONG of_connection(const struct win_socket *socket, short ready, int *errors)
{
    const bool data = win_socket_has_data(socket->fd);
    LONG events = data ? FD_READ : 0;

    if (win_blocked_called(socket->fd))
        events |= FD_CONNECT;
    if (ready & POLLPRI)
        events |= FD_OOB;
    if ((ready & POLLOUT) && !(ready & (POLLERR | POLLHUP)))
        events |= FD_WRITE;
    if (ready & POLLERR) { /* the error stays for the next call */
        errors[FD_CLOSE_BIT] = WSAECONNRESET;
        events |= FD_CLOSE;
    } else if ((ready & (POLLRDHUP | POLLHUP)) && !data) {
        events |= FD_CLOSE; /* the program has read the last octet */
    }
    return events;
}

/* The network events whose conditions hold now, with their errors. */
static LONG conditions_locked(struct win_socket *socket, int *errors)
{
    struct pollfd state = { .fd = socket->fd, .events = POLLIN | POLLPRI | POLLOUT | POLLRDHUP };
    const enum win_stage stage = win_socket_stage(socket->fd);

    if (poll(&state, 1, 0) < 0)
        return 0;
    switch (stage) {
    case WIN_STAGE_LISTENING: return state.revents & POLLIN ? FD_ACCEPT : 0;
    case WIN_STAGE_DATAGRAM:
        return (state.revents & (POLLIN | POLLERR) ? FD_READ : 0) |
               (state.revents & POLLOUT ? FD_WRITE : 0);
    case WIN_STAGE_CONNECTED: return of_connection(socket, state.revents, errors);
    case WIN_STAGE_FRESH:
        if (state.revents & POLLERR)
            keep_failure(socket);
        errors[FD_CONNECT_BIT] = socket->network.failure;
        return socket->network.failure ? FD_CONNECT : 0;
    default: return 0;
    }
}

void win_network_events_ready_locked(struct win_socket *socket)
{
    struct win_network *network = &socket->network;
    int errors[FD_MAX_EVENTS] = { 0 };
    LONG now;

    lock_assert_held(&socket->lock);
    if (!(network->mask & ~network->reported))
        return;
    now = conditions_locked(socket, errors) & network->mask & ~network->reported;
    if (!now)
        return;
    for (int i = 0; i < FD_MAX_EVENTS; i++)
        if (now & (1 << i))
            network->errors[i] = errors[i];
    network->reported |= now;
    network->recorded |= now;
    win_waitable_set((struct win_waitable *)network->event);
}

void win_network_events_called_locked(struct win_socket *socket, LONG events, int error)
{
    struct win_network *network = &socket->network;

    lock_assert_held(&socket->lock);
    if ((events & FD_WRITE) && error != EAGAIN) {
        network->sent = true; /* WSAEventSelect alone records it again */
        events &= ~FD_WRITE;
    }
    network->reported &= ~events;
    network->recorded &= ~events;
    win_network_events_ready_locked(socket);
}

void win_network_events_connects(int fd)
{
    struct win_socket *socket = win_socket_find((SOCKET)fd);

    if (!socket)
        return;
    lock_acquire(&socket->lock);
    if (!socket->closed && win_socket_stage(fd) == WIN_STAGE_FRESH) {
        socket->network.failure = 0;
        socket->network.reported &= ~(FD_CONNECT | FD_WRITE);
        socket->network.recorded &= ~(FD_CONNECT | FD_WRITE);
    }
    lock_release(&socket->lock);
    win_socket_unref(socket);
}

void win_network_events_called(int fd, LONG events, int error)
{
    const int saved = errno;
    struct win_socket *socket = win_socket_find((SOCKET)fd);

    if (socket) {
        lock_acquire(&socket->lock);
        if (!socket->closed)
            win_network_events_called_locked(socket, events, error);
        lock_release(&socket->lock);
        win_socket_unref(socket);
    }
    errno = saved;
}

bool win_network_events_selected(int fd)
{
    struct win_socket *socket = win_socket_find((SOCKET)fd);
    bool selected;

    if (!socket)
        return false;
    lock_acquire(&socket->lock);
    selected = socket->network.mask;
    lock_release(&socket->lock);
    win_socket_unref(socket);
    return selected;
}

int win_network_events_failure(int fd)
{
    struct win_socket *socket = win_socket_find((SOCKET)fd);
    int failure = 0;

    if (!socket)
        return 0;
    lock_acquire(&socket->lock);
    if (!socket->closed) {
        win_network_events_ready_locked(socket); /* it tells the event object, if it has not */
        failure = socket->network.failure;
    }
    lock_release(&socket->lock);
    win_socket_unref(socket);
    return failure;
}

/* Gives a socket another event object, a reference of the caller's. Returns a Winsock error. */
static DWORD select_locked(struct win_socket *socket, struct win_object *event, LONG events)
{
    struct win_network *network = &socket->network;
    const int flags = fcntl(socket->fd, F_GETFL);
    struct win_object *old = network->event;

    lock_assert_held(&socket->lock);
    if (socket->closed || flags < 0)
        return WSAENOTSOCK;
    if ((!(flags & O_NONBLOCK) && fcntl(socket->fd, F_SETFL, flags | O_NONBLOCK)) ||
        win_socket_watch_locked(socket, EPOLLOUT))
        return WSAENOBUFS;
    win_blocked_select(socket->fd);
    /* What has been recorded, but not told, is recorded anew; what is still there to be read or accepted, too. */
    network->reported &= ~(network->recorded | FD_READ | FD_OOB | FD_ACCEPT);
    if (network->sent)
        network->reported &= ~FD_WRITE;
    network->sent = false;
    network->recorded = 0;
    network->event = event;
    network->mask = events;
    win_network_events_ready_locked(socket);
    if (old)
        win_object_unref(old);
    return 0;
}

static DWORD select_socket(struct win_socket *socket, struct win_object *event, LONG events)
{
    DWORD error;

    lock_acquire(&socket->lock);
    error = select_locked(socket, event, events);
    lock_release(&socket->lock);
    if (error && event)
        win_object_unref(event);
    return error;
}

/*
 * WSAEventSelect - has an event object signalled when a network event of a socket is recorded; the socket blocks no
 * more, until another call with 0 events, and ioctlsocket.
 * event   is signalled; the socket keeps it, whether its handle is closed or not. Ignored with 0 events
 * events  FD_* bits; 0: none any more. FD_QOS, FD_GROUP_QOS, FD_ROUTING_INTERFACE_CHANGE and FD_ADDRESS_LIST_CHANGE
 *         are never recorded. What has happened before is recorded at once
 * Returns 0; SOCKET_ERROR with WSANOTINITIALISED, WSAENOTSOCK, WSAEINVAL (no event; unknown bits), WSAENOBUFS.
 * Threads any
 * Source  WSAEventSelect function (winsock2.h)
 */
int WSAAPI WSAEventSelect(SOCKET socket, WSAEVENT event, LONG events)
{
    struct win_socket *found = win_socket_get(socket);
    struct win_object *object = NULL;
    DWORD error = 0;

    if (!found)
        return SOCKET_ERROR;
    if (events & ~FD_ALL_EVENTS)
        error = WSAEINVAL;
    else if (events && !(object = win_handle_pin(event, &win_event_type)))
        error = WSAEINVAL;
    else
        error = select_socket(found, object, events);
    win_socket_unref(found);
    if (error)
        return win_winsock_fail(error);
    SetLastError(ERROR_SUCCESS);
    return 0;
}

void win_network_events_accepted(int listener, int fd)
{
    struct win_socket *from = win_socket_find((SOCKET)listener), *to;
    struct win_object *event = NULL;
    LONG events;

    if (!from)
        return;
    lock_acquire(&from->lock);
    if ((events = from->network.mask) && (event = from->network.event))
        win_object_ref(event);
    lock_release(&from->lock);
    win_socket_unref(from);
    if (!event)
        return;
    if (!(to = win_socket_get((SOCKET)fd))) {
        win_object_unref(event);
        return;
    }
    select_socket(to, event, events);
    win_socket_unref(to);
}

/* Resets a program's event object. False: it is none. */
static bool reset(WSAEVENT event)
{
    struct win_object *object = win_handle_pin(event, &win_event_type);

    if (!object)
        return false;
    win_waitable_reset((struct win_waitable *)object);
    win_object_unref(object);
    return true;
}

/*
 * WSAEnumNetworkEvents - what has been recorded for a socket since the last call; clears the record.
 * event           in: is reset in the same step; NULL: none is
 * network_events  out: FD_* bits, and the error of each: of FD_CONNECT, WSAECONNRESET of FD_CLOSE, 0 of others
 * Returns 0; SOCKET_ERROR with WSANOTINITIALISED, WSAENOTSOCK, WSAEFAULT (network_events is NULL), WSAEINVAL (event).
 * Threads any
 * Source  WSAEnumNetworkEvents function (winsock2.h)
 */
int WSAAPI WSAEnumNetworkEvents(SOCKET socket, WSAEVENT event, LPWSANETWORKEVENTS network_events)
{
    struct win_socket *found = win_socket_get(socket);
    struct win_network *network;
    bool done;

    if (!found)
        return SOCKET_ERROR;
    if (!network_events) {
        win_socket_unref(found);
        return win_winsock_fail(WSAEFAULT);
    }
    network = &found->network;
    lock_acquire(&found->lock);
    if ((done = !event || reset(event))) {
        ZeroMemory(network_events, sizeof(*network_events));
        network_events->lNetworkEvents = network->recorded;
        for (int i = 0; i < FD_MAX_EVENTS; i++)
            if (network->recorded & (1 << i))
                network_events->iErrorCode[i] = network->errors[i];
        network->recorded = 0;
    }
    lock_release(&found->lock);
    win_socket_unref(found);
    if (!done)
        return win_winsock_fail(WSAEINVAL);
    SetLastError(ERROR_SUCCESS);
    return 0;
}

void win_network_events_close_locked(struct win_socket *socket)
{
    struct win_object *event = socket->network.event;

    lock_assert_held(&socket->lock);
    socket->network = (struct win_network){ .mask = 0 };
    if (event)
        win_object_unref(event);
}
