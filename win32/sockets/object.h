/* SPDX-License-Identifier: MIT */
/*
 * object.h - a socket as an overlapped file: its requests, and when they are tried. object.c (life), queue.c (the
 * queues, by readiness), transfer.c, connect.c, accept.c (what the requests do), result.c (how they end).
 *
 * A request is tried at once; if the kernel would block it waits in a queue. The socket is a source of the reactor,
 * edge-triggered: one epoll_ctl in its life, none for each request. `readable` and `writable` say what the last call or
 * event said; a request is tried only while they are true.
 *
 * Locks: accept_lock (a listener's requests), then lock. A request ends under the lock of its queue: so the packets
 * of a queue are in the order of its requests, and a cancel finds a request in its queue, or it has ended.
 */
#ifndef WIN32_SOCKETS_OBJECT_H
#define WIN32_SOCKETS_OBJECT_H

#include <winsock2.h>

#include "winobj/requests/io.h"
#include "win32/sockets/winsock.h"

#include "reactor/reactor.h"

#include "util/list.h"
#include "util/lock.h"

#include <ntstatus.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define WIN_SOCKET_PENDING ((LONG)0x103) /* STATUS_PENDING: the kernel would block */

struct win_socket;

/* A request of WSASend, WSARecv and their kind, ReadFile, WriteFile or ConnectEx. */
struct win_socket_request {
    struct win_request base;
    struct list_node queued; /* receives or sends */
    int flags;               /* the call's, with Linux' values */
    size_t total, done;
    unsigned count, next; /* parts; those before next are done */
    bool wants_flags;     /* WSARecv: the result's flags go into Offset */
    DWORD result_flags;
    struct sockaddr *from; /* the program's memory; may be NULL */
    INT *from_length;
    WSAMSG *message; /* the program's, which WSARecvMsg fills in; may be NULL */
    void *control;   /* the program's memory for ancillary data, in or out; may be NULL */
    size_t control_bytes;
    socklen_t to_length; /* 0: no address */
    struct sockaddr_storage to;
    struct iovec parts[];
};

/* AcceptEx; base.file is the listener's. */
struct win_accept {
    struct win_request base;
    struct list_node queued;   /* accepts or receiving */
    struct win_socket *socket; /* a reference; becomes the connection */
    bool nonblocking;          /* whether the connection will be */
    bool accepted;             /* waits for data; in no list that accepts more */
    char *buffer;
    DWORD data_bytes, local_bytes, remote_bytes;
};

/* WSAEventSelect (network_events.h); FD_* bits. */
struct win_network {
    struct win_object *event; /* a reference; NULL: mask is 0 */
    LONG mask;                /* what the program wants to know */
    LONG recorded;            /* what it has not been told yet */
    LONG reported;            /* what is not recorded until a call enables it again */
    bool sent; /* such a call was a send, after which only WSAEventSelect records FD_WRITE again */
    int errors[FD_MAX_EVENTS];
    int failure; /* Winsock's error of the last connect; the kernel tells it only once */
};

struct win_socket {
    struct win_file *file; /* this struct is its room; its references are the socket's */
    HANDLE handle;         /* the file's */
    int fd;
    bool lost; /* the program closed the descriptor by close: the number is another file's */
    int family, type;
    _Atomic int64_t send_buffer,
        receive_buffer;           /* 1 more than what the program asked for; 0: nothing */
    atomic_bool exclusive;        /* SO_EXCLUSIVEADDRUSE */
    atomic_bool quiet;            /* SIO_UDP_CONNRESET: a refused datagram fails no call */
    struct reactor_source source; /* while added it holds a reference to the file */

    struct lock lock; /* LOCK_WIN_SOCKET: all below */
    bool closed, added;
    uint32_t events;         /* asked for */
    bool readable, writable; /* the last known state */
    bool whole_reads;        /* a short read is not "empty": end, error, urgent data, or no TCP */
    struct list_head receives, sends;
    struct win_socket_request
        *connect; /* ConnectEx, until the connection is there; then it is in sends */
    bool called;  /* connected by ConnectEx, not by AcceptEx */
    struct win_network network;
    /* the AcceptEx that this socket is for, and its listener, a reference; the former under its accept_lock, too */
    struct win_accept *accept;
    struct win_socket *listener;

    struct lock accept_lock; /* LOCK_WIN_LISTENER: all below */
    atomic_bool listening;   /* AcceptEx has been called; read without the lock */
    atomic_bool blocked;     /* it blocked before that */
    bool accepts_closed;
    bool acceptable; /* the last known state */
    struct list_head accepts,
        receiving; /* AcceptEx without a connection; with one, but without its data */
    struct sockaddr_storage
        local; /* where it listens; length 0: any address, so each connection is asked */
    socklen_t local_length;
};

/*
 * win_socket_get - the object of a socket, referenced; made at the first use. NULL with WSANOTINITIALISED, WSAENOTSOCK,
 * WSAENOBUFS.
 */
struct win_socket *win_socket_get(SOCKET socket);
/* win_socket_get if the socket has an object already; else NULL, without an error. */
struct win_socket *win_socket_find(SOCKET socket);
struct win_socket *win_socket_ref(struct win_socket *socket);
void win_socket_unref(struct win_socket *socket);

/* Closes the object of a descriptor, and the descriptor. False: it has none, and stays open. */
bool win_socket_close(int fd);
/* The descriptor is new: if an object has its number, the program closed that by close. */
void win_socket_new(int fd);
/* ReadFile and WriteFile (transfer.c). */
DWORD win_socket_read(
    struct win_file *file, void *buffer, DWORD bytes, DWORD *done, OVERLAPPED *overlapped);
