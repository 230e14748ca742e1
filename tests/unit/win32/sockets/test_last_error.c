/* SPDX-License-Identifier: MIT */
/*
 * test_last_error.c - one last error for all socket functions: a failure sets GetLastError and WSAGetLastError, a
 * success sets 0, but where Windows leaves what was there. Source: Microsoft's pages of each function, and Wine.
 */
#include "tests/unit/win32/sockets/overlapped_socket.h"

enum { BEFORE = 0xbeef };

/* The last error of a call, by both functions, when it was BEFORE. */
#define assert_error_of(call, result, error)                                                       \
    do {                                                                                           \
        SetLastError(BEFORE);                                                                      \
        errno = EACCES; /* of an older call of libc's */                                           \
        assert_true((long long)(call) == (long long)(result));                                     \
        assert_int_equal(WSAGetLastError(), (error));                                              \
        assert_int_equal(GetLastError(), (error));                                                 \
    } while (0)
#define assert_fails_with(call, error) assert_error_of(call, -1, error)

static bool is_none(SOCKET made)
{
    return made == INVALID_SOCKET;
}

static void test_last_error_is_one(void **state)
{
    (void)state;
    SetLastError(SPEC_WSAEINVAL);
    errno = EACCES;
    assert_int_equal(WSAGetLastError(), SPEC_WSAEINVAL);
    WSASetLastError(0);
    errno = EACCES;
    assert_int_equal(GetLastError(), 0);
    assert_int_equal(WSAGetLastError(), 0);
}

static void test_success_sets_no_error(void **state)
{
    struct sockaddr_in address = loopback_address(), other;
    int length = sizeof(address);
    SOCKET listener, client, accepted;
    char octets[8];
    WSABUF buffer = { 8, octets };
    DWORD bytes, flags = 0;
    struct timeval now = { 0, 0 };
    const GUID disconnect_id = WSAID_DISCONNECTEX;
    LPFN_DISCONNECTEX disconnect = NULL;
    fd_set set;
    u_long value = 0;

    (void)state;
    ZeroMemory(octets, sizeof(octets));
    assert_error_of((listener = socket(AF_INET, SOCK_STREAM, 0)) == INVALID_SOCKET, 0, 0);
    assert_error_of(bind(listener, (struct sockaddr *)&address, sizeof(address)), 0, 0);
    assert_error_of(getsockname(listener, (struct sockaddr *)&address, (void *)&length), 0, 0);
    assert_error_of(listen(listener, 5), 0, 0);
    assert_error_of(
        (client = WSASocketW(AF_INET, SOCK_STREAM, 0, NULL, 0, 0)) == INVALID_SOCKET, 0, 0);
    assert_error_of(connect(client, (struct sockaddr *)&address, sizeof(address)), 0, BEFORE);
    assert_error_of(
        is_none(accepted = accept(listener, (struct sockaddr *)&other, (void *)&length)), 0, 0);
    assert_error_of(getpeername(accepted, (struct sockaddr *)&other, (void *)&length), 0, 0);
    assert_error_of(send(client, octets, 8, 0), 8, 0);
    assert_error_of(recv(accepted, octets, 8, 0), 8, 0);
    assert_error_of(WSASend(client, &buffer, 1, &bytes, 0, NULL, NULL), 0, 0);
    assert_error_of(WSARecv(accepted, &buffer, 1, &bytes, &flags, NULL, NULL), 0, 0);
    assert_error_of(sendto(client, octets, 8, 0, NULL, 0), 8, 0);
    assert_error_of(recvfrom(accepted, octets, 8, 0, NULL, NULL), 8, 0);
    assert_error_of(ioctlsocket(client, FIONBIO, &value), 0, 0);
    assert_error_of(ioctlsocket(client, FIONREAD, &value), 0, 0);
    FD_ZERO(&set);
    FD_SET(client, &set);
    assert_error_of(select(0, &set, NULL, NULL, &now), 0, 0);
    assert_error_of(WSAIoctl(client, SIO_GET_EXTENSION_FUNCTION_POINTER, (void *)&disconnect_id,
                        sizeof(disconnect_id), &disconnect, sizeof(disconnect), &bytes, NULL, NULL),
        0, 0);
    assert_error_of(disconnect(accepted, NULL, 0, 0), TRUE, 0);
    assert_error_of(shutdown(client, SD_SEND), 0, 0);
    assert_error_of(recv(accepted, octets, 8, 0), 0, 0);
    assert_error_of(closesocket(client), 0, BEFORE);
    assert_int_equal(closesocket(accepted), 0);
    assert_int_equal(closesocket(listener), 0);
}

