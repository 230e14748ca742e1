/* SPDX-License-Identifier: MIT */
/* test_semaphore.c - semaphores; events by flags. */
#include "tests/support/win32_test.h"

static void test_semaphore_counts(void **state)
{
    HANDLE semaphore = CreateSemaphoreA(NULL, 2, 3, NULL);
    LONG before = 99;

    (void)state;
    assert_non_null(semaphore);
    assert_wait(WaitForSingleObject(semaphore, INFINITE), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(semaphore, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(semaphore, 0), WAIT_TIMEOUT);
    assert_true(ReleaseSemaphore(semaphore, 3, &before));
    assert_int_equal(before, 0);
    assert_wait(WaitForSingleObject(semaphore, 0), WAIT_OBJECT_0);
    before = 99;
    assert_fails(ReleaseSemaphore(semaphore, 2, &before), SPEC_ERROR_TOO_MANY_POSTS);
    assert_int_equal(before, 99);
    assert_true(ReleaseSemaphore(semaphore, 1, &before));
    assert_int_equal(before, 2);
    assert_fails(ReleaseSemaphore(semaphore, 0x7fffffff, NULL), SPEC_ERROR_TOO_MANY_POSTS);
    assert_true(CloseHandle(semaphore));
}

static void test_semaphore_together_with_an_event(void **state)
{
    HANDLE handles[2] = { CreateSemaphoreW(NULL, 0, 10, NULL),
        CreateEventW(NULL, FALSE, TRUE, NULL) };

    (void)state;
    assert_wait(WaitForMultipleObjects(2, handles, TRUE, 10), WAIT_TIMEOUT);
    assert_true(ReleaseSemaphore(handles[0], 2, NULL));
    assert_wait(WaitForMultipleObjects(2, handles, TRUE, 0), WAIT_OBJECT_0);
    assert_wait(WaitForMultipleObjects(2, handles, TRUE, 0), WAIT_TIMEOUT);
    assert_true(SetEvent(handles[1]));
    assert_wait(WaitForMultipleObjects(2, handles, FALSE, 0), WAIT_OBJECT_0);
    assert_wait(WaitForMultipleObjects(2, handles, FALSE, 0), WAIT_OBJECT_0 + 1);
    assert_wait(WaitForMultipleObjects(2, handles, FALSE, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(handles[0]));
    assert_true(CloseHandle(handles[1]));
}

enum { THREADS = 6, ROUNDS = 300 };

static DWORD WINAPI take_units(LPVOID semaphore)
{
    for (int i = 0; i < ROUNDS; i++)
        if (WaitForSingleObject(semaphore, LONG_MS) != WAIT_OBJECT_0)
            return 1;
    return 0;
}

/* As many units as are taken, given in pieces: each thread gets its share, and nothing is left. */
static void test_semaphore_wakes_as_many_as_it_has_units(void **state)
{
    HANDLE semaphore = CreateSemaphoreW(NULL, 0, THREADS * ROUNDS, NULL), threads[THREADS];
    DWORD code;

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_non_null(threads[i] = CreateThread(NULL, 0, take_units, semaphore, 0, NULL));
    for (int i = 0; i < ROUNDS; i++)
        assert_true(ReleaseSemaphore(semaphore, THREADS, NULL));
    assert_wait(WaitForMultipleObjects(THREADS, threads, TRUE, LONG_MS), WAIT_OBJECT_0);
    for (int i = 0; i < THREADS; i++) {
        assert_true(GetExitCodeThread(threads[i], &code));
        assert_int_equal(code, 0);
        assert_true(CloseHandle(threads[i]));
    }
    assert_wait(WaitForSingleObject(semaphore, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(semaphore));
}

static void test_semaphore_bad_arguments(void **state)
{
    HANDLE semaphore;

    (void)state;
    assert_fails(CreateSemaphoreA(NULL, 1, 0, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CreateSemaphoreA(NULL, 0, 0, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CreateSemaphoreA(NULL, 2, 1, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CreateSemaphoreA(NULL, -1, 1, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(CreateSemaphoreW(NULL, 0, -1, NULL), SPEC_ERROR_INVALID_PARAMETER);
    SetLastError(87);
    assert_non_null(semaphore = CreateSemaphoreExA(NULL, 0, 1, NULL, 0, 0x1F0003));
    assert_win_error(0);
#ifndef _WIN32 /* Wine gives back no units, and fewer than none with another error */
    assert_fails(ReleaseSemaphore(semaphore, 0, NULL), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(ReleaseSemaphore(semaphore, -1, NULL), SPEC_ERROR_INVALID_PARAMETER);
#endif
    assert_fails(SetEvent(semaphore), SPEC_ERROR_INVALID_HANDLE);
    assert_true(CloseHandle(semaphore));
    assert_fails(ReleaseSemaphore(semaphore, 1, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_non_null(semaphore = CreateSemaphoreExW(NULL, 1, 1, NULL, 0, 0x1F0003));
    assert_wait(WaitForSingleObject(semaphore, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(semaphore));
    assert_true(CreateSemaphore == CreateSemaphoreA && CreateSemaphoreEx == CreateSemaphoreExA);
#ifndef _WIN32 /* Wine takes any flag */
    assert_fails(CreateSemaphoreExW(NULL, 0, 1, NULL, 1, 0x1F0003), SPEC_ERROR_INVALID_PARAMETER);
#endif
}

static void test_event_by_flags(void **state)
{
    HANDLE event = CreateEventExA(NULL, NULL, CREATE_EVENT_INITIAL_SET, 0x1F0003);

    (void)state;
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_true(CloseHandle(event));
    assert_non_null(event = CreateEventExW(NULL, NULL, CREATE_EVENT_MANUAL_RESET, 0x1F0003));
    assert_wait(WaitForSingleObject(event, 0), WAIT_TIMEOUT);
    assert_true(SetEvent(event));
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    assert_true(CloseHandle(event));
    assert_true(CreateEventEx == CreateEventExA);
#ifndef _WIN32 /* Wine takes any flag */
    assert_fails(CreateEventExA(NULL, NULL, 4, 0x1F0003), SPEC_ERROR_INVALID_PARAMETER);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_semaphore_counts),
        cmocka_unit_test(test_semaphore_together_with_an_event),
        cmocka_unit_test(test_semaphore_wakes_as_many_as_it_has_units),
        cmocka_unit_test(test_semaphore_bad_arguments),
        cmocka_unit_test(test_event_by_flags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
