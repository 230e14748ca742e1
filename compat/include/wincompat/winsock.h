/* SPDX-License-Identifier: MIT */
/* winsock.h - the Winsock functions provided by libndwin32. Sockets themselves are Linux' own. */
#ifndef WINCOMPAT_WINSOCK_H
#define WINCOMPAT_WINSOCK_H

#include <wincompat/catalogue.h>
#include <wincompat/socket_calls.h>
#include <wincompat/socket_events.h>

WINCOMPAT_BEGIN

#define WSADESCRIPTION_LEN 256
#define WSASYS_STATUS_LEN  128

typedef struct WSAData {
    WORD wVersion;
    WORD wHighVersion;
    unsigned short iMaxSockets;
    unsigned short iMaxUdpDg;
    char *lpVendorInfo;
    char szDescription[WSADESCRIPTION_LEN + 1];
    char szSystemStatus[WSASYS_STATUS_LEN + 1];
} WSADATA, *LPWSADATA;

WINOBJ_API int WSAAPI WSAStartup(WORD version, LPWSADATA data);
WINOBJ_API int WSAAPI WSACleanup(void);
/* the last error, as GetLastError; with NDSPI_NO_CRT errno, if a socket function left it there */
#ifdef NDSPI_NO_CRT
WINOBJ_API int WSAAPI WSAGetLastError(void);
#else
WINOBJ_API int WSAAPI WSAGetLastError(void) __asm__("GetLastError");
#endif
WINOBJ_API void WSAAPI WSASetLastError(int error);

WINOBJ_API INT WSAAPI WSAStringToAddressA(
    LPSTR text, INT family, LPWSAPROTOCOL_INFOA protocol, LPSOCKADDR address, LPINT address_length);
WINOBJ_API INT WSAAPI WSAStringToAddressW(LPWSTR text, INT family, LPWSAPROTOCOL_INFOW protocol,
    LPSOCKADDR address, LPINT address_length) WINCOMPAT_WIDE("WSAStringToAddressW");
#define WSAStringToAddress WINCOMPAT_AW(WSAStringToAddress)
WINOBJ_API INT WSAAPI WSAAddressToStringA(LPSOCKADDR address, DWORD address_length,
    LPWSAPROTOCOL_INFOA protocol, LPSTR text, LPDWORD text_length);
WINOBJ_API INT WSAAPI WSAAddressToStringW(LPSOCKADDR address, DWORD address_length,
    LPWSAPROTOCOL_INFOW protocol, LPWSTR text, LPDWORD text_length)
    WINCOMPAT_WIDE("WSAAddressToStringW");
#define WSAAddressToString WINCOMPAT_AW(WSAAddressToString)

/* 1; 0: no address; -1 with WSAEAFNOSUPPORT, WSAEFAULT */
#define InetPtonA inet_pton
#define InetNtopA inet_ntop
WINOBJ_API INT WSAAPI InetPtonW(INT family, LPCWSTR text, PVOID address)
    WINCOMPAT_WIDE("InetPtonW");
WINOBJ_API LPCWSTR WSAAPI InetNtopW(INT family, const VOID *address, LPWSTR text, size_t room)
    WINCOMPAT_WIDE("InetNtopW");
#define InetPton WINCOMPAT_AW(InetPton)
#define InetNtop WINCOMPAT_AW(InetNtop)

/* 64 bits in network order; NO_EXTRA_HTON_FUNCTIONS leaves them out, as on Windows */
#ifndef NO_EXTRA_HTON_FUNCTIONS
static inline UINT64 htonll(UINT64 value)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(value) : value;
}
static inline UINT64 ntohll(UINT64 value)
{
    return htonll(value);
}
#endif

/*
 * Sockets. A SOCKET is a descriptor; socket, bind, connect, send, recv and the other calls with the same name are
 * Linux' own, with Windows' errors (socket_calls.h). As a HANDLE it is an overlapped file.
 */
typedef void(CALLBACK *LPWSAOVERLAPPED_COMPLETION_ROUTINE)(
    DWORD error, DWORD bytes, LPWSAOVERLAPPED overlapped, DWORD flags);

