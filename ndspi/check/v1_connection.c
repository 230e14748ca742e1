/* SPDX-License-Identifier: MIT */
/* v1_connection.c - wrappers of INDConnector and INDListen. */
#include "ndspi/check/debt.h"
#include "ndspi/check/methods.h"
#include "ndspi/check/returned.h"
#include "ndspi/check/strict.h"
#include "ndspi/check/tables.h"

/* ---- INDConnector ---- */

CHECKED_OVERLAPPED1(INDConnector)
CHECKED_MAKES_OR(INDConnector, CreateEndpoint, nd_check_endpoint1,
    LIMITS(.receives = inbound, .initiators = outbound, .receive_entries = inbound_sge,
        .initiator_entries = outbound_sge, .inline_octets = max_inline ? *max_inline : SIZE_MAX),
    EXPLAIN_ASKED(value, ASKED1("nInboundEntries", inbound, 0, MaxInboundRequests),
        ASKED1("nOutboundEntries", outbound, 1, MaxOutboundRequests),
        ASKED1("nInboundSge", inbound_sge, 0, MaxInboundSge),
        ASKED1("nOutboundSge", outbound_sge, 0, MaxOutboundSge),
        ASKED1("InboundReadLimit", inbound_reads, 0, MaxInboundReadLimit),
        ASKED1("OutboundReadLimit", outbound_reads, 0, MaxOutboundReadLimit)),
    (INDConnector * iface, INDCompletionQueue *inbound_cq, INDCompletionQueue *outbound_cq,
        SIZE_T inbound, SIZE_T outbound, SIZE_T inbound_sge, SIZE_T outbound_sge,
        SIZE_T inbound_reads, SIZE_T outbound_reads, SIZE_T *max_inline, INDEndpoint **out),
    (inner, GIVEN(inbound_cq), GIVEN(outbound_cq), inbound, outbound, inbound_sge, outbound_sge,
        inbound_reads, outbound_reads, max_inline, out))
CHECKED_BEGINS(
    INDConnector, Connect, nd_check_connects(&call, endpoint),
    nd_check_explain_connect(&call, value, address, length);
    EXPLAIN_ASKED(value, ASKED1(DATA, octets, 0, MaxCallerData)),
    (INDConnector * iface, INDEndpoint *endpoint, const struct sockaddr *address, SIZE_T length,
        INT protocol, USHORT port, const VOID *data, SIZE_T octets, OVERLAPPED *overlapped),
    (inner, GIVEN(endpoint), address, length, protocol, port, data, octets, overlapped))
CHECKED_BEGINS(INDConnector, CompleteConnect, nd_check_pays(&call), (void)0,
    (INDConnector * iface, OVERLAPPED *overlapped), (inner, overlapped))
CHECKED_BEGINS(INDConnector, Accept, nd_check_accepts(&call, endpoint),
    EXPLAIN_ASKED(value, ASKED1(DATA, octets, 0, MaxCalleeData)),
    (INDConnector * iface, INDEndpoint *endpoint, const VOID *data, SIZE_T octets,
        OVERLAPPED *overlapped),
    (inner, GIVEN(endpoint), data, octets, overlapped))
CHECKED_FULL(HRESULT, ND_INVALID_DEVICE_STATE, INDConnector, Reject, nd_check_pays(&call),
    EXPLAIN_ASKED(value, ASKED1(DATA, octets, 0, MaxCalleeData)),
    (INDConnector * iface, const VOID *data, SIZE_T octets), (inner, data, octets))
CHECKED(INDConnector, GetConnectionData,
    (INDConnector * iface, SIZE_T *inbound, SIZE_T *outbound, VOID *data, SIZE_T *octets),
    (inner, inbound, outbound, data, octets))
CHECKED(INDConnector, GetLocalAddress,
    (INDConnector * iface, struct sockaddr *address, SIZE_T *length), (inner, address, length))
CHECKED(INDConnector, GetPeerAddress,
    (INDConnector * iface, struct sockaddr *address, SIZE_T *length), (inner, address, length))
CHECKED_BEGINS(INDConnector, NotifyDisconnect, (void)0, (void)0,
    (INDConnector * iface, OVERLAPPED *overlapped), (inner, overlapped))
CHECKED_BEGINS(INDConnector, Disconnect, nd_check_disconnects(&call), (void)0,
    (INDConnector * iface, OVERLAPPED *overlapped), (inner, overlapped))

static const INDConnectorVtbl INDConnector_table = {
    OVERLAPPED_SLOTS(INDConnector),
    .CreateEndpoint = INDConnector_CreateEndpoint_,
    .Connect = INDConnector_Connect_,
    .CompleteConnect = INDConnector_CompleteConnect_,
    .Accept = INDConnector_Accept_,
    .Reject = INDConnector_Reject_,
    .GetConnectionData = INDConnector_GetConnectionData_,
    .GetLocalAddress = INDConnector_GetLocalAddress_,
    .GetPeerAddress = INDConnector_GetPeerAddress_,
    .NotifyDisconnect = INDConnector_NotifyDisconnect_,
    .Disconnect = INDConnector_Disconnect_,
};

CHECKED_KIND(nd_check_connector1, INDConnector, &IID_INDOverlapped)

/* ---- INDListen ---- */

CHECKED_OVERLAPPED1(INDListen)
CHECKED_BEGINS(INDListen, GetConnectionRequest, (void)0, (void)0,
    (INDListen * iface, INDConnector *connector, OVERLAPPED *overlapped),
    (inner, GIVEN(connector), overlapped))

static const INDListenVtbl INDListen_table = {
    OVERLAPPED_SLOTS(INDListen),
    .GetConnectionRequest = INDListen_GetConnectionRequest_,
};

CHECKED_KIND(nd_check_listen1, INDListen, &IID_INDOverlapped)
