/* SPDX-License-Identifier: MIT */
/* connection.h - connectors, listeners, shared endpoints. */
#ifndef NDK_CONNECTION_CONNECTION_H
#define NDK_CONNECTION_CONNECTION_H

#include "ndk/object/adapter.h"

/* Functions of NDK_ADAPTER_DISPATCH; their types in ndkpi.h describe them. */
NTSTATUS ndk_create_shared_endpoint(NDK_ADAPTER *adapter, CONST PSOCKADDR address, ULONG length,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_SHARED_ENDPOINT **out);
NTSTATUS ndk_create_connector(
    NDK_ADAPTER *adapter, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_CONNECTOR **out);
NTSTATUS ndk_create_listener(NDK_ADAPTER *adapter, NDK_FN_CONNECT_EVENT_CALLBACK event,
    PVOID event_context, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_LISTENER **out);

#endif
