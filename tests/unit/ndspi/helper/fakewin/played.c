/* SPDX-License-Identifier: MIT */
#include "tests/unit/ndspi/helper/fakewin/played.h"

#include "tests/unit/util/cmocka_test.h"
#include "tests/support/spec_codes.h"

#include <string.h>
#include <wchar.h>

/* ---- libraries and providers ----------------------------------------------------------------------------------- */

static const char *const addresses[LIBRARIES] = { "10.0.0.1", "10.0.0.2", "10.0.0.9" };
static const GUID ids[LIBRARIES] = { { 0xA, 0, 0, { 0 } }, { 0xB, 0, 0, { 0 } },
    { 0xC, 0, 0, { 0 } } };

struct library libraries[LIBRARIES];
struct played played;

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
    if (library->list_grows && !list) {
        *size = sizeof(*list);
        return ND_BUFFER_OVERFLOW;
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

static HRESULT get_class_object(int number, REFCLSID clsid, REFIID iid, void **out)
{
    static const GUID our_id = { 0x78C684C4, 0x5FBB, 0x4819,
        { 0xA5, 0x94, 0xC8, 0xBA, 0xE7, 0x60, 0x4C, 0x0D } };
    struct library *library = &libraries[number];
    assert_memory_equal(clsid, number == played.ours ? &our_id : &ids[number], sizeof(GUID));
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
    DWORD needed = (DWORD)(played.catalogue_size * sizeof(played.catalogue[0]));
    assert_null(protocols);
    if (!entries || *size < needed) {
        *size = needed;
        *error = WSAENOBUFS;
        if (played.grows)
            played.catalogue_size++;
        played.grows = false;
        return -1;
    }
    memcpy(entries, played.catalogue, needed);
    ++played.reads;
    return played.catalogue_size;
}

int fake_WSCGetProviderPath(GUID *id, WCHAR *path, INT *length, INT *error)
{
    (void)error;
    assert_int_equal(*length, 260);
    wcscpy(path, L"%SystemRoot%\\x.dll");
    path[13] = (WCHAR)id->Data1; /* names the library, in place of the x */
    return 0;
}

int fake_WSAProviderConfigChange(HANDLE *handle, OVERLAPPED *overlapped, void *routine)
{
    assert_null(routine);
    if (!played.change_works)
        return -1; /* as Wine does */
    if (!*handle) {
        *handle = &played.handles;
        ++played.handles;
    }
    overlapped->Internal = SPEC_ND_PENDING;
    played.change_pending = overlapped;
    return -1;
}

int fake_WSAStartup(WORD version, FAKE_WSADATA *data)
{
    assert_int_equal(version, 0x202);
    data->wVersion = version;
    ++played.winsock;
    return 0;
}

int fake_WSACleanup(void)
{
    --played.winsock;
    return 0;
}

int fake_WSAGetLastError(void)
{
    return played.change_works ? WSA_IO_PENDING : 0;
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
    return played.ours >= 0 ? 0x20 : 0xFFFFFFFFu;
}

FAKE_MODULE fake_LoadLibraryExW(const WCHAR *path, HANDLE file, DWORD flags)
{
    int number = is_ours(path) ? played.ours : (int)path[3] - 0xA;
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
    assert_ptr_equal(handle, &played.handles);
    --played.handles;
    if (played.change_pending)
        played.change_pending->Internal = SPEC_ND_CANCELED;
    return TRUE;
}

BOOL fake_SwitchToThread(void)
{
    fail_msg("nothing to wait for");
    return FALSE;
}

bool loaded(int number)
{
    return libraries[number].loads > libraries[number].frees;
}

void change_catalogue(void)
{
    if (played.change_pending)
        played.change_pending->Internal = 0;
}

FAKE_PROTOCOL_INFO entry_of(int number)
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

void played_reset(void)
{
    memset(libraries, 0, sizeof(libraries));
    for (int i = 0; i < LIBRARIES; ++i) {
        libraries[i].v2.lpVtbl = &v2_vtbl;
        libraries[i].v1.lpVtbl = &v1_vtbl;
        libraries[i].factory.lpVtbl = &factory_vtbl;
        libraries[i].adapter.lpVtbl = &adapter_vtbl;
        played.catalogue[i] = entry_of(i);
    }
    played.catalogue_size = LIBRARIES;
    played.change_works = true;
    played.change_pending = NULL;
    played.grows = false;
    played.ours = -1;
    played.reads = 0;
}
