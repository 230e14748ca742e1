/* SPDX-License-Identifier: MIT */
/*
 * The helper functions over a Winsock catalogue, as a Windows program has them: helper.c and catalogue.c on a catalogue,
 * libraries and providers that are played here.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "fakewin/ws2spi.h"

#include "ndspi/helper/catalogue.h"

/* ---- libraries and providers ----------------------------------------------------------------------------------- */

enum { LIBRARIES = 3, V2_A = 0, V2_B = 1, V1 = 2 };

static const char *const addresses[LIBRARIES] = { "10.0.0.1", "10.0.0.2", "10.0.0.9" };
static const GUID ids[LIBRARIES] = { { 0xA, 0, 0, { 0 } }, { 0xB, 0, 0, { 0 } },
    { 0xC, 0, 0, { 0 } } };

static struct library {
    int loads, frees; /* of the operating system */
    int objects;      /* alive: providers and adapters */
    bool fails_to_load;
    bool no_address;
    HRESULT list_result; /* of QueryAddressList, when not ND_SUCCESS */
    IND2Provider v2;
    INDProvider v1;
    IClassFactory factory;
    IUnknown adapter;
} libraries[LIBRARIES];

static struct library *of_object(void *object)
{
    for (int i = 0; i < LIBRARIES; ++i)
        if ((char *)object >= (char *)&libraries[i] && (char *)object < (char *)(&libraries[i] + 1))
            return &libraries[i];
    fail_msg("an object of nobody");
    return NULL;
}

static HRESULT query_interface(void *object, REFIID iid, void **out)
{
    (void)object;
    (void)iid;
    *out = NULL;
    return E_NOINTERFACE;
}

static ULONG add_ref(void *object)
{
    return (ULONG)++of_object(object)->objects;
}

static ULONG release(void *object)
{
    struct library *library = of_object(object);
    assert_true(library->loads > library->frees); /* its code is there */
    assert_true(library->objects > 0);
    return (ULONG)--library->objects;
}

static HRESULT list_one(struct library *library, SOCKET_ADDRESS_LIST *list, size_t *size)
{
    struct sockaddr_in *address;
    if (library->list_result != ND_SUCCESS)
        return library->list_result;
    if (library->no_address) {
        *size = 0;
        return ND_SUCCESS;
    }
    if (!list || *size < sizeof(*list) + sizeof(*address)) {
        *size = sizeof(*list) + sizeof(*address);
        return ND_BUFFER_OVERFLOW;
    }
    address = (struct sockaddr_in *)(list + 1);
    memset(address, 0, sizeof(*address));
    address->sin_family = AF_INET;
    inet_pton(AF_INET, addresses[library - libraries], &address->sin_addr);
    list->iAddressCount = 1;
    list->Address[0].lpSockaddr = (struct sockaddr *)address;
    list->Address[0].iSockaddrLength = sizeof(*address);
    return ND_SUCCESS;
}

static bool has(struct library *library, const struct sockaddr *address)
{
    struct in_addr own;
    inet_pton(AF_INET, addresses[library - libraries], &own);
    return !library->no_address && address->sa_family == AF_INET &&
           ((const struct sockaddr_in *)address)->sin_addr.s_addr == own.s_addr;
}

static HRESULT v2_query(IND2Provider *provider, SOCKET_ADDRESS_LIST *list, ULONG *size)
{
    size_t wide = *size;
    HRESULT hr = list_one(of_object(provider), list, &wide);
    *size = (ULONG)wide;
    return hr;
}

static HRESULT v2_resolve(
    IND2Provider *provider, const struct sockaddr *address, ULONG size, UINT64 *id)
{
    struct library *library = of_object(provider);
    assert_int_equal(size, sizeof(struct sockaddr_in));
    if (!has(library, address))
        return ND_INVALID_ADDRESS;
    *id = 77 + (UINT64)(library - libraries);
    return ND_SUCCESS;
}

static HRESULT open_one(struct library *library, void **adapter)
{
    library->objects++;
    *adapter = &library->adapter;
    return ND_SUCCESS;
}

