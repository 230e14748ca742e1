/* SPDX-License-Identifier: MIT */
/*
 * bridge.c - the provider library as Windows programs load it: the two exports, the class object, and the way into the
 * native library behind it.
 *
 * The library is a Wine builtin: Wine loads ndspi.so beside it and calls that through its own dispatcher. Once it has
 * made an object it stays loaded, because a thread in it, which never returns, delivers completions (deliver.c).
 */
#include "wine/proxy.h"

#include <winternl.h>

LONG(WINAPI *nd_unix_dispatcher)(UINT64 handle, unsigned code, VOID *args);
UINT64 nd_unix_handle;

extern IMAGE_DOS_HEADER __ImageBase;

/* Wine's own information class of an image: the handle of its unix side. */
enum { MEMORY_WINE_UNIX_FUNCS = 1000 };

static VOID complain(const char *text)
{
    DWORD written;

    WriteFile(GetStdHandle(STD_ERROR_HANDLE), text, lstrlenA(text), &written, NULL);
    OutputDebugStringA(text);
}

/* Returns the name of the program's file in UTF-8, which has at most three octets for a unit of UTF-16. */
static const char *program_name(char name[3 * MAX_PATH + 1])
{
    WCHAR path[MAX_PATH], *last = path;
    DWORD letters = GetModuleFileNameW(NULL, path, MAX_PATH - 1);

    path[letters] = 0;
    for (WCHAR *at = path; *at; at++)
        if (*at == L'\\' || *at == L'/')
            last = at + 1;
    if (!WideCharToMultiByte(CP_UTF8, 0, last, -1, name, 3 * MAX_PATH + 1, NULL, NULL))
        name[0] = 0;
    return name;
}

static BOOL start(VOID)
{
    char name[3 * MAX_PATH + 1];
    struct nd_start_call call = { .build = ND_CALLS_BUILD, .program = program_name(name) };
    LONG failed = nd_forward(ND_CALL_START, &call);

    if (call.native_build && lstrcmpA(call.native_build, ND_CALLS_BUILD) == 0)
        return failed == 0;
    complain("ndspi.dll: this is of the build " ND_CALLS_BUILD ", the ndspi.so for it of ");
    complain(call.native_build ? call.native_build : "one without a name");
    complain(": look at \"ndspi-wine status\"\n");
    return FALSE;
}

/* Looks Wine's functions up at run time: with an import the library would not load, and could not say why. */
static BOOL find_unix_side(VOID)
{
    typedef NTSTATUS(NTAPI query_virtual_memory)(
        HANDLE process, const VOID *address, int what, VOID *out, SIZE_T size, SIZE_T *used);
    HMODULE ntdll = GetModuleHandleW(L"ntdll.dll");
    query_virtual_memory *query =
        (query_virtual_memory *)(VOID *)GetProcAddress(ntdll, "NtQueryVirtualMemory");
    LONG(WINAPI * *dispatcher)
    (UINT64 handle, unsigned code, VOID *args) =
        (VOID *)GetProcAddress(ntdll, "__wine_unix_call_dispatcher");

    if (!query || !dispatcher) {
        complain("ndspi.dll: this is a library for Wine 8 and newer; there is none here\n");
        return FALSE;
    }
    nd_unix_dispatcher = *dispatcher;
    if (query(GetCurrentProcess(), &__ImageBase, MEMORY_WINE_UNIX_FUNCS, &nd_unix_handle,
            sizeof(nd_unix_handle), NULL) < 0) {
        complain("ndspi.dll: Wine finds no ndspi.so for it: look at \"ndspi-wine status\"\n");
        return FALSE;
    }
    return start();
}

BOOL WINAPI DllMain(HINSTANCE instance, DWORD reason, LPVOID reserved)
{
    (void)reserved;
    if (reason != DLL_PROCESS_ATTACH)
        return TRUE;
    DisableThreadLibraryCalls(instance);
    return find_unix_side();
}

