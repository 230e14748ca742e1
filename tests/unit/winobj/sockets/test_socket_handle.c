/* SPDX-License-Identifier: MIT */
/* test_socket_handle.c - a socket as any other handle: ReadFile and WriteFile that wait. */
#include "tests/unit/winobj/sockets/overlapped_socket.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_transfers_without_an_overlapped_wait),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
