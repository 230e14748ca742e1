/* SPDX-License-Identifier: MIT */
/*
 * provider.h - which devices there are, which of them are used and why the others are not, and which device has an IP
 * address.
 *
 * NDSPI_DEVICE chooses: auto (the default: RDMA devices when one is usable, else the embedded one), soft (the embedded
 * one only), all, or the name of one device. Usable means: an address of this host can be bound on it.
 *
 * Provider objects come and go with every call of a client, so the table of devices belongs to the process. It is
 * rebuilt when the host's addresses, the choice or (checked every second) the devices have changed. A struct nd_device
 * is one port of one device; it is never freed, so a pointer to it stays good; whether the hardware still exists shows
 * when it is opened.
 *
 * Threads: any. Lock: LOCK_PROVIDER, not held while devices are asked.
 */
#ifndef NDSPI_CORE_DEVICE_PROVIDER_H
#define NDSPI_CORE_DEVICE_PROVIDER_H

#include "ndspi/core/base.h"
#include "ndspi/core/device/diagnosis.h"
#include "ndspi/verbs/verbs.h"

#include "util/list.h"

#include <sys/socket.h>

struct nd_device {
    struct list_node link;
    const struct nd_verbs *verbs;
    bool soft;    /* the embedded device */
    uint8_t port; /* the device's port, from 1; 0 = the device could not be asked for its ports */
    uint64_t adapter_id;
    char name[ND_DEVICE_NAME_OCTETS];
    /* The provider's lock guards the members below. */
    unsigned addresses;
    struct nd_diagnosis diagnosis; /* why it is used, or why not */
};

/*
 * If memory or descriptors do not suffice to scan the devices, every function here that returns an HRESULT fails with
 * ND_NO_MEMORY or ND_INSUFFICIENT_RESOURCES, and the next call scans again.
 */

/*
 * nd_provider_find - the device in use that serves an IP address (its port does not count).
 * device  out: NULL on failure
 * Returns ND_SUCCESS; ND_INVALID_ADDRESS: no device in use has this address; or as above.
 */
HRESULT nd_provider_find(const struct sockaddr_storage *address, struct nd_device **device);

/*
 * nd_provider_find_interface - the device in use that serves the best address of a network interface.
 * index   in: as if_nametoindex tells it
 * device  out: NULL on failure
 * Returns ND_SUCCESS; ND_INVALID_ADDRESS: no interface, or no device in use serves it; or as above.
 */
HRESULT nd_provider_find_interface(unsigned index, struct nd_device **device);

/*
 * nd_provider_device - the device in use with an id of nd_provider_find.
 * device  out: NULL on failure
 * Returns ND_SUCCESS; ND_INVALID_PARAMETER: no device in use has this id; or as above.
 */
HRESULT nd_provider_device(uint64_t adapter_id, struct nd_device **device);

/*
 * nd_provider_addresses - the addresses of one device, or of all in use.
 * device     in: NULL = all
 * addresses  out: array to be freed; ports are 0. Loopback addresses come last.
 * Returns ND_SUCCESS (count may be 0), ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES.
 */
HRESULT nd_provider_addresses(
    const struct nd_device *device, struct sockaddr_storage **addresses, unsigned *count);

/* QueryAddressList of one device, or of all in use: sizes and codes of nd_address_list, or as above. */
HRESULT nd_provider_address_list(
    const struct nd_device *device, SOCKET_ADDRESS_LIST *list, size_t *size);

/*
 * nd_provider_report - reports every device known, used or not.
 * tell  in: called without a lock, with the device and its diagnosis as it was just now
 * Returns ND_SUCCESS, ND_NO_MEMORY, ND_INSUFFICIENT_RESOURCES.
 */
HRESULT nd_provider_report(void (*tell)(void *context, const struct nd_device *device,
                               unsigned addresses, const struct nd_diagnosis *diagnosis),
    void *context);

/* One address of this host. */
struct nd_provider_address {
    struct sockaddr_storage ip;
    const struct nd_device *device; /* the device in use that has it; NULL: none */
    struct nd_diagnosis diagnosis;  /* device is the name of the one it would belong to, or "" */
};

/* Reports every address: the best first, those of interfaces that are down last. */
HRESULT nd_provider_report_addresses(
    void (*tell)(void *context, const struct nd_provider_address *address), void *context);

/*
 * nd_device_open - opens a device anew: every call gives a context of its own.
 * file  out: name of its file in /dev/infiniband, "" when the device is gone; may be NULL
 * Returns NULL with errno on failure.
 */
struct ibv_context *nd_device_open(const struct nd_device *device, char file[IBV_SYSFS_NAME_MAX]);

/* Only tests call it: replaces the two built-in tables, and forgets what is known. NULL = the built-in one. */
void nd_provider_use(const struct nd_verbs *rdma, const struct nd_verbs *soft);

#endif
