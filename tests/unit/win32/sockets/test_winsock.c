/* SPDX-License-Identifier: MIT */
/* test_winsock.c - WSAStartup, and addresses as text. */
#include "tests/support/win32_test.h"

#include <winsock2.h>
#include <ws2tcpip.h>

#include <wchar.h>
#ifndef _WIN32
#include <unistd.h>
#endif

static int startup(void **state)
{
    WSADATA data;

    (void)state;
    return WSAStartup(MAKEWORD(2, 2), &data);
}

static int cleanup(void **state)
{
    (void)state;
    return WSACleanup();
}

static void test_startup_tells_versions(void **state)
{
    static const WORD asked_used[][2] = { { 0x0001, 0x0001 }, { 0x0101, 0x0101 },
        { 0x0002, 0x0002 }, { 0x0102, 0x0102 }, { 0x0202, 0x0202 }, { 0x0502, 0x0202 },
        { 0x0003, 0x0202 } };
    WSADATA data;

    (void)state;
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(WSAStartup(asked_used[i][0], &data), 0);
        assert_int_equal(data.wVersion, asked_used[i][1]);
        assert_int_equal(data.wHighVersion, 0x0202);
        assert_int_equal(WSACleanup(), 0);
    }
    assert_int_equal(WSAStartup(0x0100, &data), SPEC_WSAVERNOTSUPPORTED);
    assert_int_equal(WSAStartup(0x0202, NULL), SPEC_WSAEFAULT);
}

static void test_functions_need_startup(void **state)
{
    struct sockaddr_in address;
    INT length = sizeof(address);
    char text[64] = "1.2.3.4";
    DWORD size = sizeof(text);

    (void)state, (void)address, (void)length, (void)text, (void)size;
    assert_int_equal(WSACleanup(), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSANOTINITIALISED);
#ifndef _WIN32 /* addresses as text without WSAStartup: Wine does not mind */
    WSASetLastError(0);
    assert_int_equal(WSAStringToAddressA(text, AF_INET, NULL, (SOCKADDR *)&address, &length), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSANOTINITIALISED);
    WSASetLastError(0);
    assert_int_equal(
        WSAAddressToStringA((SOCKADDR *)&address, sizeof(address), NULL, text, &size), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSANOTINITIALISED);
#endif
}

static const struct {
    const char *text;
    int family;
    const char *back; /* the text that the address becomes again; NULL: no address */
} rows[] = {
    { "1.2.3.4", AF_INET, "1.2.3.4" },
    { "1.2.3.4:80", AF_INET, "1.2.3.4:80" },
    { "255.255.255.255:65535", AF_INET, "255.255.255.255:65535" },
    { "", AF_INET, NULL },
    { "1.2.3.4:", AF_INET, NULL },
    { "1.2.3.4:65536", AF_INET, NULL },
    { "1.2.3.4:-1", AF_INET, NULL },
    { "1.2.3.4: 1", AF_INET, NULL },
    { "1.2.3.4 ", AF_INET, NULL },
    { "1.2.3.256", AF_INET, NULL },
    { "localhost", AF_INET, NULL },
    { "::1", AF_INET, NULL },
    { "::1", AF_INET6, "::1" },
    { "[::1]", AF_INET6, "::1" },
    { "[fe80::1%3]:80", AF_INET6, "[fe80::1%3]:80" },
    { "fe80::1%3", AF_INET6, "fe80::1%3" },
    { "[::1", AF_INET6, NULL },
    { "[::1]x", AF_INET6, NULL },
    { "[::1]:", AF_INET6, NULL },
    { "fe80::1%nosuchinterface", AF_INET6, NULL },
    { "1.2.3.4", AF_INET6, NULL },
};

static void test_addresses_from_text_and_back(void **state)
{
    static const struct sockaddr_in6 zero;

    (void)state, (void)zero;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct sockaddr_in6 address;
        INT length = sizeof(address), expected = rows[i].family == AF_INET ? 16 : 28;
        char text[128], back[128];
        DWORD size = sizeof(back);

        memset(&address, 0xff, sizeof(address));
        strcpy(text, rows[i].text);
        SetLastError(0);
        if (WSAStringToAddressA(text, rows[i].family, NULL, (SOCKADDR *)&address, &length)) {
            if (rows[i].back)
                fail_msg("\"%s\" is refused", text);
            assert_int_equal(WSAGetLastError(), SPEC_WSAEINVAL);
#ifndef _WIN32 /* text that is no address: programs look for an address of zero; Wine leaves what was there */
            assert_memory_equal(&address, &zero, expected);
#endif
            continue;
        }
        if (!rows[i].back)
            fail_msg("\"%s\" is taken for an address", text);
        assert_int_equal(length, expected);
        assert_int_equal(
            WSAAddressToStringA((SOCKADDR *)&address, (DWORD)length, NULL, back, &size), 0);
        assert_string_equal(back, rows[i].back);
        assert_int_equal(size, strlen(back) + 1);
    }
}

