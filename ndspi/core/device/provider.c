/* SPDX-License-Identifier: MIT */
#include "ndspi/core/device/provider.h"

#include "ndspi/core/address.h"
#include "ndspi/core/device/announce.h"
#include "ndspi/core/device/scan.h"
#include "ndspi/core/status.h"

#include "util/clock.h"
#include "util/fork.h"
#include "util/lock.h"
#include "util/log.h"
#include "util/settings.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_LOOKED_AT_EVERY_MS = 1000 };

/* The result of the last scan; provider.lock. */
static struct {
    struct lock lock;
    struct list_head devices;
    const struct nd_verbs *rdma, *soft;
    char choice[ND_DEVICE_NAME_OCTETS];
    struct nd_host_addresses system; /* the system's; host has those of devices, too */
    struct nd_host_addresses host;
    struct nd_device *owner[ND_SCAN_ADDRESSES_MAX]; /* the device in use; parallel to host.at */
    struct nd_diagnosis diagnosis[ND_SCAN_ADDRESSES_MAX]; /* parallel to host.at, too */
    uint64_t devices_seen_ms;                             /* 0: never */
} provider = {
    .lock = LOCK_INIT(LOCK_PROVIDER, "provider"),
    .devices = { { &provider.devices.n, &provider.devices.n } },
    .rdma = &nd_verbs_rdma_core,
    .soft = &nd_verbs_soft,
};

FORK_HOLDS(&provider.lock, LOCK_PROVIDER);

/* A scan under way, published at its end; too large for a stack. */
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
    nd_diagnosis_set(&device->diagnosis, ND_REASON_GONE, 0, "%s", ""); /* the scan replaces it */
    list_add_tail(&provider.devices, &device->link);
    return device;
}

enum { RDMA, SOFT };

static bool usable(const struct nd_found *found)
{
    for (unsigned i = 0; i < found->ports; i++)
        if (found->port[i].addresses && nd_diagnosis_used(&found->port[i].diagnosis))
            return true;
    return false;
}

/* Returns whether the choice admits a port of this kind. The diagnosis gets the reason. */
static bool chosen(
    const struct scan *scan, int kind, const char *name, struct nd_diagnosis *diagnosis)
{
    bool yes;

    nd_diagnosis_set(diagnosis, ND_REASON_USED, 0, ": NDSPI_DEVICE=%s", scan->choice);
    if (!strcmp(scan->choice, "auto")) {
        yes = kind == RDMA || !usable(&scan->found[RDMA]);
        if (!yes)
            nd_diagnosis_set(diagnosis, ND_REASON_NOT_NEEDED, 0, "%s", "");
        else
            nd_diagnosis_set(
                diagnosis, ND_REASON_USED, 0, "%s", kind == SOFT ? ": no usable RDMA device" : "");
        return yes;
    }
    yes = !strcmp(scan->choice, "all") || !strcmp(scan->choice, name) ||
          (!strcmp(scan->choice, "soft") && kind == SOFT);
    if (!yes)
        nd_diagnosis_set(diagnosis, ND_REASON_NOT_CHOSEN, 0, "%s", scan->choice);
    return yes;
}

static bool has_address_down(const struct scan *scan, const char *netdev)
{
    for (unsigned i = 0; i < scan->host.count; i++)
        if (scan->host.at[i].down && !strcmp(scan->host.at[i].netdev, netdev))
            return true;
    return false;
}

static void judge(const struct scan *scan, int kind, const struct nd_found_port *port,
    struct nd_diagnosis *diagnosis)
{
    *diagnosis = port->diagnosis;
    snprintf(diagnosis->device, sizeof(diagnosis->device), "%s", port->name);
    if (!chosen(scan, kind, port->name, diagnosis))
        return;
    if (!nd_diagnosis_used(&port->diagnosis))
        nd_diagnosis_set(
            diagnosis, port->diagnosis.reason, port->diagnosis.error, "%s", port->diagnosis.detail);
    else if (scan->found[kind].cm_error)
        nd_diagnosis_set_cm(diagnosis, scan->found[kind].cm_error);
    else if (!port->addresses)
        nd_diagnosis_set(diagnosis,
            has_address_down(scan, diagnosis->netdev) ? ND_REASON_INTERFACE_DOWN
            : kind == SOFT                            ? ND_REASON_NO_HOST_ADDRESS
                                                      : ND_REASON_NO_ADDRESS,
            0, "%s", "");
}

