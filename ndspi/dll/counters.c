/* SPDX-License-Identifier: MIT */
/* counters.c - NdLinuxQueryCounters and NdLinuxCounter, for adapters of both versions. */
#include "ndspi/core/adapter/counters.h"
#include "ndspi/v1/nd1.h"
#include "ndspi/v2/nd2.h"

#include <ndspi_linux.h>

DECLSPEC_EXPORT const ND_LINUX_COUNTER *NdLinuxCounter(ULONG index)
{
    return nd_counter_row(index);
}

DECLSPEC_EXPORT HRESULT NdLinuxQueryCounters(IUnknown *adapter, ND_LINUX_COUNTERS *counters)
{
    HRESULT status;
    void *found;

    if (!adapter)
        return ND_INVALID_PARAMETER_1;
    if (SUCCEEDED(adapter->lpVtbl->QueryInterface(adapter, &nd2_iid_adapter, &found)))
        status = nd_counters_query(&((struct nd2_adapter *)found)->core, counters);
    else if (SUCCEEDED(adapter->lpVtbl->QueryInterface(adapter, &nd1_iid_adapter, &found)))
        status = nd_counters_query(&((struct nd1_adapter *)found)->core, counters);
    else
        return ND_INVALID_PARAMETER_1;
    /* The object itself: with NDSPI_CHECK `adapter` is a wrapper, whose references are others. */
    ((IUnknown *)found)->lpVtbl->Release(found);
    return status;
}
