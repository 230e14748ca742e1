/* SPDX-License-Identifier: MIT */
/* test_pipe_requests.c - overlapped requests on named pipes: ports, order, cancels, ends of connections. */
#include "pipe_requests.h"

#include <stdlib.h>

static void test_connect_ends_when_a_client_comes(void **state)
{
    OVERLAPPED at = { .hEvent = events[0] };

    (void)state;
    server = make_server(PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE, 1);
    assert_pending(ConnectNamedPipe(server, &at));
    assert_wait(WaitForSingleObject(at.hEvent, 0), WAIT_TIMEOUT);
    client = make_client(GENERIC_READ | GENERIC_WRITE, 0);
    assert_true(client != INVALID_HANDLE_VALUE);
    assert_wait(WaitForSingleObject(at.hEvent, LONG_MS), WAIT_OBJECT_0);
    assert_result(server, &at, TRUE, 0, 0);
    assert_fails(ConnectNamedPipe(server, &at), SPEC_ERROR_PIPE_CONNECTED);
}

static void test_packets_are_in_the_order_of_the_requests(void **state)
{
    OVERLAPPED connect = { 0 }, reads[3] = { { 0 } }, write = { 0 };
    char buffers[3][4];

    (void)state;
    server = make_server(
        PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE, 1);
    assert_non_null(port = CreateIoCompletionPort(server, NULL, 9, 0));
    assert_pending(ConnectNamedPipe(server, &connect));
    client = make_client(GENERIC_READ | GENERIC_WRITE, 0);
    assert_ptr_equal(packet(TRUE, 0, 0), &connect);
    for (int i = 0; i < 3; i++)
        assert_pending(ReadFile(server, buffers[i], 4, NULL, &reads[i]));
    put(client, "a");
    put(client, "bc");
    put(client, "01234567");
    assert_ptr_equal(packet(TRUE, 1, 0), &reads[0]);
    assert_ptr_equal(packet(TRUE, 2, 0), &reads[1]);
    assert_ptr_equal(packet(FALSE, 4, SPEC_ERROR_MORE_DATA), &reads[2]);
    assert_memory_equal(buffers[1], "bc", 2);
    assert_true(WriteFile(server, "ok", 2, NULL, &write) || GetLastError() == ERROR_IO_PENDING);
    assert_ptr_equal(packet(TRUE, 2, 0), &write);
    get(client, "ok");
}

static void test_read_without_room_waits_for_data(void **state)
{
    OVERLAPPED at = { .hEvent = events[0] };

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE);
    assert_pending(ReadFile(server, NULL, 0, NULL, &at));
    {
        OVERLAPPED write = { .hEvent = events[1] };
        assert_true(
            WriteFile(client, "abc", 3, NULL, &write) || GetLastError() == ERROR_IO_PENDING);
        assert_result(client, &write, TRUE, 3, 0);
    }
    assert_result(server, &at, TRUE, 0, 0);
}

static void test_write_waits_for_room(void **state)
{
    enum { BYTES = 4 << 20 };
    char *out = malloc(BYTES), *in = malloc(BYTES);
    OVERLAPPED write = { .hEvent = events[0] }, read = { .hEvent = events[1] };
    DWORD got = 0, done;

    (void)state;
    assert_non_null(out);
    assert_non_null(in);
    for (int i = 0; i < BYTES; i++)
        out[i] = (char)(i * 7 + i / 256);
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE);
    assert_pending(WriteFile(client, out, BYTES, NULL, &write));
    assert_false(HasOverlappedIoCompleted(&write));
    while (got < BYTES) {
        assert_true(ReadFile(server, in + got, BYTES - got, NULL, &read) ||
                    GetLastError() == ERROR_IO_PENDING);
        assert_true(GetOverlappedResult(server, &read, &done, TRUE));
        got += done;
    }
    assert_result(client, &write, TRUE, BYTES, 0);
    assert_memory_equal(in, out, BYTES);
    free(out);
    free(in);
}

enum { LARGE = 300000 };

