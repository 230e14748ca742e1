/* SPDX-License-Identifier: MIT */
/*
 * short_wchar.h - a wchar_t of 16 bits for C with a C library whose headers fix it to int (musl):
 *     -fshort-wchar -include wincompat/short_wchar.h
 * It comes before any other header. With glibc, and in C++, wchar_t is the compiler's without it.
 */
#ifndef WINCOMPAT_SHORT_WCHAR_H
#define WINCOMPAT_SHORT_WCHAR_H

#ifndef __cplusplus
typedef __WCHAR_TYPE__ wchar_t;
#define __DEFINED_wchar_t /* musl's headers leave it alone then */
#endif

#endif
