/* SPDX-License-Identifier: MIT */
/* test_cxx.c - runs what is written in C++ and with a wchar_t of 16 bits. */
#include "tests/unit/compat/cxx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define STEP(name)                                                                                 \
    static void test_##name(void **state)                                                          \
    {                                                                                              \
        (void)state;                                                                               \
        assert_int_equal(name(), 0);                                                               \
    }
STEP(cxx_formats)
STEP(cxx_interlocked)
STEP(cxx_interfaces)
STEP(cxx_bits)
STEP(cxx_library)
STEP(cxx_winsock)
STEP(short_formats)
STEP(short_functions)
STEP(short_strings)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cxx_formats),
        cmocka_unit_test(test_cxx_interlocked),
        cmocka_unit_test(test_cxx_interfaces),
        cmocka_unit_test(test_cxx_bits),
        cmocka_unit_test(test_cxx_library),
        cmocka_unit_test(test_cxx_winsock),
        cmocka_unit_test(test_short_formats),
        cmocka_unit_test(test_short_functions),
        cmocka_unit_test(test_short_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
