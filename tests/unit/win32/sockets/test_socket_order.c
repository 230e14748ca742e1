/* SPDX-License-Identifier: MIT */
/*
 * test_socket_order.c - overlapped receives that find less than they have room for: what follows is for the next one,
 * and the end of the stream is found without a further event; the address of a sender never passes its room.
 */
#include "tests/unit/win32/sockets/overlapped_socket.h"

#include "tests/support/asleep.h"

#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>

static void receive(SOCKET from, char *octet, ULONG room, OVERLAPPED *overlapped)
{
    WSABUF in = { room, octet };
    DWORD flags = 0;

    if (WSARecv(from, &in, 1, NULL, &flags, overlapped, NULL))
        assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
}

static void expect_packet(HANDLE port, OVERLAPPED *overlapped, DWORD bytes)
{
    OVERLAPPED_ENTRY entry = packet_take(port);

    assert_ptr_equal(entry.lpOverlapped, overlapped);
    assert_int_equal(entry.dwNumberOfBytesTransferred, bytes);
}

/* From now on what the peer sends leaves it together. */
static void cork(SOCKET peer, int on)
{
    assert_int_equal(setsockopt(peer, IPPROTO_TCP, TCP_CORK, (const char *)&on, sizeof(on)), 0);
}

/* Octets and the end of the stream come in one segment, so they make one event. */
static void the_end_behind_octets_ends_the_next_receive(void **state)
{
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    OVERLAPPED first = { 0 }, second = { 0 };
    char got[2][16];

    (void)state;
    receive(pair.a, got[0], 16, &first);
    cork(pair.b, 1);
    send_all(pair.b, "abc");
    assert_int_equal(shutdown(pair.b, SD_SEND), 0);
    expect_packet(port, &first, 3);
    receive(pair.a, got[1], 16, &second);
    expect_packet(port, &second, 0);
    pair_close(&pair);
    CloseHandle(port);
}

/* A receive ends in front of urgent data; the octets behind them, which were there, too, are for the next one. */
static void octets_behind_urgent_ones_are_for_the_next_receive(void **state)
{
    (void)state;
    for (int round = 0; round < 50; round++) {
        struct pair pair = pair_make();
        HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
        OVERLAPPED first = { 0 }, second = { 0 }, third = { 0 };
        char got[3][16] = { "", "", "" };
        int left = 1;

        receive(pair.a, got[0], 16, &first); /* events come from now on */
        send_all(pair.b, "abc");
        expect_packet(port, &first, 3);
        send_all(pair.b, "de");
        assert_int_equal(send(pair.b, "!", 1, MSG_OOB), 1);
        send_all(pair.b, "fgh");
        assert_true(SETTLES(!(ioctl)((int)pair.b, SIOCOUTQ, &left) && !left));
        receive(pair.a, got[1], 16, &second);
        receive(pair.a, got[2], 16, &third);
        expect_packet(port, &second, 2);
        expect_packet(port, &third, 3);
        assert_string_equal(got[1], "de");
        assert_string_equal(got[2], "fgh");
        pair_close(&pair);
        CloseHandle(port);
    }
}

/* Whether a has taken all that b has sent. */
static bool is_taken(const struct pair *pair)
{
    int sent = 1, there = 1;

    return !(ioctl)((int)pair->b, SIOCOUTQ, &sent) && !sent &&
           !(ioctl)((int)pair->a, FIONREAD, &there) && !there;
}

