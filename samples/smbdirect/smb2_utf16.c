/* SPDX-License-Identifier: MIT */
#include "smb2_server.h"
#include "smb2_octets.h"

#include <string.h>

/* The next character; at out: behind it. -1: no UTF-8 (RFC 3629). */
static int32_t next(const uint8_t **at)
{
    static const int32_t least[] = { 0, 0x80, 0x800, 0x10000 };
    const uint8_t *from = *at;
    unsigned more = *from < 0x80 ? 0 : *from < 0xc0 ? 4 : *from < 0xe0 ? 1 : *from < 0xf0 ? 2 : 3;
    int32_t character = more ? *from & (0x3f >> more) : *from;

    if (*from >= 0xf8 || more == 4)
        return -1;
    for (unsigned i = 1; i <= more; i++) {
        if ((from[i] & 0xc0) != 0x80) /* as the end of the text, too */
            return -1;
        character = character << 6 | (from[i] & 0x3f);
    }
    *at = from + more + 1;
    if (character < least[more] || character > 0x10ffff ||
        (character >= 0xd800 && character < 0xe000))
        return -1;
    return character;
}

int smb2_utf16(const char *text, uint8_t *to, uint32_t most)
{
    const uint8_t *at = (const uint8_t *)text, *end = at + strlen(text);
    uint32_t units = 0;

    while (at < end) {
        int32_t character = next(&at);
        uint32_t needed = character < 0x10000 ? 1 : 2;

        if (character < 0 || needed > most - units)
            return -1;
        if (needed == 2) {
            put16(to + 2 * units++, (uint16_t)(0xd800 + ((character - 0x10000) >> 10)));
            character = 0xdc00 + ((character - 0x10000) & 0x3ff);
        }
        put16(to + 2 * units++, (uint16_t)character);
    }
    return (int)(2 * units);
}

/* One code unit of the text, or a pair of them; at out: behind it. -1: no UTF-16. */
static int32_t next_unit(const uint8_t **at, const uint8_t *end)
{
    int32_t unit = get16(*at), other;

    *at += 2;
    if (unit < 0xd800 || unit >= 0xe000)
        return unit;
    if (unit >= 0xdc00 || *at == end)
        return -1;
    other = get16(*at);
    if (other < 0xdc00 || other >= 0xe000)
        return -1;
    *at += 2;
    return 0x10000 + ((unit - 0xd800) << 10) + (other - 0xdc00);
}

int smb2_utf8(const uint8_t *text, uint32_t length, char *to, uint32_t size)
{
    static const uint8_t first[] = { 0, 0xc0, 0xe0, 0xf0 };
    const uint8_t *at = text, *end = text + length;
    uint32_t octets = 0;

    if (length % 2 || !size)
        return -1;
    while (at < end) {
        int32_t character = next_unit(&at, end);
        unsigned more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;

        if (character <= 0 || more + 1 >= size - octets)
            return -1;
        to[octets++] = (char)(first[more] | character >> (6 * more));
        while (more--)
            to[octets++] = (char)(0x80 | (character >> (6 * more) & 0x3f));
    }
    to[octets] = '\0';
    return (int)octets;
}
