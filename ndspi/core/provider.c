/* SPDX-License-Identifier: MIT */
#include "ndspi/core/provider.h"

#include "ndspi/core/address.h"
#include "ndspi/core/provider_scan.h"

#include "util/clock.h"
#include "util/lock.h"
#include "util/log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_LOOKED_AT_EVERY_MS = 1000 };

/* What is known; provider.lock. */
static struct {
    struct lock lock;
    struct list_head devices;
    const struct nd_verbs *rdma, *soft;
    char choice[ND_DEVICE_NAME_OCTETS];
    struct nd_host_addresses system; /* as the system told them; host has those of devices, too */
    struct nd_host_addresses host;
    struct nd_device *owner[ND_SCAN_ADDRESSES_MAX]; /* in use; parallel to host.address */
    uint64_t devices_seen_ms;                       /* 0: never */
    char announced[ND_DEVICE_WHY_OCTETS];           /* the last choice told on the log */
} provider = {
    .lock = LOCK_INIT(LOCK_PROVIDER, "provider"),
    .devices = { { &provider.devices.n, &provider.devices.n } },
    .rdma = &nd_verbs_rdma_core,
    .soft = &nd_verbs_soft,
};

/* One scan on its way to becoming what is known: too large for a stack. */
struct scan {
    const struct nd_verbs *verbs[2]; /* RDMA, soft */
    char choice[ND_DEVICE_NAME_OCTETS];
    struct nd_host_addresses system, host;
    struct nd_found found[2];
};

static uint64_t name_hash(const char *name, uint64_t seed)
{
    uint64_t hash = 0xcbf29ce484222325u ^ seed; /* FNV-1a */

    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * 0x100000001b3u;
    return hash;
}

/* Node GUID and port; where GUIDs are missing or shared, name and port. */
static uint64_t adapter_id_locked(const struct nd_found_port *port)
{
    uint64_t id = port->guid ^ (uint64_t)port->port << 56;

    if (!port->guid)
        id = name_hash(port->name, port->port);
    list_for_each (&provider.devices, node)
        if (list_entry(node, struct nd_device, link)->adapter_id == id)
            return name_hash(port->name, id);
    return id;
}

static struct nd_device *device_locked(
    const struct nd_verbs *verbs, bool soft, const struct nd_found_port *port)
{
    struct nd_device *device;

    list_for_each (&provider.devices, node) {
        device = list_entry(node, struct nd_device, link);
        if (device->verbs == verbs && device->port == port->port &&
            !strcmp(device->name, port->name))
            return device;
    }
    device = calloc(1, sizeof(*device));
    if (!device)
        return NULL;
    device->verbs = verbs;
    device->soft = soft;
    device->port = port->port;
    device->adapter_id = adapter_id_locked(port);
    snprintf(device->name, sizeof(device->name), "%s", port->name);
    list_add_tail(&provider.devices, &device->link);
    return device;
}

enum { RDMA, SOFT };

static bool usable(const struct nd_found *found)
{
    for (unsigned i = 0; i < found->ports; i++)
        if (found->port[i].addresses)
            return true;
    return false;
}

/* Whether the choice admits this port; if not, *why says so. */
static bool chosen(
    const struct scan *scan, int kind, const struct nd_found_port *port, const char **why)
{
    if (!strcmp(scan->choice, "all"))
        return true;
    if (!strcmp(scan->choice, "soft")) {
        *why = "not chosen: NDSPI_DEVICE=soft";
        return kind == SOFT;
    }
    if (!strcmp(scan->choice, "auto")) {
        *why = "not needed: an RDMA device is in use (NDSPI_DEVICE=soft or all would use this one)";
        return kind == RDMA || !usable(&scan->found[RDMA]);
    }
    *why = "not chosen: NDSPI_DEVICE names another device";
    return !strcmp(scan->choice, port->name);
}

