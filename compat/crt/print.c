/* SPDX-License-Identifier: MIT */
/* print.c - the printf functions, narrow and wide, over crt_format. */
#include "compat/crt/crt.h"

#include <conio.h>
#include <wincompat/stdio.h>

#include <errno.h>

/* What a function does if the buffer is too small, or has no room for the terminating 0. */
enum rule {
    RULE_ENDED, /* cuts the text, ends it, returns the length of the whole text (snprintf) */
    RULE_FITS,  /* cuts the text, ends it, returns -1 (swprintf) */
    RULE_RAW, /* cuts the text, returns -1; writes no end, nor where the text just fits (_snprintf) */
    RULE_SECURE, /* empties the buffer, returns -1 with ERANGE (sprintf_s) */
};

static void put_end(struct crt_out *out, size_t at)
{
    if (out->wide)
        out->text[at] = 0;
    else
        out->narrow[at] = 0;
}

static int run(struct crt_out *out, const void *format, va_list arguments)
{
    if (!format) {
        errno = EINVAL;
        return -1;
    }
    return out->wide ? CRT(crt_format_wide)(out, format, arguments)
                     : CRT(crt_format)(out, format, arguments);
}

/* Formats into a buffer of room characters. A NULL buffer only counts, where the rule allows it. */
static int to_buffer(struct crt_out out, enum rule rule, const void *format, va_list arguments)
{
    bool there = out.narrow || out.text;
    int length = run(&out, format, arguments);

    if (!there || !out.room)
        return rule == RULE_ENDED || (!there && rule == RULE_RAW) || length < 0 ? length
               : rule == RULE_RAW && !length                                    ? 0
                                                                                : -1;
    if (length >= 0 && (size_t)length < out.room) {
        put_end(&out, (size_t)length);
        return length;
    }
    if (rule == RULE_RAW)
        return (size_t)length == out.room ? length : -1;
    put_end(&out, length < 0 || rule == RULE_SECURE ? 0 : out.room - 1);
    if (length < 0 || rule == RULE_ENDED)
        return length;
    if (rule == RULE_SECURE)
        errno = ERANGE;
    return -1;
}

/* Formats for the _s functions, whose buffer must have room: at most count characters (_TRUNCATE: as many as fit). */
static int to_secure(struct crt_out out, size_t count, const void *format, va_list arguments)
{
    bool there = (out.narrow || out.text) && out.room;

    if (!there || !format) {
        if (there)
            put_end(&out, 0);
        errno = EINVAL;
        return -1;
    }
    if (count < out.room)
        out.room = count + 1;
    else if (count != _TRUNCATE)
        return to_buffer(out, RULE_SECURE, format, arguments);
    return to_buffer(out, RULE_FITS, format, arguments);
}

static int to_stream(FILE *stream, bool wide, const void *format, va_list arguments)
{
    struct crt_out out = { .stream = stream, .wide = wide };

    if (!stream) {
        errno = EINVAL;
        return -1;
    }
    return run(&out, format, arguments);
}

#define NARROW(text_, room_)                                                                       \
    (struct crt_out)                                                                               \
    {                                                                                              \
        .narrow = (text_), .room = (room_)                                                         \
    }
#define WIDE(text_, room_)                                                                         \
    (struct crt_out)                                                                               \
    {                                                                                              \
        .wide = true, .text = (text_), .room = (room_)                                             \
    }

/* Defines the variadic form of a function that takes a va_list. */
#define DOTS(name, parameters, ...)                                                                \
    int name parameters                                                                            \
    {                                                                                              \
        va_list arguments;                                                                         \
        int length;                                                                                \
        va_start(arguments, format);                                                               \
        length = v##name##_(__VA_ARGS__, arguments);                                               \
        va_end(arguments);                                                                         \
        return length;                                                                             \
    }

