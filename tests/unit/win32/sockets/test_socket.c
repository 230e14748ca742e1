/* SPDX-License-Identifier: MIT */
/* test_socket.c - sockets the Winsock way: addresses' views, errors, ioctlsocket, select, WSAIoctl, text. */
#include "tests/support/win32_test.h"

#include <mstcpip.h>

static struct sockaddr_in loopback(USHORT port)
{
    struct sockaddr_in address;

    ZeroMemory(&address, sizeof(address));
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.S_un.S_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static void test_views_of_addresses(void **state)
{
    struct sockaddr_in v4 = loopback(5);
    SOCKADDR_IN6 v6;
    IN6_ADDR any = IN6ADDR_ANY_INIT, one = IN6ADDR_LOOPBACK_INIT;

    (void)state;
    assert_int_equal(v4.sin_addr.s_addr, htonl(0x7f000001));
    assert_int_equal(v4.sin_addr.S_un.S_un_b.s_b1, 127);
    assert_int_equal(v4.sin_addr.s_net, 127);
    assert_int_equal(v4.sin_addr.s_host, 0);
    assert_int_equal(v4.sin_addr.s_lh, 0);
    assert_int_equal(v4.sin_addr.s_impno, 1);
    assert_int_equal(v4.sin_addr.s_imp, htons(1));
    assert_int_equal(v4.sin_addr.S_un.S_un_w.s_w1, htons(0x7f00));
    assert_string_equal(inet_ntoa(v4.sin_addr), "127.0.0.1");
    ZeroMemory(&v6, sizeof(v6));
    v6.sin6_addr.u.Byte[15] = 1;
    assert_true(IN6_IS_ADDR_LOOPBACK(&v6.sin6_addr));
    assert_int_equal(v6.sin6_addr.u.Word[7], htons(1));
    assert_int_equal(v6.sin6_addr.s6_addr[15], 1);
    assert_memory_equal(&one, &v6.sin6_addr, 16);
    assert_memory_equal(&in6addr_loopback, &v6.sin6_addr, 16);
    assert_memory_equal(&in6addr_any, &any, 16);
    assert_true(IN6_IS_ADDR_UNSPECIFIED(&any));
}

static void test_wide_address_text(void **state)
{
    IN_ADDR v4;
    IN6_ADDR v6;
    WCHAR text[64];

    (void)state;
    assert_int_equal(InetPtonW(AF_INET, L"10.1.2.3", &v4), 1);
    assert_int_equal(v4.s_addr, htonl(0x0a010203));
    assert_int_equal(InetPtonW(AF_INET, L"10.1.2.300", &v4), 0);
    assert_int_equal(InetPtonW(AF_INET6, L"fe80::1", &v6), 1);
    assert_int_equal(v6.u.Byte[0], 0xfe);
    assert_int_equal(InetPtonW(99, L"10.1.2.3", &v4), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEAFNOSUPPORT);
    assert_ptr_equal(InetNtopW(AF_INET6, &v6, text, 64), text);
    assert_wide_equal(text, L"fe80::1");
    assert_null(InetNtopW(AF_INET6, &v6, text, 7));
    assert_int_equal(WSAGetLastError(), SPEC_ERROR_INVALID_PARAMETER);
    assert_null(InetNtopW(99, &v6, text, 64));
    assert_int_equal(WSAGetLastError(), SPEC_WSAEAFNOSUPPORT);
}

static void test_sockets_report_errors(void **state)
{
    struct sockaddr_in address = loopback(0);
    SOCKET socket_ = WSASocket(AF_INET, SOCK_STREAM, IPPROTO_TCP, NULL, 0, WSA_FLAG_OVERLAPPED);
    int length = sizeof(address);
    char byte;

    (void)state;
    assert_true(socket_ != INVALID_SOCKET);
    assert_int_equal(recv(socket_, &byte, 1, 0), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAENOTCONN);
    assert_int_equal(bind(socket_, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(getsockname(socket_, (struct sockaddr *)&address, (void *)&length), 0);
    assert_int_equal(bind(socket_, (struct sockaddr *)&address, sizeof(address)), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEINVAL);
    assert_int_equal(closesocket(socket_), 0);
    assert_int_equal(closesocket(INVALID_SOCKET), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAENOTSOCK);
    WSASetLastError(WSAEACCES);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEACCES);
    assert_int_equal(GetLastError(), SPEC_WSAEACCES);
    socket_ = WSASocketA(AF_INET, SOCK_STREAM, IPPROTO_TCP, NULL, 0, 0);
    assert_true(socket_ != INVALID_SOCKET);
    assert_int_equal(connect(socket_, (struct sockaddr *)&address, sizeof(address)), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAECONNREFUSED);
    assert_int_equal(closesocket(socket_), 0);
}

static void test_select_and_ioctlsocket(void **state)
{
    struct sockaddr_in address = loopback(0);
    SOCKET receiver = socket(AF_INET, SOCK_DGRAM, 0), sender = socket(AF_INET, SOCK_DGRAM, 0);
    int length = sizeof(address);
    struct timeval time = { 0, 1000 };
    fd_set set;
    u_long value = 1;
    char text[8];

    (void)state;
    assert_true(receiver != INVALID_SOCKET && sender != INVALID_SOCKET);
    assert_int_equal(bind(receiver, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(getsockname(receiver, (struct sockaddr *)&address, (void *)&length), 0);
    assert_int_equal(ioctlsocket(receiver, FIONBIO, &value), 0);
    assert_int_equal(recv(receiver, text, sizeof(text), 0), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEWOULDBLOCK);
    assert_int_equal(ioctlsocket(receiver, FIONREAD, &value), 0);
    assert_int_equal(value, 0);
    FD_ZERO(&set);
    FD_SET(receiver, &set);
    assert_int_equal(select(0, &set, NULL, NULL, &time), 0); /* the first argument means nothing */
    assert_int_equal(time.tv_usec, 1000);
    assert_false(FD_ISSET(receiver, &set));
    assert_int_equal(
        sendto(sender, "hello", 5, 0, (struct sockaddr *)&address, sizeof(address)), 5);
    FD_SET(receiver, &set);
    time.tv_sec = LONG_MS / 1000;
    assert_int_equal(select(0, &set, NULL, NULL, &time), 1);
    assert_true(FD_ISSET(receiver, &set));
    assert_int_equal(ioctlsocket(receiver, FIONREAD, &value), 0);
    assert_int_equal(value, 5);
    assert_int_equal(recv(receiver, text, sizeof(text), 0), 5);
    assert_int_equal(select(0, NULL, NULL, NULL, &time), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEINVAL);
    assert_int_equal(ioctlsocket(receiver, 0x12345, &value), SOCKET_ERROR);
    assert_int_equal(closesocket(receiver), 0);
    assert_int_equal(closesocket(sender), 0);
}

static void test_routing_query(void **state)
{
    SOCKET socket_ = WSASocketW(AF_INET, SOCK_DGRAM, 0, NULL, 0, 0);
    struct sockaddr_in remote = loopback(5), local;
    DWORD bytes = 0;

    (void)state;
    assert_true(socket_ != INVALID_SOCKET);
    assert_int_equal(WSAIoctl(socket_, SIO_ROUTING_INTERFACE_QUERY, &remote, sizeof(remote), &local,
                         sizeof(local), &bytes, NULL, NULL),
        0);
    assert_int_equal(bytes, sizeof(local));
    assert_int_equal(local.sin_family, AF_INET);
#ifndef _WIN32 /* Wine may answer with another local address */
    assert_int_equal(local.sin_addr.s_addr, htonl(INADDR_LOOPBACK));
    assert_int_equal(local.sin_port, 0);
    assert_int_equal(WSAIoctl(socket_, SIO_ROUTING_INTERFACE_QUERY, &remote, sizeof(remote), &local,
                         4, &bytes, NULL, NULL),
        -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEFAULT);
    assert_int_equal(bytes, 16);
    assert_int_equal(WSAIoctl(socket_, SIO_ROUTING_INTERFACE_QUERY, &remote, sizeof(remote), &local,
                         sizeof(local), &bytes, (LPWSAOVERLAPPED)&local, NULL),
        -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEOPNOTSUPP);
#endif
    assert_int_equal(WSAIoctl(socket_, SIO_ROUTING_INTERFACE_QUERY, &remote, 4, &local,
                         sizeof(local), &bytes, NULL, NULL),
        -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEFAULT);
    assert_int_equal(WSAIoctl(socket_, 0x48000099, NULL, 0, NULL, 0, &bytes, NULL, NULL), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEOPNOTSUPP);
    assert_int_equal(closesocket(socket_), 0);
    assert_int_equal(WSAIoctl(INVALID_SOCKET, SIO_ADDRESS_LIST_QUERY, NULL, 0, &local,
                         sizeof(local), &bytes, NULL, NULL),
        -1);
    assert_int_equal(WSAGetLastError(),
        DIFFERS(SPEC_WSAENOTSOCK, SPEC_WSAEFAULT, "WSAIoctl: Wine looks at the buffer first"));
}

static void test_address_list_query(void **state)
{
    SOCKET socket_ = WSASocketW(AF_INET, SOCK_DGRAM, 0, NULL, 0, 0);
    union {
        SOCKET_ADDRESS_LIST list;
        char bytes[8192];
    } out;
    DWORD bytes = 0, needed = 0;

    (void)state;
    assert_int_equal(
        WSAIoctl(socket_, SIO_ADDRESS_LIST_QUERY, NULL, 0, NULL, 0, &needed, NULL, NULL),
        SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEFAULT);
    assert_int_equal(
        WSAIoctl(socket_, SIO_ADDRESS_LIST_QUERY, NULL, 0, &out, sizeof(out), &bytes, NULL, NULL),
        0);
    assert_int_equal(needed, bytes);
    assert_true(bytes >= FIELD_OFFSET(SOCKET_ADDRESS_LIST, Address[0]));
    for (int i = 0; i < out.list.iAddressCount; i++) {
        assert_int_equal(out.list.Address[i].lpSockaddr->sa_family, AF_INET);
        assert_int_equal(out.list.Address[i].iSockaddrLength, 16);
        assert_true((char *)out.list.Address[i].lpSockaddr + 16 <= out.bytes + bytes);
    }
    assert_int_equal(closesocket(socket_), 0);
}

static void test_nothing_works_without_startup(void **state)
{
    DWORD bytes;

    (void)state;
    assert_int_equal(WSACleanup(), 0);
    assert_int_equal(closesocket(3), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), SPEC_WSANOTINITIALISED);
    assert_true(WSASocketW(AF_INET, SOCK_DGRAM, 0, NULL, 0, 0) == INVALID_SOCKET);
    assert_int_equal(WSAGetLastError(), SPEC_WSANOTINITIALISED);
    assert_int_equal(
        WSAIoctl(3, SIO_ADDRESS_LIST_QUERY, NULL, 0, NULL, 0, &bytes, NULL, NULL), SOCKET_ERROR);
    assert_int_equal(WSAGetLastError(), DIFFERS(SPEC_WSANOTINITIALISED, SPEC_WSAEFAULT,
                                            "WSAIoctl: Wine looks at the buffer first"));
}

/* An address in front of a text, as "1.2.3.4", and where it ends; -1: none. */
static int v4_of(const char *text, BOOLEAN strict, const char *expected)
{
    struct in_addr address = { .s_addr = 0 }, wide_address = { .s_addr = 0 };
    WCHAR wide[64];
    PCWSTR wide_end = NULL;
    PCSTR end = NULL;
    LONG status = RtlIpv4StringToAddressA(text, strict, (void *)&end, &address);

    for (size_t i = 0; i <= strlen(text); i++)
        wide[i] = (unsigned char)text[i];
    assert_int_equal(
        RtlIpv4StringToAddressW(wide, strict, (void *)&wide_end, &wide_address), status);
    assert_int_equal(wide_address.s_addr, address.s_addr);
    if (status == (LONG)SPEC_STATUS_INVALID_PARAMETER)
        return -1;
    assert_int_equal(status, 0);
    assert_int_equal(wide_end - wide, end - text);
    assert_int_equal(address.s_addr, inet_addr(expected));
    return (int)(end - text);
}

static void test_ipv4_in_front_of_a_text(void **state)
{
    (void)state;
    assert_int_equal(v4_of("1.2.3.4", TRUE, "1.2.3.4"), 7);
    assert_int_equal(v4_of("255.255.255.254", TRUE, "255.255.255.254"), 15);
    assert_int_equal(v4_of("10.0.0.1:80", TRUE, "10.0.0.1"), 8);
    assert_int_equal(v4_of("10.0.0.1/24", FALSE, "10.0.0.1"), 8);
    assert_int_equal(v4_of("1.2.3", TRUE, ""), -1);
    assert_int_equal(v4_of("1.2.3.256", TRUE, ""), -1);
    assert_int_equal(v4_of("256.2.3.4", FALSE, ""), -1);
    assert_int_equal(v4_of("1.2.3.", FALSE, ""), -1);
    assert_int_equal(v4_of("name", FALSE, ""), -1);
    assert_int_equal(v4_of("", TRUE, ""), -1);
    assert_int_equal(v4_of("1.2.772", FALSE, "1.2.3.4"), 7);
    assert_int_equal(v4_of("1.131844", FALSE, "1.2.3.4"), 8);
    assert_int_equal(v4_of("16909060", FALSE, "1.2.3.4"), 8);
    assert_int_equal(v4_of("4294967296", FALSE, ""), -1);
    assert_int_equal(v4_of("1.16777216", FALSE, ""), -1);
    assert_int_equal(v4_of("0x1.02.0x3.4", FALSE, "1.2.3.4"), 12);
    assert_true(RtlIpv4StringToAddress == RtlIpv4StringToAddressA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ipv4_in_front_of_a_text),
        cmocka_unit_test(test_views_of_addresses),
        cmocka_unit_test(test_wide_address_text),
        cmocka_unit_test(test_sockets_report_errors),
        cmocka_unit_test(test_select_and_ioctlsocket),
        cmocka_unit_test(test_routing_query),
        cmocka_unit_test(test_address_list_query),
        cmocka_unit_test(test_nothing_works_without_startup),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
