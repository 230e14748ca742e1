/* SPDX-License-Identifier: MIT */
/* found.h - what a look at the host finds: its addresses, and the devices of one verbs provider. */
#ifndef NDSPI_CORE_DEVICE_FOUND_H
#define NDSPI_CORE_DEVICE_FOUND_H

#include "ndspi/core/device/diagnosis.h"

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

enum { ND_SCAN_ADDRESSES_MAX = 256, ND_SCAN_PORTS_MAX = 64 };

/* Best first: IPv4, IPv6, link-local, loopback; at the end those of interfaces that are down. */
struct nd_host_addresses {
    unsigned count;
    struct nd_host_address {
        struct sockaddr_storage ip;
        char netdev[IF_NAMESIZE]; /* "" = only a device knows of it */
        bool down;
    } at[ND_SCAN_ADDRESSES_MAX];
};

struct nd_found_port {
    char name[ND_DEVICE_NAME_OCTETS];
    uint8_t port; /* 0 = the device could not be asked */
    uint64_t guid;
    unsigned addresses;            /* how many of the host's can be bound on it */
    struct nd_diagnosis diagnosis; /* what is wrong with it, except for its addresses */
};

struct nd_found {
    unsigned ports;
    struct nd_found_port port[ND_SCAN_PORTS_MAX];
    int owner[ND_SCAN_ADDRESSES_MAX]; /* per host address: index into port, or -1 */
    int error[ND_SCAN_ADDRESSES_MAX]; /* errno of a bind that failed */
    int cm_error;                     /* errno when the connection manager cannot be used, else 0 */
};

#endif