/*
 * printf, fprintf, vprintf, vfprintf, and wprintf, fwprintf, vwprintf, vfwprintf - format to a stream.
 * Returns the number of characters written (wide ones in the wide functions); negative with errno EINVAL (no format, no
 * stream, a directive that does not exist), or the error of the stream. Texts of several threads do not mix.
 */
int wincrt_vfprintf(FILE *stream, const char *format, va_list arguments)
{
    return to_stream(stream, false, format, arguments);
}

int wincrt_vprintf(const char *format, va_list arguments)
{
    return to_stream(stdout, false, format, arguments);
}

int wincrt_vfwprintf(FILE *stream, const WCHAR *format, va_list arguments)
{
    return to_stream(stream, true, format, arguments);
}

int wincrt_vwprintf(const WCHAR *format, va_list arguments)
{
    return to_stream(stdout, true, format, arguments);
}

#define vwincrt_printf_(format, arguments)           to_stream(stdout, false, format, arguments)
#define vwincrt_fprintf_(stream, format, arguments)  to_stream(stream, false, format, arguments)
#define vwincrt_wprintf_(format, arguments)          to_stream(stdout, true, format, arguments)
#define vwincrt_fwprintf_(stream, format, arguments) to_stream(stream, true, format, arguments)
DOTS(wincrt_printf, (const char *format, ...), format)
DOTS(wincrt_fprintf, (FILE * stream, const char *format, ...), stream, format)
DOTS(wincrt_wprintf, (const WCHAR *format, ...), format)
DOTS(wincrt_fwprintf, (FILE * stream, const WCHAR *format, ...), stream, format)

/*
 * sprintf, snprintf and their v forms - format to a buffer, and always end the text.
 * Returns the length of the text, also where the buffer is too small for it.
 */
int wincrt_vsprintf(char *text, const char *format, va_list arguments)
{
    return to_buffer(NARROW(text, SIZE_MAX), RULE_ENDED, format, arguments);
}

int wincrt_vsnprintf(char *text, size_t room, const char *format, va_list arguments)
{
    return to_buffer(NARROW(text, room), RULE_ENDED, format, arguments);
}

#define vwincrt_sprintf_  wincrt_vsprintf
#define vwincrt_snprintf_ wincrt_vsnprintf
DOTS(wincrt_sprintf, (char *text, const char *format, ...), text, format)
DOTS(wincrt_snprintf, (char *text, size_t room, const char *format, ...), text, room, format)

/* swprintf, vswprintf - snprintf for wide text, but return -1 when the text does not fit (it is cut and ended). */
int wincrt_vswprintf(WCHAR *text, size_t room, const WCHAR *format, va_list arguments)
{
    return to_buffer(WIDE(text, room), RULE_FITS, format, arguments);
}

#define vwincrt_swprintf_ wincrt_vswprintf
DOTS(wincrt_swprintf, (WCHAR * text, size_t room, const WCHAR *format, ...), text, room, format)

/*
 * _snprintf, _snwprintf and their v forms - format at most count characters, without an end where the text has that
 * many or more. Returns the length, or -1 where the text is longer. With NULL for text: the length that it would have.
 */
int _vsnprintf(char *text, size_t count, const char *format, va_list arguments)
{
    return to_buffer(NARROW(text, count), RULE_RAW, format, arguments);
}

int _vsnwprintf(WCHAR *text, size_t count, const WCHAR *format, va_list arguments)
{
    return to_buffer(WIDE(text, count), RULE_RAW, format, arguments);
}

#define v_snprintf_  _vsnprintf
#define v_snwprintf_ _vsnwprintf
DOTS(_snprintf, (char *text, size_t count, const char *format, ...), text, count, format)
DOTS(_snwprintf, (WCHAR * text, size_t count, const WCHAR *format, ...), text, count, format)

/*
 * wsprintfA, wsprintfW - user32.dll's functions: format to a buffer of 1024 characters, and always end the text.
 * Returns  the length, or 1024 where the text was cut, as Wine does.
 */
