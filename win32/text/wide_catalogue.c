/* SPDX-License-Identifier: MIT */
/* wide_catalogue.c - the Winsock catalogue as programs read it, for both widths of wchar_t as wide.c is. */
#include "win32/sockets/catalogue.h"

#include <ws2spi.h>

#include <netinet/in.h>
#include <string.h>
#include <wchar.h>

enum {
    SERVICE_FLAGS =
        XP1_GUARANTEED_DELIVERY | XP1_GUARANTEED_ORDER | XP1_MESSAGE_ORIENTED | XP1_CONNECT_DATA,
    PROVIDER_FLAGS = PFL_HIDDEN | PFL_NETWORKDIRECT_PROVIDER,
    FIRST_ID = 2001,
    PATH_MOST = 4096,
};

static void fill(WSAPROTOCOL_INFOW *entry, DWORD number)
{
    static const WCHAR name[] = L"NetworkDirect";

    memset(entry, 0, sizeof(*entry));
    entry->dwServiceFlags1 = SERVICE_FLAGS;
    entry->dwProviderFlags = PROVIDER_FLAGS;
    entry->ProviderId = win_catalogue[number].id;
    entry->dwCatalogEntryId = FIRST_ID + number;
    entry->ProtocolChain.ChainLen = BASE_PROTOCOL;
    entry->iVersion = win_catalogue[number].version;
    entry->iAddressFamily = AF_INET6;
    entry->iMaxSockAddr = sizeof(struct sockaddr_in6);
    entry->iMinSockAddr = sizeof(struct sockaddr_in);
    entry->iSocketType = -1;
    memcpy(entry->szProtocol, name, sizeof(name));
}

static int fail(LPINT out, int error)
{
    if (out)
        *out = error;
    return SOCKET_ERROR;
}

/*
 * WSCEnumProtocols - the entries of the catalogue: the NetworkDirect provider of version 2, and that of version 1, if
 * libndspi is installed beside this library. Linux' own protocols have no entries.
 * protocols  in: NULL, or the protocols that are asked for, with a 0 at the end; the providers have none of them
 * entries    out; may be NULL if size is 0. Its iAddressFamily is AF_INET6 (10 here): it serves both families
 * size       in and out: of entries, in octets; needed, if it was too small
 * error      out: WSAENOBUFS (too small), WSAEFAULT (size is NULL, entries is NULL but not of size 0); may be NULL
 * Returns    their number, or SOCKET_ERROR. Any thread; WSAStartup is not needed.
 * Source: WSCEnumProtocols function (ws2spi.h).
 */
int WSPAPI WSCEnumProtocols(LPINT protocols, LPWSAPROTOCOL_INFOW entries, LPDWORD size, LPINT error)
{
    char path[PATH_MOST];
    DWORD count = 0, needed, room;

    if (!size)
        return fail(error, WSAEFAULT);
    if (!protocols && win_catalogue_path(path, sizeof(path)))
        count = WIN_CATALOGUE_ENTRIES;
    room = *size;
    needed = count * (DWORD)sizeof(*entries);
    if (room < needed) {
        *size = needed;
        return fail(error, WSAENOBUFS);
    }
    if (needed && !entries)
        return fail(error, WSAEFAULT);
    for (DWORD i = 0; i < count; i++)
        fill(&entries[i], i);
    return (int)count;
}

/*
 * WSCGetProviderPath - the path of a provider's library, for LoadLibrary.
 * id      in: ProviderId of an entry
 * path    out: a path of Linux, with its end
 * length  in and out: of path, in characters; needed, with the end
 * error   out: WSAEINVAL (no such provider, or it is not installed any more), WSAEFAULT (id, path or length is NULL;
 *         path is too short); may be NULL
 * Returns 0 or SOCKET_ERROR. Any thread; WSAStartup is not needed.
 * Source: WSCGetProviderPath function (ws2spi.h).
 */
int WSPAPI WSCGetProviderPath(LPGUID id, WCHAR *path, LPINT length, LPINT error)
{
    char narrow[PATH_MOST];
    bool known = false;
    int needed, room;

    if (!id || !length)
        return fail(error, WSAEFAULT);
    for (int i = 0; i < WIN_CATALOGUE_ENTRIES; i++)
        known |= !memcmp(id, &win_catalogue[i].id, sizeof(*id));
    if (!known || !win_catalogue_path(narrow, sizeof(narrow)))
        return fail(error, WSAEINVAL);
    needed = MultiByteToWideChar(CP_UTF8, 0, narrow, -1, NULL, 0);
    room = *length;
    *length = needed;
    if (!path || room < needed)
        return fail(error, WSAEFAULT);
    MultiByteToWideChar(CP_UTF8, 0, narrow, -1, path, needed);
    return 0;
}
