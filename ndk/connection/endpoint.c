/* SPDX-License-Identifier: MIT */
/*
 * endpoint.c - NDK_SHARED_ENDPOINT over core/connection/endpoint.h.
 *
 * Source: NDK_SHARED_ENDPOINT_DISPATCH of the NDKPI documentation.
 */
#include "ndk/connection/endpoint.h"

#include "ndk/connection/address.h"

static NTSTATUS get_local_address(NDK_SHARED_ENDPOINT *given, SOCKADDR *address, ULONG *length)
{
    struct ndk_endpoint *endpoint = (struct ndk_endpoint *)given;
    size_t size;

    if (!length)
        return STATUS_INVALID_PARAMETER;
    size = *length;
    return ndk_address_got(
        nd_endpoint_get_local_address(&endpoint->core, address, &size), &size, length);
}

static void close_core(struct ndk_object *object)
{
    nd_object_unpin(&((struct ndk_endpoint *)object)->core.object);
}

static NTSTATUS close_endpoint(
    NDK_OBJECT_HEADER *header, NDK_FN_CLOSE_COMPLETION completion, PVOID context)
{
    return ndk_object_close((struct ndk_object *)header, close_core, completion, context);
}

static const NDK_SHARED_ENDPOINT_DISPATCH dispatch = {
    .NdkCloseSharedEndpoint = close_endpoint,
    .NdkQueryExtension = ndk_query_extension,
    .NdkGetLocalAddress = get_local_address,
};

static void free_endpoint(struct ndk_object *object)
{
    free(object);
}

static void destroy(struct nd_object *object)
{
    struct ndk_endpoint *endpoint =
        container_of((struct nd_endpoint *)object, struct ndk_endpoint, core);

    nd_endpoint_fini(&endpoint->core);
    ndk_object_gone(&endpoint->object);
}

static NTSTATUS make(
    struct ndk_adapter *adapter, CONST PSOCKADDR address, ULONG length, struct ndk_endpoint **out)
{
    struct ndk_endpoint *endpoint = nd_object_alloc(sizeof(*endpoint));
    NTSTATUS status;

    if (!endpoint)
        return STATUS_INSUFFICIENT_RESOURCES;
    status = ndk_status(nd_endpoint_init(&endpoint->core, adapter->core, address, length, destroy));
    if (status != STATUS_SUCCESS) {
        free(endpoint);
        return status;
    }
    ndk_object_init(&endpoint->object, NdkObjectTypeSharedEndpoint, &dispatch, &adapter->root,
        &endpoint->core.object, free_endpoint);
    ndk_object_follow(&endpoint->object, &adapter->pins);
    *out = endpoint;
    return STATUS_SUCCESS;
}

NTSTATUS ndk_create_shared_endpoint(NDK_ADAPTER *given, CONST PSOCKADDR address, ULONG length,
    NDK_FN_CREATE_COMPLETION completion, PVOID context, NDK_SHARED_ENDPOINT **out)
{
    struct ndk_adapter *adapter = ndk_adapter_from(given);
    struct ndk_endpoint *endpoint = NULL;
    struct ndk_creation creation;
    NTSTATUS status;

    if (!address)
        return STATUS_INVALID_PARAMETER;
    status = ndk_creation_begin(&creation, &adapter->root, completion, context, (void **)out);
    if (status != STATUS_SUCCESS)
        return status;
    status = make(adapter, address, length, &endpoint);
    return ndk_creation_end(&creation, status, endpoint ? &endpoint->object : NULL);
}
