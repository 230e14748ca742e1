/* SPDX-License-Identifier: MIT */
/* object.c - the life of a socket as an overlapped file: made at the first use, ended by closesocket or CloseHandle. */
#include "win32/sockets/blocked.h"
#include "win32/sockets/network_events.h"
#include "win32/sockets/object.h"

#include "winobj/handles/descriptor.h"

#include "util/descriptor.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static const char owner; /* its address: the files of sockets */

static void room_init(void *room)
{
    struct win_socket *socket = room;

    lock_init(&socket->lock, LOCK_WIN_SOCKET, "socket");
    lock_init(&socket->accept_lock, LOCK_WIN_LISTENER, "listener");
    list_init(&socket->receives);
    list_init(&socket->sends);
    list_init(&socket->accepts);
    list_init(&socket->receiving);
}

/* The program has closed the last handle. A request that began before may have been queued since. */
static void io_closed(struct win_file *file)
{
    struct win_socket *socket = win_file_room(file);

    if (socket->fd < 0) /* its creation failed */
        return;
    if (!socket->lost)
        win_blocked_close(socket->fd);
    lock_acquire(&socket->lock);
    socket->closed = true;
    win_socket_cancel_locked(socket);
    win_network_events_close_locked(socket);
    lock_release(&socket->lock);
    win_socket_accept_abandon(socket);
    win_socket_accept_close(socket);
    lock_acquire(&socket->lock);
    if (socket->added) {
        reactor_remove(&socket->source);
        reactor_unref(&socket->source);
    }
    win_descriptor_drop((uintptr_t)socket->fd, socket->handle);
    if (!socket->lost) {
        close(socket->fd); /* it frees the descriptor even if it fails */
        win_blocked_closed(socket->fd);
    }
    lock_release(&socket->lock);
}

static void io_destroy(struct win_file *file)
{
    (void)file; /* its requests have ended, and hold no memory of it */
}

/* The child keeps the descriptor, and has no requests. */
static void io_forked(struct win_file *file)
{
    struct win_socket *socket = win_file_room(file);
    const bool added = socket->added;

    room_init(socket);
    socket->added = false;
    socket->events = 0;
    socket->connect = NULL;
    socket->accept = NULL;
    socket->listener = NULL;
    socket->network.mask = 0;
    socket->acceptable = true;
    win_socket_fresh(socket);
    if (added)
        win_file_unref(file);
}

static DWORD io_type(struct win_file *file)
{
    (void)file;
    return FILE_TYPE_PIPE;
}

/* A socket's descriptor number is its handle, also in the new process. Numbers 0 to 2 are in use there. */
static DWORD io_carry(struct win_file *file, struct win_parcel *parcel)
{
    const struct win_socket *socket = win_file_room(file);

    if (socket->fd < 3)
        return ERROR_NOT_SUPPORTED;
    if ((parcel->fd = descriptor_copy(socket->fd)) < 0)
        return errno == EMFILE ? ERROR_TOO_MANY_OPEN_FILES : ERROR_INVALID_HANDLE;
    win_blocked_share(socket->fd);
    parcel->kind = WIN_PARCEL_SOCKET;
    parcel->at = socket->fd;
    return ERROR_SUCCESS;
}

static const struct win_io_ops io_ops = {
    .type = io_type,
    .read = win_socket_read,
    .write = win_socket_write,
    .closed = io_closed,
    .destroy = io_destroy,
    .forked = io_forked,
    .carry = io_carry,
};

static const struct win_file_ops file_ops = {
    .room = sizeof(struct win_socket),
    .init = room_init,
    .io = &io_ops,
};

static int option_of(int fd, int option)
{
    int value = 0;
    socklen_t length = sizeof(value);

    return (getsockopt)(fd, SOL_SOCKET, option, &value, &length) ? -1 : value;
}

/* Makes the object of a socket that has none; another thread may have been faster. Returns a Winsock error or 0. */
static DWORD object_make(int fd)
{
    int type = option_of(fd, SO_TYPE);
    struct win_socket *socket;
    struct win_file *file;
    HANDLE handle, there;

    if (type < 0)
        return WSAENOTSOCK;
    if (win_file_create(&owner, &file_ops, &handle))
        return WSAENOBUFS;
    file = win_file_get(handle, &owner);
    socket = win_file_room(file);
    socket->file = file;
    socket->handle = handle;
    socket->type = type;
    socket->family = option_of(fd, SO_DOMAIN);
    socket->fd = fd;
    win_socket_fresh(socket);
    if ((there = win_descriptor_claim((uintptr_t)fd, handle)))
        socket->fd = -1;
    win_file_unref(file);
    if (there)
        CloseHandle(handle);
    return there == INVALID_HANDLE_VALUE ? WSAENOBUFS : 0;
}

void win_socket_adopt(int fd)
{
    object_make(fd);
}

struct win_socket *win_socket_find(SOCKET socket)
{
    HANDLE handle = win_descriptor_handle(socket);
    struct win_file *file = handle ? win_file_get(handle, &owner) : NULL;

    return file ? win_file_room(file) : NULL;
}

struct win_socket *win_socket_get(SOCKET socket)
{
    struct win_socket *found;
    DWORD error;

    if (!win_winsock_started())
        return NULL;
    if ((found = win_socket_find(socket)))
        return found;
    error = socket < WIN_DESCRIPTORS ? object_make((int)socket) : WSAENOTSOCK;
    if (!error && (found = win_socket_find(socket)))
        return found;
    win_winsock_fail(error ? error : WSAENOTSOCK); /* closed meanwhile */
    return NULL;
}

struct win_socket *win_socket_ref(struct win_socket *socket)
{
    win_file_ref(socket->file);
    return socket;
}

void win_socket_unref(struct win_socket *socket)
{
    win_file_unref(socket->file);
}

bool win_socket_close(int fd)
{
    HANDLE handle = win_descriptor_handle((uintptr_t)fd);

    return handle && CloseHandle(handle);
}

void win_socket_new(int fd)
{
    struct win_socket *old = win_socket_find((SOCKET)fd);

    if (!old)
        return;
    old->lost = true;
    win_socket_unref(old);
    win_socket_close(fd);
}
