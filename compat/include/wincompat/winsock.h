/* SPDX-License-Identifier: MIT */
/* winsock.h - the Winsock functions provided by libwinobj. Sockets themselves are Linux' own. */
#ifndef WINCOMPAT_WINSOCK_H
#define WINCOMPAT_WINSOCK_H

#include <wincompat/socket.h>

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

/* Wide functions exist for both widths of wchar_t; the compiler's option chooses. */
#if __SIZEOF_WCHAR_T__ == 2
#define WINCOMPAT_WIDE(name) __asm__(name "16")
#else
#define WINCOMPAT_WIDE(name)
#endif

/* Only ever passed as NULL here. */
typedef struct _WSAPROTOCOL_INFOA *LPWSAPROTOCOL_INFOA;
typedef struct _WSAPROTOCOL_INFOW *LPWSAPROTOCOL_INFOW;

WINOBJ_API int WSAAPI WSAStartup(WORD version, LPWSADATA data);
WINOBJ_API int WSAAPI WSACleanup(void);
WINOBJ_API int WSAAPI WSAGetLastError(void);
WINOBJ_API void WSAAPI WSASetLastError(int error);

WINOBJ_API int WSAAPI closesocket(SOCKET socket);

WINOBJ_API INT WSAAPI WSAStringToAddressA(
    LPSTR text, INT family, LPWSAPROTOCOL_INFOA protocol, LPSOCKADDR address, LPINT address_length);
WINOBJ_API INT WSAAPI WSAStringToAddressW(
    LPWSTR text, INT family, LPWSAPROTOCOL_INFOW protocol, LPSOCKADDR address, LPINT address_length)
    WINCOMPAT_WIDE("WSAStringToAddressW");
#define WSAStringToAddress WINCOMPAT_AW(WSAStringToAddress)
WINOBJ_API INT WSAAPI WSAAddressToStringA(
    LPSOCKADDR address, DWORD address_length, LPWSAPROTOCOL_INFOA protocol, LPSTR text, LPDWORD text_length);
WINOBJ_API INT WSAAPI WSAAddressToStringW(
    LPSOCKADDR address, DWORD address_length, LPWSAPROTOCOL_INFOW protocol, LPWSTR text, LPDWORD text_length)
    WINCOMPAT_WIDE("WSAAddressToStringW");
#define WSAAddressToString WINCOMPAT_AW(WSAAddressToString)

#define InetPtonA inet_pton
#define InetNtopA inet_ntop

WINCOMPAT_END

#endif
