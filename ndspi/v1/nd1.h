/* SPDX-License-Identifier: MIT */
/*
 * nd1.h - what the facades of version 1 know of each other. A facade is what it is in version 2 (com/unknown.h); the
 * differences: an adapter belongs to one IP address and has one file for everything; registrations are handles of the
 * adapter, not objects; a queue pair (endpoint) is made by a connector and keeps it.
 *
 * A client's interface pointers lead to our objects by private IIDs: nd1_reach_X returns the core object with a
 * reference, to be given back with nd1_drop_X, or NULL: not ours, or of another adapter.
 */
#ifndef NDSPI_V1_ND1_H
#define NDSPI_V1_ND1_H

#include "ndspi/com/unknown.h"
#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/connection/connector.h"
#include "ndspi/core/queue/qp.h"

#include <ndspi.h>

struct nd1_adapter {
    INDAdapter INDAdapter_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    /* The provider that opened it, with a reference (which programs may count) until the adapter's own last Release. */
    INDProvider *provider;
    struct sockaddr_storage address; /* source of all its connections and listens; port 0 */
    HANDLE handle;                   /* what GetFileHandle returns; a client may have closed it */
    struct nd_sink_file *file; /* the handle's, pinned: requests of all its objects end there */
    struct nd_pending pending; /* RegisterMemory and DeregisterMemory */
    struct nd_adapter core;
};

/*
 * The application is one holder; the endpoints it made, or connected, are others: an established connection ends with
 * the last one.
 */
struct nd1_connector {
    INDConnector INDConnector_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    atomic_uint holders;
    struct nd1_adapter *adapter; /* pinned by core */
    struct nd_connector core;
};

/* Add and remove a holder; the last one closes the connector. No lock held; an endpoint calls nd_qp_close first. */
static inline void nd1_connector_hold(struct nd1_connector *connector)
{
    atomic_fetch_add_explicit(&connector->holders, 1, memory_order_relaxed);
}

static inline void nd1_connector_let_go(struct nd1_connector *connector)
{
    if (atomic_fetch_sub_explicit(&connector->holders, 1, memory_order_acq_rel) == 1)
        nd_connector_close(&connector->core);
}

extern const IID nd1_iid_adapter, nd1_iid_connector, nd1_iid_cq, nd1_iid_endpoint, nd1_iid_mw;

#define ND1_REACH_PROTOTYPES(name, itype, core_type)                                               \
    struct core_type *nd1_reach_##name(itype *given, const struct nd_adapter *adapter);            \
    void nd1_drop_##name(struct core_type *core)
ND1_REACH_PROTOTYPES(connector, INDConnector, nd_connector);
ND1_REACH_PROTOTYPES(cq, INDCompletionQueue, nd_cq);
ND1_REACH_PROTOTYPES(endpoint, INDEndpoint, nd_qp);
ND1_REACH_PROTOTYPES(mw, INDMemoryWindow, nd_mw);

/* The queue pair behind an endpoint of ours, not a wrapper; NULL: it is not ours. It lives as long as the endpoint. */
struct nd_qp *nd1_endpoint_core(void *own);
/* nd_cq_passed of a completion queue of this version, for the checker. */
bool nd1_cq_passed(void *own);

#define ND1_REACH(name, itype, core_type)                                                          \
    ND_COM_REACH(                                                                                  \
        nd1_reach_##name, nd1_drop_##name, nd1_##name, itype, core_type, itype, nd1_iid_##name)

/*
 * INDOverlapped::GetOverlappedResult.
 * octets  out: the provider's own count, always 0
 * Returns the final status, ND_PENDING, ND_INVALID_PARAMETER (no overlapped, no octets).
 */
static inline HRESULT nd1_overlapped_result(
    struct nd_pending *pending, OVERLAPPED *overlapped, SIZE_T *octets, BOOL wait)
{
    if (!octets)
        return ND_INVALID_PARAMETER;
    *octets = 0;
    return nd_pending_result(pending, overlapped, wait);
}

/* INDOverlapped of a facade with a core object that has pending requests. */
#define ND1_OVERLAPPED(facade, itype, core_type)                                                   \
    ND_COM_CANCEL(facade, itype, core_type)                                                        \
                                                                                                   \
    static HRESULT STDMETHODCALLTYPE facade##_GetOverlappedResult(                                 \
        itype *iface, OVERLAPPED *overlapped, SIZE_T *octets, BOOL wait)                           \
    {                                                                                              \
        return nd1_overlapped_result(                                                              \
            &impl_from_##itype(iface)->core.pending, overlapped, octets, wait);                    \
    }                                                                                              \
    _Static_assert(                                                                                \
        offsetof(struct facade, itype##_iface) == 0, "interface pointer = object pointer")

/*
 * What each create function does first.
 * out  out: set to NULL
 * Returns ND_SUCCESS, E_POINTER, ND_DEVICE_REMOVED.
 */
static inline HRESULT nd1_begin_create(struct nd1_adapter *adapter, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    return nd_adapter_removed(&adapter->core) ? ND_DEVICE_REMOVED : ND_SUCCESS;
}

/* Answers IUnknown and INDProvider. Returns S_OK, E_NOINTERFACE, E_OUTOFMEMORY; *out is NULL on failure. */
HRESULT nd1_provider_create(const struct nd_sink *sink, REFIID iid, void **out);

/*
 * Opens the device that has an address.
 * provider  in: the adapter holds a reference to it until the adapter's own last Release
 * address   in: one of ours, checked
 * Returns ND_SUCCESS, ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES, or what the device says.
 */
HRESULT nd1_adapter_open(INDProvider *provider, const struct nd_device *device,
    const struct nd_sink *sink, const struct sockaddr_storage *address, INDAdapter **out);

/*
 * One per create method; parameters, checks and codes are those of the interface page. Their requests end in
 * adapter->file.
 */
HRESULT nd1_cq_create(struct nd1_adapter *adapter, SIZE_T entries, INDCompletionQueue **out);
HRESULT nd1_mw_create(
    struct nd1_adapter *adapter, ND_RESULT *invalidate_result, INDMemoryWindow **out);
HRESULT nd1_connector_create(struct nd1_adapter *adapter, INDConnector **out);
/* port_be, assigned_be: network order; the latter may be NULL unless the former is 0. */
HRESULT nd1_listen_create(struct nd1_adapter *adapter, SIZE_T backlog, USHORT port_be,
    USHORT *assigned_be, INDListen **out);

/*
 * nd1_endpoint_create - the end of CreateEndpoint; the connector has checked the parameters against the limits.
 * connector  in: held by the endpoint (nd1_connector_hold) until its last Release (nd1_connector_let_go), or until it
 *            keeps another
 * params     in: inline_data: the most the device takes, bytes; read limits: kept for Connect and Accept
 * Returns ND_SUCCESS, ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES, ND_DEVICE_REMOVED.
 */
HRESULT nd1_endpoint_create(
    struct nd1_connector *connector, const struct nd_qp_params *params, INDEndpoint **out);

/* Hands the caller's hold on a connector over to the endpoint, which lets go of the one before; no lock held. */
void nd1_endpoint_keep(struct nd_qp *endpoint, struct nd1_connector *connector);

/* INDAdapter::RegisterMemory, DeregisterMemory; their requests are the adapter's. */
HRESULT nd1_register_memory(struct nd1_adapter *adapter, const void *buffer, SIZE_T octets,
    OVERLAPPED *overlapped, ND_MR_HANDLE *handle);
HRESULT nd1_deregister_memory(
    struct nd1_adapter *adapter, ND_MR_HANDLE handle, OVERLAPPED *overlapped);

#endif
