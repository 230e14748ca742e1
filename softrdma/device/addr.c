/* SPDX-License-Identifier: MIT */
/* addr.c - see addr.h. */
#include "softrdma/device/addr.h"

#include "softrdma/context/context.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

socklen_t srd_addr_len(const struct sockaddr *addr)
{
    switch (addr->sa_family) {
    case AF_INET: return sizeof(struct sockaddr_in);
    case AF_INET6: return sizeof(struct sockaddr_in6);
    default: return 0;
    }
}

int srd_addr_parse(const char *text, struct sockaddr_storage *addr)
{
    const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM };
    struct addrinfo *found;

    if (getaddrinfo(text, NULL, &hints, &found))
        return EINVAL;
    memset(addr, 0, sizeof(*addr));
    memcpy(addr, found->ai_addr, found->ai_addrlen);
    freeaddrinfo(found);
    return 0;
}

bool srd_addr_is_any(const struct sockaddr *addr)
{
    if (addr->sa_family == AF_INET)
        return ((const struct sockaddr_in *)addr)->sin_addr.s_addr == htonl(INADDR_ANY);
    return IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

bool srd_addr_is_loopback(const struct sockaddr *addr)
{
    if (addr->sa_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)addr)->sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)addr)->sin6_addr);
}

bool srd_addr_same_host(const struct sockaddr *a, const struct sockaddr *b)
{
    const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a,
                              *b6 = (const struct sockaddr_in6 *)b;

    if (a->sa_family != b->sa_family)
        return false;
    if (a->sa_family == AF_INET)
        return ((const struct sockaddr_in *)a)->sin_addr.s_addr ==
               ((const struct sockaddr_in *)b)->sin_addr.s_addr;
    return IN6_ARE_ADDR_EQUAL(&a6->sin6_addr, &b6->sin6_addr) &&
           (!IN6_IS_ADDR_LINKLOCAL(&a6->sin6_addr) || a6->sin6_scope_id == b6->sin6_scope_id);
}

__be16 srd_addr_port(const struct sockaddr *addr)
{
    switch (addr->sa_family) {
    case AF_INET: return ((const struct sockaddr_in *)addr)->sin_port;
    case AF_INET6: return ((const struct sockaddr_in6 *)addr)->sin6_port;
    default: return 0;
    }
}

void srd_addr_set_port(struct sockaddr *addr, __be16 port)
{
    if (addr->sa_family == AF_INET)
        ((struct sockaddr_in *)addr)->sin_port = port;
    else
        ((struct sockaddr_in6 *)addr)->sin6_port = port;
}

void srd_addr_unmap(struct sockaddr_storage *addr)
{
    struct sockaddr_in6 six;
    struct sockaddr_in four = { .sin_family = AF_INET };

    memcpy(&six, addr, sizeof(six));
    if (six.sin6_family != AF_INET6 || !IN6_IS_ADDR_V4MAPPED(&six.sin6_addr))
        return;
    four.sin_port = six.sin6_port;
    memcpy(&four.sin_addr, six.sin6_addr.s6_addr + 12, sizeof(four.sin_addr));
    memset(addr, 0, sizeof(*addr));
    memcpy(addr, &four, sizeof(four));
}

/* Writes the numeric host of an address. Returns whether it has one. */
static bool host_of(const struct sockaddr *addr, char *host, size_t octets)
{
    return srd_addr_len(addr) &&
           !getnameinfo(addr, srd_addr_len(addr), host, (socklen_t)octets, NULL, 0, NI_NUMERICHOST);
}

const char *srd_addr_host_text(const struct sockaddr *addr, char text[SRD_ADDR_TEXT])
{
    if (!host_of(addr, text, SRD_ADDR_TEXT))
        snprintf(text, SRD_ADDR_TEXT, "(no address)");
    return text;
}

const char *srd_addr_text(const struct sockaddr *addr, char text[SRD_ADDR_TEXT])
{
    char host[INET6_ADDRSTRLEN + 20];

    if (!host_of(addr, host, sizeof(host)))
        snprintf(text, SRD_ADDR_TEXT, "(no address)");
    else
        snprintf(text, SRD_ADDR_TEXT, addr->sa_family == AF_INET6 ? "[%s]:%u" : "%s:%u", host,
            (unsigned)ntohs(srd_addr_port(addr)));
    return text;
}

