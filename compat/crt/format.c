/* SPDX-License-Identifier: MIT */
/*
 * format.c - printf's formatting with Windows' rules: sizes of LLP64, wide %s in the wide functions, UTF-8 on streams,
 * which therefore never get an orientation. The C library formats the numbers.
 */
#include "compat/crt/crt.h"
#include "compat/crt/text.h"

#include <wincompat/native.h>

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void flush(struct crt_out *out)
{
    if (out->held_bytes && fwrite(out->held, 1, out->held_bytes, out->stream) != out->held_bytes)
        out->failed = true;
    out->held_bytes = 0;
}

static void byte_put(struct crt_out *out, char byte)
{
    if (out->stream) {
        if (out->held_bytes == sizeof(out->held))
            flush(out);
        out->held[out->held_bytes++] = byte;
    } else if (out->narrow && out->units < out->room) {
        out->narrow[out->units] = byte;
    }
}

/* Returns how many units a character has in the destination. */
static size_t units_of(const struct crt_out *out, uint32_t c)
{
    char bytes[4];

    return out->wide ? 1 + (sizeof(wchar_t) == 2 && c > 0xffff) : utf8_put(bytes, c);
}

static void char_put(struct crt_out *out, uint32_t c)
{
    size_t units = units_of(out, c);
    char bytes[4];
    wchar_t pair[2];

    if (out->wide && !out->stream) {
        wide_put(pair, sizeof(wchar_t), c);
        for (size_t i = 0; i < units; i++, out->units++)
            if (out->text && out->units < out->room)
                out->text[out->units] = pair[i];
        return;
    }
    for (unsigned i = 0, n = utf8_put(bytes, c); i < n; i++) {
        byte_put(out, bytes[i]);
        out->units += !out->wide;
    }
    if (out->wide)
        out->units += units;
}

/* Puts bytes of UTF-8, unchanged if the destination is narrow. */
static void bytes_put(struct crt_out *out, const char *bytes, size_t count)
{
    const unsigned char *s = (const unsigned char *)bytes, *end = s + count;

    if (out->wide) {
        while (s < end)
            char_put(out, utf8_next(&s, (size_t)(end - s)));
        return;
    }
    for (; s < end; s++, out->units++)
        byte_put(out, (char)*s);
}

static void pad(struct crt_out *out, char c, size_t count)
{
    while (count--)
        bytes_put(out, &c, 1);
}

/* A text, and how much of it a directive puts. */
struct piece {
    const char *narrow;
    const wchar_t *wide;
    size_t length; /* length in the source's units */
    size_t units;  /* length in the destination's units */
};

/* Finds how much of a narrow string fits a precision (SIZE_MAX: all of it) that counts units of out. */
static void narrow_measure(const struct crt_out *out, struct piece *piece, size_t limit)
{
    const unsigned char *s = (const unsigned char *)piece->narrow, *next = s;

    if (!out->wide) {
        piece->length = piece->units =
            limit == SIZE_MAX ? strlen(piece->narrow) : strnlen(piece->narrow, limit);
        return;
    }
    while (piece->units < limit && *s) {
        size_t units = units_of(out, utf8_next(&next, 4)); /* stops at the terminating 0 */

        if (units > limit - piece->units)
            break;
        piece->units += units;
        s = next;
    }
    piece->length = (size_t)(s - (const unsigned char *)piece->narrow);
}

static void wide_measure(const struct crt_out *out, struct piece *piece, size_t limit)
{
    const wchar_t *s = piece->wide, *next = s;

    while (piece->units < limit && *s) {
        size_t units = units_of(out, wide_next(&next));

        if (units > limit - piece->units)
            break;
        piece->units += units;
        s = next;
    }
    piece->length = (size_t)(s - piece->wide);
}

/* Finds how many units a text of a known length has in the destination. */
static void counted_measure(const struct crt_out *out, struct piece *piece)
{
    const unsigned char *bytes = (const unsigned char *)piece->narrow, *end = bytes + piece->length;
    const wchar_t *s = piece->wide;

    if (piece->wide)
        while (s < piece->wide + piece->length)
            piece->units += units_of(out, wide_next_before(&s, piece->wide + piece->length));
    else if (!out->wide)
        piece->units = piece->length;
    else
        while (bytes < end)
            piece->units += units_of(out, utf8_next(&bytes, (size_t)(end - bytes)));
}

static void piece_put(struct crt_out *out, const struct crt_directive *d, const struct piece *piece)
{
    size_t padding =
        d->width > 0 && (size_t)d->width > piece->units ? (size_t)d->width - piece->units : 0;
    bool left = strchr(d->flags, '-') != NULL;

    if (!left)
        pad(out, strchr(d->flags, '0') ? '0' : ' ', padding);
    if (piece->wide) {
        const wchar_t *s = piece->wide, *end = s + piece->length;

        while (s < end)
            char_put(out, wide_next_before(&s, end));
    } else {
        bytes_put(out, piece->narrow, piece->length);
    }
    if (left)
        pad(out, ' ', padding);
}

