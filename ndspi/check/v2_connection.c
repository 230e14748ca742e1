/* SPDX-License-Identifier: MIT */
/* v2_connection.c - wrappers of IND2Connector and IND2Listener. */
#include "ndspi/check/debt.h"
#include "ndspi/check/methods.h"
#include "ndspi/check/returned.h"
#include "ndspi/check/strict.h"
#include "ndspi/check/tables.h"

/* ---- IND2Connector ---- */

CHECKED_OVERLAPPED(IND2Connector)
CHECKED_FULL(HRESULT, ND_INVALID_DEVICE_STATE, IND2Connector, Bind, (void)0,
    nd_check_bound(&call, value, address, length),
    (IND2Connector * iface, const struct sockaddr *address, ULONG length), (inner, address, length))
CHECKED_BEGINS(
    IND2Connector, Connect, nd_check_connects(&call, qp),
    nd_check_explain_connect(&call, value, address, length);
    EXPLAIN_ASKED(value, ASKED(DATA, octets, 0, MaxCallerData)),
    (IND2Connector * iface, IUnknown *qp, const struct sockaddr *address, ULONG length,
        ULONG inbound, ULONG outbound, const VOID *data, ULONG octets, OVERLAPPED *overlapped),
    (inner, GIVEN(qp), address, length, inbound, outbound, data, octets, overlapped))
CHECKED_BEGINS(IND2Connector, CompleteConnect, nd_check_pays(&call), (void)0,
    (IND2Connector * iface, OVERLAPPED *overlapped), (inner, overlapped))
CHECKED_BEGINS(IND2Connector, Accept, nd_check_accepts(&call, qp),
    EXPLAIN_ASKED(value, ASKED(DATA, octets, 0, MaxCalleeData)),
    (IND2Connector * iface, IUnknown *qp, ULONG inbound, ULONG outbound, const VOID *data,
        ULONG octets, OVERLAPPED *overlapped),
    (inner, GIVEN(qp), inbound, outbound, data, octets, overlapped))
CHECKED_FULL(HRESULT, ND_INVALID_DEVICE_STATE, IND2Connector, Reject, nd_check_pays(&call),
    EXPLAIN_ASKED(value, ASKED(DATA, octets, 0, MaxCalleeData)),
    (IND2Connector * iface, const VOID *data, ULONG octets), (inner, data, octets))
CHECKED(IND2Connector, GetReadLimits, (IND2Connector * iface, ULONG *inbound, ULONG *outbound),
    (inner, inbound, outbound))
CHECKED(IND2Connector, GetPrivateData, (IND2Connector * iface, VOID *data, ULONG *octets),
    (inner, data, octets))
CHECKED(IND2Connector, GetLocalAddress,
    (IND2Connector * iface, struct sockaddr *address, ULONG *length), (inner, address, length))
CHECKED(IND2Connector, GetPeerAddress,
    (IND2Connector * iface, struct sockaddr *address, ULONG *length), (inner, address, length))
CHECKED_BEGINS(IND2Connector, NotifyDisconnect, (void)0, (void)0,
    (IND2Connector * iface, OVERLAPPED *overlapped), (inner, overlapped))
CHECKED_BEGINS(IND2Connector, Disconnect, nd_check_disconnects(&call), (void)0,
    (IND2Connector * iface, OVERLAPPED *overlapped), (inner, overlapped))

static const IND2ConnectorVtbl IND2Connector_table = {
    OVERLAPPED_SLOTS(IND2Connector),
    .Bind = IND2Connector_Bind_,
    .Connect = IND2Connector_Connect_,
    .CompleteConnect = IND2Connector_CompleteConnect_,
    .Accept = IND2Connector_Accept_,
    .Reject = IND2Connector_Reject_,
    .GetReadLimits = IND2Connector_GetReadLimits_,
    .GetPrivateData = IND2Connector_GetPrivateData_,
    .GetLocalAddress = IND2Connector_GetLocalAddress_,
    .GetPeerAddress = IND2Connector_GetPeerAddress_,
    .NotifyDisconnect = IND2Connector_NotifyDisconnect_,
    .Disconnect = IND2Connector_Disconnect_,
};

CHECKED_KIND(nd_check_connector2, IND2Connector, &IID_IND2Overlapped)

/* ---- IND2Listener ---- */

CHECKED_OVERLAPPED(IND2Listener)
CHECKED_FULL(HRESULT, ND_INVALID_DEVICE_STATE, IND2Listener, Bind, (void)0,
    nd_check_bound(&call, value, address, length),
    (IND2Listener * iface, const struct sockaddr *address, ULONG length), (inner, address, length))
CHECKED_FULL(HRESULT, ND_INVALID_DEVICE_STATE, IND2Listener, Listen, (void)0,
    nd_check_explain_listen(&call, value), (IND2Listener * iface, ULONG backlog), (inner, backlog))
CHECKED(IND2Listener, GetLocalAddress,
    (IND2Listener * iface, struct sockaddr *address, ULONG *length), (inner, address, length))
CHECKED_BEGINS(IND2Listener, GetConnectionRequest, (void)0, (void)0,
    (IND2Listener * iface, IUnknown *connector, OVERLAPPED *overlapped),
    (inner, GIVEN(connector), overlapped))

static const IND2ListenerVtbl IND2Listener_table = {
    OVERLAPPED_SLOTS(IND2Listener),
    .Bind = IND2Listener_Bind_,
    .Listen = IND2Listener_Listen_,
    .GetLocalAddress = IND2Listener_GetLocalAddress_,
    .GetConnectionRequest = IND2Listener_GetConnectionRequest_,
};

CHECKED_KIND(nd_check_listener2, IND2Listener, &IID_IND2Overlapped)
