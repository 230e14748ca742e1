/* SPDX-License-Identifier: MIT */
/*
 * scan.h - asks the host for its addresses and one verbs provider for its devices, and finds out by trying
 * which address can be bound on which device. Has no state; provider.c keeps the result.
 */
#ifndef NDSPI_CORE_DEVICE_SCAN_H
#define NDSPI_CORE_DEVICE_SCAN_H

#include "ndspi/core/device/found.h"
#include "ndspi/verbs/verbs.h"

/* Returns 0 or a negative errno. */
int nd_scan_host(struct nd_host_addresses *host);
/*
 * nd_scan_devices - the devices of one provider, and which of the host's addresses can be bound on which.
 * host  inout: with gids, adds addresses that only a device knows of
 * gids  in: the provider's GIDs are IP addresses (the embedded device's, which can be set to any of 127.0.0.0/8)
 * cm_error or the port's diagnosis say what cannot be used.
 * Returns 0, or the negative errno of the first shortage (errno_is_shortage) that was met: there may be more than
 * found.
 */
int nd_scan_devices(const struct nd_verbs *verbs, bool gids, struct nd_host_addresses *host,
    struct nd_found *found);

#endif
