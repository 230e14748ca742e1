/* SPDX-License-Identifier: MIT */
/*
 * adapter.c - IND2Adapter over core/adapter/adapter.h.
 *
 * Source: NetworkDirect SPI version 2, IND2Adapter.
 */
#include "ndspi/core/queue/qp.h"
#include "ndspi/v2/nd2.h"

#include <stdlib.h>
#include <string.h>

const IID nd2_iid_adapter = { 0x6e1f2a57, 0x9d0b, 0x4c1e,
    { 0x8a, 0x36, 0x25, 0x7b, 0x41, 0xd3, 0x90, 0x6f } };

static const IID *const iids[] = { &IID_IUnknown, &IID_IND2Adapter, &nd2_iid_adapter, NULL };

static void nd2_adapter_close(struct nd2_adapter *adapter)
{
    IND2Provider *provider = adapter->provider;

    nd_adapter_unpin(&adapter->core); /* may free it */
    provider->lpVtbl->Release(provider);
}

static void nd2_adapter_destroy(struct nd_object *object)
{
    struct nd_adapter *core = (struct nd_adapter *)object;

    nd_adapter_fini(core);
    free(container_of(core, struct nd2_adapter, core));
}

ND_COM_UNKNOWN(nd2_adapter, IND2Adapter);

/* ---- IND2Adapter ---- */

static HRESULT STDMETHODCALLTYPE nd2_adapter_CreateOverlappedFile(IND2Adapter *iface, HANDLE *file)
{
    if (!file)
        return E_POINTER;
    *file = NULL;
    return nd_adapter_create_file(&impl_from_IND2Adapter(iface)->core, file);
}

/* Version 1 of the structure is the same; documents name it, programs ask for ND_VERSION_2. */
static HRESULT STDMETHODCALLTYPE nd2_adapter_Query(
    IND2Adapter *iface, ND2_ADAPTER_INFO *info, ULONG *size)
{
    struct nd_adapter *core = &impl_from_IND2Adapter(iface)->core;
    ULONG version, room;

    if (!size)
        return ND_INVALID_PARAMETER;
    if (nd_adapter_removed(core))
        return ND_DEVICE_REMOVED;
    room = *size;
    *size = sizeof(*info);
    if (!info || room < sizeof(*info))
        return ND_BUFFER_OVERFLOW;
    version = info->InfoVersion ? info->InfoVersion : ND_VERSION_2;
    if (version != ND_VERSION_1 && version != ND_VERSION_2)
        return ND_NOT_SUPPORTED;
    nd_adapter_describe(core, info);
    info->InfoVersion = version;
    return ND_SUCCESS;
}

static HRESULT STDMETHODCALLTYPE nd2_adapter_QueryAddressList(
    IND2Adapter *iface, SOCKET_ADDRESS_LIST *list, ULONG *size)
{
    struct nd_adapter *core = &impl_from_IND2Adapter(iface)->core;
    size_t octets;
    HRESULT status;

    if (!size)
        return ND_INVALID_PARAMETER;
    if (nd_adapter_removed(core))
        return ND_DEVICE_REMOVED;
    octets = *size;
    status = nd_provider_address_list(core->device, list, &octets);
    *size = (ULONG)octets;
    return status;
}

/* group and affinity are hints: here the threads that wait do the work. */
static HRESULT STDMETHODCALLTYPE nd2_adapter_CreateCompletionQueue(IND2Adapter *iface, REFIID iid,
    HANDLE overlapped_file, ULONG depth, USHORT group, KAFFINITY affinity, VOID **out)
{
    (void)group;
    return nd2_cq_create(impl_from_IND2Adapter(iface), iid, overlapped_file, depth, affinity, out);
}

static HRESULT STDMETHODCALLTYPE nd2_adapter_CreateMemoryRegion(
    IND2Adapter *iface, REFIID iid, HANDLE overlapped_file, VOID **out)
{
    return nd2_mr_create(impl_from_IND2Adapter(iface), iid, overlapped_file, out);
}

static HRESULT STDMETHODCALLTYPE nd2_adapter_CreateMemoryWindow(
    IND2Adapter *iface, REFIID iid, VOID **out)
{
    return nd2_mw_create(impl_from_IND2Adapter(iface), iid, out);
}

