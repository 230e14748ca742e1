/* SPDX-License-Identifier: MIT */
/*
 * addrinfo.c - addresses of hosts by Linux' names, with Winsock's codes: getaddrinfo, getnameinfo. The flags and
 * the structure are Linux'.
 */
#include "win32/sockets/calls.h"

#include "win32/sockets/winsock.h"

#include <errno.h>
#include <netdb.h>
#include <ws2tcpip.h>

/* Winsock's code for one of Linux', which becomes the last error. */
static int answer(int error)
{
    int code = WSANO_RECOVERY;

    switch (error) {
    case 0: return 0;
    case EAI_AGAIN: code = WSATRY_AGAIN; break;
    case EAI_BADFLAGS: code = WSAEINVAL; break;
    case EAI_FAMILY: code = WSAEAFNOSUPPORT; break;
    case EAI_MEMORY: code = WSA_NOT_ENOUGH_MEMORY; break;
    case EAI_NONAME:
#ifdef EAI_NODATA
    case EAI_NODATA:
#endif
        code = WSAHOST_NOT_FOUND;
        break;
    case EAI_OVERFLOW: code = ERROR_INSUFFICIENT_BUFFER; break;
    case EAI_SERVICE: code = WSATYPE_NOT_FOUND; break;
    case EAI_SOCKTYPE: code = WSAESOCKTNOSUPPORT; break;
    case EAI_SYSTEM: win_winsock_fail_errno(); return WSAGetLastError();
    default: break;
    }
    win_winsock_fail((DWORD)code);
    return code;
}

/*
 * getaddrinfo - the addresses of a host and a service, after WSAStartup.
 * node     its name, or an address as text; NULL: this host's
 * service  its name, or a port as text; NULL: none. Not both of them NULL
 * hints    AI_* flags (Linux' values), family, type and protocol that are wanted; NULL: any
 * result   out: a list for freeaddrinfo; NULL after a failure
 * Returns  0, or a code, which is the last error, too: WSAHOST_NOT_FOUND, WSATRY_AGAIN, WSANO_RECOVERY,
 *          WSATYPE_NOT_FOUND (the service), WSAEINVAL (flags), WSAEAFNOSUPPORT, WSAESOCKTNOSUPPORT,
 *          WSA_NOT_ENOUGH_MEMORY, WSANOTINITIALISED. May block.
 * Threads  any
 * Source   getaddrinfo function (ws2tcpip.h)
 */
int wincompat_getaddrinfo(
    const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
    int error;

    *result = NULL;
    if (!win_winsock_started())
        return WSANOTINITIALISED;
    if ((error = getaddrinfo(node, service, hints, result)))
        *result = NULL;
    else
        WSASetLastError(0);
    return answer(error);
}

/*
 * getnameinfo - the names of a host and a service, or their numbers as text, after WSAStartup.
 * host, service  out: each may be NULL
 * rooms          of them, in octets
 * flags          NI_* (Linux' values)
 * Returns        0, or a code as getaddrinfo; ERROR_INSUFFICIENT_BUFFER: one has no room
 * Threads        any
 * Source         getnameinfo function (ws2tcpip.h)
 */
int wincompat_getnameinfo(const struct sockaddr *address, socklen_t length, char *host,
    socklen_t host_room, char *service, socklen_t service_room, int flags)
{
    if (!win_winsock_started())
        return WSANOTINITIALISED;
    return answer(getnameinfo(address, length, host, host_room, service, service_room, flags));
}
