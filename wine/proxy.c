/* SPDX-License-Identifier: MIT */
#include "wine/proxy.h"

/* Only proxies have this interface: QueryInterface returns the proxy itself. */
static const IID iid_proxy = { 0x3b0c7d52, 0x8e14, 0x4f6a,
    { 0xa9, 0x21, 0x5d, 0xc8, 0x02, 0x7e, 0x64, 0xb3 } };

static const VOID *vtable_of(enum nd_kind kind)
{
    switch (kind) {
    case ND_KIND_IClassFactory: return &nd_class_factory_vtable;
#define CASE(interface)                                                                            \
    case ND_KIND_##interface: return &nd_vtables.interface;
        ND_INTERFACES(CASE)
#undef CASE
    case ND_KINDS: break;
    }
    return NULL;
}

static bool is_proxy(const IUnknown *given)
{
    const char *vtable = (const char *)given->lpVtbl, *ours = (const char *)&nd_vtables;

    return vtable >= ours && vtable < ours + sizeof(nd_vtables);
}

/* IsBadReadPtr and its kind are racy, but a pointer that they miss faults as it does in any library. */
bool nd_proxy_wrong(IUnknown *given)
{
    return given && (IsBadReadPtr(given, sizeof(given->lpVtbl)) ||
                        IsBadReadPtr(given->lpVtbl, sizeof(*given->lpVtbl)) ||
                        IsBadCodePtr((FARPROC)(ULONG_PTR)given->lpVtbl->QueryInterface));
}

bool nd_out_wrong(VOID *out)
{
    return out && IsBadWritePtr(out, sizeof(VOID *));
}

static bool iid_wrong(REFIID iid)
{
    return iid && IsBadReadPtr(iid, sizeof(*iid));
}

VOID *nd_proxy_reach(IUnknown *given, IUnknown **held)
{
    VOID *found;

    *held = NULL;
    if (!given)
        return NULL;
    if (is_proxy(given))
        return nd_proxy_native(given);
    if (FAILED(given->lpVtbl->QueryInterface(given, &iid_proxy, &found)))
        return NULL;
    *held = found;
    return nd_proxy_native(found);
}

VOID nd_proxy_drop(IUnknown *held)
{
    if (held)
        nd_proxy_release(held);
}

static bool is_provider(const IUnknown *proxy)
{
    const VOID *vtable = proxy->lpVtbl;

    return vtable == &nd_vtables.IND2Provider || vtable == &nd_vtables.INDProvider;
}

struct nd_proxy *nd_proxy_new(enum nd_kind kind, VOID *native)
{
    struct nd_proxy *proxy = HeapAlloc(GetProcessHeap(), 0, sizeof(*proxy));

    if (proxy) {
        proxy->vtable = vtable_of(kind);
        proxy->native = native;
        proxy->provider = NULL;
    }
    return proxy;
}

VOID **nd_proxy_begin(struct nd_making *making, VOID *maker, enum nd_kind kind, VOID **out)
{
    *making = (struct nd_making){
        .proxy = out ? nd_proxy_new(kind, NULL) : NULL, .maker = maker, .out = out
    };
    return out ? &making->native : NULL;
}

HRESULT nd_proxy_end(struct nd_making *making, HRESULT hr)
{
    if (SUCCEEDED(hr) && making->proxy) {
        making->proxy->native = making->native;
        if (is_provider(making->maker))
            making->proxy->provider = making->maker;
        *making->out = making->proxy;
        return hr;
    }
    if (making->out)
        *making->out = NULL;
    HeapFree(GetProcessHeap(), 0, making->proxy);
    return hr;
}

/* ---- IUnknown ---- */

HRESULT nd_proxy_query(IUnknown *iface, REFIID iid, VOID **out)
{
    VOID *native = NULL;
    struct nd_query_interface_call call = { nd_proxy_native(iface), iid, out ? &native : NULL, 0 };
    HRESULT failed;

    if (iid_wrong(iid) || nd_out_wrong(out))
        return ND_ACCESS_FAULT;
    if (out && iid && IsEqualIID(iid, &iid_proxy)) {
        nd_proxy_addref(iface);
        *out = iface;
        return S_OK;
    }
    failed = nd_forward(ND_CALL_QUERY_INTERFACE, &call);
    if (out)
        *out = !failed && SUCCEEDED(call.result) ? iface : NULL;
    return failed ? failed : call.result;
}

ULONG nd_proxy_addref(IUnknown *iface)
{
    struct nd_count_call call = { nd_proxy_native(iface), 0 };

    return nd_forward(ND_CALL_ADD_REF, &call) ? 0 : call.result;
}

static ULONG release(IUnknown *iface)
{
    struct nd_count_call call = { nd_proxy_native(iface), 0 };

    if (nd_forward(ND_CALL_RELEASE, &call))
        return 0; /* Release crashed, so the proxy stays allocated */
    if (call.result == 0)
        HeapFree(GetProcessHeap(), 0, iface);
    return call.result;
}

ULONG nd_proxy_release(IUnknown *iface)
{
    IUnknown *provider = ((struct nd_proxy *)iface)->provider;
    ULONG refs;

    if (!provider)
        return release(iface);
    nd_proxy_addref(provider);
    refs = release(iface);
    release(provider);
    return refs;
}

/* ---- memory ---- */

enum { PAGE_OCTETS = 4096 };

VOID nd_touch(const VOID *buffer, SIZE_T size, ULONG flags)
{
    const DWORD writable =
        PAGE_READWRITE | PAGE_WRITECOPY | PAGE_EXECUTE_READWRITE | PAGE_EXECUTE_WRITECOPY;
    const ULONG writes =
        ND_MR_FLAG_ALLOW_LOCAL_WRITE | ND_MR_FLAG_ALLOW_REMOTE_WRITE | ND_MR_FLAG_RDMA_READ_SINK;
    ULONG_PTR next = (ULONG_PTR)buffer, end = next + size;
    MEMORY_BASIC_INFORMATION info;

    while (next < end && VirtualQuery((const VOID *)next, &info, sizeof(info)) == sizeof(info)) {
        ULONG_PTR region_end = (ULONG_PTR)info.BaseAddress + info.RegionSize;
        ULONG_PTR stop = region_end < end ? region_end : end;
        bool readable = info.State == MEM_COMMIT && info.Protect &&
                        !(info.Protect & (PAGE_NOACCESS | PAGE_GUARD | PAGE_EXECUTE));
        bool write = flags & writes && info.Protect & writable;

        /* Adding 0 atomically is a write that overwrites no other thread's. */
        for (; readable && next < stop; next = (next | (PAGE_OCTETS - 1)) + 1) {
            if (write)
                __atomic_fetch_add((char *)next, 0, __ATOMIC_RELAXED);
            else
                (void)*(const volatile char *)next;
        }
        next = region_end;
    }
}
