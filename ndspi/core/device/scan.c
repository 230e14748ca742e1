/* SPDX-License-Identifier: MIT */
#include "ndspi/core/device/scan.h"

#include "ndspi/core/address.h"
#include "ndspi/core/device/kernel.h"
#include "ndspi/core/status.h"

#include "util/shortage.h"

#include <endian.h>
#include <errno.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

static int rank(const struct sockaddr_storage *address)
{
    if (nd_address_is_loopback(address))
        return address->ss_family == AF_INET ? 3 : 4;
    if (nd_address_is_link_local(address))
        return 2;
    return address->ss_family == AF_INET ? 0 : 1;
}

enum { RANK_LAST = 4, RANK_DOWN };

static bool known(const struct nd_host_addresses *host, const struct sockaddr_storage *address)
{
    for (unsigned i = 0; i < host->count; i++)
        if (nd_address_same_ip(&host->at[i].ip, address))
            return true;
    return false;
}

int nd_scan_host(struct nd_host_addresses *host)
{
    struct ifaddrs *interfaces;

    host->count = 0;
    if (getifaddrs(&interfaces))
        return -errno;
    for (int wanted = 0; wanted <= RANK_DOWN; wanted++) {
        for (struct ifaddrs *i = interfaces; i; i = i->ifa_next) {
            struct nd_host_address *at = &host->at[host->count];
            struct sockaddr_storage ip;
            bool down = !(i->ifa_flags & IFF_UP);

            if (!i->ifa_addr || host->count == ND_SCAN_ADDRESSES_MAX ||
                FAILED(nd_address_import(i->ifa_addr, sizeof(ip), &ip)))
                continue;
            if ((down ? RANK_DOWN : rank(&ip)) != wanted || known(host, &ip))
                continue;
            at->ip = ip;
            at->down = down;
            snprintf(at->netdev, sizeof(at->netdev), "%s", i->ifa_name);
            host->count++;
        }
    }
    freeifaddrs(interfaces);
    return 0;
}

/* A GID that is an IP address: IPv4 as IPv4-mapped. Link-local ones lack their link here. */
static bool address_of_gid(const union ibv_gid *gid, struct sockaddr_storage *address)
{
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)address;
    struct sockaddr_in *v4 = (struct sockaddr_in *)address;
    struct in6_addr ip;

    memset(address, 0, sizeof(*address));
    memcpy(&ip, gid->raw, sizeof(ip));
    if (IN6_IS_ADDR_V4MAPPED(&ip)) {
        v4->sin_family = AF_INET;
        memcpy(&v4->sin_addr, gid->raw + 12, sizeof(v4->sin_addr));
    } else {
        v6->sin6_family = AF_INET6;
        v6->sin6_addr = ip;
    }
    return !nd_address_is_wildcard(address) && !nd_address_is_link_local(address);
}

static void add_gids(const struct nd_verbs *verbs, struct ibv_context *context, uint8_t port,
    int gids, struct nd_host_addresses *host)
{
    for (int i = 0; i < gids && host->count < ND_SCAN_ADDRESSES_MAX; i++) {
        struct sockaddr_storage address;
        union ibv_gid gid;

        if (!verbs->query_gid(context, port, i, &gid) && address_of_gid(&gid, &address) &&
            !known(host, &address))
            host->at[host->count++].ip = address;
    }
}

static void judge_port(const struct ibv_port_attr *attr, int error, struct nd_diagnosis *diagnosis)
{
    static const char *const states[] = { "", ": down", ": initializing", ": armed" };

    if (error)
        nd_diagnosis_set(diagnosis, ND_REASON_OPEN_FAILED, error, "%s", "");
    else if (attr->state == IBV_PORT_INIT && attr->link_layer != IBV_LINK_LAYER_ETHERNET)
        nd_diagnosis_set(diagnosis, ND_REASON_NO_SUBNET_MANAGER, 0, "%s", "");
    else if (attr->state != IBV_PORT_ACTIVE)
        nd_diagnosis_set(diagnosis, ND_REASON_PORT_DOWN, 0, "%s",
            attr->state <= IBV_PORT_ARMED ? states[attr->state] : "");
}

/* The next free entry, or NULL. */
static struct nd_found_port *add_port(
    struct nd_found *found, const char *name, unsigned number, uint64_t guid)
{
    struct nd_found_port *port;

    if (found->ports == ND_SCAN_PORTS_MAX)
        return NULL;
    port = &found->port[found->ports++];
    snprintf(port->name, sizeof(port->name), "%s", name);
    port->port = (uint8_t)number;
    port->guid = guid;
    return port;
}

/* Keeps the first shortage. */
static void note_shortage(int error, int *shortage)
{
    if (!*shortage && errno_is_shortage(error))
        *shortage = error;
}

