/* SPDX-License-Identifier: MIT */
/*
 * stdio.h - printf, scanf and wide streams with Windows' rules: long is 32 bits, I64 and I are sizes, %s is wide in the
 * wide functions and %S the other kind. Streams carry UTF-8 and take no orientation: wide and narrow output mix freely.
 * What each does and returns: compat/crt/print.c, scan.c, stream.c.
 */
#ifndef WINCOMPAT_STDIO_H
#define WINCOMPAT_STDIO_H

#include <wincompat/crt.h>

WINCOMPAT_BEGIN

/* to streams */
int __cdecl wincrt_printf(const char *format, ...) WINCRT("printf");
int __cdecl wincrt_fprintf(FILE *stream, const char *format, ...) WINCRT("fprintf");
int __cdecl wincrt_vprintf(const char *format, va_list arguments) WINCRT("vprintf");
int __cdecl wincrt_vfprintf(FILE *stream, const char *format, va_list arguments) WINCRT("vfprintf");
int __cdecl wincrt_wprintf(const WCHAR *format, ...) WINCRT("wprintf");
int __cdecl wincrt_fwprintf(FILE *stream, const WCHAR *format, ...) WINCRT("fwprintf");
int __cdecl wincrt_vwprintf(const WCHAR *format, va_list arguments) WINCRT("vwprintf");
int __cdecl wincrt_vfwprintf(FILE *stream, const WCHAR *format, va_list arguments)
    WINCRT("vfwprintf");
int __cdecl wincrt_fputws(const WCHAR *text, FILE *stream) WINCRT("fputws");
wint_t __cdecl wincrt_fputwc(WCHAR c, FILE *stream) WINCRT("fputwc");
int __cdecl _putws(const WCHAR *text) WINCRT("putws");

/* from streams */
WCHAR *__cdecl wincrt_fgetws(WCHAR *text, int room, FILE *stream) WINCRT("fgetws");
wint_t __cdecl wincrt_fgetwc(FILE *stream) WINCRT("fgetwc");

/* to buffers */
int __cdecl wincrt_sprintf(char *text, const char *format, ...) WINCRT("sprintf");
int __cdecl wincrt_vsprintf(char *text, const char *format, va_list arguments) WINCRT("vsprintf");
int __cdecl wincrt_snprintf(char *text, size_t room, const char *format, ...) WINCRT("snprintf");
int __cdecl wincrt_vsnprintf(char *text, size_t room, const char *format, va_list arguments)
    WINCRT("vsnprintf");
int __cdecl wincrt_swprintf(WCHAR *text, size_t room, const WCHAR *format, ...) WINCRT("swprintf");
int __cdecl wincrt_vswprintf(WCHAR *text, size_t room, const WCHAR *format, va_list arguments)
    WINCRT("vswprintf");
int __cdecl _snprintf(char *text, size_t count, const char *format, ...) WINCRT("_snprintf");
int __cdecl _vsnprintf(char *text, size_t count, const char *format, va_list arguments)
    WINCRT("_vsnprintf");
int __cdecl _snwprintf(WCHAR *text, size_t count, const WCHAR *format, ...) WINCRT("_snwprintf");
int __cdecl _vsnwprintf(WCHAR *text, size_t count, const WCHAR *format, va_list arguments)
    WINCRT("_vsnwprintf");
int __cdecl sprintf_s(char *text, size_t room, const char *format, ...) WINCRT("sprintf_s");
int __cdecl vsprintf_s(char *text, size_t room, const char *format, va_list arguments)
    WINCRT("vsprintf_s");
int __cdecl swprintf_s(WCHAR *text, size_t room, const WCHAR *format, ...) WINCRT("swprintf_s");
int __cdecl vswprintf_s(WCHAR *text, size_t room, const WCHAR *format, va_list arguments)
    WINCRT("vswprintf_s");
int __cdecl _snprintf_s(char *text, size_t room, size_t count, const char *format, ...)
    WINCRT("_snprintf_s");
int __cdecl _vsnprintf_s(char *text, size_t room, size_t count, const char *format,
    va_list arguments) WINCRT("_vsnprintf_s");
