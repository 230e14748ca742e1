/* SPDX-License-Identifier: MIT */
/* test_pipe.c - named pipes by calls that wait: names, instances, states, octets and messages. */
#include "pipe_pair.h"

#define assert_no_handle(call, error)                                                              \
    do {                                                                                           \
        SetLastError(0xdead);                                                                      \
        assert_true((call) == INVALID_HANDLE_VALUE);                                               \
        assert_win_error(error);                                                                   \
    } while (0)

static void test_octets_go_both_ways(void **state)
{
    (void)state;
    pair(0, PIPE_TYPE_BYTE);
    put(client, "abc");
    put(client, "de");
    get(server, "abcde");
    put(server, "xyz");
    get(client, "xyz");
    assert_int_equal(GetFileType(server), FILE_TYPE_PIPE);
    assert_int_equal(GetFileType(client), FILE_TYPE_PIPE);
}

static void test_messages_keep_their_borders(void **state)
{
    DWORD mode = PIPE_READMODE_MESSAGE, done;
    char buffer[8];

    (void)state;
    pair(0, PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE);
    put(client, "abc");
    put(client, "de");
    get(server, "abc");
    get(server, "de");
    assert_true(SetNamedPipeHandleState(client, &mode, NULL, NULL));
    put(server, "0123456789");
    put(server, "next");
    assert_fails(ReadFile(client, buffer, 4, &done, NULL), SPEC_ERROR_MORE_DATA);
    assert_int_equal(done, 4);
    assert_memory_equal(buffer, "0123", 4);
    assert_fails(ReadFile(client, buffer, 4, &done, NULL), SPEC_ERROR_MORE_DATA);
    assert_memory_equal(buffer, "4567", 4);
    assert_true(ReadFile(client, buffer, 4, &done, NULL));
    assert_int_equal(done, 2);
    get(client, "next");
}

static void test_empty_message_is_one(void **state)
{
    DWORD done = 77;
    char buffer[8];

    (void)state;
    pair(0, PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE);
    assert_true(WriteFile(client, "", 0, &done, NULL));
    assert_int_equal(done, 0);
    put(client, "next");
    done = 77;
    assert_true(ReadFile(server, buffer, 8, &done, NULL));
    assert_int_equal(done, 0);
    get(server, "next");
}

static void test_messages_read_as_octets(void **state)
{
    (void)state;
    pair(0, PIPE_TYPE_MESSAGE);
    put(client, "abc");
    put(client, "de");
    get(server, "abcde");
}

static void test_states_of_an_instance(void **state)
{
    char buffer[8];
    DWORD done;

    (void)state;
    server = make_server(PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1);
    assert_fails(ReadFile(server, buffer, 8, &done, NULL), SPEC_ERROR_PIPE_LISTENING);
    assert_fails(WriteFile(server, "a", 1, &done, NULL), SPEC_ERROR_PIPE_LISTENING);
    client = make_client(GENERIC_READ | GENERIC_WRITE, 0);
    assert_true(client != INVALID_HANDLE_VALUE);
    assert_fails(ConnectNamedPipe(server, NULL), SPEC_ERROR_PIPE_CONNECTED);
    assert_no_handle(make_client(GENERIC_READ, 0), SPEC_ERROR_PIPE_BUSY);
    put(client, "last");
    assert_true(CloseHandle(client));
    assert_fails(ConnectNamedPipe(server, NULL), SPEC_ERROR_NO_DATA);
    get(server, "last");
    assert_fails(ReadFile(server, buffer, 8, &done, NULL), SPEC_ERROR_BROKEN_PIPE);
    assert_fails(WriteFile(server, "a", 1, &done, NULL), SPEC_ERROR_NO_DATA);
    assert_no_handle(make_client(GENERIC_READ, 0), SPEC_ERROR_PIPE_BUSY);
    assert_true(DisconnectNamedPipe(server));
    assert_fails(DisconnectNamedPipe(server), SPEC_ERROR_PIPE_NOT_CONNECTED);
    assert_fails(ReadFile(server, buffer, 8, &done, NULL), SPEC_ERROR_PIPE_NOT_CONNECTED);
    assert_fails(WriteFile(server, "a", 1, &done, NULL), SPEC_ERROR_PIPE_NOT_CONNECTED);
    assert_no_handle(client = make_client(GENERIC_READ, 0), SPEC_ERROR_PIPE_BUSY);
}