void srd_addr_to_gid(const struct sockaddr *addr, union ibv_gid *gid)
{
    memset(gid, 0, sizeof(*gid));
    if (addr->sa_family == AF_INET6) {
        memcpy(gid->raw, &((const struct sockaddr_in6 *)addr)->sin6_addr, 16);
        return;
    }
    gid->raw[10] = gid->raw[11] = 0xFF;
    memcpy(gid->raw + 12, &((const struct sockaddr_in *)addr)->sin_addr, 4);
}

static void keep(const struct sockaddr *from, struct sockaddr_storage *addr)
{
    memset(addr, 0, sizeof(*addr));
    memcpy(addr, from, srd_addr_len(from));
}

void srd_addr_of_gid(
    const union ibv_gid *gid, const struct sockaddr *from, struct sockaddr_storage *addr)
{
    struct sockaddr_in6 six = { .sin6_family = AF_INET6 };

    memcpy(&six.sin6_addr, gid->raw, 16);
    if (from->sa_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr))
        six.sin6_scope_id = ((const struct sockaddr_in6 *)from)->sin6_scope_id;
    memset(addr, 0, sizeof(*addr));
    memcpy(addr, &six, sizeof(six));
    srd_addr_unmap(addr);
}

/* The hosts that reach an address. A program that takes the first address gives it to a peer on another host. */
enum reach { REACH_ALL, REACH_LINK, REACH_HOST, REACHES };

static enum reach reach_of(const struct sockaddr *addr)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)addr;
    bool link;

    if (srd_addr_is_loopback(addr))
        return REACH_HOST;
    link = addr->sa_family == AF_INET
               ? ntohl(four->sin_addr.s_addr) >> 16 == 0xA9FE /* 169.254, RFC 3927 */
               : IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)addr)->sin6_addr);
    return link ? REACH_LINK : REACH_ALL;
}

static bool is_served(const struct ifaddrs *it, enum reach reach)
{
    return it->ifa_addr && srd_addr_len(it->ifa_addr) && it->ifa_flags & IFF_UP &&
           reach_of(it->ifa_addr) == reach;
}

/* Appends the addresses of one reach to the count addresses before them. Returns the new count. */
static int walk_reach(
    struct ifaddrs *list, enum reach reach, int count, int index, struct sockaddr_storage *addr)
{
    for (struct ifaddrs *it = list; it && count < SRD_MAX_GID; it = it->ifa_next) {
        if (!is_served(it, reach))
            continue;
        if (count++ == index)
            keep(it->ifa_addr, addr);
    }
    return count;
}

/*
 * Counts the addresses up to SRD_MAX_GID, and stores the one at index to addr. If NDSPI_SOFT_DEVICES names none, they
 * are in the order of their reach.
 */
static int walk(struct srd_device *device, int index, struct sockaddr_storage *addr)
{
    struct ifaddrs *list;
    int count = 0;

    if (device->n_addrs) {
        if (index >= 0 && index < device->n_addrs)
            memcpy(addr, &device->addrs[index], sizeof(*addr));
        return device->n_addrs;
    }
    if (!getifaddrs(&list)) {
        for (int reach = REACH_ALL; reach < REACHES; reach++)
            count = walk_reach(list, (enum reach)reach, count, index, addr);
        freeifaddrs(list);
    }
    if (count)
        return count;
    if (index == 0) {
        const struct sockaddr_in loopback = { .sin_family = AF_INET,
            .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        keep((const struct sockaddr *)&loopback, addr);
    }
    return 1;
}

int srd_addr_count(struct srd_device *device)
{
    return walk(device, -1, NULL);
}

int srd_addr_at(struct srd_device *device, int index, struct sockaddr_storage *addr)
{
    return index >= 0 && index < walk(device, index, addr) ? 0 : EINVAL;
}

int srd_addr_gid(struct srd_device *device, int index, union ibv_gid *gid)
{
    struct sockaddr_storage addr;

    if (srd_addr_at(device, index, &addr))
        return EINVAL;
    srd_addr_to_gid((struct sockaddr *)&addr, gid);
    return 0;
}
