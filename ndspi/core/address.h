/* SPDX-License-Identifier: MIT */
/*
 * address.h - socket addresses as clients hand them in and get them back. IPv4 and IPv6 with their native layouts and
 * family numbers; nothing else exists here.
 */
#ifndef NDSPI_CORE_ADDRESS_H
#define NDSPI_CORE_ADDRESS_H

#include "ndspi/core/base.h"

#ifdef _WIN32 /* part of libndutil */
#include <ws2tcpip.h>
#else
#include <sys/socket.h>
#endif

enum { ND_ADDRESS_TEXT_OCTETS = 80 };

/* Octets of the address by its family; 0 for any family but IPv4 and IPv6. */
socklen_t nd_address_size(const struct sockaddr *address);

/*
 * nd_address_import - take over an address of a client.
 * address  in: may be NULL or hostile; length in octets, may be longer than the family needs
 * out      out: zeroed but for the address, so that two imports of one address compare equal
 * Returns ND_SUCCESS, or ND_INVALID_ADDRESS: NULL, shorter than its family needs, or another family.
 */
HRESULT nd_address_import(
    const struct sockaddr *address, size_t length, struct sockaddr_storage *out);

/*
 * nd_address_export - hand an address out by the SPI's size rule.
 * out   out: may be NULL to ask for the size
 * size  inout: octets of out; set to the octets used or needed
 * Returns ND_SUCCESS; ND_BUFFER_OVERFLOW (too small or NULL; out untouched); ND_INVALID_PARAMETER (size is NULL).
 */
HRESULT nd_address_export(
    const struct sockaddr_storage *address, struct sockaddr *out, size_t *size);

/* Returns whether two addresses name the same IP (and the same link, for link-local ones); ports do not count. */
bool nd_address_same_ip(const struct sockaddr_storage *a, const struct sockaddr_storage *b);
bool nd_address_is_wildcard(const struct sockaddr_storage *address);
bool nd_address_is_loopback(const struct sockaddr_storage *address);
bool nd_address_is_link_local(const struct sockaddr_storage *address);

uint16_t nd_address_port_be(const struct sockaddr_storage *address);
void nd_address_set_port_be(struct sockaddr_storage *address, uint16_t port_be);

/* Writes "10.0.0.1:80" or "[fe80::1%2]:80". Returns text. */
const char *nd_address_text(
    const struct sockaddr_storage *address, char text[ND_ADDRESS_TEXT_OCTETS]);

/*
 * nd_address_list - one flat SOCKET_ADDRESS_LIST: header and entries, then the addresses they point to.
 * addresses  in: count of them, ports ignored (written as 0)
 * list       out: may be NULL to ask for the size; untouched unless it fits
 * size       inout: octets of list; set to the octets used or needed
 * Returns ND_SUCCESS, ND_BUFFER_OVERFLOW, ND_INVALID_PARAMETER (size is NULL).
 * Source: IND2Provider::QueryAddressList.
 */
HRESULT nd_address_list(const struct sockaddr_storage *addresses, unsigned count,
    SOCKET_ADDRESS_LIST *list, size_t *size);

#endif
