/* SPDX-License-Identifier: MIT */
/*
 * nd2.h - what the facades of version 2 know of each other.
 *
 * A facade is an interface, the application's count of references, and the core object; the last Release closes the core
 * object, whose last pin frees the allocation.
 *
 * Objects of ours that a client hands in as IUnknown are reached by private IIDs. The nd2_reach_* functions return the
 * core object with a reference, which the caller drops through the IUnknown (nd2_drop), or NULL: not ours, or of another
 * adapter.
 */
#ifndef NDSPI_V2_ND2_H
#define NDSPI_V2_ND2_H

#include "ndspi/core/adapter.h"

#include <ndspi.h>

struct nd2_adapter {
    IND2Adapter IND2Adapter_iface; /* first: interface pointer is object pointer */
    atomic_uint refs;
    struct nd_adapter core;
};

extern const IID nd2_iid_connector, nd2_iid_cq, nd2_iid_mr, nd2_iid_mw, nd2_iid_qp, nd2_iid_srq;

struct nd_cq *nd2_reach_cq(IUnknown *unknown, const struct nd_adapter *adapter);
struct nd_mr *nd2_reach_mr(IUnknown *unknown, const struct nd_adapter *adapter);
struct nd_mw *nd2_reach_mw(IUnknown *unknown, const struct nd_adapter *adapter);
struct nd_qp *nd2_reach_qp(IUnknown *unknown, const struct nd_adapter *adapter);
struct nd_srq *nd2_reach_srq(IUnknown *unknown, const struct nd_adapter *adapter);

/* core: what reach returned for it; NULL: nothing to drop. */
static inline void nd2_drop(IUnknown *unknown, const void *core)
{
    if (core)
        unknown->lpVtbl->Release(unknown);
}

/*
 * What each create function does first.
 * iids  in: of the object to be
 * out   out: set to NULL
 * Returns ND_SUCCESS, E_POINTER, E_NOINTERFACE, ND_DEVICE_REMOVED.
 */
HRESULT nd2_begin_create(
    struct nd2_adapter *adapter, const IID *const iids[], REFIID iid, void **out);

HRESULT nd2_provider_create(REFIID iid, void **out);
/* Opens a device of the provider's table. */
HRESULT nd2_adapter_open(const struct nd_device *device, REFIID iid, void **out);

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