static void string_put(struct crt_out *out, const struct crt_directive *d, const void *string)
{
    size_t limit = d->precision < 0 ? SIZE_MAX : (size_t)d->precision;
    struct piece piece = { .narrow = "(null)" };

    if (string && crt_directive_is_wide(d, out->wide)) {
        piece.wide = string;
        wide_measure(out, &piece, limit);
    } else {
        piece.narrow = string ? string : piece.narrow;
        narrow_measure(out, &piece, limit);
    }
    piece_put(out, d, &piece);
}

/* Puts a STRING or a UNICODE_STRING, by its length alone; without text: "(null)". A precision has no effect. */
static void counted_put(struct crt_out *out, const struct crt_directive *d, const void *string)
{
    const STRING *narrow = string;
    const UNICODE_STRING *wide = d->size == 'l' || d->size == 'w' ? string : NULL;
    struct piece piece = { .narrow = "(null)", .length = strlen("(null)") };

    if (wide && wide->Buffer) {
        piece.wide = (const wchar_t *)wide->Buffer;
        piece.length = wide->Length / sizeof(wchar_t);
    } else if (!wide && narrow && narrow->Buffer) {
        piece.narrow = narrow->Buffer;
        piece.length = narrow->Length;
    }
    counted_measure(out, &piece);
    piece_put(out, d, &piece);
}

static void character_put(struct crt_out *out, const struct crt_directive *d, int argument)
{
    wchar_t wide[2] = { (wchar_t)argument, 0 };
    char narrow = (char)argument;
    struct piece piece = { .narrow = &narrow, .length = 1, .units = 1 };

    if (crt_directive_is_wide(d, out->wide)) {
        piece.wide = wide;
        piece.units = units_of(out, (uint32_t)wide[0]);
    }
    piece_put(out, d, &piece);
}

/* A va_list in a structure, so that functions pass its address: a caller cannot go on with a list passed by value. */
struct arguments {
    va_list list;
};

/* Puts a number as the C library prints it; spec and arguments are the library's. */
__attribute__((format(printf, 2, 3))) static bool number_put(
    struct crt_out *out, const char *spec, ...)
{
    char local[256], *text = local;
    va_list arguments;
    int length;

    va_start(arguments, spec);
    length = vsnprintf(local, sizeof(local), spec, arguments);
    va_end(arguments);
    if (length >= (int)sizeof(local)) {
        if (!(text = malloc((size_t)length + 1)))
            return false;
        va_start(arguments, spec);
        vsnprintf(text, (size_t)length + 1, spec, arguments);
        va_end(arguments);
    }
    if (length >= 0)
        bytes_put(out, text, (size_t)length);
    if (text != local)
        free(text);
    return length >= 0;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* Puts text that only width and the flag '-' change. */
static bool plain_put(struct crt_out *out, const struct crt_directive *d, const char *text)
{
    struct crt_directive plain = { .width = d->width };
    struct piece piece = { .narrow = text, .length = strlen(text), .units = strlen(text) };

    if (strchr(d->flags, '-'))
        plain.flags[0] = '-';
    piece_put(out, &plain, &piece);
    return true;
}

/* Puts a NaN with its kind, as Windows writes it. A processor's result of 0/0 is -nan(ind). */
static bool nan_put(struct crt_out *out, const struct crt_directive *d, double value)
{
    const uint64_t quiet = UINT64_C(1) << 51, payload = (UINT64_C(1) << 51) - 1;
    uint64_t bits;
    char text[16];

    memcpy(&bits, &value, sizeof(bits));
    snprintf(text, sizeof(text), "%snan%s",
        bits >> 63              ? "-"
        : strchr(d->flags, '+') ? "+"
        : strchr(d->flags, ' ') ? " "
                                : "",
        !(bits & quiet)                   ? "(snan)"
        : bits >> 63 && !(bits & payload) ? "(ind)"
                                          : "");
    for (char *c = text; d->conversion < 'a' && *c; c++)
        if (*c >= 'a' && *c <= 'z')
            *c = (char)(*c - 'a' + 'A');
    return plain_put(out, d, text);
}

static bool double_put(
    struct crt_out *out, const struct crt_directive *d, struct arguments *arguments)
{
    enum { HEXADECIMAL_DIGITS = 13 }; /* Windows prints all of a double's, zeros at the end, too */
    const bool hexadecimal = d->conversion == 'a' || d->conversion == 'A';
    const int width = d->width < 0 ? 0 : d->width;
    const int precision = hexadecimal && d->precision < 0 ? HEXADECIMAL_DIGITS : d->precision;
    const bool is_long = d->size == 'L';
    const long double value = is_long ? va_arg(arguments->list, long double) : 0;
    const double number = is_long ? (double)value : va_arg(arguments->list, double);
    char spec[20];