/* One that waits for all it has room for keeps its place before later ones, with some of its octets. */
static void a_receive_does_not_overtake_one_that_waits_for_more(void **state)
{
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    OVERLAPPED all = { 0 }, next = { 0 };
    char got[2][8] = { "", "" };
    WSABUF in = { 6, got[0] };
    DWORD flags = MSG_WAITALL;

    (void)state;
    assert_int_equal(WSARecv(pair.a, &in, 1, NULL, &flags, &all, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    send_all(pair.b, "abc");
    assert_true(SETTLES(is_taken(&pair)));
    send_all(pair.b, "d");
    receive(pair.a, got[1], 3, &next);
    assert_no_packet(port);
    send_all(pair.b, "efghi");
    expect_packet(port, &all, 6);
    expect_packet(port, &next, 3);
    assert_string_equal(got[0], "abcdef");
    assert_string_equal(got[1], "ghi");
    pair_close(&pair);
    CloseHandle(port);
}

/* The page of WSARecvFrom: WSAEFAULT, lpFromlen is too small for the sender's address. */
static void a_sender_needs_room(void **state)
{
    struct sockaddr_in here, there;
    SOCKET receiver = bound_socket(SOCK_DGRAM, &here), sender = bound_socket(SOCK_DGRAM, &there);
    HANDLE port = CreateIoCompletionPort((HANDLE)receiver, NULL, 1, 0);
    OVERLAPPED overlapped = { 0 };
    unsigned char from[32];
    int length = 15, waiting = 0;
    char got[8] = "";
    WSABUF in = { 8, got };
    DWORD flags = 0;

    (void)state;
    memset(from, 0xEE, sizeof(from));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(WSARecvFrom(receiver, &in, 1, NULL, &flags, (struct sockaddr *)from,
                             &length, &overlapped, NULL),
            SOCKET_ERROR);
        assert_int_equal(WSAGetLastError(), SPEC_WSAEFAULT);
        assert_int_equal(WSARecvFrom(receiver, &in, 1, NULL, &flags, (struct sockaddr *)from, NULL,
                             &overlapped, NULL),
            SOCKET_ERROR);
        assert_int_equal(WSAGetLastError(), SPEC_WSAEFAULT);
        /* and takes nothing */
        assert_int_equal(sendto(sender, "hello", 5, 0, (struct sockaddr *)&here, sizeof(here)), 5);
        assert_true(SETTLES(!(ioctl)((int)receiver, FIONREAD, &waiting) && waiting));
    }
    assert_no_packet(port);
    length = 16;
    assert_int_equal(WSARecvFrom(receiver, &in, 1, NULL, &flags, (struct sockaddr *)from, &length,
                         &overlapped, NULL),
        0);
    expect_packet(port, &overlapped, 5);
    assert_int_equal(length, 16);
    for (size_t i = 16; i < sizeof(from); i++)
        assert_int_equal(from[i], 0xEE);
    closesocket(receiver);
    closesocket(sender);
    CloseHandle(port);
}

/* The room is read when the request ends, as the page has it stay the request's until then. Our reading. */
static void a_room_that_shrinks_is_not_passed(void **state)
{
    struct sockaddr_in here, there;
    SOCKET receiver = bound_socket(SOCK_DGRAM, &here), sender = bound_socket(SOCK_DGRAM, &there);
    HANDLE port = CreateIoCompletionPort((HANDLE)receiver, NULL, 1, 0);
    OVERLAPPED overlapped = { 0 };
    unsigned char from[32];
    int length = 16;
    char got[8] = "";
    WSABUF in = { 8, got };
    DWORD flags = 0;

    (void)state;
    memset(from, 0xEE, sizeof(from));
    assert_int_equal(WSARecvFrom(receiver, &in, 1, NULL, &flags, (struct sockaddr *)from, &length,
                         &overlapped, NULL),
        SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    length = 4;
    assert_int_equal(sendto(sender, "hello", 5, 0, (struct sockaddr *)&here, sizeof(here)), 5);
    expect_packet(port, &overlapped, 5);
    assert_int_equal(length, 16); /* what it would have taken */
    assert_memory_equal(from, &there, 4);
    for (size_t i = 4; i < sizeof(from); i++)
        assert_int_equal(from[i], 0xEE);
    closesocket(receiver);
    closesocket(sender);
    CloseHandle(port);
}

static int startup(void **state)
{
    WSADATA data;

    (void)state;
    return WSAStartup(MAKEWORD(2, 2), &data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_end_behind_octets_ends_the_next_receive),
        cmocka_unit_test(octets_behind_urgent_ones_are_for_the_next_receive),
        cmocka_unit_test(a_receive_does_not_overtake_one_that_waits_for_more),
        cmocka_unit_test(a_sender_needs_room),
        cmocka_unit_test(a_room_that_shrinks_is_not_passed),
    };

    return cmocka_run_group_tests(tests, startup, NULL);
}