static void add_device(const struct nd_verbs *verbs, struct ibv_device *device, bool gids,
    struct nd_host_addresses *host, struct nd_found *found, int *shortage)
{
    struct ibv_context *context = verbs->open_device(device);
    struct ibv_device_attr attr = { 0 };
    const char *name = verbs->get_device_name(device);
    uint64_t guid = be64toh(verbs->get_device_guid(device));
    struct nd_found_port *entry;
    int error = errno;

    if (!context || (error = verbs->query_device(context, &attr))) {
        note_shortage(error, shortage);
        if ((entry = add_port(found, name, 0, guid))) {
            nd_diagnosis_set_open(&entry->diagnosis, error, device->dev_name);
            nd_kernel_netdev(name, 1, entry->diagnosis.netdev);
        }
        attr.phys_port_cnt = 0;
    }
    for (unsigned port = 1; port <= attr.phys_port_cnt; port++) {
        struct ibv_port_attr port_attr = { 0 };

        if (!(entry = add_port(found, name, port, guid)))
            break;
        error = verbs->query_port(context, (uint8_t)port, &port_attr);
        note_shortage(error, shortage);
        judge_port(&port_attr, error, &entry->diagnosis);
        if (gids)
            add_gids(verbs, context, (uint8_t)port, port_attr.gid_tbl_len, host);
        else
            nd_kernel_netdev(name, port, entry->diagnosis.netdev);
    }
    if (context)
        verbs->close_device(context);
}

/* The port on which an address can be bound, or -1 with *error: the errno, or 0 if it is bound on no port. */
static int owner_of(const struct nd_verbs *verbs, struct rdma_event_channel *channel,
    const struct sockaddr_storage *address, const struct nd_found *found, int *error)
{
    struct sockaddr_storage bound = *address;
    struct rdma_cm_id *id;
    int owner = -1;

    *error = 0;
    if (verbs->create_id(channel, &id, NULL, RDMA_PS_TCP)) {
        *error = errno;
        return -1;
    }
    if (verbs->bind_addr(id, (struct sockaddr *)&bound)) {
        *error = errno;
    } else if (id->verbs) {
        const char *name = verbs->get_device_name(id->verbs->device);

        for (unsigned i = 0; i < found->ports; i++)
            if (found->port[i].port == id->port_num && !strcmp(found->port[i].name, name))
                owner = (int)i;
    }
    verbs->destroy_id(id);
    return owner;
}

/*
 * Some descriptors have to be free: libibverbs takes a directory that it cannot open for an empty one, and a driver
 * that it cannot load for none, the latter for good.
 */
static int ask_for_descriptors(void)
{
    enum { WANTED = 8 };
    int fd[WANTED], count = 0, error = 0;

    while (count < WANTED && (fd[count] = eventfd(0, EFD_CLOEXEC)) >= 0)
        count++;
    if (count < WANTED)
        error = errno;
    while (count > 0)
        close(fd[--count]);
    return error;
}

int nd_scan_devices(
    const struct nd_verbs *verbs, bool gids, struct nd_host_addresses *host, struct nd_found *found)
{
    struct rdma_event_channel *channel = NULL;
    struct ibv_device **list;
    int count = 0, shortage;

    memset(found, 0, sizeof(*found));
    for (unsigned i = 0; i < ND_SCAN_ADDRESSES_MAX; i++)
        found->owner[i] = -1;
    if ((shortage = ask_for_descriptors()))
        return -shortage;
    if (!(list = verbs->get_device_list(&count)))
        note_shortage(errno, &shortage);
    for (int i = 0; list && i < count; i++)
        add_device(verbs, list[i], gids, host, found, &shortage);
    if (list)
        verbs->free_device_list(list);
    /* Leaves the connection manager alone without a device: librdmacm complains on standard error then. */
    if (found->ports) {
        channel = verbs->create_event_channel();
        if (!channel)
            found->cm_error = errno ? errno : ENODEV;
        note_shortage(found->cm_error, &shortage);
    }
    for (unsigned i = 0; channel && i < host->count; i++) {
        if (host->at[i].down)
            continue;
        found->owner[i] = owner_of(verbs, channel, &host->at[i].ip, found, &found->error[i]);
        note_shortage(found->error[i], &shortage);
        if (found->owner[i] >= 0)
            found->port[found->owner[i]].addresses++;
    }
    if (channel)
        verbs->destroy_event_channel(channel);
    if (!gids)
        nd_kernel_add_unlisted(found);
    for (unsigned i = 0; verbs->absent && i < found->ports; i++)
        nd_diagnosis_set(&found->port[i].diagnosis, ND_REASON_NOT_BUILT, 0, "%s", "");
    return -shortage;
}
