/* SPDX-License-Identifier: MIT */
/*
 * crt.h - what the files of the C runtime part share. A file with wide text is compiled for each width of wchar_t
 * (nd_wide_sources); symbols for 16 bits end in 16.
 */
#ifndef CRT_CRT_H
#define CRT_CRT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>

#if __SIZEOF_WCHAR_T__ == 2
#define CRT(name) name##16
#else
#define CRT(name) name
#endif

/* One conversion of a printf or scanf format, with Windows' sizes: long has 32 bits. */
struct crt_directive {
    char flags[8]; /* printf: its flags, of "-+ #0"; scanf: "*" */
    int width;     /* -1: none */
    int precision; /* -1: none; printf only */
    bool width_star, precision_star;
    char size; /* 0, 'h', 'H' (hh), 'l', 'w' (wide text), '8' (64 bits), 'L' (long double) */
    char conversion;
};

/*
 * Reads the directive behind a '%'. Returns the text behind it; NULL if there is no such directive. scan: scanf's, with
 * the flag '*' and the conversion '[' (the caller reads its set).
 */
const char *crt_directive_read(const char *format, bool scan, struct crt_directive *directive);

/* Whether the text of a c, s, C, S or [ directive is wide, in a function that is wide or not. */
bool crt_directive_is_wide(const struct crt_directive *directive, bool wide_function);

/* The destination of formatted text: a stream, as UTF-8, or a buffer of narrow or wide characters. */
struct crt_out {
    bool wide; /* counts wide characters, %s is wide */
    FILE *stream;
    char *narrow;  /* a narrow buffer, or */
    wchar_t *text; /* a wide one */
    size_t room;   /* the buffer's size in characters; all of it is for text */
    size_t units;  /* number of characters so far, with those that had no room */
    bool failed;   /* a write to the stream failed */
    char held[512];
    size_t held_bytes;
};

/*
 * Formats into out. Returns the number of characters (out->wide: wide ones); -1 with errno EINVAL (no such directive,
 * %n), ENOMEM, EOVERFLOW, or the error of the stream.
 */
int CRT(crt_format)(struct crt_out *out, const char *format, va_list arguments);
int CRT(crt_format_wide)(struct crt_out *out, const wchar_t *format, va_list arguments);

/* Returns wide text as UTF-8, in memory that the caller frees; NULL with errno ENOMEM. */
char *CRT(crt_narrow)(const wchar_t *text);

#endif
