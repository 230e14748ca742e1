/* SPDX-License-Identifier: MIT */
/*
 * proxy.h - the Windows side of the bridge: what a Windows program holds instead of a native object.
 *
 * A proxy is a vtable and the native interface it stands for. Only the native object counts references; the Release
 * that returns 0 frees the proxy. Interfaces of one native object are one pointer, so an object has one proxy, made
 * with it, and QueryInterface returns the proxy that it was called on.
 *
 * A native adapter holds a reference to its provider, so the last Release of an adapter may end a provider as well. So
 * the Release of an adapter holds a reference to the provider meanwhile, and releases that through the provider's
 * proxy.
 */
#ifndef WINE_PROXY_H
#define WINE_PROXY_H

#include "wine/calls.h"

#include <stdbool.h>

struct nd_proxy {
    const VOID *vtable; /* first: what makes it an interface */
    VOID *native;
    /* The proxy that opened an adapter, which its native object keeps alive; of other objects NULL. */
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

/* Wine's way into the native library of this module; see bridge.c. */
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

/* What Wine returns for a call that faults on the other side; here the program's pointers are looked at before. */
#define ND_ACCESS_FAULT ((HRESULT)0xC0000005)

/* Whether that is no interface, but not NULL; or no place for a pointer, but not NULL. */
bool nd_proxy_wrong(IUnknown *given);
bool nd_out_wrong(VOID *out);

/*
 * nd_proxy_reach - the native object behind an interface that the program hands in.
 * given  in: ours, one that wraps ours, foreign, or NULL
 * held   out: to be released after the call; NULL: none
 * Returns the native interface; NULL where there is none, so that the native method returns what it does for any
 * foreign object.
 */
VOID *nd_proxy_reach(IUnknown *given, IUnknown **held);
VOID nd_proxy_drop(IUnknown *held);

/* An object under construction: its proxy is made first, so that a new native object can always be handed out. */
struct nd_making {
    struct nd_proxy *proxy; /* NULL: no memory, or no out */
    IUnknown *maker;        /* whose method makes it */
    VOID **out;             /* of the program */
    VOID *native;
};

/* Returns where the native method stores its object; NULL when out is. maker: the proxy whose method that is. */
VOID **nd_proxy_begin(struct nd_making *making, VOID *maker, enum nd_kind kind, VOID **out);
/* Returns hr; stores the proxy on success, NULL otherwise. */
HRESULT nd_proxy_end(struct nd_making *making, HRESULT hr);

/* A proxy for an object that exists, with the reference its maker gave. NULL: no memory. */
struct nd_proxy *nd_proxy_new(enum nd_kind kind, VOID *native);

/* IUnknown of every proxy. */
HRESULT nd_proxy_query(IUnknown *iface, REFIID iid, VOID **out);
ULONG nd_proxy_addref(IUnknown *iface);
ULONG nd_proxy_release(IUnknown *iface);

/*
 * nd_touch - makes the pages of a buffer writable for the device: Wine keeps pages under write watch read-only, except
 * to the program, until the program writes. Changes no byte; leaves out what the program could not access either.
 * flags  in: ND_MR_FLAG_* of the registration to come
 */
VOID nd_touch(const VOID *buffer, SIZE_T size, ULONG flags);

#endif
