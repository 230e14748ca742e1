/* SPDX-License-Identifier: MIT */
/* address.h - parses addresses that users type, and prints them. */
#ifndef TOOLS_INFO_ADDRESS_H
#define TOOLS_INFO_ADDRESS_H

#include <winsock2.h>
#include <ws2tcpip.h>

#include <stdbool.h>

enum { NDINFO_PORT = 54324, NDINFO_ADDRESS_OCTETS = 80 };

enum { NDINFO_HINT_OCTETS = 192, NDINFO_MOST_ADDRESSES = 16 };

/*
 * address_parse - parses "10.0.0.1", "10.0.0.1:80", "::1", "[::1]:80", "[fe80::1%eth0]:80", "host" and "host:80". The
 * look-up of a name may take long. The default port is NDINFO_PORT.
 * addresses  out: all addresses of a host, in the order of the resolver, which is that of RFC 6724
 * wrong      out: on 0, what is wrong, in words
 * Returns the number of addresses.
 */
int address_parse(const char *text, SOCKADDR_INET addresses[NDINFO_MOST_ADDRESSES],
    char wrong[NDINFO_HINT_OCTETS]);
/*
 * address_hint - guesses what the user meant by an address that failed: in "::1:5000" the last part may be a port.
 * Returns hint, or NULL: no guess.
 */
const char *address_hint(const char *text, char hint[NDINFO_HINT_OCTETS]);
SIZE_T address_size(const SOCKADDR_INET *address);
/* Writes an address, with its port if with_port. Returns text. */
const char *address_text(
    const struct sockaddr *address, bool with_port, char text[NDINFO_ADDRESS_OCTETS]);

#endif
