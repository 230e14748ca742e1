/* SPDX-License-Identifier: MIT */
/* test_requests.c - overlapped requests on files: results, ports, the modes, cancels, closing with requests pending. */
#include "tests/support/win32_test.h"

static char path[MAX_PATH];
static HANDLE file, port;

static int setup(void **state)
{
    (void)state;
    if (!GetTempFileNameA(".", "ndfile", 0, path))
        return -1;
    file = CreateFileA(path, GENERIC_READ | GENERIC_WRITE,
        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
        FILE_FLAG_OVERLAPPED, NULL);
    port = NULL;
    return file == INVALID_HANDLE_VALUE;
}

static int teardown(void **state)
{
    (void)state;
    CloseHandle(file);
    if (port)
        CloseHandle(port);
    return !DeleteFileA(path);
}

/* A request that may end at once, as it may on Windows. */
#define assert_begun(call) assert_true((call) || GetLastError() == ERROR_IO_PENDING)

static void write_all(const char *text, DWORD offset)
{
    OVERLAPPED at = { .Offset = offset };
    DWORD done;

    assert_begun(WriteFile(file, text, (DWORD)strlen(text), NULL, &at));
    assert_true(GetOverlappedResult(file, &at, &done, TRUE));
    assert_int_equal(done, strlen(text));
}

static OVERLAPPED *packet(BOOL expected, DWORD bytes, DWORD error)
{
    DWORD got = 77;
    ULONG_PTR key = 0;
    OVERLAPPED *overlapped;

    SetLastError(0);
    assert_int_equal(GetQueuedCompletionStatus(port, &got, &key, &overlapped, LONG_MS), expected);
    assert_int_equal(got, bytes);
    assert_int_equal(key, 9);
    if (!expected)
        assert_win_error(error);
    return overlapped;
}

static void test_result_without_an_event(void **state)
{
    OVERLAPPED at = { .Offset = 1 };
    char text[8] = "";
    DWORD done;

    (void)state;
    write_all("abcdef", 0);
    assert_begun(ReadFile(file, text, 8, NULL, &at));
    assert_true(GetOverlappedResult(file, &at, &done, TRUE));
    assert_int_equal(done, 5);
    assert_memory_equal(text, "bcdef", 5);
    assert_fails(ReadFile(file, text, 8, &done, NULL), SPEC_ERROR_INVALID_PARAMETER);
}

static void test_event_is_reset_and_set(void **state)
{
    OVERLAPPED at = { .hEvent = CreateEventA(NULL, TRUE, TRUE, NULL) };
    DWORD done;

    (void)state;
    assert_begun(WriteFile(file, "abc", 3, NULL, &at));
    assert_wait(WaitForSingleObject(at.hEvent, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetOverlappedResult(file, &at, &done, FALSE));
    assert_int_equal(done, 3);
    assert_true(CloseHandle(at.hEvent));
}

static void test_end_of_file(void **state)
{
    OVERLAPPED at = { .Offset = 3 };
    char text[8];
    DWORD done;
    BOOL begun;

    (void)state;
    write_all("abc", 0);
    SetLastError(0);
    begun = ReadFile(file, text, 8, NULL, &at);
    assert_false(begun);
    if (GetLastError() == ERROR_IO_PENDING)
        assert_fails(GetOverlappedResult(file, &at, &done, TRUE), SPEC_ERROR_HANDLE_EOF);
    else
        assert_win_error(SPEC_ERROR_HANDLE_EOF);
}

/* Each read begins as soon as the event of the write is set, which may not have told all threads of its end yet. */
static void test_a_structure_is_used_again_at_once(void **state)
{
    HANDLE event = CreateEventA(NULL, TRUE, FALSE, NULL);
    OVERLAPPED at = { .Offset = 0 };
    char text[8];
    DWORD done;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        at.Offset = 0;
        at.hEvent = event;
        assert_begun(WriteFile(file, "abc", 3, NULL, &at));
        assert_wait(WaitForSingleObject(event, LONG_MS), WAIT_OBJECT_0);
        at.Offset = 3;
        at.hEvent = NULL;
        if (!ReadFile(file, text, 8, NULL, &at) && GetLastError() != ERROR_IO_PENDING)
            assert_win_error(SPEC_ERROR_HANDLE_EOF);
        else
            assert_fails(GetOverlappedResult(file, &at, &done, TRUE), SPEC_ERROR_HANDLE_EOF);
    }
    assert_true(CloseHandle(event));
}