static void test_client_of_a_closed_server(void **state)
{
    char buffer[8];
    DWORD done;

    (void)state;
    pair(0, PIPE_TYPE_BYTE);
    put(server, "last");
    assert_true(CloseHandle(server));
    server = NULL;
    get(client, "last");
    assert_fails(ReadFile(client, buffer, 8, &done, NULL), SPEC_ERROR_BROKEN_PIPE);
    assert_fails(WriteFile(client, "a", 1, &done, NULL), SPEC_ERROR_NO_DATA);
    assert_no_handle(make_client(GENERIC_READ, 0), SPEC_ERROR_FILE_NOT_FOUND);
}

static void test_disconnect_loses_what_was_not_read(void **state)
{
    char buffer[8];
    DWORD done;

    (void)state;
    pair(0, PIPE_TYPE_BYTE);
    put(server, "lost");
    assert_true(DisconnectNamedPipe(server));
    assert_fails(ReadFile(client, buffer, 8, &done, NULL), SPEC_ERROR_PIPE_NOT_CONNECTED);
    assert_fails(WriteFile(client, "a", 1, &done, NULL), SPEC_ERROR_PIPE_NOT_CONNECTED);
}

static void test_message_of_a_client_that_left_one_unread(void **state)
{
    char buffer[8];
    DWORD done;

    (void)state;
    pair(0, PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE);
    put(server, "unread");
    put(client, "last");
    assert_true(CloseHandle(client));
    client = NULL;
    get(server, "last");
    assert_fails(ReadFile(server, buffer, 8, &done, NULL), SPEC_ERROR_BROKEN_PIPE);
}

#ifndef _WIN32 /* Wine forgets it */
static void test_rest_of_a_message_that_is_flushed(void **state)
{
    DWORD mode = PIPE_READMODE_MESSAGE, done;
    char buffer[8];

    (void)state;
    pair(0, PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE);
    assert_true(SetNamedPipeHandleState(client, &mode, NULL, NULL));
    put(server, "0123456789");
    assert_fails(ReadFile(client, buffer, 4, &done, NULL), SPEC_ERROR_MORE_DATA);
    assert_true(FlushFileBuffers(server));
    assert_true(DisconnectNamedPipe(server));
    assert_fails(ReadFile(client, buffer, 4, &done, NULL), SPEC_ERROR_MORE_DATA);
    assert_memory_equal(buffer, "4567", 4);
    get(client, "89");
    assert_fails(ReadFile(client, buffer, 4, &done, NULL), SPEC_ERROR_PIPE_NOT_CONNECTED);
}
#endif

static DWORD WINAPI connect_thread(LPVOID result)
{
    *(DWORD *)result = ConnectNamedPipe(server, NULL) ? 0 : GetLastError();
    return 0;
}

/* A client either comes during ConnectNamedPipe or, as fast as it may be, before. */
static void test_the_next_client(void **state)
{
    DWORD result = 99;
    HANDLE thread;

    (void)state;
    pair(0, PIPE_TYPE_BYTE);
    assert_true(CloseHandle(client));
    assert_true(DisconnectNamedPipe(server));
    thread = CreateThread(NULL, 0, connect_thread, &result, 0, NULL);
    assert_true(WaitNamedPipeA(pipe_path(), NMPWAIT_WAIT_FOREVER));
    client = make_client(GENERIC_READ | GENERIC_WRITE, 0);
    assert_true(client != INVALID_HANDLE_VALUE);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(result, 0);
    assert_true(CloseHandle(thread));
    put(client, "abc");
    get(server, "abc");
}

static void test_wait_for_an_instance(void **state)
{
    (void)state;
    assert_fails(WaitNamedPipe(pipe_path(), 1), SPEC_ERROR_FILE_NOT_FOUND);
    pair(0, PIPE_TYPE_BYTE);
    assert_fails(WaitNamedPipeA(pipe_path(), 1), SPEC_ERROR_SEM_TIMEOUT);
    assert_fails(WaitNamedPipeA(pipe_path(), NMPWAIT_USE_DEFAULT_WAIT), SPEC_ERROR_SEM_TIMEOUT);
    assert_no_handle(make_client(GENERIC_READ, 0), SPEC_ERROR_PIPE_BUSY);
}

