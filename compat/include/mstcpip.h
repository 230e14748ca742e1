/* SPDX-License-Identifier: MIT */
/* mstcpip.h - codes of WSAIoctl that concern TCP; addresses in text. */
#ifndef WINCOMPAT_MSTCPIP_H
#define WINCOMPAT_MSTCPIP_H

#include <wincompat/winsock.h>

/* in: a struct tcp_keepalive; the times are in milliseconds */
#define SIO_KEEPALIVE_VALS 0x98000004u

struct tcp_keepalive {
    ULONG onoff;
    ULONG keepalivetime;
    ULONG keepaliveinterval;
};

C_ASSERT(sizeof(struct tcp_keepalive) == 12);

WINCOMPAT_BEGIN

WINOBJ_API LONG NTAPI RtlIpv4StringToAddressA(
    PCSTR text, BOOLEAN strict, PCSTR *end, struct in_addr *address);
WINOBJ_API LONG NTAPI RtlIpv4StringToAddressW(PCWSTR text, BOOLEAN strict, PCWSTR *end,
    struct in_addr *address) WINCOMPAT_WIDE("RtlIpv4StringToAddressW");
#define RtlIpv4StringToAddress WINCOMPAT_AW(RtlIpv4StringToAddress)

WINCOMPAT_END

#endif