static HRESULT STDMETHODCALLTYPE nd2_adapter_CreateSharedReceiveQueue(IND2Adapter *iface,
    REFIID iid, HANDLE overlapped_file, ULONG depth, ULONG sge, ULONG threshold, USHORT group,
    KAFFINITY affinity, VOID **out)
{
    (void)group;
    return nd2_srq_create(
        impl_from_IND2Adapter(iface), iid, overlapped_file, depth, sge, threshold, affinity, out);
}

/* Beyond the adapter's own limit the device decides. */
static HRESULT create_qp(
    struct nd2_adapter *adapter, REFIID iid, const struct nd_qp_params *params, void **out)
{
    HRESULT status = nd2_qp_create(adapter, iid, params, out);

    if (status == ND_INSUFFICIENT_RESOURCES &&
        params->initiator_depth > adapter->core.limits.max_initiator_depth)
        return ND_INVALID_PARAMETER_6;
    return status;
}

static HRESULT STDMETHODCALLTYPE nd2_adapter_CreateQueuePair(IND2Adapter *iface, REFIID iid,
    IUnknown *receive_cq, IUnknown *initiator_cq, VOID *context, ULONG receive_depth,
    ULONG initiator_depth, ULONG receive_sge, ULONG initiator_sge, ULONG inline_data, VOID **out)
{
    struct nd2_adapter *adapter = impl_from_IND2Adapter(iface);
    const struct nd_limits *limits = &adapter->core.limits;
    struct nd_qp_params params = {
        .receive_cq = nd2_reach_cq(receive_cq, &adapter->core),
        .initiator_cq = nd2_reach_cq(initiator_cq, &adapter->core),
        .context = context,
        .receive_depth = receive_depth,
        .initiator_depth = initiator_depth,
        .receive_sge = receive_sge,
        .initiator_sge = initiator_sge,
        .inline_data = inline_data,
    };
    HRESULT status;

    if (out)
        *out = NULL;
    if (!params.receive_cq)
        status = ND_INVALID_PARAMETER_2;
    else if (!params.initiator_cq)
        status = ND_INVALID_PARAMETER_3;
    else if (receive_depth > limits->max_receive_depth)
        status = ND_INVALID_PARAMETER_5;
    else if (!initiator_depth || initiator_depth > nd_limits_initiator_most(limits))
        status = ND_INVALID_PARAMETER_6;
    else if (receive_sge > limits->max_receive_sge)
        status = ND_INVALID_PARAMETER_7;
    else if (initiator_sge > limits->max_initiator_sge)
        status = ND_INVALID_PARAMETER_8;
    else if (inline_data > limits->max_inline)
        status = ND_INVALID_PARAMETER_9;
    else
        status = create_qp(adapter, iid, &params, out);
    nd2_drop_cq(params.initiator_cq);
    nd2_drop_cq(params.receive_cq);
    return status;
}

static HRESULT STDMETHODCALLTYPE nd2_adapter_CreateQueuePairWithSrq(IND2Adapter *iface, REFIID iid,
    IUnknown *receive_cq, IUnknown *initiator_cq, IUnknown *srq, VOID *context,
    ULONG initiator_depth, ULONG initiator_sge, ULONG inline_data, VOID **out)
{
    struct nd2_adapter *adapter = impl_from_IND2Adapter(iface);
    const struct nd_limits *limits = &adapter->core.limits;
    struct nd_qp_params params = {
        .receive_cq = nd2_reach_cq(receive_cq, &adapter->core),
        .initiator_cq = nd2_reach_cq(initiator_cq, &adapter->core),
        .srq = nd2_reach_srq(srq, &adapter->core),
        .context = context,
        .initiator_depth = initiator_depth,
        .initiator_sge = initiator_sge,
        .inline_data = inline_data,
    };
    HRESULT status;

    if (out)
        *out = NULL;
    if (!limits->max_srq_depth)
        status = ND_NOT_SUPPORTED;
    else if (!params.receive_cq)
        status = ND_INVALID_PARAMETER_2;
    else if (!params.initiator_cq)
        status = ND_INVALID_PARAMETER_3;
    else if (!params.srq)
        status = ND_INVALID_PARAMETER_4;
    else if (!initiator_depth || initiator_depth > nd_limits_initiator_most(limits))
        status = ND_INVALID_PARAMETER_6;
    else if (initiator_sge > limits->max_initiator_sge)
        status = ND_INVALID_PARAMETER_7;
    else if (inline_data > limits->max_inline)
        status = ND_INVALID_PARAMETER_8;
    else
        status = create_qp(adapter, iid, &params, out);
    nd2_drop_srq(params.srq);
    nd2_drop_cq(params.initiator_cq);
    nd2_drop_cq(params.receive_cq);
    return status;
}

