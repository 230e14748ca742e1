/* SPDX-License-Identifier: MIT */
/*
 * test_socket_cost.c - the system calls of a thread that answers messages on a port: those of epoll_wait, recv and
 * send, and no other. Counts them by standing in front of the C library's functions. There is no background thread.
 */
#include "tests/unit/winobj/sockets/overlapped_socket.h"

#include "reactor/reactor.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static _Thread_local struct {
    unsigned epolls, receives, sends, others;
} calls;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#pragma GCC visibility push(default) /* the library's calls are to come here too */

int epoll_wait(int epfd, struct epoll_event *events, int room, int timeout)
{
    calls.epolls++;
    return NEXT(epoll_wait)(epfd, events, room, timeout);
}

int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
    calls.others++;
    return NEXT(epoll_ctl)(epfd, op, fd, event);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    calls.receives++;
    return NEXT(recvmsg)(fd, message, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    calls.sends++;
    return NEXT(sendmsg)(fd, message, flags);
}

/* Futex calls. */
long syscall(long number, ...)
{
    long a[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    calls.others++;
    return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#pragma GCC visibility pop

static void answer(struct pair *pair, HANDLE port, OVERLAPPED *receive, OVERLAPPED *sent)
{
    char octets[64], got[128];
    WSABUF in = { 128, got }, out = { 64, octets };
    OVERLAPPED *ended = NULL;
    ULONG_PTR key;
    DWORD flags = 0, bytes = 0;

    ZeroMemory(octets, sizeof(octets));
    assert_int_equal(WSARecv(pair->a, &in, 1, NULL, &flags, receive, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), WSA_IO_PENDING);
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
    assert_int_equal(calls.others, 0);
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
