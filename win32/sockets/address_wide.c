/* SPDX-License-Identifier: MIT */
/*
 * address_wide.c - the wide forms of the address functions, over the narrow ones. Compiled for each width of
 * wchar_t, under the names that <wincompat/winsock.h> gives them.
 */
#include "compat/crt/ip_text.h"

#include <winsock2.h>

INT WSAAPI WSAStringToAddressW(
    LPWSTR text, INT family, LPWSAPROTOCOL_INFOW protocol, LPSOCKADDR address, LPINT address_length)
{
    char narrow[WIN_IP_TEXT_MOST + 1];

    if (!text)
        return WSAStringToAddressA(
            NULL, family, (LPWSAPROTOCOL_INFOA)protocol, address, address_length);
    win_ip_narrow(narrow, text);
    return WSAStringToAddressA(
        narrow, family, (LPWSAPROTOCOL_INFOA)protocol, address, address_length);
}

INT WSAAPI WSAAddressToStringW(LPSOCKADDR address, DWORD address_length,
    LPWSAPROTOCOL_INFOW protocol, LPWSTR text, LPDWORD text_length)
{
    char narrow[WIN_IP_TEXT_MOST];
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
    char narrow[WIN_IP_TEXT_MOST + 1];
    int result;

    if (!text || !address) {
        WSASetLastError(WSAEFAULT);
        return -1;
    }
    win_ip_narrow(narrow, text);
    if ((result = inet_pton(family, narrow, address)) < 0)
        WSASetLastError(WSAEAFNOSUPPORT);
    return result;
}

/* InetNtopW - NULL with WSAEAFNOSUPPORT, or ERROR_INVALID_PARAMETER (NULL, or too little room). */
LPCWSTR WSAAPI InetNtopW(INT family, const VOID *address, LPWSTR text, size_t room)
{
    char narrow[WIN_IP_TEXT_MOST];

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
