/* SPDX-License-Identifier: MIT */
/*
 * adapter.c - NDK_ADAPTER: opened, closed, its table.
 *
 * Source: NDK_ADAPTER_DISPATCH of the NDKPI documentation.
 */
#include "ndk/adapter/info.h"
#include "ndk/adapter/pd.h"
#include "ndk/adapter/shared.h"
#include "ndk/adapter/version.h"
#include "ndk/connection/connection.h"
#include "ndk/memory/lam.h"
#include "ndk/memory/memory.h"
#include "ndk/queue/queue.h"
#include "ndk/verifier/passive.h"
#include "ndk/verifier/verifier.h"

#include "util/futex.h"
#include "util/settings.h"

#include <ndkl.h>

static const NDK_ADAPTER_DISPATCH dispatch = {
    .NdkQueryExtension = ndk_query_extension,
    .NdkQueryAdapterInfo = ndk_query_adapter_info,
    .NdkCreateCq = ndk_create_cq,
    .NdkCreatePd = ndk_create_pd,
    .NdkCreateSharedEndpoint = ndk_create_shared_endpoint,
    .NdkCreateConnector = ndk_create_connector,
    .NdkCreateListener = ndk_create_listener,
    .NdkBuildLAM = ndk_build_lam,
    .NdkReleaseLAM = ndk_release_lam,
};

/* The last pin is gone, perhaps in a thread of this adapter, so the closing thread does the rest. */
static void ended(struct nd_object *object)
{
    struct ndk_adapter *adapter = container_of(object, struct ndk_adapter, pins);

    atomic_store_explicit(&adapter->ended, 1, memory_order_release);
    futex_wake(&adapter->ended, 1); /* the adapter may be freed already: only the address is used */
}

static void wait_for_end(struct ndk_adapter *adapter)
{
    while (!atomic_load_explicit(&adapter->ended, memory_order_acquire))
        futex_wait(&adapter->ended, 0, NULL);
}

static NTSTATUS start_workers(struct ndk_adapter *adapter)
{
    int rc = ndk_worker_start(&adapter->root.control, "ndk-control");

    if (!rc && (rc = ndk_pool_start(&adapter->pool)))
        ndk_worker_stop(&adapter->root.control);
    if (rc)
        log_write(LOG_ERROR, LOG_NDK, "cannot start an adapter's threads: %s", strerror(-rc));
    return rc ? STATUS_INSUFFICIENT_RESOURCES : STATUS_SUCCESS;
}

static void stop_workers(struct ndk_adapter *adapter)
{
    ndk_pool_stop(&adapter->pool);
    ndk_worker_stop(&adapter->root.control);
}

static NTSTATUS choose_version(struct ndk_adapter *adapter, NDK_VERSION asked)
{
    const char *device = adapter->core->device->name;
    const struct nd_port *port = &adapter->core->port;
    bool invalidates = ndk_invalidates(port);
    NTSTATUS status = ndk_version_choose(
        asked, invalidates || setting_on("NDK_OPEN_PARTIAL"), &adapter->root.version);

    if (invalidates && status != STATUS_SUCCESS)
        log_limited(LOG_WARN, LOG_NDK,
            "adapter %s cannot be opened with version %u.%u: there is no such version", device,
            asked.Major, asked.Minor);
    else if (status != STATUS_SUCCESS)
        log_limited(LOG_WARN, LOG_NDK,
            "adapter %s cannot be opened with version %u.%u: it supports 1.1 only, since peers "
            "cannot invalidate its memory: %s",
            device, asked.Major, asked.Minor, port->caps.no_fast_register);
    else if (!invalidates)
        log_limited(LOG_WARN, LOG_NDK,
            "adapter %s is opened with version %u.%u; peers cannot invalidate its memory: %s",
            device, adapter->root.version.Major, adapter->root.version.Minor,
            port->caps.no_fast_register);
    return status;
}

static void free_adapter(struct ndk_object *object)
{
    free(object);
}

static NTSTATUS open_device(
    NDK_VERSION asked, const struct nd_device *device, struct ndk_adapter **out)
{
    struct ndk_adapter *adapter = nd_object_alloc(sizeof(*adapter));
    NTSTATUS status;

    if (!adapter)
        return STATUS_INSUFFICIENT_RESOURCES;
    if ((status = ndk_shared_take(device, &adapter->shared)) != STATUS_SUCCESS) {
        free(adapter);
        return status;
    }
    adapter->core = &adapter->shared->core;
    nd_object_init(&adapter->pins, ended);
    adapter->root.core = adapter->core;
    adapter->root.adapter = &adapter->pins;
    adapter->root.force_pending = setting_on("NDK_FORCE_PENDING");
    adapter->root.force_inline = setting_on("NDK_FORCE_INLINE_CALLBACK");
    ndk_verifier_start(&adapter->root);
    status = choose_version(adapter, asked);
    if (status == STATUS_SUCCESS)
        status = start_workers(adapter);
    if (status != STATUS_SUCCESS) {
        ndk_shared_give_back(adapter->shared);
        free(adapter);
        return status;
    }
    ndk_object_init(&adapter->object, NdkObjectTypeAdapter, &dispatch, &adapter->root,
        &adapter->pins, free_adapter);
    *out = adapter;
    return STATUS_SUCCESS;
}

NTSTATUS NdklOpenAdapter(NDK_VERSION version, NET_IFINDEX index, NDK_ADAPTER **out)
{
    struct ndk_adapter *adapter = NULL;
    struct nd_device *device;
    NDK_VERSION any;
    NTSTATUS status;
    HRESULT found;

    ndk_passive_expected("NdklOpenAdapter", "NDK_ADAPTER", NULL);
    if (!out)
        return STATUS_INVALID_PARAMETER;
    if (ndk_version_choose(version, true, &any) != STATUS_SUCCESS)
        return NDIS_STATUS_BAD_VERSION;
    found = nd_provider_find_interface(index, &device);
    if (found == ND_INVALID_ADDRESS) {
        log_limited(LOG_WARN, LOG_NDK,
            "no device in use serves interface %u; \"ndinfo\" lists every device", (unsigned)index);
        return NDIS_STATUS_ADAPTER_NOT_READY;
    }
    if (FAILED(found))
        return ndk_status(found);
    if ((status = open_device(version, device, &adapter)) == STATUS_SUCCESS) {
        *out = (NDK_ADAPTER *)adapter;
        ndk_verifier_opened(*out);
    }
    return status;
}

VOID NdklCloseAdapter(NDK_ADAPTER *given)
{
    struct ndk_adapter *adapter = ndk_adapter_from(given);

    if (!ndk_passive_required("NdklCloseAdapter", "NDK_ADAPTER", given) ||
        !ndk_verifier_closes(given))
        return;
    nd_object_unpin(&adapter->pins);
    wait_for_end(adapter);
    stop_workers(adapter);
    ndk_lams_forget(adapter);
    ndk_shared_give_back(adapter->shared);
    adapter->object.free(&adapter->object);
}