static bool any_used(const struct scan *scan)
{
    for (int kind = RDMA; kind <= SOFT; kind++) {
        for (unsigned i = 0; i < scan->found[kind].ports; i++) {
            struct nd_diagnosis diagnosis;

            judge(scan, kind, &scan->found[kind].port[i], &diagnosis);
            if (nd_diagnosis_used(&diagnosis))
                return true;
        }
    }
    return false;
}

/* The RDMA port that an address would belong to if its port had no fault, or NULL. */
static const struct nd_found_port *port_of(const struct scan *scan, unsigned index)
{
    const struct nd_found *found = &scan->found[RDMA];

    if (found->owner[index] >= 0)
        return &found->port[found->owner[index]];
    for (unsigned i = 0; i < found->ports; i++)
        if (*scan->host.at[index].netdev &&
            !strcmp(found->port[i].diagnosis.netdev, scan->host.at[index].netdev))
            return &found->port[i];
    return NULL;
}

static void judge_address(const struct scan *scan, unsigned index, const struct nd_device *owner,
    struct nd_diagnosis *diagnosis)
{
    const struct nd_host_address *at = &scan->host.at[index];
    const struct nd_found_port *port = port_of(scan, index);
    int error = scan->found[RDMA].error[index];

    memset(diagnosis, 0, sizeof(*diagnosis));
    snprintf(diagnosis->netdev, sizeof(diagnosis->netdev), "%s", at->netdev);
    if (owner || port)
        snprintf(
            diagnosis->device, sizeof(diagnosis->device), "%s", owner ? owner->name : port->name);
    if (owner)
        return;
    if (at->down)
        nd_diagnosis_set(diagnosis, ND_REASON_INTERFACE_DOWN, 0, "%s", "");
    else if (port && port->diagnosis.reason == ND_REASON_MODULE_MISSING)
        nd_diagnosis_set(diagnosis, ND_REASON_MODULE_MISSING, 0, "%s", port->diagnosis.detail);
    else if (port)
        nd_diagnosis_set(diagnosis, ND_REASON_DEVICE_NOT_USED, 0, "%s", "");
    else if (scan->found[SOFT].owner[index] < 0)
        nd_diagnosis_set(diagnosis, ND_REASON_NOT_SERVED, 0, "%s", "");
    else if (error && error != ENODEV && error != EADDRNOTAVAIL)
        nd_diagnosis_set(diagnosis, ND_REASON_BIND_FAILED, error, "%s", "");
    else
        nd_diagnosis_set(diagnosis, ND_REASON_NOT_RDMA, 0, "%s", "");
}

static void publish_kind_locked(const struct scan *scan, int kind)
{
    const struct nd_found *found = &scan->found[kind];

    for (unsigned p = 0; p < found->ports; p++) {
        const struct nd_found_port *port = &found->port[p];
        struct nd_device *device = device_locked(scan->verbs[kind], kind == SOFT, port);

        judge(scan, kind, port, &device->diagnosis);
        device->addresses = port->addresses;
        /* Where both could serve an address, hardware does. */
        for (unsigned i = 0; nd_diagnosis_used(&device->diagnosis) && i < scan->host.count; i++)
            if (found->owner[i] == (int)p && !provider.owner[i])
                provider.owner[i] = device;
    }
}

/* Makes a record of each device that was found. */
static bool make_records_locked(const struct scan *scan)
{
    for (int kind = RDMA; kind <= SOFT; kind++)
        for (unsigned i = 0; i < scan->found[kind].ports; i++)
            if (!device_locked(scan->verbs[kind], kind == SOFT, &scan->found[kind].port[i]))
                return false;
    return true;
}

/*
 * complete  in: false: the next call scans again
 * Returns false if there is no memory: what was published before stays.
 */
