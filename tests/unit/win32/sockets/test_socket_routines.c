/* SPDX-License-Identifier: MIT */
/*
 * test_socket_routines.c - completion routines of WSASend, WSARecv and their kind, which the thread calls in alertable
 * waits. Source: Microsoft's pages of the functions, and Wine.
 */
#include "tests/unit/win32/sockets/overlapped_socket.h"

static struct {
    unsigned count;
    DWORD error, bytes, thread;
    LPWSAOVERLAPPED overlapped;
} calls;

static void CALLBACK note(DWORD error, DWORD bytes, LPWSAOVERLAPPED overlapped, DWORD flags)
{
    (void)flags;
    calls.count++;
    calls.error = error;
    calls.bytes = bytes;
    calls.overlapped = overlapped;
    calls.thread = GetCurrentThreadId();
}

/* Waits for the next call of the routine. */
static void assert_called(DWORD error, DWORD bytes, LPWSAOVERLAPPED overlapped)
{
    while (!calls.count)
        assert_wait(SleepEx(LONG_MS, TRUE), WAIT_IO_COMPLETION);
    assert_int_equal(calls.count, 1);
    assert_int_equal(calls.error, error);
    assert_int_equal(calls.bytes, bytes);
    assert_ptr_equal(calls.overlapped, overlapped);
    assert_int_equal(calls.thread, GetCurrentThreadId());
    memset(&calls, 0, sizeof(calls));
}

static void assert_not_called(void)
{
    assert_wait(SleepEx(0, TRUE), 0);
    assert_int_equal(calls.count, 0);
}

/* A receive with the routine. 0, or the error. */
static int receive(SOCKET socket_, char *text, ULONG room, OVERLAPPED *at)
{
    WSABUF buffer = { room, text };
    DWORD flags = 0;

    return WSARecv(socket_, &buffer, 1, NULL, &flags, at, note) ? WSAGetLastError() : 0;
}

static void test_routine_is_called_in_an_alertable_wait(void **state)
{
    struct pair pair = pair_make();
    HANDLE set = CreateEventA(NULL, TRUE, TRUE, NULL),
           unset = CreateEventA(NULL, TRUE, FALSE, NULL);
    OVERLAPPED at = { .hEvent = set }, other = { .hEvent = unset };
    char text[8] = "", more[8] = "";

    (void)state;
    assert_int_equal(receive(pair.a, text, 8, &at), SPEC_WSA_IO_PENDING);
    assert_int_equal(receive(pair.a, more, 8, &other), SPEC_WSA_IO_PENDING);
    assert_not_called();
    send_all(pair.b, "hello");
    assert_called(SPEC_ERROR_SUCCESS, 5, &at);
    assert_string_equal(text, "hello");
    assert_int_equal(at.InternalHigh, 5);
    send_all(pair.b, "hi");
    assert_called(SPEC_ERROR_SUCCESS, 2, &other);
    assert_wait(WaitForSingleObject(set, 0), WAIT_OBJECT_0); /* hEvent is the program's own */
    assert_wait(WaitForSingleObject(unset, 0), WAIT_TIMEOUT);
    pair_close(&pair);
    assert_true(CloseHandle(set) && CloseHandle(unset));
}

/* A call that returns 0 has its routine called all the same, and not before the thread waits. */
static void test_routine_of_a_request_that_ends_in_the_call(void **state)
{
    struct pair pair = pair_make();
    OVERLAPPED at = { 0 };
    char text[8] = "";
    WSABUF out = { 5, (char *)(uintptr_t) "hello" };
    DWORD sent = 77;

    (void)state;
    assert_int_equal(WSASend(pair.b, &out, 1, &sent, 0, &at, note), 0);
    assert_int_equal(calls.count, 0);
    assert_called(SPEC_ERROR_SUCCESS, 5, &at);
    await_readable(pair.a);
    assert_int_equal(receive(pair.a, text, 8, &at), 0);
    assert_int_equal(calls.count, 0);
    assert_called(SPEC_ERROR_SUCCESS, 5, &at);
    pair_close(&pair);
}

static void test_wait_for_an_event_calls_it(void **state)
{
    struct pair pair = pair_make();
    HANDLE event = CreateEventA(NULL, TRUE, FALSE, NULL);
    OVERLAPPED at = { 0 };
    char text[8] = "";

    (void)state;
    assert_int_equal(receive(pair.a, text, 8, &at), SPEC_WSA_IO_PENDING);
    send_all(pair.b, "hello");
    assert_int_equal(
        WSAWaitForMultipleEvents(1, &event, FALSE, WSA_INFINITE, TRUE), WSA_WAIT_IO_COMPLETION);
    assert_called(SPEC_ERROR_SUCCESS, 5, &at);
    pair_close(&pair);
    assert_true(CloseHandle(event));
}

