/* SPDX-License-Identifier: MIT */
/* test_datagram.c - WSASendTo, WSARecvFrom and WSARecv of datagrams on ports. */
#include "tests/unit/win32/sockets/overlapped_socket.h"

static void send_to(SOCKET from, const char *text, const struct sockaddr_in *to)
{
    WSABUF parts[2] = { { 1, (char *)(uintptr_t)text },
        { (ULONG)strlen(text) - 1, (char *)(uintptr_t)text + 1 } };
    DWORD sent = 0;

    assert_int_equal(
        WSASendTo(from, parts, 2, &sent, 0, (const struct sockaddr *)to, sizeof(*to), NULL, NULL),
        0);
    assert_int_equal(sent, strlen(text));
}

static void test_sender_is_told(void **state)
{
    struct sockaddr_in here, there, from;
    SOCKET receiver = bound_socket(SOCK_DGRAM, &here), sender = bound_socket(SOCK_DGRAM, &there);
    HANDLE port = CreateIoCompletionPort((HANDLE)receiver, NULL, 1, 0);
    int length = sizeof(from);
    OVERLAPPED receive = { 0 };
    char got[16] = "";
    WSABUF in = { 16, got };
    DWORD flags = 0, bytes = 0;

    (void)state;
    assert_int_equal(WSARecvFrom(receiver, &in, 1, NULL, &flags, (struct sockaddr *)&from, &length,
                         &receive, NULL),
        SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    send_to(sender, "hello", &here);
    assert_int_equal(packet_take(port).dwNumberOfBytesTransferred, 5);
    assert_string_equal(got, "hello");
    assert_int_equal(length, sizeof(from));
    assert_int_equal(from.sin_port, there.sin_port);
    assert_true(WSAGetOverlappedResult(receiver, &receive, &bytes, FALSE, &flags));
    assert_int_equal(bytes, 5);
    assert_int_equal(flags, 0);
    closesocket(receiver);
    closesocket(sender);
    CloseHandle(port);
}

static void test_longer_than_the_buffers(void **state)
{
    struct sockaddr_in here, there;
    SOCKET receiver = bound_socket(SOCK_DGRAM, &here), sender = bound_socket(SOCK_DGRAM, &there);
    HANDLE port = CreateIoCompletionPort((HANDLE)receiver, NULL, 1, 0);
    OVERLAPPED receive = { 0 }, *ended = NULL;
    char got[4] = "";
    WSABUF in = { 3, got };
    DWORD flags = 0, bytes = 0;
    ULONG_PTR key;

    (void)state;
    for (int pending = 1; pending >= 0; pending--) {
        if (!pending) {
            send_to(sender, "abcdef", &here);
            await_readable(receiver);
        }
        flags = 0;
        assert_int_equal(WSARecv(receiver, &in, 1, &bytes, &flags, &receive, NULL), SOCKET_ERROR);
        assert_int_equal(WSAGetLastError(), pending ? SPEC_WSA_IO_PENDING : SPEC_WSAEMSGSIZE);
        if (pending)
            send_to(sender, "abcdef", &here);
        /* the warning has its packet either way */
        assert_fails(
            GetQueuedCompletionStatus(port, &bytes, &key, &ended, LONG_MS), SPEC_ERROR_MORE_DATA);
        assert_ptr_equal(ended, &receive);
        assert_int_equal(bytes, 3);
        assert_int_equal((DWORD)receive.Internal, SPEC_STATUS_BUFFER_OVERFLOW);
        assert_memory_equal(got, "abc", 4);
        assert_false(WSAGetOverlappedResult(receiver, &receive, &bytes, FALSE, &flags));
        assert_int_equal(WSAGetLastError(), SPEC_WSAEMSGSIZE);
        assert_int_equal(flags, DIFFERS(MSG_PARTIAL, 0, "WSARecv: Wine does not set MSG_PARTIAL"));
    }
    closesocket(receiver);
    closesocket(sender);
    CloseHandle(port);
}

/* As libuv waits for a datagram: no octets, and the datagram stays. */
static void test_peek_without_room(void **state)
{
    struct sockaddr_in here, there;
    SOCKET receiver = bound_socket(SOCK_DGRAM, &here), sender = bound_socket(SOCK_DGRAM, &there);
    HANDLE port = CreateIoCompletionPort((HANDLE)receiver, NULL, 1, 0);
    OVERLAPPED receive = { 0 }, *ended = NULL;
    char got[8];
    WSABUF none = { 0, NULL }, in = { 8, got };
    DWORD flags = MSG_PEEK, bytes = 0;
    ULONG_PTR key;

    (void)state;
    assert_int_equal(WSARecv(receiver, &none, 1, NULL, &flags, &receive, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    assert_no_packet(port);
    send_to(sender, "data", &here);
    assert_fails(
        GetQueuedCompletionStatus(port, &bytes, &key, &ended, LONG_MS), SPEC_ERROR_MORE_DATA);
    assert_ptr_equal(ended, &receive);
    assert_int_equal(bytes, 0);
    flags = 0;
    assert_int_equal(WSARecv(receiver, &in, 1, &bytes, &flags, NULL, NULL), 0);
    assert_int_equal(bytes, 4);
    assert_memory_equal(got, "data", 4);
    closesocket(receiver);
    closesocket(sender);
    CloseHandle(port);
}

static void test_datagrams_end_their_receives_in_order(void **state)
{
    enum { COUNT = 4 };
    struct sockaddr_in here, there;
    SOCKET receiver = bound_socket(SOCK_DGRAM, &here), sender = bound_socket(SOCK_DGRAM, &there);
    HANDLE port = CreateIoCompletionPort((HANDLE)receiver, NULL, 1, 0);
    static const char *const texts[COUNT] = { "one", "fore", "three", "fourth" };
    OVERLAPPED receives[COUNT] = { { 0 } };
    char got[COUNT][8];
    DWORD flags = 0;

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        WSABUF in = { 8, got[i] };

        assert_int_equal(WSARecv(receiver, &in, 1, NULL, &flags, &receives[i], NULL), SOCKET_ERROR);
    }
    for (int i = 0; i < COUNT; i++)
        send_to(sender, texts[i], &here);
    for (int i = 0; i < COUNT; i++) {
        OVERLAPPED_ENTRY entry = packet_take(port);

        assert_ptr_equal(entry.lpOverlapped, &receives[i]);
        assert_int_equal(entry.dwNumberOfBytesTransferred, 3 + i);
    }
    closesocket(receiver);
    closesocket(sender);
    CloseHandle(port);
}

static void test_overlapped_send(void **state)
{
    struct sockaddr_in here, there;
    SOCKET receiver = bound_socket(SOCK_DGRAM, &here), sender = bound_socket(SOCK_DGRAM, &there);
    HANDLE port = CreateIoCompletionPort((HANDLE)sender, NULL, 1, 0);
    OVERLAPPED send = { 0 };
    static char text[65536] = "data";
    char got[8];
    WSABUF out = { 4, text };
    DWORD sent = 0;

    (void)state;
    assert_int_equal(
        WSASendTo(sender, &out, 1, &sent, 0, (struct sockaddr *)&here, sizeof(here), &send, NULL),
        0);
    assert_int_equal(sent, 4);
    assert_int_equal(packet_take(port).dwNumberOfBytesTransferred, 4);
    assert_int_equal(recv(receiver, got, 8, 0), 4);
    out.len = 65536;
    assert_int_equal(
        WSASendTo(sender, &out, 1, &sent, 0, (struct sockaddr *)&here, sizeof(here), &send, NULL),
        SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEMSGSIZE);
#ifndef _WIN32 /* WSASendTo that fails at once: Wine queues a packet */
    assert_no_packet(port);
#endif
    closesocket(receiver);
    closesocket(sender);
    CloseHandle(port);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sender_is_told),
        cmocka_unit_test(test_longer_than_the_buffers),
        cmocka_unit_test(test_peek_without_room),
        cmocka_unit_test(test_datagrams_end_their_receives_in_order),
        cmocka_unit_test(test_overlapped_send),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
