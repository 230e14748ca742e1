/* SPDX-License-Identifier: MIT */
/* remote_port.c - completion ports of other processes (remote_port.h). */
#include "winobj/requests/remote_port.h"

#include "winobj/requests/inlet.h"
#include "winobj/requests/port.h"

#include "reactor/reactor.h"
#include "util/clock.h"
#include "util/descriptor.h"
#include "util/held_signal.h"
#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    FULL_MS = 5000 /* the owner reads whatever its program does, unless it is stopped */
};

/* Indexes into numbers of struct win_parcel. */
enum { NUMBER_OWNER, NUMBER_PORT };

struct win_remote_port {
    struct win_object object;
    int writer;
    DWORD owner; /* a hint: the process that has the port */
    HANDLE port; /* its name there */
};

static void remote_destroy(struct win_object *object)
{
    struct win_remote_port *remote = (struct win_remote_port *)object;

    close(remote->writer);
    free(remote);
}

void win_port_carry(struct win_parcel *parcel, int writer, DWORD owner, HANDLE port)
{
    parcel->kind = WIN_PARCEL_PORT;
    parcel->fd = writer;
    parcel->numbers[NUMBER_OWNER] = owner;
    parcel->numbers[NUMBER_PORT] = (uint32_t)(uintptr_t)port;
}

static DWORD remote_carry(struct win_object *object, struct win_parcel *parcel)
{
    const struct win_remote_port *remote = (struct win_remote_port *)object;
    int copy;

    if (!parcel)
        return ERROR_SUCCESS;
    if ((copy = descriptor_copy(remote->writer)) < 0)
        return ERROR_TOO_MANY_OPEN_FILES;
    win_port_carry(parcel, copy, remote->owner, remote->port);
    return ERROR_SUCCESS;
}

static const struct win_object_type remote_type = {
    .name = "completion port of another process",
    .destroy = remote_destroy,
    .carry = remote_carry,
};

bool win_remote_port_is_sound(const struct win_parcel *parcel)
{
    struct stat status;
    const int flags = parcel->fd < 0 ? -1 : fcntl(parcel->fd, F_GETFL);

    return flags >= 0 && (flags & O_ACCMODE) == O_WRONLY && (flags & O_NONBLOCK) &&
           !fstat(parcel->fd, &status) && S_ISFIFO(status.st_mode);
}

static HANDLE remote_new(const struct win_parcel *parcel)
{
    struct win_remote_port *remote = calloc(1, sizeof(*remote));
    HANDLE handle = NULL;

    if (!remote)
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    else {
        remote->writer = parcel->fd;
        remote->owner = parcel->numbers[NUMBER_OWNER];
        remote->port = (HANDLE)(uintptr_t)parcel->numbers[NUMBER_PORT];
        handle = win_handle_open(&remote->object, &remote_type);
    }
    if (!handle) {
        close(parcel->fd);
        free(remote);
    }
    return handle;
}

HANDLE win_port_receive(const struct win_parcel *parcel)
{
    const HANDLE name = (HANDLE)(uintptr_t)parcel->numbers[NUMBER_PORT];
    struct win_object *own = NULL;
    HANDLE handle;

    if (parcel->numbers[NUMBER_OWNER] == (uint32_t)getpid())
        own = win_port_of_writer(name, parcel->fd);
    if (!own)
        return remote_new(parcel);
    close(parcel->fd);
    handle = win_handle_add(own);
    win_object_unref(own);
    return handle;
}

static struct win_remote_port *remote_pin(HANDLE handle)
{
    return (struct win_remote_port *)win_handle_pin(handle, &remote_type);
}

void win_remote_port_refuse(HANDLE handle, const char *call)
{
    struct win_remote_port *remote = remote_pin(handle);

    SetLastError(remote ? ERROR_NOT_SUPPORTED : ERROR_INVALID_HANDLE);
    if (!remote)
        return;
    log_limited(LOG_WARN, LOG_WIN,
        "%s: the completion port belongs to process %u, which alone takes its packets and attaches "
        "files to it: here packets can be posted",
        call, (unsigned)remote->owner);
    win_object_unref(&remote->object);
}

/* An errno. The record goes as a whole, or not at all. */
static int write_record(int writer, const struct win_inlet_record *record)
{
    struct held_signal sigpipe;
    int error = 0;

    held_signal_begin(&sigpipe, SIGPIPE);
    while (write(writer, record, sizeof(*record)) < 0)
        if ((error = errno) != EINTR)
            break;
        else
            error = 0;
    held_signal_end(&sigpipe, error == EPIPE);
    return error;
}

/* Waits until the pipe has room, or has lost its reader. False: it is too late. */
static bool await_room(int writer, uint64_t until_ms)
{
    struct pollfd room = { .fd = writer, .events = POLLOUT };
    const uint64_t now_ms = clock_now_ms(), left_ms = until_ms > now_ms ? until_ms - now_ms : 0;

    if (!left_ms)
        return false;
    reactor_leave(); /* this process goes on to read its own ports: two may post to each other */
    ppoll(&room, 1,
        &(struct timespec){ (time_t)(left_ms / 1000), (long)(left_ms % 1000) * 1000000 }, NULL);
    return true;
}

DWORD win_remote_port_post(HANDLE handle, DWORD bytes, ULONG_PTR key, const OVERLAPPED *overlapped)
{
    const struct win_inlet_record record = {
        .key = key, .overlapped = (uintptr_t)overlapped, .bytes = bytes, .magic = WIN_INLET_MAGIC
    };
    struct win_remote_port *remote = remote_pin(handle);
    uint64_t until_ms = 0;
    int error;

    if (!remote)
        return ERROR_INVALID_HANDLE;
    while ((error = write_record(remote->writer, &record)) == EAGAIN) {
        if (!until_ms)
            until_ms = clock_now_ms() + FULL_MS;
        if (!await_room(remote->writer, until_ms))
            break;
    }
    if (error == EAGAIN)
        log_limited(LOG_WARN, LOG_WIN,
            "PostQueuedCompletionStatus: process %u does not take the packets of its port: is it "
            "stopped?",
            (unsigned)remote->owner);
    win_object_unref(&remote->object);
    return !error           ? ERROR_SUCCESS
           : error == EPIPE ? ERROR_INVALID_HANDLE
                            : ERROR_NO_SYSTEM_RESOURCES;
}
