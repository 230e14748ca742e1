/* SPDX-License-Identifier: MIT */
#include "ndspi/core/provider_scan.h"

#include "ndspi/core/address.h"

#include "util/log.h"

#include <endian.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank(const struct sockaddr_storage *address)
{
    if (nd_address_is_loopback(address))
        return address->ss_family == AF_INET ? 3 : 4;
    if (nd_address_is_link_local(address))
        return 2;
    return address->ss_family == AF_INET ? 0 : 1;
}

static bool known(const struct nd_host_addresses *host, const struct sockaddr_storage *address)
{
    for (unsigned i = 0; i < host->count; i++)
        if (nd_address_same_ip(&host->address[i], address))
            return true;
    return false;
}

int nd_scan_host(struct nd_host_addresses *host)
{
    struct ifaddrs *interfaces;

    host->count = 0;
    if (getifaddrs(&interfaces))
        return -errno;
    for (int wanted = 0; wanted <= 4; wanted++) {
        for (struct ifaddrs *i = interfaces; i; i = i->ifa_next) {
            struct sockaddr_storage address;

            if (!i->ifa_addr || !(i->ifa_flags & IFF_UP) || host->count == ND_SCAN_ADDRESSES_MAX)
                continue;
            if (FAILED(nd_address_import(i->ifa_addr, sizeof(address), &address)) ||
                rank(&address) != wanted || known(host, &address))
                continue;
            host->address[host->count++] = address;
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
            host->address[host->count++] = address;
    }
}

static void add_device(const struct nd_verbs *verbs, struct ibv_device *device, bool gids,
    struct nd_host_addresses *host, struct nd_found *found)
{
    struct ibv_context *context = verbs->open_device(device);
    struct ibv_device_attr attr;
    const char *name = verbs->get_device_name(device);

    if (!context) {
        log_write(LOG_WARN, LOG_DEVICE,
            "device %s cannot be opened: %s; check the permissions of /dev/infiniband", name,
            strerror(errno));
        return;
    }
    if (verbs->query_device(context, &attr))
        attr.phys_port_cnt = 0;
    for (int port = 1; port <= attr.phys_port_cnt && found->ports < ND_SCAN_PORTS_MAX; port++) {
        struct nd_found_port *entry = &found->port[found->ports++];
        struct ibv_port_attr port_attr;

        snprintf(entry->name, sizeof(entry->name), "%s", name);
        entry->port = (uint8_t)port;
        entry->guid = be64toh(verbs->get_device_guid(device));
        memset(&port_attr, 0, sizeof(port_attr));
        entry->active = !verbs->query_port(context, (uint8_t)port, &port_attr) &&
                        port_attr.state == IBV_PORT_ACTIVE;
        if (gids)
            add_gids(verbs, context, (uint8_t)port, port_attr.gid_tbl_len, host);
    }
    verbs->close_device(context);
}

/* Which port an address is bound on, or -1. */
static int owner_of(const struct nd_verbs *verbs, struct rdma_event_channel *channel,
    const struct sockaddr_storage *address, const struct nd_found *found)
{
    struct sockaddr_storage bound = *address;
    struct rdma_cm_id *id;
    int owner = -1;

    if (verbs->create_id(channel, &id, NULL, RDMA_PS_TCP))
        return -1;
    if (!verbs->bind_addr(id, (struct sockaddr *)&bound) && id->verbs) {
        const char *name = verbs->get_device_name(id->verbs->device);

        for (unsigned i = 0; i < found->ports; i++)
            if (found->port[i].port == id->port_num && !strcmp(found->port[i].name, name))
                owner = (int)i;
    }
    verbs->destroy_id(id);
    return owner;
}

void nd_scan_devices(
    const struct nd_verbs *verbs, bool gids, struct nd_host_addresses *host, struct nd_found *found)
{
    struct rdma_event_channel *channel;
    struct ibv_device **list;
    int count = 0;

    memset(found, 0, sizeof(*found));
    for (unsigned i = 0; i < ND_SCAN_ADDRESSES_MAX; i++)
        found->owner[i] = -1;
    list = verbs->get_device_list(&count);
    for (int i = 0; list && i < count; i++)
        add_device(verbs, list[i], gids, host, found);
    if (list)
        verbs->free_device_list(list);
    /* Without a device the connection manager is not touched: librdmacm complains on standard error then. */
    if (!found->ports)
        return;
    channel = verbs->create_event_channel();
    if (!channel) {
        found->cm_error = errno ? errno : ENODEV;
        return;
    }
    for (unsigned i = 0; i < host->count; i++) {
        found->owner[i] = owner_of(verbs, channel, &host->address[i], found);
        if (found->owner[i] >= 0)
            found->port[found->owner[i]].addresses++;
    }
    verbs->destroy_event_channel(channel);
}
