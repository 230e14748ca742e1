/* SPDX-License-Identifier: MIT */
/* test_overlapped_socket.c - WSASend, WSARecv and their kind on ports and events; what libuv and wepoll rely on. */
#include "tests/unit/win32/sockets/overlapped_socket.h"

/* What a failed request ends with: by the port, and by WSAGetOverlappedResult. */
static void assert_ended(SOCKET socket_, OVERLAPPED *overlapped, BOOL good, DWORD bytes, int error)
{
    DWORD done = 99, flags = 99;

    WSASetLastError(0);
    assert_int_equal(WSAGetOverlappedResult(socket_, overlapped, &done, FALSE, &flags), good);
    if (good)
        assert_int_equal(done, bytes);
    else
        assert_int_equal(WSAGetLastError(), error);
}

static void test_send_and_receive_by_port(void **state)
{
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 0xaaaa, 0);
    char sent[64] = "hello", got[64] = "";
    OVERLAPPED receive = { 0 }, send = { 0 };
    DWORD flags = 0, bytes = 77;
    WSABUF in = { 64, got }, out = { 64, sent };
    OVERLAPPED_ENTRY entry;

    (void)state;
    assert_non_null(port);
    assert_int_equal(WSARecv(pair.a, &in, 1, &bytes, &flags, &receive, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    assert_false(WSAGetOverlappedResult(pair.a, &receive, &bytes, FALSE, &flags));
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_INCOMPLETE);
    assert_int_equal(receive.Internal, 0x103);
    assert_int_equal(WSASend(pair.b, &out, 1, &bytes, 0, NULL, NULL), 0);
    assert_int_equal(bytes, 64);
    entry = packet_take(port);
    assert_ptr_equal(entry.lpOverlapped, &receive);
    assert_int_equal(entry.lpCompletionKey, 0xaaaa);
    assert_int_equal(entry.dwNumberOfBytesTransferred, 64);
    assert_string_equal(got, "hello");
    assert_int_equal(receive.Internal, 0);
    assert_int_equal(receive.InternalHigh, 64);
    assert_ended(pair.a, &receive, TRUE, 64, 0);
    /* what ends at once queues its packet, too */
    bytes = 0;
    assert_int_equal(WSASend(pair.a, &out, 1, &bytes, 0, &send, NULL), 0);
    assert_int_equal(bytes, 64);
    entry = packet_take(port);
    assert_ptr_equal(entry.lpOverlapped, &send);
    assert_int_equal(entry.dwNumberOfBytesTransferred, 64);
    assert_no_packet(port);
    pair_close(&pair);
    assert_true(CloseHandle(port));
}

static void test_data_that_are_there_end_a_receive_at_once(void **state)
{
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    char first[2], second[8];
    WSABUF in[2] = { { 2, first }, { 8, second } };
    DWORD flags = 0, bytes = 0;
    OVERLAPPED receive = { 0 };

    (void)state;
    send_all(pair.b, "abcde");
    await_readable(pair.a);
    assert_int_equal(WSARecv(pair.a, in, 2, &bytes, &flags, &receive, NULL), 0);
    assert_int_equal(bytes, 5);
    assert_memory_equal(first, "ab", 2);
    assert_memory_equal(second, "cde", 3);
    assert_ptr_equal(packet_take(port).lpOverlapped, &receive);
    assert_no_packet(port);
    pair_close(&pair);
    CloseHandle(port);
}

