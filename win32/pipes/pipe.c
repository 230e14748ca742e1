/* SPDX-License-Identifier: MIT */
/* pipe.c - the life of an end of a named pipe, and what ReadFile and its kind do with it. */
#include "win32/pipes/pipe.h"

#include "winobj/status.h"

#include "util/descriptor.h"

#include <errno.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static void room_init(void *room)
{
    struct win_pipe *pipe = room;

    lock_init(&pipe->lock, LOCK_WIN_SOCKET, "named pipe");
    list_init(&pipe->receives);
    list_init(&pipe->sends);
    list_init(&pipe->messages);
}

static DWORD io_read(
    struct win_file *file, void *buffer, DWORD bytes, DWORD *done, OVERLAPPED *overlapped)
{
    struct win_pipe *pipe = win_file_room(file);

    if (!pipe->reads)
        return ERROR_ACCESS_DENIED;
    return pipe_do(pipe,
        &(struct pipe_request){ .kind = PIPE_READ, .in = buffer, .in_bytes = bytes }, done,
        overlapped);
}

static DWORD io_write(
    struct win_file *file, const void *buffer, DWORD bytes, DWORD *done, OVERLAPPED *overlapped)
{
    struct win_pipe *pipe = win_file_room(file);

    if (!pipe->writes)
        return ERROR_ACCESS_DENIED;
    return pipe_do(pipe,
        &(struct pipe_request){ .kind = PIPE_WRITE, .out = buffer, .out_bytes = bytes }, done,
        overlapped);
}

static DWORD io_flush(struct win_file *file)
{
    struct win_pipe *pipe = win_file_room(file);
    DWORD done;

    if (!pipe->writes)
        return ERROR_ACCESS_DENIED;
    return pipe_do(pipe, &(struct pipe_request){ .kind = PIPE_FLUSH }, &done, NULL);
}

static void peek_messages(struct win_pipe *pipe, struct win_peek *peek)
{
    const struct pipe_message *first;

    pipe_pull_locked(pipe);
    peek->total = (DWORD)pipe->message_bytes;
    list_for_each (&pipe->messages, node) {
        const struct pipe_message *message = list_entry(node, struct pipe_message, link);
        const size_t bytes = message->bytes - message->taken, room = peek->bytes - peek->got;

        if (!room)
            break;
        memcpy((char *)peek->buffer + peek->got, message->octets + message->taken,
            bytes < room ? bytes : room);
        peek->got += (DWORD)(bytes < room ? bytes : room);
        if (pipe->message_reads)
            break;
    }
    if (list_empty(&pipe->messages))
        return;
    first = list_entry(pipe->messages.n.next, struct pipe_message, link);
    if (first->bytes - first->taken > peek->got)
        peek->left = (DWORD)(first->bytes - first->taken) - peek->got;
}