static HRESULT v2_open(IND2Provider *provider, REFIID iid, UINT64 id, void **adapter)
{
    struct library *library = of_object(provider);
    assert_int_equal(id, 77 + (library - libraries));
    return IsEqualIID(iid, &IID_IND2Adapter) ? open_one(library, adapter) : E_NOINTERFACE;
}

static HRESULT v1_query(INDProvider *provider, SOCKET_ADDRESS_LIST *list, SIZE_T *size)
{
    return list_one(of_object(provider), list, size);
}

static HRESULT v1_open(
    INDProvider *provider, const struct sockaddr *address, SIZE_T size, INDAdapter **adapter)
{
    assert_int_equal(size, sizeof(struct sockaddr_in));
    return has(of_object(provider), address) ? open_one(of_object(provider), (void **)adapter)
                                             : ND_INVALID_ADDRESS;
}

static HRESULT create_instance(IClassFactory *factory, IUnknown *outer, REFIID iid, void **out)
{
    assert_null(outer);
    assert_true(IsEqualIID(iid, &IID_INDProvider));
    of_object(factory)->objects++;
    *out = &of_object(factory)->v1;
    return S_OK;
}

#define UNKNOWN_METHODS(type)                                                                      \
    .QueryInterface = (HRESULT(*)(type *, REFIID, void **))query_interface,                        \
    .AddRef = (ULONG(*)(type *))add_ref, .Release = (ULONG(*)(type *))release

static const IND2ProviderVtbl v2_vtbl = { UNKNOWN_METHODS(IND2Provider),
    .QueryAddressList = v2_query, .ResolveAddress = v2_resolve, .OpenAdapter = v2_open };
static const INDProviderVtbl v1_vtbl = { UNKNOWN_METHODS(INDProvider), .QueryAddressList = v1_query,
    .OpenAdapter = v1_open };
static const IClassFactoryVtbl factory_vtbl = { UNKNOWN_METHODS(IClassFactory),
    .CreateInstance = create_instance };
static const IUnknownVtbl adapter_vtbl = { UNKNOWN_METHODS(IUnknown) };

static int ours; /* number of the library that is the system's ndspi.dll; -1: none is */

static HRESULT get_class_object(int number, REFCLSID clsid, REFIID iid, void **out)
{
    static const GUID our_id = { 0x78C684C4, 0x5FBB, 0x4819,
        { 0xA5, 0x94, 0xC8, 0xBA, 0xE7, 0x60, 0x4C, 0x0D } };
    struct library *library = &libraries[number];
    assert_memory_equal(clsid, number == ours ? &our_id : &ids[number], sizeof(GUID));
    library->objects++;
    if (number == V1) {
        assert_true(IsEqualIID(iid, &IID_IClassFactory));
        *out = &library->factory;
    } else {
        assert_true(IsEqualIID(iid, &IID_IND2Provider));
        *out = &library->v2;
    }
    return S_OK;
}

#define EXPORTS(number)                                                                            \
    static HRESULT get_class_object_##number(REFCLSID clsid, REFIID iid, void **out)               \
    {                                                                                              \
        return get_class_object(number, clsid, iid, out);                                          \
    }                                                                                              \
    static HRESULT can_unload_now_##number(void)                                                   \
    {                                                                                              \
        return libraries[number].objects > 0 ? S_FALSE : S_OK;                                     \
    }
EXPORTS(0)
EXPORTS(1)
EXPORTS(2)

/* ---- Windows --------------------------------------------------------------------------------------------------- */

static FAKE_PROTOCOL_INFO catalogue[8];
static int catalogue_size;
static bool change_works;
static OVERLAPPED *change_pending;
static int reads, winsock, handles;
static bool grows; /* the catalogue does, between the two questions */

void fake_lock(FAKE_LOCK *lock)
{
    assert_int_equal(*lock, 0);
    *lock = 1;
}

void fake_unlock(FAKE_LOCK *lock)
{
    assert_int_equal(*lock, 1);
    *lock = 0;
}

