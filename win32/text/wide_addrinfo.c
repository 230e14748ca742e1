/* SPDX-License-Identifier: MIT */
/*
 * wide_addrinfo.c - GetAddrInfoW, FreeAddrInfoW, GetNameInfoW, gai_strerrorW, over the narrow functions. Compiled for
 * each width of wchar_t.
 */
#include "win32/text/wide_text.h"

#include "win32/sockets/calls.h"

#include <ws2tcpip.h>

static INT fail(INT code)
{
    WSASetLastError(code);
    return code;
}

/* A wide copy of one entry, with its address and its name behind it. */
static ADDRINFOW *copy(const struct addrinfo *from)
{
    const size_t name = from->ai_canonname ? wide_widen(NULL, 0, from->ai_canonname) + 1u : 0;
    const size_t address = (from->ai_addrlen + sizeof(WCHAR) - 1) / sizeof(WCHAR) * sizeof(WCHAR);
    ADDRINFOW *to = calloc(1, sizeof(*to) + address + name * sizeof(WCHAR));

    if (!to)
        return NULL;
    to->ai_flags = from->ai_flags;
    to->ai_family = from->ai_family;
    to->ai_socktype = from->ai_socktype;
    to->ai_protocol = from->ai_protocol;
    to->ai_addrlen = from->ai_addrlen;
    to->ai_addr = (struct sockaddr *)(to + 1);
    memcpy(to->ai_addr, from->ai_addr, from->ai_addrlen);
    if (name) {
        to->ai_canonname = (PWSTR)((char *)(to + 1) + address);
        wide_widen(to->ai_canonname, (DWORD)name, from->ai_canonname);
    }
    return to;
}

static INT copy_all(const struct addrinfo *from, PADDRINFOW *result)
{
    PADDRINFOW *last = result;

    for (; from; from = from->ai_next, last = &(*last)->ai_next)
        if (!(*last = copy(from))) {
            FreeAddrInfoW(*result);
            *result = NULL;
            return fail(WSA_NOT_ENOUGH_MEMORY);
        }
    return 0;
}

/*
 * GetAddrInfoW - the addresses of a host and a service.
 * node     its name, or an address as text; NULL: this host's
 * service  its name, or a port as text; NULL: none. Not both of them NULL
 * hints    AI_* flags (Linux' values), family, type and protocol that are wanted; NULL: any
 * result   out: a list for FreeAddrInfoW; NULL after a failure
 * Returns  0, or a code, which is the last error, too: WSAHOST_NOT_FOUND, WSATRY_AGAIN, WSANO_RECOVERY,
 *          WSATYPE_NOT_FOUND (the service), WSAEINVAL (flags), WSAEAFNOSUPPORT, WSAESOCKTNOSUPPORT,
 *          WSA_NOT_ENOUGH_MEMORY, WSANOTINITIALISED. May block. Any thread.
 * Source: GetAddrInfoW function (ws2tcpip.h).
 */
INT WSAAPI GetAddrInfoW(PCWSTR node, PCWSTR service, const ADDRINFOW *hints, PADDRINFOW *result)
{
    struct addrinfo wanted = { 0 }, *found;
    char *host = NULL, *name = NULL;
    INT error = WSA_NOT_ENOUGH_MEMORY;

    *result = NULL;
    if (hints) {
        wanted.ai_flags = hints->ai_flags;
        wanted.ai_family = hints->ai_family;
        wanted.ai_socktype = hints->ai_socktype;
        wanted.ai_protocol = hints->ai_protocol;
    }
    if (wide_narrow(node, &host) && wide_narrow(service, &name))
        error = wincompat_getaddrinfo(host, name, hints ? &wanted : NULL, &found);
    else
        fail(error);
    free(host);
    free(name);
    if (error)
        return error;
    error = copy_all(found, result);
    freeaddrinfo(found);
    return error;
}

/* FreeAddrInfoW - frees a list of GetAddrInfoW; NULL is none. */
void WSAAPI FreeAddrInfoW(PADDRINFOW first)
{
    while (first) {
        PADDRINFOW next = first->ai_next;

        free(first);
        first = next;
    }
}

/* The text of one part; whether it has room. */
static bool put(PWCHAR to, DWORD room, const char *text)
{
    return !to || !room || wide_widen(to, room, text) < room;
}

/*
 * GetNameInfoW - the names of a host and a service, or their numbers as text.
 * node, service  out: each may be NULL
 * rooms          of them, in characters
 * flags          NI_* (Linux' values)
 * Returns        0, or a code as GetAddrInfoW; ERROR_INSUFFICIENT_BUFFER: one has no room.
 * Source: GetNameInfoW function (ws2tcpip.h).
 */
INT WSAAPI GetNameInfoW(const SOCKADDR *address, socklen_t address_length, PWCHAR node,
    DWORD node_room, PWCHAR service, DWORD service_room, INT flags)
{
    char host[1025], name[64]; /* NI_MAXHOST of Windows and Linux, and more than their NI_MAXSERV */
    INT error = wincompat_getnameinfo(address, address_length, node && node_room ? host : NULL,
        node && node_room ? sizeof(host) : 0, service && service_room ? name : NULL,
        service && service_room ? sizeof(name) : 0, flags);

    if (error)
        return error;
    return put(node, node_room, host) && put(service, service_room, name)
               ? 0
               : fail(ERROR_INSUFFICIENT_BUFFER);
}

/* gai_strerrorW - the text of gai_strerrorA, in wide characters. */
WCHAR *WSAAPI gai_strerrorW(int code)
{
    static _Thread_local WCHAR text[GAI_STRERROR_BUFFER_SIZE + 1];

    wide_widen(text, GAI_STRERROR_BUFFER_SIZE + 1, gai_strerrorA(code));
    return text;
}
