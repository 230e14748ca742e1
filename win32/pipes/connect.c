/* SPDX-License-Identifier: MIT */
/* connect.c - how an end of a named pipe is connected: a server's states, the descriptor and its events. */
#include "win32/pipes/pipe.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

/* The reactor: events of the descriptor. Any thread, so errno is the interrupted program's. */
static void channel_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct pipe_channel *channel = container_of(source, struct pipe_channel, source);
    struct win_pipe *pipe = channel->pipe;
    const int saved = errno;

    (void)how;
    lock_acquire(&pipe->lock);
    if (pipe->channel == channel) {
        if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
            pipe->hung = true;
        if (pipe->hung || (events & EPOLLIN))
            pipe->readable = true;
        if (pipe->hung || (events & EPOLLOUT))
            pipe->writable = true;
        pipe_advance_locked(pipe);
    }
    lock_release(&pipe->lock);
    errno = saved;
}

static void channel_free(struct reactor_source *source)
{
    struct pipe_channel *channel = container_of(source, struct pipe_channel, source);
    struct win_pipe *pipe = channel->added ? channel->pipe : NULL;

    close(source->fd);
    free(channel);
    if (pipe)
        win_file_unref(pipe->file);
}

static const struct reactor_source_ops source_ops = {
    .ready = channel_ready,
    .free = channel_free,
    .shared = true, /* otherwise an edge that reactor_poll reads would be lost */
};

struct pipe_channel *pipe_channel_new(struct win_pipe *pipe, int fd)
{
    struct pipe_channel *channel = calloc(1, sizeof(*channel));

    if (!channel) {
        close(fd);
        return NULL;
    }
    channel->pipe = pipe;
    reactor_source_init(&channel->source, &source_ops, fd);
    return channel;
}

void pipe_channel_drop_locked(struct win_pipe *pipe)
{
    struct pipe_channel *channel = pipe->channel;

    lock_assert_held(&pipe->lock);
    pipe->channel = NULL;
    if (!channel)
        return;
    if (channel->added)
        reactor_remove(&channel->source);
    reactor_unref(&channel->source);
}

int pipe_watch_locked(struct win_pipe *pipe)
{
    struct pipe_channel *channel = pipe->channel;
    int error;

    lock_assert_held(&pipe->lock);
    if (channel->added)
        return 0;
    win_file_ref(pipe->file);
    channel->added = true;
    if (!(error = reactor_add(&channel->source, EPOLLET | EPOLLIN | EPOLLOUT | EPOLLRDHUP)))
        return 0;
    channel->added = false;
    win_file_unref(pipe->file); /* the caller has another */
    return error;
}

bool pipe_hung(int fd)
{
    struct pollfd ends = { .fd = fd };

    return poll(&ends, 1, 0) == 1 && (ends.revents & (POLLHUP | POLLERR));
}

LONG pipe_shortage(int error)
{
    return error == EMFILE || error == ENFILE ? STATUS_TOO_MANY_OPENED_FILES
                                              : STATUS_INSUFFICIENT_RESOURCES;
}

LONG pipe_accept_locked(struct win_pipe *pipe)
{
    struct pipe_channel *channel;
    int listener = pipe->channel->source.fd, fd, error;
    struct pollfd client = { .fd = listener, .events = POLLIN };

    lock_assert_held(&pipe->lock);
    if (poll(&client, 1, 0) != 1)
        return PIPE_PENDING;
    pipe_place_stop(&pipe->place, listener);
    fd = pipe_place_accept(&pipe->place, listener);
    error = errno;
    channel = fd < 0 ? NULL : pipe_channel_new(pipe, fd);
    pipe_channel_drop_locked(pipe);
    pipe->channel = channel;
    pipe->state = channel ? PIPE_IS_CONNECTED : PIPE_IS_DISCONNECTED;
    pipe->readable = pipe->writable = true;
    pipe->hung = pipe->reset = false;
    return channel ? STATUS_SUCCESS : pipe_shortage(fd < 0 ? error : ENOMEM);
}

LONG pipe_check_locked(struct win_pipe *pipe)
{
    LONG status;

    lock_assert_held(&pipe->lock);
    if (pipe->closed)
        return STATUS_INVALID_HANDLE;
    if (!pipe->server)
        return pipe_place_disconnected(&pipe->place) ? STATUS_PIPE_DISCONNECTED : STATUS_SUCCESS;
    if (pipe->state == PIPE_IS_DISCONNECTED)
        return STATUS_PIPE_DISCONNECTED;
    if (pipe->state == PIPE_IS_CONNECTED)
        return STATUS_SUCCESS;
    if ((status = pipe_accept_locked(pipe)) == PIPE_PENDING)
        return STATUS_PIPE_LISTENING;
    pipe_advance_locked(pipe); /* another thread's ConnectNamedPipe */
    return status;
}

LONG pipe_ended_locked(struct win_pipe *pipe, bool reads, bool waited)
{
    if (!pipe->server && pipe_place_disconnected(&pipe->place))
        return STATUS_PIPE_DISCONNECTED;
    return reads || waited ? STATUS_PIPE_BROKEN : STATUS_PIPE_CLOSING;
}

void pipe_disconnect_locked(struct win_pipe *pipe, LONG status)
{
    lock_assert_held(&pipe->lock);
    if (pipe->state == PIPE_LISTENS)
        pipe_place_stop(&pipe->place, pipe->channel->source.fd);
    pipe_place_disconnect(&pipe->place); /* the client reads this once it sees the end */
    pipe->state = PIPE_IS_DISCONNECTED;
    pipe_channel_drop_locked(pipe);
    pipe_forget_messages(pipe);
    pipe_end_all_locked(pipe, status);
}
