/* SPDX-License-Identifier: MIT */
/*
 * nd1_memory.c - INDAdapter::RegisterMemory and DeregisterMemory over core/regions.h.
 *
 * Both are done when they return; the client's OVERLAPPED is told so. The handle is stored before that, since another
 * thread may use it as soon as it hears.
 *
 * Source: NetworkDirect SPI version 1, INDAdapter.
 */
#include "ndspi/v1/nd1.h"

HRESULT nd1_register_memory(struct nd1_adapter *adapter, const void *buffer, SIZE_T octets,
    OVERLAPPED *overlapped, ND_MR_HANDLE *handle)
{
    ND_MR_HANDLE made, before;
    HRESULT status;

    if (!overlapped || !handle)
        return ND_INVALID_PARAMETER;
    if (FAILED(status = nd_region_register(&adapter->core, buffer, octets, &made)))
        return status;
    before = *handle;
    *handle = made;
    status = nd_pending_complete_now(&adapter->pending, overlapped, ND_SUCCESS);
    if (FAILED(status)) {
        *handle = before;
        nd_region_deregister(&adapter->core, made);
    }
    return status;
}

HRESULT nd1_deregister_memory(
    struct nd1_adapter *adapter, ND_MR_HANDLE handle, OVERLAPPED *overlapped)
{
    HRESULT status;

    if (!overlapped)
        return ND_INVALID_PARAMETER;
    if (FAILED(status = nd_region_deregister(&adapter->core, handle)))
        return status;
    return nd_pending_complete_now(&adapter->pending, overlapped, ND_SUCCESS);
}
