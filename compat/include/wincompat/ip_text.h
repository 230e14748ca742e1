/* SPDX-License-Identifier: MIT */
/*
 * ip_text.h - addresses in text, which <mstcpip.h> and the headers for drivers have in common. What each function takes
 * and returns: compat/crt/ipv4_text.c, ipv6_text.c.
 */
#ifndef WINCOMPAT_IP_TEXT_H
#define WINCOMPAT_IP_TEXT_H

#include <wincompat/inaddr.h>

WINCOMPAT_BEGIN

WINOBJ_API LONG NTAPI RtlIpv4StringToAddressA(
    PCSTR text, BOOLEAN strict, PCSTR *end, struct in_addr *address);
WINOBJ_API LONG NTAPI RtlIpv4StringToAddressW(PCWSTR text, BOOLEAN strict, PCWSTR *end,
    struct in_addr *address) WINCOMPAT_WIDE("RtlIpv4StringToAddressW");
#define RtlIpv4StringToAddress WINCOMPAT_AW(RtlIpv4StringToAddress)
WINOBJ_API LONG NTAPI RtlIpv4StringToAddressExA(
    PCSTR text, BOOLEAN strict, struct in_addr *address, PUSHORT port);
WINOBJ_API LONG NTAPI RtlIpv4StringToAddressExW(PCWSTR text, BOOLEAN strict,
    struct in_addr *address, PUSHORT port) WINCOMPAT_WIDE("RtlIpv4StringToAddressExW");
#define RtlIpv4StringToAddressEx WINCOMPAT_AW(RtlIpv4StringToAddressEx)
WINOBJ_API PSTR NTAPI RtlIpv4AddressToStringA(const struct in_addr *address, PSTR text);
WINOBJ_API PWSTR NTAPI RtlIpv4AddressToStringW(const struct in_addr *address, PWSTR text)
    WINCOMPAT_WIDE("RtlIpv4AddressToStringW");
#define RtlIpv4AddressToString WINCOMPAT_AW(RtlIpv4AddressToString)
WINOBJ_API LONG NTAPI RtlIpv4AddressToStringExA(
    const struct in_addr *address, USHORT port, PSTR text, PULONG length);
WINOBJ_API LONG NTAPI RtlIpv4AddressToStringExW(const struct in_addr *address, USHORT port,
    PWSTR text, PULONG length) WINCOMPAT_WIDE("RtlIpv4AddressToStringExW");
#define RtlIpv4AddressToStringEx WINCOMPAT_AW(RtlIpv4AddressToStringEx)
WINOBJ_API LONG NTAPI RtlIpv6StringToAddressA(PCSTR text, PCSTR *end, struct in6_addr *address);
WINOBJ_API LONG NTAPI RtlIpv6StringToAddressW(PCWSTR text, PCWSTR *end, struct in6_addr *address)
    WINCOMPAT_WIDE("RtlIpv6StringToAddressW");
#define RtlIpv6StringToAddress WINCOMPAT_AW(RtlIpv6StringToAddress)
WINOBJ_API LONG NTAPI RtlIpv6StringToAddressExA(
    PCSTR text, struct in6_addr *address, PULONG scope, PUSHORT port);
WINOBJ_API LONG NTAPI RtlIpv6StringToAddressExW(PCWSTR text, struct in6_addr *address, PULONG scope,
    PUSHORT port) WINCOMPAT_WIDE("RtlIpv6StringToAddressExW");
#define RtlIpv6StringToAddressEx WINCOMPAT_AW(RtlIpv6StringToAddressEx)
WINOBJ_API PSTR NTAPI RtlIpv6AddressToStringA(const struct in6_addr *address, PSTR text);
WINOBJ_API PWSTR NTAPI RtlIpv6AddressToStringW(const struct in6_addr *address, PWSTR text)
    WINCOMPAT_WIDE("RtlIpv6AddressToStringW");
#define RtlIpv6AddressToString WINCOMPAT_AW(RtlIpv6AddressToString)
WINOBJ_API LONG NTAPI RtlIpv6AddressToStringExA(
    const struct in6_addr *address, ULONG scope, USHORT port, PSTR text, PULONG length);
WINOBJ_API LONG NTAPI RtlIpv6AddressToStringExW(const struct in6_addr *address, ULONG scope,
    USHORT port, PWSTR text, PULONG length) WINCOMPAT_WIDE("RtlIpv6AddressToStringExW");
#define RtlIpv6AddressToStringEx WINCOMPAT_AW(RtlIpv6AddressToStringEx)

WINCOMPAT_END

#endif
