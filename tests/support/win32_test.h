/* SPDX-License-Identifier: MIT */
/*
 * win32_test.h - for tests of Win32 functions. Most are built natively and as Windows programs: what Wine does with the
 * latter is the reference for the former. They call only Windows' functions and threads.
 */
#ifndef TESTS_SUPPORT_WIN32_TEST_H
#define TESTS_SUPPORT_WIN32_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <winsock2.h>
#include <windows.h>
#include <ws2tcpip.h>

#include <cmocka.h>

#include <errno.h>

#include "tests/support/spec_codes.h"

/*
 * The expected value where this library and Wine (with msvcrt.dll, the C runtime MinGW links) differ, and the reason.
 * A test that does not run under Wine stands in #ifndef _WIN32 with the reason behind it. docs/windows-names.md lists
 * both kinds (compat/names.sh update).
 */
#ifdef _WIN32
#define DIFFERS(here, wine, why)           (wine)
/* The same of Wines before 10. */
#define DIFFERS_BEFORE_10(here, wine, why) (wine_major() < 10 ? (wine) : (here))

/* 8 of "8.0", for what Wines differ in among themselves; 0 on Windows. */
static inline int wine_major(void)
{
    union {
        FARPROC found;
        const char *(*call)(void);
    } version = { GetProcAddress(GetModuleHandleA("ntdll.dll"), "wine_get_version") };

    return version.found ? atoi(version.call()) : 0;
}
#else
#define DIFFERS(here, wine, why)           (here)
#define DIFFERS_BEFORE_10(here, wine, why) (here)
#endif

/*
 * Longer than a test may take: a wait that times out may find its object signalled all the same, so with a shorter time
 * a lost wake-up would pass for a slow one.
 */
enum { LONG_MS = 1800000 };

/*
 * A name of an object or file that no other run of the test has, so that it may run beside itself. Valid until the
 * eighth call after it.
 */
static inline char *own_name(const char *text)
{
    static char names[8][160];
    static unsigned next;
    char *name = names[next++ % 8];

    snprintf(name, sizeof(names[0]), "%s-%u", text, (unsigned)GetCurrentProcessId());
    return name;
}

/* The same in wide characters, of a name in ASCII. */
static inline WCHAR *own_wide(const char *name)
{
    static WCHAR names[8][160];
    static unsigned next;
    WCHAR *wide = names[next++ % 8];
    size_t i = 0;

    do
        wide[i] = (WCHAR)(unsigned char)name[i];
    while (name[i++]);
    return wide;
}

#define assert_win_error(expected)  assert_int_equal(GetLastError(), (expected))
#define assert_wait(call, expected) assert_int_equal((call), (expected))

/* The call answers FALSE or NULL, with that last error. */
#define assert_fails(call, error)                                                                  \
    do {                                                                                           \
        SetLastError(0xdead);                                                                      \
        assert_false(call);                                                                        \
        assert_win_error(error);                                                                   \
    } while (0)

#define assert_wide_equal(a, b) assert_int_equal(wcscmp((a), (b)), 0)

#endif
