/* SPDX-License-Identifier: MIT */
/*
 * test_socket_options.c - options of sockets by Windows' types: how long a value has to be, what is stored, how long
 * that is. Source: Microsoft's "SOL_SOCKET Socket Options", "IPPROTO_TCP socket options"; Wine answers the same.
 */
#include "tests/unit/win32/sockets/overlapped_socket.h"

/* What getsockopt stores, over octets of 0xaa. */
static DWORD fetch(SOCKET socket, int level, int option, int room, int *length)
{
    union {
        DWORD value;
        char octets[16];
    } got;

    memset(&got, 0xaa, sizeof(got));
    *length = room;
    SetLastError(0);
    if (getsockopt(socket, level, option, got.octets, (void *)length)) {
        assert_int_equal(*length, room);
        return 0xdead0000 | (DWORD)WSAGetLastError();
    }
    return got.value;
}

#define assert_fetched(socket, level, option, room, value, stored)                                 \
    do {                                                                                           \
        int length_;                                                                               \
        assert_int_equal(fetch(socket, level, option, room, &length_), value);                     \
        assert_int_equal(length_, stored);                                                         \
    } while (0)
#define assert_not_fetched(socket, level, option, room, error)                                     \
    assert_fetched(socket, level, option, room, 0xdead0000 | (error), room)

static void store(SOCKET socket, int level, int option, DWORD value, int bytes)
{
    char octets[16] = "";

    memcpy(octets, &value, sizeof(value));
    SetLastError(0xbeef);
    assert_int_equal(setsockopt(socket, level, option, octets, bytes), 0);
    if (option != SO_DEBUG && option != SO_OPENTYPE) /* those leave it under Wine */
        assert_int_equal(WSAGetLastError(), 0);
}

static void refuse(SOCKET socket, int level, int option, DWORD value, int bytes, DWORD error)
{
    char octets[16] = "";

    memcpy(octets, &value, sizeof(value));
    SetLastError(0xbeef);
    assert_int_equal(setsockopt(socket, level, option, octets, bytes), -1);
    assert_int_equal(WSAGetLastError(), error);
    assert_int_equal(GetLastError(), error);
}

static void test_times_are_milliseconds(void **state)
{
    static const int options[] = { SO_RCVTIMEO, SO_SNDTIMEO };
    SOCKET socket = stream_socket();

    (void)state;
    for (int i = 0; i < 2; i++) {
        assert_fetched(socket, SOL_SOCKET, options[i], 4, 0, 4);
        store(socket, SOL_SOCKET, options[i], 1500, 4);
        assert_fetched(socket, SOL_SOCKET, options[i], 4, 1500, 4);
        assert_fetched(socket, SOL_SOCKET, options[i], 8, 1500, 4);
        assert_not_fetched(socket, SOL_SOCKET, options[i], 2, SPEC_WSAEFAULT);
        refuse(socket, SOL_SOCKET, options[i], 0, 2, SPEC_WSAEFAULT);
        store(socket, SOL_SOCKET, options[i], 0, 8);
        assert_fetched(socket, SOL_SOCKET, options[i], 4, 0, 4);
    }
    assert_int_equal(closesocket(socket), 0);
}

/* A call whose time is over: WSAETIMEDOUT; one that does not wait: WSAEWOULDBLOCK. */
static void test_receive_times_out(void **state)
{
    struct pair pair = pair_make();
    char octet;
    WSABUF buffer = { 1, &octet };
    DWORD bytes, flags = 0;
    u_long on = 1;

    (void)state;
    store(pair.a, SOL_SOCKET, SO_RCVTIMEO, 20, 4);
    assert_int_equal(recv(pair.a, &octet, 1, 0), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAETIMEDOUT);
    assert_int_equal(WSARecv(pair.a, &buffer, 1, &bytes, &flags, NULL, NULL), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAETIMEDOUT);
    assert_int_equal(ioctlsocket(pair.a, FIONBIO, &on), 0);
    assert_int_equal(recv(pair.a, &octet, 1, 0), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEWOULDBLOCK);
    pair_close(&pair);
}

