/* SPDX-License-Identifier: MIT */
/*
 * text.h - decodes and encodes characters of UTF-8 and of wide text. Narrow text is UTF-8 in any locale; a byte that
 * belongs to no character stands for itself, so decoding loses nothing.
 */
#ifndef CRT_TEXT_H
#define CRT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#ifdef WIDE_BITS
_Static_assert(
    sizeof(wchar_t) * 8 == WIDE_BITS, "wide characters have the width that the build names");
#endif

/* Decodes the character at *text and moves *text behind it; reads at most left bytes (at least 1). */
static inline uint32_t utf8_next(const unsigned char **text, size_t left)
{
    const unsigned char *s = *text;
    unsigned more = 0;
    uint32_t c = s[0];

    if (s[0] >= 0xc2 && s[0] < 0xf5)
        more = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : 1;
    if (more)
        c &= 0x3fu >> more;
    for (unsigned i = 1; i <= more; i++) {
        if (i >= left || (s[i] & 0xc0) != 0x80) {
            *text = s + 1;
            return s[0];
        }
        c = c << 6 | (s[i] & 0x3f);
    }
    *text = s + 1 + more;
    return c;
}

/* Writes a character as UTF-8; returns the number of bytes, 1 to 4. A value that is no character becomes '?'. */
static inline unsigned utf8_put(char out[4], uint32_t c)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xc0 | c >> 6);
        out[1] = (char)(0x80 | (c & 0x3f));
        return 2;
    }
    if ((c >= 0xd800 && c < 0xe000) || c > 0x10ffff) {
        out[0] = '?';
        return 1;
    }
    if (c < 0x10000) {
        out[0] = (char)(0xe0 | c >> 12);
        out[1] = (char)(0x80 | (c >> 6 & 0x3f));
        out[2] = (char)(0x80 | (c & 0x3f));
        return 3;
    }
    out[0] = (char)(0xf0 | c >> 18);
    out[1] = (char)(0x80 | (c >> 12 & 0x3f));
    out[2] = (char)(0x80 | (c >> 6 & 0x3f));
    out[3] = (char)(0x80 | (c & 0x3f));
    return 4;
}

/*
 * Returns the character at *text, in wide text that ends with 0 (or is longer than a pair), and moves *text behind it.
 * A pair of 16-bit units is one character.
 */
static inline uint32_t wide_next(const wchar_t **text)
{
    const wchar_t *s = *text;
    uint32_t c = (uint32_t)s[0];

    *text = s + 1;
    if (sizeof(wchar_t) == 2 && (c & 0xfc00) == 0xd800 && ((uint32_t)s[1] & 0xfc00) == 0xdc00) {
        *text = s + 2;
        c = 0x10000 + ((c & 0x3ff) << 10 | ((uint32_t)s[1] & 0x3ff));
    }
    return c;
}

/* wide_next for text that ends at end; of a pair that end cuts, it returns the half that is there. */
static inline uint32_t wide_next_before(const wchar_t **text, const wchar_t *end)
{
    if (end - *text == 1)
        return (uint32_t) * (*text)++;
    return wide_next(text);
}

/* Writes a character in units of width bytes (2 or 4) from out[0] on; returns the units, 1 or 2. */
static inline unsigned wide_put(void *out, size_t width, uint32_t c)
{
    if (width == 4) {
        *(uint32_t *)out = c;
        return 1;
    }
    if (c <= 0xffff) {
        *(uint16_t *)out = (uint16_t)c;
        return 1;
    }
    ((uint16_t *)out)[0] = (uint16_t)(0xd800 + ((c - 0x10000) >> 10));
    ((uint16_t *)out)[1] = (uint16_t)(0xdc00 + ((c - 0x10000) & 0x3ff));
    return 2;
}

#endif
