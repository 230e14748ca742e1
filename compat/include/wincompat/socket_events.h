/* SPDX-License-Identifier: MIT */
/* socket_events.h - waiting for sockets: event objects of Winsock, network events, WSAPoll. */
#ifndef WINCOMPAT_SOCKET_EVENTS_H
#define WINCOMPAT_SOCKET_EVENTS_H

#include <wincompat/socket.h>

#include <poll.h>

WINCOMPAT_BEGIN

typedef HANDLE WSAEVENT, *LPWSAEVENT;

#define WSA_INVALID_EVENT       ((WSAEVENT)NULL)
#define WSA_MAXIMUM_WAIT_EVENTS MAXIMUM_WAIT_OBJECTS
#define WSA_WAIT_FAILED         WAIT_FAILED
#define WSA_WAIT_EVENT_0        WAIT_OBJECT_0
#define WSA_WAIT_IO_COMPLETION  WAIT_IO_COMPLETION
#define WSA_WAIT_TIMEOUT        WAIT_TIMEOUT
#define WSA_INFINITE            INFINITE

WINOBJ_API WSAEVENT WSAAPI WSACreateEvent(void);
WINOBJ_API BOOL WSAAPI WSACloseEvent(WSAEVENT event);
WINOBJ_API BOOL WSAAPI WSASetEvent(WSAEVENT event);
WINOBJ_API BOOL WSAAPI WSAResetEvent(WSAEVENT event);
WINOBJ_API DWORD WSAAPI WSAWaitForMultipleEvents(
    DWORD count, const WSAEVENT *events, BOOL all, DWORD timeout_ms, BOOL alertable);

/* Network events, and their places in iErrorCode. */
#define FD_READ_BIT                     0
#define FD_READ                         (1 << FD_READ_BIT)
#define FD_WRITE_BIT                    1
#define FD_WRITE                        (1 << FD_WRITE_BIT)
#define FD_OOB_BIT                      2
#define FD_OOB                          (1 << FD_OOB_BIT)
#define FD_ACCEPT_BIT                   3
#define FD_ACCEPT                       (1 << FD_ACCEPT_BIT)
#define FD_CONNECT_BIT                  4
#define FD_CONNECT                      (1 << FD_CONNECT_BIT)
#define FD_CLOSE_BIT                    5
#define FD_CLOSE                        (1 << FD_CLOSE_BIT)
#define FD_QOS_BIT                      6
#define FD_QOS                          (1 << FD_QOS_BIT)
#define FD_GROUP_QOS_BIT                7
#define FD_GROUP_QOS                    (1 << FD_GROUP_QOS_BIT)
#define FD_ROUTING_INTERFACE_CHANGE_BIT 8
#define FD_ROUTING_INTERFACE_CHANGE     (1 << FD_ROUTING_INTERFACE_CHANGE_BIT)
#define FD_ADDRESS_LIST_CHANGE_BIT      9
#define FD_ADDRESS_LIST_CHANGE          (1 << FD_ADDRESS_LIST_CHANGE_BIT)
#define FD_MAX_EVENTS                   10
#define FD_ALL_EVENTS                   ((1 << FD_MAX_EVENTS) - 1)

typedef struct _WSANETWORKEVENTS {
    LONG lNetworkEvents;
    int iErrorCode[FD_MAX_EVENTS];
} WSANETWORKEVENTS, *LPWSANETWORKEVENTS;

WINOBJ_API int WSAAPI WSAEventSelect(SOCKET socket, WSAEVENT event, LONG events);
WINOBJ_API int WSAAPI WSAEnumNetworkEvents(
    SOCKET socket, WSAEVENT event, LPWSANETWORKEVENTS network_events);

/* The POLL* bits have Linux' values, and struct pollfd is Linux' own. <poll.h> may leave these out. */
#ifndef POLLRDNORM
#define POLLRDNORM 0x040
#define POLLRDBAND 0x080
#define POLLWRNORM 0x100
#define POLLWRBAND 0x200
#endif

typedef struct {
    SOCKET fd;
    SHORT events;
    SHORT revents;
} WSAPOLLFD, *PWSAPOLLFD, *LPWSAPOLLFD;

C_ASSERT(sizeof(WSANETWORKEVENTS) == 44);

WINOBJ_API int WSAAPI WSAPoll(LPWSAPOLLFD sockets, ULONG count, INT timeout_ms);

WINCOMPAT_END

#endif
