/* SPDX-License-Identifier: MIT */
/*
 * address_wide.c - the wide forms of the address functions, over the narrow ones. Built twice: once for each width of
 * wchar_t, under the names that <wincompat/winsock.h> gives them.
 */
#include <winsock2.h>

enum { TEXT_MAX = 128 }; /* longer than any address */

INT WSAAPI WSAStringToAddressW(
    LPWSTR text, INT family, LPWSAPROTOCOL_INFOW protocol, LPSOCKADDR address, LPINT address_length)
{
    char narrow[TEXT_MAX + 1];
    size_t i = 0;

    if (!text)
        return WSAStringToAddressA(
            NULL, family, (LPWSAPROTOCOL_INFOA)protocol, address, address_length);
    /* What is not ASCII, or too long, becomes text that is no address either. */
    for (; text[i] && i < TEXT_MAX; i++)
        narrow[i] = text[i] > 0 && text[i] < 0x80 ? (char)text[i] : '?';
    narrow[i] = 0;
    return WSAStringToAddressA(
        narrow, family, (LPWSAPROTOCOL_INFOA)protocol, address, address_length);
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
        SetLastError(WSAEFAULT);
        return SOCKET_ERROR;
    }
    for (DWORD i = 0; i < need; i++)
        text[i] = (WCHAR)narrow[i];
    return 0;
}
