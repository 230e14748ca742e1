/* SPDX-License-Identifier: MIT */
/*
 * ws2_32.c - the functions of Winsock by which programs find NetworkDirect providers, as Windows has them; Wine's own
 * functions answer with a fixed catalogue. These add the registered providers (registry.h), which they read at each
 * call, so that an installation takes effect without a restart.
 *
 * Source: Winsock SPI, WSCEnumProtocols, WSCGetProviderPath, WSAProviderConfigChange; SIO_ROUTING_INTERFACE_QUERY.
 */
#include <winsock2.h>
#include <ws2tcpip.h>
#include <windows.h>

#include <ws2spi.h>

#include <ndprovider.h>
#include <ndspi.h>

#include "wine/ws2/registry.h"

#include <stdio.h>

enum { OUR_ENTRIES = 2, SERVICE_FLAGS = 0x8e, PROVIDER_FLAGS = 0x14, PATH_CHARACTERS = 260 };

static const struct {
    const GUID *id;
    const WCHAR *key;
    int version;
} versions[OUR_ENTRIES] = {
    { &CLSID_NDSPI_PROVIDER_V2, ND_REGISTRY_V2, 0x20000 },
    { &CLSID_NDSPI_PROVIDER_V1, ND_REGISTRY_V1, 1 },
};

/* Reads the path of a registered provider. Returns its characters, with the terminating zero; 0: not registered. */
static DWORD read_path(const WCHAR *key, WCHAR path[PATH_CHARACTERS])
{
    DWORD octets = PATH_CHARACTERS * sizeof(WCHAR);

    if (RegGetValueW(HKEY_LOCAL_MACHINE, key, L"Path",
            RRF_RT_REG_SZ | RRF_RT_REG_EXPAND_SZ | RRF_NOEXPAND, NULL, path,
            &octets) != ERROR_SUCCESS)
        return 0;
    return octets / sizeof(WCHAR);
}

static VOID fill_entry(WSAPROTOCOL_INFOW *entry, int number)
{
    static const WCHAR name[] = L"NetworkDirect";

    ZeroMemory(entry, sizeof(*entry));
    entry->dwServiceFlags1 = SERVICE_FLAGS;
    entry->dwProviderFlags = PROVIDER_FLAGS;
    entry->ProviderId = *versions[number].id;
    entry->dwCatalogEntryId = 2001 + (DWORD)number;
    entry->ProtocolChain.ChainLen = BASE_PROTOCOL;
    entry->iVersion = versions[number].version;
    entry->iAddressFamily = AF_INET6;
    entry->iMaxSockAddr = sizeof(struct sockaddr_in6);
    entry->iMinSockAddr = sizeof(struct sockaddr_in);
    entry->iSocketType = -1;
    CopyMemory(entry->szProtocol, name, sizeof(name));
}

/* Whether a list of protocols (NULL: all) asks for our protocol, which is 0. */
static BOOL asked_for(const INT *protocols)
{
    if (!protocols)
        return TRUE;
    for (; *protocols; protocols++)
        ;
    return FALSE; /* 0 ends the list */
}

int WSPAPI nd_WSCEnumProtocols(INT *protocols, WSAPROTOCOL_INFOW *entries, DWORD *size, INT *error)
{
    WCHAR path[PATH_CHARACTERS];
    int numbers[OUR_ENTRIES], ours = 0, count;
    DWORD room, needed = 0;

    for (int i = 0; i < OUR_ENTRIES && asked_for(protocols); i++)
        if (read_path(versions[i].key, path))
            numbers[ours++] = i;
    if (!ours || !size)
        return WSCEnumProtocols(protocols, entries, size, error);
    room = *size;
    /* Wine's entries come first: the room that they need decides where ours begin. */
    count = WSCEnumProtocols(protocols, NULL, &needed, error);
    if (count == SOCKET_ERROR && *error != WSAENOBUFS)
        return SOCKET_ERROR;
    *size = needed + (DWORD)ours * sizeof(*entries);
    if (!entries || room < *size) {
        *error = WSAENOBUFS;
        return SOCKET_ERROR;
    }
    count = WSCEnumProtocols(protocols, entries, &needed, error);
    if (count == SOCKET_ERROR)
        return SOCKET_ERROR;
    for (int i = 0; i < ours; i++)
        fill_entry(&entries[count++], numbers[i]);
    return count;
}