static void judge_locked(
    const struct scan *scan, int kind, const struct nd_found_port *port, struct nd_device *device)
{
    const char *why = NULL;
    int cm_error = scan->found[kind].cm_error;

    device->used = false;
    device->addresses = port->addresses;
    if (!chosen(scan, kind, port, &why))
        snprintf(device->why, sizeof(device->why), "%s", why);
    else if (cm_error)
        snprintf(device->why, sizeof(device->why),
            "no connection manager: %s; load the kernel module rdma_ucm and check the permissions "
            "of "
            "/dev/infiniband/rdma_cm",
            strerror(cm_error));
    else if (!port->addresses)
        snprintf(device->why, sizeof(device->why), "%s",
            port->active ? "no address of this host can be bound on it: give its network interface "
                           "one and bring it up"
                         : "its port is not active: check cable and network interface");
    else {
        device->used = true;
        snprintf(device->why, sizeof(device->why), "in use%s",
            strcmp(scan->choice, "auto") ? ": chosen by NDSPI_DEVICE"
            : kind == SOFT               ? ": no usable RDMA device"
                                         : "");
    }
}

/* Says once, and again whenever it changes, what is used. */
static void announce_locked(void)
{
    char text[ND_DEVICE_WHY_OCTETS] = "";
    size_t length = 0;

    list_for_each (&provider.devices, node) {
        struct nd_device *device = list_entry(node, struct nd_device, link);

        if (device->used && length < sizeof(text))
            length += (size_t)snprintf(text + length, sizeof(text) - length, "%s%s/%u",
                length ? " " : "", device->name, device->port);
    }
    if (!strcmp(text, provider.announced) && provider.devices_seen_ms)
        return;
    snprintf(provider.announced, sizeof(provider.announced), "%s", text);
    if (!*text)
        log_write(LOG_ERROR, LOG_DEVICE,
            "NDSPI_DEVICE=%s: no such device is usable; there is no adapter", provider.choice);
    list_for_each (&provider.devices, node) {
        struct nd_device *device = list_entry(node, struct nd_device, link);

        log_write(LOG_INFO, LOG_DEVICE, "device %s port %u (%s): %s", device->name, device->port,
            device->verbs->name, device->why);
    }
}

static void publish(struct scan *scan)
{
    lock_acquire(&provider.lock);
    list_for_each (&provider.devices, node) {
        struct nd_device *device = list_entry(node, struct nd_device, link);

        device->used = false;
        device->addresses = 0;
        snprintf(device->why, sizeof(device->why), "gone: the system lists it no longer");
    }
    memset(provider.owner, 0, sizeof(provider.owner));
    provider.system = scan->system;
    provider.host = scan->host;
    snprintf(provider.choice, sizeof(provider.choice), "%s", scan->choice);
    for (int kind = RDMA; kind <= SOFT; kind++) {
        const struct nd_found *found = &scan->found[kind];

        for (unsigned p = 0; p < found->ports; p++) {
            struct nd_device *device =
                device_locked(scan->verbs[kind], kind == SOFT, &found->port[p]);

            if (!device)
                continue;
            judge_locked(scan, kind, &found->port[p], device);
            /* Where both could serve an address, hardware does. */
            for (unsigned i = 0; device->used && i < scan->host.count; i++)
                if (found->owner[i] == (int)p && !provider.owner[i])
                    provider.owner[i] = device;
        }
    }
    announce_locked();
    provider.devices_seen_ms = clock_now_ms();
    lock_release(&provider.lock);
}

static bool current(const struct scan *scan)
{
    bool same;

    lock_acquire(&provider.lock);
    same = provider.devices_seen_ms &&
           clock_now_ms() - provider.devices_seen_ms < DEVICES_LOOKED_AT_EVERY_MS &&
           !strcmp(scan->choice, provider.choice) && scan->system.count == provider.system.count &&
           !memcmp(scan->system.address, provider.system.address,
               scan->system.count * sizeof(scan->system.address[0]));
    lock_release(&provider.lock);
    return same;
}

/* Brings what is known up to date. Two threads may scan at once; the later one to finish is right as well. */
static HRESULT refresh(void)
{
    const char *choice = getenv("NDSPI_DEVICE");
    struct scan *scan = calloc(1, sizeof(*scan));
    int error;

    if (!scan)
        return ND_NO_MEMORY;
    snprintf(scan->choice, sizeof(scan->choice), "%s", choice && *choice ? choice : "auto");
    error = nd_scan_host(&scan->system);
    if (error) {
        log_write(
            LOG_ERROR, LOG_DEVICE, "the host's addresses cannot be read: %s", strerror(-error));
        free(scan);
        return ND_INSUFFICIENT_RESOURCES;
    }
    if (!current(scan)) {
        lock_acquire(&provider.lock);
        scan->verbs[RDMA] = provider.rdma;
        scan->verbs[SOFT] = provider.soft;
        lock_release(&provider.lock);
        scan->host = scan->system;
        for (int kind = RDMA; kind <= SOFT; kind++)
            nd_scan_devices(scan->verbs[kind], kind == SOFT, &scan->host, &scan->found[kind]);
        publish(scan);
    }
    free(scan);
    return ND_SUCCESS;
}

