/* SPDX-License-Identifier: MIT */
/*
 * scan.h - asks the host for its addresses and one verbs provider for its devices, and finds out by trying
 * which address can be bound on which device. Keeps nothing; provider.c keeps what it finds.
 */
#ifndef NDSPI_CORE_SCAN_H
#define NDSPI_CORE_SCAN_H

#include "ndspi/core/device/found.h"
#include "ndspi/verbs/verbs.h"

/* Returns 0 or a negative errno. */
int nd_scan_host(struct nd_host_addresses *host);
/*
 * nd_scan_devices - the devices of one provider, and which of the host's addresses can be bound on which.
 * host  inout: addresses that only a device knows of are added where gids says so
 * gids  in: the provider's GIDs are IP addresses (the embedded device's, which may be told to use any of 127.0.0.0/8)
 * What cannot be used is told in cm_error or in the port's diagnosis.
 * Returns 0, or the negative errno of the first shortage (errno_is_shortage) that was met: there may be more than
 * found.
 */
int nd_scan_devices(const struct nd_verbs *verbs, bool gids, struct nd_host_addresses *host,
    struct nd_found *found);

#endif