static HRESULT STDMETHODCALLTYPE nd2_adapter_CreateConnector(
    IND2Adapter *iface, REFIID iid, HANDLE overlapped_file, VOID **out)
{
    return nd2_connector_create(impl_from_IND2Adapter(iface), overlapped_file, iid, out);
}

static HRESULT STDMETHODCALLTYPE nd2_adapter_CreateListener(
    IND2Adapter *iface, REFIID iid, HANDLE overlapped_file, VOID **out)
{
    return nd2_listener_create(impl_from_IND2Adapter(iface), overlapped_file, iid, out);
}

static const IND2AdapterVtbl nd2_adapter_vtbl = {
    /* IUnknown */
    ND_COM_UNKNOWN_SLOTS(nd2_adapter),
    /* IND2Adapter */
    .CreateOverlappedFile = nd2_adapter_CreateOverlappedFile,
    .Query = nd2_adapter_Query,
    .QueryAddressList = nd2_adapter_QueryAddressList,
    .CreateCompletionQueue = nd2_adapter_CreateCompletionQueue,
    .CreateMemoryRegion = nd2_adapter_CreateMemoryRegion,
    .CreateMemoryWindow = nd2_adapter_CreateMemoryWindow,
    .CreateSharedReceiveQueue = nd2_adapter_CreateSharedReceiveQueue,
    .CreateQueuePair = nd2_adapter_CreateQueuePair,
    .CreateQueuePairWithSrq = nd2_adapter_CreateQueuePairWithSrq,
    .CreateConnector = nd2_adapter_CreateConnector,
    .CreateListener = nd2_adapter_CreateListener,
};

HRESULT nd2_adapter_open(IND2Provider *provider, const struct nd_device *device,
    const struct nd_sink *sink, REFIID iid, void **out)
{
    struct nd2_adapter *adapter;
    HRESULT status;

    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!nd_com_answers(iids, iid))
        return E_NOINTERFACE;
    if (!(adapter = nd_object_alloc(sizeof(*adapter))))
        return ND_NO_MEMORY;
    status = nd_adapter_init(&adapter->core, device, &nd_dialect_v2, sink, nd2_adapter_destroy);
    if (FAILED(status)) {
        free(adapter);
        return status;
    }
    adapter->IND2Adapter_iface.lpVtbl = &nd2_adapter_vtbl;
    atomic_init(&adapter->refs, 1);
    provider->lpVtbl->AddRef(provider);
    adapter->provider = provider;
    *out = adapter;
    return ND_SUCCESS;
}

/* ---- what the create methods have in common ---- */

HRESULT nd2_begin_create(
    struct nd2_adapter *adapter, const IID *const known[], REFIID iid, void **out)
{
    if (!out)
        return E_POINTER;
    *out = NULL;
    if (!nd_com_answers(known, iid))
        return E_NOINTERFACE;
    return nd_adapter_removed(&adapter->core) ? ND_DEVICE_REMOVED : ND_SUCCESS;
}

HRESULT nd2_begin_create_overlapped(struct nd2_adapter *adapter, const IID *const known[],
    REFIID iid, HANDLE overlapped_file, struct nd_sink_file **file, void **out)
{
    HRESULT status = nd2_begin_create(adapter, known, iid, out);

    if (FAILED(status))
        return status;
    *file = nd_adapter_file(&adapter->core, overlapped_file);
    return *file ? ND_SUCCESS : ND_INVALID_HANDLE;
}
