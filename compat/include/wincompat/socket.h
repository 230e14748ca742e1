/* SPDX-License-Identifier: MIT */
/*
 * socket.h - Windows' spellings over Linux' socket addresses (same layout; AF_INET6 keeps Linux' value).
 *
 * SOCKADDR_IN is struct sockaddr_in and so on: addresses go to and from Linux calls as they are.
 */
#ifndef WINCOMPAT_SOCKET_H
#define WINCOMPAT_SOCKET_H

#include <wincompat/base.h>

#include <wincompat/inaddr.h>

#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/types.h> /* u_long */

typedef UINT_PTR SOCKET;
#define INVALID_SOCKET ((SOCKET)(~0))
#define SOCKET_ERROR   (-1)

typedef unsigned short ADDRESS_FAMILY;
typedef struct sockaddr SOCKADDR, *PSOCKADDR, *LPSOCKADDR;
typedef struct sockaddr_in SOCKADDR_IN, *PSOCKADDR_IN, *LPSOCKADDR_IN;
typedef struct sockaddr_in6 SOCKADDR_IN6, *PSOCKADDR_IN6, *LPSOCKADDR_IN6;
typedef struct sockaddr_storage SOCKADDR_STORAGE, *PSOCKADDR_STORAGE, *LPSOCKADDR_STORAGE;
typedef struct in_addr IN_ADDR, *PIN_ADDR, *LPIN_ADDR;
typedef struct in6_addr IN6_ADDR, *PIN6_ADDR, *LPIN6_ADDR;

/* Multicast groups, and what IP_PKTINFO and IPV6_PKTINFO tell, as Linux' options have them. */
typedef struct ip_mreq IP_MREQ, *PIP_MREQ;
typedef struct ip_mreq_source IP_MREQ_SOURCE, *PIP_MREQ_SOURCE;
typedef struct ipv6_mreq IPV6_MREQ, *PIPV6_MREQ;
typedef struct in_pktinfo IN_PKTINFO, *PIN_PKTINFO;
typedef struct in6_pktinfo IN6_PKTINFO, *PIN6_PKTINFO;

typedef union _SOCKADDR_INET {
    SOCKADDR_IN Ipv4;
    SOCKADDR_IN6 Ipv6;
    ADDRESS_FAMILY si_family;
} SOCKADDR_INET, *PSOCKADDR_INET;

typedef struct _SOCKET_ADDRESS {
    LPSOCKADDR lpSockaddr;
    INT iSockaddrLength;
} SOCKET_ADDRESS, *PSOCKET_ADDRESS, *LPSOCKET_ADDRESS;

typedef struct _SOCKET_ADDRESS_LIST {
    INT iAddressCount;
    SOCKET_ADDRESS Address[1];
} SOCKET_ADDRESS_LIST, *PSOCKET_ADDRESS_LIST, *LPSOCKET_ADDRESS_LIST;

#define SIZEOF_SOCKET_ADDRESS_LIST(count)                                                          \
    (FIELD_OFFSET(SOCKET_ADDRESS_LIST, Address) + (count) * sizeof(SOCKET_ADDRESS))

C_ASSERT(sizeof(SOCKADDR_IN) == 16);
C_ASSERT(sizeof(SOCKADDR_IN6) == 28);
C_ASSERT(sizeof(SOCKADDR_INET) == 28);

#define SD_RECEIVE SHUT_RD
#define SD_SEND    SHUT_WR
#define SD_BOTH    SHUT_RDWR

#define ADDR_ANY                   INADDR_ANY
#define WSA_FLAG_OVERLAPPED        0x01
#define WSA_FLAG_NO_HANDLE_INHERIT 0x80

/* Codes for WSAIoctl. */
#define SIO_ADDRESS_LIST_QUERY             0x48000016
#define SIO_ADDRESS_LIST_CHANGE            0x28000017
#define SIO_ROUTING_INTERFACE_QUERY        0xC8000014u
/* in: one of mswsock.h's WSAID_*; out: a pointer to the function */
#define SIO_GET_EXTENSION_FUNCTION_POINTER 0xC8000006u

