/* SPDX-License-Identifier: MIT */
/* ip_wide.c - the wide forms of ipv4_text.c and ipv6_text.c, over the narrow ones; for each width of wchar_t. */
#include "compat/crt/ip_text.h"

LONG NTAPI RtlIpv4StringToAddressW(
    PCWSTR text, BOOLEAN strict, PCWSTR *end, struct in_addr *address)
{
    char narrow[WIN_IP_TEXT_MOST + 1];
    PCSTR narrow_end;
    LONG status;

    win_ip_narrow(narrow, text);
    status = RtlIpv4StringToAddressA(narrow, strict, &narrow_end, address);
    *end = text + (narrow_end - narrow);
    return status;
}

LONG NTAPI RtlIpv4StringToAddressExW(
    PCWSTR text, BOOLEAN strict, struct in_addr *address, PUSHORT port)
{
    char narrow[WIN_IP_TEXT_MOST + 1];

    if (text)
        win_ip_narrow(narrow, text);
    return RtlIpv4StringToAddressExA(text ? narrow : NULL, strict, address, port);
}

LONG NTAPI RtlIpv6StringToAddressW(PCWSTR text, PCWSTR *end, struct in6_addr *address)
{
    char narrow[WIN_IP_TEXT_MOST + 1];
    PCSTR narrow_end;
    LONG status;

    win_ip_narrow(narrow, text);
    status = RtlIpv6StringToAddressA(narrow, &narrow_end, address);
    *end = text + (narrow_end - narrow);
    return status;
}

LONG NTAPI RtlIpv6StringToAddressExW(
    PCWSTR text, struct in6_addr *address, PULONG scope, PUSHORT port)
{
    char narrow[WIN_IP_TEXT_MOST + 1];

    if (text)
        win_ip_narrow(narrow, text);
    return RtlIpv6StringToAddressExA(text ? narrow : NULL, address, scope, port);
}

/* Where the wide text ends. */
static PWSTR wide_copy(PWSTR text, const char *narrow)
{
    while ((*text = (WCHAR)*narrow++))
        text++;
    return text;
}

PWSTR NTAPI RtlIpv4AddressToStringW(const struct in_addr *address, PWSTR text)
{
    char narrow[WIN_IP_TEXT_MOST];

    RtlIpv4AddressToStringA(address, narrow);
    return wide_copy(text, narrow);
}

PWSTR NTAPI RtlIpv6AddressToStringW(const struct in6_addr *address, PWSTR text)
{
    char narrow[WIN_IP_TEXT_MOST];

    RtlIpv6AddressToStringA(address, narrow);
    return wide_copy(text, narrow);
}

static LONG wide_result(LONG status, PWSTR text, const char *narrow)
{
    if (!status)
        wide_copy(text, narrow);
    return status;
}

LONG NTAPI RtlIpv4AddressToStringExW(
    const struct in_addr *address, USHORT port, PWSTR text, PULONG length)
{
    char narrow[WIN_IP_TEXT_MOST];

    if (length && *length > WIN_IP_TEXT_MOST)
        *length = WIN_IP_TEXT_MOST;
    return wide_result(
        RtlIpv4AddressToStringExA(address, port, text ? narrow : NULL, length), text, narrow);
}

LONG NTAPI RtlIpv6AddressToStringExW(
    const struct in6_addr *address, ULONG scope, USHORT port, PWSTR text, PULONG length)
{
    char narrow[WIN_IP_TEXT_MOST];

    if (length && *length > WIN_IP_TEXT_MOST)
        *length = WIN_IP_TEXT_MOST;
    return wide_result(
        RtlIpv6AddressToStringExA(address, scope, port, text ? narrow : NULL, length), text,
        narrow);
}
