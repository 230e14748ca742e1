/* SPDX-License-Identifier: MIT */
/*
 * strsafe.c - the StringCch and StringCb functions. It is compiled for each kind of character: WIDE_BITS is the width
 * of wide ones. A StringCb function is the StringCch function with sizes in bytes; it ignores a last byte that makes no
 * whole character.
 *
 * Each ends what it writes, and returns S_OK; STRSAFE_E_INSUFFICIENT_BUFFER: cut at the end of the buffer;
 * STRSAFE_E_INVALID_PARAMETER: no room at all or more than STRSAFE_MAX_CCH characters, a NULL pointer, a destination of
 * Cat without an end, a format that Windows does not have. The destination is then empty, except where it had no end.
 */
#include "compat/crt/crt.h"

#include <strsafe.h>

#include <errno.h>

#ifdef WIDE_BITS
typedef WCHAR character;
#define CCH(name) StringCch##name##W
#define CB(name)  StringCb##name##W
#else
typedef char character;
#define CCH(name) StringCch##name##A
#define CB(name)  StringCb##name##A
#endif

#define CHARACTERS(bytes) ((bytes) / sizeof(character))

static bool is_room(const character *to, size_t room)
{
    return to && room && room <= STRSAFE_MAX_CCH;
}

static HRESULT invalid(character *to, size_t room)
{
    if (to && room)
        to[0] = 0;
    return STRSAFE_E_INVALID_PARAMETER;
}

/* Puts at most count characters of from into room characters, which is at least 1. */
static HRESULT put(character *to, size_t room, const character *from, size_t count)
{
    size_t at = 0;

    for (; at < room - 1 && at < count && from[at]; at++)
        to[at] = from[at];
    to[at] = 0;
    return at < count && from[at] ? STRSAFE_E_INSUFFICIENT_BUFFER : S_OK;
}

/* StringCchLength, StringCbLength - return the length of a text that ends within limit; 0 if it does not (invalid). */
HRESULT CCH(Length)(const character *text, size_t limit, size_t *length)
{
    size_t at = 0;
    bool ends;

    while (text && limit <= STRSAFE_MAX_CCH && at < limit && text[at])
        at++;
    ends = text && limit <= STRSAFE_MAX_CCH && at < limit;
    if (length)
        *length = ends ? at : 0;
    return ends ? S_OK : STRSAFE_E_INVALID_PARAMETER;
}

HRESULT CB(Length)(const character *text, size_t limit, size_t *length)
{
    HRESULT hr = CCH(Length)(text, CHARACTERS(limit), length);

    if (length)
        *length *= sizeof(character);
    return hr;
}

/* StringCchCopyN, StringCbCopyN - copies at most count characters (bytes). */
HRESULT CCH(CopyN)(character *to, size_t room, const character *from, size_t count)
{
    if (!is_room(to, room) || !from || count > STRSAFE_MAX_CCH)
        return invalid(to, room);
    return put(to, room, from, count);
}

HRESULT CB(CopyN)(character *to, size_t room, const character *from, size_t count)
{
    return CCH(CopyN)(to, CHARACTERS(room), from, CHARACTERS(count));
}

/* StringCchCopy, StringCbCopy - copies a string. */
HRESULT CCH(Copy)(character *to, size_t room, const character *from)
{
    return CCH(CopyN)(to, room, from, STRSAFE_MAX_CCH);
}

HRESULT CB(Copy)(character *to, size_t room, const character *from)
{
    return CCH(Copy)(to, CHARACTERS(room), from);
}

/* StringCchCatN, StringCbCatN - appends at most count characters (bytes). */
HRESULT CCH(CatN)(character *to, size_t room, const character *from, size_t count)
{
    size_t at;

    if (!is_room(to, room) || FAILED(CCH(Length)(to, room, &at)))
        return STRSAFE_E_INVALID_PARAMETER;
    if (!from || count > STRSAFE_MAX_CCH)
        return invalid(to, room);
    return put(to + at, room - at, from, count);
}

HRESULT CB(CatN)(character *to, size_t room, const character *from, size_t count)
{
    return CCH(CatN)(to, CHARACTERS(room), from, CHARACTERS(count));
}

/* StringCchCat, StringCbCat - appends a string. */
HRESULT CCH(Cat)(character *to, size_t room, const character *from)
{
    return CCH(CatN)(to, room, from, STRSAFE_MAX_CCH);
}

HRESULT CB(Cat)(character *to, size_t room, const character *from)
{
    return CCH(Cat)(to, CHARACTERS(room), from);
}

/*
 * StringCchVPrintf, StringCbVPrintf, StringCchPrintf, StringCbPrintf - formats as sprintf_s does. Also: E_OUTOFMEMORY.
 */
HRESULT CCH(VPrintf)(character *to, size_t room, const character *format, va_list arguments)
{
    struct crt_out out = { .room = room - 1 };
    int length;

    if (!is_room(to, room) || !format)
        return invalid(to, room);
#ifdef WIDE_BITS
    out.wide = true;
    out.text = to;
    length = CRT(crt_format_wide)(&out, format, arguments);
#else
    out.narrow = to;
    length = CRT(crt_format)(&out, format, arguments);
#endif
    if (length < 0 && errno != EOVERFLOW)
        return errno == ENOMEM ? (to[0] = 0, E_OUTOFMEMORY) : invalid(to, room);
    to[length < 0 || (size_t)length > out.room ? out.room : (size_t)length] = 0;
    return length < 0 || (size_t)length > out.room ? STRSAFE_E_INSUFFICIENT_BUFFER : S_OK;
}

HRESULT CB(VPrintf)(character *to, size_t room, const character *format, va_list arguments)
{
    return CCH(VPrintf)(to, CHARACTERS(room), format, arguments);
}

HRESULT CCH(Printf)(character *to, size_t room, const character *format, ...)
{
    va_list arguments;
    HRESULT hr;

    va_start(arguments, format);
    hr = CCH(VPrintf)(to, room, format, arguments);
    va_end(arguments);
    return hr;
}

HRESULT CB(Printf)(character *to, size_t room, const character *format, ...)
{
    va_list arguments;
    HRESULT hr;

    va_start(arguments, format);
    hr = CB(VPrintf)(to, room, format, arguments);
    va_end(arguments);
    return hr;
}
