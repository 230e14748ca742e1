/* SPDX-License-Identifier: MIT */
/* ipv4_text.c - RtlIpv4StringToAddress. */
#include <mstcpip.h>
#include <ntstatus.h>

#include <stdbool.h>

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 16;
}

/* A number in front of text, which it moves behind it; false: there is none, or it has more than 32 bits. */
static bool take_number(const char **text, bool strict, uint64_t *number)
{
    const char *s = *text;
    int base = 10;

    if (!strict && *s == '0') {
        base = s[1] == 'x' || s[1] == 'X' ? 16 : 8;
        s += base == 16 ? 2 : 0;
    }
    if (digit_of(*s) >= base)
        return false;
    for (*number = 0; digit_of(*s) < base; s++)
        if ((*number = *number * (unsigned)base + (unsigned)digit_of(*s)) > UINT32_MAX)
            return false;
    *text = s;
    return true;
}

/*
 * RtlIpv4StringToAddressA, RtlIpv4StringToAddressW - an IPv4 address in front of a text.
 * text     decimal numbers with dots between
 * strict   four numbers; else one to four, of which the last one has the rest of the address, and octal (0) and
 *          hexadecimal (0x) ones, too
 * end      out: what follows the address; where it failed, how far that was understood
 * address  out, on success alone
 * Returns  STATUS_SUCCESS, or STATUS_INVALID_PARAMETER: no such address. No Winsock is started for it. Any thread.
 * Source: RtlIpv4StringToAddressW function (ip2string.h).
 */
LONG NTAPI RtlIpv4StringToAddressA(PCSTR text, BOOLEAN strict, PCSTR *end, struct in_addr *address)
{
    uint64_t part = 0;
    uint32_t value = 0;
    int count = 0;

    for (*end = text;; ++*end) {
        if (!take_number(end, strict, &part))
            return STATUS_INVALID_PARAMETER;
        count++;
        if (**end != '.' || count == 4)
            break;
        if (part > 255)
            return STATUS_INVALID_PARAMETER;
        value = value << 8 | (uint32_t)part;
    }
    if ((strict && count < 4) || part > UINT32_MAX >> (8 * (count - 1)))
        return STATUS_INVALID_PARAMETER;
    /* the last number fills what the others have left */
    if (count > 1)
        part |= (uint64_t)value << (8 * (5 - count));
    address->s_addr = htonl((uint32_t)part);
    return STATUS_SUCCESS;
}
