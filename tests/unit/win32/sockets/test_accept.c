/* SPDX-License-Identifier: MIT */
/* test_accept.c - AcceptEx, ConnectEx, DisconnectEx, and what WSAIoctl and setsockopt have to do with them. */
#include "tests/unit/win32/sockets/overlapped_socket.h"

#include <mstcpip.h>

enum { ROOM = sizeof(struct sockaddr_in) + 16 };

static LPFN_ACCEPTEX accept_ex;
static LPFN_CONNECTEX connect_ex;
static LPFN_DISCONNECTEX disconnect_ex;
static LPFN_GETACCEPTEXSOCKADDRS get_addresses;

static int extension(SOCKET socket_, GUID id, void *function)
{
    DWORD bytes = 0;

    if (WSAIoctl(socket_, SIO_GET_EXTENSION_FUNCTION_POINTER, &id, sizeof(id), function,
            sizeof(void *), &bytes, NULL, NULL))
        return WSAGetLastError();
    assert_int_equal(bytes, sizeof(void *));
    return 0;
}

static void assert_pending(BOOL result)
{
    assert_false(result);
    assert_int_equal(WSAGetLastError(), SPEC_ERROR_IO_PENDING);
}

static void assert_refused(BOOL result, int error)
{
    assert_false(result);
    assert_int_equal(WSAGetLastError(), error);
}

static SOCKET client_of(const struct sockaddr_in *address)
{
    SOCKET client = stream_socket();

    assert_int_equal(connect(client, (const struct sockaddr *)address, sizeof(*address)), 0);
    return client;
}

/* Fails with that error, at the port. */
static void assert_packet_fails(HANDLE port, const OVERLAPPED *overlapped, DWORD error)
{
    OVERLAPPED *ended = NULL;
    ULONG_PTR key;
    DWORD bytes;

    assert_fails(GetQueuedCompletionStatus(port, &bytes, &key, &ended, LONG_MS), error);
    assert_ptr_equal(ended, overlapped);
}

static void test_extension_functions(void **state)
{
    SOCKET socket_ = stream_socket();
    static const GUID none = { 1, 2, 3, { 4 } };
    void *function;

    (void)state;
    assert_int_equal(extension(socket_, (GUID)WSAID_ACCEPTEX, &accept_ex), 0);
    assert_int_equal(extension(socket_, (GUID)WSAID_CONNECTEX, &connect_ex), 0);
    assert_int_equal(extension(socket_, (GUID)WSAID_DISCONNECTEX, &disconnect_ex), 0);
    assert_int_equal(extension(socket_, (GUID)WSAID_GETACCEPTEXSOCKADDRS, &get_addresses), 0);
    assert_int_equal(extension(socket_, none, &function), WSAEINVAL);
    closesocket(socket_);
}

