/* SPDX-License-Identifier: MIT */
/*
 * address_wide.c - the wide forms of the address functions, over the narrow ones. Compiled for each width of
 * wchar_t, under the names that <wincompat/winsock.h> gives them.
 */
#include <mstcpip.h>
#include <winsock2.h>

enum { TEXT_MAX = 128 }; /* longer than any address */

/* Replaces characters outside ASCII, and cuts text that is too long: the result is no address either. */
static void narrow_copy(char narrow[TEXT_MAX + 1], const WCHAR *text)
{
    size_t i = 0;

    for (; text[i] && i < TEXT_MAX; i++)
        narrow[i] = text[i] > 0 && text[i] < 0x80 ? (char)text[i] : '?';
    narrow[i] = 0;
}

INT WSAAPI WSAStringToAddressW(
    LPWSTR text, INT family, LPWSAPROTOCOL_INFOW protocol, LPSOCKADDR address, LPINT address_length)
{
    char narrow[TEXT_MAX + 1];

    if (!text)
        return WSAStringToAddressA(
            NULL, family, (LPWSAPROTOCOL_INFOA)protocol, address, address_length);
    narrow_copy(narrow, text);
    return WSAStringToAddressA(
        narrow, family, (LPWSAPROTOCOL_INFOA)protocol, address, address_length);
}

LONG NTAPI RtlIpv4StringToAddressW(
    PCWSTR text, BOOLEAN strict, PCWSTR *end, struct in_addr *address)
{
    char narrow[TEXT_MAX + 1];
    PCSTR narrow_end;
    LONG status;

    narrow_copy(narrow, text);
    status = RtlIpv4StringToAddressA(narrow, strict, &narrow_end, address);
    *end = text + (narrow_end - narrow);
    return status;
}

LONG NTAPI RtlIpv4StringToAddressExW(
    PCWSTR text, BOOLEAN strict, struct in_addr *address, PUSHORT port)
{
    char narrow[TEXT_MAX + 1];

    if (text)
        narrow_copy(narrow, text);
    return RtlIpv4StringToAddressExA(text ? narrow : NULL, strict, address, port);
}

LONG NTAPI RtlIpv6StringToAddressW(PCWSTR text, PCWSTR *end, struct in6_addr *address)
{
    char narrow[TEXT_MAX + 1];
    PCSTR narrow_end;
    LONG status;

    narrow_copy(narrow, text);
    status = RtlIpv6StringToAddressA(narrow, &narrow_end, address);
    *end = text + (narrow_end - narrow);
    return status;
}

LONG NTAPI RtlIpv6StringToAddressExW(
    PCWSTR text, struct in6_addr *address, PULONG scope, PUSHORT port)
{
    char narrow[TEXT_MAX + 1];

    if (text)
        narrow_copy(narrow, text);
    return RtlIpv6StringToAddressExA(text ? narrow : NULL, address, scope, port);
}

/* Where the wide text ends. */
static PWSTR wide_copy(PWSTR text, const char *narrow)
{
    while ((*text = (WCHAR)*narrow++))
        text++;
    return text;
}

PWSTR NTAPI RtlIpv4AddressToStringW(const struct in_addr *address, PWSTR text)
{
    char narrow[TEXT_MAX];

    RtlIpv4AddressToStringA(address, narrow);
    return wide_copy(text, narrow);
}

PWSTR NTAPI RtlIpv6AddressToStringW(const struct in6_addr *address, PWSTR text)
{
    char narrow[TEXT_MAX];

    RtlIpv6AddressToStringA(address, narrow);
    return wide_copy(text, narrow);
}

static LONG wide_result(LONG status, PWSTR text, const char *narrow)
{
    if (!status)
        wide_copy(text, narrow);
    return status;
}

LONG NTAPI RtlIpv4AddressToStringExW(
    const struct in_addr *address, USHORT port, PWSTR text, PULONG length)
{
    char narrow[TEXT_MAX];

    if (length && *length > TEXT_MAX)
        *length = TEXT_MAX;
    return wide_result(
        RtlIpv4AddressToStringExA(address, port, text ? narrow : NULL, length), text, narrow);
}

LONG NTAPI RtlIpv6AddressToStringExW(
    const struct in6_addr *address, ULONG scope, USHORT port, PWSTR text, PULONG length)
{
    char narrow[TEXT_MAX];

    if (length && *length > TEXT_MAX)
        *length = TEXT_MAX;
    return wide_result(
        RtlIpv6AddressToStringExA(address, scope, port, text ? narrow : NULL, length), text,
        narrow);
}

INT WSAAPI WSAAddressToStringW(LPSOCKADDR address, DWORD address_length,
    LPWSAPROTOCOL_INFOW protocol, LPWSTR text, LPDWORD text_length)
{
    char narrow[TEXT_MAX];
    DWORD room, need = sizeof(narrow);

    if (WSAAddressToStringA(address, address_length, (LPWSAPROTOCOL_INFOA)protocol, narrow,
            text_length ? &need : NULL))
        return SOCKET_ERROR;
    room = *text_length;
    *text_length = need;
    if (!text || room < need) {
        WSASetLastError(WSAEFAULT);
        return SOCKET_ERROR;
    }
    for (DWORD i = 0; i < need; i++)
        text[i] = (WCHAR)narrow[i];
    return 0;
}

INT WSAAPI InetPtonW(INT family, LPCWSTR text, PVOID address)
{
    char narrow[TEXT_MAX + 1];
    int result;

    if (!text || !address) {
        WSASetLastError(WSAEFAULT);
        return -1;
    }
    narrow_copy(narrow, text);
    if ((result = inet_pton(family, narrow, address)) < 0)
        WSASetLastError(WSAEAFNOSUPPORT);
    return result;
}

/* InetNtopW - NULL with WSAEAFNOSUPPORT, or ERROR_INVALID_PARAMETER (NULL, or too little room). */
LPCWSTR WSAAPI InetNtopW(INT family, const VOID *address, LPWSTR text, size_t room)
{
    char narrow[TEXT_MAX];

    if (family != AF_INET && family != AF_INET6) {
        WSASetLastError(WSAEAFNOSUPPORT);
        return NULL;
    }
    if (!text || !address || !inet_ntop(family, address, narrow, sizeof(narrow)) ||
        strlen(narrow) >= room) {
        WSASetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    for (size_t i = 0; i <= strlen(narrow); i++)
        text[i] = (WCHAR)narrow[i];
    return text;
}
