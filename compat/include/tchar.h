/* SPDX-License-Identifier: MIT */
/* tchar.h - the _t names, which are the wide ones where UNICODE or _UNICODE is defined. */
#ifndef WINCOMPAT_TCHAR_H
#define WINCOMPAT_TCHAR_H

#include <wincompat/types.h>

#include <stdio.h>
#include <stdlib.h>

typedef TCHAR _TCHAR;

#define _T(x)    __TEXT(x)
#define _TEXT(x) __TEXT(x)

#if __SIZEOF_WCHAR_T__ == 2
#define wmain wmain16 /* tells the archive's main the width of the arguments */
#endif

#if defined(UNICODE) || defined(_UNICODE)
#define _tmain wmain
#else
#define _tmain main
#endif

#endif
