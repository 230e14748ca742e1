/* SPDX-License-Identifier: MIT */
/* wide_console.c - wide text of consoles, whose terminals have UTF-8; for both widths, as wide.c is. */
#include "compat/crt/crt.h"
#include "compat/crt/text.h"

#include <windows.h>

#include <stdbool.h>
#include <stdlib.h>

enum { UTF8_MOST = 4 };

/* The octets of a character that begins with this one. */
static DWORD octets_of(unsigned char first)
{
    return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

/* How many octets the last character of text lacks. */
static DWORD lacks(const unsigned char *text, DWORD bytes)
{
    for (DWORD back = 1; back <= UTF8_MOST && back <= bytes; back++)
        if ((text[bytes - back] & 0xc0) != 0x80)
            return octets_of(text[bytes - back]) > back ? octets_of(text[bytes - back]) - back : 0;
    return 0;
}

/* A unit of 16 or 32 bits is an octet at least in UTF-8, so as many octets as there is room never are too many. */
BOOL WINAPI ReadConsoleW(HANDLE console, LPVOID text, DWORD characters, LPDWORD got,
    PCONSOLE_READCONSOLE_CONTROL control)
{
    unsigned char *octets = malloc((size_t)characters + UTF8_MOST);
    DWORD bytes = 0, more = 0, units = 0;
    const unsigned char *s = octets;
    BOOL read;

    *got = 0;
    if (!octets) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return FALSE;
    }
    read = ReadConsoleA(console, octets, characters, &bytes, control);
    while (read && (more = lacks(octets, bytes)) &&
           (size_t)bytes + more <= (size_t)characters + UTF8_MOST) { /* else it is no UTF-8 */
        read = ReadConsoleA(console, octets + bytes, more, &more, NULL);
        if (!more) /* the input has ended inside a character */
            break;
        bytes += more;
    }
    while (s < octets + bytes) {
        WCHAR pair[2];
        const unsigned count =
            wide_put(pair, sizeof(WCHAR), utf8_next(&s, (size_t)(octets + bytes - s)));

        for (unsigned i = 0; i < count && units < characters; i++)
            ((WCHAR *)text)[units++] = pair[i];
    }
    *got = units;
    free(octets);
    return read;
}

BOOL WINAPI WriteConsoleW(
    HANDLE console, const VOID *text, DWORD characters, LPDWORD put, LPVOID reserved)
{
    char *octets = malloc((size_t)characters * UTF8_MOST + 1);
    DWORD bytes = 0, done;
    BOOL written;

    if (put)
        *put = 0;
    if (!octets) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return FALSE;
    }
    if (characters)
        bytes = (DWORD)WideCharToMultiByte(
            CP_UTF8, 0, text, (int)characters, octets, (int)(characters * UTF8_MOST), NULL, NULL);
    written = WriteConsoleA(console, octets, bytes, &done, reserved);
    if (written && put)
        *put = characters;
    free(octets);
    return written;
}