static void test_cancel_without_a_request(void **state)
{
    (void)state;
#ifndef _WIN32 /* Wine answers TRUE */
    assert_fails(CancelIoEx(file, NULL), SPEC_ERROR_NOT_FOUND);
#endif
    assert_true(CancelIo(file));
    assert_fails(CancelIoEx((HANDLE)0x12345670, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(CancelIo((HANDLE)0x12345670), SPEC_ERROR_INVALID_HANDLE);
}

static void test_packets(void **state)
{
    OVERLAPPED one = { .Offset = 0 }, two = { .Offset = 3 };
    OVERLAPPED *first, *second;

    (void)state;
    assert_non_null(port = CreateIoCompletionPort(file, NULL, 9, 0));
    assert_begun(WriteFile(file, "abc", 3, NULL, &one));
    assert_begun(WriteFile(file, "def", 3, NULL, &two));
    first = packet(TRUE, 3, 0);
    second = packet(TRUE, 3, 0);
    assert_true((first == &one && second == &two) || (first == &two && second == &one));
}

static void test_tagged_event_makes_no_packet(void **state)
{
    HANDLE event = CreateEventA(NULL, TRUE, FALSE, NULL);
    OVERLAPPED one = { .hEvent = (HANDLE)((ULONG_PTR)event | 1) }, *none;
    DWORD bytes;
    ULONG_PTR key;

    (void)state;
    assert_non_null(port = CreateIoCompletionPort(file, NULL, 9, 0));
    assert_begun(WriteFile(file, "abc", 3, NULL, &one));
    assert_wait(WaitForSingleObject(event, LONG_MS), WAIT_OBJECT_0);
    assert_fails(GetQueuedCompletionStatus(port, &bytes, &key, &none, 0), SPEC_WAIT_TIMEOUT);
    assert_true(CloseHandle(event));
}

#ifndef _WIN32 /* Wine's LockFileEx does not wait on a handle with FILE_FLAG_OVERLAPPED */
static HANDLE other_handle(void)
{
    return CreateFileA(path, GENERIC_READ | GENERIC_WRITE,
        FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING, 0, NULL);
}

static void test_lock_waits_for_another_handle(void **state)
{
    HANDLE other = other_handle();
    OVERLAPPED first = { 0 }, second = { 0 };

    (void)state;
    assert_non_null(port = CreateIoCompletionPort(file, NULL, 9, 0));
    assert_true(LockFileEx(other, LOCKFILE_EXCLUSIVE_LOCK, 0, 10, 0, &first));
    assert_fails(
        LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK, 0, 10, 0, &second), SPEC_ERROR_IO_PENDING);
    assert_false(HasOverlappedIoCompleted(&second));
    assert_true(UnlockFileEx(other, 0, 10, 0, &first));
    assert_ptr_equal(packet(TRUE, 0, 0), &second);
    assert_fails(
        LockFileEx(other, LOCKFILE_FAIL_IMMEDIATELY, 0, 10, 0, &first), SPEC_ERROR_LOCK_VIOLATION);
    assert_true(CloseHandle(other));
}

static void test_cancelled_lock_is_not_got_later(void **state)
{
    HANDLE other = other_handle();
    OVERLAPPED first = { 0 }, second = { 0 }, unused = { 0 };

    (void)state;
    assert_non_null(port = CreateIoCompletionPort(file, NULL, 9, 0));
    assert_true(LockFileEx(other, LOCKFILE_EXCLUSIVE_LOCK, 0, 10, 0, &first));
    assert_fails(
        LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK, 0, 10, 0, &second), SPEC_ERROR_IO_PENDING);
    assert_fails(CancelIoEx(file, &unused), SPEC_ERROR_NOT_FOUND);
    assert_true(CancelIoEx(file, &second));
    assert_ptr_equal(packet(FALSE, 0, SPEC_ERROR_OPERATION_ABORTED), &second);
    assert_fails(CancelIoEx(file, &second), SPEC_ERROR_NOT_FOUND);
    assert_true(UnlockFileEx(other, 0, 10, 0, &first));
    /* Waits until the cancelled one has given the lock back, if it was got for a moment. */
    assert_true(LockFileEx(other, LOCKFILE_EXCLUSIVE_LOCK, 0, 10, 0, &first));
    assert_true(CloseHandle(other));
}

