/* SPDX-License-Identifier: MIT */
/* cmocka_test.h - cmocka with the headers it wants included before it. */
#ifndef TESTS_UNIT_UTIL_CMOCKA_TEST_H
#define TESTS_UNIT_UTIL_CMOCKA_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
