/* SPDX-License-Identifier: MIT */
/*
 * change.c - SIO_ADDRESS_LIST_CHANGE, by a netlink socket that the reactor waits for; WSAProviderConfigChange, whose
 * requests end with their handle alone, since the catalogue of a running program does not change.
 *
 * Requests pending for a change of addresses are in a list. A change or a cancel claims the request first
 * (requests/io.h), then removes it.
 */
#include "win32/sockets/change.h"

#include "win32/fork.h"
#include "win32/sockets/object.h"
#include "win32/sockets/winsock.h"

#include "reactor/reactor.h"
#include "util/lock.h"
#include "util/once.h"

#include <winsock2.h>

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <ntstatus.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

struct change {
    struct win_request request; /* first */
    struct list_node link;      /* `waiting`, if it is for addresses */
};

static struct list_head waiting = { { &waiting.n, &waiting.n } };
static struct lock waiting_lock = LOCK_INIT(LOCK_WIN_SOCKET, "changes of addresses");

static struct once monitor_once = ONCE_INIT;
static struct reactor_source monitor; /* the netlink socket */

static void change_cancel(struct win_request *request)
{
    struct change *change = (struct change *)request;

    if (!win_request_claim(request))
        return;
    lock_acquire(&waiting_lock);
    if (list_linked(&change->link))
        list_del(&change->link);
    lock_release(&waiting_lock);
    win_request_end(request, STATUS_CANCELLED, 0);
}

static void change_free(struct win_request *request)
{
    free(request);
}

static const struct win_request_ops change_ops = { .cancel = change_cancel, .free = change_free };

/* The first request of a list that no cancel has claimed, taken off; NULL: none. */
static struct change *take(struct list_head *list)
{
    struct change *change = NULL;
    struct list_node *node;

    lock_acquire(&waiting_lock);
    while (!change && (node = list_pop(list))) {
        change = list_entry(node, struct change, link);
        if (!win_request_claim(&change->request))
            change = NULL;
    }
    lock_release(&waiting_lock);
    return change;
}

/* Ends the requests that are pending now, and none that begins meanwhile. */
static void addresses_changed(void)
{
    struct list_head now;
    struct change *change;

    list_init(&now);
    lock_acquire(&waiting_lock);
    list_splice_tail(&now, &waiting);
    lock_release(&waiting_lock);
    while ((change = take(&now)))
        win_request_end(&change->request, STATUS_SUCCESS, 0);
}

/* The content of the messages does not matter; ENOBUFS means that some were lost, which were changes, too. */
static void monitor_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    char message[8192];

    (void)events;
    (void)how;
    while (recv(source->fd, message, sizeof(message), MSG_DONTWAIT) >= 0 || errno == EINTR ||
           errno == ENOBUFS)
        ;
    addresses_changed();
}

static const struct reactor_source_ops monitor_ops = { .ready = monitor_ready };

static int monitor_open(void)
{
    struct sockaddr_nl address = { .nl_family = AF_NETLINK,
        .nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR };
    int fd = (socket)(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    int error;

    if (fd < 0)
        return -errno;
    if (bind(fd, (struct sockaddr *)&address, sizeof(address))) {
        error = -errno;
        close(fd);
        return error;
    }
    reactor_source_init(&monitor, &monitor_ops, fd);
    if ((error = reactor_add(&monitor, EPOLLIN)))
        close(fd);
    return error;
}

/*
 * Begins a request, and puts it into the list, if there is one, before a cancel can look for it there. A Winsock error:
 * WSA_IO_PENDING, or that of the call.
 */
static DWORD begin(struct win_file *file, OVERLAPPED *overlapped,
    LPWSAOVERLAPPED_COMPLETION_ROUTINE routine, struct list_head *list)
{
    struct change *change = calloc(1, sizeof(*change));
    LONG status;
    DWORD error;

    if (!change)
        return WSA_NOT_ENOUGH_MEMORY;
    if ((status = win_socket_routine_begin(file, overlapped, routine))) {
        free(change);
        return win_winsock_error(status);
    }
    list_node_init(&change->link);
    lock_acquire(&waiting_lock);
    error = win_request_begin(file, &change->request, &change_ops, overlapped);
    if (!error && list)
        list_add_tail(list, &change->link);
    lock_release(&waiting_lock);
    if (!error)
        return WSA_IO_PENDING;
    win_socket_routine_drop(overlapped, routine);
    free(change);
    return WSA_NOT_ENOUGH_MEMORY;
}

DWORD win_address_change_begin(
    struct win_file *file, OVERLAPPED *overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    DWORD error;

    if (once_run(&monitor_once, monitor_open))
        return WSAENOBUFS;
    error = begin(file, overlapped, routine, &waiting);
    return error == WSA_NOT_ENOUGH_MEMORY ? WSAENOBUFS : error;
}

void win_changes_forked(void)
{
    if (once_done(&monitor_once))
        close(monitor.fd);
    monitor_once = (struct once)ONCE_INIT;
    lock_init(&waiting_lock, LOCK_WIN_SOCKET, "changes of addresses");
    list_init(&waiting);
}

static const char owner; /* its address: the handles of WSAProviderConfigChange */

static void room_init(void *room)
{
    (void)room;
}

static void nothing(struct win_file *file)
{
    (void)file;
}

static const struct win_io_ops io_ops = { .destroy = nothing };
static const struct win_file_ops file_ops = { .room = 1, .init = room_init, .io = &io_ops };

/*
 * WSAProviderConfigChange - a handle for changes of the catalogue, and a request that a change would end. The catalogue
 * does not change while a program runs: the request ends when it is cancelled or its handle closed.
 * handle      in and out: NULL in it: a new handle, for ports, CancelIo and CloseHandle
 * overlapped  in: NULL: the call asks for the handle alone
 * routine     of the request, as in WSARecvFrom; may be NULL
 * Returns     0 for a handle alone; SOCKET_ERROR with WSA_IO_PENDING, WSAEFAULT (handle is NULL), WSAEOPNOTSUPP
 *             (neither a new handle nor overlapped: the call would never return), WSAEINVAL (a routine, and the handle
 *             has a port), WSA_INVALID_HANDLE, WSA_NOT_ENOUGH_MEMORY, WSANOTINITIALISED. Any thread.
 * Source: WSAProviderConfigChange function (winsock2.h).
 */
int WSAAPI WSAProviderConfigChange(
    LPHANDLE handle, LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    struct win_file *file;
    HANDLE made = NULL;
    DWORD error;

    if (!win_winsock_started())
        return SOCKET_ERROR;
    if (!handle || (*handle && !overlapped))
        return win_winsock_fail(handle ? WSAEOPNOTSUPP : WSAEFAULT);
    if (!*handle && win_file_create(&owner, &file_ops, &made))
        return win_winsock_fail(WSA_NOT_ENOUGH_MEMORY);
    if (made)
        *handle = made;
    if (!overlapped)
        return 0;
    if (!(file = win_file_get(*handle, &owner)))
        return win_winsock_fail(WSA_INVALID_HANDLE);
    error = begin(file, overlapped, routine, NULL);
    win_file_unref(file);
    return win_winsock_fail(error);
}
