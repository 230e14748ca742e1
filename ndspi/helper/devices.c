/* SPDX-License-Identifier: MIT */
/* devices.c - the provider's report on devices and addresses, as the extension header has it. */
#include <ndspi_linux.h>

#include "ndspi/core/address.h"
#include "ndspi/core/device/provider.h"
#include "ndspi/core/device/trial.h"
#include "ndspi/core/status.h"

#include <stdlib.h>

struct tell_devices {
    ND_LINUX_DEVICE_CALLBACK callback;
    VOID *context;
    struct nd_trial *trial; /* NULL: not asked for */
};

static void add_trial(
    const struct nd_trial *trial, ND_LINUX_DEVICE *device, ND_LINUX_NOTE notes[ND_NOTES_MAX])
{
    device->Family = trial->family;
    device->Transport = trial->transport;
    device->Firmware = trial->firmware;
    device->Info = &trial->info;
    for (unsigned i = 0; i < trial->notes; i++)
        notes[i] = (ND_LINUX_NOTE){ trial->note[i].code, trial->note[i].text };
    device->Notes = notes;
    device->NoteCount = trial->notes;
}

static void tell_device(void *context, const struct nd_device *found, unsigned addresses,
    const struct nd_diagnosis *diagnosis)
{
    const struct tell_devices *tell = context;
    char text[ND_DIAGNOSIS_TEXT_OCTETS], remedy[ND_DIAGNOSIS_TEXT_OCTETS];
    ND_LINUX_NOTE notes[ND_NOTES_MAX];
    ND_LINUX_DEVICE device = {
        .Name = found->name,
        .Provider = found->verbs->name,
        .Interface = *diagnosis->netdev ? diagnosis->netdev : NULL,
        .Port = found->port,
        .AddressCount = addresses,
        .AdapterId = found->adapter_id,
    };
    if (tell->trial && nd_diagnosis_used(diagnosis)) {
        nd_trial_run(found, tell->trial);
        if (nd_diagnosis_used(&tell->trial->diagnosis))
            add_trial(tell->trial, &device, notes);
        else
            diagnosis = &tell->trial->diagnosis;
    }
    device.Used = nd_diagnosis_used(diagnosis);
    device.Code = nd_diagnosis_code(diagnosis);
    device.Reason = nd_diagnosis_text(diagnosis, text);
    device.Remedy = nd_diagnosis_remedy(diagnosis, remedy);
    tell->callback(tell->context, &device);
}

HRESULT NdLinuxDescribeDevices(ULONG flags, ND_LINUX_DEVICE_CALLBACK callback, VOID *context)
{
    struct tell_devices tell = { callback, context, NULL };
    if (flags & ~(ULONG)ND_LINUX_TRY)
        return ND_INVALID_PARAMETER_1;
    if (!callback)
        return ND_INVALID_PARAMETER_2;
    if (flags & ND_LINUX_TRY) {
        tell.trial = malloc(sizeof(*tell.trial));
        if (!tell.trial)
            return ND_NO_MEMORY;
    }
    HRESULT hr = nd_provider_report(tell_device, &tell);
    free(tell.trial);
    return hr;
}

struct tell_addresses {
    ND_LINUX_ADDRESS_CALLBACK callback;
    VOID *context;
};

static void tell_address(void *context, const struct nd_provider_address *found)
{
    const struct tell_addresses *tell = context;
    const struct nd_diagnosis *diagnosis = &found->diagnosis;
    char text[ND_DIAGNOSIS_TEXT_OCTETS], remedy[ND_DIAGNOSIS_TEXT_OCTETS];
    ND_LINUX_ADDRESS address = {
        .Address = (const struct sockaddr *)&found->ip,
        .AddressSize = (ULONG)nd_address_size((const struct sockaddr *)&found->ip),
        .Interface = *diagnosis->netdev ? diagnosis->netdev : NULL,
        .Device = *diagnosis->device ? diagnosis->device : NULL,
        .AdapterId = found->device ? found->device->adapter_id : 0,
        .Used = found->device != NULL,
        .Code = nd_diagnosis_code(diagnosis),
        .Reason = nd_diagnosis_text(diagnosis, text),
        .Remedy = nd_diagnosis_remedy(diagnosis, remedy),
    };
    tell->callback(tell->context, &address);
}

HRESULT NdLinuxDescribeAddresses(ND_LINUX_ADDRESS_CALLBACK callback, VOID *context)
{
    struct tell_addresses tell = { callback, context };
    if (!callback)
        return ND_INVALID_PARAMETER_1;
    return nd_provider_report_addresses(tell_address, &tell);
}

const char *NdLinuxStatusName(HRESULT status)
{
    return nd_status_name(status);
}