/* Of both ends: more than a socket has room for unless its program asks for more. */
static void test_large_messages(void **state)
{
    char *out = malloc(LARGE), *in = malloc(LARGE);

    (void)state;
    assert_non_null(out);
    assert_non_null(in);
    for (int i = 0; i < LARGE; i++)
        out[i] = (char)(i * 7 + i / 256);
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE);
    for (int turn = 0; turn < 2; turn++) {
        HANDLE from = turn ? server : client, to = turn ? client : server;
        OVERLAPPED write = { .hEvent = events[0] }, read = { .hEvent = events[1] };

        memset(in, 0, LARGE);
        assert_true(
            WriteFile(from, out, LARGE, NULL, &write) || GetLastError() == ERROR_IO_PENDING);
        assert_true(ReadFile(to, in, LARGE, NULL, &read) || GetLastError() == ERROR_IO_PENDING);
        assert_result(to, &read, TRUE, LARGE, 0);
        assert_result(from, &write, TRUE, LARGE, 0);
        assert_memory_equal(in, out, LARGE);
    }
    free(out);
    free(in);
}

#ifndef _WIN32 /* Wine: an empty message takes no room */
static void test_empty_messages_wait_for_a_reader_that_peeks_alone(void **state)
{
    OVERLAPPED write = { .hEvent = events[0] };
    BOOL written = TRUE;
    DWORD total;

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE);
    for (int i = 0; i < 200000 && written; i++) {
        assert_true(PeekNamedPipe(server, NULL, 0, NULL, &total, NULL));
        assert_int_equal(total, 0);
        SetLastError(0xdead);
        written = WriteFile(client, "", 0, NULL, &write);
    }
    assert_false(written);
    assert_win_error(SPEC_ERROR_IO_PENDING);
    assert_true(CancelIoEx(client, &write));
    assert_result(client, &write, FALSE, 0, SPEC_ERROR_OPERATION_ABORTED);
}
#endif

static void test_cancel(void **state)
{
    OVERLAPPED connect = { .hEvent = events[0] };
    OVERLAPPED reads[2] = { { .hEvent = events[1] }, { .hEvent = events[2] } };
    char buffer[8];

    (void)state;
    server = make_server(PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE, 1);
    assert_pending(ConnectNamedPipe(server, &connect));
    assert_true(CancelIoEx(server, &connect));
    assert_result(server, &connect, FALSE, 0, SPEC_ERROR_OPERATION_ABORTED);
    client = make_client(GENERIC_READ | GENERIC_WRITE, 0);
    for (int i = 0; i < 2; i++)
        assert_pending(ReadFile(server, buffer, 8, NULL, &reads[i]));
    assert_true(CancelIoEx(server, &reads[1]));
    assert_result(server, &reads[1], FALSE, 0, SPEC_ERROR_OPERATION_ABORTED);
    assert_false(HasOverlappedIoCompleted(&reads[0]));
    assert_true(CancelIo(server));
    assert_result(server, &reads[0], FALSE, 0, SPEC_ERROR_OPERATION_ABORTED);
    put(client, "abc");
    assert_true(ReadFile(server, buffer, 8, NULL, &reads[0]) || GetLastError() == ERROR_IO_PENDING);
    assert_result(server, &reads[0], TRUE, 3, 0);
}

static void test_pending_read_when_the_other_end_goes(void **state)
{
    OVERLAPPED at = { .hEvent = events[0] };
    char buffer[8];

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE);
    assert_pending(ReadFile(server, buffer, 8, NULL, &at));
    assert_true(CloseHandle(client));
    client = NULL;
    assert_result(server, &at, FALSE, 0, SPEC_ERROR_BROKEN_PIPE);
    close_pair(NULL);
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE);
    assert_pending(ReadFile(client, buffer, 8, NULL, &at));
    assert_true(DisconnectNamedPipe(server));
    assert_result(client, &at, FALSE, 0, SPEC_ERROR_PIPE_NOT_CONNECTED);
}

