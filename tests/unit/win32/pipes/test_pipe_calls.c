/* SPDX-License-Identifier: MIT */
/*
 * test_pipe_calls.c - overlapped named pipes in calls without an OVERLAPPED; messages without octets; which instance a
 * client comes to.
 */
#include "pipe_requests.h"

/* A call without an OVERLAPPED, by a thread of its own. */
struct call {
    enum { CALL_READ, CALL_WRITE, CALL_CONNECT, CALL_TRANSACT } kind;
    HANDLE end;
    char buffer[8];
    DWORD done, error;
    BOOL result;
};

static DWORD WINAPI call_thread(LPVOID argument)
{
    struct call *call = argument;

    SetLastError(0);
    call->done = 77;
    if (call->kind == CALL_READ)
        call->result = ReadFile(call->end, call->buffer, 8, &call->done, NULL);
    else if (call->kind == CALL_WRITE)
        call->result = WriteFile(call->end, "abc", 3, &call->done, NULL);
    else if (call->kind == CALL_CONNECT)
        call->result = ConnectNamedPipe(call->end, NULL);
    else
        call->result =
            TransactNamedPipe(call->end, (void *)"abc", 3, call->buffer, 8, &call->done, NULL);
    call->error = GetLastError();
    return 0;
}

static HANDLE begin_call(struct call *call)
{
    HANDLE thread = CreateThread(NULL, 0, call_thread, call, 0, NULL);

    assert_non_null(thread);
    return thread;
}

static void end_call(HANDLE thread)
{
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(CloseHandle(thread));
}

/* Source: Wine, which waits for the end. Microsoft's pages of ReadFile and WriteFile ask for an OVERLAPPED. */
static void test_calls_without_an_overlapped_wait(void **state)
{
    struct call read = { .kind = CALL_READ }, write = { .kind = CALL_WRITE };
    HANDLE threads[2];

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE);
    read.end = server;
    write.end = client;
    for (int i = 0; i < 2; i++) {
        threads[0] = begin_call(i ? &read : &write);
        threads[1] = begin_call(i ? &write : &read);
        end_call(threads[0]);
        end_call(threads[1]);
        assert_true(read.result && write.result);
        assert_int_equal(read.done, 3);
        assert_int_equal(write.done, 3);
        assert_memory_equal(read.buffer, "abc", 3);
    }
    assert_true(CloseHandle(client));
    client = NULL;
    end_call(begin_call(&read));
    assert_false(read.result);
    assert_int_equal(read.error, SPEC_ERROR_BROKEN_PIPE);
}

static void test_connect_without_an_overlapped_waits(void **state)
{
    struct call connect = { .kind = CALL_CONNECT };
    HANDLE thread;

    (void)state;
    connect.end = server =
        make_server(PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE, 1);
    thread = begin_call(&connect);
    client = make_client(GENERIC_READ | GENERIC_WRITE, 0);
    assert_true(client != INVALID_HANDLE_VALUE);
    end_call(thread);
    if (!connect.result) /* the client was faster */
        assert_int_equal(connect.error, SPEC_ERROR_PIPE_CONNECTED);
}

static void test_transaction_without_an_overlapped_waits(void **state)
{
    struct call transact = { .kind = CALL_TRANSACT };
    DWORD mode = PIPE_READMODE_MESSAGE;
    HANDLE thread;

    (void)state;
    server = make_server(PIPE_ACCESS_DUPLEX, PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE, 1);
    transact.end = client = make_client(GENERIC_READ | GENERIC_WRITE, FILE_FLAG_OVERLAPPED);
    assert_true(SetNamedPipeHandleState(client, &mode, NULL, NULL));
    thread = begin_call(&transact);
    get(server, "abc");
    put(server, "ABCD");
    end_call(thread);
    assert_true(transact.result);
    assert_int_equal(transact.done, 4);
    assert_memory_equal(transact.buffer, "ABCD", 4);
}

/* They queue behind requests that are pending, and make no packet. Source: Wine. */
static void test_calls_without_an_overlapped_make_no_packet(void **state)
{
    OVERLAPPED first = { 0 };
    struct call read = { .kind = CALL_READ };
    char buffer[4];
    HANDLE thread;

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE);
    read.end = server;
    assert_non_null(port = CreateIoCompletionPort(server, NULL, 9, 0));
    assert_pending(ReadFile(server, buffer, 4, NULL, &first));
    put_message(client, "one");
    assert_ptr_equal(packet(TRUE, 3, 0), &first);
    thread = begin_call(&read);
    put_message(client, "two");
    end_call(thread);
    assert_true(read.result);
    assert_memory_equal(read.buffer, "two", 3);
    assert_pending(ReadFile(server, buffer, 4, NULL, &first));
    put_message(client, "last");
    assert_ptr_equal(packet(TRUE, 4, 0), &first);
}

