/* SPDX-License-Identifier: MIT */
/* What a listener listens on: Bind, Listen, GetLocalAddress. */
#include "ndspi/core/connection/listener.h"

#include "ndspi/core/adapter/adapter.h"
#include "ndspi/core/address.h"
#include "ndspi/core/status.h"

#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BACKLOG_OF_DEVICE = 1024, WILDCARD_TRIES = 16 };

/* One id bound to one address. Returns 0 or a negative errno. */
static int bind_one(
    struct nd_listener *listener, struct sockaddr_storage *address, struct nd_cm_id **out)
{
    const struct nd_verbs *verbs = listener->adapter->verbs;
    struct nd_cm_id *id;
    int error = nd_cm_id_create(&listener->adapter->cm, &nd_listener_id_ops, listener, &id);

    if (error)
        return error;
    if (verbs->bind_addr(id->id, (struct sockaddr *)address))
        error = errno ? -errno : -EADDRNOTAVAIL;
    else if (!nd_cm_id_on_device(id))
        error = -EADDRNOTAVAIL;
    if (error) {
        nd_listener_close_ids(&id, 1);
        return error;
    }
    nd_address_set_port_be(address, verbs->get_src_port(id->id));
    *out = id;
    return 0;
}

/* All of addresses on one port; port_be 0 = the first one's choice. Returns 0 or a negative errno. */
static int bind_all(struct nd_listener *listener, const struct sockaddr_storage *addresses,
    unsigned count, uint16_t *port_be, struct nd_cm_id **ids)
{
    unsigned bound = 0;
    int error = 0;

    for (; bound < count && !error; bound++) {
        struct sockaddr_storage address = addresses[bound];

        nd_address_set_port_be(&address, *port_be);
        error = bind_one(listener, &address, &ids[bound]);
        if (error)
            break;
        *port_be = nd_address_port_be(&address);
    }
    if (error)
        nd_listener_close_ids(ids, bound);
    return error;
}

/* The addresses meant by one that a client gave: itself, or all of its family on this adapter. */
static HRESULT expand(struct nd_listener *listener, const struct sockaddr_storage *local,
    struct sockaddr_storage **addresses, unsigned *count)
{
    unsigned all, kept = 0;
    HRESULT hr;

    if (!nd_address_is_wildcard(local)) {
        *addresses = malloc(sizeof(**addresses));
        if (!*addresses)
            return ND_NO_MEMORY;
        **addresses = *local;
        *count = 1;
        return ND_SUCCESS;
    }
    hr = nd_provider_addresses(listener->adapter->device, addresses, &all);
    if (FAILED(hr))
        return hr;
    for (unsigned i = 0; i < all; i++)
        if ((*addresses)[i].ss_family == local->ss_family)
            (*addresses)[kept++] = (*addresses)[i];
    *count = kept;
    return kept ? ND_SUCCESS : ND_INVALID_ADDRESS;
}

static HRESULT bind_listener(struct nd_listener *listener, struct sockaddr_storage *local)
{
    struct sockaddr_storage *addresses = NULL;
    char text[ND_ADDRESS_TEXT_OCTETS];
    unsigned count = 0;
    uint16_t wanted_be = nd_address_port_be(local), port_be;
    struct nd_cm_id **ids;
    HRESULT hr = expand(listener, local, &addresses, &count);
    int error = 0;

    ids = SUCCEEDED(hr) ? calloc(count, sizeof(struct nd_cm_id *)) : NULL;
    if (FAILED(hr) || !ids) {
        free(addresses);
        return FAILED(hr) ? hr : ND_NO_MEMORY;
    }
    /* A port that one address chose freely may be taken on another: choose again. */
    for (int tries = 0; tries < WILDCARD_TRIES; tries++) {
        port_be = wanted_be;
        error = bind_all(listener, addresses, count, &port_be, ids);
        if (error != -EADDRINUSE || wanted_be)
            break;
    }
    free(addresses);
    if (error) {
        log_write(LOG_INFO, LOG_CM, "adapter %s: listener on %s: %s",
            listener->adapter->device->name, nd_address_text(local, text), strerror(-error));
        free(ids);
        return nd_cm_bind_status(
            listener->adapter->dialect, error == -EADDRINUSE && !wanted_be ? EAGAIN : -error);
    }
    nd_address_set_port_be(local, port_be);

    lock_acquire(&listener->lock);
    hr = listener->state == ND_LISTENER_IDLE ? ND_SUCCESS : ND_STATUS_ADDRESS_ALREADY_ASSOCIATED;
    if (SUCCEEDED(hr)) {
        listener->state = ND_LISTENER_BOUND;
        listener->local = *local;
        listener->ids = ids;
        listener->id_count = count;
    }
    lock_release(&listener->lock);
    if (FAILED(hr)) { /* another thread's Bind was faster */
        nd_listener_close_ids(ids, count);
        free(ids);
    }
    return hr;
}

HRESULT nd_listener_bind(
    struct nd_listener *listener, const struct sockaddr *address, size_t length)
{
    struct sockaddr_storage local;
    enum nd_listener_state state;
    HRESULT hr;

    if (nd_adapter_removed(listener->adapter))
        return ND_DEVICE_REMOVED;
    lock_acquire(&listener->lock);
    state = listener->state;
    lock_release(&listener->lock);
    if (state != ND_LISTENER_IDLE)
        return ND_STATUS_ADDRESS_ALREADY_ASSOCIATED;
    hr = nd_address_import(address, length, &local);
    return FAILED(hr) ? hr : bind_listener(listener, &local);
}

HRESULT nd_listener_listen(struct nd_listener *listener, ULONG backlog)
{
    const struct nd_verbs *verbs = listener->adapter->verbs;
    int device_backlog = backlog && backlog < BACKLOG_OF_DEVICE ? (int)backlog : BACKLOG_OF_DEVICE;
    char text[ND_ADDRESS_TEXT_OCTETS];
    int error = 0;

    if (nd_adapter_removed(listener->adapter))
        return ND_DEVICE_REMOVED;
    lock_acquire(&listener->lock);
    if (listener->state != ND_LISTENER_BOUND) {
        lock_release(&listener->lock);
        return ND_INVALID_DEVICE_STATE;
    }
    /* Before the device listens: requests may arrive at once. ids does not change any more until close. */
    listener->state = ND_LISTENER_LISTENING;
    listener->backlog = backlog;
    lock_release(&listener->lock);

    for (; listener->listening < listener->id_count; listener->listening++)
        if (verbs->listen(listener->ids[listener->listening]->id, device_backlog)) {
            error = errno;
            break;
        }
    if (!error)
        return ND_SUCCESS;
    log_write(LOG_WARN, LOG_CM, "adapter %s: listen on %s: %s", listener->adapter->device->name,
        nd_address_text(&listener->local, text), strerror(error));
    /* Those that listen by now turn requests away; another Listen goes on where this one ended. */
    lock_acquire(&listener->lock);
    listener->state = ND_LISTENER_BOUND;
    lock_release(&listener->lock);
    return nd_cm_bind_status(listener->adapter->dialect, error);
}

HRESULT nd_listener_get_local_address(
    struct nd_listener *listener, struct sockaddr *address, size_t *length)
{
    HRESULT hr = ND_INVALID_DEVICE_STATE;

    lock_acquire(&listener->lock);
    if (listener->state == ND_LISTENER_BOUND || listener->state == ND_LISTENER_LISTENING)
        hr = nd_address_export(&listener->local, address, length);
    lock_release(&listener->lock);
    return hr;
}