int __cdecl _snwprintf_s(WCHAR *text, size_t room, size_t count, const WCHAR *format, ...)
    WINCRT("_snwprintf_s");
int __cdecl _vsnwprintf_s(WCHAR *text, size_t room, size_t count, const WCHAR *format,
    va_list arguments) WINCRT("_vsnwprintf_s");
int __cdecl printf_s(const char *format, ...) WINCRT("printf");
int __cdecl fprintf_s(FILE *stream, const char *format, ...) WINCRT("fprintf");
int __cdecl vprintf_s(const char *format, va_list arguments) WINCRT("vprintf");
int __cdecl vfprintf_s(FILE *stream, const char *format, va_list arguments) WINCRT("vfprintf");
int __cdecl wprintf_s(const WCHAR *format, ...) WINCRT("wprintf");
int __cdecl fwprintf_s(FILE *stream, const WCHAR *format, ...) WINCRT("fwprintf");
int WINAPIV wsprintfA(LPSTR text, LPCSTR format, ...) WINCRT("wsprintfA");
int WINAPIV wsprintfW(LPWSTR text, LPCWSTR format, ...) WINCRT("wsprintfW");
int __cdecl _scprintf(const char *format, ...) WINCRT("_scprintf");
int __cdecl _vscprintf(const char *format, va_list arguments) WINCRT("_vscprintf");
int __cdecl _scwprintf(const WCHAR *format, ...) WINCRT("_scwprintf");
int __cdecl _vscwprintf(const WCHAR *format, va_list arguments) WINCRT("_vscwprintf");

/* scanf; behind each s, S, c, C and [ the _s forms take the buffer's size, an unsigned, in characters */
int __cdecl wincrt_scanf(const char *format, ...) WINCRT("scanf");
int __cdecl wincrt_fscanf(FILE *stream, const char *format, ...) WINCRT("fscanf");
int __cdecl wincrt_sscanf(const char *text, const char *format, ...) WINCRT("sscanf");
int __cdecl wincrt_swscanf(const WCHAR *text, const WCHAR *format, ...) WINCRT("swscanf");
int __cdecl scanf_s(const char *format, ...) WINCRT("scanf_s");
int __cdecl fscanf_s(FILE *stream, const char *format, ...) WINCRT("fscanf_s");
int __cdecl sscanf_s(const char *text, const char *format, ...) WINCRT("sscanf_s");
int __cdecl swscanf_s(const WCHAR *text, const WCHAR *format, ...) WINCRT("swscanf_s");

/* files; names are UTF-8 */
errno_t __cdecl fopen_s(FILE **stream, const char *name, const char *mode) WINCRT("fopen_s");
FILE *__cdecl _wfopen(const WCHAR *name, const WCHAR *mode) WINCRT("_wfopen");
errno_t __cdecl _wfopen_s(FILE **stream, const WCHAR *name, const WCHAR *mode) WINCRT("_wfopen_s");
FILE *__cdecl _wfreopen(const WCHAR *name, const WCHAR *mode, FILE *stream) WINCRT("_wfreopen");
errno_t __cdecl freopen_s(FILE **result, const char *name, const char *mode, FILE *stream)
    WINCRT("freopen_s");
int __cdecl _fcloseall(void) WINCRT("_fcloseall");

WINCOMPAT_END

#define wsprintf WINCOMPAT_AW(wsprintf)
#define _fileno  fileno

