/* SPDX-License-Identifier: MIT */
/*
 * unknown.h - what every COM object here has, for all dialects: counting, QueryInterface, how an object that a client
 * passes in is recognised as ours, and how a facade is destroyed.
 *
 * A facade looks like this; the interface pointer is the object pointer, so any interface of one object yields the same
 * IUnknown, and refs is the application's count, which starts with one:
 *
 *     struct nd2_mr {
 *         IND2MemoryRegion IND2MemoryRegion_iface;
 *         atomic_uint refs;
 *         struct nd_mr core;
 *     };
 *     static const IID *const iids[] = { &IID_IUnknown, ..., NULL };
 *
 *     ND_COM_CORE(nd2_mr, nd_mr);
 *     ND_COM_UNKNOWN(nd2_mr, IND2MemoryRegion);
 *     ND_COM_REACH(nd2_reach_mr, nd2_drop_mr, nd2_mr, IND2MemoryRegion, nd_mr, IUnknown, nd2_iid_mr);
 *
 *     static const IND2MemoryRegionVtbl nd2_mr_vtbl = { ND_COM_UNKNOWN_SLOTS(nd2_mr), ... };
 *
 * Each macro defines functions with the very types of the vtable's slots: nothing is called through another type. The
 * code that all share is in the plain functions at the top.
 */
#ifndef NDSPI_COM_UNKNOWN_H
#define NDSPI_COM_UNKNOWN_H

#include "ndspi/core/object.h"

#include "util/list.h"

#include <windows.h>

#include <unknwn.h>

#include <stdatomic.h>

/* Returns the new count. Relaxed: the caller already holds a reference. */
ULONG nd_com_addref(atomic_uint *refs);

/*
 * nd_com_release - drop a reference. Returns the new count; on 0 the caller closes the object.
 * Release order publishes this thread's use of the object to the one that closes it, which acquires.
 */
ULONG nd_com_release(atomic_uint *refs);

/*
 * nd_com_query_interface - IUnknown::QueryInterface.
 * object  in: the object = its interface
 * refs    inout: its count, raised on success
 * iids    in: what it answers, ended by NULL: IUnknown, its own, that of its dialect's overlapped base where it has
 *         that, and the private IID by which ND_COM_REACH finds it
 * iid     in: asked for
 * out     out: the object, or NULL on failure
 * Returns S_OK, E_NOINTERFACE (unknown or NULL iid), E_POINTER (out is NULL). Any thread.
 */
HRESULT nd_com_query_interface(
    void *object, atomic_uint *refs, const IID *const iids[], REFIID iid, void **out);

/* Returns whether an object with this iid list would answer iid: the check at the top of a create call. */
BOOL nd_com_answers(const IID *const iids[], REFIID iid);

/*
 * ND_COM_UNKNOWN(facade, itype) - IUnknown of struct facade, whose interface is itype: impl_from_itype, and
 * facade_QueryInterface, _AddRef, _Release for the vtable.
 * Needs above it: iids (see nd_com_query_interface) and void facade_close(struct facade *), which the last Release
 * calls.
 */
