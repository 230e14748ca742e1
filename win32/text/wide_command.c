/* SPDX-License-Identifier: MIT */
/* wide_command.c - the process's command line as wide text, and the arguments of one; for both widths, as wide.c is. */
#include "win32/process/own_command.h"
#include "win32/text/wide_text.h"

#include <windows.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* UTF-8 as wide text, which the caller frees: never more units than octets. NULL: no memory. */
static WCHAR *widened(const char *text)
{
    WCHAR *wide = malloc((strlen(text) + 1) * sizeof(WCHAR));

    wide_widen(wide, UINT32_MAX, text);
    return wide;
}

LPWSTR WINAPI GetCommandLineW(void)
{
    static _Atomic(WCHAR *) made;
    static WCHAR nothing[1];
    WCHAR *line = atomic_load(&made), *none = NULL;

    if (line)
        return line;
    if (!(line = widened(own_command_line())))
        return nothing;
    if (!atomic_compare_exchange_strong(&made, &none, line)) {
        free(line);
        line = none;
    }
    return line;
}

static bool blank(WCHAR c)
{
    return c == ' ' || c == '\t';
}

/* Copies the program's name: to the next quote, where it begins with one, or to a blank. Returns where it stopped. */
static const WCHAR *copy_name(const WCHAR *from, WCHAR **to)
{
    bool quoted = *from == '"';

    for (from += quoted; *from && (quoted ? *from != '"' : !blank(*from)); from++)
        *(*to)++ = *from;
    *(*to)++ = 0;
    return from + (*from == '"');
}

/*
 * Copies an argument. Backslashes in front of a quote are halved, and an odd one makes it plain. Of quotes that follow
 * each other the third is plain and ends the quoting. Returns where it stopped.
 */
static const WCHAR *copy_argument(const WCHAR *from, WCHAR **to)
{
    unsigned quotes = 0, slashes = 0;

    while (*from && (quotes || !blank(*from))) {
        if (*from != '"') {
            slashes = *from == '\\' ? slashes + 1 : 0;
            *(*to)++ = *from++;
            continue;
        }
        *to -= (slashes + 1) / 2;
        if (slashes % 2)
            *(*to)++ = '"';
        else
            quotes++;
        for (from++, slashes = 0; *from == '"'; from++)
            if (++quotes == 3) {
                *(*to)++ = '"';
                quotes = 0;
            }
        if (quotes == 2)
            quotes = 0;
    }
    *(*to)++ = 0;
    return from;
}

/*
 * CommandLineToArgvW - the arguments of a command line, as Windows' shell finds them; the first one is the program's
 * name, in which backslashes mean nothing. Of an empty line it is the path of the process's own program.
 * count    out: how many there are
 * Returns  pointers and texts in one block, which LocalFree frees, the last pointer NULL. NULL with
 *          ERROR_INVALID_PARAMETER (a NULL), ERROR_NOT_ENOUGH_MEMORY.
 */
LPWSTR *WINAPI CommandLineToArgvW(LPCWSTR line, int *count)
{
    WCHAR own[MAX_PATH], *to;
    size_t length = 0, most;
    bool empty = line && !*line;
    LPWSTR *result;

    if (!line || !count) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    if (empty)
        line = GetModuleFileNameW(NULL, own, MAX_PATH) ? own : L"";
    while (line[length])
        length++;
    most = length / 2 + 3;
    result = LocalAlloc(LMEM_FIXED, most * sizeof(*result) + (length + 2) * sizeof(WCHAR));
    if (!result)
        return NULL;
    result[0] = to = (WCHAR *)(result + most);
    *count = 1;
    if (empty) {
        while ((*to++ = *line))
            line++;
    } else {
        line = copy_name(line, &to);
    }
    for (;;) {
        while (blank(*line))
            line++;
        if (!*line)
            break;
        result[(*count)++] = to;
        line = copy_argument(line, &to);
    }
    result[*count] = NULL;
    return result;
}
