/* SPDX-License-Identifier: MIT */
/*
 * provider_scan.h - asks the host for its addresses and one verbs provider for its devices, and finds out by trying
 * which address can be bound on which device. Keeps nothing; provider.c keeps what it finds.
 */
#ifndef NDSPI_CORE_PROVIDER_SCAN_H
#define NDSPI_CORE_PROVIDER_SCAN_H

#include "ndspi/core/device/provider.h"

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
    unsigned addresses; /* how many of the host's can be bound on it */
    struct nd_finding
        finding; /* what is wrong with it, addresses apart; ND_REASON_USED = nothing */
};

struct nd_found {
    unsigned ports;
    struct nd_found_port port[ND_SCAN_PORTS_MAX];
    int owner[ND_SCAN_ADDRESSES_MAX]; /* per host address: index into port, or -1 */
    int error[ND_SCAN_ADDRESSES_MAX]; /* errno of a bind that failed */
    int cm_error;                     /* errno when the connection manager cannot be used, else 0 */
};

/* Returns 0 or a negative errno. */
int nd_scan_host(struct nd_host_addresses *host);
/*
 * nd_scan_devices - the devices of one provider, and which of the host's addresses can be bound on which.
 * host  inout: addresses that only a device knows of are added where gids says so
 * gids  in: the provider's GIDs are IP addresses (the embedded device's, which may be told to use any of 127.0.0.0/8)
 * Never fails: what cannot be used is told in cm_error or in the port's finding.
 */
void nd_scan_devices(const struct nd_verbs *verbs, bool gids, struct nd_host_addresses *host,
    struct nd_found *found);

#endif