int WSPAPI nd_WSCGetProviderPath(GUID *id, WCHAR *path, INT *length, INT *error)
{
    WCHAR found[PATH_CHARACTERS];
    DWORD characters = 0;

    for (int i = 0; id && i < OUR_ENTRIES; i++)
        if (IsEqualGUID(id, versions[i].id))
            characters = read_path(versions[i].key, found);
    if (!characters)
        return WSCGetProviderPath(id, path, length, error);
    if (!path || !length || *length < (INT)characters) {
        if (length)
            *length = (INT)characters;
        *error = WSAEFAULT;
        return SOCKET_ERROR;
    }
    CopyMemory(path, found, characters * sizeof(WCHAR));
    *length = (INT)characters;
    return 0;
}

/* ---- changes ---- */

/*
 * The handle is a pipe with a pending request that waits for a connection: the request ends in the program's event or
 * port, or when the handle is closed. A change of the registry connects the pipe. Changes from before the call are not
 * reported: a program reads the catalogue after it has asked for changes.
 */
struct watch {
    HKEY key;
    HANDLE event, wait;
    WCHAR pipe[64];
};

static VOID end_watch(struct watch *watch)
{
    if (watch->key)
        RegCloseKey(watch->key);
    if (watch->event)
        CloseHandle(watch->event);
    HeapFree(GetProcessHeap(), 0, watch);
}

static VOID CALLBACK registry_changed(VOID *context, BOOLEAN timed_out)
{
    struct watch *watch = context;
    HANDLE client = CreateFileW(watch->pipe, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);

    (void)timed_out;
    if (client != INVALID_HANDLE_VALUE)
        CloseHandle(client);
    UnregisterWait(watch->wait);
    end_watch(watch);
}

static BOOL begin_watch(const WCHAR *pipe)
{
    struct watch *watch = HeapAlloc(GetProcessHeap(), HEAP_ZERO_MEMORY, sizeof(*watch));

    if (!watch)
        return FALSE;
    lstrcpyW(watch->pipe, pipe);
    if (RegCreateKeyExW(HKEY_LOCAL_MACHINE, ND_REGISTRY, 0, NULL, 0, KEY_NOTIFY, NULL, &watch->key,
            NULL) == ERROR_SUCCESS &&
        (watch->event = CreateEventW(NULL, FALSE, FALSE, NULL)) &&
        RegNotifyChangeKeyValue(watch->key, TRUE,
            REG_NOTIFY_CHANGE_NAME | REG_NOTIFY_CHANGE_LAST_SET, watch->event,
            TRUE) == ERROR_SUCCESS &&
        RegisterWaitForSingleObject(
            &watch->wait, watch->event, registry_changed, watch, INFINITE, WT_EXECUTEONLYONCE))
        return TRUE;
    end_watch(watch);
    return FALSE;
}

/*
 * The handles that make_handle has made, with the numbers that name their pipes. The number of a closed handle stays
 * until its value is used again.
 */
static SRWLOCK made_lock = SRWLOCK_INIT;
static struct made {
    struct made *next;
    HANDLE handle;
    LONG number;
} * made_handles;

static VOID pipe_name(WCHAR name[64], LONG number)
{
    _snwprintf(name, 64, L"\\\\.\\pipe\\ndspi-catalogue-%lu-%ld", GetCurrentProcessId(), number);
    name[63] = 0;
}

static struct made *find_made_locked(HANDLE handle)
{
    struct made *made = made_handles;

    while (made && made->handle != handle)
        made = made->next;
    return made;
}

