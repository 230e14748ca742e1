/* SPDX-License-Identifier: MIT */
/* address.h - addresses as they are typed and printed. */
#ifndef NDSPI_TOOLS_ADDRESS_H
#define NDSPI_TOOLS_ADDRESS_H

#include <winsock2.h>
#include <ws2tcpip.h>

#include <stdbool.h>

enum { NDINFO_PORT = 54324, NDINFO_ADDRESS_OCTETS = 80 };

/* "10.0.0.1", "10.0.0.1:80", "::1", "[::1]:80"; the port is NDINFO_PORT unless told. False: none of these. */
bool address_parse(const char *text, SOCKADDR_INET *address);
SIZE_T address_size(const SOCKADDR_INET *address);
/* With the port, or (with_port false) without. Returns text. */
const char *address_text(
    const struct sockaddr *address, bool with_port, char text[NDINFO_ADDRESS_OCTETS]);

#endif