static void test_addresses_bad_arguments(void **state)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    INT length = 15;
    char text[64] = "1.2.3.4";
    DWORD size = 7;

    (void)state;
    assert_int_equal(WSAStringToAddressA(text, AF_INET, NULL, (SOCKADDR *)&address, &length), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEFAULT);
    assert_int_equal(length, 16);
    assert_int_equal(WSAStringToAddressA(text, AF_UNIX, NULL, (SOCKADDR *)&address, &length), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEINVAL);
    assert_int_equal(WSAStringToAddressA(NULL, AF_INET, NULL, (SOCKADDR *)&address, &length), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEINVAL);
    assert_int_equal(WSAStringToAddressA(text, AF_INET, NULL, (SOCKADDR *)&address, NULL), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEINVAL);
    assert_int_equal(WSAStringToAddressA(text, AF_INET, NULL, NULL, &length), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEINVAL);
    address.sin_family = AF_INET;
    assert_int_equal(
        WSAAddressToStringA((SOCKADDR *)&address, sizeof(address), NULL, text, &size), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEFAULT);
    assert_int_equal(size, 8); /* "0.0.0.0" and the end */
    assert_int_equal(WSAAddressToStringA((SOCKADDR *)&address, 8, NULL, text, &size), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEFAULT);
    address.sin_family = AF_UNIX;
    assert_int_equal(
        WSAAddressToStringA((SOCKADDR *)&address, sizeof(address), NULL, text, &size), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEINVAL);
}

static void test_addresses_wide(void **state)
{
    struct sockaddr_in address = { 0 };
    INT length = sizeof(address);
    WCHAR text[64] = L"10.1.2.3:4567";
    DWORD size = 64;

    (void)state;
    assert_int_equal(WSAStringToAddressW(text, AF_INET, NULL, (SOCKADDR *)&address, &length), 0);
    assert_int_equal(ntohl(address.sin_addr.s_addr), 0x0a010203);
    assert_int_equal(ntohs(address.sin_port), 4567);
    memset(text, 0, sizeof(text));
    assert_int_equal(
        WSAAddressToStringW((SOCKADDR *)&address, sizeof(address), NULL, text, &size), 0);
    assert_int_equal(size, 14);
    assert_memory_equal(text, L"10.1.2.3:4567", 14 * sizeof(WCHAR));
    text[3] = 0x431;
    assert_int_equal(WSAStringToAddressW(text, AF_INET, NULL, (SOCKADDR *)&address, &length), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAEINVAL);
}

static void test_inet_pton_and_ntop(void **state)
{
    struct in_addr address;
    char text[INET_ADDRSTRLEN];

    (void)state;
    assert_int_equal(InetPtonA(AF_INET, "127.0.0.1", &address), 1);
    assert_int_equal(InetPtonA(AF_INET, "127.0.0", &address), 0);
    assert_string_equal(InetNtopA(AF_INET, &address, text, sizeof(text)), "127.0.0.1");
    SetLastError(0xbeef);
    assert_int_equal(inet_pton(AF_INET, "127.0.0", &address), 0);
    assert_win_error(0xbeef);
    assert_int_equal(inet_pton(99, "127.0.0.1", &address), -1);
    assert_win_error(SPEC_WSAEAFNOSUPPORT);
    assert_int_equal(inet_pton(AF_INET, NULL, &address), -1);
    assert_win_error(SPEC_WSAEFAULT);
    assert_null(inet_ntop(AF_INET, &address, text, 3));
    assert_win_error(DIFFERS(
        SPEC_ERROR_INVALID_PARAMETER, 0xc000000d, "inet_ntop: Wine has a status for an error"));
    assert_null(inet_ntop(99, &address, text, sizeof(text)));
    assert_win_error(SPEC_WSAEAFNOSUPPORT);
}

static void test_closesocket(void **state)
{
    SOCKET socket_of = socket(AF_INET, SOCK_STREAM, 0);

    (void)state;
    assert_true(socket_of != INVALID_SOCKET);
    assert_int_equal(closesocket(socket_of), 0);
    assert_int_equal(closesocket(socket_of), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAENOTSOCK);
    assert_int_equal(closesocket(INVALID_SOCKET), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAENOTSOCK);
#ifndef _WIN32 /* closesocket of a descriptor that is no socket */
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(closesocket((SOCKET)ends[0]), -1);
    assert_int_equal(WSAGetLastError(), SPEC_WSAENOTSOCK);
    assert_int_equal(close(ends[0]), 0); /* still open: it is no socket */
    assert_int_equal(close(ends[1]), 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_startup_tells_versions),
        cmocka_unit_test(test_functions_need_startup),
        cmocka_unit_test_setup_teardown(test_addresses_from_text_and_back, startup, cleanup),
        cmocka_unit_test_setup_teardown(test_addresses_bad_arguments, startup, cleanup),
        cmocka_unit_test_setup_teardown(test_addresses_wide, startup, cleanup),
        cmocka_unit_test(test_inet_pton_and_ntop),
        cmocka_unit_test_setup_teardown(test_closesocket, startup, cleanup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
