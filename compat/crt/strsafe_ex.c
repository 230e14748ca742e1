/* SPDX-License-Identifier: MIT */
/*
 * strsafe_ex.c - the Ex forms of StringCch and StringCb (strsafe.c, which does their work). It is compiled for each
 * kind of character: WIDE_BITS is the width of wide ones.
 *
 * Each also stores where the text ends and how much room is left, the end included, and takes flags:
 *   STRSAFE_IGNORE_NULLS      a NULL text is an empty one; a NULL destination without room takes nothing
 *   STRSAFE_FILL_BEHIND_NULL  the room behind the end is filled with the flags' low octet
 *   STRSAFE_FILL_ON_FAILURE   if the function fails, the whole destination is filled, and ended
 *   STRSAFE_NULL_ON_FAILURE   if the function fails, the destination is empty
 *   STRSAFE_NO_TRUNCATION     a text that has no room is not cut: the destination is empty; Cat leaves it unchanged
 * Each returns what the plain form does; STRSAFE_E_INVALID_PARAMETER for another flag, and then writes neither end nor
 * left.
 */
#include "compat/crt/crt.h"

#include <strsafe.h>

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
#define FLAGS_KNOWN       0x1fffu

static const character nothing[1];

/* The destination of an Ex function. Sizes are in characters; over: octets behind the last whole one. */
struct target {
    character *to, *end;
    size_t room, left, over;
    DWORD flags;
};

static struct target target_of(character *to, size_t room, size_t over, DWORD flags)
{
    return (struct target){ .to = to, .end = to, .room = room, .over = over, .flags = flags };
}

static bool is_valid(const struct target *target)
{
    if (target->flags & ~FLAGS_KNOWN || target->room > STRSAFE_MAX_CCH)
        return false;
    return target->to || ((target->flags & STRSAFE_IGNORE_NULLS) && !target->room && !target->over);
}

/* Returns the text, or an empty one in place of NULL with STRSAFE_IGNORE_NULLS. */
static const character *meant(const character *text, DWORD flags)
{
    return !text && (flags & STRSAFE_IGNORE_NULLS) ? nothing : text;
}

/* Returns the result where there is no room at all. */
static HRESULT without_room(const struct target *target, bool empty)
{
    if (empty)
        return S_OK;
    return target->to ? STRSAFE_E_INSUFFICIENT_BUFFER : STRSAFE_E_INVALID_PARAMETER;
}

/* Finds the end of the text that was written at at, and fills the room behind it. */
static void measure(struct target *target, character *at, bool fill)
{
    size_t length = 0;

    while (at[length])
        length++;
    target->end = at + length;
    target->left = target->room - (size_t)(target->end - target->to);
    if (fill && (target->flags & STRSAFE_FILL_BEHIND_NULL))
        memset(target->end + 1, (int)(target->flags & 0xff),
            (target->left - 1) * sizeof(character) + target->over);
}

static void clear(struct target *target, character *at)
{
    *at = 0;
    target->end = at;
    target->left = target->room - (size_t)(at - target->to);
}

/* Applies the flags to a failure, and stores end and left. */
static HRESULT finish(struct target *target, HRESULT hr, bool clears, character **end, size_t *left)
{
    const int pattern = (int)(target->flags & 0xff);

    if (FAILED(hr) && target->to && (target->flags & STRSAFE_FILL_ON_FAILURE)) {
        memset(target->to, pattern, target->room * sizeof(character) + target->over);
        if (target->room)
            clear(target, pattern ? target->to + target->room - 1 : target->to);
    }
    if (FAILED(hr) && target->to && target->room &&
        (clears || (target->flags & STRSAFE_NULL_ON_FAILURE)))
        clear(target, target->to);
    if (SUCCEEDED(hr) || hr == STRSAFE_E_INSUFFICIENT_BUFFER) {
        if (end)
            *end = target->end;
        if (left)
            *left = target->left;
    }
    return hr;
}

static HRESULT copy(
    struct target target, const character *from, size_t count, character **end, size_t *left)
{
    HRESULT hr = STRSAFE_E_INVALID_PARAMETER;

    from = meant(from, target.flags);
    if (is_valid(&target) && from && count <= STRSAFE_MAX_CCH) {
        if (!target.room) {
            hr = without_room(&target, !count || !*from);
        } else {
            hr = CCH(CopyN)(target.to, target.room, from, count);
            measure(&target, target.to, hr == S_OK);
        }
    }
    return finish(&target, hr, target.flags & STRSAFE_NO_TRUNCATION, end, left);
}

static HRESULT append(
    struct target target, const character *from, size_t count, character **end, size_t *left)
{
    HRESULT hr = STRSAFE_E_INVALID_PARAMETER;
    size_t length = 0;