#define ND_COM_UNKNOWN(facade, itype)                                                              \
    static struct facade *impl_from_##itype(itype *iface)                                          \
    {                                                                                              \
        return (struct facade *)iface;                                                             \
    }                                                                                              \
                                                                                                   \
    static HRESULT STDMETHODCALLTYPE facade##_QueryInterface(itype *iface, REFIID iid, void **out) \
    {                                                                                              \
        return nd_com_query_interface(iface, &impl_from_##itype(iface)->refs, iids, iid, out);     \
    }                                                                                              \
                                                                                                   \
    static ULONG STDMETHODCALLTYPE facade##_AddRef(itype *iface)                                   \
    {                                                                                              \
        return nd_com_addref(&impl_from_##itype(iface)->refs);                                     \
    }                                                                                              \
                                                                                                   \
    static ULONG STDMETHODCALLTYPE facade##_Release(itype *iface)                                  \
    {                                                                                              \
        struct facade *impl = impl_from_##itype(iface);                                            \
        ULONG refs = nd_com_release(&impl->refs);                                                  \
                                                                                                   \
        if (refs == 0)                                                                             \
            facade##_close(impl);                                                                  \
        return refs;                                                                               \
    }                                                                                              \
    _Static_assert(                                                                                \
        offsetof(struct facade, itype##_iface) == 0, "interface pointer = object pointer")

#define ND_COM_UNKNOWN_SLOTS(facade)                                                               \
    .QueryInterface = facade##_QueryInterface, .AddRef = facade##_AddRef,                          \
    .Release = facade##_Release

/*
 * ND_COM_CORE(facade, core_type) - life and death of a facade around a core object: facade_close for the last Release,
 * and facade_destroy for the core object's last pin, to be given to core_type_init. They call core_type_close and
 * core_type_fini.
 */
#define ND_COM_CORE(facade, core_type)                                                             \
    static void facade##_close(struct facade *impl)                                                \
    {                                                                                              \
        core_type##_close(&impl->core);                                                            \
    }                                                                                              \
                                                                                                   \
    static void facade##_destroy(struct nd_object *base)                                           \
    {                                                                                              \
        struct core_type *core = (struct core_type *)base;                                         \
                                                                                                   \
        core_type##_fini(core);                                                                    \
        free(container_of(core, struct facade, core));                                             \
    }                                                                                              \
    _Static_assert(offsetof(struct core_type, object) == 0, "a core object begins with its pins")

/*
 * ND_COM_REACH(reach, drop, facade, itype, core_type, given_type, private_iid) - our object behind an interface that a
 * client handed in: asked for by its private IID, never cast.
 *
 * struct core_type *reach(given_type *given, const struct nd_adapter *adapter)
 *     Returns the core object with a reference on its facade; NULL: none given, not ours, or of another adapter.
 * void drop(struct core_type *core)
 *     Gives the reference back. That is our own reference: a wrapper around our object has a separate count. NULL:
 *     nothing.
 */
#define ND_COM_REACH(reach, drop, facade, itype, core_type, given_type, private_iid)               \
    struct core_type *reach(given_type *given, const struct nd_adapter *adapter)                   \
    {                                                                                              \
        void *found = NULL;                                                                        \
        struct facade *impl;                                                                       \
                                                                                                   \
        if (!given || FAILED(given->lpVtbl->QueryInterface(given, &private_iid, &found)))          \
            return NULL;                                                                           \
        impl = found;                                                                              \
        if (impl->core.adapter == adapter)                                                         \
            return &impl->core;                                                                    \
        facade##_Release(&impl->itype##_iface);                                                    \
        return NULL;                                                                               \
    }                                                                                              \
                                                                                                   \
    void drop(struct core_type *core)                                                              \
    {                                                                                              \
        if (core)                                                                                  \
            facade##_Release(&container_of(core, struct facade, core)->itype##_iface);             \
    }                                                                                              \
    _Static_assert(                                                                                \
        offsetof(struct facade, itype##_iface) == 0, "interface pointer = object pointer")

/*
 * ND_COM_CANCEL(facade, itype, core_type) - the half of the overlapped base that both versions share: all requests of
 * the object end before the call returns. Used by ND2_OVERLAPPED and ND1_OVERLAPPED, which add the version's own
 * GetOverlappedResult. Wants core_type_cancel.
 */
#define ND_COM_CANCEL(facade, itype, core_type)                                                    \
    static HRESULT STDMETHODCALLTYPE facade##_CancelOverlappedRequests(itype *iface)               \
    {                                                                                              \
        core_type##_cancel(&impl_from_##itype(iface)->core);                                       \
        return ND_SUCCESS;                                                                         \
    }

#define ND_COM_OVERLAPPED_SLOTS(facade)                                                            \
    .CancelOverlappedRequests = facade##_CancelOverlappedRequests,                                 \
    .GetOverlappedResult = facade##_GetOverlappedResult

#endif