int fake_WSCEnumProtocols(int *protocols, FAKE_PROTOCOL_INFO *entries, DWORD *size, int *error)
{
    DWORD needed = (DWORD)(catalogue_size * sizeof(catalogue[0]));
    assert_null(protocols);
    if (!entries || *size < needed) {
        *size = needed;
        *error = WSAENOBUFS;
        if (grows)
            catalogue_size++;
        grows = false;
        return -1;
    }
    memcpy(entries, catalogue, needed);
    ++reads;
    return catalogue_size;
}

int fake_WSCGetProviderPath(GUID *id, WCHAR *path, INT *length, INT *error)
{
    (void)error;
    assert_int_equal(*length, 260);
    wcscpy(path, L"%SystemRoot%\\x.dll");
    path[13] = (WCHAR)id->Data1; /* tells the library, in place of the x */
    return 0;
}

int fake_WSAProviderConfigChange(HANDLE *handle, OVERLAPPED *overlapped, void *routine)
{
    assert_null(routine);
    if (!change_works)
        return -1; /* as Wine does */
    if (!*handle) {
        *handle = &handles;
        ++handles;
    }
    overlapped->Internal = 0x103;
    change_pending = overlapped;
    return -1;
}

int fake_WSAStartup(WORD version, FAKE_WSADATA *data)
{
    assert_int_equal(version, 0x202);
    data->wVersion = version;
    ++winsock;
    return 0;
}

int fake_WSACleanup(void)
{
    --winsock;
    return 0;
}

int fake_WSAGetLastError(void)
{
    return change_works ? WSA_IO_PENDING : 0;
}

DWORD fake_ExpandEnvironmentStringsW(const WCHAR *from, WCHAR *to, DWORD size)
{
    assert_int_equal(size, 260);
    wcscpy(to, L"C:");
    wcscat(to, from + 12);
    return (DWORD)wcslen(to) + 1;
}

static bool is_ours(const WCHAR *path)
{
    return wcscmp(path, L"C:\\system32\\ndspi.dll") == 0;
}

DWORD fake_GetFileAttributesW(const WCHAR *path)
{
    assert_true(is_ours(path));
    return ours >= 0 ? 0x20 : 0xFFFFFFFFu;
}

FAKE_MODULE fake_LoadLibraryExW(const WCHAR *path, HANDLE file, DWORD flags)
{
    int number = is_ours(path) ? ours : (int)path[3] - 0xA;
    assert_null(file);
    assert_int_equal(flags, 8);
    assert_in_range(number, 0, LIBRARIES - 1);
    if (libraries[number].fails_to_load) {
        SetLastError(ERROR_MOD_NOT_FOUND);
        return NULL;
    }
    libraries[number].loads++;
    return &libraries[number];
}

void *fake_GetProcAddress(FAKE_MODULE module, const char *name)
{
    static void *const get[] = { (void *)get_class_object_0, (void *)get_class_object_1,
        (void *)get_class_object_2 };
    static void *const can[] = { (void *)can_unload_now_0, (void *)can_unload_now_1,
        (void *)can_unload_now_2 };
    size_t number = (size_t)((struct library *)module - libraries);
    return strcmp(name, "DllGetClassObject") == 0 ? get[number]
           : strcmp(name, "DllCanUnloadNow") == 0 ? can[number]
                                                  : NULL;
}

BOOL fake_FreeLibrary(FAKE_MODULE module)
{
    ((struct library *)module)->frees++;
    return TRUE;
}

BOOL fake_CloseHandle(HANDLE handle)
{
    assert_ptr_equal(handle, &handles);
    --handles;
    if (change_pending)
        change_pending->Internal = 0xC0000120;
    return TRUE;
}

BOOL fake_SwitchToThread(void)
{
    fail_msg("nothing to wait for");
    return FALSE;
}

static bool loaded(int number)
{
    return libraries[number].loads > libraries[number].frees;
}

static void change_catalogue(void)
{
    if (change_pending)
        change_pending->Internal = 0;
}

