/* SPDX-License-Identifier: MIT */
/*
 * catalogue.c - finding providers on Windows: the Winsock catalogue lists them. Each is a library, loaded at the first
 * call to it, and unloaded when it reports that it has no objects.
 *
 * The list of providers is read anew when the catalogue changed. An entry that is in use (users) stays, as does the
 * library of one that left the catalogue, until it is idle. Providers are loaded and called without the lock, but for
 * DllCanUnloadNow and the unloading itself.
 *
 * Source: Winsock SPI, WSCEnumProtocols, WSCGetProviderPath, WSAProviderConfigChange; DllGetClassObject.
 */
#include "ndspi/helper/catalogue.h"

#include <ndprovider.h>

#include <stdlib.h>

typedef HRESULT(STDAPICALLTYPE *get_class_object)(REFCLSID clsid, REFIID iid, VOID **object);
typedef HRESULT(STDAPICALLTYPE *can_unload_now)(VOID);

struct provider {
    struct provider *next;
    GUID id; /* also the id of its class */
    enum helper_version version;
    bool listed; /* the catalogue has it */
    unsigned users;
    WCHAR path[MAX_PATH];
    HMODULE library; /* NULL: not loaded; the functions belong to it */
    get_class_object get_class_object;
    can_unload_now can_unload_now;
};

static SRWLOCK lock = SRWLOCK_INIT; /* guards everything below */
static unsigned starts;
static struct provider *providers;
static HANDLE change; /* WSAProviderConfigChange's */
static OVERLAPPED change_overlapped;
static bool change_armed;

bool catalogue_is_provider(const WSAPROTOCOL_INFOW *entry, enum helper_version *version)
{
    const DWORD service =
        XP1_GUARANTEED_DELIVERY | XP1_GUARANTEED_ORDER | XP1_MESSAGE_ORIENTED | XP1_CONNECT_DATA;

    if ((entry->dwServiceFlags1 & service) != service || !(entry->dwProviderFlags & PFL_HIDDEN) ||
        entry->ProtocolChain.ChainLen != BASE_PROTOCOL ||
        (entry->iAddressFamily != AF_INET && entry->iAddressFamily != AF_INET6) ||
        entry->iSocketType != -1 || entry->iProtocol != 0 || entry->iProtocolMaxOffset != 0)
        return false;
    if (entry->iVersion == ND_VERSION_1) {
        *version = HELPER_V1;
        return true;
    }
    *version = HELPER_V2;
    return (entry->iVersion == ND_VERSION_2 || entry->iVersion == 2) &&
           (entry->dwProviderFlags & PFL_NETWORKDIRECT_PROVIDER);
}

/* ---- the list, under the lock ---------------------------------------------------------------------------------- */

/* Unloads a provider that has no users and says that it is idle. DllCanUnloadNow is quick and calls no other code. */
static void unload_idle_locked(struct provider *provider)
{
    if (provider->users > 0 || !provider->library || provider->can_unload_now() != S_OK)
        return;
    FreeLibrary(provider->library);
    provider->library = NULL;
}

static void drop_unlisted_locked(void)
{
    struct provider **link = &providers;
    while (*link) {
        struct provider *provider = *link;
        if (provider->listed || provider->users > 0 || provider->library) {
            link = &provider->next;
        } else {
            *link = provider->next;
            free(provider);
        }
    }
}

static void flush_locked(void)
{
    for (struct provider *provider = providers; provider; provider = provider->next)
        unload_idle_locked(provider);
    drop_unlisted_locked();
}

/* Returns the link to a provider in the list, or the last link, which is NULL, if the list does not have it. */
static struct provider **find_locked(const GUID *id, enum helper_version version)
{
    struct provider **link = &providers;
    while (*link && ((*link)->version != version || !IsEqualGUID(&(*link)->id, id)))
        link = &(*link)->next;
    return link;
}

static HRESULT add_locked(
    struct provider **link, const GUID *id, enum helper_version version, const WCHAR *path)
{
    struct provider *provider = calloc(1, sizeof(*provider));
    if (!provider)
        return ND_NO_MEMORY;
    provider->id = *id;
    provider->version = version;
    provider->listed = true;
    if (path[0] == 0 || ExpandEnvironmentStringsW(path, provider->path, MAX_PATH) - 1 >= MAX_PATH) {
        free(provider); /* an entry without a usable path is no provider */
        return ND_SUCCESS;
    }
    *link = provider;
    return ND_SUCCESS;
}

