/* SPDX-License-Identifier: MIT */
/* test_socket_race.c - cancels and closes beside completions: each request of a socket ends exactly once. */
#include "tests/unit/win32/sockets/overlapped_socket.h"

enum { ROUNDS = 150, REQUESTS = 16 };

struct race {
    struct pair pair;
    OVERLAPPED receives[REQUESTS];
    int close_it;
};

static DWORD WINAPI feed(void *argument)
{
    struct race *race = argument;

    for (int i = 0; i < REQUESTS; i++)
        send(race->pair.b, "x", 1, 0); /* the peer may have closed */
    return 0;
}

static DWORD WINAPI stop(void *argument)
{
    struct race *race = argument;

    if (race->close_it) {
        assert_int_equal(closesocket(race->pair.a), 0);
        race->pair.a = INVALID_SOCKET;
        return 0;
    }
    for (int i = 0; i < REQUESTS; i++)
        CancelIoEx((HANDLE)race->pair.a, &race->receives[i]);
    return 0;
}

/* Each OVERLAPPED once, with an octet or ERROR_OPERATION_ABORTED; what is left in the socket is what was cancelled. */
static void run(int close_it)
{
    struct race race = { .pair = pair_make(), .close_it = close_it };
    HANDLE port = CreateIoCompletionPort((HANDLE)race.pair.a, NULL, 1, 0), threads[2];
    char got[REQUESTS] = { 0 };
    int ends[REQUESTS] = { 0 }, received = 0;
    DWORD flags = 0;

    ZeroMemory(race.receives, sizeof(race.receives));
    for (int i = 0; i < REQUESTS; i++) {
        WSABUF in = { 1, &got[i] };

        assert_int_equal(
            WSARecv(race.pair.a, &in, 1, NULL, &flags, &race.receives[i], NULL), SOCKET_ERROR);
        assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    }
    threads[0] = CreateThread(NULL, 0, feed, &race, 0, NULL);
    threads[1] = CreateThread(NULL, 0, stop, &race, 0, NULL);
    for (int i = 0; i < REQUESTS; i++) {
        OVERLAPPED_ENTRY entry = packet_take(port);
        const size_t which = (size_t)(entry.lpOverlapped - race.receives);

        assert_true(which < REQUESTS);
        ends[which]++;
        if (!entry.lpOverlapped->Internal) {
            assert_int_equal(entry.dwNumberOfBytesTransferred, 1);
            assert_int_equal(got[which], 'x');
            received++;
        } else {
            assert_int_equal((DWORD)entry.lpOverlapped->Internal, SPEC_STATUS_CANCELLED);
        }
    }
    assert_wait(WaitForMultipleObjects(2, threads, TRUE, LONG_MS), WAIT_OBJECT_0);
    for (int i = 0; i < REQUESTS; i++)
        assert_int_equal(ends[i], 1);
    assert_no_packet(port);
    for (; !close_it && received < REQUESTS; received++)
        assert_int_equal(recv(race.pair.a, got, 1, 0), 1);
    CloseHandle(threads[0]);
    CloseHandle(threads[1]);
    pair_close(&race.pair);
    CloseHandle(port);
}

static void test_cancel_beside_completions(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++)
        run(0);
}

static void test_close_beside_completions(void **state)
{
    (void)state;
    for (int i = 0; i < ROUNDS; i++)
        run(1);
}

/* A ball between two ends of a connection; whichever thread takes a packet makes the next move. */
struct end {
    OVERLAPPED receive, send; /* first: an OVERLAPPED is known by its end */
    SOCKET socket;
    char in, out;
};

static struct {
    struct end ends[2];
    HANDLE port;
    LONG left; /* octets to be received */
} game;

static void receive_next(struct end *end)
{
    WSABUF in = { 1, &end->in };
    DWORD flags = 0;

    if (WSARecv(end->socket, &in, 1, NULL, &flags, &end->receive, NULL))
        assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
}

static void send_next(struct end *end)
{
    WSABUF out = { 1, &end->out };

    end->out = (char)(end->in + 1);
    if (WSASend(end->socket, &out, 1, NULL, 0, &end->send, NULL))
        assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
}

static DWORD WINAPI serve(void *argument)
{
    (void)argument;
    for (;;) {
        OVERLAPPED_ENTRY entry = packet_take(game.port);
        struct end *end = &game.ends[entry.lpCompletionKey & 1];

        if (!entry.lpOverlapped) {
            assert_true(PostQueuedCompletionStatus(game.port, 0, 0, NULL)); /* for the others */
            return 0;
        }
        assert_int_equal(entry.dwNumberOfBytesTransferred, 1);
        if (entry.lpOverlapped == &end->send)
            receive_next(end); /* one of each at a time */
        else if (InterlockedDecrement(&game.left))
            send_next(end);
        else
            assert_true(PostQueuedCompletionStatus(game.port, 0, 0, NULL));
    }
}

static void test_threads_on_one_port(void **state)
{
    enum { MOVES = 5000 };
    struct pair pair = pair_make();
    HANDLE threads[4];

    (void)state;
    ZeroMemory(&game, sizeof(game));
    game.ends[0].socket = pair.a;
    game.ends[1].socket = pair.b;
    game.left = MOVES;
    game.port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 0, 0);
    CreateIoCompletionPort((HANDLE)pair.b, game.port, 1, 0);
    for (int i = 0; i < 4; i++)
        threads[i] = CreateThread(NULL, 0, serve, NULL, 0, NULL);
    receive_next(&game.ends[1]);
    send_next(&game.ends[0]);
    assert_wait(WaitForMultipleObjects(4, threads, TRUE, LONG_MS), WAIT_OBJECT_0);
    /* each move adds 1; MOVES is even, so the last one comes to the first end */
    assert_int_equal(game.ends[0].in, (char)MOVES);
    for (int i = 0; i < 4; i++)
        CloseHandle(threads[i]);
    pair_close(&pair);
    CloseHandle(game.port);
}

