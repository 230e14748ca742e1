/* SPDX-License-Identifier: MIT */
/*
 * addrinfo.h - addresses by names of hosts. getaddrinfo, its flags and its codes are Linux' own, and so is the narrow
 * structure; the wide functions answer with Winsock's codes.
 */
#ifndef WINCOMPAT_ADDRINFO_H
#define WINCOMPAT_ADDRINFO_H

#include <wincompat/winsock.h>

#include <netdb.h>

typedef struct addrinfo ADDRINFOA, *PADDRINFOA;
typedef ADDRINFOA ADDRINFO, *LPADDRINFO;
typedef struct addrinfoW {
    int ai_flags;
    int ai_family;
    int ai_socktype;
    int ai_protocol;
    size_t ai_addrlen;
    PWSTR ai_canonname;
    struct sockaddr *ai_addr;
    struct addrinfoW *ai_next;
} ADDRINFOW, *PADDRINFOW;

#ifdef UNICODE
typedef ADDRINFOW ADDRINFOT, *PADDRINFOT;
#else
typedef ADDRINFOA ADDRINFOT, *PADDRINFOT;
#endif

C_ASSERT(sizeof(ADDRINFOW) == 48);

#define GetAddrInfoA  getaddrinfo
#define FreeAddrInfoA freeaddrinfo
#define GetNameInfoA  getnameinfo

WINCOMPAT_BEGIN

WINOBJ_API INT WSAAPI GetAddrInfoW(PCWSTR node, PCWSTR service, const ADDRINFOW *hints,
    PADDRINFOW *result) WINCOMPAT_WIDE("GetAddrInfoW");
WINOBJ_API void WSAAPI FreeAddrInfoW(PADDRINFOW first) WINCOMPAT_WIDE("FreeAddrInfoW");
WINOBJ_API INT WSAAPI GetNameInfoW(const SOCKADDR *address, socklen_t address_length, PWCHAR node,
    DWORD node_room, PWCHAR service, DWORD service_room, INT flags) WINCOMPAT_WIDE("GetNameInfoW");
#define GetAddrInfo  WINCOMPAT_AW(GetAddrInfo)
#define FreeAddrInfo WINCOMPAT_AW(FreeAddrInfo)
#define GetNameInfo  WINCOMPAT_AW(GetNameInfo)

WINCOMPAT_END

#endif