/* A closed socket, and a number that never was one. */
static void test_no_socket(void **state)
{
    const SOCKET closed = socket(AF_INET, SOCK_STREAM, 0), numbers[] = { closed, INVALID_SOCKET };
    struct sockaddr_in address = loopback_address();
    int length = sizeof(address);
    char octets[8] = "";
    WSABUF buffer = { 8, octets };
    DWORD bytes = 77, flags = 0;
    u_long value = 0;

    (void)state;
    assert_int_equal(closesocket(closed), 0);
    for (int i = 0; i < 2; i++) {
        const SOCKET none = numbers[i];

        assert_fails_with(bind(none, (struct sockaddr *)&address, length), SPEC_WSAENOTSOCK);
        assert_fails_with(listen(none, 1), SPEC_WSAENOTSOCK);
        assert_error_of(is_none(accept(none, NULL, NULL)), 1, SPEC_WSAENOTSOCK);
        address.sin_port = htons(9);
        assert_fails_with(connect(none, (struct sockaddr *)&address, length), SPEC_WSAENOTSOCK);
        assert_fails_with(send(none, octets, 8, 0), SPEC_WSAENOTSOCK);
        assert_fails_with(recv(none, octets, 8, 0), SPEC_WSAENOTSOCK);
        assert_fails_with(sendto(none, octets, 8, 0, NULL, 0), SPEC_WSAENOTSOCK);
        assert_fails_with(recvfrom(none, octets, 8, 0, NULL, NULL), SPEC_WSAENOTSOCK);
        assert_fails_with(shutdown(none, SD_BOTH), SPEC_WSAENOTSOCK);
        assert_fails_with(
            getsockname(none, (struct sockaddr *)&address, (void *)&length), SPEC_WSAENOTSOCK);
        assert_fails_with(
            getpeername(none, (struct sockaddr *)&address, (void *)&length), SPEC_WSAENOTSOCK);
        assert_fails_with(WSASend(none, &buffer, 1, &bytes, 0, NULL, NULL), SPEC_WSAENOTSOCK);
        assert_fails_with(WSARecv(none, &buffer, 1, &bytes, &flags, NULL, NULL), SPEC_WSAENOTSOCK);
        assert_fails_with(ioctlsocket(none, FIONBIO, &value), SPEC_WSAENOTSOCK);
        assert_fails_with(closesocket(none), SPEC_WSAENOTSOCK);
    }
    assert_int_equal(bytes, 77);
}

static void test_streams_that_are_not_connected(void **state)
{
    struct sockaddr_in address = loopback_address();
    const struct sockaddr *name = (struct sockaddr *)&address;
    SOCKET fresh = stream_socket();
    int length = sizeof(address);
    char octets[8] = "";

    (void)state;
    assert_fails_with(recv(fresh, octets, 8, 0), SPEC_WSAENOTCONN);
    assert_fails_with(send(fresh, octets, 8, 0),
        DIFFERS(SPEC_WSAENOTCONN, SPEC_WSAECONNRESET, "send: Wine's error of Linux"));
    assert_fails_with(
        getpeername(fresh, (struct sockaddr *)&address, (void *)&length), SPEC_WSAENOTCONN);
    assert_fails_with(
        getsockname(fresh, (struct sockaddr *)&address, (void *)&length), SPEC_WSAEINVAL);
    assert_fails_with(shutdown(fresh, SD_BOTH), SPEC_WSAENOTCONN);
    assert_fails_with(listen(fresh, 1), SPEC_WSAEINVAL);
    assert_error_of(is_none(accept(fresh, NULL, NULL)), 1, SPEC_WSAEINVAL);
    assert_fails_with(bind(fresh, NULL, sizeof(address)), SPEC_WSAEFAULT);
    assert_fails_with(bind(fresh, name, sizeof(address) - 1), SPEC_WSAEFAULT);
    assert_fails_with(connect(fresh, name, sizeof(address) - 1),
        DIFFERS(SPEC_WSAEFAULT, SPEC_WSAEADDRNOTAVAIL, "connect: Wine takes a short address"));
    assert_int_equal(bind(fresh, name, sizeof(address)), 0);
    assert_fails_with(bind(fresh, name, sizeof(address)), SPEC_WSAEINVAL);
    length = 3;
    assert_fails_with(
        getsockname(fresh, (struct sockaddr *)&address, (void *)&length), SPEC_WSAEFAULT);
    assert_int_equal(length, 3);
    assert_int_equal(closesocket(fresh), 0);
}

