/* SPDX-License-Identifier: MIT */
/*
 * test_socket_close.c - closing a socket ends what other threads do on it. Source: Microsoft's page of closesocket, and
 * the specification of Winsock ("Winsock in multithreaded versions of Windows": WSAEINTR); Wine ends the same calls,
 * with other codes.
 */
#include "tests/unit/win32/sockets/overlapped_socket.h"

#ifndef _WIN32 /* closesocket: Linux' means */
#include "tests/support/asleep.h"

#include <sched.h>
#endif

struct call {
    SOCKET socket;
    int (*make)(struct call *call);
    HANDLE begins;
    volatile LONG thread;
    int result;
    DWORD error;
};

static int call_recv(struct call *call)
{
    char octet;

    return (int)recv(call->socket, &octet, 1, 0);
}

static int call_recvfrom(struct call *call)
{
    struct sockaddr_in from;
    int length = sizeof(from);
    char octet;

    return (int)recvfrom(call->socket, &octet, 1, 0, (struct sockaddr *)&from, (void *)&length);
}

static int call_wsarecv(struct call *call)
{
    char octet;
    WSABUF buffer = { 1, &octet };
    DWORD bytes, flags = 0;

    return WSARecv(call->socket, &buffer, 1, &bytes, &flags, NULL, NULL);
}

static int call_accept(struct call *call)
{
    const SOCKET accepted = accept(call->socket, NULL, NULL);

    return accepted == INVALID_SOCKET ? -1 : 0;
}

static int call_select(struct call *call)
{
    fd_set set;

    FD_ZERO(&set);
    FD_SET(call->socket, &set);
    return select(0, &set, NULL, NULL, NULL);
}

static int call_poll(struct call *call)
{
    WSAPOLLFD one = { call->socket, POLLIN, 0 };
    const int result = WSAPoll(&one, 1, -1);

    return result == 1 && one.revents != POLLNVAL ? -2 : result;
}

static DWORD WINAPI thread_of_call(LPVOID parameter)
{
    struct call *call = parameter;

    call->thread = (LONG)GetCurrentThreadId();
    SetEvent(call->begins);
    call->result = call->make(call);
    call->error = (DWORD)WSAGetLastError();
    return 0;
}

/* Until the call has begun to wait; a Windows program cannot see that, and its call may find the socket closed. */
static void wait_for_sleep(struct call *call)
{
    assert_wait(WaitForSingleObject(call->begins, LONG_MS), WAIT_OBJECT_0);
#ifndef _WIN32 /* closesocket: whether a call waits is seen by Linux' means */
    while (!thread_is_asleep(call->thread))
        sched_yield();
#endif
}

static struct call closed_during(SOCKET socket, int (*make)(struct call *call), bool by_handle)
{
    struct call call = { .socket = socket, .make = make };
    HANDLE thread;

    call.begins = CreateEventW(NULL, TRUE, FALSE, NULL);
    thread = CreateThread(NULL, 0, thread_of_call, &call, 0, NULL);
    assert_non_null(thread);
    wait_for_sleep(&call);
    if (by_handle)
        assert_true(CloseHandle((HANDLE)socket));
    else
        assert_int_equal(closesocket(socket), 0);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    CloseHandle(thread);
    CloseHandle(call.begins);
    return call;
}

static void assert_interrupted(struct call call, DWORD of_wine)
{
    const DWORD expected =
        DIFFERS(SPEC_WSAEINTR, of_wine, "closesocket: Wine ends a blocked call with another code");

    (void)of_wine;
    assert_int_equal(call.result, -1);
    if (DIFFERS(true, call.error != SPEC_WSAENOTSOCK, "closesocket: before the call begins"))
        assert_int_equal(call.error, expected);
}

