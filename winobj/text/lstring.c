/* SPDX-License-Identifier: MIT */
/*
 * lstring.c - lstrlen, lstrcpy and their kind. Compiled for each kind of character: WIDE_BITS is the width of wide
 * ones. As on Windows, a NULL pointer is an error and not a crash.
 */
#include <windows.h>

#include "compat/crt/text.h"
#include "winobj/text/fold.h"

#include <stdbool.h>

#ifdef WIDE_BITS
typedef WCHAR character;
#define NAME(name) name##W

static uint32_t next(const character **text)
{
    return wide_next(text);
}
#else
typedef char character;
#define NAME(name) name##A

static uint32_t next(const character **text)
{
    const unsigned char *at = (const unsigned char *)*text;
    uint32_t c = utf8_next(&at, 4); /* stops at the terminating 0, which continues no character */

    *text = (const char *)at;
    return c;
}
#endif

/* lstrlenA, lstrlenW - the length in characters of the text's own kind; 0 for NULL. */
int WINAPI NAME(lstrlen)(const character *text)
{
    size_t length = 0;

    while (text && text[length])
        length++;
    return (int)length;
}

/*
 * lstrcpynA, lstrcpynW - copies at most room - 1 characters, and an end. Nothing for no room.
 * Returns to; NULL with ERROR_INVALID_PARAMETER for a NULL pointer.
 */
character *WINAPI NAME(lstrcpyn)(character *to, const character *from, int room)
{
    int at = 0;

    if (!to || !from) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    for (; at < room - 1 && from[at]; at++)
        to[at] = from[at];
    if (room > 0)
        to[at] = 0;
    return to;
}

/* lstrcpyA, lstrcpyW - copies a string. Returns to; NULL with ERROR_INVALID_PARAMETER for a NULL pointer. */
character *WINAPI NAME(lstrcpy)(character *to, const character *from)
{
    if (!to || !from) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    return memcpy(to, from, ((size_t)NAME(lstrlen)(from) + 1) * sizeof(*from));
}

/* lstrcatA, lstrcatW - appends a string. Returns to; NULL with ERROR_INVALID_PARAMETER for a NULL pointer. */
character *WINAPI NAME(lstrcat)(character *to, const character *from)
{
    return NAME(lstrcpy)(to ? to + NAME(lstrlen)(to) : NULL, from) ? to : NULL;
}

/* The first different letter decides, then the first different case, small before capital. */
static int compare(const character *a, const character *b, bool ignore_case)
{
    int tie = 0;

    if (!a || !b)
        return !!a - !!b;
    while (*a || *b) {
        uint32_t c = next(&a), d = next(&b), small_c = win_fold(c), small_d = win_fold(d);

        if (small_c != small_d)
            return small_c < small_d ? -1 : 1;
        if (!tie && c != d)
            tie = c == small_c ? -1 : 1;
    }
    return ignore_case ? 0 : tie;
}

/*
 * lstrcmpA, lstrcmpW, lstrcmpiA, lstrcmpiW - -1, 0 or 1, for people to read: letters in their order whatever their
 * case, small before capital; the i forms know no case. Other characters are ordered by their numbers, not by the rules
 * of a language.
 */
int WINAPI NAME(lstrcmp)(const character *a, const character *b)
{
    return compare(a, b, false);
}

int WINAPI NAME(lstrcmpi)(const character *a, const character *b)
{
    return compare(a, b, true);
}
