/* SPDX-License-Identifier: MIT */
/*
 * test_file_wait.c - waits for the handle of a file or pipe itself. Source: Wine; Microsoft's page "Synchronization and
 * Overlapped Input and Output" has the file's own signal.
 */
#include "tests/unit/win32/pipes/pipe_requests.h"

#define assert_signalled(handle)     assert_wait(WaitForSingleObject((handle), LONG_MS), WAIT_OBJECT_0)
#define assert_not_signalled(handle) assert_wait(WaitForSingleObject((handle), 0), WAIT_TIMEOUT)

/* What has ended, by a call that does not wait. */
static void assert_ended(HANDLE end, OVERLAPPED *overlapped, DWORD bytes)
{
    DWORD done = 77;

    assert_true(HasOverlappedIoCompleted(overlapped));
    assert_true(GetOverlappedResult(end, overlapped, &done, FALSE));
    assert_int_equal(done, bytes);
}

static void test_request_without_an_event_signals_the_pipe(void **state)
{
    OVERLAPPED at = { 0 };
    char buffer[8];

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE);
    assert_signalled(server);
    assert_signalled(client);
    for (int i = 0; i < 2; i++) {
        assert_pending(ReadFile(server, buffer, 8, NULL, &at));
        assert_not_signalled(server);
        put_message(client, "abc");
        assert_signalled(server);
        assert_signalled(server); /* it stays */
        assert_ended(server, &at, 3);
    }
    put_message(client, "abc");
    assert_true(ReadFile(server, buffer, 8, NULL, &at)); /* at once */
    assert_signalled(server);
}

/* The state that nobody has asked for before is right at the first wait. */
static void test_first_wait_is_in_the_middle_of_a_request(void **state)
{
    OVERLAPPED at = { 0 };
    char buffer[8];

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE);
    assert_pending(ReadFile(server, buffer, 8, NULL, &at));
    assert_not_signalled(server);
    put_message(client, "abc");
    assert_signalled(server);
    assert_ended(server, &at, 3);
}

static void test_request_with_an_event_does_not(void **state)
{
    OVERLAPPED at = { .hEvent = events[0] }, own = { 0 };
    char buffer[8];

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE);
    assert_pending(ReadFile(server, buffer, 8, NULL, &at));
    assert_not_signalled(server);
    put_message(client, "abc");
    assert_signalled(events[0]);
    assert_not_signalled(server);
    assert_pending(ReadFile(server, buffer, 8, NULL, &own));
    put_message(client, "abc");
    assert_signalled(server);
    assert_not_signalled(client); /* its last request was put_message's */
}

static void test_cancelled_request_signals_the_pipe(void **state)
{
    OVERLAPPED at = { 0 };
    char buffer[8];

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE);
    assert_pending(ReadFile(server, buffer, 8, NULL, &at));
    assert_not_signalled(server);
    assert_true(CancelIoEx(server, &at));
    assert_signalled(server);
    assert_result(server, &at, FALSE, 0, SPEC_ERROR_OPERATION_ABORTED);
}

static void test_connect_signals_the_pipe(void **state)
{
    OVERLAPPED at = { 0 };

    (void)state;
    server = make_server(PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE, 1);
    assert_pending(ConnectNamedPipe(server, &at));
    assert_not_signalled(server);
    client = make_client(GENERIC_READ | GENERIC_WRITE, 0);
    assert_true(client != INVALID_HANDLE_VALUE);
    assert_signalled(server);
    assert_ended(server, &at, 0);
}

struct reader {
    HANDLE end;
    DWORD done;
    BOOL result;
};

static DWORD WINAPI read_thread(LPVOID argument)
{
    struct reader *reader = argument;
    char buffer[8];

    reader->result = ReadFile(reader->end, buffer, 8, &reader->done, NULL);
    return 0;
}

