/* SPDX-License-Identifier: MIT */
/*
 * discovery.c - a Windows program that finds the provider as Microsoft's helper library and other clients do: the
 * Winsock catalogue, the path, the library, its class objects, the addresses, and the notification of changes. It
 * stands for programs that are linked with that helper. Everything goes through ws2_32 by name; values are literals.
 */
#include <winsock2.h>
#include <ws2tcpip.h>
#include <windows.h>

#include <ws2spi.h>

#include <initguid.h>
#include <ndspi.h>

#include <cmocka.h>

#include <mstcpip.h>
#include <stddef.h>

#include "../support/spec_codes.h"

enum { ENTRY_OCTETS = 628, MAX_ENTRIES = 64, SOON_MS = 10000 };

static const GUID id_v2 = { 0x78C684C4, 0x5FBB, 0x4819,
    { 0xA5, 0x94, 0xC8, 0xBA, 0xE7, 0x60, 0x4C, 0x0D } };
static const GUID id_v1 = { 0x119514F9, 0x3890, 0x404D,
    { 0xA1, 0x2A, 0x04, 0xC1, 0xBC, 0x87, 0x40, 0xB0 } };
static const GUID iid_factory = { 1, 0, 0, { 0xC0, 0, 0, 0, 0, 0, 0, 0x46 } };
static const GUID iid_unknown = { 0, 0, 0, { 0xC0, 0, 0, 0, 0, 0, 0, 0x46 } };

typedef HRESULT(WINAPI *get_class_object)(REFCLSID clsid, REFIID iid, VOID **out);
typedef HRESULT(WINAPI *can_unload_now)(VOID);

static HMODULE library;
static get_class_object get;
static can_unload_now can_unload;

/* ---- catalogue ---- */

static BYTE catalogue[MAX_ENTRIES * ENTRY_OCTETS];

static DWORD dword_at(const BYTE *entry, unsigned offset)
{
    DWORD value;

    memcpy(&value, entry + offset, sizeof(value));
    return value;
}

/* The filter of the helper library; the fabric library's is the same without version and PFL flags. */
static BOOL is_provider(const BYTE *entry, DWORD version)
{
    DWORD family = dword_at(entry, 76);

    return (dword_at(entry, 0) & 0x8E) == 0x8E && (dword_at(entry, 16) & 0x04) &&
           (version == 1 || (dword_at(entry, 16) & 0x10)) && dword_at(entry, 40) == 1 &&
           dword_at(entry, 72) == version && (family == 2 || family == 23) &&
           dword_at(entry, 88) == 0xFFFFFFFF && dword_at(entry, 92) == 0 &&
           dword_at(entry, 96) == 0;
}

static const BYTE *find_entry(int count, DWORD version)
{
    const BYTE *found = NULL;

    for (int i = 0; i < count; i++) {
        if (!is_provider(catalogue + (size_t)i * ENTRY_OCTETS, version))
            continue;
        assert_null(found); /* once each */
        found = catalogue + (size_t)i * ENTRY_OCTETS;
    }
    return found;
}

static int read_catalogue(VOID)
{
    DWORD size = 0, needed;
    INT error = 0;
    int count;

    assert_int_equal(WSCEnumProtocols(NULL, NULL, &size, &error), SOCKET_ERROR);
    assert_int_equal(error, SPEC_WSAENOBUFS);
    assert_true(size > 0 && size <= sizeof(catalogue));
    needed = size--;
    assert_int_equal(
        WSCEnumProtocols(NULL, (WSAPROTOCOL_INFOW *)catalogue, &size, &error), SOCKET_ERROR);
    assert_int_equal(error, SPEC_WSAENOBUFS);
    assert_int_equal(size, needed);
    size = sizeof(catalogue);
    count = WSCEnumProtocols(NULL, (WSAPROTOCOL_INFOW *)catalogue, &size, &error);
    assert_int_equal(count, needed / ENTRY_OCTETS);
    return count;
}

static void test_catalogue_has_one_entry_of_each_version(void **state)
{
    const BYTE *v2, *v1;
    int count = read_catalogue();

    (void)state;
    assert_true(count > 2); /* the system's providers, too */
    v2 = find_entry(count, 0x20000);
    v1 = find_entry(count, 1);
    assert_non_null(v2);
    assert_non_null(v1);
    assert_memory_equal(v2 + 20, &id_v2, 16);
    assert_memory_equal(v1 + 20, &id_v1, 16);
}

