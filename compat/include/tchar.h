/* SPDX-License-Identifier: MIT */
/* tchar.h - the _t names, which are the wide ones where UNICODE or _UNICODE is defined. */
#ifndef WINCOMPAT_TCHAR_H
#define WINCOMPAT_TCHAR_H

#include <wincompat/stdio.h>
#include <wincompat/string.h>

typedef TCHAR _TCHAR;

#define _T(x)    __TEXT(x)
#define _TEXT(x) __TEXT(x)

#if __SIZEOF_WCHAR_T__ == 2
#define wmain wmain16 /* chooses the archive's main for arguments of this width */
#endif

#include <ctype.h>
#include <wctype.h>

/*
 * Strings and numbers. The wide forms are the C library's, which know wchar_t with 32 bits only: programs built with
 * -fshort-wchar do not have them. _ttol and the like return a LONG.
 */
#if defined(UNICODE) || defined(_UNICODE)
#define _tmain wmain
#if __SIZEOF_WCHAR_T__ == 4
#define _tcscpy    wcscpy
#define _tcscat    wcscat
#define _tcsncpy   wcsncpy
#define _tcsncat   wcsncat
#define _tcsspn    wcsspn
#define _tcscspn   wcscspn
#define _tcspbrk   wcspbrk
#define _tcstod    wcstod
#define _istdigit  iswdigit
#define _istspace  iswspace
#define _istalpha  iswalpha
#define _istalnum  iswalnum
#define _istxdigit iswxdigit
#define _totlower  towlower
#define _totupper  towupper
#define _tcslen    wcslen
#define _tcscmp    wcscmp
#define _tcsncmp   wcsncmp
#define _tcschr    wcschr
#define _tcsrchr   wcsrchr
#define _tcsstr    wcsstr
#define _tcsicmp   _wcsicmp
#define _tcsnicmp  _wcsnicmp
#define _ttoi      _wtoi
#define _ttol      _wtol
#define _ttoi64    _wtoi64
#define _tstoi     _wtoi
#define _tstol     _wtol
#define _tstoi64   _wtoi64
#define _tcstol    wincompat_wcstol
#define _tcstoul   wincompat_wcstoul
static inline LONG wincompat_wcstol(const WCHAR *text, WCHAR **end, int base)
{
    return (LONG)wcstol(text, end, base);
}
static inline ULONG wincompat_wcstoul(const WCHAR *text, WCHAR **end, int base)
{
    return (ULONG)wcstoul(text, end, base);
}
#endif
#else
#define _tmain     main
#define _tcscpy    strcpy
#define _tcscat    strcat
#define _tcsncpy   strncpy
#define _tcsncat   strncat
#define _tcsspn    strspn
#define _tcscspn   strcspn
#define _tcspbrk   strpbrk
#define _tcstod    strtod
#define _istdigit  isdigit
#define _istspace  isspace
#define _istalpha  isalpha
#define _istalnum  isalnum
#define _istxdigit isxdigit
#define _totlower  tolower
#define _totupper  toupper
#define _tcslen    strlen
#define _tcscmp    strcmp
#define _tcsncmp   strncmp
#define _tcschr    strchr
#define _tcsrchr   strrchr
#define _tcsstr    strstr
#define _tcsicmp   _stricmp
#define _tcsnicmp  _strnicmp
#define _ttoi      atoi
#define _ttol      wincompat_atol
#define _ttoi64    _atoi64
#define _tstoi     atoi
#define _tstol     wincompat_atol
#define _tstoi64   _atoi64
#define _tcstol    wincompat_strtol
#define _tcstoul   wincompat_strtoul
static inline LONG wincompat_atol(const char *text)
{
    return (LONG)strtol(text, NULL, 10);
}
static inline LONG wincompat_strtol(const char *text, char **end, int base)
{
    return (LONG)strtol(text, end, base);
}
static inline ULONG wincompat_strtoul(const char *text, char **end, int base)
{
    return (ULONG)strtoul(text, end, base);
}
#endif

/* Names that exist for both widths. */
#if defined(UNICODE) || defined(_UNICODE)
#define _tprintf      wprintf
#define _ftprintf     fwprintf
#define _vtprintf     vwprintf
#define _vftprintf    vfwprintf
#define _sntprintf    _snwprintf
#define _vsntprintf   _vsnwprintf
#define _sntprintf_s  _snwprintf_s
#define _vsntprintf_s _vsnwprintf_s
#define _stprintf_s   swprintf_s
#define _vstprintf_s  vswprintf_s
#define _sctprintf    _scwprintf
#define _vsctprintf   _vscwprintf
#define _stscanf      swscanf
#define _stscanf_s    swscanf_s
#define _fputts       fputws
#define _fputtc       fputwc
#define _fgetts       fgetws
#define _fgettc       fgetwc
#define _putts        _putws
#define _puttchar     putwchar
#define _tfopen       _wfopen
#define _tfopen_s     _wfopen_s
#define _tfreopen     _wfreopen
#define _tcscpy_s     wcscpy_s
#define _tcscat_s     wcscat_s
#define _tcsncpy_s    wcsncpy_s
#define _tcsncat_s    wcsncat_s
#define _tcstok_s     wcstok_s
#define _tcsdup       _wcsdup
#else
#define _tprintf      printf
#define _ftprintf     fprintf
#define _vtprintf     vprintf
#define _vftprintf    vfprintf
#define _sntprintf    _snprintf
#define _vsntprintf   _vsnprintf
#define _sntprintf_s  _snprintf_s
#define _vsntprintf_s _vsnprintf_s
#define _stprintf_s   sprintf_s
#define _vstprintf_s  vsprintf_s
#define _sctprintf    _scprintf
#define _vsctprintf   _vscprintf
#define _stscanf      sscanf
#define _stscanf_s    sscanf_s
#define _fputts       fputs
#define _fputtc       fputc
#define _fgetts       fgets
#define _fgettc       fgetc
#define _putts        puts
#define _puttchar     putchar
#define _tfopen       fopen
#define _tfopen_s     fopen_s
#define _tfreopen     freopen
#define _tcscpy_s     strcpy_s
#define _tcscat_s     strcat_s
#define _tcsncpy_s    strncpy_s
#define _tcsncat_s    strncat_s
#define _tcstok_s     strtok_s
#define _tcsdup       _strdup
#endif

#endif
