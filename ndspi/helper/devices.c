/* SPDX-License-Identifier: MIT */
/* devices.c - the provider's report on its devices, as the extension header has it. */
#include <ndspi_linux.h>

#include "ndspi/core/provider.h"

struct tell {
    ND_LINUX_DEVICE_CALLBACK callback;
    VOID *context;
};

static void tell_row(void *context, const struct nd_provider_row *row)
{
    const struct tell *tell = context;
    ND_LINUX_DEVICE device = {
        .Name = row->name,
        .Provider = row->verbs,
        .Port = row->port,
        .Used = row->used,
        .AddressCount = row->addresses,
        .AdapterId = row->adapter_id,
        .Reason = row->why,
    };
    tell->callback(tell->context, &device);
}

HRESULT NdLinuxDescribeDevices(ND_LINUX_DEVICE_CALLBACK callback, VOID *context)
{
    struct tell tell = { callback, context };
    if (!callback)
        return ND_INVALID_PARAMETER_1;
    nd_provider_report(tell_row, &tell);
    return ND_SUCCESS;
}
