/* SPDX-License-Identifier: MIT */
/* test_socket_poll.c - WSAPoll, FD_SET, __WSAFDIsSet. Source: Microsoft's page of WSAPoll, and Wine. */
#include "tests/unit/win32/sockets/overlapped_socket.h"

/* What is told, by letters: POLLIN has another value on Windows, and stands for the first two. */
static const char *letters(SHORT told)
{
    static const SHORT bits[] = { POLLRDNORM, POLLRDBAND, POLLWRNORM, POLLHUP, POLLERR, POLLNVAL };
    static char text[8];
    size_t n = 0;

    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
        if (told & bits[i])
            text[n++] = "RUWHEN"[i];
    assert_true(!(told & POLLIN) == !(told & (POLLRDNORM | POLLRDBAND)));
    assert_true(!(told & POLLOUT) == !(told & POLLWRNORM));
    text[n] = 0;
    return text;
}

/* What one socket is told to be; waits until it is something, if it is to be. */
static void assert_polled(SOCKET socket, SHORT asked, const char *expected)
{
    WSAPOLLFD one = { socket, asked, 0x55 };

    SetLastError(0xbeef);
    assert_int_equal(WSAPoll(&one, 1, *expected ? LONG_MS : 0), *expected != 0);
    assert_win_error(0);
    assert_string_equal(letters(one.revents), expected);
    assert_true(one.fd == socket && one.events == asked);
}

static void test_data(void **state)
{
    struct pair pair = pair_make();
    char octets[8];

    (void)state;
    assert_polled(pair.a, POLLIN, "");
    assert_polled(pair.a, POLLIN | POLLOUT, "W");
    send_all(pair.b, "abc");
    assert_polled(pair.a, POLLIN, "R");
    assert_polled(pair.a, POLLRDNORM, "R");
    assert_polled(pair.a, POLLIN | POLLOUT, "RW");
    assert_polled(pair.a, POLLRDBAND, "");
    assert_polled(pair.a, 0, "");
    assert_int_equal(recv(pair.a, octets, 8, 0), 3);
    assert_polled(pair.a, POLLIN, "");
    assert_int_equal(send(pair.b, "u", 1, MSG_OOB), 1);
    assert_polled(pair.a, POLLIN, "U");
    assert_polled(pair.a, POLLRDBAND, "U");
    pair_close(&pair);
}

static void test_end(void **state)
{
    struct pair pair = pair_make();
    const LINGER at_once = { 1, 0 };
    char octets[8];

    (void)state;
    send_all(pair.b, "abc");
    assert_int_equal(shutdown(pair.b, SD_SEND), 0);
    assert_polled(pair.a, POLLIN, "R");
    assert_int_equal(recv(pair.a, octets, 8, 0), 3);
    assert_polled(pair.a, POLLIN, "H");
    assert_polled(pair.a, 0, "H");
    assert_polled(pair.a, POLLIN | POLLOUT, "WH");
    pair_close(&pair);
    pair = pair_make();
    assert_int_equal(shutdown(pair.a, SD_SEND), 0); /* one's own is no end */
    assert_polled(pair.a, POLLIN, "");
    pair_close(&pair);
    pair = pair_make();
    assert_int_equal(
        setsockopt(pair.b, SOL_SOCKET, SO_LINGER, (const char *)&at_once, sizeof(at_once)), 0);
    assert_int_equal(closesocket(pair.b), 0);
    assert_polled(pair.a, POLLIN, "HE");
    assert_int_equal(closesocket(pair.a), 0);
}

static void test_connecting(void **state)
{
    struct sockaddr_in address, other;
    SOCKET nobody = bound_socket(SOCK_STREAM, &address), listener = listening_socket(&other);
    SOCKET client = stream_socket();
    u_long on = 1;

    (void)state;
    assert_polled(client, POLLIN | POLLOUT, "");
    assert_int_equal(ioctlsocket(client, FIONBIO, &on), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof(address)), -1);
    assert_polled(client, POLLOUT,
        DIFFERS("W"
                "HE",
            "E", "WSAPoll: Wine tells of a failed connect as Windows before 10 2004"));
    assert_int_equal(closesocket(client), 0);
    client = stream_socket();
    assert_polled(listener, POLLIN | POLLOUT, "");
    assert_int_equal(connect(client, (struct sockaddr *)&other, sizeof(other)), 0);
    assert_polled(listener, POLLIN | POLLOUT, "R");
    assert_int_equal(closesocket(client), 0);
    assert_int_equal(closesocket(listener), 0);
    assert_int_equal(closesocket(nobody), 0);
}