static void test_accept_and_its_addresses(void **state)
{
    struct sockaddr_in address, *local = NULL, *remote = NULL, real;
    SOCKET listener = listening_socket(&address), server = stream_socket(), client;
    HANDLE port = CreateIoCompletionPort((HANDLE)listener, NULL, 1, 0);
    int local_length = 0, remote_length = 0, length = sizeof(real);
    OVERLAPPED accepted = { 0 }, receive = { 0 };
    char buffer[2 * ROOM], got[4];
    WSABUF in = { 4, got };
    OVERLAPPED_ENTRY entry;
    DWORD bytes = 0, flags = 0;

    (void)state;
    assert_non_null(CreateIoCompletionPort((HANDLE)server, port, 2, 0));
    assert_pending(accept_ex(listener, server, buffer, 0, ROOM, ROOM, &bytes, &accepted));
    client = client_of(&address);
    entry = packet_take(port);
    assert_ptr_equal(entry.lpOverlapped, &accepted);
    assert_int_equal(entry.lpCompletionKey, 1); /* the listener's */
    assert_int_equal(entry.dwNumberOfBytesTransferred, 0);
    assert_int_equal(setsockopt(server, SOL_SOCKET, SO_UPDATE_ACCEPT_CONTEXT, (char *)&listener,
                         sizeof(listener)),
        0);
    get_addresses(buffer, 0, ROOM, ROOM, (struct sockaddr **)&local, &local_length,
        (struct sockaddr **)&remote, &remote_length);
    assert_int_equal(local_length, sizeof(address));
    assert_int_equal(local->sin_family, AF_INET);
    assert_int_equal(local->sin_port, address.sin_port);
    assert_int_equal(getsockname(client, (struct sockaddr *)&real, (void *)&length), 0);
    assert_int_equal(remote->sin_port, real.sin_port);
    assert_int_equal(remote->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    assert_int_equal(getpeername(server, (struct sockaddr *)&real, (void *)&length), 0);
    /* the socket has kept its port and its key */
    WSARecv(server, &in, 1, NULL, &flags, &receive, NULL);
    send_all(client, "data");
    entry = packet_take(port);
    assert_ptr_equal(entry.lpOverlapped, &receive);
    assert_int_equal(entry.lpCompletionKey, 2);
    assert_memory_equal(got, "data", 4);
    closesocket(client);
    closesocket(server);
    closesocket(listener);
    CloseHandle(port);
}

static void test_accept_waits_for_data(void **state)
{
    struct sockaddr_in address;
    SOCKET listener = listening_socket(&address), servers[2] = { stream_socket(), stream_socket() };
    HANDLE port = CreateIoCompletionPort((HANDLE)listener, NULL, 1, 0);
    OVERLAPPED accepted[2] = { { 0 } };
    char buffers[2][8 + 2 * ROOM];
    SOCKET silent, talker;
    OVERLAPPED_ENTRY entry;
    DWORD bytes;
    int second;

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_pending(
            accept_ex(listener, servers[i], buffers[i], 8, ROOM, ROOM, &bytes, &accepted[i]));
    silent = client_of(&address); /* it holds up nobody */
    talker = client_of(&address);
    send_all(talker, "hello");
    entry = packet_take(port);
    second = entry.lpOverlapped == &accepted[1];
    assert_int_equal(entry.dwNumberOfBytesTransferred, 5);
    assert_memory_equal(buffers[second], "hello", 5);
    assert_no_packet(port);
    closesocket(silent); /* its end is the end of that request */
    entry = packet_take(port);
    assert_ptr_equal(entry.lpOverlapped, &accepted[!second]);
    assert_int_equal(entry.dwNumberOfBytesTransferred, 0);
    closesocket(talker);
    for (int i = 0; i < 2; i++)
        closesocket(servers[i]);
    closesocket(listener);
    CloseHandle(port);
}

static void test_bad_accepts(void **state)
{
    struct sockaddr_in address, other;
    SOCKET deaf = bound_socket(SOCK_STREAM, &other), listener = listening_socket(&address);
    SOCKET server = stream_socket();
    HANDLE port = CreateIoCompletionPort((HANDLE)listener, NULL, 1, 0);
    OVERLAPPED accepted = { 0 };
    char buffer[2 * ROOM];
    DWORD bytes;

    (void)state;
    assert_refused(
        accept_ex(INVALID_SOCKET, server, buffer, 0, ROOM, ROOM, &bytes, &accepted), WSAENOTSOCK);
#ifndef _WIN32 /* AcceptEx of a socket that does not listen: Wine waits */
    assert_refused(accept_ex(deaf, server, buffer, 0, ROOM, ROOM, &bytes, &accepted), WSAEINVAL);
#endif
    assert_refused(accept_ex(listener, server, buffer, 0, ROOM, 0, &bytes, &accepted), WSAEFAULT);
    assert_refused(
        accept_ex(listener, server, buffer, 0, ROOM, ROOM, &bytes, NULL), ERROR_INVALID_PARAMETER);
    assert_pending(accept_ex(listener, server, buffer, 0, ROOM, ROOM, &bytes, &accepted));
#ifndef _WIN32 /* AcceptEx twice for one socket: Wine takes it */
    assert_refused(
        accept_ex(listener, server, buffer, 0, ROOM, ROOM, &bytes, &accepted), WSAEINVAL);
#endif
    assert_true(CancelIoEx((HANDLE)listener, &accepted));
    assert_packet_fails(port, &accepted, ERROR_OPERATION_ABORTED);
    closesocket(deaf);
    closesocket(server);
    closesocket(listener);
    CloseHandle(port);
}

#ifndef _WIN32 /* AcceptEx with less room than an address and 16 octets, into a socket in use: Wine takes it */
static void test_accepts_with_bad_arguments(void **state)
{
    struct sockaddr_in address, other;
    SOCKET listener = listening_socket(&address), bound = bound_socket(SOCK_STREAM, &other);
    SOCKET server = stream_socket();
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)listener, NULL, 1, 0);
    OVERLAPPED accepted = { 0 };
    char buffer[8 + 2 * ROOM];
    DWORD bytes;

    (void)state;
    assert_refused(
        accept_ex(listener, server, buffer, 0, ROOM - 1, ROOM, &bytes, &accepted), WSAEFAULT);
    assert_refused(
        accept_ex(listener, server, buffer, 8, ROOM, ROOM - 1, &bytes, &accepted), WSAEFAULT);
    assert_refused(
        accept_ex(listener, pair.a, buffer, 0, ROOM, ROOM, &bytes, &accepted), WSAEINVAL);
    assert_refused(accept_ex(listener, bound, buffer, 0, ROOM, ROOM, &bytes, &accepted), WSAEINVAL);
    assert_no_packet(port);
    /* none of them has taken the socket */
    assert_pending(accept_ex(listener, server, buffer, 0, ROOM, ROOM, &bytes, &accepted));
    closesocket(listener);
    assert_packet_fails(port, &accepted, ERROR_OPERATION_ABORTED);
    closesocket(server);
    closesocket(bound);
    pair_close(&pair);
    CloseHandle(port);
}
#endif