static void test_lingering(void **state)
{
    SOCKET socket = stream_socket();
    const DWORD for_five = 0x50001; /* two u_short */
    LINGER linger = { 1, 7 };

    (void)state;
    assert_int_equal(sizeof(LINGER), 4);
    assert_int_equal(sizeof(struct linger), 4);
    assert_fetched(socket, SOL_SOCKET, SO_LINGER, 4, 0, 4);
    assert_fetched(socket, SOL_SOCKET, SO_DONTLINGER, 4, 1, 4);
    store(socket, SOL_SOCKET, SO_LINGER, for_five, 4);
    assert_fetched(socket, SOL_SOCKET, SO_LINGER, 4, for_five, 4);
    assert_fetched(socket, SOL_SOCKET, SO_DONTLINGER, 4, 0, 4);
    refuse(socket, SOL_SOCKET, SO_LINGER, 1, 2, SPEC_WSAEFAULT);
    assert_int_equal(setsockopt(socket, SOL_SOCKET, SO_LINGER, (char *)&linger, sizeof(linger)), 0);
    assert_fetched(socket, SOL_SOCKET, SO_LINGER, 4, 0x70001, 4);
    store(socket, SOL_SOCKET, SO_DONTLINGER, 1, 4);
    assert_fetched(socket, SOL_SOCKET, SO_DONTLINGER, 1, 0xaaaaaa01, 1);
#ifndef _WIN32 /* setsockopt: here it takes Linux' struct linger of 8 octets, too */
    int longer[2] = { 1, 9 };
    socklen_t length = sizeof(longer);

    assert_int_equal(setsockopt(socket, SOL_SOCKET, SO_LINGER, longer, sizeof(longer)), 0);
    assert_fetched(socket, SOL_SOCKET, SO_LINGER, 4, 0x90001, 4);
    longer[1] = 0;
    assert_int_equal(getsockopt(socket, SOL_SOCKET, SO_LINGER, longer, &length), 0);
    assert_int_equal(longer[1], 9);
    assert_int_equal(length, 8);
#endif
    assert_int_equal(closesocket(socket), 0);
}

/* One octet is enough; some store one whatever the room. */
static void test_bools(void **state)
{
    static const struct {
        int level, option;
        bool one;
    } rows[] = {
        { SOL_SOCKET, SO_KEEPALIVE, true },
        { SOL_SOCKET, SO_OOBINLINE, false },
        { SOL_SOCKET, SO_REUSEADDR, false },
        { IPPROTO_TCP, TCP_NODELAY, true },
    };
    SOCKET socket = stream_socket(), datagrams = WSASocketW(AF_INET, SOCK_DGRAM, 0, NULL, 0, 0);

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const int level = rows[i].level, option = rows[i].option, stored = rows[i].one ? 1 : 4;

        assert_fetched(socket, level, option, 1, 0xaaaaaa00, 1);
        store(socket, level, option, 1, 1);
        assert_fetched(socket, level, option, 1, 0xaaaaaa01, 1);
        assert_fetched(socket, level, option, 4, rows[i].one ? 0xaaaaaa01 : 1, stored);
        assert_fetched(socket, level, option, 8, rows[i].one ? 0xaaaaaa01 : 1, stored);
        store(socket, level, option, 0x100, 4);
        assert_fetched(socket, level, option, 1, rows[i].one ? 0xaaaaaa00 : 0xaaaaaa01, 1);
        store(socket, level, option, 0, 8);
        assert_fetched(socket, level, option, 1, 0xaaaaaa00, 1);
        assert_not_fetched(socket, level, option, 0, SPEC_WSAEFAULT);
    }
    store(datagrams, SOL_SOCKET, SO_BROADCAST, 1, 1);
    assert_fetched(datagrams, SOL_SOCKET, SO_BROADCAST, 4, 1, 4);
    store(socket, SOL_SOCKET, SO_DEBUG, 1, 4); /* no privilege is needed */
    assert_int_equal(closesocket(datagrams), 0);
    assert_int_equal(closesocket(socket), 0);
}

static void test_buffers_are_as_set(void **state)
{
    static const int options[] = { SO_RCVBUF, SO_SNDBUF };
    SOCKET socket = stream_socket();

    (void)state;
    for (int i = 0; i < 2; i++) {
        store(socket, SOL_SOCKET, options[i], 10000, 4);
        assert_fetched(socket, SOL_SOCKET, options[i], 4, 10000, 4);
        store(socket, SOL_SOCKET, options[i], 0, 4);
        assert_fetched(socket, SOL_SOCKET, options[i], 8, 0, 4);
        refuse(socket, SOL_SOCKET, options[i], 1, 2, SPEC_WSAEFAULT);
    }
    assert_int_equal(closesocket(socket), 0);
}

static void test_exclusive_use_and_reuse_exclude_each_other(void **state)
{
    SOCKET socket = stream_socket();

    (void)state;
    assert_fetched(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, 4, 0, 4);
    store(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, 1, 4);
    assert_fetched(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, 4, 1, 4);
    refuse(socket, SOL_SOCKET, SO_REUSEADDR, 1, 4, SPEC_WSAEINVAL);
    store(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, 0, 4);
    store(socket, SOL_SOCKET, SO_REUSEADDR, 1, 4);
    refuse(socket, SOL_SOCKET, SO_EXCLUSIVEADDRUSE, 1, 4, SPEC_WSAEINVAL);
    assert_int_equal(closesocket(socket), 0);
}

