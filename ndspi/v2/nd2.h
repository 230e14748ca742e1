/* SPDX-License-Identifier: MIT */
/*
 * nd2.h - what the facades of version 2 know of each other.
 *
 * A facade is an interface, the application's count of references, and the core object; the last Release closes the
 * core object, whose last pin frees the allocation.
 *
 * A client's IUnknown pointers lead to our objects by private IIDs: nd2_reach_X returns the core object with a
 * reference, to be given back with nd2_drop_X, or NULL: not ours, or of another adapter.
 */
#ifndef NDSPI_V2_ND2_H
#define NDSPI_V2_ND2_H

#include "ndspi/com/unknown.h"
#include "ndspi/core/adapter/adapter.h"

#include <ndspi.h>

struct nd2_adapter {
    IND2Adapter IND2Adapter_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    /* The provider that opened it, with a reference (which programs may count) until the adapter's own last Release. */
    IND2Provider *provider;
    struct nd_adapter core;
};

extern const IID nd2_iid_adapter, nd2_iid_connector, nd2_iid_cq, nd2_iid_mr, nd2_iid_mw, nd2_iid_qp,
    nd2_iid_srq;

#define ND2_REACH_PROTOTYPES(name)                                                                 \
    struct nd_##name *nd2_reach_##name(IUnknown *given, const struct nd_adapter *adapter);         \
    void nd2_drop_##name(struct nd_##name *core)
ND2_REACH_PROTOTYPES(connector);
ND2_REACH_PROTOTYPES(cq);
ND2_REACH_PROTOTYPES(mr);
ND2_REACH_PROTOTYPES(mw);
ND2_REACH_PROTOTYPES(qp);
ND2_REACH_PROTOTYPES(srq);

/*
 * The queue pair behind an interface of ours, not a wrapper; NULL: it is not ours. It lives as long as the interface.
 */
struct nd_qp *nd2_qp_core(void *own);
/* nd_cq_passed of a completion queue of this version, for the checker. */
bool nd2_cq_passed(void *own);

#define ND2_REACH(name, itype)                                                                     \
    ND_COM_REACH(                                                                                  \
        nd2_reach_##name, nd2_drop_##name, nd2_##name, itype, nd_##name, IUnknown, nd2_iid_##name)

/* IND2Overlapped of a facade with a core object that has pending requests. */
#define ND2_OVERLAPPED(facade, itype, core_type)                                                   \
    ND_COM_CANCEL(facade, itype, core_type)                                                        \
                                                                                                   \
    static HRESULT STDMETHODCALLTYPE facade##_GetOverlappedResult(                                 \
        itype *iface, OVERLAPPED *overlapped, BOOL wait)                                           \
    {                                                                                              \
        return nd_pending_result(&impl_from_##itype(iface)->core.pending, overlapped, wait);       \
    }                                                                                              \
    _Static_assert(                                                                                \
        offsetof(struct facade, itype##_iface) == 0, "interface pointer = object pointer")

/*
 * What each create function does first.
 * known  in: the interfaces of the object to create
 * out    out: set to NULL
 * Returns ND_SUCCESS, E_POINTER, E_NOINTERFACE, ND_DEVICE_REMOVED.
 */
HRESULT nd2_begin_create(
    struct nd2_adapter *adapter, const IID *const known[], REFIID iid, void **out);
/* nd2_begin_create for an object with overlapped requests; file  out: pinned. Returns also ND_INVALID_HANDLE. */
HRESULT nd2_begin_create_overlapped(struct nd2_adapter *adapter, const IID *const known[],
    REFIID iid, HANDLE overlapped_file, struct nd_sink_file **file, void **out);

HRESULT nd2_provider_create(const struct nd_sink *sink, REFIID iid, void **out);
/*
 * nd2_adapter_open - IND2Provider::OpenAdapter, with the device that the id leads to.
 * provider  in: the adapter holds a reference to it until the adapter's own last Release
 * sink      in: what the adapter's objects report to
 * Returns ND_SUCCESS, E_NOINTERFACE, ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES, or what the device says.
 */
HRESULT nd2_adapter_open(IND2Provider *provider, const struct nd_device *device,
    const struct nd_sink *sink, REFIID iid, void **out);

/* One per create method of IND2Adapter; parameters and codes are those of the interface page. */
HRESULT nd2_cq_create(struct nd2_adapter *adapter, REFIID iid, HANDLE overlapped_file, ULONG depth,
    KAFFINITY affinity, void **out);
HRESULT nd2_mr_create(struct nd2_adapter *adapter, REFIID iid, HANDLE overlapped_file, void **out);
HRESULT nd2_mw_create(struct nd2_adapter *adapter, REFIID iid, void **out);
HRESULT nd2_srq_create(struct nd2_adapter *adapter, REFIID iid, HANDLE overlapped_file, ULONG depth,
    ULONG sge, ULONG threshold, KAFFINITY affinity, void **out);
struct nd_qp_params;
HRESULT nd2_qp_create(
    struct nd2_adapter *adapter, REFIID iid, const struct nd_qp_params *params, void **out);
HRESULT nd2_connector_create(
    struct nd2_adapter *adapter, HANDLE overlapped_file, REFIID iid, void **out);
HRESULT nd2_listener_create(
    struct nd2_adapter *adapter, HANDLE overlapped_file, REFIID iid, void **out);

#endif