/* Makes a pipe and records its number. Returns INVALID_HANDLE_VALUE: no memory. */
static HANDLE make_handle(VOID)
{
    static LONG last;
    HANDLE handle = INVALID_HANDLE_VALUE;
    struct made *made = HeapAlloc(GetProcessHeap(), 0, sizeof(*made)), *old;
    WCHAR name[64];

    if (!made)
        return handle;
    made->number = InterlockedIncrement(&last);
    pipe_name(name, made->number);
    handle = CreateNamedPipeW(
        name, PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE, 1, 0, 0, 0, NULL);
    if (handle == INVALID_HANDLE_VALUE) {
        HeapFree(GetProcessHeap(), 0, made);
        return handle;
    }
    made->handle = handle;
    AcquireSRWLockExclusive(&made_lock);
    if ((old = find_made_locked(handle)))
        old->handle = NULL;
    made->next = made_handles;
    made_handles = made;
    ReleaseSRWLockExclusive(&made_lock);
    return handle;
}

static BOOL name_of(HANDLE handle, WCHAR name[64])
{
    struct made *made;

    AcquireSRWLockShared(&made_lock);
    if ((made = find_made_locked(handle)))
        pipe_name(name, made->number);
    ReleaseSRWLockShared(&made_lock);
    return made != NULL;
}

int WSPAPI nd_WSAProviderConfigChange(
    HANDLE *handle, WSAOVERLAPPED *overlapped, LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    WCHAR name[64];
    HANDLE made = NULL;

    if (!handle || routine) {
        WSASetLastError(handle ? WSAEOPNOTSUPP : WSAEFAULT);
        return SOCKET_ERROR;
    }
    if (!*handle && (made = make_handle()) == INVALID_HANDLE_VALUE) {
        WSASetLastError(WSA_NOT_ENOUGH_MEMORY);
        return SOCKET_ERROR;
    }
    if (made)
        *handle = made;
    if (!overlapped)
        return 0; /* the program asked for the handle only */
    if (!made)
        DisconnectNamedPipe(*handle);
    if (!name_of(*handle, name) || !begin_watch(name)) {
        WSASetLastError(made ? WSA_NOT_ENOUGH_MEMORY : WSA_INVALID_HANDLE);
        return SOCKET_ERROR;
    }
    ConnectNamedPipe(*handle, (OVERLAPPED *)overlapped);
    WSASetLastError(GetLastError() == ERROR_IO_PENDING ? WSA_IO_PENDING : WSA_INVALID_HANDLE);
    return SOCKET_ERROR;
}

/* ---- routes ---- */

/*
 * Finds the address from which the stack sends to another: connects a UDP socket, which sends nothing, and reads its
 * local address.
 */
static int route(const VOID *in, DWORD in_octets, VOID *out, DWORD out_octets, DWORD *used)
{
    struct sockaddr_storage to = { 0 };
    int octets = sizeof(to), error = 0;
    SOCKET probe;

    if (!in || in_octets < sizeof(struct sockaddr_in) || in_octets > sizeof(to) || !out)
        return WSAEFAULT;
    CopyMemory(&to, in, in_octets);
    ((struct sockaddr_in *)&to)->sin_port = 0x0900; /* any port does, but 0 */
    probe = socket(to.ss_family, SOCK_DGRAM, IPPROTO_UDP);
    if (probe == INVALID_SOCKET)
        return WSAGetLastError();
    if (connect(probe, (struct sockaddr *)&to, (int)in_octets) ||
        getsockname(probe, (struct sockaddr *)&to, &octets))
        error = WSAGetLastError();
    closesocket(probe);
    if (error)
        return error;
    *used = (DWORD)octets;
    if (out_octets < *used)
        return WSAEFAULT;
    ((struct sockaddr_in *)&to)->sin_port = 0;
    CopyMemory(out, &to, *used);
    return 0;
}

int WSAAPI nd_WSAIoctl(SOCKET socket, DWORD code, VOID *in, DWORD in_octets, VOID *out,
    DWORD out_octets, DWORD *returned, WSAOVERLAPPED *overlapped,
    LPWSAOVERLAPPED_COMPLETION_ROUTINE routine)
{
    DWORD used = 0;
    int error;

    if (code != SIO_ROUTING_INTERFACE_QUERY || overlapped || !returned)
        return WSAIoctl(
            socket, code, in, in_octets, out, out_octets, returned, overlapped, routine);
    error = route(in, in_octets, out, out_octets, &used);
    *returned = used;
    WSASetLastError(error);
    return error ? SOCKET_ERROR : 0;
}
