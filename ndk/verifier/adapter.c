/* SPDX-License-Identifier: MIT */
/* adapter.c - the checked table of adapters. */
#include "ndk/verifier/memory.h"
#include "ndk/verifier/tables.h"
#include "ndk/verifier/watch.h"

static NTSTATUS query_info(NDK_ADAPTER *adapter, NDK_ADAPTER_INFO *info, ULONG *size)
{
    struct ndk_use use;
    NTSTATUS result;

    if (!ndk_use_begin(&use, adapter, NdkObjectTypeAdapter, NDK_LANE_NONE, "NdkQueryAdapterInfo"))
        return STATUS_INVALID_DEVICE_STATE;
    result = NDK_PLAIN(&use, NDK_ADAPTER_DISPATCH)->NdkQueryAdapterInfo(adapter, info, size);
    ndk_use_end(&use);
    return result;
}

static NTSTATUS create_cq(NDK_ADAPTER *adapter, ULONG depth, NDK_FN_CQ_NOTIFICATION_CALLBACK notify,
    PVOID notify_context, GROUP_AFFINITY *affinity, NDK_FN_CREATE_COMPLETION completion,
    PVOID context, NDK_CQ **out)
{
    struct ndk_making making;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, adapter, NdkObjectTypeAdapter, NDK_LANE_NONE, "NdkCreateCq"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_making_begin(&making, &use, completion, context, NULL);
    status = NDK_PLAIN(&use, NDK_ADAPTER_DISPATCH)
                 ->NdkCreateCq(adapter, depth, notify, notify_context, affinity, making.completion,
                     making.context, out);
    return ndk_making_end(&making, status, (void *const *)out);
}

static NTSTATUS create_pd(
    NDK_ADAPTER *adapter, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_PD **out)
{
    struct ndk_making making;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, adapter, NdkObjectTypeAdapter, NDK_LANE_NONE, "NdkCreatePd"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_making_begin(&making, &use, completion, context, NULL);
    status = NDK_PLAIN(&use, NDK_ADAPTER_DISPATCH)
                 ->NdkCreatePd(adapter, making.completion, making.context, out);
    return ndk_making_end(&making, status, (void *const *)out);
}

static NTSTATUS create_endpoint(NDK_ADAPTER *adapter, CONST PSOCKADDR address, ULONG length,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_SHARED_ENDPOINT **out)
{
    struct ndk_making making;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(
            &use, adapter, NdkObjectTypeAdapter, NDK_LANE_NONE, "NdkCreateSharedEndpoint"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_making_begin(&making, &use, completion, context, NULL);
    status = NDK_PLAIN(&use, NDK_ADAPTER_DISPATCH)
                 ->NdkCreateSharedEndpoint(
                     adapter, address, length, making.completion, making.context, out);
    return ndk_making_end(&making, status, (void *const *)out);
}

static NTSTATUS create_connector(
    NDK_ADAPTER *adapter, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_CONNECTOR **out)
{
    struct ndk_making making;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, adapter, NdkObjectTypeAdapter, NDK_LANE_NONE, "NdkCreateConnector"))
        return STATUS_INVALID_DEVICE_STATE;
    ndk_making_begin(&making, &use, completion, context, NULL);
    status = NDK_PLAIN(&use, NDK_ADAPTER_DISPATCH)
                 ->NdkCreateConnector(adapter, making.completion, making.context, out);
    return ndk_making_end(&making, status, (void *const *)out);
}

/* ---- listeners deliver connectors, which the consumer owns from then on ---- */

struct connect_event {
    NDK_FN_CONNECT_EVENT_CALLBACK event;
    PVOID context;
};

static VOID tell_connector(PVOID context, NDK_CONNECTOR *connector)
{
    const struct connect_event *consumer = context;

    ndk_shadow_give(connector, NULL);
    consumer->event(consumer->context, connector);
}

/* It is freed with the listener. */
static struct connect_event *event_of(NDK_FN_CONNECT_EVENT_CALLBACK event, PVOID context)
{
    struct connect_event *consumer = event ? malloc(sizeof(*consumer)) : NULL;

    if (consumer)
        *consumer = (struct connect_event){ .event = event, .context = context };
    return consumer;
}

static NTSTATUS create_listener(NDK_ADAPTER *adapter, NDK_FN_CONNECT_EVENT_CALLBACK event,
    PVOID event_context, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_LISTENER **out)
{
    struct connect_event *consumer;
    struct ndk_making making;
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, adapter, NdkObjectTypeAdapter, NDK_LANE_NONE, "NdkCreateListener"))
        return STATUS_INVALID_DEVICE_STATE;
    consumer = event_of(event, event_context);
    ndk_making_begin(&making, &use, completion, context, consumer);
    status = NDK_PLAIN(&use, NDK_ADAPTER_DISPATCH)
                 ->NdkCreateListener(adapter, consumer ? tell_connector : event,
                     consumer ? consumer : event_context, making.completion, making.context, out);
    return ndk_making_end(&making, status, (void *const *)out);
}

/* ---- mappings ---- */

static NTSTATUS build_lam(NDK_ADAPTER *adapter, MDL *mdl, SIZE_T length,
    NDK_FN_REQUEST_COMPLETION completion, PVOID context, NDK_LOGICAL_ADDRESS_MAPPING *out,
    ULONG *size, ULONG *offset)
{
    struct ndk_use use;
    NTSTATUS status;

    if (!ndk_use_begin(&use, adapter, NdkObjectTypeAdapter, NDK_LANE_NONE, "NdkBuildLAM"))
        return STATUS_INVALID_DEVICE_STATE;
    /* It always ends in the call, so its MDLs need no watching. */
    status = NDK_PLAIN(&use, NDK_ADAPTER_DISPATCH)
                 ->NdkBuildLAM(adapter, mdl, length, completion, context, out, size, offset);
    if (status == STATUS_SUCCESS)
        ndk_mapping_made(use.shadow->root, out);
    ndk_use_end(&use);
    return status;
}

static VOID release_lam(NDK_ADAPTER *adapter, NDK_LOGICAL_ADDRESS_MAPPING *mapping)
{
    struct ndk_use use;

    if (!ndk_use_begin(&use, adapter, NdkObjectTypeAdapter, NDK_LANE_NONE, "NdkReleaseLAM"))
        return;
    if (ndk_mapping_released(&use, mapping))
        NDK_PLAIN(&use, NDK_ADAPTER_DISPATCH)->NdkReleaseLAM(adapter, mapping);
    ndk_use_end(&use);
}

const NDK_ADAPTER_DISPATCH ndk_checked_adapter = {
    .NdkQueryExtension = ndk_checked_query_extension,
    .NdkQueryAdapterInfo = query_info,
    .NdkCreateCq = create_cq,
    .NdkCreatePd = create_pd,
    .NdkCreateSharedEndpoint = create_endpoint,
    .NdkCreateConnector = create_connector,
    .NdkCreateListener = create_listener,
    .NdkBuildLAM = build_lam,
    .NdkReleaseLAM = release_lam,
};