/* More than the pool has threads. */
static void test_waiting_locks_hold_no_thread(void **state)
{
    enum { WAITS = 100 };
    static OVERLAPPED waits[WAITS];
    HANDLE other = other_handle();
    OVERLAPPED first = { 0 }, beside = { .Offset = 100 }, again = { 0 };
    int got = 0, canceled = 0;
    DWORD done;

    (void)state;
    assert_non_null(port = CreateIoCompletionPort(file, NULL, 9, 0));
    assert_true(LockFileEx(other, LOCKFILE_EXCLUSIVE_LOCK, 0, 10, 0, &first));
    for (int i = 0; i < WAITS; i++)
        assert_fails(LockFileEx(file, 0, 0, 10, 0, &waits[i]), SPEC_ERROR_IO_PENDING);
    assert_begun(WriteFile(file, "abc", 3, NULL, &beside));
    assert_ptr_equal(packet(TRUE, 3, 0), &beside);
    for (int i = 0; i < WAITS; i += 2)
        assert_true(CancelIoEx(file, &waits[i]));
    for (int i = 0; i < WAITS; i += 2)
        packet(FALSE, 0, SPEC_ERROR_OPERATION_ABORTED);
    assert_true(UnlockFileEx(other, 0, 10, 0, &first));
    for (int i = 1; i < WAITS; i += 2)
        packet(TRUE, 0, 0);
    for (int i = 0; i < WAITS; i++) {
        got += !!GetOverlappedResult(file, &waits[i], &done, FALSE);
        canceled += i % 2 == 0 && waits[i].Internal == SPEC_STATUS_CANCELLED;
    }
    assert_int_equal(got, WAITS / 2);
    assert_int_equal(canceled, WAITS / 2);
    assert_fails(
        LockFileEx(other, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 10, 0, &again),
        SPEC_ERROR_LOCK_VIOLATION);
    for (int i = 0; i < WAITS / 2; i++)
        assert_true(UnlockFileEx(file, 0, 10, 0, &first));
    assert_fails(UnlockFileEx(file, 0, 10, 0, &first), SPEC_ERROR_NOT_LOCKED);
    assert_true(
        LockFileEx(other, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 10, 0, &again));
    assert_true(CloseHandle(other));
}

static void test_lock_waits_for_its_own_handle(void **state)
{
    OVERLAPPED first = { 0 }, second = { 0 };
    DWORD done;

    (void)state;
    assert_begun(LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK, 0, 10, 0, &first));
    assert_true(GetOverlappedResult(file, &first, &done, TRUE));
    assert_fails(
        LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK, 0, 10, 0, &second), SPEC_ERROR_IO_PENDING);
    assert_true(UnlockFileEx(file, 0, 10, 0, &first));
    assert_true(GetOverlappedResult(file, &second, &done, TRUE));
    assert_true(UnlockFileEx(file, 0, 10, 0, &second));
}

/* Between the call and its return another thread may cancel: each request ends once. */
static DWORD WINAPI cancel_without_end(LPVOID stop)
{
    while (WaitForSingleObject((HANDLE)stop, 0) == WAIT_TIMEOUT)
        CancelIoEx(file, NULL);
    return 0;
}