static HRESULT add_entry_locked(const WSAPROTOCOL_INFOW *entry, enum helper_version version)
{
    WCHAR path[MAX_PATH] = L"";
    INT length = MAX_PATH, error = 0;
    GUID id = entry->ProviderId;
    struct provider **link = find_locked(&id, version);

    if (*link) {
        (*link)->listed = true;
        return ND_SUCCESS;
    }
    if (WSCGetProviderPath(&id, path, &length, &error) != 0)
        return ND_SUCCESS;
    return add_locked(link, &id, version, path);
}

/*
 * Adds our own provider if the catalogue lacks it: Wine's is built in and takes no entries. Other systems have no such
 * file, unless the user put it there.
 */
static HRESULT add_ours_locked(const GUID *id, enum helper_version version)
{
    static const WCHAR path[] = L"%SystemRoot%\\system32\\ndspi.dll";
    struct provider **link = find_locked(id, version);
    HRESULT hr = ND_SUCCESS;

    if (*link && (*link)->listed) /* the catalogue has it */
        return ND_SUCCESS;
    if (!*link)
        hr = add_locked(link, id, version, path);
    if (*link)
        (*link)->listed = GetFileAttributesW((*link)->path) != INVALID_FILE_ATTRIBUTES;
    return hr;
}

/* Asks for a notice of the next change; true: the list has to be read, now or (if asking fails) every time. */
static bool changed_locked(void)
{
    if (change_armed && !HasOverlappedIoCompleted(&change_overlapped))
        return false;
    ZeroMemory(&change_overlapped, sizeof(change_overlapped));
    change_armed = WSAProviderConfigChange(&change, &change_overlapped, NULL) == 0 ||
                   WSAGetLastError() == WSA_IO_PENDING;
    return true;
}

/* Reads the catalogue, which may grow between two calls. The caller frees entries. */
static HRESULT read_catalogue(WSAPROTOCOL_INFOW **entries, int *count)
{
    DWORD size = 0;
    int error = 0;
    *entries = NULL;
    while ((*count = WSCEnumProtocols(NULL, *entries, &size, &error)) == SOCKET_ERROR) {
        WSAPROTOCOL_INFOW *more = error == WSAENOBUFS ? realloc(*entries, size) : NULL;
        if (!more) {
            free(*entries);
            *entries = NULL;
            return error == WSAENOBUFS ? ND_NO_MEMORY : HRESULT_FROM_WIN32((DWORD)error);
        }
        *entries = more;
    }
    return ND_SUCCESS;
}

static HRESULT scan_locked(void)
{
    WSAPROTOCOL_INFOW *entries;
    enum helper_version version;
    int count;

    if (!changed_locked())
        return ND_SUCCESS;
    HRESULT hr = read_catalogue(&entries, &count);
    if (SUCCEEDED(hr)) {
        for (struct provider *provider = providers; provider; provider = provider->next)
            provider->listed = false;
        for (int i = 0; i < count && SUCCEEDED(hr); ++i)
            if (catalogue_is_provider(&entries[i], &version))
                hr = add_entry_locked(&entries[i], version);
        if (SUCCEEDED(hr))
            hr = add_ours_locked(&CLSID_NDSPI_PROVIDER_V2, HELPER_V2);
        if (SUCCEEDED(hr))
            hr = add_ours_locked(&CLSID_NDSPI_PROVIDER_V1, HELPER_V1);
        drop_unlisted_locked();
    }
    free(entries);
    if (FAILED(hr))
        change_armed = false; /* the next call reads it again */
    return hr;
}

/* ---- one provider, used by the caller -------------------------------------------------------------------------- */

