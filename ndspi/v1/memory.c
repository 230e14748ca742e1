/* SPDX-License-Identifier: MIT */
/*
 * memory.c - INDAdapter::RegisterMemory and DeregisterMemory over core/memory/mr.h.
 *
 * Both are done when they return, and complete the client's OVERLAPPED. They store the handle before that, since
 * another thread may use it as soon as the request completes.
 *
 * Source: NetworkDirect SPI version 1, INDAdapter.
 */
#include "ndspi/v1/nd1.h"

#include "ndspi/core/memory/mr.h"

HRESULT nd1_register_memory(struct nd1_adapter *adapter, const void *buffer, SIZE_T octets,
    OVERLAPPED *overlapped, ND_MR_HANDLE *handle)
{
    ND_MR_HANDLE made;
    HRESULT status;

    if (!handle)
        return ND_INVALID_PARAMETER;
    if (FAILED(status = nd_pending_reserve(&adapter->pending, overlapped)))
        return status;
    if (FAILED(status = nd_region_register(&adapter->core, buffer, octets, &made))) {
        nd_pending_unreserve(&adapter->pending);
        return status;
    }
    *handle = made;
    return nd_pending_complete_reserved(&adapter->pending, overlapped, ND_SUCCESS);
}

HRESULT nd1_deregister_memory(
    struct nd1_adapter *adapter, ND_MR_HANDLE handle, OVERLAPPED *overlapped)
{
    HRESULT status = nd_pending_reserve(&adapter->pending, overlapped);

    if (FAILED(status))
        return status;
    if (SUCCEEDED(status = nd_region_deregister(&adapter->core, handle)))
        return nd_pending_complete_reserved(&adapter->pending, overlapped, ND_SUCCESS);
    nd_pending_unreserve(&adapter->pending);
    return status;
}
