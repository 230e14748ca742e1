/* SPDX-License-Identifier: MIT */
/*
 * number.c - converts text to numbers and numbers to text; compares text without its case. It is compiled for each kind
 * of character, as string.c is.
 */
#include <wincompat/string.h>

#include <stdbool.h>

#ifdef WIDE_BITS
typedef WCHAR character;
#define NAME(prefix, suffix) prefix##w##suffix
#else
typedef char character;
#define NAME(prefix, suffix) prefix##a##suffix
#endif

#ifdef WIDE_BITS
static unsigned fold(WCHAR c)
{
    return c >= 'A' && c <= 'Z' ? (unsigned)c - 'A' + 'a' : (unsigned)c;
}

/*
 * _wcsicmp, _wcsnicmp - compare text without the case of ASCII's letters. Return a number below, above or equal to 0.
 */
int _wcsnicmp(const WCHAR *a, const WCHAR *b, size_t count)
{
    for (; count; a++, b++, count--)
        if (fold(*a) != fold(*b) || !*a)
            return fold(*a) < fold(*b) ? -1 : fold(*a) > fold(*b);
    return 0;
}

int _wcsicmp(const WCHAR *a, const WCHAR *b)
{
    return _wcsnicmp(a, b, SIZE_MAX);
}

/* A number that was read from text. */
struct number {
    const WCHAR *end; /* the text behind it; the text itself: there is no number */
    bool negative, beyond;
    ULONGLONG value;
};

static int digit_of(WCHAR c)
{
    if (c >= '0' && c <= '9')
        return (int)(c - '0');
    return fold(c) >= 'a' && fold(c) <= 'z' ? (int)(fold(c) - 'a' + 10) : 99;
}

static struct number read_number(const WCHAR *text, int base)
{
    struct number number = { .end = text };
    int digit;

    while (*text == ' ' || (*text >= 9 && *text <= 13))
        text++;
    if (*text == '-' || *text == '+')
        number.negative = *text++ == '-';
    if ((base == 0 || base == 16) && text[0] == '0' && fold(text[1]) == 'x' &&
        digit_of(text[2]) < 16) {
        base = 16;
        text += 2;
    } else if (base == 0)
        base = *text == '0' ? 8 : 10;
    for (; (digit = digit_of(*text)) < base; text++) {
        number.beyond |= __builtin_mul_overflow(number.value, (ULONGLONG)base, &number.value) ||
                         __builtin_add_overflow(number.value, (ULONGLONG)digit, &number.value);
        number.end = text + 1;
    }
    return number;
}

static bool known(int base)
{
    return base == 0 || (base >= 2 && base <= 36);
}

/*
 * _wcstoi64, _wcstoui64 - read a number at the beginning of text.
 * end      [out] the text behind it; the text itself: there is no number; may be NULL
 * base     2 to 36; 0: 0x is hexadecimal, 0 octal
 * Returns  the number; the nearest one with errno ERANGE where it does not fit; 0 with EINVAL: another base.
 */
LONGLONG _wcstoi64(const WCHAR *text, WCHAR **end, int base)
{
    struct number number = known(base) ? read_number(text, base) : (struct number){ .end = text };

    if (end)
        *end = (WCHAR *)number.end;
    if (!known(base))
        errno = EINVAL;
    if (number.beyond || number.value > (ULONGLONG)INT64_MAX + number.negative) {
        errno = ERANGE;
        return number.negative ? INT64_MIN : INT64_MAX;
    }
    return number.negative ? (LONGLONG)(0 - number.value) : (LONGLONG)number.value;
}

ULONGLONG _wcstoui64(const WCHAR *text, WCHAR **end, int base)
{
    struct number number = known(base) ? read_number(text, base) : (struct number){ .end = text };

    if (end)
        *end = (WCHAR *)number.end;
    if (!known(base))
        errno = EINVAL;
    if (number.beyond) {
        errno = ERANGE;
        return UINT64_MAX;
    }
    return number.negative ? 0 - number.value : number.value;
}

/* _wtoi, _wtol, _wtoi64 - read a number at the beginning of text, and return its low bits; 0: there is none. */
LONGLONG _wtoi64(const WCHAR *text)
{
    return _wcstoi64(text, NULL, 10);
}

int _wtoi(const WCHAR *text)
{
    return (int)_wtoi64(text);
}

LONG _wtol(const WCHAR *text)
{
    return (LONG)_wtoi64(text);
}
#endif

/* Writes the digits of a number, with an end. Returns 0; EINVAL or ERANGE: text is empty. */
static errno_t write_number(ULONGLONG value, bool negative, character *text, size_t room, int base)
{
    char digits[64];
    size_t count = 0;

    if (text && room)
        text[0] = 0;
    if (!text || !room || base < 2 || base > 36)
        return errno = EINVAL;
    do
        digits[count++] = "0123456789abcdefghijklmnopqrstuvwxyz"[value % (unsigned)base];
    while (value /= (unsigned)base);
    if (count + negative >= room)
        return errno = ERANGE;
    if (negative)
        *text++ = '-';
    while (count)
        *text++ = (character)digits[--count];
    *text = 0;
    return 0;
}

/*
 * _itoa_s, _itow_s, _ultoa_s, _ultow_s, _i64toa_s, _i64tow_s, _ui64toa_s, _ui64tow_s - write a number as text.
 * room     the size of text in characters, with the end
 * base     2 to 36; a number below 0 has a sign in base 10, and is taken as unsigned in others
 * Returns  0; EINVAL (no text, no room, another base), ERANGE (too little room); text is empty then.
 */
errno_t NAME(_ui64to, _s)(ULONGLONG value, character *text, size_t room, int base)
{
    return write_number(value, false, text, room, base);
}

errno_t NAME(_i64to, _s)(LONGLONG value, character *text, size_t room, int base)
{
    const bool negative = value < 0 && base == 10;

    return write_number(
        negative ? 0 - (ULONGLONG)value : (ULONGLONG)value, negative, text, room, base);
}

errno_t NAME(_ulto, _s)(ULONG value, character *text, size_t room, int base)
{
    return write_number(value, false, text, room, base);
}

errno_t NAME(_ito, _s)(int value, character *text, size_t room, int base)
{
    const bool negative = value < 0 && base == 10;

    return write_number(
        negative ? 0u - (unsigned)value : (unsigned)value, negative, text, room, base);
}
