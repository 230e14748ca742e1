/* SPDX-License-Identifier: MIT */
/* v2_adapter.c - wrappers of IND2Provider and IND2Adapter. */
#include "ndspi/check/methods.h"
#include "ndspi/check/returned.h"
#include "ndspi/check/tables.h"

#define WRONG_IID(kind) nd_check_explain_iid(&call, value, iid, &kind)
#define WRONG_FILE(kind)                                                                           \
    WRONG_IID(kind);                                                                               \
    nd_check_explain_file(&call, value, file)
#define WRONG(kind, ...)                                                                           \
    WRONG_IID(kind);                                                                               \
    EXPLAIN_ASKED(value, __VA_ARGS__)

/* ---- IND2Provider ---- */

CHECKED_UNKNOWN(IND2Provider)
CHECKED(IND2Provider, QueryAddressList,
    (IND2Provider * iface, SOCKET_ADDRESS_LIST *list, ULONG *size), (inner, list, size))
CHECKED(IND2Provider, ResolveAddress,
    (IND2Provider * iface, const struct sockaddr *address, ULONG length, UINT64 *id),
    (inner, address, length, id))
CHECKED_MAKES_OR(IND2Provider, OpenAdapter, nd_check_adapter2, nd_check_learn(*out),
    WRONG_IID(nd_check_adapter2), (IND2Provider * iface, REFIID iid, UINT64 id, VOID **out),
    (inner, iid, id, out))

static const IND2ProviderVtbl IND2Provider_table = {
    UNKNOWN_SLOTS(IND2Provider),
    .QueryAddressList = IND2Provider_QueryAddressList_,
    .ResolveAddress = IND2Provider_ResolveAddress_,
    .OpenAdapter = IND2Provider_OpenAdapter_,
};

CHECKED_KIND(nd_check_provider2, IND2Provider, NULL)

/* ---- IND2Adapter ---- */

CHECKED_UNKNOWN(IND2Adapter)
CHECKED(IND2Adapter, CreateOverlappedFile, (IND2Adapter * iface, HANDLE *file), (inner, file))
CHECKED_FULL(HRESULT, ND_INVALID_DEVICE_STATE, IND2Adapter, Query,
    const ULONG had = size ? *size : 0, nd_check_explain_query(&call, value, info, had),
    (IND2Adapter * iface, ND2_ADAPTER_INFO *info, ULONG *size), (inner, info, size))
CHECKED(IND2Adapter, QueryAddressList,
    (IND2Adapter * iface, SOCKET_ADDRESS_LIST *list, ULONG *size), (inner, list, size))
CHECKED_MAKES_OR(
    IND2Adapter, CreateCompletionQueue, nd_check_cq2, (void)0, WRONG_FILE(nd_check_cq2);
    EXPLAIN_ASKED(value, ASKED("queueDepth", depth, 1, MaxCompletionQueueDepth)),
    (IND2Adapter * iface, REFIID iid, HANDLE file, ULONG depth, USHORT group, KAFFINITY affinity,
        VOID **out),
    (inner, iid, file, depth, group, affinity, out))
CHECKED_MAKES_OR(IND2Adapter, CreateMemoryRegion, nd_check_mr2, (void)0, WRONG_FILE(nd_check_mr2),
    (IND2Adapter * iface, REFIID iid, HANDLE file, VOID **out), (inner, iid, file, out))
CHECKED_MAKES_OR(IND2Adapter, CreateMemoryWindow, nd_check_mw2, (void)0, WRONG_IID(nd_check_mw2),
    (IND2Adapter * iface, REFIID iid, VOID **out), (inner, iid, out))
CHECKED_MAKES_OR(
    IND2Adapter, CreateSharedReceiveQueue, nd_check_srq2,
    LIMITS(.receives = depth, .receive_entries = sge), WRONG_FILE(nd_check_srq2);
    EXPLAIN_ASKED(value, ASKED("queueDepth", depth, 1, MaxSharedReceiveQueueDepth),
        ASKED("maxRequestSge", sge, 0, MaxReceiveSge),
        { .name = "notifyThreshold", .value = threshold, .most = depth, .limit = "its depth" }),
    (IND2Adapter * iface, REFIID iid, HANDLE file, ULONG depth, ULONG sge, ULONG threshold,
        USHORT group, KAFFINITY affinity, VOID **out),
    (inner, iid, file, depth, sge, threshold, group, affinity, out))
