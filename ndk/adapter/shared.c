/* SPDX-License-Identifier: MIT */
#include "ndk/adapter/shared.h"

#include "ndk/adapter/info.h"
#include "ndk/memory/lam.h"

#include "util/futex.h"

/* Held while a device is opened: of two first opens one waits for the other's. */
static struct lock opening = LOCK_INIT(LOCK_NDK_OPENING, "open devices of NDKPI");
static struct list_head devices = { { &devices.n, &devices.n } };

/* The last pin is gone, perhaps in a thread of the core's, so the thread that gave the device back does the rest. */
static void ended(struct nd_object *object)
{
    struct ndk_shared *shared = container_of((struct nd_adapter *)object, struct ndk_shared, core);

    atomic_store_explicit(&shared->ended, 1, memory_order_release);
    futex_wake(
        &shared->ended, 1); /* shared may be freed already: futex_wake uses its address alone */
}

static NTSTATUS open_device(const struct nd_device *device, struct ndk_shared **out)
{
    struct ndk_shared *shared = nd_object_alloc(sizeof(*shared));
    NTSTATUS status;

    if (!shared)
        return STATUS_INSUFFICIENT_RESOURCES;
    status = ndk_status(
        nd_adapter_init(&shared->core, device, &nd_dialect_kernel, &nd_sink_calls, ended));
    if (status != STATUS_SUCCESS) {
        free(shared);
        return status == STATUS_INSUFFICIENT_RESOURCES ? status : NDIS_STATUS_ADAPTER_NOT_READY;
    }
    ndk_lams_init(&shared->lams);
    shared->read_sinks = ndk_needs_read_sinks(&shared->core.port);
    *out = shared;
    return STATUS_SUCCESS;
}

/* One that lost its device is left to the adapters that have it. */
static struct ndk_shared *find_locked(const struct nd_device *device)
{
    list_for_each (&devices, node) {
        struct ndk_shared *shared = list_entry(node, struct ndk_shared, link);

        if (shared->core.device == device && !nd_adapter_removed(&shared->core))
            return shared;
    }
    return NULL;
}

NTSTATUS ndk_shared_take(const struct nd_device *device, struct ndk_shared **out)
{
    NTSTATUS status = STATUS_SUCCESS;
    struct ndk_shared *shared;

    lock_acquire(&opening);
    if (!(shared = find_locked(device)) &&
        (status = open_device(device, &shared)) == STATUS_SUCCESS)
        list_add_tail(&devices, &shared->link);
    if (status == STATUS_SUCCESS) {
        shared->users++;
        *out = shared;
    }
    lock_release(&opening);
    return status;
}

void ndk_shared_give_back(struct ndk_shared *shared)
{
    bool last;

    lock_acquire(&opening);
    if ((last = --shared->users == 0))
        list_del(&shared->link);
    lock_release(&opening);
    if (!last)
        return;
    nd_adapter_unpin(&shared->core);
    while (!atomic_load_explicit(&shared->ended, memory_order_acquire))
        futex_wait(&shared->ended, 0, NULL);
    ndk_lams_fini(&shared->lams);
    nd_adapter_fini(&shared->core);
    free(shared);
}