static void test_cancel_while_the_request_begins(void **state)
{
    enum { ROUNDS = 3000 };
    HANDLE other = other_handle(), stop = CreateEventA(NULL, TRUE, FALSE, NULL), thread;
    OVERLAPPED first = { 0 };
    char text[4];
    DWORD done;

    (void)state;
    assert_true(LockFileEx(other, LOCKFILE_EXCLUSIVE_LOCK, 0, 10, 0, &first));
    assert_non_null(thread = CreateThread(NULL, 0, cancel_without_end, stop, 0, NULL));
    for (int i = 0; i < ROUNDS; i++) {
        OVERLAPPED lock = { 0 }, transfer = { .Offset = 100 };

        assert_fails(
            LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK, 0, 10, 0, &lock), SPEC_ERROR_IO_PENDING);
        assert_fails(GetOverlappedResult(file, &lock, &done, TRUE), SPEC_ERROR_OPERATION_ABORTED);
        if (i % 2 ? ReadFile(file, text, 3, NULL, &transfer)
                  : WriteFile(file, "abc", 3, NULL, &transfer))
            continue;
        assert_true(GetLastError() == SPEC_ERROR_IO_PENDING ||
                    GetLastError() == SPEC_ERROR_OPERATION_ABORTED);
        if (GetLastError() == SPEC_ERROR_IO_PENDING &&
            !GetOverlappedResult(file, &transfer, &done, TRUE))
            assert_true(GetLastError() == SPEC_ERROR_OPERATION_ABORTED ||
                        GetLastError() == SPEC_ERROR_HANDLE_EOF);
    }
    assert_true(SetEvent(stop));
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(thread) && CloseHandle(stop) && CloseHandle(other));
}

static DWORD WINAPI cancel_from_a_thread(LPVOID unused)
{
    (void)unused;
    return CancelIo(file) ? 0 : 1;
}

static void test_cancel_io_is_about_the_calling_thread(void **state)
{
    HANDLE other = other_handle(), thread;
    OVERLAPPED first = { 0 }, second = { 0 };

    (void)state;
    assert_true(LockFileEx(other, LOCKFILE_EXCLUSIVE_LOCK, 0, 10, 0, &first));
    assert_fails(
        LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK, 0, 10, 0, &second), SPEC_ERROR_IO_PENDING);
    assert_non_null(thread = CreateThread(NULL, 0, cancel_from_a_thread, NULL, 0, NULL));
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(thread));
    assert_false(HasOverlappedIoCompleted(&second));
    assert_true(CancelIo(file));
    assert_fails(
        GetOverlappedResult(file, &second, &(DWORD){ 0 }, TRUE), SPEC_ERROR_OPERATION_ABORTED);
    assert_true(CloseHandle(other));
}

static void test_closing_ends_what_is_pending(void **state)
{
    HANDLE other = other_handle();
    OVERLAPPED first = { 0 }, second = { 0 };

    (void)state;
    assert_non_null(port = CreateIoCompletionPort(file, NULL, 9, 0));
    assert_true(LockFileEx(other, LOCKFILE_EXCLUSIVE_LOCK, 0, 10, 0, &first));
    assert_fails(
        LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK, 0, 10, 0, &second), SPEC_ERROR_IO_PENDING);
    assert_true(CloseHandle(file));
    assert_ptr_equal(packet(FALSE, 0, SPEC_ERROR_OPERATION_ABORTED), &second);
    assert_true(CloseHandle(other));
}

#endif

static void test_success_at_once_makes_no_packet_where_asked(void **state)
{
    OVERLAPPED at = { 0 }, *none;
    DWORD bytes;
    ULONG_PTR key;

    (void)state;
    assert_non_null(port = CreateIoCompletionPort(file, NULL, 9, 0));
    assert_true(SetFileCompletionNotificationModes(file, FILE_SKIP_COMPLETION_PORT_ON_SUCCESS));
    assert_true(
        LockFileEx(file, LOCKFILE_EXCLUSIVE_LOCK | LOCKFILE_FAIL_IMMEDIATELY, 0, 10, 0, &at));
    assert_fails(GetQueuedCompletionStatus(port, &bytes, &key, &none, 0), SPEC_WAIT_TIMEOUT);
    if (!WriteFile(file, "abc", 3, NULL, &at)) {
        assert_win_error(SPEC_ERROR_IO_PENDING);
        assert_ptr_equal(packet(TRUE, 3, 0), &at);
    }
}