/* The connection is there, its first data are not. */
static void test_close_of_the_listener_ends_an_accept_without_data(void **state)
{
    struct sockaddr_in address;
    SOCKET listener = listening_socket(&address), server = stream_socket(), client, second;
    HANDLE port = CreateIoCompletionPort((HANDLE)listener, NULL, 1, 0);
    OVERLAPPED accepted[2] = { { 0 } };
    char buffers[2][8 + 2 * ROOM];
    DWORD bytes;

    (void)state;
    second = stream_socket();
    assert_pending(accept_ex(listener, server, buffers[0], 8, ROOM, ROOM, &bytes, &accepted[0]));
    client = client_of(&address);
    /* the second one ends without data: so the first has its connection by then */
    assert_pending(accept_ex(listener, second, buffers[1], 0, ROOM, ROOM, &bytes, &accepted[1]));
    closesocket(client_of(&address));
    assert_ptr_equal(packet_take(port).lpOverlapped, &accepted[1]);
    assert_int_equal(closesocket(listener), 0);
    assert_packet_fails(port, &accepted[0], ERROR_OPERATION_ABORTED);
    assert_no_packet(port);
    closesocket(client);
    closesocket(server);
    closesocket(second);
    CloseHandle(port);
}

static void test_close_of_the_listener_ends_its_accepts(void **state)
{
    struct sockaddr_in address;
    SOCKET listener = listening_socket(&address), server = stream_socket();
    HANDLE port = CreateIoCompletionPort((HANDLE)listener, NULL, 1, 0);
    OVERLAPPED accepted = { 0 };
    char buffer[2 * ROOM];
    DWORD bytes;

    (void)state;
    assert_pending(accept_ex(listener, server, buffer, 0, ROOM, ROOM, &bytes, &accepted));
    assert_int_equal(closesocket(listener), 0);
    assert_packet_fails(port, &accepted, ERROR_OPERATION_ABORTED);
    assert_no_packet(port);
    assert_int_equal(closesocket(server), 0);
    CloseHandle(port);
}

#ifndef _WIN32 /* AcceptEx after closesocket of its second socket: Wine leaves it pending */
static void test_close_of_the_accepting_socket_ends_its_accept(void **state)
{
    struct sockaddr_in address;
    SOCKET listener = listening_socket(&address), server = stream_socket();
    HANDLE port = CreateIoCompletionPort((HANDLE)listener, NULL, 1, 0);
    OVERLAPPED accepted = { 0 };
    char buffer[2 * ROOM];
    DWORD bytes;

    (void)state;
    assert_pending(accept_ex(listener, server, buffer, 0, ROOM, ROOM, &bytes, &accepted));
    assert_int_equal(closesocket(server), 0);
    assert_packet_fails(port, &accepted, ERROR_OPERATION_ABORTED);
    server = stream_socket();
    assert_pending(accept_ex(listener, server, buffer, 0, ROOM, ROOM, &bytes, &accepted));
    closesocket(listener);
    closesocket(server);
    CloseHandle(port);
}
#endif