static void test_protocols_asked_for_are_the_systems_own(void **state)
{
    INT tcp[] = { 6, 0 }, error = 0;
    DWORD size = sizeof(catalogue);
    int count = WSCEnumProtocols(tcp, (WSAPROTOCOL_INFOW *)catalogue, &size, &error);

    (void)state;
    assert_true(count > 0);
    assert_null(find_entry(count, 0x20000));
    for (int i = 0; i < count; i++)
        assert_int_equal(dword_at(catalogue + (size_t)i * ENTRY_OCTETS, 92), 6);
}

static void load_from(const GUID *entry_id)
{
    WCHAR path[MAX_PATH], expanded[MAX_PATH];
    INT length = 3, error = 0;
    GUID id = *entry_id;
    HMODULE module;

    assert_int_equal(WSCGetProviderPath(&id, path, &length, &error), SOCKET_ERROR);
    assert_int_equal(error, SPEC_WSAEFAULT);
    assert_true(length > 3 && length <= MAX_PATH);
    assert_int_equal(WSCGetProviderPath(&id, path, &length, &error), 0);
    assert_int_equal(wcslen(path) + 1, length);
    assert_in_range(ExpandEnvironmentStringsW(path, expanded, MAX_PATH), 1, MAX_PATH);
    assert_null(wcschr(expanded, L'%'));
    module = LoadLibraryW(expanded);
    assert_non_null(module);
    assert_true(!library || library == module);
    library = module;
}

static void test_path_leads_to_the_library(void **state)
{
    (void)state;
    load_from(&id_v2);
    load_from(&id_v1);
    get = (get_class_object)(VOID *)GetProcAddress(library, "DllGetClassObject");
    can_unload = (can_unload_now)(VOID *)GetProcAddress(library, "DllCanUnloadNow");
    assert_non_null(get);
    assert_non_null(can_unload);
}

/* ---- class objects ---- */

static void drop(VOID *object, ULONG left)
{
    assert_int_equal(((IUnknown *)object)->lpVtbl->Release(object), left);
}

static void expect_provider(VOID *object, REFIID iid)
{
    VOID *same;

    assert_non_null(object);
    assert_int_equal(can_unload(), S_FALSE);
    assert_int_equal(((IUnknown *)object)->lpVtbl->QueryInterface(object, iid, &same), S_OK);
    assert_ptr_equal(same, object);
    drop(object, 1);
    assert_int_equal(
        ((IUnknown *)object)->lpVtbl->QueryInterface(object, &iid_unknown, &same), S_OK);
    assert_ptr_equal(same, object);
    drop(object, 1);
    assert_int_equal(((IUnknown *)object)->lpVtbl->QueryInterface(object, &id_v1, &same),
        (HRESULT)SPEC_E_NOINTERFACE);
    assert_null(same);
    drop(object, 0);
}

static void by_factory(const GUID *clsid, REFIID iid)
{
    IClassFactory *factory = NULL;
    VOID *object = NULL;

    assert_int_equal(get(clsid, &iid_factory, (VOID **)&factory), S_OK);
    assert_int_equal(factory->lpVtbl->CreateInstance(factory, (IUnknown *)factory, iid, &object),
        (HRESULT)SPEC_CLASS_E_NOAGGREGATION);
    assert_int_equal(factory->lpVtbl->CreateInstance(factory, NULL, &id_v1, &object),
        (HRESULT)SPEC_E_NOINTERFACE);
    assert_null(object);
    assert_int_equal(factory->lpVtbl->CreateInstance(factory, NULL, iid, &object), S_OK);
    drop(factory, 0);
    expect_provider(object, iid);
}

