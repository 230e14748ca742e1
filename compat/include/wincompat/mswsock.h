/* SPDX-License-Identifier: MIT */
/*
 * mswsock.h - the extension functions of Winsock. WSAIoctl gives pointers to all of them
 * (SIO_GET_EXTENSION_FUNCTION_POINTER), as on Windows to ConnectEx and DisconnectEx alone.
 */
#ifndef WINCOMPAT_MSWSOCK_H
#define WINCOMPAT_MSWSOCK_H

#include <wincompat/winsock.h>

WINCOMPAT_BEGIN

/* Of setsockopt, level SOL_SOCKET. They change nothing here: the socket has all it needs from the start. */
#define SO_UPDATE_ACCEPT_CONTEXT  0x700B
#define SO_UPDATE_CONNECT_CONTEXT 0x7010

/* Of getsockopt: a DWORD, the seconds since the socket was connected; -1: it is not. */
#define SO_CONNECT_TIME 0x700C

/* A DWORD of the process without effect: every socket can have overlapped requests. */
#define SO_OPENTYPE             0x7008
#define SO_SYNCHRONOUS_ALERT    0x10
#define SO_SYNCHRONOUS_NONALERT 0x20

/* Of DisconnectEx. */
#define TF_DISCONNECT   0x01
#define TF_REUSE_SOCKET 0x02

#define WSAID_ACCEPTEX                                                                             \
    {                                                                                              \
        0xb5367df1, 0xcbac, 0x11cf,                                                                \
        {                                                                                          \
            0x95, 0xca, 0x00, 0x80, 0x5f, 0x48, 0xa1, 0x92                                         \
        }                                                                                          \
    }
#define WSAID_GETACCEPTEXSOCKADDRS                                                                 \
    {                                                                                              \
        0xb5367df2, 0xcbac, 0x11cf,                                                                \
        {                                                                                          \
            0x95, 0xca, 0x00, 0x80, 0x5f, 0x48, 0xa1, 0x92                                         \
        }                                                                                          \
    }
#define WSAID_CONNECTEX                                                                            \
    {                                                                                              \
        0x25a207b9, 0xddf3, 0x4660,                                                                \
        {                                                                                          \
            0x8e, 0xe9, 0x76, 0xe5, 0x8c, 0x74, 0x06, 0x3e                                         \
        }                                                                                          \
    }
#define WSAID_DISCONNECTEX                                                                         \
    {                                                                                              \
        0x7fda2e11, 0x8630, 0x436f,                                                                \
        {                                                                                          \
            0xa0, 0x31, 0xf5, 0x36, 0xa6, 0xee, 0xc1, 0x57                                         \
        }                                                                                          \
    }

typedef BOOL(PASCAL *LPFN_ACCEPTEX)(SOCKET listener, SOCKET socket, PVOID buffer, DWORD data_bytes,
    DWORD local_bytes, DWORD remote_bytes, LPDWORD received, LPOVERLAPPED overlapped);
typedef VOID(PASCAL *LPFN_GETACCEPTEXSOCKADDRS)(PVOID buffer, DWORD data_bytes, DWORD local_bytes,
    DWORD remote_bytes, struct sockaddr **local, LPINT local_length, struct sockaddr **remote,
    LPINT remote_length);
typedef BOOL(PASCAL *LPFN_CONNECTEX)(SOCKET socket, const struct sockaddr *name, int name_length,
    PVOID buffer, DWORD bytes, LPDWORD sent, LPOVERLAPPED overlapped);
typedef BOOL(PASCAL *LPFN_DISCONNECTEX)(
    SOCKET socket, LPOVERLAPPED overlapped, DWORD flags, DWORD reserved);

WINOBJ_API BOOL PASCAL AcceptEx(SOCKET listener, SOCKET socket, PVOID buffer, DWORD data_bytes,
    DWORD local_bytes, DWORD remote_bytes, LPDWORD received, LPOVERLAPPED overlapped);
WINOBJ_API VOID PASCAL GetAcceptExSockaddrs(PVOID buffer, DWORD data_bytes, DWORD local_bytes,
    DWORD remote_bytes, struct sockaddr **local, LPINT local_length, struct sockaddr **remote,
    LPINT remote_length);

WINCOMPAT_END

#endif
