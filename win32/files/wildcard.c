/* SPDX-License-Identifier: MIT */
/*
 * wildcard.c - names with * and ? as Windows matches them, which is older than long names: "*.*" is every name, "*." a
 * name without a point, "a?" also "a". FindFirstFile replaces characters of its pattern by others, with these meanings:
 *
 *   *   any characters
 *   <   a * before a point, or before one at the end: any characters but the last point
 *   >   a ?: one character; nothing before a point and at the end
 *   "   a point before a ? or *: a point; nothing at the end
 *
 * Source: FsRtlIsNameInExpression routine (ntifs.h), which has the meanings; what stands for what: FindFirstFile under
 * Wine, and the remarks of FindFirstFileA (fileapi.h).
 */
#include "win32/files/wildcard.h"

#include <stddef.h>
#include <string.h>

enum { PATTERN_OCTETS = 1024 };

bool wildcard_is_in(const char *pattern)
{
    return strpbrk(pattern, "*?") != NULL;
}

/* False: longer than any name. Characters of the other kinds are no part of names on Windows; here they stand for
 * themselves, so meanings are kept beside the characters. */
static bool read_pattern(const char *pattern, char text[], char meaning[])
{
    size_t length = strlen(pattern), stripped = length;

    if (length >= PATTERN_OCTETS)
        return false;
    if (!strcmp(pattern, "*.*"))
        stripped = length = 1;
    while (stripped > 1 && pattern[stripped - 1] == '.' && strpbrk(pattern, "*?"))
        stripped--;
    for (size_t i = 0; i < stripped; i++) {
        const char c = pattern[i], next = i + 1 < length ? pattern[i + 1] : 0;

        text[i] = c;
        meaning[i] = c == '?'                                   ? '>'
                     : c == '*'                                 ? (next == '.' ? '<' : '*')
                     : c == '.' && (next == '?' || next == '*') ? '"'
                                                                : 0;
    }
    text[stripped] = meaning[stripped] = 0;
    return true;
}

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Octets of a character of UTF-8. */
static size_t character(const char *name)
{
    size_t octets = 1;

    while (((unsigned char)name[octets] & 0xc0) == 0x80)
        octets++;
    return octets;
}

static bool same(const char *pattern, const char *name, size_t octets, bool exact)
{
    for (size_t i = 0; i < octets; i++)
        if (exact ? pattern[i] != name[i] : fold(pattern[i]) != fold(name[i]))
            return false;
    return true;
}

/* Marks the places of the pattern that match without another character; next: the character, 0 at the end. */
static void skip(const char *text, const char *meaning, char next, bool reached[])
{
    for (size_t i = 0; text[i]; i++)
        if (reached[i] &&
            (meaning[i] == '*' || meaning[i] == '<' ||
                (meaning[i] == '>' && (!next || next == '.')) || (meaning[i] == '"' && !next)))
            reached[i + 1] = true;
}

bool wildcard_matches(const char *pattern, const char *name, bool exact)
{
    char text[PATTERN_OCTETS], meaning[PATTERN_OCTETS];
    const char *last_point = strrchr(name, '.');
    bool reached[PATTERN_OCTETS] = { true };
    size_t length;

    if (!read_pattern(pattern, text, meaning))
        return false;
    length = strlen(text);
    for (size_t octets; *name; name += octets) {
        bool further[PATTERN_OCTETS] = { false };

        octets = character(name);
        skip(text, meaning, *name, reached);
        for (size_t i = 0; i < length; i++) {
            if (!reached[i])
                continue;
            if (meaning[i] == '*' || (meaning[i] == '<' && name != last_point))
                further[i] = true;
            else if ((meaning[i] == '>' && *name != '.') || (meaning[i] == '"' && *name == '.'))
                further[i + 1] = true;
            else if (!meaning[i] && same(text + i, name, octets, exact))
                further[i + octets] = true;
        }
        memcpy(reached, further, sizeof(reached));
    }
    skip(text, meaning, 0, reached);
    return reached[length];
}