static bool publish(struct scan *scan, bool complete)
{
    lock_acquire(&provider.lock);
    if (!make_records_locked(scan)) {
        lock_release(&provider.lock);
        return false;
    }
    list_for_each (&provider.devices, node) {
        struct nd_device *device = list_entry(node, struct nd_device, link);

        nd_diagnosis_set(&device->diagnosis, ND_REASON_GONE, 0, "%s", "");
        device->addresses = 0;
    }
    memset(provider.owner, 0, sizeof(provider.owner));
    provider.system = scan->system;
    provider.host = scan->host;
    snprintf(provider.choice, sizeof(provider.choice), "%s", scan->choice);
    publish_kind_locked(scan, RDMA);
    publish_kind_locked(scan, SOFT);
    for (unsigned i = 0; i < scan->host.count; i++)
        judge_address(scan, i, provider.owner[i], &provider.diagnosis[i]);
    nd_announce(&provider.devices, provider.choice);
    provider.devices_seen_ms = complete ? clock_now_ms() : 0;
    lock_release(&provider.lock);
    return true;
}

static bool current(const struct scan *scan)
{
    bool same;

    lock_acquire(&provider.lock);
    same = provider.devices_seen_ms &&
           clock_now_ms() - provider.devices_seen_ms < DEVICES_LOOKED_AT_EVERY_MS &&
           !strcmp(scan->choice, provider.choice) && scan->system.count == provider.system.count &&
           !memcmp(scan->system.at, provider.system.at,
               scan->system.count * sizeof(scan->system.at[0]));
    lock_release(&provider.lock);
    return same;
}

static const char *remedy(int error)
{
    switch (error) {
    case EMFILE:
    case ENFILE: return "; raise the limit of open files (ulimit -n)";
    case EAFNOSUPPORT: return "; allow AF_NETLINK (systemd: RestrictAddressFamilies=)";
    default: return "";
    }
}

static HRESULT not_looked_at(const char *what, int error)
{
    log_limited(
        LOG_ERROR, LOG_DEVICE, "cannot scan %s now: %s%s", what, strerror(error), remedy(error));
    return error == ENOMEM ? ND_NO_MEMORY : ND_INSUFFICIENT_RESOURCES;
}

/*
 * A device that itself runs short of something is not used, like one that fails otherwise. If the process runs short,
 * or no other device can be used, the call fails. Neither result is remembered.
 */
static HRESULT look(struct scan *scan)
{
    int shortage = 0;

    lock_acquire(&provider.lock);
    scan->verbs[RDMA] = provider.rdma;
    scan->verbs[SOFT] = provider.soft;
    lock_release(&provider.lock);
    scan->host = scan->system;
    for (int kind = RDMA; kind <= SOFT; kind++) {
        int error =
            -nd_scan_devices(scan->verbs[kind], kind == SOFT, &scan->host, &scan->found[kind]);

        if (error == EMFILE || error == ENFILE)
            return not_looked_at("the devices", error);
        if (error)
            shortage = error;
    }
    if (shortage && !any_used(scan))
        return not_looked_at("the devices", shortage);
    return publish(scan, !shortage) ? ND_SUCCESS : not_looked_at("the devices", ENOMEM);
}

/*
 * Scans again if the last result is out of date. Two threads may scan at once; the result of the one that finishes
 * later is right as well.
 */
static HRESULT refresh(void)
{
    const char *choice = setting_text("NDSPI_DEVICE");
    struct scan *scan = calloc(1, sizeof(*scan));
    HRESULT hr = ND_SUCCESS;
    int error;

    if (!scan)
        return ND_NO_MEMORY;
    snprintf(scan->choice, sizeof(scan->choice), "%s", choice ? choice : "auto");
    error = nd_scan_host(&scan->system);
    if (error)
        hr = not_looked_at("the host's addresses", -error);
    else if (!current(scan))
        hr = look(scan);
    free(scan);
    return hr;
}

HRESULT nd_provider_find(const struct sockaddr_storage *address, struct nd_device **device)
{
    HRESULT hr = refresh();

    *device = NULL;
    if (FAILED(hr))
        return hr;
    lock_acquire(&provider.lock);
    for (unsigned i = 0; i < provider.host.count && !*device; i++)
        if (provider.owner[i] && nd_address_same_ip(&provider.host.at[i].ip, address))
            *device = provider.owner[i];
    lock_release(&provider.lock);
    return *device ? ND_SUCCESS : ND_INVALID_ADDRESS;
}

