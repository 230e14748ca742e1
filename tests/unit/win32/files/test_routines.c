/* SPDX-License-Identifier: MIT */
/* test_routines.c - ReadFileEx, WriteFileEx: completion routines, which the thread calls in alertable waits. */
#include "tests/support/win32_test.h"

#include <stdio.h>

static struct {
    unsigned count;
    DWORD error, bytes, thread;
    LPOVERLAPPED overlapped;
} calls;

static void CALLBACK note(DWORD error, DWORD bytes, LPOVERLAPPED overlapped)
{
    calls.count++;
    calls.error = error;
    calls.bytes = bytes;
    calls.overlapped = overlapped;
    calls.thread = GetCurrentThreadId();
}

static const char *name;

static HANDLE open_file(DWORD disposition, DWORD flags)
{
    HANDLE file =
        CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, disposition, flags, NULL);

    assert_ptr_not_equal(file, INVALID_HANDLE_VALUE);
    memset(&calls, 0, sizeof(calls));
    return file;
}

static void assert_called(unsigned count, DWORD error, DWORD bytes, LPOVERLAPPED overlapped)
{
    assert_int_equal(calls.count, count);
    assert_int_equal(calls.error, error);
    assert_int_equal(calls.bytes, bytes);
    assert_ptr_equal(calls.overlapped, overlapped);
    assert_int_equal(calls.thread, GetCurrentThreadId());
}

static void routines_are_called_in_alertable_waits(void **state)
{
    HANDLE file = open_file(CREATE_ALWAYS, FILE_FLAG_OVERLAPPED);
    OVERLAPPED overlapped = { 0 };
    char text[8] = "";

    (void)state;
    assert_true(WriteFileEx(file, "octets", 6, &overlapped, note));
    Sleep(1);
    assert_int_equal(calls.count, 0);
    while (!calls.count)
        assert_int_equal(SleepEx(LONG_MS, TRUE), WAIT_IO_COMPLETION);
    assert_called(1, SPEC_ERROR_SUCCESS, 6, &overlapped);
    memset(&overlapped, 0, sizeof(overlapped));
    overlapped.Offset = 2;
    assert_true(ReadFileEx(file, text, sizeof(text), &overlapped, note));
    while (calls.count < 2)
        assert_int_equal(SleepEx(LONG_MS, TRUE), WAIT_IO_COMPLETION);
    assert_called(2, SPEC_ERROR_SUCCESS, 4, &overlapped);
    assert_memory_equal(text, "tets", 4);
    assert_int_equal(overlapped.InternalHigh, 4);
    assert_true(CloseHandle(file));
}

/* hEvent is the program's own. */
static void the_event_is_left_alone(void **state)
{
    HANDLE file = open_file(OPEN_EXISTING, FILE_FLAG_OVERLAPPED);
    HANDLE event = CreateEventA(NULL, TRUE, TRUE, NULL);
    HANDLE unset = CreateEventA(NULL, TRUE, FALSE, NULL);
    OVERLAPPED overlapped = { .hEvent = event }, other = { .hEvent = unset };
    char text[8], more[8];

    (void)state;
    assert_true(ReadFileEx(file, text, 3, &overlapped, note));
    assert_true(ReadFileEx(file, more, 3, &other, note));
    assert_wait(WaitForSingleObject(event, 0), WAIT_OBJECT_0);
    while (calls.count < 2)
        assert_int_equal(SleepEx(LONG_MS, TRUE), WAIT_IO_COMPLETION);
    assert_wait(WaitForSingleObject(unset, 0), WAIT_TIMEOUT);
    assert_ptr_equal(overlapped.hEvent, event);
    assert_true(CloseHandle(event) && CloseHandle(unset) && CloseHandle(file));
}