static void test_datagrams(void **state)
{
    struct sockaddr_in here, there, from;
    SOCKET receiver = bound_socket(SOCK_DGRAM, &here), sender = bound_socket(SOCK_DGRAM, &there);
    int length = sizeof(from);
    OVERLAPPED in = { 0 }, out = { 0 };
    char text[4] = "";
    WSABUF room = { 3, text }, octets = { 3, (char *)(uintptr_t) "abcdef" };
    DWORD flags = 0;

    (void)state;
    assert_int_equal(
        WSARecvFrom(receiver, &room, 1, NULL, &flags, (struct sockaddr *)&from, &length, &in, note),
        SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    assert_int_equal(
        WSASendTo(sender, &octets, 1, NULL, 0, (struct sockaddr *)&here, sizeof(here), &out, NULL),
        0);
    assert_called(SPEC_ERROR_SUCCESS, 3, &in);
    assert_int_equal(from.sin_port, there.sin_port);
    assert_int_equal(
        WSASendTo(sender, &octets, 1, NULL, 0, (struct sockaddr *)&here, sizeof(here), &out, note),
        0);
    assert_called(SPEC_ERROR_SUCCESS, 3, &out);
    assert_int_equal(recv(receiver, text, 3, 0), 3);
    /* longer than the room: pending, then at once */
    octets.len = 6;
    assert_int_equal(receive(receiver, text, 3, &in), SPEC_WSA_IO_PENDING);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(WSASendTo(sender, &octets, 1, NULL, 0, (struct sockaddr *)&here,
                             sizeof(here), &out, NULL),
            0);
        if (i) {
            await_readable(receiver);
            assert_int_equal(receive(receiver, text, 3, &in), SPEC_WSAEMSGSIZE);
        }
        assert_called(SPEC_WSAEMSGSIZE, 3, &in);
    }
    assert_int_equal(closesocket(receiver), 0);
    assert_int_equal(closesocket(sender), 0);
}