static void test_several(void **state)
{
    struct sockaddr_in address;
    SOCKET receiver = bound_socket(SOCK_DGRAM, &address), sender = socket(AF_INET, SOCK_DGRAM, 0);
    WSAPOLLFD three[3] = { { receiver, POLLIN, 1 }, { INVALID_SOCKET, POLLIN, 1 },
        { sender, POLLIN, 1 } };

    (void)state;
    assert_int_equal(WSAPoll(three, 3, 1), 0);
    assert_int_equal(three[0].revents, 0);
    assert_int_equal(three[1].revents, POLLNVAL);
    assert_int_equal(sendto(sender, "1", 1, 0, (struct sockaddr *)&address, sizeof(address)), 1);
    assert_int_equal(WSAPoll(three, 3, -1), 1);
    assert_string_equal(letters(three[0].revents), "R");
    assert_int_equal(three[1].revents, POLLNVAL);
    assert_int_equal(three[2].revents, 0);
    assert_int_equal(closesocket(sender), 0);
    assert_int_equal(closesocket(receiver), 0);
}

static void test_many(void **state)
{
    enum { MANY = 100 };
    WSAPOLLFD many[MANY];
    struct sockaddr_in address;

    (void)state;
    for (int i = 0; i < MANY; i++)
        many[i] = (WSAPOLLFD){ bound_socket(SOCK_DGRAM, &address), POLLIN, 1 };
    assert_int_equal(WSAPoll(many, MANY, 0), 0);
    assert_int_equal(
        sendto(many[0].fd, "1", 1, 0, (struct sockaddr *)&address, sizeof(address)), 1);
    assert_int_equal(WSAPoll(many, MANY, -1), 1);
    for (int i = 0; i < MANY; i++) {
        assert_string_equal(letters(many[i].revents), i == MANY - 1 ? "R" : "");
        assert_int_equal(closesocket(many[i].fd), 0);
    }
}

static void refused(WSAPOLLFD *sockets, ULONG count, DWORD error)
{
    SetLastError(0xbeef);
    assert_int_equal(WSAPoll(sockets, count, 0), -1);
    assert_win_error(error);
}

static void test_wrong_arguments(void **state)
{
    SOCKET socket = stream_socket();
    WSAPOLLFD one = { socket, POLLIN, 0 };

    (void)state;
    refused(&one, 0, SPEC_WSAEINVAL);
    refused(NULL, 0, SPEC_WSAEINVAL);
    refused(NULL, 1, SPEC_WSAEFAULT);
#ifndef _WIN32 /* WSAPoll: Wine ignores POLLPRI and POLLWRBAND */
    one.events = POLLPRI;
    refused(&one, 1, SPEC_WSAEINVAL);
    one.events = POLLIN | POLLWRBAND;
    refused(&one, 1, SPEC_WSAEINVAL);
#endif
    one.events = POLLIN;
    assert_int_equal(closesocket(socket), 0);
    refused(&one, 1, SPEC_WSAENOTSOCK);
    assert_int_equal(one.revents, POLLNVAL);
}

static void test_sets(void **state)
{
    SOCKET a = stream_socket(), b = stream_socket();
    FD_SET set;

    (void)state;
    FD_ZERO(&set);
    FD_SET(a, &set);
    assert_int_equal(__WSAFDIsSet(a, &set), 1);
    assert_int_equal(__WSAFDIsSet(b, &set), 0);
    assert_int_equal(__WSAFDIsSet(INVALID_SOCKET, &set), 0);
    assert_int_equal(closesocket(a), 0);
    assert_int_equal(closesocket(b), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_data),
        cmocka_unit_test(test_end),
        cmocka_unit_test(test_connecting),
        cmocka_unit_test(test_several),
        cmocka_unit_test(test_many),
        cmocka_unit_test(test_wrong_arguments),
        cmocka_unit_test(test_sets),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