#define USER_ROOM 1024
static int user_length(int length)
{
    return length < USER_ROOM ? length : USER_ROOM;
}

#define vwsprintfA_(text, format, arguments)                                                       \
    user_length(to_buffer(NARROW(text, USER_ROOM), RULE_ENDED, format, arguments))
#define vwsprintfW_(text, format, arguments)                                                       \
    user_length(to_buffer(WIDE(text, USER_ROOM), RULE_ENDED, format, arguments))
DOTS(wsprintfA, (char *text, const char *format, ...), text, format)
DOTS(wsprintfW, (WCHAR * text, const WCHAR *format, ...), text, format)

/*
 * sprintf_s, swprintf_s, _snprintf_s, _snwprintf_s and their v forms - format to a buffer of room characters, and
 * always end the text.
 * count    the most characters; _TRUNCATE: as many as fit
 * Returns  the length; -1 where the text was cut to count or by _TRUNCATE; -1 with errno ERANGE and an empty buffer
 *          where it did not fit otherwise; -1 with EINVAL for no buffer, no room, no format or no such directive.
 *          Nothing ends the program, as on Windows with an invalid-parameter handler that returns.
 */
int vsprintf_s(char *text, size_t room, const char *format, va_list arguments)
{
    return to_secure(NARROW(text, room), room, format, arguments);
}

int vswprintf_s(WCHAR *text, size_t room, const WCHAR *format, va_list arguments)
{
    return to_secure(WIDE(text, room), room, format, arguments);
}

int _vsnprintf_s(char *text, size_t room, size_t count, const char *format, va_list arguments)
{
    return to_secure(NARROW(text, room), count, format, arguments);
}

int _vsnwprintf_s(WCHAR *text, size_t room, size_t count, const WCHAR *format, va_list arguments)
{
    return to_secure(WIDE(text, room), count, format, arguments);
}

#define vsprintf_s_    vsprintf_s
#define vswprintf_s_   vswprintf_s
#define v_snprintf_s_  _vsnprintf_s
#define v_snwprintf_s_ _vsnwprintf_s
DOTS(sprintf_s, (char *text, size_t room, const char *format, ...), text, room, format)
DOTS(swprintf_s, (WCHAR * text, size_t room, const WCHAR *format, ...), text, room, format)
DOTS(_snprintf_s, (char *text, size_t room, size_t count, const char *format, ...), text, room,
    count, format)
DOTS(_snwprintf_s, (WCHAR * text, size_t room, size_t count, const WCHAR *format, ...), text, room,
    count, format)

/* _scprintf, _scwprintf and their v forms - return the length that the text would have; -1 with EINVAL. */
int _vscprintf(const char *format, va_list arguments)
{
    return to_buffer(NARROW(NULL, 0), RULE_ENDED, format, arguments);
}

int _vscwprintf(const WCHAR *format, va_list arguments)
{
    return to_buffer(WIDE(NULL, 0), RULE_ENDED, format, arguments);
}

#define v_scprintf_  _vscprintf
#define v_scwprintf_ _vscwprintf
DOTS(_scprintf, (const char *format, ...), format)
DOTS(_scwprintf, (const WCHAR *format, ...), format)

/* _cprintf - writes formatted text to the terminal. Returns its length; -1: no such directive, terminal or memory. */
int _cprintf(const char *format, ...)
{
    struct crt_out count = { .room = 0 }, out;
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = run(&count, format, arguments);
    va_end(arguments);
    if (length < 0 || !(out.narrow = malloc((size_t)length + 1)))
        return -1;
    out = (struct crt_out){ .narrow = out.narrow, .room = (size_t)length };
    va_start(arguments, format);
    run(&out, format, arguments);
    va_end(arguments);
    out.narrow[length] = 0;
    if (_cputs(out.narrow))
        length = -1;
    free(out.narrow);
    return length;
}
