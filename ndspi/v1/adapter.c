/* SPDX-License-Identifier: MIT */
/*
 * adapter.c - INDAdapter over core/adapter/adapter.h: one IP address of a device, with one overlapped file for
 * all that is made of it. The file serves the children, too: its handle is closed with the adapter's last child, not
 * with its last reference.
 *
 * Source: NetworkDirect SPI version 1, INDAdapter.
 */
#include "ndspi/v1/nd1.h"

#include <stdlib.h>

const IID nd1_iid_adapter = { 0x6e1f2a67, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

static const IID *const iids[] = { &IID_IUnknown, &IID_INDOverlapped, &IID_INDAdapter,
    &nd1_iid_adapter, NULL };

static void close_file(struct nd1_adapter *adapter)
{
    adapter->core.sink->file_close(adapter->file, adapter->handle);
    adapter->core.sink->file_unref(adapter->file);
}

static void nd1_adapter_close(struct nd1_adapter *adapter)
{
    INDProvider *provider = adapter->provider;

    nd_pending_cancel(&adapter->pending);
    nd_adapter_unpin(&adapter->core); /* may free it */
    provider->lpVtbl->Release(provider);
}

static void nd1_adapter_destroy(struct nd_object *object)
{
    struct nd_adapter *core = (struct nd_adapter *)object;
    struct nd1_adapter *adapter = container_of(core, struct nd1_adapter, core);

    nd_pending_fini(&adapter->pending);
    close_file(adapter);
    nd_adapter_fini(core);
    free(adapter);
}

ND_COM_UNKNOWN(nd1_adapter, INDAdapter);

/* ---- INDOverlapped ---- */

static HRESULT STDMETHODCALLTYPE nd1_adapter_CancelOverlappedRequests(INDAdapter *iface)
{
    nd_pending_cancel(&impl_from_INDAdapter(iface)->pending);
    return ND_SUCCESS;
}

static HRESULT STDMETHODCALLTYPE nd1_adapter_GetOverlappedResult(
    INDAdapter *iface, OVERLAPPED *overlapped, SIZE_T *octets, BOOL wait)
{
    return nd1_overlapped_result(&impl_from_INDAdapter(iface)->pending, overlapped, octets, wait);
}

/* ---- INDAdapter ---- */

static HANDLE STDMETHODCALLTYPE nd1_adapter_GetFileHandle(INDAdapter *iface)
{
    return impl_from_INDAdapter(iface)->handle;
}

static HRESULT STDMETHODCALLTYPE nd1_adapter_Query(
    INDAdapter *iface, DWORD version, ND_ADAPTER_INFO *info, SIZE_T *size)
{
    const struct nd_adapter *core = &impl_from_INDAdapter(iface)->core;
    const struct nd_limits *limits = &core->limits;
    SIZE_T room;

    if (version != ND_VERSION_1)
        return ND_NOT_SUPPORTED;
    if (!size)
        return ND_INVALID_PARAMETER;
    if (nd_adapter_removed(core))
        return ND_DEVICE_REMOVED;
    room = *size;
    *size = sizeof(*info);
    if (!info || room < sizeof(*info))
        return ND_BUFFER_OVERFLOW;
    *info = (ND_ADAPTER_INFO){
        .VendorId = limits->vendor_id,
        .DeviceId = limits->device_id,
        .MaxInboundSge = limits->max_receive_sge,
        .MaxInboundRequests = limits->max_receive_depth,
        .MaxInboundLength = limits->max_transfer,
        .MaxOutboundSge = limits->max_initiator_sge,
        .MaxOutboundRequests = limits->max_initiator_depth,
        .MaxOutboundLength = limits->max_transfer,
        .MaxInlineData = limits->max_inline,
        /* Reads that a peer may have in flight here, and we at the peer; documents swap the two. */
        .MaxInboundReadLimit = limits->max_inbound_reads,
        .MaxOutboundReadLimit = limits->max_outbound_reads,
        .MaxCqEntries = limits->max_cq_depth,
        .MaxRegistrationSize = limits->max_registration,
        .MaxWindowSize = limits->max_registration,
        .LargeRequestThreshold = limits->large_threshold,
        .MaxCallerData = limits->max_caller_data,
        .MaxCalleeData = limits->max_callee_data,
    };
    return ND_SUCCESS;
}

/* Vendors' escapes; there are none. */
static HRESULT STDMETHODCALLTYPE nd1_adapter_Control(INDAdapter *iface, DWORD code, const VOID *in,
    SIZE_T in_octets, VOID *out, SIZE_T out_octets, SIZE_T *returned, OVERLAPPED *overlapped)
{
    (void)iface;
    (void)code;
    (void)in;
    (void)in_octets;
    (void)out;
    (void)out_octets;
    (void)returned;
    (void)overlapped;
    return ND_NOT_SUPPORTED;
}

static HRESULT STDMETHODCALLTYPE nd1_adapter_CreateCompletionQueue(
    INDAdapter *iface, SIZE_T entries, INDCompletionQueue **out)
{
    return nd1_cq_create(impl_from_INDAdapter(iface), entries, out);
}

static HRESULT STDMETHODCALLTYPE nd1_adapter_RegisterMemory(INDAdapter *iface, const VOID *buffer,
    SIZE_T octets, OVERLAPPED *overlapped, ND_MR_HANDLE *handle)
{
    return nd1_register_memory(impl_from_INDAdapter(iface), buffer, octets, overlapped, handle);
}

static HRESULT STDMETHODCALLTYPE nd1_adapter_DeregisterMemory(
    INDAdapter *iface, ND_MR_HANDLE handle, OVERLAPPED *overlapped)
{
    return nd1_deregister_memory(impl_from_INDAdapter(iface), handle, overlapped);
}

static HRESULT STDMETHODCALLTYPE nd1_adapter_CreateMemoryWindow(
    INDAdapter *iface, ND_RESULT *invalidate_result, INDMemoryWindow **out)
{
    return nd1_mw_create(impl_from_INDAdapter(iface), invalidate_result, out);
}

static HRESULT STDMETHODCALLTYPE nd1_adapter_CreateConnector(INDAdapter *iface, INDConnector **out)
{
    return nd1_connector_create(impl_from_INDAdapter(iface), out);
}

/* protocol: known programs pass any number. */
static HRESULT STDMETHODCALLTYPE nd1_adapter_Listen(INDAdapter *iface, SIZE_T backlog, INT protocol,
    USHORT port_be, USHORT *assigned_be, INDListen **out)
{
    (void)protocol;
    return nd1_listen_create(impl_from_INDAdapter(iface), backlog, port_be, assigned_be, out);
}

static const INDAdapterVtbl nd1_adapter_vtbl = {
    /* IUnknown */
    ND_COM_UNKNOWN_SLOTS(nd1_adapter),
    /* INDOverlapped */
    ND_COM_OVERLAPPED_SLOTS(nd1_adapter),
    /* INDAdapter */
    .GetFileHandle = nd1_adapter_GetFileHandle,
    .Query = nd1_adapter_Query,
    .Control = nd1_adapter_Control,
    .CreateCompletionQueue = nd1_adapter_CreateCompletionQueue,
    .RegisterMemory = nd1_adapter_RegisterMemory,
    .DeregisterMemory = nd1_adapter_DeregisterMemory,
    .CreateMemoryWindow = nd1_adapter_CreateMemoryWindow,
    .CreateConnector = nd1_adapter_CreateConnector,
    .Listen = nd1_adapter_Listen,
};

static void cancel(struct nd_object *object)
{
    struct nd_adapter *core = (struct nd_adapter *)object;

    nd_pending_cancel(&container_of(core, struct nd1_adapter, core)->pending);
}

HRESULT nd1_adapter_open(INDProvider *provider, const struct nd_device *device,
    const struct nd_sink *sink, const struct sockaddr_storage *address, INDAdapter **out)
{
    struct nd1_adapter *adapter = nd_object_alloc(sizeof(*adapter));
    HRESULT status;

    *out = NULL;
    if (!adapter)
        return ND_NO_MEMORY;
    status = nd_adapter_init(&adapter->core, device, &nd_dialect_v1, sink, nd1_adapter_destroy);
    if (FAILED(status))
        goto free_adapter;
    if (FAILED(status = nd_adapter_create_file(&adapter->core, &adapter->handle)))
        goto fini_core;
    adapter->file = nd_adapter_file(&adapter->core, adapter->handle);
    adapter->address = *address;
    adapter->INDAdapter_iface.lpVtbl = &nd1_adapter_vtbl;
    atomic_init(&adapter->refs, 1);
    provider->lpVtbl->AddRef(provider);
    adapter->provider = provider;
    nd_pending_init(&adapter->pending, sink, adapter->file, &adapter->core.object, cancel);
    *out = &adapter->INDAdapter_iface;
    return ND_SUCCESS;

fini_core:
    nd_adapter_fini(&adapter->core);
free_adapter:
    free(adapter);
    return status;
}