static SOCKET bound_client(void)
{
    struct sockaddr_in any;

    return bound_socket(SOCK_STREAM, &any);
}

static void test_connect_and_send(void **state)
{
    struct sockaddr_in address, peer;
    SOCKET listener = listening_socket(&address), client = bound_client(), server;
    HANDLE port = CreateIoCompletionPort((HANDLE)client, NULL, 3, 0);
    OVERLAPPED connected = { 0 };
    char hello[5] = "hello", got[8];
    int length = sizeof(peer);
    OVERLAPPED_ENTRY entry;
    DWORD sent = 0;

    (void)state;
    assert_pending(connect_ex(
        client, (struct sockaddr *)&address, sizeof(address), hello, 5, &sent, &connected));
    entry = packet_take(port);
    assert_ptr_equal(entry.lpOverlapped, &connected);
    assert_int_equal(entry.dwNumberOfBytesTransferred, 5);
    assert_int_equal(setsockopt(client, SOL_SOCKET, SO_UPDATE_CONNECT_CONTEXT, NULL, 0), 0);
    assert_int_equal(getpeername(client, (struct sockaddr *)&peer, (void *)&length), 0);
    server = accept(listener, NULL, NULL);
    assert_int_equal(recv(server, got, 8, 0), 5);
    assert_memory_equal(got, "hello", 5);
    assert_refused(connect_ex(client, (struct sockaddr *)&address, sizeof(address), NULL, 0, &sent,
                       &connected),
        WSAEISCONN);
    closesocket(client);
    closesocket(server);
    closesocket(listener);
    CloseHandle(port);
}

static void test_connect_that_is_refused(void **state)
{
    struct sockaddr_in address;
    SOCKET deaf = bound_socket(SOCK_STREAM, &address), client = bound_client();
    HANDLE port = CreateIoCompletionPort((HANDLE)client, NULL, 3, 0);
    OVERLAPPED connected = { 0 };
    DWORD bytes, flags;

    (void)state;
    assert_pending(connect_ex(
        client, (struct sockaddr *)&address, sizeof(address), NULL, 0, NULL, &connected));
    assert_packet_fails(port, &connected, ERROR_CONNECTION_REFUSED);
    assert_false(WSAGetOverlappedResult(client, &connected, &bytes, FALSE, &flags));
    assert_int_equal(WSAGetLastError(), SPEC_WSAECONNREFUSED);
#ifndef _WIN32 /* ConnectEx after one that was refused: Wine hands on Linux' ECONNABORTED */
    assert_int_equal(listen(deaf, 1), 0);
    assert_pending(connect_ex(
        client, (struct sockaddr *)&address, sizeof(address), NULL, 0, NULL, &connected));
    assert_ptr_equal(packet_take(port).lpOverlapped, &connected);
#endif
    closesocket(client);
    closesocket(deaf);
    CloseHandle(port);
}

static void test_bad_connects(void **state)
{
    struct sockaddr_in address;
    SOCKET listener = listening_socket(&address), unbound = stream_socket();
    OVERLAPPED connected = { 0 };

    (void)state;
    assert_refused(connect_ex(unbound, (struct sockaddr *)&address, sizeof(address), NULL, 0, NULL,
                       &connected),
        WSAEINVAL);
    assert_refused(connect_ex(INVALID_SOCKET, (struct sockaddr *)&address, sizeof(address), NULL, 0,
                       NULL, &connected),
        WSAENOTSOCK);
    assert_refused(
        connect_ex(unbound, (struct sockaddr *)&address, sizeof(address), NULL, 0, NULL, NULL),
        ERROR_INVALID_PARAMETER);
    closesocket(unbound);
    closesocket(listener);
}

static void test_disconnect(void **state)
{
    struct pair pair = pair_make();
    SOCKET alone = stream_socket();
    OVERLAPPED disconnected = { .hEvent = CreateEvent(NULL, TRUE, FALSE, NULL) };
    DWORD bytes, flags;
    char octet;

    (void)state;
    assert_refused(disconnect_ex(alone, NULL, 0, 0), WSAENOTCONN);
    if (!disconnect_ex(pair.a, &disconnected, 0, 0))
        assert_int_equal(WSAGetLastError(), SPEC_ERROR_IO_PENDING);
    assert_true(WSAGetOverlappedResult(pair.a, &disconnected, &bytes, TRUE, &flags));
    assert_int_equal(recv(pair.b, &octet, 1, 0), 0);
    CloseHandle(disconnected.hEvent);
    closesocket(alone);
    pair_close(&pair);
}

