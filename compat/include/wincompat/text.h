/* SPDX-License-Identifier: MIT */
/*
 * text.h - code pages and the base's strings. Every narrow text is UTF-8: CP_ACP, CP_OEMCP and CP_THREAD_ACP are
 * CP_UTF8.
 */
#ifndef WINCOMPAT_TEXT_H
#define WINCOMPAT_TEXT_H

#include <wincompat/process.h>

WINCOMPAT_BEGIN

/* code pages */

#define CP_ACP               0
#define CP_OEMCP             1
#define CP_THREAD_ACP        3
#define CP_UTF8              65001
#define MB_PRECOMPOSED       0x1
#define MB_ERR_INVALID_CHARS 0x8
#define WC_ERR_INVALID_CHARS 0x80
#define WC_NO_BEST_FIT_CHARS 0x400
WINOBJ_API int WINAPI MultiByteToWideChar(UINT page, DWORD flags, LPCCH text, int bytes,
    LPWSTR wide, int room) WINCOMPAT_WIDE("MultiByteToWideChar");
WINOBJ_API int WINAPI WideCharToMultiByte(UINT page, DWORD flags, LPCWCH wide, int units,
    LPSTR text, int room, LPCCH replacement, LPBOOL replaced) WINCOMPAT_WIDE("WideCharToMultiByte");

/* strings */

WINOBJ_API int WINAPI lstrlenA(LPCSTR text);
WINOBJ_API int WINAPI lstrlenW(LPCWSTR text) WINCOMPAT_WIDE("lstrlenW");
#define lstrlen WINCOMPAT_AW(lstrlen)
WINOBJ_API LPSTR WINAPI lstrcpyA(LPSTR to, LPCSTR from);
WINOBJ_API LPWSTR WINAPI lstrcpyW(LPWSTR to, LPCWSTR from) WINCOMPAT_WIDE("lstrcpyW");
#define lstrcpy WINCOMPAT_AW(lstrcpy)
WINOBJ_API LPSTR WINAPI lstrcpynA(LPSTR to, LPCSTR from, int room);
WINOBJ_API LPWSTR WINAPI lstrcpynW(LPWSTR to, LPCWSTR from, int room) WINCOMPAT_WIDE("lstrcpynW");
#define lstrcpyn WINCOMPAT_AW(lstrcpyn)
WINOBJ_API LPSTR WINAPI lstrcatA(LPSTR to, LPCSTR from);
WINOBJ_API LPWSTR WINAPI lstrcatW(LPWSTR to, LPCWSTR from) WINCOMPAT_WIDE("lstrcatW");
#define lstrcat WINCOMPAT_AW(lstrcat)
WINOBJ_API int WINAPI lstrcmpA(LPCSTR a, LPCSTR b);
WINOBJ_API int WINAPI lstrcmpW(LPCWSTR a, LPCWSTR b) WINCOMPAT_WIDE("lstrcmpW");
#define lstrcmp WINCOMPAT_AW(lstrcmp)
WINOBJ_API int WINAPI lstrcmpiA(LPCSTR a, LPCSTR b);
WINOBJ_API int WINAPI lstrcmpiW(LPCWSTR a, LPCWSTR b) WINCOMPAT_WIDE("lstrcmpiW");
#define lstrcmpi WINCOMPAT_AW(lstrcmpi)

#define LOCALE_INVARIANT      0x007Fu
#define LOCALE_USER_DEFAULT   0x0400u
#define LOCALE_SYSTEM_DEFAULT 0x0800u
#define NORM_IGNORECASE       0x1
#define CSTR_LESS_THAN        1
#define CSTR_EQUAL            2
#define CSTR_GREATER_THAN     3
WINOBJ_API int WINAPI CompareStringA(
    LCID locale, DWORD flags, LPCCH a, int a_count, LPCCH b, int b_count);
WINOBJ_API int WINAPI CompareStringW(LCID locale, DWORD flags, LPCWCH a, int a_count, LPCWCH b,
    int b_count) WINCOMPAT_WIDE("CompareStringW");
#define CompareString WINCOMPAT_AW(CompareString)

WINCOMPAT_END

#endif
