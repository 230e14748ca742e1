/* SPDX-License-Identifier: MIT */
/* test_alone.c - libwinobj without libndwin32: events, ports and waits work; names and inheritance are refused. */
#include "tests/support/win32_test.h"

#include <dlfcn.h>

static void test_no_library_above_is_loaded(void **state)
{
    (void)state;
    assert_null(dlopen("libndwin32.so.0", RTLD_NOW | RTLD_NOLOAD));
}

static void test_events_and_ports_work(void **state)
{
    HANDLE event = CreateEventA(NULL, FALSE, TRUE, NULL), mutex = CreateMutexA(NULL, TRUE, NULL);
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 1);
    OVERLAPPED *overlapped;
    ULONG_PTR key = 0;
    DWORD bytes = 0;

    (void)state;
    assert_int_equal(WaitForSingleObject(event, 0), SPEC_WAIT_OBJECT_0);
    assert_int_equal(WaitForSingleObject(event, 0), SPEC_WAIT_TIMEOUT);
    assert_true(ReleaseMutex(mutex));
    assert_true(PostQueuedCompletionStatus(port, 5, 6, NULL));
    assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, 0));
    assert_int_equal(bytes, 5);
    assert_int_equal(key, 6);
    assert_true(CloseHandle(port));
    assert_true(CloseHandle(mutex));
    assert_true(CloseHandle(event));
}

static void refused(HANDLE handle)
{
    assert_null(handle);
    assert_int_equal(GetLastError(), SPEC_ERROR_NOT_SUPPORTED);
}

/* Our own code: on Windows there is no program without these. */
static void test_names_are_refused(void **state)
{
    SECURITY_ATTRIBUTES inherited = { .nLength = sizeof(inherited), .bInheritHandle = TRUE };

    (void)state;
    refused(CreateEventA(NULL, FALSE, FALSE, "a name"));
    refused(CreateEventA(&inherited, FALSE, FALSE, NULL));
    refused(CreateMutexA(NULL, TRUE, "a name"));
    refused(CreateSemaphoreA(NULL, 1, 1, "a name"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_library_above_is_loaded),
        cmocka_unit_test(test_events_and_ports_work),
        cmocka_unit_test(test_names_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