#ifdef __cplusplus
extern "C++" {
/* The buffer's size may be left out where the compiler knows it. */
template <size_t N, class... A> int sprintf_s(char (&text)[N], const char *format, A... a)
{
    return sprintf_s(text, N, format, a...);
}
template <size_t N, class... A> int swprintf_s(WCHAR (&text)[N], const WCHAR *format, A... a)
{
    return swprintf_s(text, N, format, a...);
}
template <size_t N> int vsprintf_s(char (&text)[N], const char *format, va_list arguments)
{
    return vsprintf_s(text, N, format, arguments);
}
template <size_t N> int vswprintf_s(WCHAR (&text)[N], const WCHAR *format, va_list arguments)
{
    return vswprintf_s(text, N, format, arguments);
}
template <size_t N, class... A>
int _snprintf_s(char (&text)[N], size_t count, const char *format, A... a)
{
    return _snprintf_s(text, N, count, format, a...);
}
template <size_t N, class... A>
int _snwprintf_s(WCHAR (&text)[N], size_t count, const WCHAR *format, A... a)
{
    return _snwprintf_s(text, N, count, format, a...);
}
template <size_t N>
int _vsnprintf_s(char (&text)[N], size_t count, const char *format, va_list arguments)
{
    return _vsnprintf_s(text, N, count, format, arguments);
}
template <size_t N>
int _vsnwprintf_s(WCHAR (&text)[N], size_t count, const WCHAR *format, va_list arguments)
{
    return _vsnwprintf_s(text, N, count, format, arguments);
}
#ifndef NDSPI_NO_CRT
namespace std /* std::printf names the same function as printf */
{
using ::wincrt_fgetwc;
using ::wincrt_fgetws;
using ::wincrt_fprintf;
using ::wincrt_fputwc;
using ::wincrt_fputws;
using ::wincrt_fscanf;
using ::wincrt_fwprintf;
using ::wincrt_printf;
using ::wincrt_scanf;
using ::wincrt_snprintf;
using ::wincrt_sprintf;
using ::wincrt_sscanf;
using ::wincrt_swprintf;
using ::wincrt_swscanf;
using ::wincrt_vfprintf;
using ::wincrt_vfwprintf;
using ::wincrt_vprintf;
using ::wincrt_vsnprintf;
using ::wincrt_vsprintf;
using ::wincrt_vswprintf;
using ::wincrt_vwprintf;
using ::wincrt_wprintf;
}
#endif
}
#endif

#ifndef NDSPI_NO_CRT
#undef printf
#undef fprintf
#undef vprintf
#undef vfprintf
#undef sprintf
#undef vsprintf
#undef snprintf
#undef vsnprintf
#undef fputwc
#undef putwc
#undef putwchar
#undef fgetwc
#undef getwc
#undef getwchar
#define printf(...)    wincrt_printf(__VA_ARGS__)
#define fprintf(...)   wincrt_fprintf(__VA_ARGS__)
#define vprintf(...)   wincrt_vprintf(__VA_ARGS__)
#define vfprintf(...)  wincrt_vfprintf(__VA_ARGS__)
#define wprintf(...)   wincrt_wprintf(__VA_ARGS__)
#define fwprintf(...)  wincrt_fwprintf(__VA_ARGS__)
#define vwprintf(...)  wincrt_vwprintf(__VA_ARGS__)
#define vfwprintf(...) wincrt_vfwprintf(__VA_ARGS__)
#define sprintf(...)   wincrt_sprintf(__VA_ARGS__)
#define vsprintf(...)  wincrt_vsprintf(__VA_ARGS__)
#define snprintf(...)  wincrt_snprintf(__VA_ARGS__)
#define vsnprintf(...) wincrt_vsnprintf(__VA_ARGS__)
#define swprintf(...)  wincrt_swprintf(__VA_ARGS__)
#define vswprintf(...) wincrt_vswprintf(__VA_ARGS__)
#define fputws(...)    wincrt_fputws(__VA_ARGS__)
#define fputwc(...)    wincrt_fputwc(__VA_ARGS__)
#define putwc(...)     wincrt_fputwc(__VA_ARGS__)
#define putwchar(c)    wincrt_fputwc(c, stdout)
#define fgetws(...)    wincrt_fgetws(__VA_ARGS__)
#define fgetwc(...)    wincrt_fgetwc(__VA_ARGS__)
#define getwc(...)     wincrt_fgetwc(__VA_ARGS__)
#define getwchar()     wincrt_fgetwc(stdin)
#define scanf(...)     wincrt_scanf(__VA_ARGS__)
#define fscanf(...)    wincrt_fscanf(__VA_ARGS__)
#define sscanf(...)    wincrt_sscanf(__VA_ARGS__)
#define swscanf(...)   wincrt_swscanf(__VA_ARGS__)

#include <wincompat/inttypes.h>
#endif

#endif
