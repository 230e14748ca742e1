/* SPDX-License-Identifier: MIT */
/* ipv4_text.c - RtlIpv4StringToAddress, RtlIpv4AddressToString, and their forms with a port. */
#include "compat/crt/ip_text.h"

#include <wincompat/ntstatus.h>

#include <stdio.h>

int win_ip_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 16;
}

bool win_ip_number(const char **text, bool decimal, uint64_t *number)
{
    const char *s = *text;
    int base = 10;

    if (!decimal && *s == '0') {
        base = s[1] == 'x' || s[1] == 'X' ? 16 : 8;
        s += base == 16 ? 2 : 0;
    }
    if (win_ip_digit(*s) >= base)
        return false;
    for (*number = 0; win_ip_digit(*s) < base; s++)
        if ((*number = *number * (unsigned)base + (unsigned)win_ip_digit(*s)) > UINT32_MAX)
            return false;
    *text = s;
    return true;
}

/*
 * One of an address' numbers, in front of *at, which it moves on as far as it has read; false: it is none. 0x and, in
 * front of another digit, 0 stand for a base, which a strict address has not.
 */
static bool read_part(const char **at, bool strict, uint64_t *part)
{
    const char *digits;
    int base = 10;

    if (**at == '.') { /* a part without a digit */
        ++*at;
        return false;
    }
    if (**at == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X'))
        base = 16;
    else if (**at == '0' && win_ip_digit((*at)[1]) < 10)
        base = 8;
    *at += base == 16 ? 2 : base == 8;
    if (strict && base != 10)
        return false;
    digits = *at;
    for (*part = 0; win_ip_digit(**at) < base; ++*at)
        if ((*part = *part * (unsigned)base + (unsigned)win_ip_digit(**at)) > UINT32_MAX)
            return false;
    return *at != digits;
}

/*
 * RtlIpv4StringToAddressA, RtlIpv4StringToAddressW - an IPv4 address in front of a text.
 * text     decimal numbers with dots between
 * strict   four numbers; else one to four, of which the last one has the rest of the address, and octal (0) and
 *          hexadecimal (0x) ones, too
 * end      out: what follows the address; where it failed, how far that was read
 * address  out, on success alone
 * Returns  STATUS_SUCCESS, or STATUS_INVALID_PARAMETER: no such address. No Winsock is started for it. Any thread.
 * Source: RtlIpv4StringToAddressW function (ip2string.h).
 */
LONG NTAPI RtlIpv4StringToAddressA(PCSTR text, BOOLEAN strict, PCSTR *end, struct in_addr *address)
{
    uint64_t parts[4], value;
    int count = 0;

    for (*end = text;; ++*end) {
        if (!read_part(end, strict, &parts[count++]))
            return STATUS_INVALID_PARAMETER;
        if (**end != '.')
            break;
        if (count == 4)
            return STATUS_INVALID_PARAMETER;
    }
    /* the last number fills what the others have left */
    if ((strict && count < 4) || parts[count - 1] > UINT32_MAX >> (8 * (count - 1)))
        return STATUS_INVALID_PARAMETER;
    value = parts[count - 1];
    for (int i = 0; i < count - 1; i++) {
        if (parts[i] > 255)
            return STATUS_INVALID_PARAMETER;
        value |= parts[i] << (24 - 8 * i);
    }
    address->s_addr = htonl((uint32_t)value);
    return STATUS_SUCCESS;
}

/*
 * RtlIpv4StringToAddressExA, RtlIpv4StringToAddressExW - the address and the port of a whole text, "ADDRESS:PORT".
 * port     out: in network order; 0 where :PORT is missing
 * Returns  STATUS_SUCCESS, or STATUS_INVALID_PARAMETER (no such address, something behind it, a NULL pointer).
 * Source: RtlIpv4StringToAddressExW function (ip2string.h).
 */
LONG NTAPI RtlIpv4StringToAddressExA(
    PCSTR text, BOOLEAN strict, struct in_addr *address, PUSHORT port)
{
    struct in_addr found;
    uint64_t number = 0;

    if (!text || !address || !port || RtlIpv4StringToAddressA(text, strict, &text, &found))
        return STATUS_INVALID_PARAMETER;
    if (*text == ':') {
        ++text;
        if (!win_ip_number(&text, false, &number) || !number || number > 0xffff)
            return STATUS_INVALID_PARAMETER;
    }
    if (*text)
        return STATUS_INVALID_PARAMETER;
    *address = found;
    *port = htons((uint16_t)number);
    return STATUS_SUCCESS;
}

/*
 * RtlIpv4AddressToStringA, RtlIpv4AddressToStringW - an IPv4 address as text.
 * text     out: room for 16 characters
 * Returns  where the text ends.
 * Source: RtlIpv4AddressToStringW function (ip2string.h).
 */
PSTR NTAPI RtlIpv4AddressToStringA(const struct in_addr *address, PSTR text)
{
    const unsigned char *octets = (const unsigned char *)address;

    return text + sprintf(text, "%u.%u.%u.%u", octets[0], octets[1], octets[2], octets[3]);
}

LONG win_ip_text_out(const char *whole, size_t whole_length, PSTR text, PULONG length)
{
    const ULONG room = *length;

    *length = (ULONG)whole_length + 1;
    if (!text || room < *length)
        return STATUS_INVALID_PARAMETER;
    memcpy(text, whole, *length);
    return STATUS_SUCCESS;
}

/*
 * RtlIpv4AddressToStringExA, RtlIpv4AddressToStringExW - an address as text, with its port if that is not 0.
 * port     in: in network order
 * length   in: characters of text; out: characters used, or needed, with the end
 * Returns  STATUS_SUCCESS, or STATUS_INVALID_PARAMETER (too little room, a NULL pointer).
 * Source: RtlIpv4AddressToStringExW function (ip2string.h).
 */
LONG NTAPI RtlIpv4AddressToStringExA(
    const struct in_addr *address, USHORT port, PSTR text, PULONG length)
{
    char whole[WIN_IP_TEXT], *end;

    if (!address || !length)
        return STATUS_INVALID_PARAMETER;
    end = RtlIpv4AddressToStringA(address, whole);
    if (port)
        end += sprintf(end, ":%u", (unsigned)ntohs(port));
    return win_ip_text_out(whole, (size_t)(end - whole), text, length);
}