static void test_messages(void **state)
{
    GUID receive_id = WSAID_WSARECVMSG;
    struct sockaddr_in here, there, from;
    SOCKET receiver = bound_socket(SOCK_DGRAM, &here), sender = bound_socket(SOCK_DGRAM, &there);
    OVERLAPPED in = { 0 };
    LPFN_WSARECVMSG receive_message = NULL;
    char text[8] = "";
    WSABUF room = { 8, text };
    WSAMSG message = {
        .name = (LPSOCKADDR)&from, .namelen = sizeof(from), .lpBuffers = &room, .dwBufferCount = 1
    };
    DWORD bytes;

    (void)state;
    assert_int_equal(
        WSAIoctl(receiver, SIO_GET_EXTENSION_FUNCTION_POINTER, &receive_id, sizeof(receive_id),
            &receive_message, sizeof(receive_message), &bytes, NULL, NULL),
        0);
    assert_int_equal(receive_message(receiver, &message, NULL, &in, note), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    assert_int_equal(sendto(sender, "abc", 3, 0, (struct sockaddr *)&here, sizeof(here)), 3);
    assert_called(SPEC_ERROR_SUCCESS, 3, &in);
    assert_int_equal(from.sin_port, there.sin_port);
    assert_int_equal(closesocket(receiver), 0);
    assert_int_equal(closesocket(sender), 0);
}

static void test_cancelled_requests(void **state)
{
    struct pair pair = pair_make();
    OVERLAPPED at = { 0 };
    char text[8];

    (void)state;
    assert_int_equal(receive(pair.a, text, 8, &at), SPEC_WSA_IO_PENDING);
    assert_true(CancelIo((HANDLE)pair.a));
    assert_called(SPEC_WSA_OPERATION_ABORTED, 0, &at);
    assert_int_equal(receive(pair.a, text, 8, &at), SPEC_WSA_IO_PENDING);
    assert_int_equal(closesocket(pair.a), 0);
    pair.a = INVALID_SOCKET;
    assert_called(
        DIFFERS(SPEC_WSA_OPERATION_ABORTED, SPEC_WSAEINVAL, "Wine asks the socket again"), 0, &at);
    pair_close(&pair);
}

/* A request that no change ends here: it is cancelled. */
static void test_change_of_addresses(void **state)
{
    SOCKET watch = stream_socket();
    OVERLAPPED at = { .Offset = 5 };
    DWORD bytes = 0;

    (void)state;
    assert_int_equal(WSAIoctl(watch, SIO_ADDRESS_LIST_CHANGE, NULL, 0, NULL, 0, &bytes, &at, note),
        SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    assert_not_called();
    assert_true(CancelIo((HANDLE)watch));
    assert_called(SPEC_WSA_OPERATION_ABORTED, 0, &at);
    assert_int_equal(closesocket(watch), 0);
}

static void test_what_fails_calls_no_routine(void **state)
{
    struct pair pair = pair_make();
    SOCKET alone = stream_socket();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    OVERLAPPED at = { 0 };
    WSABUF out = { 5, (char *)(uintptr_t) "hello" };
    char text[8] = "";
    DWORD done = 77, flags = 0;

    (void)state;
    assert_int_equal(receive(alone, text, 8, &at), SPEC_WSAENOTCONN);
    assert_int_equal(receive(INVALID_SOCKET, text, 8, &at), SPEC_WSAENOTSOCK);
    assert_int_equal(receive(pair.a, text, 8, &at), SPEC_WSAEINVAL);
    assert_int_equal(WSASend(pair.a, &out, 1, NULL, 0, &at, note), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEINVAL);
    assert_not_called();
#ifndef _WIN32 /* Wine calls the routine of a call without an OVERLAPPED, with what the stack has */
    send_all(pair.b, "hello");
    out = (WSABUF){ 8, text };
    assert_int_equal(WSARecv(pair.a, &out, 1, &done, &flags, NULL, note), 0);
    assert_int_equal(done, 5);
    assert_not_called();
#else
    (void)done;
    (void)flags;
#endif
    assert_no_packet(port);
    pair_close(&pair);
    assert_int_equal(closesocket(alone), 0);
    assert_true(CloseHandle(port));
}

/* A server as Windows' samples have it: each routine begins the next request. */
enum { ECHOES = 200 };

static struct echo {
    OVERLAPPED at;
    SOCKET socket;
    char text[8];
    unsigned received, sent, wrong;
} echo;

static void CALLBACK sent(DWORD error, DWORD bytes, LPWSAOVERLAPPED overlapped, DWORD flags);

static void CALLBACK received(DWORD error, DWORD bytes, LPWSAOVERLAPPED overlapped, DWORD flags)
{
    WSABUF out = { bytes, echo.text };

    (void)flags;
    echo.wrong += error || overlapped != &echo.at;
    echo.received += !error && bytes;
    if (!error && bytes && WSASend(echo.socket, &out, 1, NULL, 0, &echo.at, sent) &&
        WSAGetLastError() != WSA_IO_PENDING)
        echo.wrong++;
}

static void CALLBACK sent(DWORD error, DWORD bytes, LPWSAOVERLAPPED overlapped, DWORD flags)
{
    WSABUF in = { sizeof(echo.text), echo.text };
    DWORD none = 0;

    (void)bytes;
    (void)flags;
    echo.wrong += error || overlapped != &echo.at;
    echo.sent++;
    if (WSARecv(echo.socket, &in, 1, NULL, &none, &echo.at, received) &&
        WSAGetLastError() != WSA_IO_PENDING)
        echo.wrong++;
}

static DWORD WINAPI client_thread(LPVOID argument)
{
    const SOCKET socket_ = (SOCKET)(ULONG_PTR)argument;
    char text[8];

    for (int i = 0; i < ECHOES; i++)
        if (send(socket_, "x", 1, 0) != 1 || recv(socket_, text, 8, 0) != 1)
            return 1;
    return shutdown(socket_, SD_SEND) ? 2 : 0;
}

static void test_routines_begin_the_next_requests(void **state)
{
    struct pair pair = pair_make();
    HANDLE thread;
    DWORD code = 99;

    (void)state;
    echo.socket = pair.a;
    sent(0, 0, &echo.at, 0);
    thread = CreateThread(NULL, 0, client_thread, (LPVOID)(ULONG_PTR)pair.b, 0, NULL);
    assert_non_null(thread);
    while (WaitForSingleObjectEx(thread, LONG_MS, TRUE) == WAIT_IO_COMPLETION)
        ;
    assert_true(GetExitCodeThread(thread, &code));
    assert_int_equal(code, 0);
    assert_int_equal(echo.received, ECHOES);
    assert_int_equal(echo.sent, ECHOES + 1);
    assert_int_equal(echo.wrong, 0);
    SleepEx(0, TRUE); /* the end of the stream */
    pair_close(&pair);
    assert_true(CloseHandle(thread));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_routine_is_called_in_an_alertable_wait),
        cmocka_unit_test(test_routine_of_a_request_that_ends_in_the_call),
        cmocka_unit_test(test_wait_for_an_event_calls_it),
        cmocka_unit_test(test_datagrams),
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_cancelled_requests),
        cmocka_unit_test(test_change_of_addresses),
        cmocka_unit_test(test_what_fails_calls_no_routine),
        cmocka_unit_test(test_routines_begin_the_next_requests),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
