/* SPDX-License-Identifier: MIT */
/* v1_adapter.c - wrappers of INDProvider and INDAdapter. */
#include "ndspi/check/memory.h"
#include "ndspi/check/methods.h"
#include "ndspi/check/pending.h"
#include "ndspi/check/returned.h"
#include "ndspi/check/tables.h"

/* ---- INDProvider ---- */

CHECKED_UNKNOWN(INDProvider)
CHECKED(INDProvider, QueryAddressList,
    (INDProvider * iface, SOCKET_ADDRESS_LIST *list, SIZE_T *size), (inner, list, size))
CHECKED_MAKES_OR(INDProvider, OpenAdapter, nd_check_adapter1, nd_check_learn1(*out), (void)0,
    (INDProvider * iface, const struct sockaddr *address, SIZE_T length, INDAdapter **out),
    (inner, address, length, out))

static const INDProviderVtbl INDProvider_table = {
    UNKNOWN_SLOTS(INDProvider),
    .QueryAddressList = INDProvider_QueryAddressList_,
    .OpenAdapter = INDProvider_OpenAdapter_,
};

CHECKED_KIND(nd_check_provider1, INDProvider, NULL)

/* ---- INDAdapter ---- */

CHECKED_OVERLAPPED1(INDAdapter)
CHECKED_AS(HANDLE, NULL, INDAdapter, GetFileHandle, (void)0, (INDAdapter * iface), (inner))
CHECKED_FULL(HRESULT, ND_INVALID_DEVICE_STATE, INDAdapter, Query,
    const SIZE_T had = size ? *size : 0, nd_check_explain_query1(&call, value, version, info, had),
    (INDAdapter * iface, DWORD version, ND_ADAPTER_INFO *info, SIZE_T *size),
    (inner, version, info, size))
CHECKED(INDAdapter, Control,
    (INDAdapter * iface, DWORD code, const VOID *in, SIZE_T in_octets, VOID *out, SIZE_T out_octets,
        SIZE_T *returned, OVERLAPPED *overlapped),
    (inner, code, in, in_octets, out, out_octets, returned, overlapped))
CHECKED_MAKES_OR(INDAdapter, CreateCompletionQueue, nd_check_cq1, (void)0,
    EXPLAIN_ASKED(value, ASKED1("nEntries", entries, 1, MaxCqEntries)),
    (INDAdapter * iface, SIZE_T entries, INDCompletionQueue **out), (inner, entries, out))
/* Both are done when they return ND_PENDING. */
CHECKED_BEGINS(INDAdapter, RegisterMemory, (void)0,
    nd_check_registered(&call, value, value == ND_PENDING ? (uintptr_t)*handle : 0, buffer, octets,
        ND_MR_FLAG_ALLOW_LOCAL_WRITE),
    (INDAdapter * iface, const VOID *buffer, SIZE_T octets, OVERLAPPED *overlapped,
        ND_MR_HANDLE *handle),
    (inner, buffer, octets, overlapped, handle))
CHECKED_BEGINS(INDAdapter, DeregisterMemory,
    const struct nd_check_pending pending = nd_check_pending_on(call.object, (uintptr_t)handle),
    nd_check_deregistered(&call, value, (uintptr_t)handle, &pending),
    (INDAdapter * iface, ND_MR_HANDLE handle, OVERLAPPED *overlapped), (inner, handle, overlapped))
CHECKED_MAKES(INDAdapter, CreateMemoryWindow, nd_check_mw1,
    (INDAdapter * iface, ND_RESULT *invalidated, INDMemoryWindow **out), (inner, invalidated, out))
CHECKED_MAKES(INDAdapter, CreateConnector, nd_check_connector1,
    (INDAdapter * iface, INDConnector **out), (inner, out))
CHECKED_MAKES(INDAdapter, Listen, nd_check_listen1,
    (INDAdapter * iface, SIZE_T backlog, INT protocol, USHORT port, USHORT *assigned,
        INDListen **out),
    (inner, backlog, protocol, port, assigned, out))

static const INDAdapterVtbl INDAdapter_table = {
    OVERLAPPED_SLOTS(INDAdapter),
    .GetFileHandle = INDAdapter_GetFileHandle_,
    .Query = INDAdapter_Query_,
    .Control = INDAdapter_Control_,
    .CreateCompletionQueue = INDAdapter_CreateCompletionQueue_,
    .RegisterMemory = INDAdapter_RegisterMemory_,
    .DeregisterMemory = INDAdapter_DeregisterMemory_,
    .CreateMemoryWindow = INDAdapter_CreateMemoryWindow_,
    .CreateConnector = INDAdapter_CreateConnector_,
    .Listen = INDAdapter_Listen_,
};

CHECKED_KIND(nd_check_adapter1, INDAdapter, &IID_INDOverlapped, .keeps_maker = true)