HRESULT nd_provider_find_interface(unsigned index, struct nd_device **device)
{
    HRESULT hr = refresh();
    char netdev[IF_NAMESIZE];

    *device = NULL;
    if (FAILED(hr))
        return hr;
    if (!if_indextoname(index, netdev))
        return ND_INVALID_ADDRESS;
    lock_acquire(&provider.lock);
    for (unsigned i = 0; i < provider.host.count && !*device; i++)
        if (provider.owner[i] && !strcmp(provider.host.at[i].netdev, netdev))
            *device = provider.owner[i];
    lock_release(&provider.lock);
    return *device ? ND_SUCCESS : ND_INVALID_ADDRESS;
}

HRESULT nd_provider_device(uint64_t adapter_id, struct nd_device **found)
{
    HRESULT hr = refresh();

    *found = NULL;
    if (FAILED(hr))
        return hr;
    lock_acquire(&provider.lock);
    list_for_each (&provider.devices, node) {
        struct nd_device *device = list_entry(node, struct nd_device, link);

        if (nd_diagnosis_used(&device->diagnosis) && device->adapter_id == adapter_id)
            *found = device;
    }
    lock_release(&provider.lock);
    return *found ? ND_SUCCESS : ND_INVALID_PARAMETER;
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
            (*addresses)[(*count)++] = provider.host.at[i].ip;
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

HRESULT nd_provider_report(void (*tell)(void *context, const struct nd_device *device,
                               unsigned addresses, const struct nd_diagnosis *diagnosis),
    void *context)
{
    struct list_node *node = &provider.devices.n;
    HRESULT hr = refresh();

    while (SUCCEEDED(hr)) {
        struct nd_device *device;
        struct nd_diagnosis diagnosis;
        unsigned addresses;

        /* Devices never leave the list, so the position in it stays valid while the lock is free. */
        lock_acquire(&provider.lock);
        node = node->next;
        if (node == &provider.devices.n) {
            lock_release(&provider.lock);
            break;
        }
        device = list_entry(node, struct nd_device, link);
        diagnosis = device->diagnosis;
        addresses = device->addresses;
        lock_release(&provider.lock);
        /* Skips the entry of a device that could not be asked before and can be now: its ports have entries. */
        if (device->port || diagnosis.reason != ND_REASON_GONE)
            tell(context, device, addresses, &diagnosis);
    }
    return hr;
}

HRESULT nd_provider_report_addresses(
    void (*tell)(void *context, const struct nd_provider_address *address), void *context)
{
    struct nd_provider_address *rows;
    HRESULT hr = refresh();
    unsigned count;

    if (FAILED(hr))
        return hr;
    rows = calloc(ND_SCAN_ADDRESSES_MAX, sizeof(*rows));
    if (!rows)
        return ND_NO_MEMORY;
    lock_acquire(&provider.lock);
    count = provider.host.count;
    for (unsigned i = 0; i < count; i++)
        rows[i] = (struct nd_provider_address){ provider.host.at[i].ip, provider.owner[i],
            provider.diagnosis[i] };
    lock_release(&provider.lock);
    for (unsigned i = 0; i < count; i++)
        tell(context, &rows[i]);
    free(rows);
    return ND_SUCCESS;
}

struct ibv_context *nd_device_open(const struct nd_device *device, char file[IBV_SYSFS_NAME_MAX])
{
    struct ibv_context *context = NULL;
    int count = 0, error = ENODEV;
    struct ibv_device **list;

    if (file)
        *file = 0;
    errno = 0;
    list = device->verbs->get_device_list(&count);
    for (int i = 0; list && i < count && !context; i++) {
        if (strcmp(device->verbs->get_device_name(list[i]), device->name))
            continue;
        if (file)
            snprintf(file, IBV_SYSFS_NAME_MAX, "%s", list[i]->dev_name);
        context = device->verbs->open_device(list[i]);
        if (!context)
            error = errno ? errno : EIO;
    }
    if (list)
        device->verbs->free_device_list(list);
    else if (errno)
        error = errno;
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
