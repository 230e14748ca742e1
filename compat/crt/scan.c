/* SPDX-License-Identifier: MIT */
/*
 * scan.c - the scanf functions with Windows' rules: long has 32 bits, I64 and I are sizes, and the _s forms take the
 * size of every text buffer. This file collects a number's characters, and the C library converts them.
 */
#include "compat/crt/crt.h"
#include "compat/crt/text.h"

#include <wincompat/stdio.h>

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The source of characters: a stream or text. In a wide function (source wide) a character is one of Unicode's. */
struct source {
    FILE *stream;
    const unsigned char *narrow;
    const wchar_t *wide;
    int next;  /* the next character, EOF at the end */
    int taken; /* number of characters taken so far */
};

static void source_step(struct source *in)
{
    if (in->stream)
        in->next = getc_unlocked(in->stream);
    else if (in->narrow)
        in->next = *in->narrow ? *in->narrow++ : EOF;
    else
        in->next = *in->wide ? (int)wide_next(&in->wide) : EOF;
}

static void source_take(struct source *in)
{
    in->taken++;
    source_step(in);
}

static void skip_blanks(struct source *in)
{
    while (in->next != EOF && in->next < 0x80 && isspace(in->next))
        source_take(in);
}

enum { NUMBER_MAX = 350 };

struct number {
    char text[NUMBER_MAX + 1];
    int length, limit; /* number of characters, and its maximum */
};

static bool number_take(struct source *in, struct number *number, const char *allowed)
{
    if (in->next == EOF || !in->next || in->next > 0x7f || !strchr(allowed, in->next) ||
        number->length >= number->limit)
        return false;
    number->text[number->length++] = (char)in->next;
    source_take(in);
    return true;
}

static int digits_take(struct source *in, struct number *number, const char *allowed)
{
    int count = 0;

    while (number_take(in, number, allowed))
        count++;
    return count;
}

/* Collects an integer with sign and prefix; base 0: the prefix decides. False: there is no integer. */
static bool integer_take(struct source *in, struct number *number, int base)
{
    int digits = 0;

    number_take(in, number, "+-");
    if (base != 10 && number_take(in, number, "0")) {
        digits = 1;
        if (base != 8 && number_take(in, number, "xX")) {
            base = 16;
            digits = 0;
        } else if (base == 0) {
            base = 8;
        }
    }
    digits += digits_take(in, number,
        base == 8    ? "01234567"
        : base == 16 ? "0123456789abcdefABCDEF"
                     : "0123456789");
    number->text[number->length] = 0;
    return digits > 0;
}

static bool float_take(struct source *in, struct number *number)
{
    int digits;

    number_take(in, number, "+-");
    digits = digits_take(in, number, "0123456789");
    if (number_take(in, number, "."))
        digits += digits_take(in, number, "0123456789");
    if (digits && number_take(in, number, "eE")) {
        number_take(in, number, "+-");
        digits_take(in, number, "0123456789");
    }
    number->text[number->length] = 0;
    return digits > 0;
}

static void integer_store(const struct crt_directive *d, void *to, uint64_t value)
{
    switch (d->conversion == 'p' ? '8' : d->size) {
    case 'H': *(uint8_t *)to = (uint8_t)value; break;
    case 'h': *(uint16_t *)to = (uint16_t)value; break;
    case '8': *(uint64_t *)to = value; break;
    default: *(uint32_t *)to = (uint32_t)value;
    }
}

static void float_store(const struct crt_directive *d, void *to, const char *text)
{
    if (d->size == 'L')
        *(long double *)to = strtold(text, NULL);
    else if (d->size == 'l')
        *(double *)to = strtod(text, NULL);
    else
        *(float *)to = strtof(text, NULL);
}

/* A set of scanf, the characters between its brackets in the format. */
struct set {
    const char *begin, *end;
    bool inverted;
};

static const char *set_read(const char *format, struct set *set)
{
    set->inverted = *format == '^';
    set->begin = format += set->inverted;
    if (*format == ']')
        format++;
    while (*format && *format != ']')
        format++;
    set->end = format;
    return *format ? format + 1 : NULL;
}

