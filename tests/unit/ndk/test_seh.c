/* SPDX-License-Identifier: MIT */
/*
 * test_seh.c - __try, __except, __finally and __leave of ndkwdm.h, in C and in C++ (seh_blocks.cpp). Sources:
 * Microsoft's pages of the statements; that a __finally block which cannot run ends the program is our choice.
 */
#include "tests/support/signal_of.h"
#include "tests/unit/ndk/seh_blocks.h"
#include "tests/unit/util/cmocka_test.h"

#include "tests/unit/ndk/seh_blocks.inc"

static void blocks_run_in_c(void **state)
{
    (void)state;
    assert_int_equal(blocks_steps(), BLOCKS_STEPS);
}

static void blocks_run_in_cpp(void **state)
{
    (void)state;
    assert_int_equal(seh_steps_cpp(), BLOCKS_STEPS);
}

static void return_through_finally_ends_the_program(void **state)
{
    (void)state;
    assert_int_equal(signal_of(blocks_return), SIGABRT);
    assert_int_equal(signal_of(seh_return_cpp), SIGABRT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_run_in_c),
        cmocka_unit_test(blocks_run_in_cpp),
        cmocka_unit_test(return_through_finally_ends_the_program),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
