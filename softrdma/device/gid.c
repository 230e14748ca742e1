/* SPDX-License-Identifier: MIT */
/* gid.c - returns a device's addresses as GIDs: one by one, and as the table of ibv_query_gid_table. */
#include "softrdma/context/context.h"

#include "softrdma/device/addr.h"

#include <errno.h>
#include <string.h>

int srd_query_gid(struct ibv_context *context, uint8_t port_num, int index, union ibv_gid *gid)
{
    if (port_num != 1 || index < 0 || srd_addr_gid(srd_device_of(context), index, gid)) {
        errno = EINVAL;
        return -1;
    }
    return 0;
}

/* Fills a structure whose size is the caller's: it may be older or newer than ours. */
static int fill_entry(
    struct srd_device *device, uint32_t index, struct ibv_gid_entry *entry, size_t octets)
{
    struct ibv_gid_entry full = { .gid_index = index,
        .port_num = 1,
        .gid_type = IBV_GID_TYPE_IB /* the kernel's type for iWARP */ };
    int error = srd_addr_gid(device, (int)index, &full.gid);

    if (error)
        return error;
    memset(entry, 0, octets);
    memcpy(entry, &full, octets < sizeof(full) ? octets : sizeof(full));
    return 0;
}

int srd_query_gid_ex(struct ibv_context *context, uint32_t port_num, uint32_t index,
    struct ibv_gid_entry *entry, uint32_t flags, size_t entry_octets)
{
    if (port_num != 1 || index >= SRD_MAX_GID || flags)
        return errno = flags ? EOPNOTSUPP : EINVAL;
    return srd_errno(fill_entry(srd_device_of(context), index, entry, entry_octets) ? ENODATA : 0);
}

/* Returns -EINVAL if there are more addresses than max_entries, as the kernel does. */
ssize_t srd_query_gid_table(struct ibv_context *context, struct ibv_gid_entry *entries,
    size_t max_entries, uint32_t flags, size_t entry_octets)
{
    struct srd_device *device = srd_device_of(context);
    uint8_t *at = (uint8_t *)entries;
    size_t count = 0;

    if (flags)
        return -EOPNOTSUPP;
    if (!entry_octets || (size_t)srd_addr_count(device) > max_entries)
        return -EINVAL;
    while (count < max_entries &&
           !fill_entry(device, (uint32_t)count, (struct ibv_gid_entry *)at, entry_octets)) {
        at += entry_octets;
        count++;
    }
    return (ssize_t)count;
}
