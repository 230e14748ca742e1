/* SPDX-License-Identifier: MIT */
#include "address.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_port(const char *text, USHORT *port_be)
{
    char *end;
    unsigned long port = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end || port > 65535)
        return false;
    *port_be = htons((USHORT)port);
    return true;
}

/* An address without port; link-local ones with their link (fe80::1%eth0). */
static bool parse_ip(char *text, SOCKADDR_INET *address)
{
    char *link = strchr(text, '%');

    if (inet_pton(AF_INET, text, &address->Ipv4.sin_addr) == 1) {
        address->si_family = AF_INET;
        return true;
    }
    if (link) {
        *link++ = 0;
        address->Ipv6.sin6_scope_id = if_nametoindex(link);
        if (!address->Ipv6.sin6_scope_id)
            return false;
    }
    address->si_family = AF_INET6;
    return inet_pton(AF_INET6, text, &address->Ipv6.sin6_addr) == 1;
}

bool address_parse(const char *text, SOCKADDR_INET *address)
{
    char copy[NDINFO_ADDRESS_OCTETS], *ip = copy, *port = NULL;
    USHORT port_be = htons(NDINFO_PORT);

    memset(address, 0, sizeof(*address));
    if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
        return false;
    if (*copy == '[') {
        char *end = strchr(copy, ']');
        if (!end || (end[1] && end[1] != ':'))
            return false;
        *end = 0;
        ip = copy + 1;
        port = end[1] ? end + 2 : NULL;
    } else if (strchr(copy, ':') && strchr(copy, ':') == strrchr(copy, ':')) {
        port = strchr(copy, ':');
        *port++ = 0;
    }
    if ((port && !parse_port(port, &port_be)) || !parse_ip(ip, address))
        return false;
    address->Ipv4.sin_port = port_be; /* in one place for both */
    return true;
}

SIZE_T address_size(const SOCKADDR_INET *address)
{
    return address->si_family == AF_INET ? sizeof(address->Ipv4) : sizeof(address->Ipv6);
}

const char *address_text(
    const struct sockaddr *address, bool with_port, char text[NDINFO_ADDRESS_OCTETS])
{
    const SOCKADDR_INET *inet = (const SOCKADDR_INET *)address;
    bool six = address->sa_family == AF_INET6;
    char ip[INET6_ADDRSTRLEN] = "", link[IF_NAMESIZE + 1] = "";

    if (six && inet->Ipv6.sin6_scope_id) {
        link[0] = '%';
        if (!if_indextoname(inet->Ipv6.sin6_scope_id, link + 1))
            link[0] = 0;
    }
    inet_ntop(address->sa_family,
        six ? (const void *)&inet->Ipv6.sin6_addr : (const void *)&inet->Ipv4.sin_addr, ip,
        sizeof(ip));
    if (!with_port)
        snprintf(text, NDINFO_ADDRESS_OCTETS, "%s%s", ip, link);
    else
        snprintf(text, NDINFO_ADDRESS_OCTETS, six ? "[%s%s]:%u" : "%s%s:%u", ip, link,
            ntohs(inet->Ipv4.sin_port));
    return text;
}
