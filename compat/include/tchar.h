/* SPDX-License-Identifier: MIT */
/* tchar.h - the _t names, which are the wide ones where UNICODE or _UNICODE is defined. */
#ifndef WINCOMPAT_TCHAR_H
#define WINCOMPAT_TCHAR_H

#include <wincompat/types.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

typedef TCHAR _TCHAR;

#define _T(x)    __TEXT(x)
#define _TEXT(x) __TEXT(x)

#if __SIZEOF_WCHAR_T__ == 2
#define wmain wmain16 /* tells the archive's main the width of the arguments */
#endif

/*
 * Strings and numbers. The wide forms are the C library's, which know wchar_t with 32 bits only: programs built with
 * -fshort-wchar do not have them. _ttol and its kind give a LONG.
 */
#if defined(UNICODE) || defined(_UNICODE)
#define _tmain wmain
#if __SIZEOF_WCHAR_T__ == 4
#define _tcslen                 wcslen
#define _tcscmp                 wcscmp
#define _tcsncmp                wcsncmp
#define _tcschr                 wcschr
#define _tcsrchr                wcsrchr
#define _tcsstr                 wcsstr
#define _tcsicmp                _wcsicmp
#define _tcsnicmp               _wcsnicmp
#define _tcstol(s, end, base)   ((LONG)wcstol((s), (end), (base)))
#define _tcstoul(s, end, base)  ((ULONG)wcstoul((s), (end), (base)))
#define _ttoi(s)                ((int)wcstol((s), NULL, 10))
#define _ttol(s)                ((LONG)wcstol((s), NULL, 10))
#define _ttoi64(s)              wcstoll((s), NULL, 10)
#endif
#else
#define _tmain main
#define _tcslen                 strlen
#define _tcscmp                 strcmp
#define _tcsncmp                strncmp
#define _tcschr                 strchr
#define _tcsrchr                strrchr
#define _tcsstr                 strstr
#define _tcsicmp                _stricmp
#define _tcsnicmp               _strnicmp
#define _tcstol(s, end, base)   ((LONG)strtol((s), (end), (base)))
#define _tcstoul(s, end, base)  ((ULONG)strtoul((s), (end), (base)))
#define _ttoi(s)                ((int)strtol((s), NULL, 10))
#define _ttol(s)                ((LONG)strtol((s), NULL, 10))
#define _ttoi64(s)              strtoll((s), NULL, 10)
#endif

#define _stricmp  strcasecmp
#define _strnicmp strncasecmp
#if __SIZEOF_WCHAR_T__ == 4
#define _wcsicmp  wcscasecmp
#define _wcsnicmp wcsncasecmp
#endif

#endif
