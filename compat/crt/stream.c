/* SPDX-License-Identifier: MIT */
/* stream.c - wide characters on streams that carry UTF-8, files with wide names. */
#include "compat/crt/crt.h"
#include "compat/crt/text.h"

#include <wincompat/stdio.h>

#include <errno.h>
#include <stdlib.h>

static bool wide_write(FILE *stream, const WCHAR *text)
{
    char bytes[4];

    while (*text) {
        unsigned count = utf8_put(bytes, wide_next(&text));

        if (fwrite_unlocked(bytes, 1, count, stream) != count)
            return false;
    }
    return true;
}

/* fputws - writes wide text. Returns 0, or WEOF (-1) with errno. */
int wincrt_fputws(const WCHAR *text, FILE *stream)
{
    bool done;

    flockfile(stream);
    done = wide_write(stream, text);
    funlockfile(stream);
    return done ? 0 : -1;
}

/* _putws - writes wide text and a new line to standard output. Returns 0, or -1 with errno. */
int _putws(const WCHAR *text)
{
    bool done;

    flockfile(stdout);
    done = wide_write(stdout, text) && putc_unlocked('\n', stdout) != EOF;
    funlockfile(stdout);
    return done ? 0 : -1;
}

/* fputwc, putwc, putwchar - write one wide character. Return it, or WEOF with errno. */
wint_t wincrt_fputwc(WCHAR c, FILE *stream)
{
    char bytes[4];
    unsigned count = utf8_put(bytes, (uint32_t)c);

    return fwrite(bytes, 1, count, stream) == count ? (wint_t)c : WEOF;
}

/* Reads a character of UTF-8; EOF at the end. A byte that belongs to no character stands for itself. */
static int64_t char_read(FILE *stream)
{
    unsigned char bytes[4];
    const unsigned char *end = bytes;
    size_t count = 1;
    int c = getc_unlocked(stream);
    uint32_t value;

    if (c == EOF)
        return EOF;
    bytes[0] = (unsigned char)c;
    for (size_t need = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1; count < need; count++) {
        if ((c = getc_unlocked(stream)) == EOF || (c & 0xc0) != 0x80) {
            if (c != EOF)
                ungetc(c, stream);
            break;
        }
        bytes[count] = (unsigned char)c;
    }
    value = utf8_next(&end, count);
    for (size_t i = count; bytes + i > end; i--) /* the bytes are no character: put them back */
        ungetc(bytes[i - 1], stream);
    return value;
}

/*
 * fgetwc, getwc, getwchar - read one wide character, or WEOF. With a wchar_t of 16 bits one of two units becomes '?'.
 */
wint_t wincrt_fgetwc(FILE *stream)
{
    int64_t c;

    flockfile(stream);
    c = char_read(stream);
    funlockfile(stream);
    if (c == EOF)
        return WEOF;
    return sizeof(WCHAR) == 2 && c > 0xffff ? (wint_t)'?' : (wint_t)c;
}

/* fgetws - reads a line, with its end, of at most room - 1 wide characters. NULL: nothing is left, or room is 0. */
WCHAR *wincrt_fgetws(WCHAR *text, int room, FILE *stream)
{
    int at = 0;
    int64_t c = 0;

    if (!text || room <= 0) {
        errno = EINVAL;
        return NULL;
    }
    flockfile(stream);
    while (c != '\n' && at + 3 - (int)(sizeof(WCHAR) / 2) < room && (c = char_read(stream)) != EOF)
        at += (int)wide_put(text + at, sizeof(WCHAR), (uint32_t)c);
    funlockfile(stream);
    text[at] = 0;
    return at || room == 1 ? text : NULL;
}

/*
 * fopen_s - fopen that returns its error: 0; EINVAL (a NULL pointer), or the error of fopen, and then *stream is NULL.
 */
errno_t fopen_s(FILE **stream, const char *name, const char *mode)
{
    if (stream)
        *stream = NULL;
    if (!stream || !name || !mode)
        return errno = EINVAL;
    *stream = fopen(name, mode);
    return *stream ? 0 : errno;
}

static FILE *wide_open(const WCHAR *name, const WCHAR *mode, FILE *again)
{
    char *names[2] = { name ? CRT(crt_narrow)(name) : NULL, mode ? CRT(crt_narrow)(mode) : NULL };
    FILE *stream = NULL;

    if (!name || !mode)
        errno = EINVAL;
    else if (names[0] && names[1])
        stream = again ? freopen(names[0], names[1], again) : fopen(names[0], names[1]);
    free(names[0]);
    free(names[1]);
    return stream;
}

/* _wfopen, _wfopen_s, _wfreopen - fopen, fopen_s, freopen with wide names. */
FILE *_wfopen(const WCHAR *name, const WCHAR *mode)
{
    return wide_open(name, mode, NULL);
}

errno_t _wfopen_s(FILE **stream, const WCHAR *name, const WCHAR *mode)
{
    if (!stream)
        return errno = EINVAL;
    *stream = wide_open(name, mode, NULL);
    return *stream ? 0 : errno;
}

/*
 * freopen_s - freopen that returns its error: 0, EINVAL (a NULL pointer), or the error of freopen; *result is NULL
 * then.
 */
errno_t freopen_s(FILE **result, const char *name, const char *mode, FILE *stream)
{
    if (result)
        *result = NULL;
    if (!result || !name || !mode || !stream)
        return errno = EINVAL;
    *result = freopen(name, mode, stream);
    return *result ? 0 : errno;
}

FILE *_wfreopen(const WCHAR *name, const WCHAR *mode, FILE *stream)
{
    return wide_open(name, mode, stream);
}

/*
 * _fcloseall - flushes every stream. Like libc's fcloseall it leaves them open for other threads and exit handlers, and
 * does not count them. Returns 0, or EOF with errno.
 */
int _fcloseall(void)
{
#ifdef __GLIBC__
    return fcloseall();
#else
    return fflush(NULL); /* unlike glibc's fcloseall it may wait for a thread that reads a stream */
#endif
}
