/* SPDX-License-Identifier: MIT */
/* nd2_create.c - what the create methods of the adapter have in common. */
#include "ndspi/v2/nd2.h"

HRESULT nd2_begin_create(
    struct nd2_adapter *adapter, const IID *const iids[], REFIID iid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!nd_com_answers(iids, iid))
        return E_NOINTERFACE;
    return nd_adapter_removed(&adapter->core) ? ND_DEVICE_REMOVED : ND_SUCCESS;
}

HRESULT nd2_begin_create_overlapped(struct nd2_adapter *adapter, const IID *const iids[],
    REFIID iid, HANDLE overlapped_file, struct nd_sink_file **file, void **out)
{
    HRESULT status = nd2_begin_create(adapter, iids, iid, out);

    if (FAILED(status))
        return status;
    *file = nd_adapter_file(&adapter->core, overlapped_file);
    return *file ? ND_SUCCESS : ND_INVALID_HANDLE;
}
