/* SPDX-License-Identifier: MIT */
/* queue.c - the requests of a named pipe: tried in the call, or when the pipe is ready, in their order. */
#include "win32/pipes/pipe.h"

#include "winobj/status.h"

#include <stdlib.h>

static struct pipe_request *of_base(struct win_request *base)
{
    return container_of(base, struct pipe_request, base);
}

static ULONG_PTR bytes_of(const struct pipe_request *request)
{
    return request->kind == PIPE_WRITE ? request->sent : request->got;
}

static void end_locked(struct pipe_request *request, LONG status)
{
    list_del(&request->queued);
    if (win_request_claim(&request->base))
        win_request_end(&request->base, status, bytes_of(request));
}

static void request_cancel(struct win_request *base)
{
    struct win_pipe *pipe = win_file_room(base->file);

    lock_acquire(&pipe->lock);
    if (list_linked(&of_base(base)->queued))
        end_locked(of_base(base), STATUS_CANCELLED);
    lock_release(&pipe->lock);
}

static void request_free(struct win_request *base)
{
    free(of_base(base));
}

static const struct win_request_ops request_ops = { .cancel = request_cancel,
    .free = request_free };

static struct pipe_request *first_of(const struct list_head *queue)
{
    return list_empty(queue) ? NULL : list_entry(queue->n.next, struct pipe_request, queued);
}

void pipe_end_all_locked(struct win_pipe *pipe, LONG status)
{
    struct pipe_request *request;

    lock_assert_held(&pipe->lock);
    while ((request = first_of(&pipe->receives)) || (request = first_of(&pipe->sends)))
        end_locked(request, status);
}

/* Tries the part of a request that its queue is for. */
static LONG try_locked(struct win_pipe *pipe, struct pipe_request *request, bool receives)
{
    if (receives)
        return pipe_read_locked(pipe, request);
    return request->kind == PIPE_FLUSH ? pipe_flush_locked(pipe, request)
                                       : pipe_write_locked(pipe, request);
}

static bool may_read(const struct win_pipe *pipe)
{
    return pipe->readable || !list_empty(&pipe->messages);
}

static void run_receives_locked(struct win_pipe *pipe)
{
    struct pipe_request *request;
    LONG status;

    while (may_read(pipe) && (request = first_of(&pipe->receives))) {
        status = request->kind == PIPE_CONNECT ? STATUS_SUCCESS : try_locked(pipe, request, true);
        if (status == PIPE_PENDING)
            return;
        end_locked(request, status);
    }
}

static void run_sends_locked(struct win_pipe *pipe)
{
    struct pipe_request *request;
    LONG status;

    while (pipe->writable && (request = first_of(&pipe->sends))) {
        if ((status = try_locked(pipe, request, false)) == PIPE_PENDING)
            return;
        if (request->kind == PIPE_TRANSACT && !status) {
            list_del(&request->queued);
            list_add_tail(&pipe->receives, &request->queued);
        } else {
            end_locked(request, status);
        }
    }
}

void pipe_advance_locked(struct win_pipe *pipe)
{
    LONG status;

    lock_assert_held(&pipe->lock);
    if (pipe->state == PIPE_LISTENS) {
        if ((status = pipe_accept_locked(pipe)) == PIPE_PENDING)
            return;
        if (status) {
            pipe_end_all_locked(pipe, status);
            return;
        }
    }
    run_sends_locked(pipe); /* it may bring a transaction to the receives */
    run_receives_locked(pipe);
}

/* ConnectNamedPipe. */
static LONG connect_locked(struct win_pipe *pipe)
{
    LONG status;
    int fd;

    if (pipe->state == PIPE_IS_DISCONNECTED) {
        if ((fd = pipe_place_listen(&pipe->place)) < 0)
            return pipe_shortage(-fd);
        if (!(pipe->channel = pipe_channel_new(pipe, fd))) {
            pipe_place_stop(&pipe->place, -1);
            return STATUS_INSUFFICIENT_RESOURCES;
        }
        pipe->state = PIPE_LISTENS;
        return pipe->at_once ? STATUS_SUCCESS : PIPE_PENDING;
    }
    if (pipe->state == PIPE_LISTENS) {
        if ((status = pipe_accept_locked(pipe)))
            return status;
        pipe_advance_locked(pipe);
    }
    return pipe_hung(pipe->channel->source.fd) ? STATUS_PIPE_CLOSING : STATUS_PIPE_CONNECTED;
}

/* TransactNamedPipe begins on a duplex pipe of messages with nothing to read. */
static LONG transact_locked(struct win_pipe *pipe)
{
    if (!pipe->message || !pipe->message_reads)
        return STATUS_INVALID_READ_MODE;
    pipe_pull_locked(pipe);
    return list_empty(&pipe->messages) ? STATUS_SUCCESS : STATUS_PIPE_BUSY;
}

