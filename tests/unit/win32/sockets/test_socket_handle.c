/* SPDX-License-Identifier: MIT */
/* test_socket_handle.c - a socket as any other handle: ReadFile and WriteFile that wait, waits for the handle. */
#include "tests/unit/win32/sockets/overlapped_socket.h"

static DWORD WINAPI send_later(LPVOID argument)
{
    return send((SOCKET)(ULONG_PTR)argument, "hello", 5, 0) != 5;
}

/* Also on a socket that does not block, and past its port. Source: Wine. */
static void test_transfers_without_an_overlapped_wait(void **state)
{
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0), thread;
    char text[8] = "";
    DWORD done = 77;
    u_long on = 1;

    (void)state;
    assert_non_null(port);
    assert_int_equal(ioctlsocket(pair.a, FIONBIO, &on), 0);
    thread = CreateThread(NULL, 0, send_later, (LPVOID)(ULONG_PTR)pair.b, 0, NULL);
    assert_non_null(thread);
    assert_true(ReadFile((HANDLE)pair.a, text, 8, &done, NULL));
    assert_int_equal(done, 5);
    assert_string_equal(text, "hello");
    assert_true(WriteFile((HANDLE)pair.a, "back", 4, &done, NULL));
    assert_int_equal(done, 4);
    assert_int_equal(recv(pair.b, text, 8, 0), 4);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_no_packet(port);
    assert_int_equal(shutdown(pair.b, SD_SEND), 0);
    assert_true(ReadFile((HANDLE)pair.a, text, 8, &done, NULL));
    assert_int_equal(done, 0);
    pair_close(&pair);
    assert_true(CloseHandle(port) && CloseHandle(thread));
}

static int receive(SOCKET socket_, char *text, OVERLAPPED *at)
{
    WSABUF buffer = { 8, text };
    DWORD flags = 0;

    return WSARecv(socket_, &buffer, 1, NULL, &flags, at, NULL);
}

/* Source: Wine. */
static void test_request_without_an_event_signals_the_socket(void **state)
{
    struct pair pair = pair_make();
    HANDLE handle = (HANDLE)pair.a, event = CreateEventA(NULL, TRUE, FALSE, NULL);
    OVERLAPPED at = { 0 }, other = { .hEvent = event };
    char text[8] = "";
    DWORD done = 77, flags;

    (void)state;
    assert_int_equal(receive(pair.a, text, &at), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    assert_wait(WaitForSingleObject(handle, 0), WAIT_TIMEOUT);
    send_all(pair.b, "hello");
    assert_wait(WaitForSingleObject(handle, LONG_MS), WAIT_OBJECT_0);
    assert_true(WSAGetOverlappedResult(pair.a, &at, &done, FALSE, &flags));
    assert_int_equal(done, 5);
    assert_int_equal(receive(pair.a, text, &other), SOCKET_ERROR);
    send_all(pair.b, "hello");
    assert_wait(WaitForSingleObject(event, LONG_MS), WAIT_OBJECT_0);
    assert_wait(WaitForSingleObject(handle, 0), WAIT_TIMEOUT);
    assert_int_equal(receive(pair.a, text, &at), SOCKET_ERROR);
    send_all(pair.b, "hi");
    assert_true(WSAGetOverlappedResult(pair.a, &at, &done, TRUE, &flags));
    assert_int_equal(done, 2);
    assert_wait(WaitForSingleObject(handle, LONG_MS), WAIT_OBJECT_0);
    pair_close(&pair);
    assert_true(CloseHandle(event));
}

/* One that has only been made: it is an object by then. Source: Wine. */
static void test_new_socket_is_signalled(void **state)
{
    SOCKET made = stream_socket();

    (void)state;
    assert_wait(WaitForSingleObject((HANDLE)made, 0), WAIT_OBJECT_0);
    assert_int_equal(closesocket(made), 0);
    assert_wait(WaitForSingleObject((HANDLE)made, 0), WAIT_FAILED);
    assert_win_error(SPEC_ERROR_INVALID_HANDLE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transfers_without_an_overlapped_wait),
        cmocka_unit_test(test_request_without_an_event_signals_the_socket),
        cmocka_unit_test(test_new_socket_is_signalled),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
