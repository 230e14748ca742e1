/* SPDX-License-Identifier: MIT */
/* mstcpip.h - codes of WSAIoctl that concern TCP; addresses in text. */
#ifndef WINCOMPAT_MSTCPIP_H
#define WINCOMPAT_MSTCPIP_H

#include <wincompat/winsock.h>
#include <wincompat/ip_text.h>

/* in: a struct tcp_keepalive; the times are in milliseconds */
#define SIO_KEEPALIVE_VALS 0x98000004u

struct tcp_keepalive {
    ULONG onoff;
    ULONG keepalivetime;
    ULONG keepaliveinterval;
};

C_ASSERT(sizeof(struct tcp_keepalive) == 12);

#endif
