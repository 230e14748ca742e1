/* SPDX-License-Identifier: MIT */
/*
 * win32_test.h - for tests of Win32 functions that are built natively and as Windows programs: what Wine does with the
 * latter is the measure for the former. Everything such a test calls is a Windows function.
 */
#ifndef WIN32_TEST_H
#define WIN32_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <winsock2.h>
#include <windows.h>
#include <ws2tcpip.h>

#include <cmocka.h>

#include <errno.h>

/*
 * The expected value where this library and Wine (with msvcrt.dll, the C runtime MinGW links) differ, and the reason:
 * the list of differences is that of the uses.
 */
#ifdef _WIN32
#define DIFFERS(here, wine, why) (wine)
#else
#define DIFFERS(here, wine, why) (here)
#endif

/* Longer than anything takes that does not hang. */
enum { LONG_MS = 30000 };

/* The call answers FALSE or NULL, with that last error. */
#define assert_fails(call, error)                                                                  \
    do {                                                                                           \
        SetLastError(0xdead);                                                                      \
        assert_false(call);                                                                        \
        assert_int_equal(GetLastError(), (error));                                                 \
    } while (0)

#define assert_wide_equal(a, b) assert_int_equal(wcscmp((a), (b)), 0)

#endif
