/* SPDX-License-Identifier: MIT */
#include "ndspi/verbs/quirks.h"

const struct nd_quirk_text nd_quirk_texts[ND_QUIRK_COUNT] = {
#define TEXT(name, wrong, done, tests) [ND_QUIRK_##name] = { #name, wrong, done, tests },
    ND_QUIRKS(TEXT)
#undef TEXT
};

#define Q(name) ND_QUIRK_BIT(name)

/* Quirks of the kernel's connection managers, with every device. */
#define IB_CM                                                                                      \
    (Q(NO_MOVE) | Q(DEAD_UNTOLD) | Q(SLOW_DESTROY) | Q(PADDED_DATA) | Q(ACCESS_LATE) |             \
        Q(DEPTHS_RAISED))
#define IWARP_CM                                                                                   \
    (Q(MOVED_BY_CM) | Q(FLUSHES_AT_END) | Q(TWO_MESSAGES) | Q(SLOW_DESTROY) | Q(READ_SINK))

#define DRIVER "its driver in Linux 6.1 and rdma-core 44"

enum {
    OUI_RXE = 0xffffff,
    OUI_SIW = 0x626d74,
    OUI_MELLANOX = 0x02c9,
    PCI_INTEL = 0x8086,
    PCI_BROADCOM = 0x14e4,
    PCI_HUAWEI = 0x19e5,
    PCI_CHELSIO = 0x1425,
    PCI_AMAZON = 0x1d0f,
    FIRST_MLX5_PART = 0x1011,
};

const struct nd_family nd_families[] = {
    {
        .name = "softrdma",
        .source = "this project",
        .run = true,
        .soft = true,
        .quirks = 0,
        .remarks = "the embedded device",
    },
    {
        .name = "rxe",
        .source = "measured on Linux 6.1",
        .run = true,
        .vendor_id = OUI_RXE,
        .quirks = IB_CM | Q(WINDOW_BOUNDS) | Q(INVALIDATE_CRASHES) | Q(BIND_REPEATED) |
                  Q(WINDOW_KEY) | Q(INVALIDATED_BIT) | Q(LATE_RECEIVES) | Q(SOLICITED) |
                  Q(LOCAL_STATUS) | Q(RETRIES_FOR_EVER),
        .remarks = "RoCE in software",
    },
    {
        .name = "siw",
        .source = "measured on Linux 6.1",
        .run = true,
        .iwarp = true,
        .vendor_id = OUI_SIW,
        .quirks = IWARP_CM | Q(NO_WINDOWS) | Q(INVALIDATED_UNTOLD) | Q(INVALIDATE_FIELD) |
                  Q(LATE_RECEIVES) | Q(LATE_SENDS) | Q(FORGOTTEN) | Q(SOLICITED) | Q(FLUSH_STATUS) |
                  Q(NEGATIVE_ERRNO) | Q(EMPTY_RECEIVES) | Q(EMPTY_ENTRIES) | Q(READ_RIGHT) |
                  Q(READ_FENCE) | Q(OVERTAKES) | Q(UNWAKED) | Q(ONE_ATTEMPT) | Q(REPLY_SWAPPED) |
                  Q(SERVES_AS_ASKED) | Q(OFFER_EXPIRES) | Q(ACTIVE_FIRST) | Q(NO_RECEIVER_WAIT) |
                  Q(SENT_IS_DONE) | Q(FEWER_READ_ENTRIES) | Q(FIXED_SRQ) | Q(FIXED_CQ) |
                  Q(LOST_KEY),
        .remarks =
            "iWARP in software; no immediate data; a peer that leaves before it is "
            "accepted can end its listener, and a message that comes meanwhile can stay unread",
    },
    {
        .name = "mlx4",
        .source = DRIVER,
        .vendor_id = OUI_MELLANOX,
        .last_part = FIRST_MLX5_PART - 1,
        .quirks = IB_CM | Q(FEWER_READ_ENTRIES) | Q(FIXED_SRQ),
        .remarks = "ConnectX-2 and -3; type 2 windows by firmware",
    },
    {
        .name = "mlx5",
        .source = DRIVER,
        .vendor_id = OUI_MELLANOX,
        .first_part = FIRST_MLX5_PART,
        .last_part = UINT32_MAX,
        .quirks = IB_CM | Q(FEWER_READ_ENTRIES) | Q(FIXED_SRQ),
        .remarks = "ConnectX-4 and later, BlueField; type 2B windows",
    },
    {
        .name = "irdma, iWARP",
        .source = DRIVER,
        .iwarp = true,
        .vendor_id = PCI_INTEL,
        .quirks = IWARP_CM | Q(ONE_ATTEMPT) | Q(FEWER_READ_ENTRIES),
        .remarks = "X722, E800; windows if a trial succeeds",
    },
    {
        .name = "irdma, RoCE",
        .source = DRIVER,
        .vendor_id = PCI_INTEL,
        .quirks = IB_CM | Q(FEWER_READ_ENTRIES),
        .remarks = "E800; windows if a trial succeeds",
    },
    {
        .name = "bnxt_re",
        .source = DRIVER,
        .vendor_id = PCI_BROADCOM,
        .quirks = IB_CM | Q(NO_WINDOWS),
        .remarks = "the kernel has windows, the user-space driver none",
    },
    {
        .name = "hns",
        .source = DRIVER,
        .vendor_id = PCI_HUAWEI,
        .quirks = IB_CM | Q(NO_WINDOWS) | Q(FIXED_CQ),
        .remarks = "windows can be made, type 2 ones not bound",
    },
    {
        .name = "cxgb4",
        .source = DRIVER,
        .iwarp = true,
        .vendor_id = PCI_CHELSIO,
        .quirks = IWARP_CM | Q(NO_WINDOWS) | Q(ONE_ATTEMPT) | Q(LATE_RECEIVES) | Q(LATE_SENDS) |
                  Q(FORGOTTEN) | Q(FEWER_READ_ENTRIES) | Q(FIXED_CQ),
        .remarks = "posts in the error state are refused with EINVAL",
    },
    {
        .name = "efa",
        .source = DRIVER,
        .vendor_id = PCI_AMAZON,
        .quirks = Q(NO_CONNECTIONS),
        .remarks = "SRD and UD queue pairs only",
    },
    {
        .name = "another iWARP device",
        .source = "its kernel's connection manager; the rest by trial",
        .iwarp = true,
        .any_vendor = true,
        .quirks = IWARP_CM | Q(ONE_ATTEMPT),
        .remarks = "",
    },
    {
        .name = "another InfiniBand or RoCE device",
        .source = "its kernel's connection manager; the rest by trial",
        .any_vendor = true,
        .quirks = IB_CM,
        .remarks = "",
    },
};

const size_t nd_family_count = sizeof(nd_families) / sizeof(nd_families[0]);

static bool is_of(
    const struct nd_family *family, const struct ibv_device_attr *attr, bool iwarp, bool soft)
{
    if (family->soft || soft)
        return family->soft && soft;
    if (family->iwarp != iwarp)
        return false;
    if (family->any_vendor)
        return true;
    return family->vendor_id == attr->vendor_id &&
           (!family->last_part || (attr->vendor_part_id >= family->first_part &&
                                      attr->vendor_part_id <= family->last_part));
}

const struct nd_family *nd_family_of(
    const struct ibv_device_attr *attr, enum ibv_transport_type transport, bool soft)
{
    const struct nd_family *family = nd_families;

    while (!is_of(family, attr, transport == IBV_TRANSPORT_IWARP, soft))
        family++;
    return family;
}