/* ---- tests ----------------------------------------------------------------------------------------------------- */

static FAKE_PROTOCOL_INFO entry_of(int number)
{
    FAKE_PROTOCOL_INFO entry = { 0 };
    entry.dwServiceFlags1 = 0x8E;
    entry.dwProviderFlags = number == V1 ? 0x04 : 0x14;
    entry.ProviderId = ids[number];
    entry.ProtocolChain.ChainLen = 1;
    entry.iVersion = number == V1 ? 1 : 0x20000;
    entry.iAddressFamily = AF_INET6;
    entry.iSocketType = -1;
    return entry;
}

static int setup(void **state)
{
    (void)state;
    memset(libraries, 0, sizeof(libraries));
    for (int i = 0; i < LIBRARIES; ++i) {
        libraries[i].v2.lpVtbl = &v2_vtbl;
        libraries[i].v1.lpVtbl = &v1_vtbl;
        libraries[i].factory.lpVtbl = &factory_vtbl;
        libraries[i].adapter.lpVtbl = &adapter_vtbl;
        catalogue[i] = entry_of(i);
    }
    catalogue_size = LIBRARIES;
    change_works = true;
    change_pending = NULL;
    grows = false;
    ours = -1;
    reads = 0;
    assert_int_equal(NdStartup(), S_OK);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = 0; i < LIBRARIES; ++i)
        libraries[i].objects = 0;
    assert_int_equal(NdCleanup(), S_OK);
    for (int i = 0; i < LIBRARIES; ++i)
        assert_false(loaded(i));
    assert_int_equal(winsock, 0);
    assert_int_equal(handles, 0);
    assert_int_equal(NdCleanup(), ND_DEVICE_NOT_READY);
    return 0;
}

static void assert_addresses(DWORD flags, const char *expected)
{
    char text[256] = "", ip[INET_ADDRSTRLEN];
    SIZE_T size = 0;
    HRESULT hr = NdQueryAddressList(flags, NULL, &size);
    if (hr == ND_SUCCESS) {
        assert_int_equal(size, 0);
        assert_string_equal(expected, "");
        return;
    }
    assert_int_equal(hr, ND_BUFFER_OVERFLOW);
    SOCKET_ADDRESS_LIST *list = malloc(size);
    assert_int_equal(NdQueryAddressList(flags, list, &size), ND_SUCCESS);
    for (int i = 0; i < list->iAddressCount; ++i) {
        const struct sockaddr_in *address = (const struct sockaddr_in *)list->Address[i].lpSockaddr;
        sprintf(text + strlen(text), "%s%s", i ? " " : "",
            inet_ntop(AF_INET, &address->sin_addr, ip, sizeof(ip)));
    }
    assert_string_equal(text, expected);
    free(list);
}

static struct sockaddr_in ip(const char *text)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(4711) };
    inet_pton(AF_INET, text, &address.sin_addr);
    return address;
}

