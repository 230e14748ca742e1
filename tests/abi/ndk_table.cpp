// SPDX-License-Identifier: MIT
// ndk_table.cpp - the table as C++ sees it.
#include "ndk_table.h"

#ifndef NDK_OF_MINGW
// Filters that put functions of their own into a table write the parameters as Microsoft's pages have them.
namespace
{
NTSTATUS connects(NDK_CONNECTOR *, NDK_QP *, CONST PSOCKADDR, ULONG, CONST PSOCKADDR, ULONG, ULONG,
    ULONG, CONST PVOID, ULONG, NDK_FN_REQUEST_COMPLETION, PVOID)
{
    return STATUS_SUCCESS;
}

NTSTATUS connects_by_endpoint(NDK_CONNECTOR *, NDK_QP *, NDK_SHARED_ENDPOINT *, CONST PSOCKADDR,
    ULONG, ULONG, ULONG, CONST PVOID, ULONG, NDK_FN_REQUEST_COMPLETION, PVOID)
{
    return STATUS_SUCCESS;
}

NTSTATUS accepts(NDK_CONNECTOR *, NDK_QP *, ULONG, ULONG, CONST PVOID, ULONG,
    NDK_FN_DISCONNECT_EVENT_CALLBACK, PVOID, NDK_FN_REQUEST_COMPLETION, PVOID)
{
    return STATUS_SUCCESS;
}

NTSTATUS rejects(NDK_CONNECTOR *, CONST PVOID, ULONG)
{
    return STATUS_SUCCESS;
}

NTSTATUS listens(NDK_LISTENER *, CONST PSOCKADDR, ULONG, NDK_FN_REQUEST_COMPLETION, PVOID)
{
    return STATUS_SUCCESS;
}

NTSTATUS shares(
    NDK_ADAPTER *, CONST PSOCKADDR, ULONG, NDK_FN_CREATE_COMPLETION, PVOID, NDK_SHARED_ENDPOINT **)
{
    return STATUS_SUCCESS;
}
} // namespace

void filter(NDK_CONNECTOR_DISPATCH *connector, NDK_LISTENER_DISPATCH *listener,
    NDK_ADAPTER_DISPATCH *adapter);
void filter(NDK_CONNECTOR_DISPATCH *connector, NDK_LISTENER_DISPATCH *listener,
    NDK_ADAPTER_DISPATCH *adapter)
{
    connector->NdkConnect = connects;
    connector->NdkConnectWithSharedEndpoint = connects_by_endpoint;
    connector->NdkAccept = accepts;
    connector->NdkReject = rejects;
    listener->NdkListen = listens;
    adapter->NdkCreateSharedEndpoint = shares;
}
#endif
