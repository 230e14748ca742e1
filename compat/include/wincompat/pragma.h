/* SPDX-License-Identifier: MIT */
/*
 * pragma.h - __pragma(x), for each x that ported code uses: those about memory layout and macros count, those for other
 * compilers and checkers do not. Another x is an error, which names it.
 */
#ifndef WINCOMPAT_PRAGMA_H
#define WINCOMPAT_PRAGMA_H

#include <wincompat/types.h>

/* clang has the keyword in its Microsoft modes. */
/* clang-format off */
#if !defined(WINCOMPAT_MICROSOFT_MODE) && !defined(__pragma)
#define __pragma(...)                    WINCOMPAT_PRAGMA_##__VA_ARGS__
#define WINCOMPAT_PRAGMA(...)            _Pragma(#__VA_ARGS__)
#define WINCOMPAT_PRAGMA_pack(...)       WINCOMPAT_PRAGMA(pack(__VA_ARGS__))
#define WINCOMPAT_PRAGMA_message(...)    WINCOMPAT_PRAGMA(message(__VA_ARGS__))
#define WINCOMPAT_PRAGMA_push_macro(name) WINCOMPAT_PRAGMA(push_macro(name))
#define WINCOMPAT_PRAGMA_pop_macro(name) WINCOMPAT_PRAGMA(pop_macro(name))
#define WINCOMPAT_PRAGMA_once            WINCOMPAT_PRAGMA(once)
#define WINCOMPAT_PRAGMA_alloc_text(...)
#define WINCOMPAT_PRAGMA_auto_inline(...)
#define WINCOMPAT_PRAGMA_code_seg(...)
#define WINCOMPAT_PRAGMA_comment(...)
#define WINCOMPAT_PRAGMA_data_seg(...)
#define WINCOMPAT_PRAGMA_detect_mismatch(...)
#define WINCOMPAT_PRAGMA_endregion
#define WINCOMPAT_PRAGMA_function(...)
#define WINCOMPAT_PRAGMA_inline_depth(...)
#define WINCOMPAT_PRAGMA_inline_recursion(...)
#define WINCOMPAT_PRAGMA_intrinsic(...)
#define WINCOMPAT_PRAGMA_loop(...)
#define WINCOMPAT_PRAGMA_optimize(...)
#define WINCOMPAT_PRAGMA_prefast(...)
#define WINCOMPAT_PRAGMA_region
#define WINCOMPAT_PRAGMA_section(...)
#define WINCOMPAT_PRAGMA_setlocale(...)
#define WINCOMPAT_PRAGMA_warning(...)
#endif
/* clang-format on */

#endif