/* ---- the thread that delivers ---- */

static DWORD WINAPI serve(LPVOID context)
{
    (void)context;
    return (DWORD)nd_forward(ND_CALL_SERVE, NULL);
}

static BOOL CALLBACK start_serving(INIT_ONCE *once, VOID *parameter, VOID **context)
{
    HMODULE pinned;
    HANDLE thread;

    (void)once;
    (void)parameter;
    (void)context;
    if (!GetModuleHandleExW(GET_MODULE_HANDLE_EX_FLAG_PIN | GET_MODULE_HANDLE_EX_FLAG_FROM_ADDRESS,
            (LPCWSTR)(VOID *)serve, &pinned))
        return FALSE;
    thread = CreateThread(NULL, 64 << 10, serve, NULL, 0, NULL);
    if (!thread)
        return FALSE;
    CloseHandle(thread);
    return TRUE;
}

/* ---- exports ---- */

static HRESULT create(enum nd_call code, struct nd_create_call *call, VOID **out)
{
    static INIT_ONCE once = INIT_ONCE_STATIC_INIT;
    HRESULT failed;

    *out = NULL;
    if (!InitOnceExecuteOnce(&once, start_serving, NULL, NULL))
        return E_OUTOFMEMORY;
    failed = nd_forward(code, call);
    if (failed || FAILED(call->result))
        return failed ? failed : call->result;
    *out = nd_proxy_new(call->kind, call->object);
    if (!*out) {
        struct nd_count_call release = { call->object, 0 };

        nd_forward(ND_CALL_RELEASE, &release);
        return E_OUTOFMEMORY;
    }
    return call->result;
}

HRESULT WINAPI DllGetClassObject(REFCLSID clsid, REFIID iid, LPVOID *out)
{
    struct nd_create_call call = { .clsid = clsid, .iid = iid };

    if (!out)
        return E_POINTER;
    return nd_out_wrong(out) ? ND_ACCESS_FAULT : create(ND_CALL_GET_CLASS_OBJECT, &call, out);
}

HRESULT WINAPI DllCanUnloadNow(VOID)
{
    struct nd_count_call call = { NULL, 0 };

    return nd_forward(ND_CALL_CAN_UNLOAD, &call) ? S_FALSE : (HRESULT)call.result;
}

/* ---- IClassFactory ---- */

static HRESULT STDMETHODCALLTYPE factory_QueryInterface(
    IClassFactory *iface, REFIID iid, VOID **out)
{
    return nd_proxy_query((IUnknown *)iface, iid, out);
}

static ULONG STDMETHODCALLTYPE factory_AddRef(IClassFactory *iface)
{
    return nd_proxy_addref((IUnknown *)iface);
}

static ULONG STDMETHODCALLTYPE factory_Release(IClassFactory *iface)
{
    return nd_proxy_release((IUnknown *)iface);
}

static HRESULT STDMETHODCALLTYPE factory_CreateInstance(
    IClassFactory *iface, IUnknown *outer, REFIID iid, VOID **out)
{
    struct nd_create_call call = { .native = nd_proxy_native(iface), .iid = iid };

    if (!out)
        return E_POINTER;
    if (nd_out_wrong(out))
        return ND_ACCESS_FAULT;
    *out = NULL;
    return outer ? CLASS_E_NOAGGREGATION : create(ND_CALL_CREATE_INSTANCE, &call, out);
}

static HRESULT STDMETHODCALLTYPE factory_LockServer(IClassFactory *iface, BOOL lock)
{
    struct nd_lock_server_call call = { nd_proxy_native(iface), lock, 0 };
    HRESULT failed = nd_forward(ND_CALL_LOCK_SERVER, &call);

    return failed ? failed : call.result;
}

const IClassFactoryVtbl nd_class_factory_vtable = {
    factory_QueryInterface,
    factory_AddRef,
    factory_Release,
    factory_CreateInstance,
    factory_LockServer,
};
