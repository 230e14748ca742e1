/* SPDX-License-Identifier: MIT */
#include "ndk/connection/connection.h"

NTSTATUS ndk_create_shared_endpoint(NDK_ADAPTER *adapter, const SOCKADDR *address, ULONG length,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_SHARED_ENDPOINT **out)
{
    (void)adapter, (void)address, (void)length, (void)completion, (void)context, (void)out;
    return ndk_absent("NdkCreateSharedEndpoint");
}

NTSTATUS ndk_create_connector(
    NDK_ADAPTER *adapter, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_CONNECTOR **out)
{
    (void)adapter, (void)completion, (void)context, (void)out;
    return ndk_absent("NdkCreateConnector");
}

NTSTATUS ndk_create_listener(NDK_ADAPTER *adapter, NDK_FN_CONNECT_EVENT_CALLBACK event,
    PVOID event_context, NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_LISTENER **out)
{
    (void)adapter, (void)event, (void)event_context, (void)completion, (void)context, (void)out;
    return ndk_absent("NdkCreateListener");
}
