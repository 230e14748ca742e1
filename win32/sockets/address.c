/* SPDX-License-Identifier: MIT */
/*
 * address.c - socket addresses to and from text: "a.b.c.d", "a.b.c.d:port", "v6", "v6%scope", "[v6%scope]:port".
 */
#include "win32/sockets/calls.h"

#include "win32/sockets/winsock.h"

#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 128 }; /* longer than any address */

/* A whole decimal number up to limit. */
static bool number_parse(const char *text, unsigned long limit, unsigned long *value)
{
    char *end;

    if (*text < '0' || *text > '9')
        return false;
    *value = strtoul(text, &end, 10);
    return !*end && *value <= limit;
}

static bool ipv4_parse(char *text, struct sockaddr_in *address)
{
    char *colon = strchr(text, ':');
    unsigned long port = 0;

    if (colon) {
        *colon = 0;
        if (!number_parse(colon + 1, 0xffff, &port))
            return false;
    }
    /* inet_aton has Windows' older forms as well (fewer parts, octal, hexadecimal), but allows trailing blanks. */
    if (text[strspn(text, "0123456789abcdefABCDEFxX.")] || !inet_aton(text, &address->sin_addr))
        return false;
    address->sin_family = AF_INET;
    address->sin_port = htons((uint16_t)port);
    return true;
}

static bool scope_parse(const char *text, uint32_t *scope)
{
    unsigned long value;

    if (number_parse(text, UINT32_MAX, &value))
        *scope = (uint32_t)value;
    else
        *scope = if_nametoindex(text);
    return *scope != 0;
}

static bool ipv6_parse(char *text, struct sockaddr_in6 *address)
{
    char *percent, *end;
    unsigned long port = 0;

    if (*text == '[') {
        if (!(end = strchr(++text, ']')))
            return false;
        *end++ = 0;
        if (*end && (*end != ':' || !number_parse(end + 1, 0xffff, &port)))
            return false;
    }
    if ((percent = strchr(text, '%'))) {
        *percent = 0;
        if (!scope_parse(percent + 1, &address->sin6_scope_id))
            return false;
    }
    if (inet_pton(AF_INET6, text, &address->sin6_addr) != 1)
        return false;
    address->sin6_family = AF_INET6;
    address->sin6_port = htons((uint16_t)port);
    return true;
}

/*
 * WSAStringToAddressA, WSAStringToAddressW - text to socket address.
 * family          AF_INET or AF_INET6 (Linux' value)
 * protocol        must be NULL: there is one way only
 * address         out: all zero when the text is no address
 * address_length  in: bytes there; out: bytes needed or used
 * Returns         0, or SOCKET_ERROR with WSANOTINITIALISED, WSAEFAULT (too short), WSAEINVAL (no address of that
 *                 family, another family, a protocol, a NULL pointer).
 */
INT WSAAPI WSAStringToAddressA(
    LPSTR text, INT family, LPWSAPROTOCOL_INFOA protocol, LPSOCKADDR address, LPINT address_length)
{
    union {
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } parsed;
    INT length = family == AF_INET6 ? (INT)sizeof(parsed.v6) : (INT)sizeof(parsed.v4);
    char copy[TEXT_MAX];
    bool good;

    if (!win_winsock_started())
        return SOCKET_ERROR;
    if (!text || !address || !address_length || protocol ||
        (family != AF_INET && family != AF_INET6))
        return win_winsock_fail(WSAEINVAL);
    if (*address_length < length) {
        *address_length = length;
        return win_winsock_fail(WSAEFAULT);
    }
    memset(&parsed, 0, sizeof(parsed));
    memset(address, 0, (size_t)length);
    good = strlen(text) < sizeof(copy);
    if (good) {
        strcpy(copy, text);
        good = family == AF_INET ? ipv4_parse(copy, &parsed.v4) : ipv6_parse(copy, &parsed.v6);
    }
    if (!good)
        return win_winsock_fail(WSAEINVAL);
    memcpy(address, &parsed, (size_t)length);
    *address_length = length;
    return 0;
}

