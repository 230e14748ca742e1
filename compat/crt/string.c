/* SPDX-License-Identifier: MIT */
/*
 * string.c - the _s string functions, _strdup. It is compiled for each kind of character: WIDE_BITS is the width of
 * wide ones.
 *
 * If the destination is too small a function empties it and returns ERANGE; a NULL pointer or no room is EINVAL; it
 * sets errno as well. Nothing ends the program, as on Windows with an invalid-parameter handler that returns.
 */
#include <wincompat/string.h>

#include <stdbool.h>

#ifdef WIDE_BITS
typedef WCHAR character;
#define NAME(prefix, suffix) prefix##wcs##suffix
#else
typedef char character;
#define NAME(prefix, suffix) prefix##str##suffix
#endif

static size_t length_of(const character *text, size_t limit)
{
    size_t length = 0;

    while (length < limit && text[length])
        length++;
    return length;
}

/* Puts at most count characters of from (_TRUNCATE: as many as fit) behind the first at characters of to. */
static errno_t put(character *to, size_t room, size_t at, const character *from, size_t count)
{
    size_t fits = room - at - 1, length = length_of(from, count < room ? count : room);
    bool cut = length > fits;

    if (cut && count != _TRUNCATE) {
        to[0] = 0;
        return errno = ERANGE;
    }
    length = cut ? fits : length;
    memmove(to + at, from, length * sizeof(*to));
    to[at + length] = 0;
    return cut ? STRUNCATE : 0;
}

static errno_t invalid(character *to, size_t room)
{
    if (to && room)
        to[0] = 0;
    return errno = EINVAL;
}

/*
 * strncpy_s, wcsncpy_s - copies at most count characters, and an end. _TRUNCATE copies as many as fit, and returns
 * STRUNCATE if those are not all. Returns 0, EINVAL, ERANGE.
 */
errno_t NAME(, ncpy_s)(character *to, size_t room, const character *from, size_t count)
{
    static const character nothing[1];

    if (!to && !room && !count)
        return 0;
    if (!to || !room || (!from && count))
        return invalid(to, room);
    return put(to, room, 0, count ? from : nothing, count);
}

/* strcpy_s, wcscpy_s - copies a string. Returns 0, EINVAL, ERANGE. */
errno_t NAME(, cpy_s)(character *to, size_t room, const character *from)
{
    return to && room && from ? put(to, room, 0, from, SIZE_MAX - 1) : invalid(to, room);
}

/* strncat_s, wcsncat_s - appends at most count characters, or as many as fit (_TRUNCATE). Returns as strncpy_s does. */
errno_t NAME(, ncat_s)(character *to, size_t room, const character *from, size_t count)
{
    static const character nothing[1];
    size_t at;

    if (!to && !room && !count)
        return 0;
    if (!to || !room || (!from && count) || (at = length_of(to, room)) == room)
        return invalid(to, room);
    return put(to, room, at, count ? from : nothing, count);
}

/* strcat_s, wcscat_s - appends a string. Returns 0, EINVAL (also where to has no end), ERANGE. */
errno_t NAME(, cat_s)(character *to, size_t room, const character *from)
{
    return from ? NAME(, ncat_s)(to, room, from, SIZE_MAX - 1) : invalid(to, room);
}

static bool is_one_of(const character *set, character c)
{
    while (*set && *set != c)
        set++;
    return *set != 0;
}

/* strtok_s, wcstok_s - return the next token; text is NULL from the second call on. NULL: none is left, or EINVAL. */
character *NAME(, tok_s)(character *text, const character *delimiters, character **rest)
{
    character *token;

    if (!delimiters || !rest || (!text && !*rest)) {
        errno = EINVAL;
        return NULL;
    }
    for (token = text ? text : *rest; *token && is_one_of(delimiters, *token);)
        token++;
    for (*rest = token; **rest && !is_one_of(delimiters, **rest);)
        ++*rest;
    if (**rest)
        *(*rest)++ = 0;
    return *token ? token : NULL;
}

/* _strdup, _wcsdup - return a copy, which the program frees with free. NULL: no text, no memory. */
character *NAME(_, dup)(const character *text)
{
    size_t size = text ? (length_of(text, SIZE_MAX) + 1) * sizeof(*text) : 0;
    character *copy = text ? malloc(size) : NULL;

    return copy ? memcpy(copy, text, size) : NULL;
}
