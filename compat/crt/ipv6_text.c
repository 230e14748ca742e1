/* SPDX-License-Identifier: MIT */
/* ipv6_text.c - RtlIpv6StringToAddress, RtlIpv6AddressToString, and their forms with scope and port. */
#include "compat/crt/ip_text.h"

#include <wincompat/ntstatus.h>

#include <ctype.h>
#include <stdio.h>

enum { WORDS = 8 };

/* An address whose words come one after the other. */
struct words {
    unsigned char octets[2 * WORDS];
    int count, gap; /* gap: the word in front of which :: is; -1: nowhere */
};

static void put_word(struct words *words, unsigned value)
{
    words->octets[2 * words->count] = (unsigned char)(value >> 8);
    words->octets[2 * words->count++ + 1] = (unsigned char)value;
}

/* The last two words as an IPv4 address. */
static bool take_ipv4(const char **text, struct words *words)
{
    struct in_addr address;
    uint32_t value;

    if (words->count > WORDS - 2 || RtlIpv4StringToAddressA(*text, TRUE, text, &address))
        return false;
    value = ntohl(address.s_addr);
    put_word(words, value >> 16);
    put_word(words, value & 0xffff);
    return true;
}

/* One to four hexadecimal digits; false with *text where they end. */
static bool take_hex(const char **text, unsigned *value)
{
    int digits = 0;

    for (*value = 0; isxdigit((unsigned char)**text) && digits < 4; ++*text, digits++)
        *value = *value << 4 | (unsigned)win_ip_digit(**text);
    return digits && !isxdigit((unsigned char)**text);
}

static bool take_words(const char **text, struct words *words)
{
    if (**text == ':' && *++*text != ':')
        return false;
    for (;;) {
        const char *const start = *text;
        unsigned value;

        if (**text == ':') { /* the second of two */
            if (words->gap >= 0) {
                --*text; /* they are no part of the address any more */
                return true;
            }
            words->gap = words->count;
            ++*text;
            if (!isxdigit((unsigned char)**text))
                return true;
            continue;
        }
        if (!take_hex(text, &value))
            return false;
        if (**text == '.' && (words->gap >= 0 || words->count == WORDS - 2)) {
            *text = start;
            return take_ipv4(text, words);
        }
        put_word(words, value);
        if (**text != ':' || words->count == WORDS ||
            ((*text)[1] != ':' && !isxdigit((unsigned char)(*text)[1])))
            return true;
        ++*text;
    }
}

/*
 * RtlIpv6StringToAddressA, RtlIpv6StringToAddressW - an IPv6 address in front of a text.
 * text     hexadecimal numbers with colons between, :: once for zeros, the last two perhaps as an IPv4 address
 * end      out: what follows the address; where it failed, how far that was understood
 * address  out, on success alone
 * Returns  STATUS_SUCCESS, or STATUS_INVALID_PARAMETER: no such address. No Winsock is started for it. Any thread.
 * Source: RtlIpv6StringToAddressW function (ip2string.h).
 */
LONG NTAPI RtlIpv6StringToAddressA(PCSTR text, PCSTR *end, struct in6_addr *address)
{
    struct words words = { .gap = -1 };
    unsigned char *octets = (unsigned char *)address;
    int after;

    *end = text;
    if (!take_words(end, &words) || (words.gap >= 0 ? words.count == WORDS : words.count != WORDS))
        return STATUS_INVALID_PARAMETER;
    after = words.gap < 0 ? 0 : words.count - words.gap;
    memset(octets, 0, sizeof(*address));
    memcpy(octets, words.octets, 2 * (size_t)(words.count - after));
    memcpy(
        octets + 2 * (WORDS - after), words.octets + 2 * (words.count - after), 2 * (size_t)after);
    return STATUS_SUCCESS;
}

/*
 * RtlIpv6StringToAddressExA, RtlIpv6StringToAddressExW - the parts of a whole text, "[ADDRESS%SCOPE]:PORT".
 * text   the brackets only with a port, or without one; %SCOPE, a decimal number, may be missing
 * scope  out: 0 where it is missing
 * port   out: in network order; 0 where it is missing
 * Returns STATUS_SUCCESS, or STATUS_INVALID_PARAMETER (no such address, something behind it, a NULL pointer).
 * Source: RtlIpv6StringToAddressExW function (ip2string.h).
 */