static void test_instances(void **state)
{
    HANDLE second = NULL;
    DWORD count = 0, most = 0;

    (void)state;
    server = make_server(PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 2);
    assert_no_handle(make_server(PIPE_ACCESS_INBOUND, PIPE_TYPE_BYTE, 2), SPEC_ERROR_ACCESS_DENIED);
#ifndef _WIN32 /* Wine ignores FILE_FLAG_FIRST_PIPE_INSTANCE */
    assert_no_handle(
        make_server(PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE, PIPE_TYPE_BYTE, 2),
        SPEC_ERROR_ACCESS_DENIED);
#endif
    second = make_server(PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 2);
    assert_true(second != INVALID_HANDLE_VALUE);
    assert_no_handle(make_server(PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 2), SPEC_ERROR_PIPE_BUSY);
    assert_true(GetNamedPipeHandleState(server, NULL, &count, NULL, NULL, NULL, 0));
    assert_int_equal(count, 2);
    assert_true(GetNamedPipeInfo(server, NULL, NULL, NULL, &most));
    assert_int_equal(most, 2);
    assert_true(CloseHandle(server));
    server = NULL;
    client = make_client(GENERIC_READ | GENERIC_WRITE, 0);
    assert_true(client != INVALID_HANDLE_VALUE);
    assert_true(GetNamedPipeHandleStateA(client, NULL, &count, NULL, NULL, NULL, 0));
    assert_int_equal(count, 1);
    put(client, "abc");
    get(second, "abc");
    assert_true(CloseHandle(second));
    server = make_server(PIPE_ACCESS_INBOUND | FILE_FLAG_FIRST_PIPE_INSTANCE, PIPE_TYPE_MESSAGE, 1);
    assert_true(server != INVALID_HANDLE_VALUE);
}

static void test_directions(void **state)
{
    char buffer[8];
    DWORD done;

    (void)state;
    server = make_server(PIPE_ACCESS_INBOUND, PIPE_TYPE_BYTE, 1);
    assert_no_handle(make_client(GENERIC_READ, 0), SPEC_ERROR_ACCESS_DENIED);
    client = make_client(GENERIC_WRITE, 0);
    assert_true(client != INVALID_HANDLE_VALUE);
    put(client, "abc");
    get(server, "abc");
    assert_fails(ReadFile(client, buffer, 8, &done, NULL), SPEC_ERROR_ACCESS_DENIED);
    assert_fails(WriteFile(server, "a", 1, &done, NULL), SPEC_ERROR_ACCESS_DENIED);
    close_pair(NULL);
    server = make_server(PIPE_ACCESS_OUTBOUND, PIPE_TYPE_BYTE, 1);
    assert_no_handle(make_client(GENERIC_WRITE, 0), SPEC_ERROR_ACCESS_DENIED);
    client = make_client(GENERIC_READ, 0);
    put(server, "abc");
    get(client, "abc");
}