static void test_entry_is_recognised_by_every_field(void **state)
{
    (void)state;
    enum helper_version version;
    const struct {
        const char *name;
        int offset;
        DWORD value;
        bool provider;
    } rows[] = {
        { "not reliable", offsetof(FAKE_PROTOCOL_INFO, dwServiceFlags1), 0x8C, false },
        { "not ordered", offsetof(FAKE_PROTOCOL_INFO, dwServiceFlags1), 0x8A, false },
        { "a stream", offsetof(FAKE_PROTOCOL_INFO, dwServiceFlags1), 0x86, false },
        { "no connect data", offsetof(FAKE_PROTOCOL_INFO, dwServiceFlags1), 0x0E, false },
        { "more services", offsetof(FAKE_PROTOCOL_INFO, dwServiceFlags1), 0xFF, true },
        { "not hidden", offsetof(FAKE_PROTOCOL_INFO, dwProviderFlags), 0x10, false },
        { "not NetworkDirect", offsetof(FAKE_PROTOCOL_INFO, dwProviderFlags), 0x04, false },
        { "layered", offsetof(FAKE_PROTOCOL_INFO, ProtocolChain.ChainLen), 2, false },
        { "version 2 as 2", offsetof(FAKE_PROTOCOL_INFO, iVersion), 2, true },
        { "version 3", offsetof(FAKE_PROTOCOL_INFO, iVersion), 0x30000, false },
        { "IPv4", offsetof(FAKE_PROTOCOL_INFO, iAddressFamily), AF_INET, true },
        { "another family", offsetof(FAKE_PROTOCOL_INFO, iAddressFamily), AF_UNIX, false },
        { "a socket type", offsetof(FAKE_PROTOCOL_INFO, iSocketType), SOCK_STREAM, false },
        { "a protocol", offsetof(FAKE_PROTOCOL_INFO, iProtocol), 6, false },
        { "protocols", offsetof(FAKE_PROTOCOL_INFO, iProtocolMaxOffset), 255, false },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); ++i) {
        FAKE_PROTOCOL_INFO entry = entry_of(V2_A);
        memcpy((char *)&entry + rows[i].offset, &rows[i].value, sizeof(DWORD));
        if (catalogue_is_provider(&entry, &version) != rows[i].provider)
            fail_msg("%s: should be %s", rows[i].name, rows[i].provider ? "a provider" : "none");
    }
    FAKE_PROTOCOL_INFO entry = entry_of(V1);
    assert_true(catalogue_is_provider(&entry, &version));
    assert_int_equal(version, HELPER_V1);
    entry = entry_of(V2_A);
    assert_true(catalogue_is_provider(&entry, &version));
    assert_int_equal(version, HELPER_V2);
}

static void test_list_has_version_2_first(void **state)
{
    (void)state;
    FAKE_PROTOCOL_INFO v1 = catalogue[V1];
    memmove(&catalogue[1], &catalogue[0], 2 * sizeof(v1));
    catalogue[0] = v1;
    assert_addresses(0, "10.0.0.1 10.0.0.2 10.0.0.9");
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.1 10.0.0.2");
    assert_addresses(
        ND_QUERY_EXCLUDE_NDv2_ADDRESSES | ND_QUERY_EXCLUDE_EMULATOR_ADDRESSES, "10.0.0.9");
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES | ND_QUERY_EXCLUDE_NDv2_ADDRESSES, "");
}

static void test_list_needs_no_more_than_it_says(void **state)
{
    (void)state;
    SIZE_T size = 0;
    assert_int_equal(NdQueryAddressList(0, NULL, &size), ND_BUFFER_OVERFLOW);
    assert_int_equal(size, 8 + 3 * 16 + 3 * 16);
    SOCKET_ADDRESS_LIST *list = malloc(size);
    memset(list, 0xAA, size);
    --size;
    assert_int_equal(NdQueryAddressList(0, list, &size), ND_BUFFER_OVERFLOW);
    assert_int_equal(size, 8 + 3 * 16 + 3 * 16);
    assert_int_equal(list->iAddressCount, (INT)0xAAAAAAAA);
    assert_int_equal(NdQueryAddressList(0, list, &size), ND_SUCCESS);
    assert_int_equal(size, 8 + 3 * 16 + 3 * 16);
    free(list);
    assert_int_equal(NdQueryAddressList(0, NULL, NULL), ND_INVALID_PARAMETER_3);
    assert_int_equal(NdQueryAddressList(8, NULL, &size), ND_INVALID_PARAMETER_1);
}

static void test_idle_library_is_unloaded_after_each_call(void **state)
{
    (void)state;
    assert_addresses(0, "10.0.0.1 10.0.0.2 10.0.0.9");
    for (int i = 0; i < LIBRARIES; ++i) {
        assert_int_equal(libraries[i].loads, 2);
        assert_false(loaded(i));
        assert_int_equal(libraries[i].objects, 0);
    }
}