    if (isnan(number))
        return nan_put(out, d, number);
    /* Windows' long double is a double, so its hexadecimal digits are a double's; more decimal ones do no harm. */
    snprintf(spec, sizeof(spec), "%%%s*.*%s%c", d->flags, is_long && !hexadecimal ? "L" : "",
        d->conversion);
    if (is_long && !hexadecimal)
        return number_put(out, spec, width, precision, value);
    return number_put(out, spec, width, precision, number);
}

static bool integer_put(struct crt_out *out, const struct crt_directive *d, uint64_t value)
{
    bool is_signed = d->conversion == 'd' || d->conversion == 'i';
    char spec[20];

    switch (d->size) {
    case 'H': value = is_signed ? (uint64_t)(int8_t)value : (uint8_t)value; break;
    case 'h': value = is_signed ? (uint64_t)(int16_t)value : (uint16_t)value; break;
    case '8': break;
    default: value = is_signed ? (uint64_t)(int32_t)value : (uint32_t)value;
    }
    snprintf(spec, sizeof(spec), "%%%s*.*ll%c", d->flags, d->conversion);
    return number_put(out, spec, d->width < 0 ? 0 : d->width, d->precision, value);
}

static bool pointer_put(struct crt_out *out, const struct crt_directive *d, const void *value)
{
    char digits[24];

    snprintf(digits, sizeof(digits), "%s%0*llX", strchr(d->flags, '#') ? "0X" : "",
        2 * (int)sizeof(value), (unsigned long long)(uintptr_t)value);
    return plain_put(out, d, digits);
}

#pragma GCC diagnostic pop

static void stars_read(struct crt_directive *d, struct arguments *arguments)
{
    if (d->width_star) {
        d->width = va_arg(arguments->list, int);
        if (d->width < 0 && !strchr(d->flags, '-'))
            strcat(d->flags, "-");
        d->width = d->width < 0 ? -d->width : d->width;
    }
    if (d->precision_star)
        d->precision = va_arg(arguments->list, int);
}

static bool directive_put(
    struct crt_out *out, const struct crt_directive *d, struct arguments *arguments)
{
    switch (d->conversion) {
    case '%': bytes_put(out, "%", 1); return true;
    case 's':
    case 'S': string_put(out, d, va_arg(arguments->list, const void *)); return true;
    case 'Z': counted_put(out, d, va_arg(arguments->list, const void *)); return true;
    case 'c':
    case 'C': character_put(out, d, va_arg(arguments->list, int)); return true;
    case 'p': return pointer_put(out, d, va_arg(arguments->list, const void *));
    case 'd':
    case 'i':
    case 'u':
    case 'o':
    case 'x':
    case 'X':
        if (d->size == '8')
            return integer_put(out, d, va_arg(arguments->list, uint64_t));
        return integer_put(out, d, va_arg(arguments->list, unsigned));
    default: return double_put(out, d, arguments);
    }
}

static bool format_run(struct crt_out *out, const char *format, struct arguments *arguments)
{
    struct crt_directive d;

    while (*format) {
        size_t plain = strcspn(format, "%");

        bytes_put(out, format, plain);
        format += plain;
        if (!*format)
            break;
        if (!(format = crt_directive_read(format + 1, false, &d))) {
            errno = EINVAL;
            return false;
        }
        stars_read(&d, arguments);
        if (!directive_put(out, &d, arguments))
            return false;
    }
    return true;
}

int CRT(crt_format)(struct crt_out *out, const char *format, va_list list)
{
    struct arguments arguments;
    bool done;

    va_copy(arguments.list, list);
    if (out->stream)
        flockfile(out->stream);
    done = format_run(out, format, &arguments);
    if (out->stream) {
        flush(out);
        funlockfile(out->stream);
    }
    va_end(arguments.list);
    if (!done || out->failed)
        return -1;
    if (out->units > INT_MAX) {
        errno = EOVERFLOW;
        return -1;
    }
    return (int)out->units;
}

char *CRT(crt_narrow)(const wchar_t *text)
{
    const wchar_t *s = text;
    size_t bytes = 1;
    char unused[4], *narrow, *end;

    while (*s)
        bytes += utf8_put(unused, wide_next(&s));
    if (!(narrow = end = malloc(bytes)))
        return NULL;
    for (s = text; *s;)
        end += utf8_put(end, wide_next(&s));
    *end = 0;
    return narrow;
}

int CRT(crt_format_wide)(struct crt_out *out, const wchar_t *format, va_list arguments)
{
    char *narrow = CRT(crt_narrow)(format);
    int count = narrow ? CRT(crt_format)(out, narrow, arguments) : -1;
    int error = errno;

    free(narrow);
    errno = error;
    return count;
}
