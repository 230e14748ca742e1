/* SPDX-License-Identifier: MIT */
/* win_test.h - what the tests of winobj share: cmocka, deadlines, threads, a source made of an eventfd. */
#ifndef WIN_TEST_H
#define WIN_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <windows.h>

#include <cmocka.h>

/* Longer than anything takes that does not hang; a wait that lasts so long has failed. */
enum { LONG_MS = 30000 };

#define assert_win_error(expected) assert_int_equal(GetLastError(), (expected))

/* The call fails with the error. */
#define assert_fails(call, error)                                                                  \
    do {                                                                                           \
        SetLastError(0xdead);                                                                      \
        assert_false(call);                                                                        \
        assert_win_error(error);                                                                   \
    } while (0)

#define assert_wait(call, expected) assert_int_equal((call), (expected))

#endif