static void test_skipped_packet_of_a_request_that_ends_at_once(void **state)
{
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    char octet;
    WSABUF in = { 1, &octet };
    DWORD flags = 0, bytes = 0;
    OVERLAPPED receive = { 0 };

    (void)state;
    assert_true(SetFileCompletionNotificationModes(
        (HANDLE)pair.a, FILE_SKIP_COMPLETION_PORT_ON_SUCCESS | FILE_SKIP_SET_EVENT_ON_HANDLE));
    send_all(pair.b, "x");
    await_readable(pair.a);
    assert_int_equal(WSARecv(pair.a, &in, 1, &bytes, &flags, &receive, NULL), 0);
    assert_int_equal(bytes, 1);
    assert_no_packet(port);
    /* one that is pending first has its packet */
    assert_int_equal(WSARecv(pair.a, &in, 1, &bytes, &flags, &receive, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    send_all(pair.b, "y");
    assert_ptr_equal(packet_take(port).lpOverlapped, &receive);
    assert_int_equal(octet, 'y');
    pair_close(&pair);
    CloseHandle(port);
}

static void test_receives_end_in_their_order(void **state)
{
    enum { COUNT = 8 };
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    OVERLAPPED receives[COUNT] = { { 0 } };
    char got[COUNT];
    DWORD flags = 0;

    (void)state;
    for (int i = 0; i < COUNT; i++) {
        WSABUF in = { 1, &got[i] }; /* the array is copied, the memory is not */

        assert_int_equal(WSARecv(pair.a, &in, 1, NULL, &flags, &receives[i], NULL), SOCKET_ERROR);
        assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    }
    send_all(pair.b, "01234567");
    for (int i = 0; i < COUNT; i++) {
        assert_ptr_equal(packet_take(port).lpOverlapped, &receives[i]);
        assert_int_equal(got[i], '0' + i);
    }
    pair_close(&pair);
    CloseHandle(port);
}

static void test_receive_without_room_ends_when_data_come(void **state)
{
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    WSABUF none = { 0, NULL }, in;
    OVERLAPPED zero = { 0 }, receive = { 0 };
    DWORD flags = 0;
    char got[4];

    (void)state;
    assert_int_equal(WSARecv(pair.a, &none, 1, NULL, &flags, &zero, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    assert_no_packet(port);
    send_all(pair.b, "data");
    assert_int_equal(packet_take(port).dwNumberOfBytesTransferred, 0);
    assert_ended(pair.a, &zero, TRUE, 0, 0);
    in = (WSABUF){ 4, got };
    WSARecv(pair.a, &in, 1, NULL, &flags, &receive, NULL);
    assert_int_equal(packet_take(port).dwNumberOfBytesTransferred, 4);
    pair_close(&pair);
    CloseHandle(port);
}

static void test_end_of_the_stream_is_a_success_without_octets(void **state)
{
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    char got[4];
    WSABUF in = { 4, got };
    OVERLAPPED receive = { 0 };
    OVERLAPPED_ENTRY entry;
    DWORD flags = 0;

    (void)state;
    assert_int_equal(WSARecv(pair.a, &in, 1, NULL, &flags, &receive, NULL), SOCKET_ERROR);
    assert_int_equal(shutdown(pair.b, SD_SEND), 0);
    entry = packet_take(port);
    assert_ptr_equal(entry.lpOverlapped, &receive);
    assert_int_equal(entry.dwNumberOfBytesTransferred, 0);
    assert_ended(pair.a, &receive, TRUE, 0, 0);
    pair_close(&pair);
    CloseHandle(port);
}

static void test_reset_is_an_error_of_the_request(void **state)
{
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    struct linger abort_it = { 1, 0 };
    OVERLAPPED receive = { 0 }, *ended = NULL;
    ULONG_PTR key;
    char got[4];
    WSABUF in = { 4, got };
    DWORD flags = 0, bytes;

    (void)state;
    assert_int_equal(WSARecv(pair.a, &in, 1, NULL, &flags, &receive, NULL), SOCKET_ERROR);
    assert_int_equal(
        setsockopt(pair.b, SOL_SOCKET, SO_LINGER, (char *)&abort_it, sizeof(abort_it)), 0);
    assert_int_equal(closesocket(pair.b), 0);
    pair.b = INVALID_SOCKET;
    assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &ended, LONG_MS));
    assert_ptr_equal(ended, &receive);
    assert_win_error(SPEC_ERROR_NETNAME_DELETED);
    assert_int_equal((DWORD)receive.Internal, SPEC_STATUS_CONNECTION_RESET);
    assert_ended(pair.a, &receive, FALSE, 0, WSAECONNRESET);
    pair_close(&pair);
    CloseHandle(port);
}

static void test_cancel_of_one_request_and_of_all(void **state)
{
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    OVERLAPPED receives[3] = { { 0 } }, *ended = NULL;
    ULONG_PTR key;
    char got[4];
    WSABUF in = { 4, got };
    DWORD flags = 0, bytes;

    (void)state;
#ifndef _WIN32 /* CancelIoEx without a pending request: Wine finds one that has ended */
    assert_fails(CancelIoEx((HANDLE)pair.a, NULL), SPEC_ERROR_NOT_FOUND);
#endif
    for (int i = 0; i < 3; i++)
        assert_int_equal(WSARecv(pair.a, &in, 1, NULL, &flags, &receives[i], NULL), SOCKET_ERROR);
    assert_true(CancelIoEx((HANDLE)pair.a, &receives[1]));
    assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &ended, LONG_MS));
    assert_win_error(SPEC_ERROR_OPERATION_ABORTED);
    assert_ptr_equal(ended, &receives[1]);
    assert_ended(pair.a, &receives[1], FALSE, 0, WSA_OPERATION_ABORTED);
#ifndef _WIN32 /* CancelIoEx without a pending request: as above */
    assert_fails(CancelIoEx((HANDLE)pair.a, &receives[1]), SPEC_ERROR_NOT_FOUND);
#endif
    assert_int_equal(receives[0].Internal, 0x103);
    assert_true(CancelIo((HANDLE)pair.a));
    for (int i = 0; i < 2; i++) {
        assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &ended, LONG_MS));
        assert_win_error(SPEC_ERROR_OPERATION_ABORTED);
        assert_true(ended == &receives[0] || ended == &receives[2]);
    }
    assert_no_packet(port);
    /* the socket works as before */
    send_all(pair.b, "x");
    WSARecv(pair.a, &in, 1, NULL, &flags, &receives[0], NULL);
    assert_int_equal(packet_take(port).dwNumberOfBytesTransferred, 1);
    pair_close(&pair);
    CloseHandle(port);
}

