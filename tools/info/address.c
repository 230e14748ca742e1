/* SPDX-License-Identifier: MIT */
#include "address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool parse_port(const char *text, USHORT *port_be)
{
    char *end;
    unsigned long port = strtoul(text, &end, 10);

    if (*text < '0' || *text > '9' || *end || port > 65535)
        return false;
    *port_be = htons((USHORT)port);
    return true;
}

__attribute__((format(printf, 2, 3))) static bool is_wrong(
    char wrong[NDINFO_HINT_OCTETS], const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(wrong, NDINFO_HINT_OCTETS, format, arguments);
    va_end(arguments);
    return false;
}

/* Parses an IPv6 address; a link-local one needs its link (fe80::1%eth0). */
static bool parse_six(char *text, SOCKADDR_INET *address, char wrong[NDINFO_HINT_OCTETS])
{
    char *link = strchr(text, '%');

    if (link) {
        *link++ = 0;
        address->Ipv6.sin6_scope_id = if_nametoindex(link);
        if (!address->Ipv6.sin6_scope_id)
            return is_wrong(wrong, "no network interface is called %s", link);
    }
    address->si_family = AF_INET6;
    if (inet_pton(AF_INET6, text, &address->Ipv6.sin6_addr) != 1)
        return is_wrong(wrong, "not an IPv6 address: %s", text);
    if (IN6_IS_ADDR_LINKLOCAL(&address->Ipv6.sin6_addr) && !link)
        return is_wrong(wrong, "a link-local address needs its network interface: %s%%eth0", text);
    return true;
}

static int look_up(const char *name, SOCKADDR_INET *addresses, char wrong[NDINFO_HINT_OCTETS])
{
    struct addrinfo wanted = { .ai_flags = AI_ADDRCONFIG, .ai_socktype = SOCK_STREAM };
    struct addrinfo *found;
    int error = getaddrinfo(name, "9", &wanted, &found), count = 0;

    if (error)
        return is_wrong(wrong, "not an IP address, nor the name of a host: %s (%s)", name,
            error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
    for (struct addrinfo *each = found; each && count < NDINFO_MOST_ADDRESSES; each = each->ai_next)
        memcpy(&addresses[count++], each->ai_addr, each->ai_addrlen);
    freeaddrinfo(found);
    return count;
}

/* Parses an address or a name without a port. Digits and dots alone are no name. Returns how many addresses it has. */
static int parse_host(char *text, SOCKADDR_INET *addresses, char wrong[NDINFO_HINT_OCTETS])
{
    if (strchr(text, ':'))
        return parse_six(text, addresses, wrong);
    addresses->si_family = AF_INET;
    if (inet_pton(AF_INET, text, &addresses->Ipv4.sin_addr) == 1)
        return 1;
    if (!text[strspn(text, "0123456789.")])
        return is_wrong(wrong, "not an IP address: %s", text);
    return look_up(text, addresses, wrong);
}

int address_parse(const char *text, SOCKADDR_INET addresses[NDINFO_MOST_ADDRESSES],
    char wrong[NDINFO_HINT_OCTETS])
{
    char copy[256], *host = copy, *port = NULL;
    USHORT port_be = htons(NDINFO_PORT);
    int count;

    memset(addresses, 0, NDINFO_MOST_ADDRESSES * sizeof(*addresses));
    if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
        return is_wrong(wrong, "too long for an address");
    if (*copy == '[') {
        char *end = strchr(copy, ']');
        if (!end || (end[1] && end[1] != ':'))
            return is_wrong(wrong, "[ADDRESS]:PORT is the form for IPv6, not %s", text);
        *end = 0;
        host = copy + 1;
        port = end[1] ? end + 2 : NULL;
        if (!strchr(host, ':'))
            return is_wrong(wrong, "only an IPv6 address is written in brackets: %s", text);
    } else if (strchr(copy, ':') && strchr(copy, ':') == strrchr(copy, ':')) {
        port = strchr(copy, ':');
        *port++ = 0;
    }
    if (port && !parse_port(port, &port_be))
        return is_wrong(wrong, "a port is a number from 0 to 65535, not \"%s\"", port);
    count = parse_host(host, addresses, wrong);
    for (int i = 0; i < count; i++)
        addresses[i].Ipv4.sin_port = port_be; /* both families have the port at the same offset */
    return count;
}

const char *address_hint(const char *text, char hint[NDINFO_HINT_OCTETS])
{
    const char *last = strrchr(text, ':');
    char copy[INET6_ADDRSTRLEN];
    struct in6_addr ip;
    USHORT port_be;

    if (!last || *text == '[' || strchr(text, ':') == last || !parse_port(last + 1, &port_be) ||
        (size_t)(last - text) >= sizeof(copy))
        return NULL;
    snprintf(copy, sizeof(copy), "%.*s", (int)(last - text), text);
    if (inet_pton(AF_INET6, copy, &ip) != 1)
        return NULL;
    snprintf(hint, NDINFO_HINT_OCTETS, "if %s is meant as the port, write [%s]:%s", last + 1, copy,
        last + 1);
    return hint;
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