/* Writes the text; its length without the end, 0 for a family unknown. */
static size_t address_format(const struct sockaddr *address, char text[TEXT_MAX])
{
    char host[INET6_ADDRSTRLEN], scope[16] = "";

    if (address->sa_family == AF_INET) {
        struct sockaddr_in v4;

        memcpy(&v4, address, sizeof(v4));
        inet_ntop(AF_INET, &v4.sin_addr, host, sizeof(host));
        if (!v4.sin_port)
            return (size_t)snprintf(text, TEXT_MAX, "%s", host);
        return (size_t)snprintf(text, TEXT_MAX, "%s:%u", host, ntohs(v4.sin_port));
    } else {
        struct sockaddr_in6 v6;

        memcpy(&v6, address, sizeof(v6));
        inet_ntop(AF_INET6, &v6.sin6_addr, host, sizeof(host));
        if (v6.sin6_scope_id)
            snprintf(scope, sizeof(scope), "%%%u", v6.sin6_scope_id);
        if (!v6.sin6_port)
            return (size_t)snprintf(text, TEXT_MAX, "%s%s", host, scope);
        return (size_t)snprintf(text, TEXT_MAX, "[%s%s]:%u", host, scope, ntohs(v6.sin6_port));
    }
}

static INT address_check(const struct sockaddr *address, DWORD address_length, const void *protocol)
{
    DWORD least;

    if (!win_winsock_started())
        return SOCKET_ERROR;
    if (!address || address_length < sizeof(address->sa_family))
        return win_winsock_fail(WSAEFAULT);
    if (protocol || (address->sa_family != AF_INET && address->sa_family != AF_INET6))
        return win_winsock_fail(WSAEINVAL);
    least =
        address->sa_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
    return address_length < least ? win_winsock_fail(WSAEFAULT) : 0;
}

/*
 * WSAAddressToStringA, WSAAddressToStringW - socket address to text; with the port where it is not 0.
 * text_length  in: characters there; out: needed or used, with the end
 * Returns      0, or SOCKET_ERROR with WSANOTINITIALISED, WSAEFAULT (a NULL pointer, too short), WSAEINVAL (another
 *              family, a protocol).
 */
INT WSAAPI WSAAddressToStringA(LPSOCKADDR address, DWORD address_length,
    LPWSAPROTOCOL_INFOA protocol, LPSTR text, LPDWORD text_length)
{
    char full[TEXT_MAX];
    DWORD need, room;

    if (address_check(address, address_length, protocol))
        return SOCKET_ERROR;
    if (!text_length)
        return win_winsock_fail(WSAEFAULT);
    need = (DWORD)address_format(address, full) + 1;
    room = *text_length;
    *text_length = need;
    if (!text || room < need)
        return win_winsock_fail(WSAEFAULT);
    memcpy(text, full, need);
    return 0;
}

/*
 * inet_pton - Linux' own; needs no WSAStartup. 1, 0: the text is no address; both leave the last error. -1 with
 * WSAEFAULT (a NULL pointer), WSAEAFNOSUPPORT. Any thread.
 */
int wincompat_inet_pton(int family, const char *text, void *address)
{
    int result;

    if (!text || !address)
        return win_winsock_fail(WSAEFAULT);
    if ((result = inet_pton(family, text, address)) < 0)
        win_winsock_fail(WSAEAFNOSUPPORT);
    return result;
}

/* inet_ntop - Linux' own. NULL with WSAEAFNOSUPPORT, ERROR_INVALID_PARAMETER (a NULL pointer, too little room). */
const char *wincompat_inet_ntop(int family, const void *address, char *text, socklen_t room)
{
    const char *result = NULL;

    if (family != AF_INET && family != AF_INET6)
        win_winsock_fail(WSAEAFNOSUPPORT);
    else if (!address || !text || !(result = inet_ntop(family, address, text, room)))
        win_winsock_fail(ERROR_INVALID_PARAMETER);
    return result;
}
