/* SPDX-License-Identifier: MIT */
/*
 * lstring.c - lstrlen, lstrcpy and their kind, CompareString. Compiled for each kind of character: WIDE_BITS is the
 * width of wide ones. As on Windows, a NULL pointer is an error and not a crash.
 */
#include <windows.h>

#include "compat/crt/text.h"
#include "win32/text/fold.h"

#include <stdbool.h>

#ifdef WIDE_BITS
typedef WCHAR character;
#define NAME(name) name##W

/* Decodes the character at *text, which is before end, and moves *text behind it. */
static uint32_t next(const character **text, const character *end)
{
    return end - *text > 1 ? wide_next(text) : (uint32_t) * (*text)++;
}
#else
typedef char character;
#define NAME(name) name##A

static uint32_t next(const character **text, const character *end)
{
    const unsigned char *at = (const unsigned char *)*text;
    uint32_t c = utf8_next(&at, (size_t)(end - *text));

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
static int compare(const character *a, const character *a_end, const character *b,
    const character *b_end, bool ignore_case)
{
    int tie = 0;

    while (a < a_end && b < b_end) {
        uint32_t c = next(&a, a_end), d = next(&b, b_end);
        uint32_t small_c = win_fold(c), small_d = win_fold(d);

        if (small_c != small_d)
            return small_c < small_d ? -1 : 1;
        if (!tie && c != d)
            tie = c == small_c ? -1 : 1;
    }
    if (a < a_end || b < b_end)
        return a < a_end ? 1 : -1;
    return ignore_case ? 0 : tie;
}

static int compare_ended(const character *a, const character *b, bool ignore_case)
{
    if (!a || !b)
        return !!a - !!b;
    return compare(a, a + NAME(lstrlen)(a), b, b + NAME(lstrlen)(b), ignore_case);
}

/*
 * lstrcmpA, lstrcmpW, lstrcmpiA, lstrcmpiW - -1, 0 or 1, for people to read: letters in their order whatever their
 * case, small before capital; the i forms know no case. Other characters are ordered by their numbers, not by the rules
 * of a language.
 */
int WINAPI NAME(lstrcmp)(const character *a, const character *b)
{
    return compare_ended(a, b, false);
}

int WINAPI NAME(lstrcmpi)(const character *a, const character *b)
{
    return compare_ended(a, b, true);
}

/*
 * CompareStringA, CompareStringW - compares two texts as lstrcmp does.
 * locale         LOCALE_INVARIANT, LOCALE_USER_DEFAULT, LOCALE_SYSTEM_DEFAULT: all the same
 * flags          0, NORM_IGNORECASE
 * a_count, ...   the length in characters of the text's own kind; below 0: up to the terminating 0
 * Returns        CSTR_LESS_THAN, CSTR_EQUAL or CSTR_GREATER_THAN; 0 with ERROR_INVALID_FLAGS, ERROR_INVALID_PARAMETER
 *                (another locale, a NULL pointer).
 */
int WINAPI NAME(CompareString)(
    LCID locale, DWORD flags, const character *a, int a_count, const character *b, int b_count)
{
    if (flags & ~(DWORD)NORM_IGNORECASE) {
        SetLastError(ERROR_INVALID_FLAGS);
        return 0;
    }
    if (!a || !b ||
        (locale != LOCALE_INVARIANT && locale != LOCALE_USER_DEFAULT &&
            locale != LOCALE_SYSTEM_DEFAULT)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return 0;
    }
    return CSTR_EQUAL + compare(a, a + (a_count < 0 ? NAME(lstrlen)(a) : a_count), b,
                            b + (b_count < 0 ? NAME(lstrlen)(b) : b_count), flags);
}
