/* SPDX-License-Identifier: MIT */
#include "ndspi/core/address.h"

#ifndef _WIN32
#include <arpa/inet.h>
#include <netinet/in.h>
#endif
#include <stdio.h>
#include <string.h>

static const struct sockaddr_in *as_in(const struct sockaddr_storage *address)
{
    return (const struct sockaddr_in *)address;
}

static const struct sockaddr_in6 *as_in6(const struct sockaddr_storage *address)
{
    return (const struct sockaddr_in6 *)address;
}

socklen_t nd_address_size(const struct sockaddr *address)
{
    switch (address->sa_family) {
    case AF_INET: return sizeof(struct sockaddr_in);
    case AF_INET6: return sizeof(struct sockaddr_in6);
    default: return 0;
    }
}

HRESULT nd_address_import(
    const struct sockaddr *address, size_t length, struct sockaddr_storage *out)
{
    size_t size;

    if (!address || length < sizeof(address->sa_family))
        return ND_INVALID_ADDRESS;
    size = nd_address_size(address);
    if (size == 0 || length < size)
        return ND_INVALID_ADDRESS;
    memset(out, 0, sizeof(*out));
    memcpy(out, address, size);
    if (address->sa_family == AF_INET)
        memset(((struct sockaddr_in *)out)->sin_zero, 0,
            sizeof(((struct sockaddr_in *)out)->sin_zero));
    return ND_SUCCESS;
}

HRESULT nd_address_export(
    const struct sockaddr_storage *address, struct sockaddr *out, size_t *size)
{
    size_t needed = nd_address_size((const struct sockaddr *)address), room;

    if (!size)
        return ND_INVALID_PARAMETER;
    room = *size;
    *size = needed;
    if (!out || room < needed)
        return ND_BUFFER_OVERFLOW;
    memcpy(out, address, needed);
    return ND_SUCCESS;
}

bool nd_address_same_ip(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
    if (a->ss_family != b->ss_family)
        return false;
    if (a->ss_family == AF_INET)
        return as_in(a)->sin_addr.s_addr == as_in(b)->sin_addr.s_addr;
    return a->ss_family == AF_INET6 &&
           IN6_ARE_ADDR_EQUAL(&as_in6(a)->sin6_addr, &as_in6(b)->sin6_addr) &&
           (!nd_address_is_link_local(a) || as_in6(a)->sin6_scope_id == as_in6(b)->sin6_scope_id);
}

bool nd_address_is_wildcard(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET)
        return as_in(address)->sin_addr.s_addr == htonl(INADDR_ANY);
    return IN6_IS_ADDR_UNSPECIFIED(&as_in6(address)->sin6_addr);
}

bool nd_address_is_loopback(const struct sockaddr_storage *address)
{
    if (address->ss_family == AF_INET)
        return ntohl(as_in(address)->sin_addr.s_addr) >> 24 == 127;
    return IN6_IS_ADDR_LOOPBACK(&as_in6(address)->sin6_addr);
}

bool nd_address_is_link_local(const struct sockaddr_storage *address)
{
    return address->ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&as_in6(address)->sin6_addr);
}

/* Both families have the port at the same offset. */
uint16_t nd_address_port_be(const struct sockaddr_storage *address)
{
    return as_in(address)->sin_port;
}

void nd_address_set_port_be(struct sockaddr_storage *address, uint16_t port_be)
{
    ((struct sockaddr_in *)address)->sin_port = port_be;
}

const char *nd_address_text(
    const struct sockaddr_storage *address, char text[ND_ADDRESS_TEXT_OCTETS])
{
    char ip[INET6_ADDRSTRLEN] = "?", scope[16] = "";

    if (address->ss_family == AF_INET) {
        inet_ntop(AF_INET, &as_in(address)->sin_addr, ip, sizeof(ip));
        snprintf(text, ND_ADDRESS_TEXT_OCTETS, "%s:%u", ip, ntohs(as_in(address)->sin_port));
    } else if (address->ss_family == AF_INET6) {
        inet_ntop(AF_INET6, &as_in6(address)->sin6_addr, ip, sizeof(ip));
        if (as_in6(address)->sin6_scope_id)
            snprintf(scope, sizeof(scope), "%%%u", (unsigned)as_in6(address)->sin6_scope_id);
        snprintf(text, ND_ADDRESS_TEXT_OCTETS, "[%s%s]:%u", ip, scope,
            ntohs(as_in6(address)->sin6_port));
    } else {
        snprintf(text, ND_ADDRESS_TEXT_OCTETS, "(no address)");
    }
    return text;
}

HRESULT nd_address_list(const struct sockaddr_storage *addresses, unsigned count,
    SOCKET_ADDRESS_LIST *list, size_t *size)
{
    size_t needed = offsetof(SOCKET_ADDRESS_LIST, Address) + count * sizeof(SOCKET_ADDRESS), room;
    char *next;

    if (!size)
        return ND_INVALID_PARAMETER;
    next = (char *)list + needed;
    for (unsigned i = 0; i < count; i++)
        needed += nd_address_size((const struct sockaddr *)&addresses[i]);
    room = *size;
    *size = needed;
    if (!list || room < needed)
        return ND_BUFFER_OVERFLOW;

    list->iAddressCount = (INT)count;
    for (unsigned i = 0; i < count; i++) {
        struct sockaddr_storage address = addresses[i];
        socklen_t length = nd_address_size((const struct sockaddr *)&address);

        nd_address_set_port_be(&address, 0);
        memcpy(next, &address, length);
        list->Address[i].lpSockaddr = (struct sockaddr *)next;
        list->Address[i].iSockaddrLength = (INT)length;
        next += length;
    }
    return ND_SUCCESS;
}