static void test_arguments(void **state)
{
    (void)state;
    assert_no_handle(make_server(0, PIPE_TYPE_BYTE, 1), SPEC_ERROR_INVALID_PARAMETER);
#ifndef _WIN32 /* Wine takes any number */
    assert_no_handle(
        make_server(PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 0), SPEC_ERROR_INVALID_PARAMETER);
    assert_no_handle(
        make_server(PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 256), SPEC_ERROR_INVALID_PARAMETER);
#endif
    assert_no_handle(make_server(PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE | PIPE_READMODE_MESSAGE, 1),
        SPEC_ERROR_INVALID_PARAMETER);
    assert_no_handle(CreateNamedPipeA("ndspi-test", PIPE_ACCESS_DUPLEX, 0, 1, 0, 0, 0, NULL),
        SPEC_ERROR_INVALID_NAME);
    assert_no_handle(make_client(GENERIC_READ, 0), SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(ConnectNamedPipe((HANDLE)0x12345670, NULL), SPEC_ERROR_INVALID_HANDLE);
    assert_fails(DisconnectNamedPipe((HANDLE)0x12345670), SPEC_ERROR_INVALID_HANDLE);
}

static void test_case_does_not_count(void **state)
{
    char path[64];

    (void)state;
    server = make_server(PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1);
    snprintf(
        path, sizeof(path), "\\\\.\\PIPE\\NDSPI-Test-%lu", (unsigned long)GetCurrentProcessId());
    client = CreateFileA(path, GENERIC_READ, 0, NULL, OPEN_EXISTING, 0, NULL);
    assert_true(client != INVALID_HANDLE_VALUE);
}

static void test_wide_names(void **state)
{
    WCHAR *path = own_wide(own_name("\\\\.\\pipe\\#ndspi-test"));

    path[strlen("\\\\.\\pipe\\")] = 0x00e9;

    (void)state;
    server = CreateNamedPipeW(path, PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE, 1, 4096, 4096, 0, NULL);
    assert_true(server != INVALID_HANDLE_VALUE);
    assert_true(WaitNamedPipeW(path, 1));
    client = CreateFileW(path, GENERIC_READ | GENERIC_WRITE, 0, NULL, OPEN_EXISTING, 0, NULL);
    assert_true(client != INVALID_HANDLE_VALUE);
    put(client, "abc");
    get(server, "abc");
}

static void test_state_and_info(void **state)
{
    DWORD mode = 77, flags = 77, out = 0, in = 0, most = 0;

    (void)state;
    server = make_server(PIPE_ACCESS_DUPLEX, PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE, 255);
    client = make_client(GENERIC_READ | GENERIC_WRITE, 0);
    assert_true(GetNamedPipeHandleStateA(server, &mode, NULL, NULL, NULL, NULL, 0));
    assert_int_equal(mode, PIPE_READMODE_MESSAGE);
    assert_true(GetNamedPipeHandleStateW(client, &mode, NULL, NULL, NULL, NULL, 0));
    assert_int_equal(mode, 0);
    assert_true(GetNamedPipeInfo(server, &flags, &out, &in, &most));
    assert_int_equal(flags, 5);
    assert_int_equal(out, 4096);
    assert_int_equal(in, 2048);
    assert_int_equal(most, DIFFERS(255, 0xffffffffu, "Wine tells what it keeps"));
    assert_true(GetNamedPipeInfo(client, &flags, NULL, NULL, NULL));
    assert_int_equal(flags, 4);
    mode = PIPE_NOWAIT;
    assert_true(SetNamedPipeHandleState(client, &mode, NULL, NULL));
    assert_true(GetNamedPipeHandleStateA(client, &mode, NULL, NULL, NULL, NULL, 0));
    assert_int_equal(mode, PIPE_NOWAIT);
    mode = 0x40;
    assert_fails(SetNamedPipeHandleState(client, &mode, NULL, NULL), SPEC_ERROR_INVALID_PARAMETER);
    close_pair(NULL);
    pair(0, PIPE_TYPE_BYTE);
    mode = PIPE_READMODE_MESSAGE;
    assert_fails(SetNamedPipeHandleState(client, &mode, NULL, NULL), SPEC_ERROR_INVALID_PARAMETER);
}

static void test_pipe_that_does_not_wait(void **state)
{
    char buffer[8];
    DWORD done;

    (void)state;
    server = make_server(PIPE_ACCESS_DUPLEX, PIPE_TYPE_BYTE | PIPE_NOWAIT, 1);
    assert_fails(ConnectNamedPipe(server, NULL), SPEC_ERROR_PIPE_LISTENING);
    client = make_client(GENERIC_READ | GENERIC_WRITE, 0);
    assert_fails(ConnectNamedPipe(server, NULL), SPEC_ERROR_PIPE_CONNECTED);
    for (int i = 0; i < 3; i++) {
        assert_fails(ReadFile(server, buffer, 8, &done, NULL), SPEC_ERROR_NO_DATA);
        put(client, "abc");
        get(server, "abc");
    }
#ifndef _WIN32 /* Wine: 536 from the first one on */
    assert_true(CloseHandle(client));
    client = NULL;
    assert_true(DisconnectNamedPipe(server));
    assert_true(ConnectNamedPipe(server, NULL));
    assert_fails(ConnectNamedPipe(server, NULL), SPEC_ERROR_PIPE_LISTENING);
#endif
}

/* Answers one message by another, "abc" by "ABCD". */
static DWORD WINAPI answer_thread(LPVOID unused)
{
    (void)unused;
    if (!ConnectNamedPipe(server, NULL) && GetLastError() != ERROR_PIPE_CONNECTED)
        return 1;
    get(server, "abc");
    put(server, "ABCD");
    return 0;
}

static void test_transaction(void **state)
{
    DWORD mode = PIPE_READMODE_MESSAGE, done;
    char buffer[8];
    HANDLE thread;

    (void)state;
    pair(0, PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE);
    assert_fails(TransactNamedPipe(client, "abc", 3, buffer, 8, &done, NULL), SPEC_ERROR_BAD_PIPE);
    assert_true(SetNamedPipeHandleState(client, &mode, NULL, NULL));
    thread = CreateThread(NULL, 0, answer_thread, NULL, 0, NULL);
    assert_true(TransactNamedPipe(client, "abc", 3, buffer, 8, &done, NULL));
    assert_int_equal(done, 4);
    assert_memory_equal(buffer, "ABCD", 4);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(thread));
    put(server, "unread");
    assert_fails(TransactNamedPipe(client, "abc", 3, buffer, 8, &done, NULL), SPEC_ERROR_PIPE_BUSY);
}