static void test_library_stays_while_an_object_lives(void **state)
{
    (void)state;
    struct sockaddr_in address = ip("10.0.0.2");
    IUnknown *adapter;
    assert_int_equal(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address),
                         (void **)&adapter),
        ND_SUCCESS);
    assert_ptr_equal(adapter, &libraries[V2_B].adapter);
    assert_true(loaded(V2_B));
    assert_false(loaded(V2_A));
    assert_int_equal(libraries[V1].loads, 0);
    NdFlushProviders();
    assert_true(loaded(V2_B));
    adapter->lpVtbl->Release(adapter);
    NdFlushProviders();
    assert_false(loaded(V2_B));
}

static void test_cleanup_keeps_a_library_in_use(void **state)
{
    (void)state;
    struct sockaddr_in address = ip("10.0.0.1");
    IUnknown *adapter;
    assert_int_equal(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address),
                         (void **)&adapter),
        ND_SUCCESS);
    assert_int_equal(NdCleanup(), S_OK);
    assert_int_equal(winsock, 0);
    assert_true(loaded(V2_A));
    adapter->lpVtbl->Release(adapter);
    assert_int_equal(NdStartup(), S_OK);
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.1 10.0.0.2");
    assert_false(loaded(V2_A));
}

static void test_version_1_is_opened_by_its_iid_only(void **state)
{
    (void)state;
    struct sockaddr_in v1 = ip("10.0.0.9"), v2 = ip("10.0.0.1");
    INDAdapter *adapter;
    void *none = &none;
    assert_int_equal(NdOpenV1Adapter((struct sockaddr *)&v1, sizeof(v1), &adapter), ND_SUCCESS);
    assert_ptr_equal(adapter, &libraries[V1].adapter);
    libraries[V1].objects--;
    assert_int_equal(
        NdOpenV1Adapter((struct sockaddr *)&v2, sizeof(v2), &adapter), ND_INVALID_ADDRESS);
    assert_null(adapter);
    assert_int_equal(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&v1, sizeof(v1), &none),
        ND_INVALID_ADDRESS);
    assert_null(none);
    assert_int_equal(
        NdOpenAdapter(&IID_IUnknown, (struct sockaddr *)&v2, sizeof(v2), &none), E_NOINTERFACE);
    assert_int_equal(NdCheckAddress((struct sockaddr *)&v1, sizeof(v1)), ND_SUCCESS);
    assert_int_equal(NdCheckAddress((struct sockaddr *)&v2, sizeof(v2)), ND_SUCCESS);
}

static void test_bad_addresses(void **state)
{
    (void)state;
    struct sockaddr_in address = ip("10.9.9.9");
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address)), ND_INVALID_ADDRESS);
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address) - 1), ND_INVALID_PARAMETER_2);
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&v6, sizeof(address)), ND_INVALID_PARAMETER_2);
    assert_int_equal(NdCheckAddress((struct sockaddr *)&address, 1), ND_INVALID_PARAMETER_2);
    assert_int_equal(NdCheckAddress(NULL, sizeof(address)), ND_INVALID_PARAMETER_1);
    address.sin_family = AF_UNIX;
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address)), ND_INVALID_ADDRESS);
    assert_int_equal(
        NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address), NULL),
        E_POINTER);
}

static void test_catalogue_is_read_when_it_changed(void **state)
{
    (void)state;
    catalogue_size = 1;
    assert_addresses(0, "10.0.0.1");
    assert_addresses(0, "10.0.0.1");
    assert_int_equal(reads, 1);
    catalogue_size = 2;
    change_catalogue();
    assert_addresses(0, "10.0.0.1 10.0.0.2");
    assert_int_equal(reads, 2);
    catalogue[0] = catalogue[1];
    catalogue_size = 1;
    change_catalogue();
    assert_addresses(0, "10.0.0.2");
    assert_int_equal(reads, 3);
}

static void test_catalogue_is_read_every_time_without_notice_of_changes(void **state)
{
    (void)state;
    change_works = false;
    catalogue_size = 1;
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.1");
    catalogue_size = 2;
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.1 10.0.0.2");
}

static void test_catalogue_may_grow_while_it_is_read(void **state)
{
    (void)state;
    catalogue_size = 1;
    grows = true;
    assert_addresses(0, "10.0.0.1 10.0.0.2");
}

