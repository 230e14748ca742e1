/* SPDX-License-Identifier: MIT */
/*
 * test_socket_cost.c - the system calls of a thread that answers messages on a port: those of epoll_wait, recv and
 * send, and no other (count_calls.h). There is no background thread.
 */
#include "tests/unit/win32/sockets/overlapped_socket.h"

#include "tests/support/count_calls.h"

#include "reactor/reactor.h"

static void answer(struct pair *pair, HANDLE port, OVERLAPPED *receive, OVERLAPPED *sent)
{
    char octets[64], got[128];
    WSABUF in = { 128, got }, out = { 64, octets };
    OVERLAPPED *ended = NULL;
    ULONG_PTR key;
    DWORD flags = 0, bytes = 0;

    ZeroMemory(octets, sizeof(octets));
    assert_int_equal(WSARecv(pair->a, &in, 1, NULL, &flags, receive, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    assert_int_equal(send(pair->b, octets, 64, 0), 64);
    assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &ended, INFINITE));
    assert_ptr_equal(ended, receive);
    assert_int_equal(bytes, 64);
    assert_int_equal(WSASend(pair->a, &out, 1, NULL, 0, sent, NULL), 0);
    assert_true(GetQueuedCompletionStatus(port, &bytes, &key, &ended, INFINITE));
    assert_ptr_equal(ended, sent);
    assert_int_equal(recv(pair->b, octets, 64, 0), 64);
}

static void test_a_message_costs_three_calls(void **state)
{
    enum { ROUNDS = 100 };
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    OVERLAPPED receive = { 0 }, sent = { 0 };

    (void)state;
    answer(&pair, port, &receive, &sent); /* registers the socket */
    ZeroMemory(&calls, sizeof(calls));
    for (int i = 0; i < ROUNDS; i++)
        answer(&pair, port, &receive, &sent);
    assert_int_equal(calls.epolls, ROUNDS);
    assert_int_equal(calls.receives, ROUNDS);
    assert_int_equal(calls.sends, ROUNDS);
    assert_int_equal(calls.reads + calls.writes + calls.others, 0);
    pair_close(&pair);
    CloseHandle(port);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_a_message_costs_three_calls) };
    WSADATA data;

    if (reactor_lend() || WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