static HRESULT load(struct provider *provider)
{
    AcquireSRWLockShared(&lock);
    bool loaded = provider->library != NULL;
    ReleaseSRWLockShared(&lock);
    if (loaded)
        return ND_SUCCESS;

    HMODULE library = LoadLibraryExW(provider->path, NULL, LOAD_WITH_ALTERED_SEARCH_PATH);
    if (!library)
        return HRESULT_FROM_WIN32(GetLastError());
    get_class_object get = (get_class_object)(void *)GetProcAddress(library, "DllGetClassObject");
    can_unload_now can = (can_unload_now)(void *)GetProcAddress(library, "DllCanUnloadNow");
    if (!get || !can) {
        FreeLibrary(library);
        return HRESULT_FROM_WIN32(ERROR_PROC_NOT_FOUND);
    }
    AcquireSRWLockExclusive(&lock);
    if (!provider->library) {
        provider->library = library;
        provider->get_class_object = get;
        provider->can_unload_now = can;
        library = NULL;
    }
    ReleaseSRWLockExclusive(&lock);
    if (library) /* another thread has loaded it first */
        FreeLibrary(library);
    return ND_SUCCESS;
}

/* Version 1 providers hand out their object through a class factory, those of version 2 directly. */
static HRESULT instantiate(struct provider *provider, IUnknown **object)
{
    IClassFactory *factory;

    *object = NULL;
    HRESULT hr = load(provider);
    if (FAILED(hr))
        return hr;
    if (provider->version == HELPER_V2)
        return provider->get_class_object(&provider->id, &IID_IND2Provider, (VOID **)object);
    hr = provider->get_class_object(&provider->id, &IID_IClassFactory, (VOID **)&factory);
    if (FAILED(hr))
        return hr;
    hr = factory->lpVtbl->CreateInstance(factory, NULL, &IID_INDProvider, (VOID **)object);
    factory->lpVtbl->Release(factory);
    return hr;
}

/* Pins the first provider of a version after one that is pinned (NULL: of all), whose pin it drops. */
static struct provider *next_provider(struct provider *before, enum helper_version version)
{
    AcquireSRWLockExclusive(&lock);
    struct provider *provider = before ? before->next : providers;
    while (provider && (provider->version != version || !provider->listed))
        provider = provider->next;
    if (provider)
        provider->users++;
    if (before && --before->users == 0) {
        unload_idle_locked(before);
        drop_unlisted_locked();
    }
    ReleaseSRWLockExclusive(&lock);
    return provider;
}

HRESULT helper_for_each_provider(enum helper_version version, helper_visit *visit, void *context)
{
    IUnknown *object;
    bool done = false;

    AcquireSRWLockExclusive(&lock);
    HRESULT first = scan_locked();
    ReleaseSRWLockExclusive(&lock);
    if (FAILED(first))
        return first;

    struct provider *provider = next_provider(NULL, version);
    while (provider) {
        if (!done) {
            HRESULT hr = instantiate(provider, &object);
            if (SUCCEEDED(hr)) {
                done = visit(context, version, object);
                object->lpVtbl->Release(object);
            } else if (SUCCEEDED(first)) {
                first = hr;
            }
        }
        provider = next_provider(provider, version);
    }
    return done ? ND_SUCCESS : first;
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

HRESULT helper_start(void)
{
    HRESULT hr = S_OK;
    WSADATA data;

    AcquireSRWLockExclusive(&lock);
    if (starts == 0) {
        int error = WSAStartup(MAKEWORD(2, 2), &data);
        if (error != 0)
            hr = HRESULT_FROM_WIN32((DWORD)error);
    }
    if (SUCCEEDED(hr))
        starts++;
    ReleaseSRWLockExclusive(&lock);
    return hr;
}

static void close_change_locked(void)
{
    if (!change)
        return;
    CloseHandle(change);
    /* Closing ends the request; the structure is the system's until then. */
    while (change_armed && !HasOverlappedIoCompleted(&change_overlapped))
        SwitchToThread();
    change = NULL;
    change_armed = false;
}

HRESULT helper_stop(void)
{
    HRESULT hr = S_OK;

    AcquireSRWLockExclusive(&lock);
    if (starts == 0) {
        hr = ND_DEVICE_NOT_READY;
    } else if (--starts == 0) {
        /* A provider with objects alive stays loaded: their code is in it. */
        for (struct provider *provider = providers; provider; provider = provider->next)
            provider->listed = false;
        flush_locked();
        close_change_locked();
        WSACleanup();
    }
    ReleaseSRWLockExclusive(&lock);
    return hr;
}

bool helper_started(void)
{
    AcquireSRWLockShared(&lock);
    bool started = starts > 0;
    ReleaseSRWLockShared(&lock);
    return started;
}

void helper_flush(void)
{
    AcquireSRWLockExclusive(&lock);
    flush_locked();
    ReleaseSRWLockExclusive(&lock);
}