#ifndef _WIN32 /* TF_REUSE_SOCKET: Wine does not know it */
static void test_socket_is_used_again(void **state)
{
    struct sockaddr_in address;
    SOCKET listener = listening_socket(&address), server = stream_socket();
    HANDLE port = CreateIoCompletionPort((HANDLE)listener, NULL, 1, 0);
    OVERLAPPED accepted = { 0 }, receive = { 0 };
    char buffer[2 * ROOM], got[4];
    WSABUF in = { 4, got };
    struct sockaddr *local, *remote;
    DWORD bytes, flags = 0;
    INT lengths[2];

    (void)state;
    assert_non_null(CreateIoCompletionPort((HANDLE)server, port, 2, 0));
    for (int round = 0; round < 3; round++) {
        SOCKET client;

        assert_pending(AcceptEx(listener, server, buffer, 0, 0, ROOM, &bytes, &accepted));
        client = client_of(&address);
        assert_ptr_equal(packet_take(port).lpOverlapped, &accepted);
        GetAcceptExSockaddrs(buffer, 0, 0, ROOM, &local, &lengths[0], &remote, &lengths[1]);
        assert_null(local); /* no room, no address */
        assert_int_equal(lengths[0], 0);
        assert_int_equal(lengths[1], sizeof(struct sockaddr_in));
        assert_int_equal(remote->sa_family, AF_INET);
        WSARecv(server, &in, 1, NULL, &flags, &receive, NULL);
        send_all(client, "abcd");
        assert_int_equal(packet_take(port).lpCompletionKey, 2);
        /* a receive that pends ends with the connection */
        assert_int_equal(WSARecv(server, &in, 1, NULL, &flags, &receive, NULL), SOCKET_ERROR);
        assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
        assert_true(disconnect_ex(server, NULL, TF_REUSE_SOCKET, 0));
        assert_packet_fails(port, &receive, ERROR_OPERATION_ABORTED);
        assert_int_equal(recv(client, got, 4, 0), 0);
        closesocket(client);
    }
    closesocket(server);
    closesocket(listener);
    CloseHandle(port);
}
#endif

static void test_keepalive(void **state)
{
    SOCKET socket_ = stream_socket();
    struct tcp_keepalive values = { 1, 5000, 1500 };
    DWORD bytes;
    int on = 0, length = sizeof(on);

    (void)state;
    assert_int_equal(
        WSAIoctl(socket_, SIO_KEEPALIVE_VALS, &values, sizeof(values), NULL, 0, &bytes, NULL, NULL),
        0);
    assert_int_equal(
        getsockopt(socket_, SOL_SOCKET, SO_KEEPALIVE, (char *)&on, (void *)&length), 0);
    assert_int_equal(on, 1);
    assert_int_equal(WSAIoctl(socket_, SIO_KEEPALIVE_VALS, &values, 4, NULL, 0, &bytes, NULL, NULL),
        SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEFAULT);
    closesocket(socket_);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_extension_functions),
        cmocka_unit_test(test_accept_and_its_addresses),
        cmocka_unit_test(test_accept_waits_for_data),
        cmocka_unit_test(test_bad_accepts),
#ifndef _WIN32
        cmocka_unit_test(test_accepts_with_bad_arguments),
#endif
        cmocka_unit_test(test_close_of_the_listener_ends_an_accept_without_data),
        cmocka_unit_test(test_close_of_the_listener_ends_its_accepts),
#ifndef _WIN32 /* AcceptEx after closesocket, TF_REUSE_SOCKET: as above */
        cmocka_unit_test(test_close_of_the_accepting_socket_ends_its_accept),
        cmocka_unit_test(test_socket_is_used_again),
#endif
        cmocka_unit_test(test_connect_and_send),
        cmocka_unit_test(test_connect_that_is_refused),
        cmocka_unit_test(test_bad_connects),
        cmocka_unit_test(test_disconnect),
        cmocka_unit_test(test_keepalive),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