static int peek_octets(struct win_pipe *pipe, struct win_peek *peek)
{
    int total = 0;
    ssize_t n;

    if (ioctl(pipe->channel->source.fd, FIONREAD, &total))
        return -errno;
    peek->total = (DWORD)total;
    if (!peek->bytes || !total)
        return 0;
    n = recv(pipe->channel->source.fd, peek->buffer, peek->bytes, MSG_PEEK | MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN ? 0 : -errno;
    peek->got = (DWORD)n;
    return 0;
}

static DWORD io_peek(struct win_file *file, struct win_peek *peek)
{
    struct win_pipe *pipe = win_file_room(file);
    bool hung;
    LONG status;

    if (!pipe->reads)
        return ERROR_ACCESS_DENIED;
    lock_acquire(&pipe->lock);
    status = pipe_check_locked(pipe);
    hung = !status && pipe_hung(pipe->channel->source.fd); /* first: a closed end sends no more */
    if (!status && pipe->message)
        peek_messages(pipe, peek);
    else if (!status && peek_octets(pipe, peek))
        status = STATUS_ACCESS_VIOLATION;
    if (!status && !peek->total && list_empty(&pipe->messages) && hung)
        status = pipe_ended_locked(pipe, true, true);
    lock_release(&pipe->lock);
    return win_error_from_status(status);
}

/* Only a pipe of octets has one: its socket carries the octets alone. */
static int io_descriptor(struct win_file *file)
{
    struct win_pipe *pipe = win_file_room(file);
    int fd = -1, error = ENOTSUP;

    lock_acquire(&pipe->lock);
    if (!pipe->message && !pipe_check_locked(pipe)) {
        fd = descriptor_copy(pipe->channel->source.fd);
        error = errno;
    }
    lock_release(&pipe->lock);
    errno = error;
    return fd;
}

/* An end of octets that is connected becomes a file there, which knows nothing of the pipe's name. */
static DWORD io_carry(struct win_file *file, struct win_parcel *parcel)
{
    const struct win_pipe *pipe = win_file_room(file);

    if ((parcel->fd = io_descriptor(file)) < 0)
        return errno == ENOTSUP ? ERROR_NOT_SUPPORTED : pipe_error(errno);
    parcel->kind = WIN_PARCEL_FILE;
    parcel->numbers[0] = FILE_TYPE_PIPE;
    parcel->numbers[1] = (pipe->reads ? GENERIC_READ : 0) | (pipe->writes ? GENERIC_WRITE : 0);
    parcel->numbers[2] = pipe->overlapped ? FILE_FLAG_OVERLAPPED : 0;
    return ERROR_SUCCESS;
}

static DWORD io_type(struct win_file *file)
{
    (void)file;
    return FILE_TYPE_PIPE;
}

/* The program has closed the last handle. A request that began before may have been queued since. */
static void io_closed(struct win_file *file)
{
    struct win_pipe *pipe = win_file_room(file);

    lock_acquire(&pipe->lock);
    pipe->closed = true;
    pipe_end_all_locked(pipe, STATUS_CANCELLED);
    if (pipe->state == PIPE_LISTENS)
        pipe_place_stop(&pipe->place, pipe->channel->source.fd);
    pipe_channel_drop_locked(pipe);
    pipe_place_close(&pipe->place);
    lock_release(&pipe->lock);
}

static void io_destroy(struct win_file *file)
{
    pipe_forget_messages(win_file_room(file));
}

/* The pipe is the parent's: closes the child's descriptors, so that they do not keep it open. */
static void io_forked(struct win_file *file)
{
    struct win_pipe *pipe = win_file_room(file);
    struct pipe_channel *channel = pipe->channel;

    lock_init(&pipe->lock, LOCK_WIN_SOCKET, "named pipe");
    list_init(&pipe->receives);
    list_init(&pipe->sends);
    pipe->channel = NULL;
    pipe->state = PIPE_IS_DISCONNECTED;
    pipe->closed = true;
    if (channel)
        close(channel->source.fd);
    pipe_place_forget(&pipe->place);
}

static const struct win_io_ops io_ops = {
    .read = io_read,
    .write = io_write,
    .flush = io_flush,
    .peek = io_peek,
    .type = io_type,
    .descriptor = io_descriptor,
    .closed = io_closed,
    .destroy = io_destroy,
    .forked = io_forked,
    .carry = io_carry,
};

const struct win_file_ops pipe_file_ops = {
    .room = sizeof(struct win_pipe),
    .init = room_init,
    .io = &io_ops,
};

HANDLE pipe_open(const struct win_pipe *like, int fd, enum pipe_state state, bool inherit)
{
    struct win_file *file = win_file_new(&pipe_file_ops, &pipe_file_ops);
    struct pipe_place place = like->place;
    struct win_pipe *pipe;
    HANDLE handle;

    if (!file) {
        close(fd);
        pipe_place_close(&place);
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return INVALID_HANDLE_VALUE;
    }
    pipe = win_file_room(file);
    *pipe = *like;
    room_init(pipe);
    pipe->file = file;
    pipe->state = state;
    pipe->readable = pipe->writable = true;
    if ((pipe->channel = pipe_channel_new(pipe, fd)) && (handle = win_file_open(file))) {
        if (inherit)
            win_handle_set_inherit(handle, true);
        return handle;
    }
    if (pipe->channel)
        reactor_unref(&pipe->channel->source);
    pipe_place_close(&place);
    win_file_free(file);
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return INVALID_HANDLE_VALUE;
}

struct win_pipe *pipe_pin(HANDLE handle)
{
    struct win_file *file = win_file_get(handle, &pipe_file_ops);

    if (file)
        return win_file_room(file);
    SetLastError(ERROR_INVALID_HANDLE);
    return NULL;
}