/* A call that waits, on an overlapped handle and on one that is not. */
static void test_call_that_waits_signals_its_end(void **state)
{
    for (int overlapped = 0; overlapped < 2; overlapped++) {
        struct reader reader = { .done = 77 };
        HANDLE thread;

        server = make_server(
            PIPE_ACCESS_DUPLEX | (overlapped ? FILE_FLAG_OVERLAPPED : 0), PIPE_TYPE_BYTE, 1);
        client = make_client(GENERIC_READ | GENERIC_WRITE, 0);
        reader.end = server;
        thread = CreateThread(NULL, 0, read_thread, &reader, 0, NULL);
        assert_non_null(thread);
        while (WaitForSingleObject(server, 0) == WAIT_OBJECT_0) /* it has not begun */
            SwitchToThread();
        put(client, "abc");
        assert_signalled(server);
        assert_signalled(thread);
        assert_true(reader.result);
        assert_int_equal(reader.done, 3);
        assert_true(CloseHandle(thread));
        close_pair(state);
    }
}

static void test_waits_for_several_pipes(void **state)
{
    OVERLAPPED at[2] = { { 0 }, { 0 } };
    HANDLE ends[2];
    char buffer[2][8];

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE);
    ends[0] = server;
    ends[1] = client;
    for (int i = 0; i < 2; i++)
        assert_pending(ReadFile(ends[i], buffer[i], 8, NULL, &at[i]));
    assert_wait(WaitForMultipleObjects(2, ends, FALSE, 0), WAIT_TIMEOUT);
    assert_true(CancelIoEx(client, NULL));
    assert_wait(WaitForMultipleObjects(2, ends, FALSE, LONG_MS), WAIT_OBJECT_0 + 1);
    assert_wait(WaitForMultipleObjects(2, ends, TRUE, 0), WAIT_TIMEOUT);
    assert_true(CancelIoEx(server, NULL));
    assert_wait(WaitForMultipleObjects(2, ends, TRUE, LONG_MS), WAIT_OBJECT_0);
}

static VOID CALLBACK set_event(PVOID event, BOOLEAN timed_out)
{
    if (!timed_out)
        SetEvent((HANDLE)event);
}

static void test_registered_wait_for_a_pipe(void **state)
{
    OVERLAPPED at = { 0 };
    HANDLE wait = NULL;
    char buffer[8];

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE);
    assert_pending(ReadFile(server, buffer, 8, NULL, &at));
    assert_true(RegisterWaitForSingleObject(
        &wait, server, set_event, events[0], INFINITE, WT_EXECUTEONLYONCE));
    put_message(client, "abc");
    assert_signalled(events[0]);
    assert_ended(server, &at, 3);
    assert_true(UnregisterWaitEx(wait, INVALID_HANDLE_VALUE));
}

static void test_modes_can_leave_the_signal_out(void **state)
{
    OVERLAPPED at = { 0 };
    char buffer[8];

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE);
    assert_pending(ReadFile(server, buffer, 8, NULL, &at));
    assert_not_signalled(server);
    assert_true(SetFileCompletionNotificationModes(server, FILE_SKIP_SET_EVENT_ON_HANDLE));
    put_message(client, "abc");
    assert_result(server, &at, TRUE, 3, 0);
    assert_not_signalled(server);
}

enum { ROUNDS = 500 };

static DWORD WINAPI writer_thread(LPVOID count)
{
    DWORD done;

    for (int i = 0; i < (int)(ULONG_PTR)count; i++)
        if (!WriteFile(client, &i, sizeof(i), &done, NULL))
            return 1;
    return 0;
}

/* A wait ends after the request, whatever the handle was before: nothing old signals it. */
static void test_wait_ends_after_the_request(void **state)
{
    HANDLE thread;

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE);
    thread = CreateThread(NULL, 0, writer_thread, (LPVOID)ROUNDS, 0, NULL);
    assert_non_null(thread);
    for (int i = 0; i < ROUNDS; i++) {
        OVERLAPPED at = { 0 };
        int number = -1;
        DWORD done;

        if (!ReadFile(server, &number, sizeof(number), NULL, &at))
            assert_win_error(SPEC_ERROR_IO_PENDING);
        if (i % 2)
            assert_signalled(server);
        else
            assert_true(GetOverlappedResult(server, &at, &done, TRUE));
        assert_ended(server, &at, sizeof(number));
        assert_int_equal(number, i);
    }
    assert_signalled(thread);
    assert_true(CloseHandle(thread));
}

