/* SPDX-License-Identifier: MIT */
#include "smb2.h"
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