static bool set_has(const struct set *set, uint32_t c)
{
    const unsigned char *s = (const unsigned char *)set->begin,
                        *end = (const unsigned char *)set->end;
    bool has = false;

    while (s < end && !has) {
        uint32_t first = utf8_next(&s, (size_t)(end - s)), last = first;

        if (end - s > 1 && *s == '-') {
            s++;
            last = utf8_next(&s, (size_t)(end - s));
        }
        has = c >= first && c <= last;
    }
    return has != set->inverted;
}

/* The text buffer of a directive. */
struct sink {
    void *to; /* NULL: nothing is stored */
    bool wide;
    size_t room, used; /* counted in the buffer's characters, with the end */
};

static bool sink_put(struct sink *sink, bool from_wide, int c)
{
    char bytes[4];
    wchar_t units[2];
    size_t count = 1;

    if (!sink->to)
        return true;
    bytes[0] = (char)c;
    units[0] = (wchar_t)c;
    if (sink->wide)
        count = wide_put(units, sizeof(wchar_t), (uint32_t)c);
    else if (from_wide)
        count = utf8_put(bytes, (uint32_t)c);
    if (count > sink->room - sink->used)
        return false;
    if (sink->wide)
        memcpy((wchar_t *)sink->to + sink->used, units, count * sizeof(*units));
    else
        memcpy((char *)sink->to + sink->used, bytes, count);
    sink->used += count;
    return true;
}

static void sink_end(struct sink *sink, size_t at)
{
    if (sink->to && sink->wide)
        ((wchar_t *)sink->to)[at] = 0;
    else if (sink->to)
        ((char *)sink->to)[at] = 0;
}

struct scan {
    struct source in;
    bool wide, secure;
    va_list arguments;
    int stored;
};

enum result { SCANNED, NO_MATCH, NO_INPUT };

static enum result text_scan(
    struct scan *scan, const struct crt_directive *d, const struct set *set)
{
    bool is_char = d->conversion == 'c' || d->conversion == 'C';
    bool is_set = d->conversion == '[', store = d->flags[0] != '*';
    size_t limit = d->width > 0 ? (size_t)d->width : is_char ? 1 : SIZE_MAX, count = 0;
    struct sink sink = { .wide = crt_directive_is_wide(d, scan->wide), .room = SIZE_MAX };

    if (store) {
        sink.to = va_arg(scan->arguments, void *);
        if (scan->secure)
            sink.room = va_arg(scan->arguments, unsigned);
        if (!is_char && sink.room != SIZE_MAX && !sink.room)
            return NO_MATCH;
        sink.room -= !is_char; /* keeps room for the end */
    }
    if (!is_char && !is_set)
        skip_blanks(&scan->in);
    if (scan->in.next == EOF)
        return NO_INPUT;
    for (; count < limit && scan->in.next != EOF; count++, source_take(&scan->in)) {
        int c = scan->in.next;

        if (is_set ? !set_has(set, (uint32_t)c) : !is_char && c < 0x80 && isspace(c))
            break;
        if (!sink_put(&sink, scan->wide && !scan->in.stream, c)) {
            sink_end(&sink, 0);
            errno = ERANGE;
            return NO_MATCH;
        }
    }
    if (is_char)
        return count == limit ? SCANNED : NO_INPUT;
    if (!count)
        return NO_MATCH;
    sink_end(&sink, sink.used);
    return SCANNED;
}

static enum result number_scan(struct scan *scan, const struct crt_directive *d)
{
    struct number number = { .limit =
                                 d->width > 0 && d->width < NUMBER_MAX ? d->width : NUMBER_MAX };
    int base = 10;
    bool found;

    skip_blanks(&scan->in);
    if (scan->in.next == EOF)
        return NO_INPUT;
    switch (d->conversion) {
    case 'i': base = 0; break;
    case 'o': base = 8; break;
    case 'x':
    case 'X':
    case 'p': base = 16; break;
    default: break;
    }
    if (strchr("diuoxXp", d->conversion)) {
        if (!integer_take(&scan->in, &number, base))
            return NO_MATCH;
        if (d->flags[0] != '*')
            integer_store(d, va_arg(scan->arguments, void *), strtoull(number.text, NULL, base));
        return SCANNED;
    }
    found = float_take(&scan->in, &number);
    if (found && d->flags[0] != '*')
        float_store(d, va_arg(scan->arguments, void *), number.text);
    return found ? SCANNED : NO_MATCH;
}

static enum result directive_scan(
    struct scan *scan, const struct crt_directive *d, const struct set *set)
{
    enum result result;

