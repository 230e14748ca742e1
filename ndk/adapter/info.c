/* SPDX-License-Identifier: MIT */
/*
 * info.c - NdkQueryAdapterInfo.
 *
 * Source: NDK_ADAPTER_INFO of the NDKPI documentation.
 */
#include "ndk/adapter/info.h"

#include "ndk/verifier/passive.h"

#include "ndspi/core/queue/moderation.h"

enum {
    LARGE_REQUEST = 4096, /* bytes: from there Read and Write are advised */
    MOST_TRANSFER = 0x7FFFFFFF,
    VENDOR = 0xFFFFFF, /* 24 bits */
};

static bool is_iwarp(const struct nd_port *port)
{
    return port->context->device->transport_type == IBV_TRANSPORT_IWARP;
}

bool ndk_invalidates(const struct nd_port *port)
{
    return port->caps.fast_register != ND_FAST_NONE;
}

/* softrdma is the one iWARP device that does not: each of its Reads has an STag of its own for its responses. */
bool ndk_needs_read_sinks(const struct nd_port *port)
{
    return nd_has_quirk(&port->caps, READ_SINK);
}

/* The connection manager chooses the second version of RoCE by default. */
static NDK_RDMA_TECHNOLOGY technology(const struct nd_port *port)
{
    if (is_iwarp(port))
        return NdkiWarp;
    if (port->port_attr.link_layer == IBV_LINK_LAYER_ETHERNET)
        return NdkRoCEv2;
    return NdkInfiniBand;
}

static ULONG flags_of(const struct nd_port *port)
{
    ULONG flags =
        NDK_ADAPTER_FLAG_MULTI_ENGINE_SUPPORTED | NDK_ADAPTER_FLAG_LOOPBACK_CONNECTIONS_SUPPORTED;

    if (!ndk_needs_read_sinks(port))
        flags |= NDK_ADAPTER_FLAG_RDMA_READ_SINK_NOT_REQUIRED;
    if (nd_moderates(port))
        flags |= NDK_ADAPTER_FLAG_CQ_INTERRUPT_MODERATION_SUPPORTED;
    if (port->caps.cq_resize)
        flags |= NDK_ADAPTER_FLAG_CQ_RESIZE_SUPPORTED;
    return flags;
}

static void describe(const struct ndk_adapter *adapter, NDK_ADAPTER_INFO *info)
{
    const struct nd_limits *limits = &adapter->core->limits;
    const struct nd_port *port = &adapter->core->port;

    *info = (NDK_ADAPTER_INFO){
        .Version = adapter->root.version,
        .VendorId = limits->vendor_id & VENDOR,
        .DeviceId = limits->device_id,
        .MaxRegistrationSize = limits->max_registration,
        .MaxWindowSize = limits->max_registration,
        .FRMRPageCount = port->caps.max_fast_pages,
        .MaxInitiatorRequestSge = limits->max_initiator_sge,
        .MaxReceiveRequestSge = limits->max_receive_sge,
        .MaxReadRequestSge = limits->max_read_sge,
        .MaxTransferLength =
            limits->max_transfer < MOST_TRANSFER ? limits->max_transfer : MOST_TRANSFER,
        .MaxInlineDataSize = limits->max_inline,
        .MaxInboundReadLimit = limits->max_inbound_reads,
        .MaxOutboundReadLimit = limits->max_outbound_reads,
        .MaxReceiveQueueDepth = limits->max_receive_depth,
        .MaxInitiatorQueueDepth = limits->max_initiator_depth,
        .MaxSrqDepth = limits->max_srq_depth,
        .MaxCqDepth = limits->max_cq_depth,
        .LargeRequestThreshold = LARGE_REQUEST,
        .MaxCallerData = limits->max_caller_data,
        .MaxCalleeData = limits->max_callee_data,
        .AdapterFlags = flags_of(port),
        .RdmaTechnology = technology(port),
    };
}

NTSTATUS ndk_query_adapter_info(NDK_ADAPTER *given, NDK_ADAPTER_INFO *info, ULONG *size)
{
    struct ndk_adapter *adapter = ndk_adapter_from(given);
    ULONG room, needed = sizeof(*info);
    NDK_ADAPTER_INFO whole;

    ndk_passive_expected("NdkQueryAdapterInfo", "NDK_ADAPTER", given);
    if (!size)
        return STATUS_INVALID_PARAMETER;
    if (adapter->root.version.Major < 2)
        needed = offsetof(NDK_ADAPTER_INFO, RdmaTechnology);
    room = *size;
    *size = needed;
    if (!info || room < needed)
        return STATUS_BUFFER_TOO_SMALL;
    describe(adapter, &whole);
    memcpy(info, &whole, needed);
    return STATUS_SUCCESS;
}