struct canceller {
    SOCKET of;
    volatile LONG ended;
};

static DWORD WINAPI cancel_without_end(void *argument)
{
    struct canceller *canceller = argument;

    while (!InterlockedCompareExchange(&canceller->ended, 0, 0))
        CancelIoEx((HANDLE)canceller->of, NULL);
    return 0;
}

/*
 * The cancel comes while the call begins the request, or later: the request ends once, cancelled, by the call or by a
 * packet.
 */
static void test_cancel_while_the_request_begins(void **state)
{
    enum { BEGINNINGS = 3000 };
    struct pair pair = pair_make();
    struct canceller canceller = { .of = pair.a };
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0), thread;
    ULONG taken = 0;

    (void)state;
    thread = CreateThread(NULL, 0, cancel_without_end, &canceller, 0, NULL);
    for (int i = 0; i < BEGINNINGS; i++) {
        OVERLAPPED receive = { 0 };
        OVERLAPPED_ENTRY entry;
        DWORD flags = 0;
        char octet;
        WSABUF in = { 1, &octet };

        assert_int_equal(WSARecv(pair.a, &in, 1, NULL, &flags, &receive, NULL), SOCKET_ERROR);
        if (WSAGetLastError() == WSA_IO_PENDING) {
            entry = packet_take(port);
            assert_ptr_equal(entry.lpOverlapped, &receive);
            assert_int_equal(entry.dwNumberOfBytesTransferred, 0);
        } else {
            assert_int_equal(WSAGetLastError(), SPEC_WSA_OPERATION_ABORTED);
        }
        assert_int_equal(receive.Internal, SPEC_STATUS_CANCELLED);
        assert_false(GetQueuedCompletionStatusEx(port, &entry, 1, &taken, 0, FALSE));
    }
    InterlockedExchange(&canceller.ended, 1);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    CloseHandle(thread);
    pair_close(&pair);
    CloseHandle(port);
}

struct knock {
    struct sockaddr_in address;
    SOCKET leaves;
    HANDLE port;
};

enum { DROPPED = 99 }; /* the key of a packet */

/* A client that stays until the other end has gone. */
static DWORD WINAPI knock(void *argument)
{
    struct knock *at = argument;
    SOCKET client = stream_socket();
    char octet;

    assert_int_equal(connect(client, (struct sockaddr *)&at->address, sizeof(at->address)), 0);
    recv(client, &octet, 1, 0);
    assert_true(PostQueuedCompletionStatus(at->port, 0, DROPPED, NULL));
    assert_int_equal(closesocket(client), 0);
    return 0;
}

static DWORD WINAPI leave(void *argument)
{
    assert_int_equal(closesocket(((struct knock *)argument)->leaves), 0);
    return 0;
}

/*
 * The first socket is closed while a client comes: either it had the client, or the second one gets it; it is not lost
 * between both.
 */
static void close_while_a_client_comes(void)
{
    struct knock at;
    SOCKET listener = listening_socket(&at.address), second = stream_socket();
    OVERLAPPED requests[2] = { 0 };
    char buffers[2][64];
    HANDLE threads[2];
    bool left = false;

    at.leaves = stream_socket();
    at.port = CreateIoCompletionPort((HANDLE)listener, NULL, 1, 0);
    assert_false(AcceptEx(listener, at.leaves, buffers[0], 0, 32, 32, NULL, &requests[0]));
    assert_false(AcceptEx(listener, second, buffers[1], 0, 32, 32, NULL, &requests[1]));
    threads[0] = CreateThread(NULL, 0, knock, &at, 0, NULL);
    threads[1] = CreateThread(NULL, 0, leave, &at, 0, NULL);
    for (;;) {
        OVERLAPPED_ENTRY entry = packet_take(at.port);

        if (entry.lpCompletionKey == DROPPED && left)
            fail_msg("the client of a socket that was closed is lost");
        if (entry.lpOverlapped == &requests[0] && entry.lpOverlapped->Internal)
            left = true; /* the second one gets the client */
        else if (entry.lpOverlapped == &requests[1] || entry.lpCompletionKey == DROPPED)
            break;
    }
    assert_int_equal(closesocket(second), 0);
    assert_wait(WaitForMultipleObjects(2, threads, TRUE, LONG_MS), WAIT_OBJECT_0);
    assert_int_equal(closesocket(listener), 0);
    CloseHandle(threads[0]);
    CloseHandle(threads[1]);
    CloseHandle(at.port);
}

static void test_a_client_is_not_lost_with_a_closed_socket(void **state)
{
    (void)state;
    for (int i = 0; i < 10 * ROUNDS; i++)
        close_while_a_client_comes();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_client_is_not_lost_with_a_closed_socket),
        cmocka_unit_test(test_cancel_beside_completions),
        cmocka_unit_test(test_close_beside_completions),
        cmocka_unit_test(test_threads_on_one_port),
        cmocka_unit_test(test_cancel_while_the_request_begins),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
