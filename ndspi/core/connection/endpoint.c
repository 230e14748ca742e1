/* SPDX-License-Identifier: MIT */
#include "ndspi/core/connection/endpoint.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/address.h"
#include "ndspi/core/connection/port.h"
#include "ndspi/core/status.h"

#include "util/log.h"

#include <errno.h>
#include <string.h>

static void id_pin(void *owner)
{
    nd_object_pin(&((struct nd_endpoint *)owner)->object);
}

static void id_unpin(void *owner)
{
    nd_object_unpin(&((struct nd_endpoint *)owner)->object);
}

/* A bound id gets no event but the device's removal. */
static bool id_event(void *owner, struct nd_cm_id *id, struct nd_cm_event *event)
{
    struct nd_endpoint *endpoint = owner;

    (void)id;
    if (event->type == RDMA_CM_EVENT_DEVICE_REMOVAL)
        nd_adapter_remove(endpoint->adapter);
    return true;
}

static const struct nd_cm_owner_ops id_ops = {
    .pin = id_pin,
    .unpin = id_unpin,
    .event = id_event,
};

static int bind_id(struct nd_endpoint *endpoint)
{
    const struct nd_verbs *verbs = endpoint->adapter->verbs;
    struct rdma_cm_id *id = endpoint->id->id;
    int reuse = 1, error;

    if (verbs->set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &reuse, sizeof(reuse)))
        return errno ? errno : EADDRNOTAVAIL;
    if ((error = nd_port_bind(endpoint->adapter, id, &endpoint->local)))
        return error;
    return nd_cm_id_on_device(endpoint->id) ? 0 : EADDRNOTAVAIL;
}

HRESULT nd_endpoint_init(struct nd_endpoint *endpoint, struct nd_adapter *adapter,
    const struct sockaddr *address, size_t length, void (*destroy)(struct nd_object *object))
{
    char text[ND_ADDRESS_TEXT_OCTETS];
    bool any_port;
    HRESULT hr;
    int error;

    if (nd_adapter_removed(adapter))
        return ND_DEVICE_REMOVED;
    if (FAILED(hr = nd_address_import(address, length, &endpoint->local)))
        return hr;
    any_port = !nd_address_port_be(&endpoint->local);
    endpoint->adapter = adapter;
    nd_object_init(&endpoint->object, destroy);
    lock_init(&endpoint->lock, LOCK_LISTENER, "shared endpoint");
    list_init(&endpoint->destinations);
    /* The id has no owner yet, since this function may still fail and give the endpoint up. */
    if ((error = -nd_cm_id_create(&adapter->cm, NULL, NULL, &endpoint->id)))
        return nd_status_from_errno(error);
    error = bind_id(endpoint);
    if (!error) {
        nd_address_set_port_be(&endpoint->local, adapter->verbs->get_src_port(endpoint->id->id));
        hr = nd_claim_take(&endpoint->local, &endpoint->claim);
        if (FAILED(hr))
            error = hr == ND_NO_MEMORY ? ENOMEM : EADDRINUSE;
    }
    if (error) {
        log_limited(LOG_INFO, LOG_CM, "adapter %s: shared endpoint on %s: %s",
            adapter->device->name, nd_address_text(&endpoint->local, text), strerror(error));
        nd_cm_id_unpin(endpoint->id);
        return nd_cm_bind_status(
            adapter->dialect, error == EADDRINUSE && any_port ? EAGAIN : error);
    }
    nd_adapter_pin(adapter);
    nd_cm_id_set_owner(endpoint->id, &id_ops, endpoint);
    return ND_SUCCESS;
}

void nd_endpoint_fini(struct nd_endpoint *endpoint)
{
    nd_cm_id_set_owner(endpoint->id, NULL, NULL);
    nd_cm_id_unpin(endpoint->id);
    nd_claim_drop(endpoint->claim);
    nd_adapter_unpin(endpoint->adapter);
}

HRESULT nd_endpoint_get_local_address(
    struct nd_endpoint *endpoint, struct sockaddr *address, size_t *length)
{
    return nd_address_export(&endpoint->local, address, length);
}

static bool is_same(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    return nd_address_same_ip(a, b) && nd_address_port_be(a) == nd_address_port_be(b);
}

HRESULT nd_endpoint_enter(struct nd_endpoint *endpoint, struct nd_endpoint_user *user,
    const struct sockaddr_storage *destination)
{
    HRESULT hr = ND_SUCCESS;

    lock_acquire(&endpoint->lock);
    list_for_each (&endpoint->destinations, node)
        if (is_same(&list_entry(node, struct nd_endpoint_user, link)->destination, destination))
            hr = ND_ADDRESS_ALREADY_EXISTS;
    if (SUCCEEDED(hr)) {
        user->destination = *destination;
        user->endpoint = endpoint;
        nd_object_pin(&endpoint->object);
        list_add_tail(&endpoint->destinations, &user->link);
    }
    lock_release(&endpoint->lock);
    return hr;
}

void nd_endpoint_leave(struct nd_endpoint_user *user)
{
    struct nd_endpoint *endpoint = user->endpoint;

    if (!endpoint)
        return;
    lock_acquire(&endpoint->lock);
    list_del(&user->link);
    lock_release(&endpoint->lock);
    user->endpoint = NULL;
    nd_object_unpin(&endpoint->object);
}