static void test_all_routes_to_a_provider(void **state)
{
    VOID *object = NULL;

    (void)state;
    assert_int_equal(can_unload(), S_OK);
    assert_int_equal(get(&id_v2, &IID_IND2Provider, &object), S_OK); /* version 2's helper */
    expect_provider(object, &IID_IND2Provider);
    assert_int_equal(get(&id_v1, &IID_INDProvider, &object), S_OK);
    expect_provider(object, &IID_INDProvider);
    by_factory(&id_v1, &IID_INDProvider);  /* version 1's helper */
    by_factory(&id_v2, &IID_IND2Provider); /* the fabric library */
    assert_int_equal(get(&id_v2, &IID_INDProvider, &object), (HRESULT)SPEC_E_NOINTERFACE);
    assert_null(object);
    assert_int_equal(
        get(&iid_factory, &iid_factory, &object), (HRESULT)SPEC_CLASS_E_CLASSNOTAVAILABLE);
    assert_null(object);
    assert_int_equal(get(&id_v2, &IID_IND2Provider, NULL), (HRESULT)SPEC_E_POINTER);
    assert_int_equal(can_unload(), S_OK);
}

/* ---- addresses ---- */

static unsigned count_family(const SOCKET_ADDRESS_LIST *list, unsigned short family, int octets)
{
    unsigned count = 0;

    for (INT i = 0; i < list->iAddressCount; i++) {
        assert_true(list->Address[i].lpSockaddr->sa_family == 2 ||
                    list->Address[i].lpSockaddr->sa_family == 23);
        if (list->Address[i].lpSockaddr->sa_family != family)
            continue;
        assert_int_equal(list->Address[i].iSockaddrLength, octets);
        count++;
    }
    return count;
}

static void test_addresses_are_of_windows_families(void **state)
{
    struct sockaddr_in6 six = { .sin6_family = 23, .sin6_addr = { { { [15] = 1 } } } };
    struct sockaddr_in four = { .sin_family = 2 };
    IND2Provider *provider;
    SOCKET_ADDRESS_LIST *list;
    UINT64 by_four, by_six;
    ULONG size = 0;

    (void)state;
    four.sin_addr.s_addr = htonl(0x7F000001);
    assert_int_equal(get(&id_v2, &IID_IND2Provider, (VOID **)&provider), S_OK);
    assert_int_equal(provider->lpVtbl->QueryAddressList(provider, NULL, &size),
        (HRESULT)SPEC_ND_BUFFER_OVERFLOW);
    list = malloc(size);
    assert_int_equal(provider->lpVtbl->QueryAddressList(provider, list, &size), 0);
    assert_true(count_family(list, 2, 16) > 0);
    assert_int_equal(
        count_family(list, 2, 16) + count_family(list, 23, 28), (unsigned)list->iAddressCount);
    assert_int_equal(provider->lpVtbl->ResolveAddress(
                         provider, (struct sockaddr *)&four, sizeof(four), &by_four),
        0);
    if (count_family(list, 23, 28)) { /* the host has IPv6 */
        assert_int_equal(provider->lpVtbl->ResolveAddress(
                             provider, (struct sockaddr *)&six, sizeof(six), &by_six),
            0);
        assert_int_equal(by_six, by_four);
    }
    six.sin6_family = 10; /* Linux' own number is none here */
    assert_int_equal(
        provider->lpVtbl->ResolveAddress(provider, (struct sockaddr *)&six, sizeof(six), &by_six),
        (HRESULT)SPEC_ND_INVALID_ADDRESS);
    free(list);
    drop(provider, 0);
}

static void expect_route(const struct sockaddr *address, int length)
{
    SOCKET probe = socket(address->sa_family, SOCK_DGRAM, 0);
    struct sockaddr_storage local;
    DWORD used = 0;

    assert_true(probe != INVALID_SOCKET);
    assert_int_equal(WSAIoctl(probe, SIO_ROUTING_INTERFACE_QUERY, (VOID *)address, (DWORD)length,
                         &local, sizeof(local), &used, NULL, NULL),
        0);
    assert_int_equal(used, length);
    assert_memory_equal(
        &local, address, length); /* loopback addresses are reached from themselves */
    closesocket(probe);
}

static void test_loopback_is_reached_from_itself(void **state)
{
    struct sockaddr_in6 six = { .sin6_family = 23, .sin6_addr = { { { [15] = 1 } } } };
    struct sockaddr_in four = { .sin_family = 2 };
    SOCKET probe = socket(23, SOCK_DGRAM, 0);

    (void)state;
    four.sin_addr.s_addr = htonl(0x7F000001);
    expect_route((struct sockaddr *)&four, sizeof(four));
    if (probe == INVALID_SOCKET || bind(probe, (struct sockaddr *)&six, sizeof(six)) != 0)
        printf("no IPv6 on this host\n");
    else
        expect_route((struct sockaddr *)&six, sizeof(six));
    closesocket(probe);
}