static void test_what_is_only_read(void **state)
{
    struct sockaddr_in address;
    SOCKET socket = stream_socket(), listener = listening_socket(&address);

    (void)state;
    assert_fetched(socket, SOL_SOCKET, SO_TYPE, 4, SOCK_STREAM, 4);
    assert_fetched(listener, SOL_SOCKET, SO_ACCEPTCONN, 4, 1, 4);
    assert_fetched(socket, SOL_SOCKET, SO_ACCEPTCONN, 4, 0, 4);
    assert_fetched(socket, SOL_SOCKET, SO_MAX_MSG_SIZE, 4, 65507, 4);
    assert_fetched(socket, SOL_SOCKET, SO_CONNECT_TIME, 4, 0xffffffff, 4);
    assert_not_fetched(socket, SOL_SOCKET, SO_TYPE, 2, SPEC_WSAEFAULT);
    refuse(socket, SOL_SOCKET, SO_TYPE, 1, 4, SPEC_WSAENOPROTOOPT);
    refuse(socket, SOL_SOCKET, SO_ACCEPTCONN, 1, 4, SPEC_WSAENOPROTOOPT);
    refuse(socket, SOL_SOCKET, SO_MAX_MSG_SIZE, 1, 4, SPEC_WSAENOPROTOOPT);
    refuse(socket, SOL_SOCKET, SO_CONNECT_TIME, 1, 4, SPEC_WSAENOPROTOOPT);
    refuse(socket, SOL_SOCKET, SO_RCVLOWAT, 1, 4, SPEC_WSAENOPROTOOPT);
    assert_not_fetched(socket, SOL_SOCKET, SO_SNDLOWAT, 4, SPEC_WSAENOPROTOOPT);
    assert_not_fetched(socket, SOL_SOCKET, 0x9999, 4, SPEC_WSAENOPROTOOPT);
    assert_not_fetched(socket, 99, 1, 4, SPEC_WSAEINVAL);
    refuse(socket, 99, 1, 1, 4, SPEC_WSAEINVAL);
    assert_int_equal(closesocket(socket), 0);
    assert_not_fetched(socket, SOL_SOCKET, SO_TYPE, 4, SPEC_WSAENOTSOCK);
    refuse(socket, SOL_SOCKET, SO_KEEPALIVE, 1, 4, SPEC_WSAENOTSOCK);
    assert_int_equal(closesocket(listener), 0);
}

static void test_time_of_a_connection(void **state)
{
    struct pair pair = pair_make();
    int length;

    (void)state;
    assert_true(fetch(pair.a, SOL_SOCKET, SO_CONNECT_TIME, 4, &length) < LONG_MS / 1000);
    assert_true(fetch(pair.b, SOL_SOCKET, SO_CONNECT_TIME, 4, &length) < LONG_MS / 1000);
    pair_close(&pair);
}

/* SO_ERROR is a code of Winsock, and fetching it does not depend on Linux' errno. */
static void test_error_of_a_socket(void **state)
{
    struct sockaddr_in address;
    SOCKET nobody = bound_socket(SOCK_STREAM, &address), client = stream_socket();
    struct timeval time = { LONG_MS / 1000, 0 };
    u_long on = 1;
    fd_set set, failed;

    (void)state;
    assert_int_equal(ioctlsocket(client, FIONBIO, &on), 0);
    assert_int_equal(connect(client, (struct sockaddr *)&address, sizeof(address)), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEWOULDBLOCK);
    FD_ZERO(&set);
    FD_SET(client, &set);
    failed = set;
    assert_true(select(0, NULL, &set, &failed, &time) >= 1);
    assert_fetched(client, SOL_SOCKET, SO_ERROR, 4, SPEC_WSAECONNREFUSED, 4);
    assert_int_equal(closesocket(client), 0);
    assert_int_equal(closesocket(nobody), 0);
}

static void test_option_of_the_process(void **state)
{
    (void)state;
    store(INVALID_SOCKET, SOL_SOCKET, SO_OPENTYPE, SO_SYNCHRONOUS_NONALERT, 4);
    assert_fetched(INVALID_SOCKET, SOL_SOCKET, SO_OPENTYPE, 4, SO_SYNCHRONOUS_NONALERT, 4);
    refuse(INVALID_SOCKET, SOL_SOCKET, SO_OPENTYPE, 0, 2, SPEC_WSAEFAULT);
    store(INVALID_SOCKET, SOL_SOCKET, SO_OPENTYPE, 0, 4);
}