/* A new request: its status, or PIPE_PENDING, then *queue is where it waits. */
static LONG begin_locked(
    struct win_pipe *pipe, struct pipe_request *request, struct list_head **queue)
{
    LONG status;

    *queue = &pipe->receives;
    if (request->kind == PIPE_CONNECT)
        return pipe->closed ? STATUS_INVALID_HANDLE : connect_locked(pipe);
    status = pipe_check_locked(pipe);
    if (status == STATUS_PIPE_DISCONNECTED && !pipe->server && request->kind == PIPE_READ &&
        !list_empty(&pipe->messages))
        status = STATUS_SUCCESS; /* the messages taken off the socket are from this client */
    if (status)
        return status;
    if (request->kind == PIPE_TRANSACT && (status = transact_locked(pipe)))
        return status;
    if (request->kind != PIPE_READ) {
        *queue = &pipe->sends;
        if (!list_empty(*queue) || !pipe->writable)
            return PIPE_PENDING;
        status = try_locked(pipe, request, false);
        if (status || request->kind != PIPE_TRANSACT)
            return status;
        *queue = &pipe->receives;
    }
    if (!list_empty(*queue) || !may_read(pipe))
        return PIPE_PENDING;
    return try_locked(pipe, request, true);
}

/* The status with PIPE_NOWAIT of a request that would wait. */
static LONG at_once(const struct pipe_request *request)
{
    switch (request->kind) {
    case PIPE_CONNECT: return STATUS_PIPE_LISTENING;
    case PIPE_READ: return STATUS_PIPE_EMPTY;
    case PIPE_WRITE: return STATUS_SUCCESS; /* the result counts the octets that fitted */
    default: return PIPE_PENDING;
    }
}

/* Ends a request inside the call that began it. */
static LONG end_at_once(struct pipe_request *request, LONG status)
{
    win_request_claim(&request->base);    /* it was in no queue, so no cancel has ended it */
    if (status == STATUS_BUFFER_OVERFLOW) /* a warning: octets are there, and so is the packet */
        win_request_end(&request->base, status, bytes_of(request));
    else
        win_request_end_at_once(&request->base, status, bytes_of(request));
    return status;
}

static LONG submit(struct win_pipe *pipe, struct pipe_request *request)
{
    struct list_head *queue = NULL;
    LONG status;

    lock_acquire(&pipe->lock);
    if (atomic_load(&request->base.cancelling)) /* the cancel did not find it in a queue */
        status = STATUS_CANCELLED;
    else
        status = begin_locked(pipe, request, &queue);
    if (status == PIPE_PENDING && pipe->at_once)
        status = at_once(request);
    if (status == PIPE_PENDING && pipe_watch_locked(pipe))
        status = STATUS_INSUFFICIENT_RESOURCES;
    if (status == PIPE_PENDING) {
        request->waited = true;
        list_add_tail(queue, &request->queued);
    } else {
        status = end_at_once(request, status);
    }
    lock_release(&pipe->lock);
    return status;
}

/* Waits for the end of a request, without memory for the wait: ends it. */
static LONG await(struct win_pipe *pipe, struct pipe_request *request, OVERLAPPED *overlapped)
{
    LONG status = win_overlapped_result(pipe->file, overlapped, TRUE);

    if (status != PIPE_PENDING)
        return status;
    request_cancel(&request->base);
    status = win_overlapped_result(pipe->file, overlapped, FALSE);
    return status == STATUS_CANCELLED ? STATUS_NO_MEMORY : status;
}

DWORD pipe_do(
    struct win_pipe *pipe, const struct pipe_request *like, DWORD *done, OVERLAPPED *overlapped)
{
    struct pipe_request *request = malloc(sizeof(*request));
    OVERLAPPED *used;
    LONG status;
    DWORD error;

    if (!request)
        return ERROR_NOT_ENOUGH_MEMORY;
    *request = *like;
    list_node_init(&request->queued);
    request->own.hEvent = (HANDLE)(ULONG_PTR)1; /* no event, no packet */
    used = overlapped ? overlapped : &request->own;
    if ((error = win_request_begin_held(pipe->file, &request->base, &request_ops, used))) {
        free(request);
        return error;
    }
    status = submit(pipe, request);
    if (status == PIPE_PENDING && !(pipe->overlapped && overlapped))
        status = await(pipe, request, used);
    if (status != PIPE_PENDING)
        *done = (DWORD)bytes_of(request);
    win_request_unref(&request->base);
    return win_error_from_status(status);
}