/* ---- changes ---- */

static void test_change_of_addresses_pends(void **state)
{
    SOCKET watch = socket(2, SOCK_STREAM, 0);
    OVERLAPPED overlapped = { .hEvent = CreateEventW(NULL, TRUE, FALSE, NULL) };
    DWORD used = 0;

    (void)state;
    assert_int_equal(
        WSAIoctl(watch, SIO_ADDRESS_LIST_CHANGE, NULL, 0, NULL, 0, &used, &overlapped, NULL),
        SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    assert_int_equal(WaitForSingleObject(overlapped.hEvent, 0), WAIT_TIMEOUT);
    assert_true(CancelIo((HANDLE)watch));
    assert_int_equal(WaitForSingleObject(overlapped.hEvent, SOON_MS), WAIT_OBJECT_0);
    closesocket(watch);
    CloseHandle(overlapped.hEvent);
}

/* What an installation does. */
static void touch_registration(VOID)
{
    DWORD value = GetTickCount();
    HKEY key;

    assert_int_equal(RegCreateKeyExW(HKEY_LOCAL_MACHINE, L"Software\\ndspi\\Providers", 0, NULL, 0,
                         KEY_SET_VALUE, NULL, &key, NULL),
        ERROR_SUCCESS);
    assert_int_equal(RegSetValueExW(key, L"Touched", 0, REG_DWORD, (BYTE *)&value, sizeof(value)),
        ERROR_SUCCESS);
    assert_int_equal(RegDeleteValueW(key, L"Touched"), ERROR_SUCCESS);
    RegCloseKey(key);
}

static void test_change_of_the_catalogue_is_told(void **state)
{
    OVERLAPPED overlapped = { 0 }, *ended;
    HANDLE handle = NULL, port;
    ULONG_PTR key;
    DWORD octets;

    (void)state;
    /* As the helper does: a handle first, its port, then the request for notification; again after each change. */
    assert_int_equal(WSAProviderConfigChange(&handle, NULL, NULL), 0);
    assert_non_null(handle);
    port = CreateIoCompletionPort(handle, NULL, 4711, 1);
    assert_non_null(port);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(WSAProviderConfigChange(&handle, &overlapped, NULL), SOCKET_ERROR);
        assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
        assert_false(GetQueuedCompletionStatus(port, &octets, &key, &ended, 0));
        assert_int_equal(GetLastError(), SPEC_WAIT_TIMEOUT);
        touch_registration();
        assert_true(GetQueuedCompletionStatus(port, &octets, &key, &ended, SOON_MS));
        assert_ptr_equal(ended, &overlapped);
        assert_int_equal(key, 4711);
    }
    /* Closing the handle ends what pends. */
    assert_int_equal(WSAProviderConfigChange(&handle, &overlapped, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    CloseHandle(handle);
    assert_false(GetQueuedCompletionStatus(port, &octets, &key, &ended, SOON_MS));
    assert_ptr_equal(ended, &overlapped);
    CloseHandle(port);
}

/* ---- the rest of Winsock ---- */

static void test_everything_else_is_winsocks_own(void **state)
{
    HMODULE winsock = GetModuleHandleW(L"ws2_32.dll");
    char name[256];

    (void)state;
    assert_ptr_equal(GetProcAddress(winsock, (const char *)23), GetProcAddress(winsock, "socket"));
    assert_ptr_equal(
        GetProcAddress(winsock, (const char *)115), GetProcAddress(winsock, "WSAStartup"));
    assert_int_equal(gethostname(name, sizeof(name)), 0);
    assert_true(name[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_catalogue_has_one_entry_of_each_version),
        cmocka_unit_test(test_protocols_asked_for_are_the_systems_own),
        cmocka_unit_test(test_path_leads_to_the_library),
        cmocka_unit_test(test_all_routes_to_a_provider),
        cmocka_unit_test(test_addresses_are_of_windows_families),
        cmocka_unit_test(test_loopback_is_reached_from_itself),
        cmocka_unit_test(test_change_of_addresses_pends),
        cmocka_unit_test(test_change_of_the_catalogue_is_told),
        cmocka_unit_test(test_everything_else_is_winsocks_own),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
