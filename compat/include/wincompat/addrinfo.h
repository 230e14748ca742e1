/* SPDX-License-Identifier: MIT */
/*
 * addrinfo.h - addresses by names of hosts. The flags and the narrow structure are Linux' own; the functions are
 * libwinobj's (socket_calls.h), whose codes are Winsock's, also under the names EAI_*. With NDSPI_NO_CRT getaddrinfo,
 * getnameinfo, gai_strerror and the codes are Linux' own.
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

#if !defined(NDSPI_NO_CRT) && defined(AI_PASSIVE) /* <netdb.h> has none of it with -std=c11 */
#undef EAI_AGAIN
#undef EAI_BADFLAGS
#undef EAI_FAIL
#undef EAI_FAMILY
#undef EAI_MEMORY
#undef EAI_NODATA
#undef EAI_NONAME
#undef EAI_SERVICE
#undef EAI_SOCKTYPE
#define EAI_AGAIN    WSATRY_AGAIN
#define EAI_BADFLAGS WSAEINVAL
#define EAI_FAIL     WSANO_RECOVERY
#define EAI_FAMILY   WSAEAFNOSUPPORT
#define EAI_MEMORY   WSA_NOT_ENOUGH_MEMORY
#define EAI_NODATA   WSANO_DATA
#define EAI_NONAME   WSAHOST_NOT_FOUND
#define EAI_SERVICE  WSATYPE_NOT_FOUND
#define EAI_SOCKTYPE WSAESOCKTNOSUPPORT

#ifdef __clang__
#pragma redefine_extname getaddrinfo wincompat_getaddrinfo
#pragma redefine_extname getnameinfo wincompat_getnameinfo
#else
#ifdef __cplusplus
extern "C" {
#endif
extern __typeof__(getaddrinfo) getaddrinfo __asm__("wincompat_getaddrinfo");
extern __typeof__(getnameinfo) getnameinfo __asm__("wincompat_getnameinfo");
#ifdef __cplusplus
}
#endif
#endif
#endif

#define GAI_STRERROR_BUFFER_SIZE 1024

#define GetAddrInfoA  getaddrinfo
#define FreeAddrInfoA freeaddrinfo
#define GetNameInfoA  getnameinfo

WINCOMPAT_BEGIN

WINOBJ_API INT WSAAPI GetAddrInfoW(PCWSTR node, PCWSTR service, const ADDRINFOW *hints,
    PADDRINFOW *result) WINCOMPAT_WIDE("GetAddrInfoW");
WINOBJ_API void WSAAPI FreeAddrInfoW(PADDRINFOW first) WINCOMPAT_WIDE("FreeAddrInfoW");
WINOBJ_API INT WSAAPI GetNameInfoW(const SOCKADDR *address, socklen_t address_length, PWCHAR node,
    DWORD node_room, PWCHAR service, DWORD service_room, INT flags) WINCOMPAT_WIDE("GetNameInfoW");
WINOBJ_API char *WSAAPI gai_strerrorA(int code);
WINOBJ_API WCHAR *WSAAPI gai_strerrorW(int code) WINCOMPAT_WIDE("gai_strerrorW");
#ifndef NDSPI_NO_CRT
#define gai_strerror WINCOMPAT_AW(gai_strerror)
#endif
#define GetAddrInfo  WINCOMPAT_AW(GetAddrInfo)
#define FreeAddrInfo WINCOMPAT_AW(FreeAddrInfo)
#define GetNameInfo  WINCOMPAT_AW(GetNameInfo)

WINCOMPAT_END

#endif