CHECKED_MAKES_OR(IND2Adapter, CreateQueuePair, nd_check_qp2,
    LIMITS(.receives = receives, .initiators = initiators, .receive_entries = receive_sge,
        .initiator_entries = initiator_sge, .inline_octets = inline_data),
    WRONG(nd_check_qp2, ASKED("receiveQueueDepth", receives, 0, MaxReceiveQueueDepth),
        ASKED("initiatorQueueDepth", initiators, 1, MaxInitiatorQueueDepth),
        ASKED("maxReceiveRequestSge", receive_sge, 0, MaxReceiveSge),
        ASKED("maxInitiatorRequestSge", initiator_sge, 0, MaxInitiatorSge),
        ASKED("inlineDataSize", inline_data, 0, MaxInlineDataSize)),
    (IND2Adapter * iface, REFIID iid, IUnknown *receive_cq, IUnknown *initiator_cq, VOID *context,
        ULONG receives, ULONG initiators, ULONG receive_sge, ULONG initiator_sge, ULONG inline_data,
        VOID **out),
    (inner, iid, GIVEN(receive_cq), GIVEN(initiator_cq), context, receives, initiators, receive_sge,
        initiator_sge, inline_data, out))
CHECKED_MAKES_OR(IND2Adapter, CreateQueuePairWithSrq, nd_check_qp2,
    LIMITS(.initiators = initiators, .initiator_entries = initiator_sge,
        .inline_octets = inline_data),
    WRONG(nd_check_qp2, ASKED("initiatorQueueDepth", initiators, 1, MaxInitiatorQueueDepth),
        ASKED("maxInitiatorRequestSge", initiator_sge, 0, MaxInitiatorSge),
        ASKED("inlineDataSize", inline_data, 0, MaxInlineDataSize)),
    (IND2Adapter * iface, REFIID iid, IUnknown *receive_cq, IUnknown *initiator_cq, IUnknown *srq,
        VOID *context, ULONG initiators, ULONG initiator_sge, ULONG inline_data, VOID **out),
    (inner, iid, GIVEN(receive_cq), GIVEN(initiator_cq), GIVEN(srq), context, initiators,
        initiator_sge, inline_data, out))
CHECKED_MAKES_OR(IND2Adapter, CreateConnector, nd_check_connector2, (void)0,
    WRONG_FILE(nd_check_connector2), (IND2Adapter * iface, REFIID iid, HANDLE file, VOID **out),
    (inner, iid, file, out))
CHECKED_MAKES_OR(IND2Adapter, CreateListener, nd_check_listener2, (void)0,
    WRONG_FILE(nd_check_listener2), (IND2Adapter * iface, REFIID iid, HANDLE file, VOID **out),
    (inner, iid, file, out))

static const IND2AdapterVtbl IND2Adapter_table = {
    UNKNOWN_SLOTS(IND2Adapter),
    .CreateOverlappedFile = IND2Adapter_CreateOverlappedFile_,
    .Query = IND2Adapter_Query_,
    .QueryAddressList = IND2Adapter_QueryAddressList_,
    .CreateCompletionQueue = IND2Adapter_CreateCompletionQueue_,
    .CreateMemoryRegion = IND2Adapter_CreateMemoryRegion_,
    .CreateMemoryWindow = IND2Adapter_CreateMemoryWindow_,
    .CreateSharedReceiveQueue = IND2Adapter_CreateSharedReceiveQueue_,
    .CreateQueuePair = IND2Adapter_CreateQueuePair_,
    .CreateQueuePairWithSrq = IND2Adapter_CreateQueuePairWithSrq_,
    .CreateConnector = IND2Adapter_CreateConnector_,
    .CreateListener = IND2Adapter_CreateListener_,
};

CHECKED_KIND(nd_check_adapter2, IND2Adapter, NULL, .keeps_maker = true)