static void test_calls_end_when_their_socket_is_closed(void **state)
{
    static int (*const of_streams[])(
        struct call * call) = { call_recv, call_recvfrom, call_wsarecv };
    struct sockaddr_in address;

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct pair pair = pair_make();

        assert_interrupted(closed_during(pair.a, of_streams[i], false), SPEC_WSAEINVAL);
        assert_int_equal(closesocket(pair.b), 0);
        assert_interrupted(closed_during(bound_socket(SOCK_DGRAM, &address), of_streams[i], false),
            SPEC_WSAEINVAL);
    }
    assert_interrupted(
        closed_during(listening_socket(&address), call_accept, false), SPEC_WSA_OPERATION_ABORTED);
}

/* A socket that has an object, since it has had overlapped requests. */
static void test_calls_end_when_a_handle_is_closed(void **state)
{
    for (int by_handle = 0; by_handle < 2; by_handle++) {
        struct pair pair = pair_make();
        HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);

        (void)state;
        assert_interrupted(closed_during(pair.a, call_recv, by_handle), SPEC_WSAEINVAL);
        assert_int_equal(closesocket(pair.b), 0);
        assert_true(CloseHandle(port));
    }
}

static void test_waits_end_when_their_socket_is_closed(void **state)
{
    static int (*const waits[])(struct call * call) = { call_select, call_poll };
    struct call call;

    (void)state;
    for (int i = 0; i < 2; i++) {
        struct pair pair = pair_make();
        struct sockaddr_in address;

        call = closed_during(pair.a, waits[i], false);

        assert_true(call.result == 1 || call.error == SPEC_WSAENOTSOCK);
        assert_int_equal(closesocket(pair.b), 0);
        call = closed_during(listening_socket(&address), waits[i], false);
        assert_true(call.result == 1 || call.error == SPEC_WSAENOTSOCK);
        call = closed_during(bound_socket(SOCK_DGRAM, &address), waits[i], false);
        assert_true(call.result == 1 || call.error == SPEC_WSAENOTSOCK);
    }
    /* one that is not connected, of which Linux' poll cannot wait */
    call = closed_during(stream_socket(), call_poll, false);
    assert_true(call.result == 1 || call.error == SPEC_WSAENOTSOCK);
}

/* The number may be that of another socket at once. */
static void test_number_is_free_after_close(void **state)
{
    (void)state;
    for (int i = 0; i < 50; i++) {
        struct pair pair = pair_make(), next;

        closed_during(pair.a, call_recv, false);
        next = pair_make();
        assert_int_equal(send(next.a, "x", 1, 0), 1);
        assert_int_equal(call_recv(&(struct call){ .socket = next.b }), 1);
        pair_close(&next);
        assert_int_equal(closesocket(pair.b), 0);
    }
}

static DWORD WINAPI open_and_close(LPVOID parameter)
{
    DWORD failed = 0;

    (void)parameter;
    for (int i = 0; i < 500; i++)
        failed += closesocket(socket(AF_INET, SOCK_DGRAM, 0)) != 0;
    return failed;
}

/* A number is another thread's as soon as the descriptor is closed, before closesocket returns. */
static void test_threads_share_the_numbers(void **state)
{
    HANDLE threads[4];
    DWORD failed = 0;

    (void)state;
    for (int i = 0; i < 4; i++)
        threads[i] = CreateThread(NULL, 0, open_and_close, NULL, 0, NULL);
    assert_wait(WaitForMultipleObjects(4, threads, TRUE, LONG_MS), WAIT_OBJECT_0);
    for (int i = 0; i < 4; i++) {
        assert_true(GetExitCodeThread(threads[i], &failed));
        assert_int_equal(failed, 0);
        CloseHandle(threads[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls_end_when_their_socket_is_closed),
        cmocka_unit_test(test_calls_end_when_a_handle_is_closed),
        cmocka_unit_test(test_waits_end_when_their_socket_is_closed),
        cmocka_unit_test(test_number_is_free_after_close),
        cmocka_unit_test(test_threads_share_the_numbers),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