static void test_connections(void **state)
{
    struct pair pair = pair_make();
    struct sockaddr_in address = loopback_address();
    char octets[8] = "";
    WSABUF buffer = { 8, octets };
    DWORD bytes = 77, flags = 0;
    u_long on = 1;

    (void)state;
    address.sin_port = htons(9);
    assert_fails_with(
        connect(pair.a, (struct sockaddr *)&address, sizeof(address)), SPEC_WSAEISCONN);
    assert_error_of(is_none(accept(pair.a, NULL, NULL)), 1, SPEC_WSAEINVAL);
    assert_fails_with(shutdown(pair.a, 7), SPEC_WSAEINVAL);
    assert_int_equal(ioctlsocket(pair.a, FIONBIO, &on), 0);
    assert_fails_with(recv(pair.a, octets, 8, 0), SPEC_WSAEWOULDBLOCK);
    assert_fails_with(WSARecv(pair.a, &buffer, 1, &bytes, &flags, NULL, NULL), SPEC_WSAEWOULDBLOCK);
    assert_int_equal(bytes, 77); /* a failure leaves it */
    assert_int_equal(shutdown(pair.a, SD_SEND), 0);
    assert_fails_with(send(pair.a, octets, 8, 0), SPEC_WSAESHUTDOWN);
    assert_fails_with(WSASend(pair.a, &buffer, 1, &bytes, 0, NULL, NULL), SPEC_WSAESHUTDOWN);
    assert_int_equal(bytes, 77);
    pair_close(&pair);
}

/* A non-blocking connect that goes on, and one to a port without a listener. */
static void test_connect_that_is_refused(void **state)
{
    struct sockaddr_in address;
    SOCKET nobody = bound_socket(SOCK_STREAM, &address), client = stream_socket();

    (void)state;
    assert_fails_with(
        connect(client, (struct sockaddr *)&address, sizeof(address)), SPEC_WSAECONNREFUSED);
    assert_int_equal(closesocket(client), 0);
    assert_int_equal(closesocket(nobody), 0);
    assert_error_of(is_none(socket(AF_INET, 99, 0)), 1, SPEC_WSAESOCKTNOSUPPORT);
    assert_error_of(is_none(socket(99, SOCK_STREAM, 0)), 1, SPEC_WSAEAFNOSUPPORT);
    assert_error_of(is_none(socket(AF_INET, SOCK_STREAM, IPPROTO_UDP)), 1, SPEC_WSAEPROTONOSUPPORT);
}

static void test_datagrams(void **state)
{
    struct sockaddr_in address;
    SOCKET receiver = bound_socket(SOCK_DGRAM, &address), fresh = socket(AF_INET, SOCK_DGRAM, 0);
    char octets[8] = "1234567", got[8] = "";

    (void)state;
    assert_fails_with(send(fresh, octets, 8, 0),
        DIFFERS_BEFORE_10(SPEC_WSAENOTCONN, SPEC_WSAEINVAL, "send: Wine's error of Linux"));
    assert_fails_with(listen(receiver, 3), SPEC_WSAEOPNOTSUPP);
    assert_error_of(is_none(accept(receiver, NULL, NULL)), 1, SPEC_WSAEOPNOTSUPP);
    assert_error_of(
        sendto(fresh, octets, 8, 0, (struct sockaddr *)&address, sizeof(address)), 8, 0);
    assert_fails_with(recv(receiver, got, 4, 0), SPEC_WSAEMSGSIZE);
    assert_memory_equal(got, "1234\0\0\0", 8);
    assert_error_of(
        sendto(fresh, octets, 8, 0, (struct sockaddr *)&address, sizeof(address)), 8, 0);
    assert_fails_with(recvfrom(receiver, got, 4, 0, NULL, NULL), SPEC_WSAEMSGSIZE);
    assert_int_equal(closesocket(fresh), 0);
    assert_int_equal(closesocket(receiver), 0);
}

static void test_before_startup(void **state)
{
    struct sockaddr_in address = loopback_address();
    char octets[8] = "";

    (void)state;
    assert_int_equal(WSACleanup(), 0);
    assert_error_of(is_none(socket(AF_INET, SOCK_STREAM, 0)), 1, SPEC_WSANOTINITIALISED);
    assert_fails_with(send(3, octets, 8, 0),
        DIFFERS(SPEC_WSANOTINITIALISED, SPEC_WSAENOTSOCK, "Wine looks for the socket first"));
    assert_fails_with(recv(3, octets, 8, 0),
        DIFFERS(SPEC_WSANOTINITIALISED, SPEC_WSAENOTSOCK, "Wine looks for the socket first"));
    assert_fails_with(bind(3, (struct sockaddr *)&address, sizeof(address)),
        DIFFERS(SPEC_WSANOTINITIALISED, SPEC_WSAENOTSOCK, "Wine looks for the socket first"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_error_is_one),
        cmocka_unit_test(test_success_sets_no_error),
        cmocka_unit_test(test_no_socket),
        cmocka_unit_test(test_streams_that_are_not_connected),
        cmocka_unit_test(test_connections),
        cmocka_unit_test(test_connect_that_is_refused),
        cmocka_unit_test(test_datagrams),
        cmocka_unit_test(test_before_startup),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