static void test_cancel_against_completion(void **state)
{
    enum { ROUNDS = 300 };
    static char text[4096];

    (void)state;
    assert_non_null(port = CreateIoCompletionPort(file, NULL, 9, 0));
    for (int i = 0; i < ROUNDS; i++) {
        OVERLAPPED at = { 0 }, *ended;
        DWORD bytes;
        ULONG_PTR key;
        BOOL result;

        assert_begun(WriteFile(file, text, sizeof(text), NULL, &at));
        if (!CancelIoEx(file, &at))
            assert_win_error(SPEC_ERROR_NOT_FOUND); /* it was over */
        result = GetQueuedCompletionStatus(port, &bytes, &key, &ended, LONG_MS);
        assert_ptr_equal(ended, &at);
        if (result)
            assert_int_equal(bytes, sizeof(text));
        else
            assert_win_error(SPEC_ERROR_OPERATION_ABORTED);
        /* exactly one packet */
        assert_fails(GetQueuedCompletionStatus(port, &bytes, &key, &ended, 0), SPEC_WAIT_TIMEOUT);
    }
}

static void test_results_are_those_of_the_structure(void **state)
{
    OVERLAPPED ended = { .InternalHigh = 7 }, failed = { .Internal = 0xC0000120u };
    OVERLAPPED pending = { .Internal = 0x103 };
    DWORD bytes = 0;

    (void)state;
    assert_true(GetOverlappedResult(NULL, &ended, &bytes, FALSE));
    assert_int_equal(bytes, 7);
    assert_true(GetOverlappedResult((HANDLE)0x12345678, &ended, &bytes, TRUE));
    assert_true(GetOverlappedResultEx(NULL, &ended, &bytes, 1, FALSE));
    assert_fails(GetOverlappedResult(NULL, &failed, &bytes, TRUE), SPEC_ERROR_OPERATION_ABORTED);
    assert_fails(GetOverlappedResult(NULL, &pending, &bytes, FALSE), SPEC_ERROR_IO_INCOMPLETE);
    assert_fails(
        GetOverlappedResult((HANDLE)0x12345678, &pending, &bytes, TRUE), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(GetOverlappedResultEx((HANDLE)0x12345678, &pending, &bytes, 1, FALSE),
        SPEC_ERROR_INVALID_HANDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_result_without_an_event, setup, teardown),
        cmocka_unit_test_setup_teardown(test_event_is_reset_and_set, setup, teardown),
        cmocka_unit_test_setup_teardown(test_end_of_file, setup, teardown),
        cmocka_unit_test_setup_teardown(test_a_structure_is_used_again_at_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel_without_a_request, setup, teardown),
        cmocka_unit_test_setup_teardown(test_packets, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tagged_event_makes_no_packet, setup, teardown),
#ifndef _WIN32
        cmocka_unit_test_setup_teardown(test_lock_waits_for_another_handle, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancelled_lock_is_not_got_later, setup, teardown),
        cmocka_unit_test_setup_teardown(test_waiting_locks_hold_no_thread, setup, teardown),
        cmocka_unit_test_setup_teardown(test_lock_waits_for_its_own_handle, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel_while_the_request_begins, setup, teardown),
        cmocka_unit_test_setup_teardown(
            test_cancel_io_is_about_the_calling_thread, setup, teardown),
        cmocka_unit_test_setup_teardown(test_closing_ends_what_is_pending, setup, teardown),
#endif
        cmocka_unit_test_setup_teardown(
            test_success_at_once_makes_no_packet_where_asked, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cancel_against_completion, setup, teardown),
        cmocka_unit_test(test_results_are_those_of_the_structure),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