/* A message without octets, to a reader of octets: each handle of a client is one at first. Source: Wine. */
static void test_empty_message_ends_a_read_of_octets(void **state)
{
    OVERLAPPED at = { .hEvent = events[0] };
    char buffer[8];
    DWORD done = 77;

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE);
    assert_pending(ReadFile(client, buffer, 8, NULL, &at));
    put_message(server, "");
    assert_result(client, &at, TRUE, 0, 0);
    put_message(server, "");
    assert_true(ReadFile(client, buffer, 8, &done, &at));
    assert_int_equal(done, 0);
    put_message(server, "");
    put_message(server, "abc");
    assert_true(ReadFile(client, buffer, 8, &done, &at));
    assert_int_equal(done, 3);
    assert_memory_equal(buffer, "abc", 3);
    assert_pending(ReadFile(client, buffer, 8, NULL, &at));
    put_message(server, "d");
    assert_result(client, &at, TRUE, 1, 0);
}

static void test_empty_message_ends_a_read_of_messages(void **state)
{
    OVERLAPPED at = { .hEvent = events[0] };
    DWORD mode = PIPE_READMODE_MESSAGE;
    char buffer[8];

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_MESSAGE);
    assert_true(SetNamedPipeHandleState(client, &mode, NULL, NULL));
    assert_pending(ReadFile(client, buffer, 8, NULL, &at));
    put_message(server, "");
    assert_result(client, &at, TRUE, 0, 0);
}

/* A pipe of octets has no such write. Source: Wine. */
static void test_write_of_no_octets_to_a_pipe_of_octets(void **state)
{
    OVERLAPPED at = { .hEvent = events[0] };
    char buffer[8];

    (void)state;
    pair(FILE_FLAG_OVERLAPPED, PIPE_TYPE_BYTE);
    assert_pending(ReadFile(client, buffer, 8, NULL, &at));
    put_message(server, "");
    put_message(server, "abc");
    assert_result(client, &at, TRUE, 3, 0);
}

enum { INSTANCES = 3 };

static HANDLE instances[INSTANCES];
static OVERLAPPED connects[INSTANCES];

static void listen_again(int i)
{
    connects[i] = (OVERLAPPED){ .hEvent = events[i] };
    assert_pending(ConnectNamedPipe(instances[i], &connects[i]));
}

static void make_instance(int i)
{
    instances[i] = make_server(PIPE_ACCESS_DUPLEX | FILE_FLAG_OVERLAPPED, 0, INSTANCES);
    assert_true(instances[i] != INVALID_HANDLE_VALUE);
    listen_again(i);
}

/* Which instance the next client comes to; the client is closed again. */
static DWORD next_instance(void)
{
    HANDLE next = make_client(GENERIC_READ | GENERIC_WRITE, 0);
    DWORD number;

    assert_true(next != INVALID_HANDLE_VALUE);
    number = WaitForMultipleObjects(INSTANCES, events, FALSE, LONG_MS) - WAIT_OBJECT_0;
    assert_true(number < INSTANCES && ResetEvent(events[number]));
    assert_true(CloseHandle(next));
    return number;
}

static int close_instances(void **state)
{
    for (int i = 0; i < INSTANCES; i++)
        if (instances[i])
            CloseHandle(instances[i]);
    memset(instances, 0, sizeof(instances));
    return teardown(state);
}

/* One that is made later comes later, though it has the number of one that was closed. Source: Wine. */
static void test_clients_come_to_instances_in_their_order(void **state)
{
    (void)state;
    for (int i = 0; i < INSTANCES; i++)
        make_instance(i);
    assert_int_equal(next_instance(), 0);
    assert_true(CloseHandle(instances[0]));
    make_instance(0);
    assert_int_equal(next_instance(), 1);
    assert_int_equal(next_instance(), 2);
    assert_int_equal(next_instance(), 0);
}

/* The order is that in which they began to listen last. Source: Wine. */
static void test_instances_that_listen_again_come_last(void **state)
{
    static const int order[INSTANCES] = { 1, 2, 0 };

    (void)state;
    for (int i = 0; i < INSTANCES; i++)
        make_instance(i);
    for (int i = 0; i < INSTANCES; i++)
        assert_int_equal(next_instance(), i);
    for (int i = 0; i < INSTANCES; i++) {
        assert_true(DisconnectNamedPipe(instances[order[i]]));
        listen_again(order[i]);
    }
    for (int i = 0; i < INSTANCES; i++)
        assert_int_equal(next_instance(), order[i]);
}

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        ROW(test_calls_without_an_overlapped_wait),
        ROW(test_connect_without_an_overlapped_waits),
        ROW(test_transaction_without_an_overlapped_waits),
        ROW(test_calls_without_an_overlapped_make_no_packet),
        ROW(test_empty_message_ends_a_read_of_octets),
        ROW(test_empty_message_ends_a_read_of_messages),
        ROW(test_write_of_no_octets_to_a_pipe_of_octets),
        cmocka_unit_test_setup_teardown(
            test_clients_come_to_instances_in_their_order, setup, close_instances),
        cmocka_unit_test_setup_teardown(
            test_instances_that_listen_again_come_last, setup, close_instances),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
