/* SPDX-License-Identifier: MIT */
/*
 * mswsock.h - the extension functions of Winsock. WSAIoctl gives pointers to all of them
 * (SIO_GET_EXTENSION_FUNCTION_POINTER), as on Windows to ConnectEx, DisconnectEx and WSARecvMsg alone.
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

/* Of WSAIoctl; in: a BOOL, FALSE: a receive does not fail because a host refused a datagram that was sent. */
#define SIO_UDP_CONNRESET 0x9800000Cu

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

#define WSAID_WSARECVMSG                                                                           \
    {                                                                                              \
        0xf689d7c8, 0x6f1f, 0x436b,                                                                \
        {                                                                                          \
            0x8a, 0x53, 0xe5, 0x4f, 0xe3, 0x51, 0xc3, 0x22                                         \
        }                                                                                          \
    }
#define WSAID_WSASENDMSG                                                                           \
    {                                                                                              \
        0xa441e712, 0x754f, 0x43ca,                                                                \
        {                                                                                          \
            0x84, 0xa7, 0x0d, 0xee, 0x44, 0xcf, 0x60, 0x6d                                         \
        }                                                                                          \
    }

/* Ancillary data of a WSAMSG, as Linux has it in a struct cmsghdr. */
typedef struct _WSACMSGHDR {
    SIZE_T cmsg_len;
    INT cmsg_level;
    INT cmsg_type;
} WSACMSGHDR, *PWSACMSGHDR, *LPWSACMSGHDR;

#define WSA_CMSGHDR_ALIGN(length)  (((length) + 7) & ~(SIZE_T)7)
#define WSA_CMSGDATA_ALIGN(length) (((length) + 7) & ~(SIZE_T)7)
#define WSA_CMSG_FIRSTHDR(msg)                                                                     \
    ((msg)->Control.len >= sizeof(WSACMSGHDR) ? (LPWSACMSGHDR)(void *)(msg)->Control.buf           \
                                              : (LPWSACMSGHDR)NULL)
#define WSA_CMSG_NXTHDR(msg, cmsg)                                                                 \
    (!(cmsg) ? WSA_CMSG_FIRSTHDR(msg)                                                              \
        : (CHAR *)(cmsg) + WSA_CMSGHDR_ALIGN((cmsg)->cmsg_len) + sizeof(WSACMSGHDR) >              \
                (msg)->Control.buf + (msg)->Control.len                                            \
            ? (LPWSACMSGHDR)NULL                                                                   \
            : (LPWSACMSGHDR)(void *)((CHAR *)(cmsg) + WSA_CMSGHDR_ALIGN((cmsg)->cmsg_len)))
#define WSA_CMSG_DATA(cmsg)    ((UCHAR *)(cmsg) + WSA_CMSGDATA_ALIGN(sizeof(WSACMSGHDR)))
#define WSA_CMSG_SPACE(length) WSA_CMSGDATA_ALIGN(sizeof(WSACMSGHDR) + WSA_CMSGHDR_ALIGN(length))
#define WSA_CMSG_LEN(length)   (WSA_CMSGDATA_ALIGN(sizeof(WSACMSGHDR)) + (length))

typedef INT(PASCAL *LPFN_WSARECVMSG)(SOCKET socket, LPWSAMSG message, LPDWORD received,
    LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);
typedef INT(PASCAL *LPFN_WSASENDMSG)(SOCKET socket, LPWSAMSG message, DWORD flags, LPDWORD sent,
    LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);
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
