/* SPDX-License-Identifier: MIT */
/* wide_text.h - what wide forms of functions with names share: arguments to narrow text, results back. */
#ifndef WIN32_TEXT_WIDE_TEXT_H
#define WIN32_TEXT_WIDE_TEXT_H

#include "compat/crt/crt.h"
#include "compat/crt/text.h"

#include <windows.h>

#include <stdlib.h>

/* Narrow text of a name; NULL stays NULL. False with the last error: no memory. */
static inline bool wide_narrow(const WCHAR *text, char **result)
{
    *result = text ? CRT(crt_narrow)(text) : NULL;
    if (*result || !text)
        return true;
    SetLastError(ERROR_NOT_ENOUGH_MEMORY);
    return false;
}

/*
 * Wide characters of text with the end; returns their number without it. What has no room is only counted; to NULL has
 * none, whatever the room.
 */
static inline DWORD wide_widen(WCHAR *to, DWORD room, const char *text)
{
    const unsigned char *s = (const unsigned char *)text;
    DWORD length = 0;

    if (!to)
        room = 0;
    while (*s) {
        WCHAR pair[2];
        unsigned units = wide_put(pair, sizeof(WCHAR), utf8_next(&s, 4));

        for (unsigned i = 0; i < units; i++, length++)
            if (length < room)
                to[length] = pair[i];
    }
    if (length < room)
        to[length] = 0;
    return length;
}

/*
 * What a function writes in narrow form, with as much room as it asks for; NULL: it failed, or no memory, with the last
 * error. call returns the length, or the size that it needs.
 */
static inline char *wide_whole(
    DWORD (*call)(const void *arguments, DWORD size, char *to), const void *arguments)
{
    char *text = NULL, *larger;
    DWORD size = MAX_PATH, length;

    for (;; size = length) {
        if (!(larger = realloc(text, size))) {
            SetLastError(ERROR_NOT_ENOUGH_MEMORY);
            break;
        }
        text = larger;
        if (!(length = call(arguments, size, text)))
            break;
        if (length < size)
            return text;
    }
    free(text);
    return NULL;
}

/* Gives the program narrow text, which is freed; where to has no room for it, the size needed alone. 0 for NULL. */
static inline DWORD wide_answer(LPWSTR to, DWORD size, char *text)
{
    DWORD length;

    if (!text)
        return 0;
    length = wide_widen(NULL, 0, text);
    if (to && length < size)
        wide_widen(to, size, text);
    else
        length++;
    free(text);
    return length;
}

#endif