    from = meant(from, target.flags);
    if (is_valid(&target) && from && count <= STRSAFE_MAX_CCH) {
        if (!target.room) {
            hr = target.to ? STRSAFE_E_INVALID_PARAMETER : without_room(&target, !count || !*from);
        } else if (SUCCEEDED(hr = CCH(Length)(target.to, target.room, &length))) {
            hr = CCH(CatN)(target.to, target.room, from, count);
            measure(&target, target.to + length, hr == S_OK);
            if (FAILED(hr) && (target.flags & STRSAFE_NO_TRUNCATION))
                clear(&target, target.to + length);
        }
    }
    return finish(&target, hr, false, end, left);
}

static HRESULT print(
    struct target target, character **end, size_t *left, const character *format, va_list arguments)
{
    HRESULT hr = STRSAFE_E_INVALID_PARAMETER;

    format = meant(format, target.flags);
    if (is_valid(&target) && format) {
        if (!target.room) {
            hr = without_room(&target, !*format);
        } else {
            hr = CCH(VPrintf)(target.to, target.room, format, arguments);
            measure(&target, target.to, hr == S_OK);
        }
    }
    return finish(&target, hr, target.flags & STRSAFE_NO_TRUNCATION, end, left);
}

#define OF_CHARACTERS target_of(to, room, 0, flags)
#define OF_BYTES      target_of(to, CHARACTERS(room), room % sizeof(character), flags)

/* Converts the room left to bytes, and adds those that make no whole character. */
static HRESULT in_bytes(HRESULT hr, size_t room, size_t *left)
{
    if (left && (SUCCEEDED(hr) || hr == STRSAFE_E_INSUFFICIENT_BUFFER))
        *left = *left * sizeof(character) + room % sizeof(character);
    return hr;
}

/* StringCchCopyEx, StringCchCopyNEx, StringCchCatEx, StringCchCatNEx, and the StringCb forms, with sizes in bytes. */
HRESULT CCH(CopyEx)(
    character *to, size_t room, const character *from, character **end, size_t *left, DWORD flags)
{
    return copy(OF_CHARACTERS, from, STRSAFE_MAX_CCH, end, left);
}

HRESULT CB(CopyEx)(
    character *to, size_t room, const character *from, character **end, size_t *left, DWORD flags)
{
    return in_bytes(copy(OF_BYTES, from, STRSAFE_MAX_CCH, end, left), room, left);
}

HRESULT CCH(CopyNEx)(character *to, size_t room, const character *from, size_t count,
    character **end, size_t *left, DWORD flags)
{
    return copy(OF_CHARACTERS, from, count, end, left);
}

HRESULT CB(CopyNEx)(character *to, size_t room, const character *from, size_t count,
    character **end, size_t *left, DWORD flags)
{
    return in_bytes(copy(OF_BYTES, from, CHARACTERS(count), end, left), room, left);
}

HRESULT CCH(CatEx)(
    character *to, size_t room, const character *from, character **end, size_t *left, DWORD flags)
{
    return append(OF_CHARACTERS, from, STRSAFE_MAX_CCH, end, left);
}

HRESULT CB(CatEx)(
    character *to, size_t room, const character *from, character **end, size_t *left, DWORD flags)
{
    return in_bytes(append(OF_BYTES, from, STRSAFE_MAX_CCH, end, left), room, left);
}

HRESULT CCH(CatNEx)(character *to, size_t room, const character *from, size_t count,
    character **end, size_t *left, DWORD flags)
{
    return append(OF_CHARACTERS, from, count, end, left);
}

HRESULT CB(CatNEx)(character *to, size_t room, const character *from, size_t count, character **end,
    size_t *left, DWORD flags)
{
    return in_bytes(append(OF_BYTES, from, CHARACTERS(count), end, left), room, left);
}

/* StringCchVPrintfEx, StringCchPrintfEx, and the StringCb forms, with sizes in bytes. */
HRESULT CCH(VPrintfEx)(character *to, size_t room, character **end, size_t *left, DWORD flags,
    const character *format, va_list arguments)
{
    return print(OF_CHARACTERS, end, left, format, arguments);
}

HRESULT CB(VPrintfEx)(character *to, size_t room, character **end, size_t *left, DWORD flags,
    const character *format, va_list arguments)
{
    return in_bytes(print(OF_BYTES, end, left, format, arguments), room, left);
}

HRESULT CCH(PrintfEx)(character *to, size_t room, character **end, size_t *left, DWORD flags,
    const character *format, ...)
{
    va_list arguments;
    HRESULT hr;

    va_start(arguments, format);
    hr = CCH(VPrintfEx)(to, room, end, left, flags, format, arguments);
    va_end(arguments);
    return hr;
}

HRESULT CB(PrintfEx)(character *to, size_t room, character **end, size_t *left, DWORD flags,
    const character *format, ...)
{
    va_list arguments;
    HRESULT hr;

    va_start(arguments, format);
    hr = CB(VPrintfEx)(to, room, end, left, flags, format, arguments);
    va_end(arguments);
    return hr;
}
