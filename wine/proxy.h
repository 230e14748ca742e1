/* SPDX-License-Identifier: MIT */
/*
 * proxy.h - the Windows side of the bridge: what a Windows program holds instead of a native object.
 *
 * A proxy is a vtable and the native interface it stands for. Only the native object counts references; the Release
 * that returns 0 frees the proxy. Interfaces of one native object are one pointer, so an object has one proxy, made
 * with it, and QueryInterface returns the proxy that it was called on.
 *
 * A native adapter holds a reference to its provider, so the last Release of an adapter may end a provider as well.
 * Therefore the Release of an adapter takes a reference to the provider first, and releases it through the provider's
 * proxy afterwards.
 */
#ifndef WINE_PROXY_H
#define WINE_PROXY_H

#include "wine/calls.h"

#include <stdbool.h>

struct nd_proxy {
    const VOID *vtable; /* must be first: it makes the proxy a COM interface */
    VOID *native;
    /* the proxy that opened an adapter, kept alive by the adapter's native object; NULL for other objects */
    IUnknown *provider;
};

/*
 * All vtables are in one object, so that the address of a vtable identifies an interface of ours. (No method takes
 * class objects.)
 */
#define ND_VTABLE_MEMBER(interface) interface##Vtbl interface;
struct nd_vtables {
    ND_INTERFACES(ND_VTABLE_MEMBER)
};
#undef ND_VTABLE_MEMBER
extern const struct nd_vtables nd_vtables;
extern const IClassFactoryVtbl nd_class_factory_vtable;

/* Wine's dispatcher, which calls the native library of this module; see bridge.c. */
extern LONG(WINAPI *nd_unix_dispatcher)(UINT64 handle, unsigned code, VOID *args);
extern UINT64 nd_unix_handle;

/* Returns 0, or the exception that ended the call. */
static inline HRESULT nd_forward(enum nd_call code, VOID *call)
{
    return nd_unix_dispatcher(nd_unix_handle, code, call);
}

static inline VOID *nd_proxy_native(VOID *iface)
{
    return ((struct nd_proxy *)iface)->native;
}

/* What Wine returns for a call that faults on the native side. */
#define ND_ACCESS_FAULT ((HRESULT)0xC0000005)

/* Whether a pointer that is not NULL points to no interface, or to no place for a pointer. */
bool nd_proxy_wrong(IUnknown *given);
bool nd_out_wrong(VOID *out);

/*
 * nd_proxy_reach - finds the native object behind an interface that the program passes.
 * given  in: a proxy, an object that wraps one, a foreign object, or NULL
 * held   out: what nd_proxy_drop has to release after the call; NULL: nothing
 * Returns the native interface; NULL where there is none, so that the native method returns what it returns for any
 * foreign object.
 */
VOID *nd_proxy_reach(IUnknown *given, IUnknown **held);
VOID nd_proxy_drop(IUnknown *held);

/* An object under construction: its proxy is made first, so that a new native object can always be handed out. */
struct nd_making {
    struct nd_proxy *proxy; /* NULL: no memory, or out is NULL */
    IUnknown *maker;        /* the proxy whose method makes the object */
    VOID **out;             /* the program's pointer */
    VOID *native;
};

/* Returns where the native method stores its object; NULL when out is NULL. maker: the proxy whose method it is. */
VOID **nd_proxy_begin(struct nd_making *making, VOID *maker, enum nd_kind kind, VOID **out);
/* Returns hr; stores the proxy on success, NULL otherwise. */
HRESULT nd_proxy_end(struct nd_making *making, HRESULT hr);

/* Makes a proxy for an existing object, whose reference it takes over. NULL: no memory. */
struct nd_proxy *nd_proxy_new(enum nd_kind kind, VOID *native);

/* Every proxy's methods of IUnknown. */
HRESULT nd_proxy_query(IUnknown *iface, REFIID iid, VOID **out);
ULONG nd_proxy_addref(IUnknown *iface);
ULONG nd_proxy_release(IUnknown *iface);

/*
 * nd_touch - makes the pages of a buffer writable for the device: Wine keeps pages under write watch read-only, except
 * to the program, until the program writes. Changes no byte, and skips pages that the program cannot access either.
 * flags  in: ND_MR_FLAG_* of the registration to come
 */
VOID nd_touch(const VOID *buffer, SIZE_T size, ULONG flags);

#endif