struct nd_device *nd_provider_find(const struct sockaddr_storage *address)
{
    struct nd_device *device = NULL;

    if (FAILED(refresh()))
        return NULL;
    lock_acquire(&provider.lock);
    for (unsigned i = 0; i < provider.host.count && !device; i++)
        if (provider.owner[i] && nd_address_same_ip(&provider.host.address[i], address))
            device = provider.owner[i];
    lock_release(&provider.lock);
    return device;
}

struct nd_device *nd_provider_device(uint64_t adapter_id)
{
    struct nd_device *found = NULL;

    if (FAILED(refresh()))
        return NULL;
    lock_acquire(&provider.lock);
    list_for_each (&provider.devices, node) {
        struct nd_device *device = list_entry(node, struct nd_device, link);

        if (device->used && device->adapter_id == adapter_id)
            found = device;
    }
    lock_release(&provider.lock);
    return found;
}

HRESULT nd_provider_addresses(
    const struct nd_device *device, struct sockaddr_storage **addresses, unsigned *count)
{
    HRESULT hr = refresh();

    *count = 0;
    *addresses = NULL;
    if (FAILED(hr))
        return hr;
    *addresses = calloc(ND_SCAN_ADDRESSES_MAX, sizeof(**addresses));
    if (!*addresses)
        return ND_NO_MEMORY;
    lock_acquire(&provider.lock);
    for (unsigned i = 0; i < provider.host.count; i++)
        if (provider.owner[i] && (!device || provider.owner[i] == device))
            (*addresses)[(*count)++] = provider.host.address[i];
    lock_release(&provider.lock);
    return ND_SUCCESS;
}

HRESULT nd_provider_address_list(
    const struct nd_device *device, SOCKET_ADDRESS_LIST *list, size_t *size)
{
    struct sockaddr_storage *addresses;
    unsigned count;
    HRESULT hr;

    if (!size)
        return ND_INVALID_PARAMETER;
    hr = nd_provider_addresses(device, &addresses, &count);
    if (FAILED(hr))
        return hr;
    hr = nd_address_list(addresses, count, list, size);
    free(addresses);
    return hr;
}

void nd_provider_report(
    void (*tell)(void *context, const struct nd_provider_row *row), void *context)
{
    struct list_node *node = &provider.devices.n;

    if (FAILED(refresh()))
        return;
    for (;;) {
        char why[ND_DEVICE_WHY_OCTETS];
        struct nd_provider_row row = { .why = why };
        struct nd_device *device;

        /* Devices are never taken off the list, so the place in it stays good while the lock is free. */
        lock_acquire(&provider.lock);
        node = node->next;
        if (node == &provider.devices.n) {
            lock_release(&provider.lock);
            return;
        }
        device = list_entry(node, struct nd_device, link);
        row.name = device->name;
        row.verbs = device->verbs->name;
        row.port = device->port;
        row.used = device->used;
        row.addresses = device->addresses;
        row.adapter_id = device->adapter_id;
        memcpy(why, device->why, sizeof(why));
        lock_release(&provider.lock);
        tell(context, &row);
    }
}

struct ibv_context *nd_device_open(const struct nd_device *device)
{
    struct ibv_context *context = NULL;
    int count = 0, error = ENODEV;
    struct ibv_device **list = device->verbs->get_device_list(&count);

    for (int i = 0; list && i < count && !context; i++) {
        if (strcmp(device->verbs->get_device_name(list[i]), device->name))
            continue;
        context = device->verbs->open_device(list[i]);
        if (!context)
            error = errno ? errno : EIO;
    }
    if (list)
        device->verbs->free_device_list(list);
    if (!context)
        errno = error;
    return context;
}

void nd_provider_use(const struct nd_verbs *rdma, const struct nd_verbs *soft)
{
    lock_acquire(&provider.lock);
    provider.rdma = rdma ? rdma : &nd_verbs_rdma_core;
    provider.soft = soft ? soft : &nd_verbs_soft;
    provider.devices_seen_ms = 0;
    lock_release(&provider.lock);
}
