/* SPDX-License-Identifier: MIT */
/* test_tchar_narrow.c - test_tchar.c where neither UNICODE nor _UNICODE is defined. */
#define TCHAR_NARROW
#include "tests/unit/compat/test_tchar.c"