static void test_close_ends_each_request_once(void **state)
{
    enum { COUNT = 5 };
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 7, 0);
    OVERLAPPED receives[COUNT] = { { 0 } }, *ended;
    int seen[COUNT] = { 0 };
    char got[4];
    WSABUF in = { 4, got };
    DWORD flags = 0, bytes;
    ULONG_PTR key;

    (void)state;
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(WSARecv(pair.a, &in, 1, NULL, &flags, &receives[i], NULL), SOCKET_ERROR);
    assert_int_equal(closesocket(pair.a), 0);
    pair.a = INVALID_SOCKET;
    for (int i = 0; i < COUNT; i++) {
        ended = NULL;
        assert_false(GetQueuedCompletionStatus(port, &bytes, &key, &ended, LONG_MS));
        assert_win_error(DIFFERS(SPEC_ERROR_OPERATION_ABORTED, SPEC_ERROR_HANDLES_CLOSED,
            "closesocket: Wine ends what pends with STATUS_HANDLES_CLOSED"));
        assert_int_equal(key, 7);
        assert_true(ended >= receives && ended < receives + COUNT);
        seen[ended - receives]++;
    }
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(seen[i], 1);
    assert_no_packet(port);
    pair_close(&pair);
    CloseHandle(port);
}

static void test_event_instead_of_a_port(void **state)
{
    struct pair pair = pair_make();
    OVERLAPPED receive = { .hEvent = CreateEvent(NULL, TRUE, TRUE, NULL) };
    char got[4];
    WSABUF in = { 4, got };
    DWORD flags = 0, bytes = 0;

    (void)state;
    assert_int_equal(WSARecv(pair.a, &in, 1, NULL, &flags, &receive, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    assert_wait(WaitForSingleObject(receive.hEvent, 0), WAIT_TIMEOUT); /* the start has reset it */
    send_all(pair.b, "ab");
    assert_wait(WaitForSingleObject(receive.hEvent, LONG_MS), WAIT_OBJECT_0);
    assert_true(WSAGetOverlappedResult(pair.a, &receive, &bytes, TRUE, &flags));
    assert_int_equal(bytes, 2);
    assert_int_equal(flags, 0);
    CloseHandle(receive.hEvent);
    pair_close(&pair);
}

static void test_tagged_event_makes_no_packet(void **state)
{
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    HANDLE event = CreateEvent(NULL, TRUE, FALSE, NULL);
    OVERLAPPED receive = { .hEvent = (HANDLE)((ULONG_PTR)event | 1) };
    char got[4];
    WSABUF in = { 4, got };
    DWORD flags = 0;

    (void)state;
    assert_int_equal(WSARecv(pair.a, &in, 1, NULL, &flags, &receive, NULL), SOCKET_ERROR);
    send_all(pair.b, "ab");
    assert_wait(WaitForSingleObject(event, LONG_MS), WAIT_OBJECT_0);
    assert_no_packet(port);
    CloseHandle(event);
    pair_close(&pair);
    CloseHandle(port);
}

static void test_send_ends_when_all_is_taken(void **state)
{
    enum { BYTES = 32 << 20 }; /* more than both ends of a connection keep */
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    char *data = calloc(1, BYTES), *got = malloc(1 << 20);
    WSABUF parts[2] = { { BYTES / 2, data }, { BYTES / 2, data + BYTES / 2 } },
           in = { 1 << 20, got };
    OVERLAPPED send = { 0 };
    OVERLAPPED_ENTRY entry;
    DWORD flags = 0, bytes;
    int sent, sum = 0;

    (void)state;
    for (int i = 0; i < BYTES; i++)
        data[i] = (char)(i * 7 + (i >> 12));
    sent = WSASend(pair.a, parts, 2, NULL, 0, &send, NULL);
    if (sent)
        assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    for (int total = 0; total < BYTES; total += (int)bytes) {
        assert_int_equal(WSARecv(pair.b, &in, 1, &bytes, &flags, NULL, NULL), 0);
        assert_true(bytes > 0);
        sum |= memcmp(got, data + total, bytes);
    }
    assert_int_equal(sum, 0);
    entry = packet_take(port);
    assert_ptr_equal(entry.lpOverlapped, &send);
    assert_int_equal(entry.dwNumberOfBytesTransferred, BYTES);
    free(data);
    free(got);
    pair_close(&pair);
    CloseHandle(port);
}

#ifndef _WIN32 /* MSG_WAITALL with an OVERLAPPED: Wine ends the request with the first octets */
static void test_receive_of_all(void **state)
{
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    char got[6];
    WSABUF in[2] = { { 2, got }, { 4, got + 2 } };
    OVERLAPPED receive = { 0 };
    DWORD flags = MSG_WAITALL;

    (void)state;
    assert_int_equal(WSARecv(pair.a, in, 2, NULL, &flags, &receive, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSA_IO_PENDING);
    send_all(pair.b, "abc");
    assert_no_packet(port);
    send_all(pair.b, "def");
    assert_int_equal(packet_take(port).dwNumberOfBytesTransferred, 6);
    assert_memory_equal(got, "abcdef", 6);
    pair_close(&pair);
    CloseHandle(port);
}
#endif

static void test_read_file_and_write_file(void **state)
{
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);
    OVERLAPPED read = { 0 }, write = { 0 };
    char got[8] = "";
    DWORD bytes = 0;

    (void)state;
    assert_int_equal(CreateIoCompletionPort((HANDLE)pair.b, port, 2, 0), port);
    assert_fails(ReadFile((HANDLE)pair.a, got, 8, NULL, &read), SPEC_ERROR_IO_PENDING);
    SetLastError(ERROR_IO_PENDING);
    if (!WriteFile((HANDLE)pair.b, "hello", 5, NULL, &write))
        assert_win_error(SPEC_ERROR_IO_PENDING);
    for (int i = 0; i < 2; i++) {
        OVERLAPPED_ENTRY entry = packet_take(port);

        assert_int_equal(entry.dwNumberOfBytesTransferred, 5);
        assert_int_equal(entry.lpCompletionKey, entry.lpOverlapped == &read ? 1 : 2);
    }
    assert_string_equal(got, "hello");
    assert_true(GetOverlappedResult((HANDLE)pair.a, &read, &bytes, FALSE));
    assert_int_equal(bytes, 5);
    pair_close(&pair);
    CloseHandle(port);
}

static void test_socket_is_attached_once(void **state)
{
    struct pair pair = pair_make();
    HANDLE port = CreateIoCompletionPort((HANDLE)pair.a, NULL, 1, 0);

    (void)state;
    assert_fails(CreateIoCompletionPort((HANDLE)pair.a, port, 2, 0), SPEC_ERROR_INVALID_PARAMETER);
    pair_close(&pair);
    CloseHandle(port);
}

static void test_bad_calls_fail_at_once(void **state)
{
    SOCKET alone = WSASocketW(AF_INET, SOCK_STREAM, 0, NULL, 0, WSA_FLAG_OVERLAPPED);
    HANDLE port = CreateIoCompletionPort((HANDLE)alone, NULL, 1, 0);
    OVERLAPPED overlapped = { 0 };
    char octet = 0;
    WSABUF buffer = { 1, &octet };
    DWORD flags = 0, bytes;

    (void)state;
    assert_int_equal(WSARecv(alone, &buffer, 1, &bytes, &flags, &overlapped, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAENOTCONN);
    assert_int_equal(WSASend(alone, &buffer, 1, &bytes, 0, &overlapped, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(),
        DIFFERS(SPEC_WSAENOTCONN, SPEC_WSAECONNRESET, "WSASend: Wine hands on Linux' EPIPE"));
    assert_int_equal(
        WSARecv(INVALID_SOCKET, &buffer, 1, &bytes, &flags, &overlapped, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAENOTSOCK);
    assert_int_equal(WSASend(INVALID_SOCKET, &buffer, 1, &bytes, 0, NULL, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAENOTSOCK);
#ifndef _WIN32 /* Wine reads the flags, the results and the buffers without a look at the pointers */
    assert_int_equal(WSARecv(alone, &buffer, 1, &bytes, NULL, &overlapped, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEFAULT);
    assert_int_equal(WSARecv(alone, NULL, 1, &bytes, &flags, &overlapped, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEFAULT);
    assert_int_equal(WSASend(alone, &buffer, 0, &bytes, 0, &overlapped, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEINVAL);
    assert_false(WSAGetOverlappedResult(alone, NULL, &bytes, FALSE, &flags));
    assert_int_equal(WSAGetLastError(), SPEC_WSAEFAULT);
    flags = 0x40000000;
    assert_int_equal(WSARecv(alone, &buffer, 1, &bytes, &flags, &overlapped, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEOPNOTSUPP);
#endif
    assert_no_packet(port); /* none of them has a packet */
    assert_int_equal(closesocket(alone), 0);
    CloseHandle(port);
}

static void test_send_after_shutdown(void **state)
{
    struct pair pair = pair_make();
    OVERLAPPED send = { 0 };
    char octet = 0;
    WSABUF out = { 1, &octet };

    (void)state;
    assert_int_equal(shutdown(pair.a, SD_SEND), 0);
    assert_int_equal(WSASend(pair.a, &out, 1, NULL, 0, &send, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAESHUTDOWN);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_send_and_receive_by_port),
        cmocka_unit_test(test_data_that_are_there_end_a_receive_at_once),
        cmocka_unit_test(test_skipped_packet_of_a_request_that_ends_at_once),
        cmocka_unit_test(test_receives_end_in_their_order),
        cmocka_unit_test(test_receive_without_room_ends_when_data_come),
        cmocka_unit_test(test_end_of_the_stream_is_a_success_without_octets),
        cmocka_unit_test(test_reset_is_an_error_of_the_request),
        cmocka_unit_test(test_cancel_of_one_request_and_of_all),
        cmocka_unit_test(test_close_ends_each_request_once),
        cmocka_unit_test(test_event_instead_of_a_port),
        cmocka_unit_test(test_tagged_event_makes_no_packet),
        cmocka_unit_test(test_send_ends_when_all_is_taken),
#ifndef _WIN32 /* MSG_WAITALL with an OVERLAPPED: as above */
        cmocka_unit_test(test_receive_of_all),
#endif
        cmocka_unit_test(test_read_file_and_write_file),
        cmocka_unit_test(test_socket_is_attached_once),
        cmocka_unit_test(test_bad_calls_fail_at_once),
        cmocka_unit_test(test_send_after_shutdown),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
