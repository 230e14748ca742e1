/* SPDX-License-Identifier: MIT */
/* test_fls.c - values of each thread that have a callback. */
#include "tests/support/win32_test.h"

static LONG ended, ended_sum;
static DWORD ended_by;

static VOID WINAPI value_ends(PVOID value)
{
    ended++;
    ended_sum += *(LONG *)value;
    ended_by = GetCurrentThreadId();
}

static void forget(void)
{
    ended = ended_sum = 0;
    ended_by = 0;
}

struct user {
    DWORD index;
    LONG value;
    HANDLE set, go;
};

static DWORD WINAPI use(LPVOID parameter)
{
    struct user *user = parameter;

    if (FlsGetValue(user->index) || !FlsSetValue(user->index, &user->value))
        return 1;
    SetEvent(user->set);
    WaitForSingleObject(user->go, LONG_MS);
    return FlsGetValue(user->index) == &user->value ? 0 : 2;
}

static void expect_exit(HANDLE thread, DWORD expected)
{
    DWORD code;

    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, expected);
    assert_true(CloseHandle(thread));
}

static void test_end_of_a_thread_calls_before_its_handle_is_signalled(void **state)
{
    struct user user = { .value = 5,
        .set = CreateEventW(NULL, FALSE, FALSE, NULL),
        .go = CreateEventW(NULL, FALSE, TRUE, NULL) };
    HANDLE thread;
    DWORD id;

    (void)state;
    forget();
    user.index = FlsAlloc(value_ends);
    assert_int_not_equal(user.index, 0xFFFFFFFF);
    assert_non_null(thread = CreateThread(NULL, 0, use, &user, 0, &id));
    expect_exit(thread, 0);
    assert_int_equal(ended, 1);
    assert_int_equal(ended_sum, 5);
    assert_int_equal(ended_by, id);
    assert_true(FlsFree(user.index));
    assert_int_equal(ended, 1);
    assert_true(CloseHandle(user.set));
    assert_true(CloseHandle(user.go));
}

static void test_end_of_an_index_calls_for_every_thread(void **state)
{
    struct user user = { .value = 7,
        .set = CreateEventW(NULL, FALSE, FALSE, NULL),
        .go = CreateEventW(NULL, FALSE, FALSE, NULL) };
    LONG own = 30;
    HANDLE thread;

    (void)state;
    forget();
    user.index = FlsAlloc(value_ends);
    assert_true(FlsSetValue(user.index, &own));
    assert_non_null(thread = CreateThread(NULL, 0, use, &user, 0, NULL));
    assert_wait(WaitForSingleObject(user.set, LONG_MS), WAIT_OBJECT_0);
    assert_true(FlsFree(user.index));
    assert_int_equal(ended, 2);
    assert_int_equal(ended_sum, 37);
    assert_int_equal(ended_by, GetCurrentThreadId());
    assert_true(SetEvent(user.go));
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(ended, 2);
    assert_true(CloseHandle(thread));
    assert_true(CloseHandle(user.set));
    assert_true(CloseHandle(user.go));
}

static void test_value_is_each_threads_own(void **state)
{
    DWORD first = FlsAlloc(NULL), second = FlsAlloc(NULL);
    LONG value;

    (void)state;
    assert_int_not_equal(first, second);
    SetLastError(0xdead);
    assert_null(FlsGetValue(first));
    assert_win_error(0); /* NULL is a value */
    assert_true(FlsSetValue(first, &value));
    assert_ptr_equal(FlsGetValue(first), &value);
    assert_null(FlsGetValue(second));
    assert_true(FlsFree(first));
    assert_true(FlsFree(second));
    for (int i = 0; i < 200; i++) {
        first = FlsAlloc(NULL);
        assert_int_not_equal(first, 0xFFFFFFFF);
        assert_null(FlsGetValue(first));
        assert_true(FlsSetValue(first, &value));
        assert_true(FlsFree(first));
    }
}

static void test_bad_indexes(void **state)
{
    DWORD index = FlsAlloc(NULL);

    (void)state;
    assert_true(FlsFree(index));
    assert_fails(FlsFree(index), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(FlsFree(0xFFFFFFFF), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(FlsGetValue(0xFFFFFFFF), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(FlsSetValue(0xFFFFFFFF, &index), SPEC_ERROR_INVALID_PARAMETER);
#ifndef _WIN32 /* Windows 10 has more indexes, and keeps the values of freed ones */
    assert_fails(FlsGetValue(index), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(FlsSetValue(index, &index), SPEC_ERROR_INVALID_PARAMETER);
    while ((index = FlsAlloc(NULL)) != 0xFFFFFFFF)
        assert_true(index > 0 && index < 128);
    assert_win_error(SPEC_ERROR_NO_MORE_ITEMS);
    for (index = 1; index < 128; index++)
        assert_true(FlsFree(index));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_end_of_a_thread_calls_before_its_handle_is_signalled),
        cmocka_unit_test(test_end_of_an_index_calls_for_every_thread),
        cmocka_unit_test(test_value_is_each_threads_own),
        cmocka_unit_test(test_bad_indexes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
