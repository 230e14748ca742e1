/* SPDX-License-Identifier: MIT */
/*
 * codepage.c - MultiByteToWideChar, WideCharToMultiByte. UTF-8 is the only code page. Compiled for each width of
 * wchar_t; with 32 bits a surrogate in wide text is no character, as half a pair is none with 16.
 */
#include <windows.h>

#include "compat/crt/text.h"

#include <limits.h>
#include <stdbool.h>

#define NO_CHARACTER UINT32_MAX
#define REPLACEMENT  0xfffdu

static int fail(DWORD error)
{
    SetLastError(error);
    return 0;
}

static bool is_known(UINT page)
{
    return page == CP_UTF8 || page == CP_ACP || page == CP_OEMCP || page == CP_THREAD_ACP;
}

/*
 * Decodes the character at s; left bytes (at least 1) are readable. Returns how many bytes it has. NO_CHARACTER: the
 * bytes are an incomplete character, or one byte that begins none (Unicode standard, 3.9: well-formed sequences,
 * maximal subparts).
 */
static unsigned utf8_strict(const unsigned char *s, size_t left, uint32_t *c)
{
    unsigned more = s[0] < 0x80 ? 0 : s[0] < 0xe0 ? 1 : s[0] < 0xf0 ? 2 : 3;
    unsigned low = s[0] == 0xe0 ? 0xa0 : s[0] == 0xf0 ? 0x90 : 0x80;
    unsigned high = s[0] == 0xed ? 0x9f : s[0] == 0xf4 ? 0x8f : 0xbf;

    *c = NO_CHARACTER;
    if (more && (s[0] < 0xc2 || s[0] > 0xf4))
        return 1;
    for (unsigned i = 1; i <= more; i++, low = 0x80, high = 0xbf)
        if (i >= left || s[i] < low || s[i] > high)
            return i;
    *c = utf8_next(&s, left);
    return more + 1;
}

/*
 * MultiByteToWideChar - UTF-8 to wide text.
 * flags    MB_ERR_INVALID_CHARS: an invalid sequence is an error; else it becomes U+FFFD. MB_PRECOMPOSED changes
 *          nothing, and is an error with CP_UTF8, as on Windows
 * bytes    of text; negative: up to its terminating 0, which is converted too
 * room     of wide, in units; 0: only counts
 * Returns  units written or needed; 0 with ERROR_INVALID_PARAMETER (another code page, no text, wide that is NULL or
 *          text), ERROR_INVALID_FLAGS, ERROR_NO_UNICODE_TRANSLATION, ERROR_INSUFFICIENT_BUFFER.
 */
int WINAPI MultiByteToWideChar(UINT page, DWORD flags, LPCCH text, int bytes, LPWSTR wide, int room)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t left, units = 0;

    if (!is_known(page) || !text || !bytes || room < 0 ||
        (room && (!wide || (const void *)wide == text)))
        return fail(ERROR_INVALID_PARAMETER);
    if (flags & ~(DWORD)(MB_ERR_INVALID_CHARS | (page == CP_UTF8 ? 0 : MB_PRECOMPOSED)))
        return fail(ERROR_INVALID_FLAGS);
    for (left = bytes < 0 ? strlen(text) + 1 : (size_t)bytes; left;) {
        uint32_t c;
        unsigned used = utf8_strict(s, left, &c), count;
        WCHAR put[2];

        if (c == NO_CHARACTER && (flags & MB_ERR_INVALID_CHARS))
            return fail(ERROR_NO_UNICODE_TRANSLATION);
        count = wide_put(put, sizeof(WCHAR), c == NO_CHARACTER ? REPLACEMENT : c);
        if (room && units + count > (size_t)room)
            return fail(ERROR_INSUFFICIENT_BUFFER);
        for (unsigned i = 0; room && i < count; i++)
            wide[units + i] = put[i];
        units += count;
        s += used;
        left -= used;
    }
    return units <= INT_MAX ? (int)units : fail(ERROR_INVALID_PARAMETER);
}

static size_t length_of(const WCHAR *wide)
{
    size_t length = 0;

    while (wide[length])
        length++;
    return length;
}

/* Decodes the character at s; left units (at least 1) are readable. Returns how many units it has. */
static unsigned wide_strict(const WCHAR *s, size_t left, uint32_t *c)
{
    const WCHAR *end = s;

    if (left == 1) /* do not read the other half of a pair */
        *c = (uint32_t)*end++;
    else
        *c = wide_next(&end);
    if ((*c >= 0xd800 && *c < 0xe000) || *c > 0x10ffff)
        *c = NO_CHARACTER;
    return (unsigned)(end - s);
}

/*
 * WideCharToMultiByte - wide text to UTF-8.
 * flags        WC_ERR_INVALID_CHARS: an invalid unit is an error; else it becomes U+FFFD. WC_NO_BEST_FIT_CHARS changes
 *              nothing, and is an error with CP_UTF8, as on Windows
 * units        of wide; negative: up to its terminating 0, which is converted too
 * room         of text, in bytes; 0: only counts
 * replacement  the byte in place of U+FFFD, or NULL
 * replaced     out: whether it replaced anything, or NULL. Both must be NULL with CP_UTF8, as on Windows
 * Returns      bytes written or needed; 0 with ERROR_INVALID_PARAMETER (another code page, no wide text, text that is
 *              NULL or wide, one of the two with CP_UTF8), ERROR_INVALID_FLAGS, ERROR_NO_UNICODE_TRANSLATION,
 *              ERROR_INSUFFICIENT_BUFFER.
 */
int WINAPI WideCharToMultiByte(UINT page, DWORD flags, LPCWCH wide, int units, LPSTR text, int room,
    LPCCH replacement, LPBOOL replaced)
{
    size_t left, bytes = 0;

    if (!is_known(page) || !wide || !units || room < 0 ||
        (room && (!text || (const void *)text == wide)) ||
        (page == CP_UTF8 && (replacement || replaced)))
        return fail(ERROR_INVALID_PARAMETER);
    if (flags & ~(DWORD)(WC_ERR_INVALID_CHARS | (page == CP_UTF8 ? 0 : WC_NO_BEST_FIT_CHARS)))
        return fail(ERROR_INVALID_FLAGS);
    if (replaced)
        *replaced = FALSE;
    for (left = units < 0 ? length_of(wide) + 1 : (size_t)units; left;) {
        uint32_t c;
        unsigned used = wide_strict(wide, left, &c), count;
        char put[4];

        if (c == NO_CHARACTER && (flags & WC_ERR_INVALID_CHARS))
            return fail(ERROR_NO_UNICODE_TRANSLATION);
        if (c == NO_CHARACTER && replaced)
            *replaced = TRUE;
        put[0] = replacement ? *replacement : 0;
        count = c == NO_CHARACTER && replacement
                    ? 1
                    : utf8_put(put, c == NO_CHARACTER ? REPLACEMENT : c);
        if (room && bytes + count > (size_t)room)
            return fail(ERROR_INSUFFICIENT_BUFFER);
        if (room)
            memcpy(text + bytes, put, count);
        bytes += count;
        wide += used;
        left -= used;
    }
    return bytes <= INT_MAX ? (int)bytes : fail(ERROR_INVALID_PARAMETER);
}