/* GetOverlappedResult waits for a request without an event, and the handle tells of it besides. */
static void test_result_of_a_request_without_an_event(void **state)
{
    OVERLAPPED at = { 0 };
    char buffer[8];
    DWORD done = 77;
    HANDLE thread;

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE);
    for (int i = 0; i < 2; i++) {
        assert_pending(ReadFile(server, buffer, 8, NULL, &at));
        assert_fails(GetOverlappedResult(server, &at, &done, FALSE), SPEC_ERROR_IO_INCOMPLETE);
        assert_fails(GetOverlappedResultEx(server, &at, &done, 1, FALSE), SPEC_WAIT_TIMEOUT);
        thread = CreateThread(NULL, 0, writer_thread, (LPVOID)1, 0, NULL);
        assert_non_null(thread);
        if (i)
            assert_true(GetOverlappedResult(server, &at, &done, TRUE));
        else
            assert_true(GetOverlappedResultEx(server, &at, &done, LONG_MS, FALSE));
        assert_int_equal(done, sizeof(int));
        assert_signalled(server);
        assert_signalled(thread);
        assert_true(CloseHandle(thread));
    }
}

#ifndef _WIN32 /* Wine waits for the handle, which another request has signalled */
/* Each waits for its own. */
static void test_results_of_two_requests_without_events(void **state)
{
    OVERLAPPED at[2] = { { 0 }, { 0 } };
    char buffer[2][8];
    DWORD done = 77;
    HANDLE thread;

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE);
    for (int i = 0; i < 2; i++)
        assert_pending(ReadFile(server, buffer[i], 4, NULL, &at[i]));
    put_message(client, "ab");
    thread = CreateThread(NULL, 0, writer_thread, (LPVOID)1, 0, NULL);
    assert_non_null(thread);
    assert_true(GetOverlappedResult(server, &at[1], &done, TRUE));
    assert_int_equal(done, sizeof(int));
    assert_ended(server, &at[0], 2);
    assert_signalled(thread);
    assert_true(CloseHandle(thread));
}
#endif

static void test_files(void **state)
{
    char *name = own_name(DIFFERS("file-wait", "file-wait-pe", "both run at once")), text[8] = "";
    OVERLAPPED at = { 0 };
    DWORD done;
    HANDLE file = CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_ALWAYS,
        FILE_FLAG_OVERLAPPED | FILE_FLAG_DELETE_ON_CLOSE, NULL);

    (void)state;
    assert_true(file != INVALID_HANDLE_VALUE);
    assert_signalled(file);
    for (int i = 0; i < 100; i++) {
        assert_true(WriteFile(file, "octets", 6, NULL, &at) || GetLastError() == ERROR_IO_PENDING);
        assert_signalled(file);
        assert_ended(file, &at, 6);
        assert_true(ReadFile(file, text, 8, NULL, &at) || GetLastError() == ERROR_IO_PENDING);
        assert_signalled(file);
        assert_ended(file, &at, 6);
    }
    at.hEvent = events[0];
    assert_true(ReadFile(file, text, 8, NULL, &at) || GetLastError() == ERROR_IO_PENDING);
    assert_result(file, &at, TRUE, 6, 0);
#ifndef _WIN32 /* Wine never ends the signal of a file on a disk */
    assert_not_signalled(file);
#endif
    assert_true(CloseHandle(file));
    file = CreateFileA(name, GENERIC_READ | GENERIC_WRITE, 0, NULL, CREATE_ALWAYS,
        FILE_FLAG_DELETE_ON_CLOSE, NULL);
    assert_signalled(file);
    assert_true(WriteFile(file, "octets", 6, &done, NULL));
    assert_signalled(file);
    assert_true(CloseHandle(file));
    assert_wait(WaitForSingleObject(file, 0), WAIT_FAILED);
    assert_win_error(SPEC_ERROR_INVALID_HANDLE);
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_request_without_an_event_signals_the_pipe),
        ROW(test_first_wait_is_in_the_middle_of_a_request),
        ROW(test_request_with_an_event_does_not),
        ROW(test_cancelled_request_signals_the_pipe),
        ROW(test_connect_signals_the_pipe),
        ROW(test_call_that_waits_signals_its_end),
        ROW(test_waits_for_several_pipes),
        ROW(test_registered_wait_for_a_pipe),
        ROW(test_modes_can_leave_the_signal_out),
        ROW(test_wait_ends_after_the_request),
        ROW(test_result_of_a_request_without_an_event),
#ifndef _WIN32
        ROW(test_results_of_two_requests_without_events),
#endif
        ROW(test_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
