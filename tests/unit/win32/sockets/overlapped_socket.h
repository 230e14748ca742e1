/* SPDX-License-Identifier: MIT */
/* overlapped_socket.h - what the tests of overlapped sockets share: connected pairs, packets. */
#ifndef TESTS_UNIT_WIN32_SOCKETS_OVERLAPPED_SOCKET_H
#define TESTS_UNIT_WIN32_SOCKETS_OVERLAPPED_SOCKET_H

#include "tests/support/win32_test.h"

#include <mswsock.h>

#include <stdlib.h>

struct pair {
    SOCKET a, b;
};

static inline struct sockaddr_in loopback_address(void)
{
    struct sockaddr_in address;

    ZeroMemory(&address, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

/* A socket bound to a port of the loopback address, which is in *address. */
static inline SOCKET bound_socket(int type, struct sockaddr_in *address)
{
    SOCKET made = WSASocketW(AF_INET, type, 0, NULL, 0, WSA_FLAG_OVERLAPPED);
    int length = sizeof(*address);

    *address = loopback_address();
    assert_true(made != INVALID_SOCKET);
    assert_int_equal(bind(made, (struct sockaddr *)address, sizeof(*address)), 0);
    assert_int_equal(getsockname(made, (struct sockaddr *)address, (void *)&length), 0);
    return made;
}

static inline SOCKET listening_socket(struct sockaddr_in *address)
{
    SOCKET made = bound_socket(SOCK_STREAM, address);

    assert_int_equal(listen(made, 16), 0);
    return made;
}

static inline SOCKET stream_socket(void)
{
    SOCKET made = socket(AF_INET, SOCK_STREAM, 0);

    assert_true(made != INVALID_SOCKET);
    return made;
}

static inline struct pair pair_make(void)
{
    struct sockaddr_in address;
    SOCKET listener = listening_socket(&address);
    struct pair pair = { .a = stream_socket() };

    assert_int_equal(connect(pair.a, (struct sockaddr *)&address, sizeof(address)), 0);
    pair.b = accept(listener, NULL, NULL);
    assert_true(pair.b != INVALID_SOCKET);
    assert_int_equal(closesocket(listener), 0);
    return pair;
}

static inline void pair_close(struct pair *pair)
{
    if (pair->a != INVALID_SOCKET)
        assert_int_equal(closesocket(pair->a), 0);
    if (pair->b != INVALID_SOCKET)
        assert_int_equal(closesocket(pair->b), 0);
}

static inline void send_all(SOCKET to, const char *text)
{
    assert_int_equal(send(to, text, (int)strlen(text), 0), (int)strlen(text));
}

static inline void await_readable(SOCKET socket_)
{
    struct timeval time = { LONG_MS / 1000, 0 };
    fd_set set;

    FD_ZERO(&set);
    FD_SET(socket_, &set);
    assert_int_equal(select(0, &set, NULL, NULL, &time), 1);
}

static inline OVERLAPPED_ENTRY packet_take(HANDLE port)
{
    OVERLAPPED_ENTRY entry = { .Internal = 0 };
    ULONG taken = 0;

    if (!GetQueuedCompletionStatusEx(port, &entry, 1, &taken, LONG_MS, FALSE))
        fail_msg("no packet: %u", (unsigned)GetLastError());
    assert_int_equal(taken, 1);
    return entry;
}

static inline void assert_no_packet(HANDLE port)
{
    OVERLAPPED *overlapped = NULL;
    ULONG_PTR key;
    DWORD bytes;

    assert_fails(GetQueuedCompletionStatus(port, &bytes, &key, &overlapped, 0), SPEC_WAIT_TIMEOUT);
    assert_null(overlapped);
}

#endif