static void what_fails_calls_no_routine(void **state)
{
    HANDLE file = open_file(OPEN_EXISTING, FILE_FLAG_OVERLAPPED);
    OVERLAPPED overlapped = { 0 };
    HANDLE port;
    char text[8];

    (void)state;
    assert_fails(ReadFileEx(file, text, 3, NULL, note), SPEC_ERROR_INVALID_PARAMETER);
    assert_fails(
        ReadFileEx((HANDLE)0x12345678, text, 3, &overlapped, note), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(
        WriteFileEx((HANDLE)0x12345678, text, 3, &overlapped, note), SPEC_ERROR_INVALID_HANDLE);
    assert_non_null(port = CreateIoCompletionPort(file, NULL, 1, 0));
#ifndef _WIN32 /* Wine takes a file with a port */
    assert_fails(ReadFileEx(file, text, 3, &overlapped, note), SPEC_ERROR_INVALID_PARAMETER);
#endif
    assert_int_equal(SleepEx(0, TRUE), 0);
    assert_int_equal(calls.count, 0);
    assert_true(CloseHandle(port) && CloseHandle(file));
}

/* A pipe, whose requests wait. */
static void make_pipe(HANDLE *server, HANDLE *client)
{
    char *pipe = own_name(
        DIFFERS("\\\\.\\pipe\\nd_routine", "\\\\.\\pipe\\nd_routine_pe", "both run at once"));

    *server =
        CreateNamedPipeA(pipe, PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED, 0, 1, 64, 64, 0, NULL);
    assert_ptr_not_equal(*server, INVALID_HANDLE_VALUE);
    *client = CreateFileA(pipe, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    assert_ptr_not_equal(*client, INVALID_HANDLE_VALUE);
    memset(&calls, 0, sizeof(calls));
}

static void a_wait_for_an_object_calls_them_too(void **state)
{
    HANDLE server, client, event = CreateEventA(NULL, TRUE, FALSE, NULL);
    OVERLAPPED overlapped = { 0 };
    char text[8];
    DWORD done;

    (void)state;
    make_pipe(&server, &client);
    assert_true(ReadFileEx(server, text, sizeof(text), &overlapped, note));
    assert_wait(WaitForSingleObjectEx(event, 1, TRUE), WAIT_TIMEOUT);
    assert_int_equal(calls.count, 0);
    assert_true(WriteFile(client, "hello", 5, &done, NULL));
    assert_wait(WaitForSingleObjectEx(event, LONG_MS, TRUE), WAIT_IO_COMPLETION);
    assert_called(1, SPEC_ERROR_SUCCESS, 5, &overlapped);
    assert_true(CloseHandle(server) && CloseHandle(client) && CloseHandle(event));
}

static void cancelled_requests_call_them(void **state)
{
    HANDLE server, client;
    OVERLAPPED overlapped = { 0 };
    char text[8];

    (void)state;
    make_pipe(&server, &client);
    assert_true(ReadFileEx(server, text, sizeof(text), &overlapped, note));
    assert_true(CancelIo(server));
    assert_int_equal(SleepEx(LONG_MS, TRUE), WAIT_IO_COMPLETION);
    assert_called(1, SPEC_ERROR_OPERATION_ABORTED, 0, &overlapped);
    assert_true(CloseHandle(server) && CloseHandle(client));
}

static char again_text[8];
static HANDLE again_file;

static void CALLBACK read_again(DWORD error, DWORD bytes, LPOVERLAPPED overlapped)
{
    note(error, bytes, overlapped);
    if (calls.count < 3)
        assert_true(ReadFileEx(again_file, again_text, 1, overlapped, read_again));
}

static void a_routine_begins_the_next_request(void **state)
{
    HANDLE server, client;
    OVERLAPPED overlapped = { 0 };
    DWORD done;

    (void)state;
    make_pipe(&server, &client);
    again_file = server;
    assert_true(ReadFileEx(server, again_text, 1, &overlapped, read_again));
    assert_true(WriteFile(client, "123", 3, &done, NULL));
    while (calls.count < 3)
        assert_int_equal(SleepEx(LONG_MS, TRUE), WAIT_IO_COMPLETION);
    assert_called(3, SPEC_ERROR_SUCCESS, 1, &overlapped);
    assert_int_equal(again_text[0], '3');
    assert_true(CloseHandle(server) && CloseHandle(client));
}

static OVERLAPPED abandoned;
static char abandoned_text[8];

static DWORD WINAPI begin_and_end(LPVOID server)
{
    return ReadFileEx(server, abandoned_text, 8, &abandoned, note);
}

static void the_end_of_the_thread_drops_them(void **state)
{
    HANDLE server, client, thread;
    DWORD code = 0, done;

    (void)state;
    make_pipe(&server, &client);
    assert_non_null(thread = CreateThread(NULL, 0, begin_and_end, server, 0, NULL));
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, TRUE);
    WriteFile(client, "late", 4, &done, NULL);
    assert_int_equal(SleepEx(0, TRUE), 0);
    assert_int_equal(calls.count, 0);
    assert_true(CloseHandle(thread) && CloseHandle(server) && CloseHandle(client));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routines_are_called_in_alertable_waits),
        cmocka_unit_test(the_event_is_left_alone),
        cmocka_unit_test(what_fails_calls_no_routine),
        cmocka_unit_test(a_wait_for_an_object_calls_them_too),
        cmocka_unit_test(cancelled_requests_call_them),
        cmocka_unit_test(a_routine_begins_the_next_request),
        cmocka_unit_test(the_end_of_the_thread_drops_them),
    };
    int failed;

    name = own_name(DIFFERS("nd_routines", "nd_routines_pe", "both run at once"));
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    DeleteFileA(name);
    return failed;
}
