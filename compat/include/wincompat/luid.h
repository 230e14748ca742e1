/* SPDX-License-Identifier: MIT */
/* luid.h - the number of a network interface, which <iphlpapi.h> and the headers for drivers have in common. */
#ifndef WINCOMPAT_LUID_H
#define WINCOMPAT_LUID_H

#include <wincompat/types.h>

/* IfType: the number that IANA gave that kind of interface. */
typedef union _NET_LUID_LH {
    ULONG64 Value;
    struct {
        ULONG64 Reserved : 24;
        ULONG64 NetLuidIndex : 24;
        ULONG64 IfType : 16;
    } Info;
} NET_LUID_LH, *PNET_LUID_LH, NET_LUID, *PNET_LUID, IF_LUID, *PIF_LUID;

#endif