LONG NTAPI RtlIpv6StringToAddressExA(
    PCSTR text, struct in6_addr *address, PULONG scope, PUSHORT port)
{
    const bool brackets = text && *text == '[';
    uint64_t number = 0, port_number = 0;
    struct in6_addr found;

    if (!text || !address || !scope || !port ||
        RtlIpv6StringToAddressA(text + brackets, &text, &found))
        return STATUS_INVALID_PARAMETER;
    if (*text == '%') {
        ++text;
        if (!isdigit((unsigned char)*text) || !win_ip_number(&text, true, &number))
            return STATUS_INVALID_PARAMETER;
    }
    if (brackets && *text++ != ']')
        return STATUS_INVALID_PARAMETER;
    if (brackets && *text == ':') {
        ++text;
        if (!win_ip_number(&text, false, &port_number) || port_number > 0xffff)
            return STATUS_INVALID_PARAMETER;
    }
    if (*text)
        return STATUS_INVALID_PARAMETER;
    *address = found;
    *scope = (ULONG)number;
    *port = htons((uint16_t)port_number);
    return STATUS_SUCCESS;
}

static unsigned word_of(const unsigned char *octets, int word)
{
    return (unsigned)octets[2 * word] << 8 | octets[2 * word + 1];
}

/* Whether the last two words are shown as an IPv4 address: mapped, compatible, translated, or of ISATAP. */
static bool ends_as_ipv4(const unsigned char *octets)
{
    const bool four_zeros = !memcmp(octets, "\0\0\0\0\0\0\0\0", 8);
    const unsigned fifth = word_of(octets, 4), sixth = word_of(octets, 5);

    if ((fifth & 0xfdff) == 0 && sixth == 0x5efe)
        return true;
    return four_zeros && word_of(octets, 6) &&
           ((!fifth && (!sixth || sixth == 0xffff)) || (fifth == 0xffff && !sixth));
}

/* The longest run of two zero words or more, the first of equals. */
static int longest_run(const unsigned char *octets, int words, int *begin)
{
    int longest = 1;

    *begin = -1;
    for (int i = 0; i < words; i++) {
        int length = 0;

        while (i + length < words && !word_of(octets, i + length))
            length++;
        if (length > longest) {
            longest = length;
            *begin = i;
        }
        i += length;
    }
    return *begin < 0 ? 0 : longest;
}

/*
 * RtlIpv6AddressToStringA, RtlIpv6AddressToStringW - an IPv6 address as text.
 * text     out: room for 46 characters
 * Returns  where the text ends.
 * Source: RtlIpv6AddressToStringW function (ip2string.h).
 */
PSTR NTAPI RtlIpv6AddressToStringA(const struct in6_addr *address, PSTR text)
{
    const unsigned char *octets = (const unsigned char *)address;
    const bool ipv4 = ends_as_ipv4(octets);
    const int words = ipv4 ? WORDS - 2 : WORDS;
    int begin, run = longest_run(octets, words, &begin);

    for (int i = 0; i < words; i++) {
        if (i == begin) {
            text = stpcpy(text, "::");
            i += run - 1;
            continue;
        }
        if (i && i != begin + run)
            *text++ = ':';
        text += sprintf(text, "%x", word_of(octets, i));
    }
    if (!ipv4) {
        *text = 0;
        return text;
    }
    if (begin < 0 || begin + run != words)
        *text++ = ':';
    return text + sprintf(text, "%u.%u.%u.%u", octets[12], octets[13], octets[14], octets[15]);
}

/*
 * RtlIpv6AddressToStringExA, RtlIpv6AddressToStringExW - an address as text, with its scope and port if not 0.
 * port     in: in network order
 * length   in: characters of text; out: characters used, or needed, with the end
 * Returns  STATUS_SUCCESS, or STATUS_INVALID_PARAMETER (too little room, a NULL pointer).
 * Source: RtlIpv6AddressToStringExW function (ip2string.h).
 */
LONG NTAPI RtlIpv6AddressToStringExA(
    const struct in6_addr *address, ULONG scope, USHORT port, PSTR text, PULONG length)
{
    char whole[WIN_IP_TEXT], *end = whole;

    if (!address || !length)
        return STATUS_INVALID_PARAMETER;
    if (port)
        *end++ = '[';
    end = RtlIpv6AddressToStringA(address, end);
    if (scope)
        end += sprintf(end, "%%%u", (unsigned)scope);
    if (port)
        end += sprintf(end, "]:%u", (unsigned)ntohs(port));
    return win_ip_text_out(whole, (size_t)(end - whole), text, length);
}
