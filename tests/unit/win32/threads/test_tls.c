/* SPDX-License-Identifier: MIT */
/* test_tls.c - values of each thread. */
#include "tests/support/win32_test.h"

static DWORD WINAPI set_and_tell(LPVOID parameter)
{
    DWORD index = *(DWORD *)parameter;

    if (TlsGetValue(index) || !TlsSetValue(index, parameter))
        return 1;
    return TlsGetValue(index) == parameter ? 0 : 2;
}

static void test_tls_is_each_threads_own(void **state)
{
    DWORD index = TlsAlloc(), other = TlsAlloc(), code = 99;
    HANDLE thread;

    (void)state;
    assert_int_not_equal(index, TLS_OUT_OF_INDEXES);
    assert_int_not_equal(index, other);
    SetLastError(0xdead);
    assert_null(TlsGetValue(index));
    assert_win_error(0); /* NULL is a value */
    assert_true(TlsSetValue(index, &index));
    assert_non_null(thread = CreateThread(NULL, 0, set_and_tell, &index, 0, NULL));
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, 0);
    assert_true(CloseHandle(thread));
    assert_ptr_equal(TlsGetValue(index), &index);
    assert_null(TlsGetValue(other));
    assert_true(TlsFree(other));
    assert_true(TlsFree(index));
}

static void test_tls_is_empty_when_allocated_again(void **state)
{
    DWORD first = TlsAlloc(), index;

    (void)state;
    assert_true(TlsSetValue(first, &first));
    assert_true(TlsFree(first));
    for (int i = 0; i < 100; i++) {
        index = TlsAlloc();
        assert_int_not_equal(index, TLS_OUT_OF_INDEXES);
        assert_null(TlsGetValue(index));
        assert_true(TlsSetValue(index, &index));
        assert_true(TlsFree(index));
    }
}

static void test_tls_minimum(void **state)
{
    DWORD indexes[TLS_MINIMUM_AVAILABLE - 8]; /* the test's own libraries have some */

    (void)state;
    for (size_t i = 0; i < _countof(indexes); i++)
        assert_int_not_equal(indexes[i] = TlsAlloc(), TLS_OUT_OF_INDEXES);
    for (size_t i = 0; i < _countof(indexes); i++)
        assert_true(TlsFree(indexes[i]));
}

static void test_tls_bad_indexes(void **state)
{
    DWORD index = TlsAlloc();

    (void)state;
    assert_true(TlsFree(index));
    assert_fails(TlsFree(TLS_OUT_OF_INDEXES), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(TlsGetValue(TLS_OUT_OF_INDEXES), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(TlsSetValue(TLS_OUT_OF_INDEXES, &index), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(TlsFree(index), SPEC_ERROR_INVALID_PARAMETER);
#ifndef _WIN32 /* there any index below 1088 has a place */
    assert_fails(TlsGetValue(index), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(TlsSetValue(index, &index), SPEC_ERROR_INVALID_PARAMETER);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tls_is_each_threads_own),
        cmocka_unit_test(test_tls_is_empty_when_allocated_again),
        cmocka_unit_test(test_tls_minimum),
        cmocka_unit_test(test_tls_bad_indexes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
