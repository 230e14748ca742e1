/* SPDX-License-Identifier: MIT */
/* test_handle.c - what is and what is not a handle. */
#include "tests/support/win32_test.h"

#include <stdlib.h>

static void test_handle_closed_twice_is_invalid(void **state)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);

    (void)state;
    assert_non_null(event);
    assert_true(CloseHandle(event));
    assert_fails(CloseHandle(event), SPEC_ERROR_INVALID_HANDLE);
}

static void test_handle_garbage_is_invalid(void **state)
{
    int local = 0;
    const uintptr_t garbage[] = { 0, 1, 2, 3, 0x80000000, (uintptr_t)&local, 0xdeadbeef,
#ifndef _WIN32 /* of a handle only 32 bits count there */
        0x7fffffff, 0xfffffffc, (uintptr_t)1 << 62, 0x100000000, UINTPTR_MAX / 2
#endif
    };

    (void)state;
    for (size_t i = 0; i < sizeof(garbage) / sizeof(garbage[0]); i++) {
        HANDLE handle = (HANDLE)garbage[i];
        DWORD bytes;
        ULONG_PTR key;
        OVERLAPPED *overlapped;

        assert_fails(CloseHandle(handle), SPEC_ERROR_INVALID_HANDLE);
        assert_fails(SetEvent(handle), SPEC_ERROR_INVALID_HANDLE);
        assert_fails(ResetEvent(handle), SPEC_ERROR_INVALID_HANDLE);
        assert_fails(PostQueuedCompletionStatus(handle, 0, 0, NULL), SPEC_ERROR_INVALID_HANDLE);
        assert_fails(GetQueuedCompletionStatus(handle, &bytes, &key, &overlapped, 0),
            SPEC_ERROR_INVALID_HANDLE);
        assert_fails(GetExitCodeThread(handle, &bytes), SPEC_ERROR_INVALID_HANDLE);
        SetLastError(0);
        assert_wait(WaitForSingleObject(handle, 0), WAIT_FAILED);
        assert_win_error(SPEC_ERROR_INVALID_HANDLE);
    }
}

static void test_handle_of_another_kind_is_invalid(void **state)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    DWORD code;

    (void)state;
    assert_fails(SetEvent(port), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(PostQueuedCompletionStatus(event, 0, 0, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(GetExitCodeThread(event, &code), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(event));
    assert_true(CloseHandle(port));
}

static void test_handle_low_bits_are_ignored(void **state)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);

    (void)state;
    assert_int_equal((uintptr_t)event & 3, 0);
    assert_true(SetEvent((HANDLE)((uintptr_t)event | 1)));
    assert_wait(WaitForSingleObject((HANDLE)((uintptr_t)event | 3), 0), WAIT_OBJECT_0);
    assert_true(CloseHandle((HANDLE)((uintptr_t)event | 1)));
    assert_fails(CloseHandle(event), SPEC_ERROR_INVALID_HANDLE);
}

static void test_handle_fits_32_bits(void **state)
{
    HANDLE event = CreateEventW(NULL, TRUE, FALSE, NULL);

    (void)state;
    assert_ptr_equal(UlongToHandle(HandleToUlong(event)), event);
    assert_true(CloseHandle(event));
}

#ifndef _WIN32 /* there the next object may have the number of the one closed last */
/* A closed handle stays invalid while its place in the table is used again and again. */
static void test_handle_stale_stays_invalid(void **state)
{
    HANDLE stale = CreateEventW(NULL, TRUE, FALSE, NULL);

    (void)state;
    assert_true(CloseHandle(stale));
    for (int i = 0; i < 20000; i++) {
        HANDLE event = CreateEventW(NULL, TRUE, TRUE, NULL);

        assert_non_null(event);
        assert_ptr_not_equal(event, stale);
        assert_fails(ResetEvent(stale), SPEC_ERROR_INVALID_HANDLE);
        assert_true(CloseHandle(event));
    }
}
#endif

static void test_handle_many_are_distinct(void **state)
{
    enum { COUNT = 5000 };
    HANDLE *events = calloc(COUNT, sizeof(*events));

    (void)state;
    for (int i = 0; i < COUNT; i++)
        assert_non_null(events[i] = CreateEventW(NULL, TRUE, FALSE, NULL));
    for (int i = 0; i < COUNT; i += 7)
        assert_true(SetEvent(events[i]));
    for (int i = 0; i < COUNT; i++)
        assert_wait(WaitForSingleObject(events[i], 0), i % 7 ? WAIT_TIMEOUT : WAIT_OBJECT_0);
    for (int i = 0; i < COUNT; i++)
        assert_true(CloseHandle(events[i]));
    free(events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handle_closed_twice_is_invalid),
        cmocka_unit_test(test_handle_garbage_is_invalid),
        cmocka_unit_test(test_handle_of_another_kind_is_invalid),
        cmocka_unit_test(test_handle_low_bits_are_ignored),
        cmocka_unit_test(test_handle_fits_32_bits),
#ifndef _WIN32
        cmocka_unit_test(test_handle_stale_stays_invalid),
#endif
        cmocka_unit_test(test_handle_many_are_distinct),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