DWORD win_socket_write(
    struct win_file *file, const void *buffer, DWORD bytes, DWORD *done, OVERLAPPED *overlapped);
/* Makes the object of a descriptor that is a socket; for win_descriptor_maker. */
void win_socket_adopt(int fd);

/* queue.c; direction: EPOLLIN or EPOLLOUT */

/* Has the reactor watch the socket. Returns 0 or a negative errno. */
int win_socket_watch_locked(struct win_socket *socket, uint32_t events);
/* Assumes that a new connection is ready for everything. */
void win_socket_fresh(struct win_socket *socket);
/* Makes the socket's number refer to fd's open file. Returns 0 or a negative errno. */
int win_socket_replace_locked(struct win_socket *socket, int fd);
/* Tries the requests that wait, as far as the socket is ready. */
void win_socket_advance_locked(struct win_socket *socket);
void win_socket_ready(struct reactor_source *source, uint32_t events, enum reactor_how how);
void win_socket_freed(struct reactor_source *source);

/* Tries a request (transfer.c). Returns its status, or WIN_SOCKET_PENDING. */
LONG win_socket_receive_locked(struct win_socket *socket, struct win_socket_request *request);
LONG win_socket_send_locked(struct win_socket *socket, struct win_socket_request *request);

/* connect.c: checks whether the connection is established, or failed. */
void win_socket_connect_advance_locked(struct win_socket *socket);

/* accept.c */

/* Connections may be there. */
void win_socket_accept_ready(struct win_socket *listener);
/* The first data of a connection that AcceptEx waits for may be there. */
void win_socket_accept_data(struct win_socket *listener, struct win_socket *socket);
/* Cancels the AcceptEx that a socket is for. */
void win_socket_accept_abandon(struct win_socket *socket);
/* Cancels all AcceptEx of a listener. */
void win_socket_accept_close(struct win_socket *listener);

/*
 * The socket of a transfer; NULL with the Winsock error, also of the arguments that all have. bytes: where the call
 * puts how many there were.
 */
struct win_socket *win_socket_checked(
    SOCKET socket, const WSABUF *buffers, DWORD count, const void *bytes, const void *overlapped);
/*
 * Do what a request is for, at once or, if overlapped is not NULL, by and by; they consume it. Return 0, or
 * SOCKET_ERROR with the error.
 * flags    out: when the call returns 0
 * routine  without overlapped it has no meaning; may be NULL
 */
int win_socket_receive(struct win_socket *socket, struct win_socket_request *request,
    DWORD *received, DWORD *flags, OVERLAPPED *overlapped,
    LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);
int win_socket_send(struct win_socket *socket, struct win_socket_request *request, DWORD *sent,
    OVERLAPPED *overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);

/*
 * routine.c: the calling thread is to call a routine when a request has ended that is about to begin; routine NULL:
 * nothing. A status: STATUS_SUCCESS, STATUS_INVALID_PARAMETER (the file has a port), STATUS_INSUFFICIENT_RESOURCES.
 */
LONG win_socket_routine_begin(
    struct win_file *file, OVERLAPPED *overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);
/* The request has not begun, or failed in the call: the routine, if there is one, is not called. */
void win_socket_routine_drop(OVERLAPPED *overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);

/* A request with room for the program's buffers; NULL: no memory. */
struct win_socket_request *win_socket_request_new(const WSABUF *buffers, DWORD count);
extern const struct win_request_ops win_socket_request_ops;
/*
 * Tries a request that has begun, if the queue (receives or sends) is empty; else, or if the kernel would block, puts
 * it there. Returns WIN_SOCKET_PENDING, or the status of a request that has ended, its octets in *done.
 */
LONG win_socket_submit(struct win_socket *socket, struct win_socket_request *request,
    struct list_head *queue, DWORD *done);
/* Ends the waiting requests with STATUS_CANCELLED. */
void win_socket_cancel_locked(struct win_socket *socket);
/* Ends a request that is in a queue, or the one that connects. */
void win_socket_end_locked(
    struct win_socket *socket, struct win_socket_request *request, LONG status);

/* Whether a call that failed with this errno is to be made again: it was interrupted, or concerns an older datagram. */
bool win_socket_again(const struct win_socket *socket, int error);

/* result.c */

/* What a request on the socket ends with for an errno. */
LONG win_socket_status(const struct win_socket *socket, int error);
/* The status for EPIPE: this end has shut down its sending, the connection is gone, or there has been none. */
LONG win_socket_sends_no_more(int fd);
/* The Winsock error for a status. */
DWORD win_winsock_error(LONG status);
/* Sets the last error of a call that ended at once. Returns 0 or SOCKET_ERROR. */
int win_socket_end(LONG status);

/* option.c: the times of a socket's keep-alive probes. Returns 0, or SOCKET_ERROR with the error. */
struct tcp_keepalive;
int win_socket_keepalive(int fd, const struct tcp_keepalive *values);

/* message.c; programs get it by WSAIoctl. */
INT PASCAL win_receive_message(SOCKET socket, LPWSAMSG message, LPDWORD received,
    LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);

/* connect.c; programs get them by WSAIoctl. */
BOOL PASCAL win_connect_ex(SOCKET socket, const struct sockaddr *name, int name_length,
    PVOID buffer, DWORD bytes, LPDWORD sent, LPOVERLAPPED overlapped);
BOOL PASCAL win_disconnect_ex(SOCKET socket, LPOVERLAPPED overlapped, DWORD flags, DWORD reserved);

/* The length of a family's addresses; 0: neither AF_INET nor AF_INET6. */
static inline DWORD win_address_size(int family)
{
    return family == AF_INET    ? sizeof(struct sockaddr_in)
           : family == AF_INET6 ? sizeof(struct sockaddr_in6)
                                : 0;
}

#endif
