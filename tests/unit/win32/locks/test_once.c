/* SPDX-License-Identifier: MIT */
/* test_once.c - one-time initialisation: what is written where, and what is refused. Threads: test_sync.c. */
#include "tests/support/win32_test.h"

/* Finds what the caller has there, and leaves it. */
static BOOL WINAPI see_context(PINIT_ONCE once, PVOID parameter, PVOID *context)
{
    (void)once;
    *(PVOID *)parameter = *context;
    return TRUE;
}

static BOOL WINAPI store_and_fail(PINIT_ONCE once, PVOID parameter, PVOID *context)
{
    (void)once;
    *context = parameter;
    return FALSE;
}

/* Asked of Wine: Microsoft's pages do not say it. */
static void the_context_is_the_callers(void **state)
{
    INIT_ONCE once = INIT_ONCE_STATIC_INIT, other = INIT_ONCE_STATIC_INIT;
    PVOID context = &once, seen = NULL, told = NULL;

    (void)state;
    assert_false(InitOnceExecuteOnce(&once, store_and_fail, &other, &context));
    assert_ptr_equal(context, &other);
    assert_true(InitOnceExecuteOnce(&once, see_context, &seen, &context));
    assert_ptr_equal(seen, &other);
    assert_true(InitOnceExecuteOnce(&once, see_context, &seen, &told));
    assert_ptr_equal(told, &other);
}

static void a_check_writes_nothing(void **state)
{
    INIT_ONCE once = INIT_ONCE_STATIC_INIT;
    PVOID context = &once;
    BOOL pending = 77;

    (void)state;
    assert_fails(InitOnceBeginInitialize(&once, INIT_ONCE_CHECK_ONLY, &pending, &context),
        SPEC_ERROR_GEN_FAILURE);
    assert_int_equal(pending, 77);
    assert_ptr_equal(context, &once);
    assert_fails(
        InitOnceBeginInitialize(&once, INIT_ONCE_CHECK_ONLY | INIT_ONCE_ASYNC, &pending, &context),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_int_equal(pending, 77);
}

static void what_was_begun_is_ended_the_same_way(void **state)
{
    INIT_ONCE once = INIT_ONCE_STATIC_INIT;
    BOOL pending;

    (void)state;
    assert_fails(InitOnceComplete(&once, 0, NULL), SPEC_ERROR_GEN_FAILURE);
    assert_fails(InitOnceComplete(&once, INIT_ONCE_ASYNC, NULL), SPEC_ERROR_GEN_FAILURE);
    assert_true(InitOnceBeginInitialize(&once, INIT_ONCE_ASYNC, &pending, NULL));
    assert_fails(InitOnceComplete(&once, 0, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        InitOnceComplete(&once, INIT_ONCE_INIT_FAILED, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_true(InitOnceComplete(&once, INIT_ONCE_ASYNC, NULL));
    InitOnceInitialize(&once);
    assert_true(InitOnceBeginInitialize(&once, 0, &pending, NULL));
    assert_fails(InitOnceBeginInitialize(&once, INIT_ONCE_ASYNC, &pending, NULL),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        InitOnceComplete(&once, INIT_ONCE_INIT_FAILED, &once), SPEC_ERROR_INVALID_PARAMETER);
    assert_true(InitOnceComplete(&once, INIT_ONCE_ASYNC, &once));
    assert_fails(InitOnceComplete(&once, 0, NULL), SPEC_ERROR_GEN_FAILURE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_context_is_the_callers),
        cmocka_unit_test(a_check_writes_nothing),
        cmocka_unit_test(what_was_begun_is_ended_the_same_way),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
