/* SPDX-License-Identifier: MIT */
/*
 * pipe.h - the ends of named pipes as overlapped files. place.c, listen.c (where a pipe is, and how its ends meet),
 * pipe.c (an end's life), connect.c (a server's states), queue.c (the requests that wait), transfer.c (octets and
 * messages), server.c, client.c, state.c (what programs call).
 *
 * A pipe of octets is a stream socket with nothing but the octets, so a process that has inherited an end can read and
 * write it as any descriptor. A pipe of messages is a socket that keeps their borders; each packet is one message
 * behind one octet, which tells an empty message from the end.
 *
 * As with sockets (win32/sockets/object.h) a request is tried at once, and waits in a queue if the kernel would block;
 * the descriptor is then a source of the reactor, edge-triggered. A call that waits is a request, too.
 */
#ifndef WIN32_PIPES_PIPE_H
#define WIN32_PIPES_PIPE_H

#include "win32/pipes/names.h"
#include "win32/pipes/place.h"
#include "winobj/requests/io.h"

#include "reactor/reactor.h"

#include "util/list.h"
#include "util/lock.h"

#include <ntstatus.h>
#include <stdbool.h>

#define PIPE_PENDING ((LONG)0x103) /* STATUS_PENDING: the kernel would block */

enum pipe_kind { PIPE_CONNECT, PIPE_READ, PIPE_WRITE, PIPE_TRANSACT, PIPE_FLUSH };

struct pipe_request {
    struct win_request base;
    struct list_node queued; /* receives or sends; a transaction is in sends, then in receives */
    enum pipe_kind kind;
    const char *out; /* the program's memory, which is written to the pipe */
    size_t out_bytes, sent;
    char *in; /* the program's memory, which the pipe is read into */
    size_t in_bytes, got;
    bool waited;    /* has been in a queue */
    OVERLAPPED own; /* used by a call that waits and has none of the program's */
};

/* A message that has been taken off the socket, but not read to its end. */
struct pipe_message {
    struct list_node link;
    size_t bytes, taken;
    char octets[];
};

/* A descriptor with its source, which closes it. */
struct pipe_channel {
    struct reactor_source source;
    struct win_pipe *pipe; /* a reference while it is added */
    bool added;
};

enum pipe_state { PIPE_IS_DISCONNECTED, PIPE_LISTENS, PIPE_IS_CONNECTED };

/* win_file_room of the kind. */
struct win_pipe {
    struct win_file *file;
    bool server, message;     /* PIPE_TYPE_MESSAGE */
    bool reads, writes, sets; /* what its handle may do */
    bool overlapped;

    struct lock lock; /* LOCK_WIN_SOCKET: all below */
    struct pipe_place place;
    enum pipe_state state;
    bool closed;
    bool message_reads, at_once;      /* PIPE_READMODE_MESSAGE, PIPE_NOWAIT */
    struct pipe_channel *channel;     /* listens, or is connected; NULL: disconnected */
    bool readable, writable, hung;    /* the last known state */
    bool reset;                       /* the other end was closed with something unread */
    struct list_head receives, sends; /* PIPE_CONNECT in receives */
    struct list_head messages;
    size_t message_count, message_bytes; /* how many are in messages; their unread octets */
};

extern const struct win_file_ops pipe_file_ops;

/* A new handle of an end; takes over the place and the descriptor. INVALID_HANDLE_VALUE, the last error. */
HANDLE pipe_open(const struct win_pipe *like, int fd, enum pipe_state state, bool inherit);

/* The pipe of a handle, whose file is referenced; NULL with ERROR_INVALID_HANDLE. */
struct win_pipe *pipe_pin(HANDLE handle);
static inline void pipe_unpin(struct win_pipe *pipe)
{
    win_file_unref(pipe->file);
}

/* connect.c */

/* A descriptor's channel; NULL: no memory, and the descriptor is closed. */
struct pipe_channel *pipe_channel_new(struct win_pipe *pipe, int fd);
/* Stops its events and closes the descriptor. */
void pipe_channel_drop_locked(struct win_pipe *pipe);
/* Has the reactor watch it. A negative errno. */
int pipe_watch_locked(struct win_pipe *pipe);
/* The status of an errno by which no socket is to be had. */
LONG pipe_shortage(int error);
/* Takes a client that has come. STATUS_SUCCESS, PIPE_PENDING, or why the pipe has none. */
LONG pipe_accept_locked(struct win_pipe *pipe);
/* Whether data can be transferred: STATUS_SUCCESS, or the status of the transfer. */
LONG pipe_check_locked(struct win_pipe *pipe);
/* The status of a connection that the other end has given up. */
LONG pipe_ended_locked(struct win_pipe *pipe, bool reads, bool waited);
/* Ends the connection and the waiting requests with a status; drops unread messages. */
void pipe_disconnect_locked(struct win_pipe *pipe, LONG status);
bool pipe_hung(int fd);

/* transfer.c: a request is tried. Its status, or PIPE_PENDING. */
LONG pipe_read_locked(struct win_pipe *pipe, struct pipe_request *request);
LONG pipe_write_locked(struct win_pipe *pipe, struct pipe_request *request);
LONG pipe_flush_locked(struct win_pipe *pipe, struct pipe_request *request);
/* Takes messages off the socket, as many as are there. */
void pipe_pull_locked(struct win_pipe *pipe);
void pipe_forget_messages(struct win_pipe *pipe);

/* queue.c */

/* One call: a request, which it waits for unless the handle is overlapped and the program has given an OVERLAPPED. */
DWORD pipe_do(
    struct win_pipe *pipe, const struct pipe_request *like, DWORD *done, OVERLAPPED *overlapped);
/* Ends the waiting requests with a status. */
void pipe_end_all_locked(struct win_pipe *pipe, LONG status);
/* Tries the waiting requests. */
void pipe_advance_locked(struct win_pipe *pipe);

#endif