/* Of WSASend and WSARecv, beside MSG_OOB, MSG_PEEK, MSG_DONTROUTE, MSG_WAITALL, which have Linux' values. */
#define MSG_PARTIAL 0x8000

typedef struct timeval TIMEVAL, *PTIMEVAL, *LPTIMEVAL;
typedef fd_set FD_SET, *PFD_SET, *LPFD_SET; /* FD_SET(socket, set) is a macro beside */
typedef struct _WSABUF {
    ULONG len;
    CHAR *buf;
} WSABUF, *LPWSABUF;
typedef OVERLAPPED WSAOVERLAPPED, *LPWSAOVERLAPPED;
typedef unsigned int GROUP;

/* Winsock's error codes, beside the base value. */
#define WSABASEERR             10000
#define WSAEINTR               10004
#define WSAEBADF               10009
#define WSAEACCES              10013
#define WSAEFAULT              10014
#define WSAEINVAL              10022
#define WSAEMFILE              10024
#define WSAEWOULDBLOCK         10035
#define WSAEINPROGRESS         10036
#define WSAEALREADY            10037
#define WSAENOTSOCK            10038
#define WSAEDESTADDRREQ        10039
#define WSAEMSGSIZE            10040
#define WSAEPROTOTYPE          10041
#define WSAENOPROTOOPT         10042
#define WSAEPROTONOSUPPORT     10043
#define WSAESOCKTNOSUPPORT     10044
#define WSAEOPNOTSUPP          10045
#define WSAEPFNOSUPPORT        10046
#define WSAEAFNOSUPPORT        10047
#define WSAEADDRINUSE          10048
#define WSAEADDRNOTAVAIL       10049
#define WSAENETDOWN            10050
#define WSAENETUNREACH         10051
#define WSAENETRESET           10052
#define WSAECONNABORTED        10053
#define WSAECONNRESET          10054
#define WSAENOBUFS             10055
#define WSAEISCONN             10056
#define WSAENOTCONN            10057
#define WSAESHUTDOWN           10058
#define WSAETOOMANYREFS        10059
#define WSAETIMEDOUT           10060
#define WSAECONNREFUSED        10061
#define WSAELOOP               10062
#define WSAENAMETOOLONG        10063
#define WSAEHOSTDOWN           10064
#define WSAEHOSTUNREACH        10065
#define WSAENOTEMPTY           10066
#define WSAEPROCLIM            10067
#define WSAEUSERS              10068
#define WSAEDQUOT              10069
#define WSAESTALE              10070
#define WSAEREMOTE             10071
#define WSASYSNOTREADY         10091
#define WSAVERNOTSUPPORTED     10092
#define WSANOTINITIALISED      10093
#define WSAEDISCON             10101
#define WSAENOMORE             10102
#define WSAECANCELLED          10103
#define WSAEINVALIDPROCTABLE   10104
#define WSAEINVALIDPROVIDER    10105
#define WSAEPROVIDERFAILEDINIT 10106
#define WSASYSCALLFAILURE      10107
#define WSASERVICE_NOT_FOUND   10108
#define WSATYPE_NOT_FOUND      10109
#define WSA_E_NO_MORE          10110
#define WSA_E_CANCELLED        10111
#define WSAEREFUSED            10112
#define WSAHOST_NOT_FOUND      11001
#define WSATRY_AGAIN           11002
#define WSANO_RECOVERY         11003
#define WSANO_DATA             11004
#define WSA_INVALID_HANDLE     ERROR_INVALID_HANDLE
#define WSA_INVALID_PARAMETER  ERROR_INVALID_PARAMETER
#define WSA_NOT_ENOUGH_MEMORY  ERROR_NOT_ENOUGH_MEMORY
#define WSA_IO_PENDING         ERROR_IO_PENDING
#define WSA_IO_INCOMPLETE      ERROR_IO_INCOMPLETE
#define WSA_OPERATION_ABORTED  ERROR_OPERATION_ABORTED

#endif