static void test_disconnect_ends_what_is_pending(void **state)
{
    OVERLAPPED at = { .hEvent = events[0] };
    char buffer[8];

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE);
    assert_pending(ReadFile(server, buffer, 8, NULL, &at));
    assert_true(DisconnectNamedPipe(server));
    assert_result(server, &at, FALSE, 0, SPEC_ERROR_PIPE_NOT_CONNECTED);
}

static void test_close_cancels(void **state)
{
    OVERLAPPED at = { .hEvent = events[0] };
    char buffer[8];

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE);
    assert_non_null(port = CreateIoCompletionPort(server, NULL, 9, 0));
    assert_pending(ReadFile(server, buffer, 8, NULL, &at));
    assert_true(CloseHandle(server));
    server = NULL;
    assert_ptr_equal(packet(FALSE, 0,
                         DIFFERS(SPEC_ERROR_OPERATION_ABORTED, SPEC_ERROR_BROKEN_PIPE,
                             "Wine ends it as a broken pipe")),
        &at);
}

static void test_transaction(void **state)
{
    DWORD mode = PIPE_READMODE_MESSAGE;
    OVERLAPPED at = { .hEvent = events[0] };
    char buffer[8];

    (void)state;
    server = make_server(PIPE_ACCESS_DUPLEX, PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE, 1);
    client = make_client(GENERIC_READ | GENERIC_WRITE, FILE_FLAG_OVERLAPPED);
    assert_true(SetNamedPipeHandleState(client, &mode, NULL, NULL));
    assert_pending(TransactNamedPipe(client, (void *)"abc", 3, buffer, 8, NULL, &at));
    get(server, "abc");
    put(server, "ABCD");
    assert_result(client, &at, TRUE, 4, 0);
    assert_memory_equal(buffer, "ABCD", 4);
}

enum { ROUNDS = 2000 };

static DWORD WINAPI echo_thread(LPVOID unused)
{
    char buffer[64];
    DWORD done, put_done;

    (void)unused;
    for (int i = 0; i < ROUNDS; i++)
        if (!ReadFile(client, buffer, 64, &done, NULL) ||
            !WriteFile(client, buffer, done, &put_done, NULL))
            return 1;
    return 0;
}

/* Cancels race with completions: each request ends once, and no octet is lost or doubled. */
static void test_cancel_against_completion(void **state)
{
    DWORD mode = PIPE_READMODE_MESSAGE, done, code = 99;
    HANDLE thread;
    int number;

    (void)state;
    server = make_server(
        PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE, 1);
    client = make_client(GENERIC_READ | GENERIC_WRITE, 0);
    assert_true(SetNamedPipeHandleState(client, &mode, NULL, NULL));
    thread = CreateThread(NULL, 0, echo_thread, NULL, 0, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        OVERLAPPED write = { .hEvent = events[0] }, read = { .hEvent = events[1] };
        BOOL ended;

        assert_true(
            WriteFile(server, &i, sizeof(i), NULL, &write) || GetLastError() == ERROR_IO_PENDING);
        assert_result(server, &write, TRUE, sizeof(i), 0);
        do {
            if (!ReadFile(server, &number, sizeof(number), NULL, &read)) {
                assert_win_error(SPEC_ERROR_IO_PENDING);
                CancelIoEx(server, &read);
            }
            ended = GetOverlappedResult(server, &read, &done, TRUE);
            if (!ended)
                assert_win_error(SPEC_ERROR_OPERATION_ABORTED);
        } while (!ended);
        assert_int_equal(done, sizeof(number));
        assert_int_equal(number, i);
    }
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, 0);
    assert_true(CloseHandle(thread));
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_connect_ends_when_a_client_comes),
        ROW(test_packets_are_in_the_order_of_the_requests),
        ROW(test_read_without_room_waits_for_data),
        ROW(test_write_waits_for_room),
        ROW(test_large_messages),
#ifndef _WIN32
        ROW(test_empty_messages_wait_for_a_reader_that_peeks_alone),
#endif
        ROW(test_cancel),
        ROW(test_pending_read_when_the_other_end_goes),
        ROW(test_disconnect_ends_what_is_pending),
        ROW(test_close_cancels),
        ROW(test_transaction),
        ROW(test_cancel_against_completion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