static void test_system_library_is_a_provider_where_no_entry_tells_of_it(void **state)
{
    (void)state;
    change_works = false;
    catalogue_size = 1;
    ours = V2_B;
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.1 10.0.0.2");
    ours = -1;
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.1");
}

static void test_provider_that_left_the_catalogue_stays_until_idle(void **state)
{
    (void)state;
    struct sockaddr_in address = ip("10.0.0.1");
    IUnknown *adapter;
    assert_int_equal(NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address),
                         (void **)&adapter),
        ND_SUCCESS);
    catalogue_size = 0;
    change_catalogue();
    assert_addresses(0, "");
    assert_true(loaded(V2_A));
    adapter->lpVtbl->Release(adapter);
    NdFlushProviders();
    assert_false(loaded(V2_A));
}

static void test_failing_provider_does_not_hide_the_others(void **state)
{
    (void)state;
    struct sockaddr_in address = ip("10.0.0.2");
    libraries[V2_A].fails_to_load = true;
    libraries[V1].list_result = ND_DEVICE_NOT_READY;
    assert_addresses(0, "10.0.0.2");
    assert_int_equal(NdCheckAddress((struct sockaddr *)&address, sizeof(address)), ND_SUCCESS);
    address = ip("10.0.0.1");
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address)), HRESULT_FROM_WIN32(126));

    libraries[V2_B].no_address = true;
    SIZE_T size = 0;
    assert_int_equal(
        NdQueryAddressList(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, NULL, &size), HRESULT_FROM_WIN32(126));
}

static void test_nothing_works_before_startup(void **state)
{
    (void)state;
    struct sockaddr_in address = ip("10.0.0.1");
    SIZE_T size = 0;
    void *adapter;
    assert_int_equal(NdCleanup(), S_OK);
    NdFlushProviders();
    assert_int_equal(NdQueryAddressList(0, NULL, &size), ND_DEVICE_NOT_READY);
    assert_int_equal(
        NdCheckAddress((struct sockaddr *)&address, sizeof(address)), ND_DEVICE_NOT_READY);
    assert_int_equal(
        NdOpenAdapter(&IID_IND2Adapter, (struct sockaddr *)&address, sizeof(address), &adapter),
        ND_DEVICE_NOT_READY);
    assert_int_equal(NdResolveAddress((struct sockaddr *)&address, sizeof(address), NULL, &size),
        ND_DEVICE_NOT_READY);
    assert_int_equal(
        NdOpenV1Adapter((struct sockaddr *)&address, sizeof(address), (INDAdapter **)&adapter),
        ND_DEVICE_NOT_READY);
    assert_int_equal(reads, 0);
    assert_int_equal(NdStartup(), S_OK);
    assert_int_equal(NdStartup(), S_OK);
    assert_int_equal(winsock, 1);
    assert_int_equal(NdCleanup(), S_OK);
    assert_addresses(ND_QUERY_EXCLUDE_NDv1_ADDRESSES, "10.0.0.1 10.0.0.2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_entry_is_recognised_by_every_field, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list_has_version_2_first, setup, teardown),
        cmocka_unit_test_setup_teardown(test_list_needs_no_more_than_it_says, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_idle_library_is_unloaded_after_each_call, setup, teardown),
        cmocka_unit_test_setup_teardown(test_library_stays_while_an_object_lives, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cleanup_keeps_a_library_in_use, setup, teardown),
        cmocka_unit_test_setup_teardown(test_version_1_is_opened_by_its_iid_only, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_addresses, setup, teardown),
        cmocka_unit_test_setup_teardown(test_catalogue_is_read_when_it_changed, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_catalogue_is_read_every_time_without_notice_of_changes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_catalogue_may_grow_while_it_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_system_library_is_a_provider_where_no_entry_tells_of_it, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_provider_that_left_the_catalogue_stays_until_idle, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_failing_provider_does_not_hide_the_others, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nothing_works_before_startup, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
