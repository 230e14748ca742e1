/* SPDX-License-Identifier: MIT */
/*
 * directive.c - reads the directives of printf and scanf formats as Windows spells them: I64, I32, I, w, l of 32 bits.
 */
#include "compat/crt/crt.h"

#include <string.h>

static const char *number_read(const char *format, int *number, bool *star)
{
    if (*format == '*') {
        *star = true;
        return format + 1;
    }
    for (*number = 0; *format >= '0' && *format <= '9'; format++) {
        if (*number > 1000000)
            return NULL;
        *number = *number * 10 + (*format - '0');
    }
    return format;
}

static const char *size_read(const char *format, char *size)
{
    static const struct {
        char text[4];
        char size;
    } sizes[] = { { "I64", '8' }, { "I32", 0 }, { "I", '8' }, { "hh", 'H' }, { "h", 'h' },
        { "ll", '8' }, { "l", 'l' }, { "w", 'w' }, { "L", 'L' }, { "z", '8' }, { "t", '8' },
        { "j", '8' } };

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        if (!strncmp(format, sizes[i].text, strlen(sizes[i].text))) {
            *size = sizes[i].size;
            return format + strlen(sizes[i].text);
        }
    }
    return format;
}

const char *crt_directive_read(const char *format, bool scan, struct crt_directive *directive)
{
    size_t flags = 0;

    memset(directive, 0, sizeof(*directive));
    directive->width = directive->precision = -1;
    while (*format && strchr(scan ? "*" : "-+ #0", *format)) {
        if (!strchr(directive->flags, *format))
            directive->flags[flags++] = *format;
        format++;
    }
    if (*format == '*' || (*format >= '1' && *format <= '9'))
        format = number_read(format, &directive->width, &directive->width_star);
    if (format && *format == '.' && !scan)
        format = number_read(format + 1, &directive->precision, &directive->precision_star);
    if (!format)
        return NULL;
    format = size_read(format, &directive->size);
    directive->conversion = *format;
    if (!*format || !strchr(scan ? "diuoxXcCsSpneEfFgGaA[%" : "diuoxXcCsSZpeEfFgGaA%", *format))
        return NULL;
    return format + 1;
}

bool crt_directive_is_wide(const struct crt_directive *directive, bool wide_function)
{
    if (directive->size == 'l' || directive->size == 'w')
        return true;
    if (directive->size == 'h')
        return false;
    /* A capital letter means the other kind of text. */
    return wide_function != (directive->conversion == 'S' || directive->conversion == 'C');
}