    switch (d->conversion) {
    case 'n':
        integer_store(d, va_arg(scan->arguments, void *), (uint64_t)scan->in.taken);
        return SCANNED;
    case '%':
        skip_blanks(&scan->in);
        if (scan->in.next != '%')
            return scan->in.next == EOF ? NO_INPUT : NO_MATCH;
        source_take(&scan->in);
        return SCANNED;
    case 's':
    case 'S':
    case 'c':
    case 'C':
    case '[': result = text_scan(scan, d, set); break;
    default: result = number_scan(scan, d);
    }
    if (result == SCANNED && d->flags[0] != '*')
        scan->stored++;
    return result;
}

static enum result format_scan(struct scan *scan, const char *format)
{
    enum result result = SCANNED;

    while (*format && result == SCANNED) {
        const unsigned char *plain = (const unsigned char *)format;
        struct crt_directive d;
        struct set set = { 0 };

        if (isspace(*plain)) {
            skip_blanks(&scan->in);
            format++;
        } else if (*format != '%') {
            int c = scan->wide && !scan->in.stream ? (int)utf8_next(&plain, 4) : *plain++;

            result = scan->in.next == c ? SCANNED : scan->in.next == EOF ? NO_INPUT : NO_MATCH;
            if (result == SCANNED)
                source_take(&scan->in);
            format = (const char *)plain;
        } else {
            format = crt_directive_read(format + 1, true, &d);
            if (format && d.conversion == '[')
                format = set_read(format, &set);
            if (!format) {
                errno = EINVAL;
                return NO_MATCH;
            }
            result = directive_scan(scan, &d, &set);
        }
    }
    return result;
}

/* Runs a scan. Returns the number of fields stored; EOF where the input ends before the first one. */
static int scan_run(struct scan *scan, const char *format)
{
    enum result result;

    if (!format || (!scan->in.stream && !scan->in.narrow && !scan->in.wide)) {
        errno = EINVAL;
        return EOF;
    }
    if (scan->in.stream)
        flockfile(scan->in.stream);
    source_step(&scan->in);
    result = format_scan(scan, format);
    if (scan->in.stream) {
        if (scan->in.next != EOF)
            ungetc(scan->in.next, scan->in.stream);
        funlockfile(scan->in.stream);
    }
    return result == NO_INPUT && !scan->stored ? EOF : scan->stored;
}

static int scan_run_wide(struct scan *scan, const wchar_t *format)
{
    char *narrow = format ? CRT(crt_narrow)(format) : NULL;
    int stored;

    if (format && !narrow)
        return EOF;
    scan->wide = true;
    stored = scan_run(scan, narrow);
    free(narrow);
    return stored;
}

/*
 * scanf, fscanf, sscanf, swscanf and their _s forms - scan a stream or text.
 * Returns the number of fields stored; EOF where the input ended before the first, or with errno EINVAL for no text or
 * no format. A directive that does not exist ends the scan with EINVAL. A text that does not fit its _s buffer ends it
 * with ERANGE, and the buffer is empty.
 */
#define SCAN(name, parameters, run, is_secure, ...)                                                \
    int name parameters                                                                            \
    {                                                                                              \
        struct scan scan = { .secure = is_secure, .in = { __VA_ARGS__ } };                         \
        int stored;                                                                                \
        va_start(scan.arguments, format);                                                          \
        stored = run(&scan, format);                                                               \
        va_end(scan.arguments);                                                                    \
        return stored;                                                                             \
    }
SCAN(wincrt_scanf, (const char *format, ...), scan_run, false, .stream = stdin)
SCAN(scanf_s, (const char *format, ...), scan_run, true, .stream = stdin)
SCAN(wincrt_fscanf, (FILE * stream, const char *format, ...), scan_run, false, .stream = stream)
SCAN(fscanf_s, (FILE * stream, const char *format, ...), scan_run, true, .stream = stream)
SCAN(wincrt_sscanf, (const char *text, const char *format, ...), scan_run, false,
    .narrow = (const unsigned char *)text)
SCAN(sscanf_s, (const char *text, const char *format, ...), scan_run, true,
    .narrow = (const unsigned char *)text)
SCAN(wincrt_swscanf, (const WCHAR *text, const WCHAR *format, ...), scan_run_wide, false,
    .wide = text)
SCAN(swscanf_s, (const WCHAR *text, const WCHAR *format, ...), scan_run_wide, true, .wide = text)