/* Options of sockets that Linux does not have, and Windows' type of SO_LINGER. */
#define SO_DONTLINGER       ((int)(~SO_LINGER))
#define SO_EXCLUSIVEADDRUSE ((int)(~SO_REUSEADDR))
#define SO_MAX_MSG_SIZE     0x2003
#define SO_PROTOCOL_INFOA   0x2004
#define SO_PROTOCOL_INFOW   0x2005
#define SO_PROTOCOL_INFO    WINCOMPAT_AW(SO_PROTOCOL_INFO)
#ifndef TCP_NODELAY
#define TCP_NODELAY 1
#endif
#ifdef WINCOMPAT_LINGER
typedef struct linger LINGER, *PLINGER, *LPLINGER;
#else
typedef struct {
    unsigned short l_onoff;
    unsigned short l_linger;
} LINGER, *PLINGER, *LPLINGER;
#endif
typedef struct hostent HOSTENT, *PHOSTENT, *LPHOSTENT;
typedef struct servent SERVENT, *PSERVENT, *LPSERVENT;
typedef struct protoent PROTOENT, *PPROTOENT, *LPPROTOENT;
WINOBJ_API int WSAAPI closesocket(SOCKET socket);
WINOBJ_API SOCKET WSAAPI WSASocketA(
    int family, int type, int protocol, LPWSAPROTOCOL_INFOA info, GROUP group, DWORD flags);
WINOBJ_API SOCKET WSAAPI WSASocketW(
    int family, int type, int protocol, LPWSAPROTOCOL_INFOW info, GROUP group, DWORD flags);
#define WSASocket WINCOMPAT_AW(WSASocket)
WINOBJ_API int WSAAPI WSAIoctl(SOCKET socket, DWORD code, LPVOID in, DWORD in_bytes, LPVOID out,
    DWORD out_bytes, LPDWORD returned, LPWSAOVERLAPPED overlapped,
    LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);

WINOBJ_API int WSAAPI WSAProviderConfigChange(
    LPHANDLE handle, LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);

WINOBJ_API int WSAAPI WSASend(SOCKET socket, LPWSABUF buffers, DWORD count, LPDWORD sent,
    DWORD flags, LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);
WINOBJ_API int WSAAPI WSASendTo(SOCKET socket, LPWSABUF buffers, DWORD count, LPDWORD sent,
    DWORD flags, const struct sockaddr *to, int to_length, LPWSAOVERLAPPED overlapped,
    LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);
WINOBJ_API int WSAAPI WSARecv(SOCKET socket, LPWSABUF buffers, DWORD count, LPDWORD received,
    LPDWORD flags, LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);
WINOBJ_API int WSAAPI WSARecvFrom(SOCKET socket, LPWSABUF buffers, DWORD count, LPDWORD received,
    LPDWORD flags, struct sockaddr *from, LPINT from_length, LPWSAOVERLAPPED overlapped,
    LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);
/* A datagram with ancillary data, for WSASendMsg and WSARecvMsg (mswsock.h). */
typedef struct _WSAMSG {
    LPSOCKADDR name;
    INT namelen;
    LPWSABUF lpBuffers;
    ULONG dwBufferCount;
    WSABUF Control;
    ULONG dwFlags;
} WSAMSG, *PWSAMSG, *LPWSAMSG;
WINOBJ_API int WSAAPI WSASendMsg(SOCKET socket, LPWSAMSG message, DWORD flags, LPDWORD sent,
    LPWSAOVERLAPPED overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine);

WINOBJ_API BOOL WSAAPI WSAGetOverlappedResult(
    SOCKET socket, LPWSAOVERLAPPED overlapped, LPDWORD bytes, BOOL wait, LPDWORD flags);

/* The argument is a u_long on Windows; here it may point to an integer of any width. */
WINOBJ_API int WSAAPI wincompat_ioctlsocket(
    SOCKET socket, long command, void *argument, size_t bytes);
#define ioctlsocket(socket, command, argument)                                                     \
    wincompat_ioctlsocket((socket), (long)(command), (argument), sizeof(*(argument)))

/* Windows' options have Windows' types; the others are Linux' own. */
WINOBJ_API int WSAAPI wincompat_setsockopt(
    SOCKET socket, int level, int option, const void *value, int bytes);
#ifndef NDSPI_NO_CRT
#define setsockopt(...) wincompat_setsockopt(__VA_ARGS__)
#endif

/* As on Windows it ignores the first argument and leaves the timeout unchanged. */
WINOBJ_API int WSAAPI wincompat_select(
    int ignored, fd_set *readable, fd_set *writable, fd_set *failed, const struct timeval *timeout);
#ifndef NDSPI_NO_CRT
#define select(...) wincompat_select(__VA_ARGS__)
#endif
/* FD_ISSET as a function. */
WINOBJ_API int PASCAL __WSAFDIsSet(SOCKET socket, fd_set *set);

WINCOMPAT_END

#include <wincompat/socket_lengths.h>

#endif