/* What Windows' catalogue has of each protocol; the family is the only one that Linux numbers otherwise. */
static void test_protocol_of_a_socket(void **state)
{
    static const struct {
        int family, type, protocol;
        DWORD services, entry, message;
        int address;
        const char *name;
    } rows[] = {
        { AF_INET, SOCK_STREAM, IPPROTO_TCP, 0x20066, 1001, 0, 16, "TCP/IP" },
        { AF_INET, SOCK_DGRAM, IPPROTO_UDP, 0x20609, 1002, 65467, 16, "UDP/IP" },
        { AF_INET6, SOCK_STREAM, IPPROTO_TCP, 0x20066, 1004, 0, 28, "TCP/IPv6" },
        { AF_INET6, SOCK_DGRAM, IPPROTO_UDP, 0x20609, 1005, 65467, 28, "UDP/IPv6" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        SOCKET socket_ = socket(rows[i].family, rows[i].type, 0);
        WSAPROTOCOL_INFOA info;
        WSAPROTOCOL_INFOW wide;
        int length = sizeof(info);
        const GUID four = { 0xe70f1aa0, 0xab8b, 0x11cf,
            { 0x8c, 0xa3, 0x00, 0x80, 0x5f, 0x48, 0xa1, 0x92 } };

        if (socket_ == INVALID_SOCKET) /* a host without IPv6 */
            continue;
        assert_int_equal(
            getsockopt(socket_, SOL_SOCKET, SO_PROTOCOL_INFOA, (char *)&info, (void *)&length), 0);
        assert_int_equal(length, 372);
        assert_int_equal(info.dwServiceFlags1, rows[i].services);
        assert_int_equal(info.dwProviderFlags, PFL_MATCHES_PROTOCOL_ZERO);
        assert_int_equal(!memcmp(&info.ProviderId, &four, sizeof(four)), rows[i].family == AF_INET);
        assert_int_equal(info.dwCatalogEntryId, rows[i].entry);
        assert_int_equal(info.ProtocolChain.ChainLen, 1);
        assert_int_equal(info.iVersion, 2);
        assert_int_equal(info.iAddressFamily, rows[i].family);
        assert_int_equal(info.iMaxSockAddr, rows[i].address);
        assert_int_equal(info.iMinSockAddr, rows[i].address);
        assert_int_equal(info.iSocketType, rows[i].type);
        assert_int_equal(info.iProtocol, rows[i].protocol);
        assert_int_equal(info.dwMessageSize, rows[i].message);
        assert_string_equal(info.szProtocol, rows[i].name);
        length = sizeof(wide);
        assert_int_equal(
            getsockopt(socket_, SOL_SOCKET, SO_PROTOCOL_INFOW, (char *)&wide, (void *)&length), 0);
        assert_int_equal(length, sizeof(wide));
        assert_memory_equal(&wide, &info, offsetof(WSAPROTOCOL_INFOA, szProtocol));
        for (size_t j = 0; j <= strlen(rows[i].name); j++)
            assert_int_equal(wide.szProtocol[j], rows[i].name[j]);
        length = 10;
        assert_int_equal(
            getsockopt(socket_, SOL_SOCKET, SO_PROTOCOL_INFOA, (char *)&info, (void *)&length), -1);
        assert_win_error(SPEC_WSAEFAULT);
        assert_int_equal(length, 372);
        refuse(socket_, SOL_SOCKET, SO_PROTOCOL_INFOA, 0, 4, SPEC_WSAENOPROTOOPT);
        assert_int_equal(closesocket(socket_), 0);
    }
}

static void test_urgent_data(void **state)
{
    struct pair pair = pair_make();
    u_long mark = 7;
    char octet;

    (void)state;
    assert_int_equal(ioctlsocket(pair.b, SIOCATMARK, &mark), 0);
    assert_int_equal(mark, 1); /* none waits */
    assert_int_equal(send(pair.a, "u", 1, MSG_OOB), 1);
    while (recv(pair.b, &octet, 1, MSG_OOB) != 1)
        ;
    assert_int_equal(octet, 'u');
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times_are_milliseconds),
        cmocka_unit_test(test_receive_times_out),
        cmocka_unit_test(test_lingering),
        cmocka_unit_test(test_bools),
        cmocka_unit_test(test_buffers_are_as_set),
        cmocka_unit_test(test_exclusive_use_and_reuse_exclude_each_other),
        cmocka_unit_test(test_what_is_only_read),
        cmocka_unit_test(test_time_of_a_connection),
        cmocka_unit_test(test_error_of_a_socket),
        cmocka_unit_test(test_option_of_the_process),
        cmocka_unit_test(test_protocol_of_a_socket),
        cmocka_unit_test(test_urgent_data),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
