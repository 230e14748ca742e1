/* SPDX-License-Identifier: MIT */
/* convention.c - whether the bridge calls the functions of Wine's ntdll.so in the convention that they have. */
#include "wine/nt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SOME_TIME = 133 };

/* Wine 8's: of the caller's stack, 32 octets are the function's own, where compilers keep registers. */
static LONG ND_NT windows_time(LONGLONG *time)
{
    void *volatile *home = (void *volatile *)__builtin_frame_address(0) + 2;

    for (int i = 0; i < 4; i++)
        home[i] = NULL;
    *time = SOME_TIME;
    return 0;
}

/* Wine 10's. */
static LONG native_time(LONGLONG *time)
{
    *time = SOME_TIME;
    return 0;
}

static LONG no_time(void)
{
    return -1;
}

static void test_functions_of_windows_convention(void **state)
{
    bool native = true;

    (void)state;
    assert_true(nd_nt_convention((void *)windows_time, &native));
    assert_false(native);
}

static void test_functions_of_the_system_s_convention(void **state)
{
    bool native = false;

    (void)state;
    assert_true(nd_nt_convention((void *)native_time, &native));
    assert_true(native);
}

static void test_functions_that_answer_nothing_are_refused(void **state)
{
    bool native;

    (void)state;
    assert_false(nd_nt_convention((void *)no_time, &native));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions_of_windows_convention),
        cmocka_unit_test(test_functions_of_the_system_s_convention),
        cmocka_unit_test(test_functions_that_answer_nothing_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