static void test_call(void **state)
{
    DWORD done;
    char buffer[8];
    HANDLE thread;

    (void)state;
    assert_fails(CallNamedPipe(pipe_path(), (void *)"abc", 3, buffer, 8, &done, 1),
        SPEC_ERROR_FILE_NOT_FOUND);
    assert_fails(CallNamedPipeW(L"\\\\.\\pipe\\ndspi-test-none", buffer, 3, buffer, 8, &done, 1),
        SPEC_ERROR_FILE_NOT_FOUND);
    server = make_server(PIPE_ACCESS_DUPLEX, PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE, 1);
    thread = CreateThread(NULL, 0, answer_thread, NULL, 0, NULL);
    assert_true(
        CallNamedPipeA(pipe_path(), (void *)"abc", 3, buffer, 8, &done, NMPWAIT_WAIT_FOREVER));
    assert_int_equal(done, 4);
    assert_memory_equal(buffer, "ABCD", 4);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(thread));
    assert_fails(CallNamedPipeA(pipe_path(), (void *)"abc", 3, buffer, 8, &done, NMPWAIT_NOWAIT),
        DIFFERS(SPEC_ERROR_PIPE_BUSY, SPEC_ERROR_SEM_TIMEOUT, "Wine waits for 1 ms"));
}

static DWORD WINAPI flush_thread(LPVOID result)
{
    *(DWORD *)result = FlushFileBuffers(server) ? 0 : GetLastError();
    return 0;
}

static void test_flush_waits_for_the_reader(void **state)
{
    DWORD result = 99;
    HANDLE thread;

    (void)state;
    pair(0, PIPE_TYPE_BYTE);
    assert_true(FlushFileBuffers(server));
    put(server, "abc");
    thread = CreateThread(NULL, 0, flush_thread, &result, 0, NULL);
    assert_wait(WaitForSingleObject(thread, 20), WAIT_TIMEOUT);
    get(client, "abc");
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(result, 0);
    assert_true(CloseHandle(thread));
}

/* read_some: the reader has begun, and the rest is lost with it. */
static void flush_while_the_reader_leaves(bool read_some)
{
    DWORD result = 99, done = 0;
    char octets[3];
    HANDLE thread;

    pair(0, PIPE_TYPE_BYTE);
    put(server, "abcdef");
    if (read_some)
        assert_true(ReadFile(client, octets, 3, &done, NULL) && done == 3);
    thread = CreateThread(NULL, 0, flush_thread, &result, 0, NULL);
    assert_wait(WaitForSingleObject(thread, 20), WAIT_TIMEOUT);
    assert_true(CloseHandle(client));
    client = INVALID_HANDLE_VALUE;
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(result, SPEC_ERROR_BROKEN_PIPE);
    assert_true(CloseHandle(thread));
}

static void test_flush_ends_when_the_reader_leaves(void **state)
{
    (void)state;
    flush_while_the_reader_leaves(false);
}

static void test_flush_ends_when_the_reader_leaves_in_the_middle(void **state)
{
    (void)state;
    flush_while_the_reader_leaves(true);
}

static void test_process_ids(void **state)
{
    ULONG id = 0;

    (void)state;
    pair(0, PIPE_TYPE_BYTE);
    assert_true(GetNamedPipeClientProcessId(server, &id));
    assert_int_equal(id, GetCurrentProcessId());
    id = 0;
    assert_true(GetNamedPipeServerProcessId(client, &id));
    assert_int_equal(id, GetCurrentProcessId());
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, NULL, close_pair)
    const struct CMUnitTest tests[] = {
        ROW(test_octets_go_both_ways),
        ROW(test_messages_keep_their_borders),
        ROW(test_empty_message_is_one),
        ROW(test_messages_read_as_octets),
        ROW(test_states_of_an_instance),
        ROW(test_client_of_a_closed_server),
        ROW(test_disconnect_loses_what_was_not_read),
        ROW(test_message_of_a_client_that_left_one_unread),
#ifndef _WIN32
        ROW(test_rest_of_a_message_that_is_flushed),
#endif
        ROW(test_the_next_client),
        ROW(test_wait_for_an_instance),
        ROW(test_instances),
        ROW(test_directions),
        ROW(test_arguments),
        ROW(test_case_does_not_count),
        ROW(test_wide_names),
        ROW(test_state_and_info),
        ROW(test_pipe_that_does_not_wait),
        ROW(test_transaction),
        ROW(test_call),
        ROW(test_flush_waits_for_the_reader),
        ROW(test_flush_ends_when_the_reader_leaves),
        ROW(test_flush_ends_when_the_reader_leaves_in_the_middle),
        ROW(test_process_ids),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
