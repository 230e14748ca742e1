/* SPDX-License-Identifier: MIT */
/*
 * test_host_names.c - GetAddrInfoW, FreeAddrInfoW, GetNameInfoW, getaddrinfo, getnameinfo, gai_strerror, gethostname,
 * gethostbyname, gethostbyaddr. Only what needs no server of names. Source: Microsoft's pages of these functions,
 * MinGW's values of EAI_*, and Wine.
 */
#include "tests/support/win32_test.h"

static const struct sockaddr_in *four(const ADDRINFOW *info)
{
    return (const struct sockaddr_in *)(const void *)info->ai_addr;
}

static void test_numbers(void **state)
{
    ADDRINFOW hints = {
        .ai_flags = AI_NUMERICHOST, .ai_family = AF_INET, .ai_socktype = SOCK_STREAM
    };
    ADDRINFOW *found = NULL;

    (void)state;
    SetLastError(0xbeef);
    assert_int_equal(GetAddrInfoW(L"10.1.2.3", L"80", &hints, &found), 0);
    assert_win_error(0);
    assert_non_null(found);
    assert_null(found->ai_next);
    assert_int_equal(found->ai_family, AF_INET);
    assert_int_equal(found->ai_socktype, SOCK_STREAM);
    assert_int_equal(found->ai_addrlen, 16);
    assert_int_equal(four(found)->sin_family, AF_INET);
    assert_int_equal(four(found)->sin_port, htons(80));
    assert_int_equal(four(found)->sin_addr.s_addr, htonl(0x0a010203));
    FreeAddrInfoW(found);
}

static void test_ipv6_and_its_name(void **state)
{
    ADDRINFOW hints = { .ai_flags = AI_NUMERICHOST | AI_CANONNAME, .ai_socktype = SOCK_DGRAM };
    ADDRINFOW *found = NULL;

    (void)state;
    assert_int_equal(GetAddrInfoW(L"fe80::1", NULL, &hints, &found), 0);
    assert_non_null(found);
    assert_int_equal(found->ai_family, AF_INET6);
    assert_int_equal(found->ai_addrlen, 28);
    assert_non_null(found->ai_canonname);
    assert_wide_equal(found->ai_canonname, L"fe80::1");
    FreeAddrInfoW(found);
}

static void test_any_address_of_each_type(void **state)
{
    ADDRINFOW hints = { .ai_flags = AI_PASSIVE, .ai_family = AF_INET };
    ADDRINFOW *found = NULL;
    int count = 0;

    (void)state;
    assert_int_equal(GetAddrInfoW(NULL, L"7777", &hints, &found), 0);
    for (const ADDRINFOW *info = found; info; info = info->ai_next, count++) {
        assert_int_equal(four(info)->sin_addr.s_addr, 0);
        assert_int_equal(four(info)->sin_port, htons(7777));
        assert_null(info->ai_canonname);
    }
    assert_true(count >= 1);
    FreeAddrInfoW(found);
}

/* The code is the result and the last error. */
#define assert_no_address(call, code)                                                              \
    do {                                                                                           \
        WSASetLastError(0);                                                                        \
        assert_int_equal((call), (code));                                                          \
        assert_int_equal(WSAGetLastError(), (code));                                               \
    } while (0)

static void test_what_is_not_found(void **state)
{
    ADDRINFOW numeric = { .ai_flags = AI_NUMERICHOST, .ai_family = AF_INET };
    ADDRINFOW family = { .ai_family = 12345 };
    ADDRINFOW service = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
    ADDRINFOW *found = (ADDRINFOW *)(ULONG_PTR)8;

    (void)state;
    assert_no_address(GetAddrInfoW(L"no.number", NULL, &numeric, &found), SPEC_WSAHOST_NOT_FOUND);
    assert_null(found);
    assert_no_address(GetAddrInfoW(NULL, NULL, &numeric, &found), SPEC_WSAHOST_NOT_FOUND);
    assert_no_address(GetAddrInfoW(L"10.1.2.3", NULL, &family, &found), SPEC_WSAEAFNOSUPPORT);
    assert_no_address(
        GetAddrInfoW(L"10.1.2.3", L"no-such-service", &service, &found), SPEC_WSATYPE_NOT_FOUND);
    assert_null(found);
    FreeAddrInfoW(NULL);
}

static void test_name_of_an_address(void **state)
{
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(80) };
    WCHAR node[64], service[32];

    (void)state;
    address.sin_addr.s_addr = htonl(0x0a010203);
    assert_int_equal(GetNameInfoW((const SOCKADDR *)&address, sizeof(address), node, 64, service,
                         32, NI_NUMERICHOST | NI_NUMERICSERV),
        0);
    assert_wide_equal(node, L"10.1.2.3");
    assert_wide_equal(service, L"80");
    assert_int_equal(GetNameInfoW((const SOCKADDR *)&address, sizeof(address), NULL, 0, service, 32,
                         NI_NUMERICSERV),
        0);
    WSASetLastError(0);
    assert_int_equal(
        GetNameInfoW((const SOCKADDR *)&address, sizeof(address), node, 8, NULL, 0, NI_NUMERICHOST),
        DIFFERS(SPEC_ERROR_INSUFFICIENT_BUFFER, -12,
            "GetNameInfoW: Wine answers with the code of Linux"));
    assert_int_equal(
        WSAGetLastError(), DIFFERS(SPEC_ERROR_INSUFFICIENT_BUFFER, 0, "both run at once"));
    address.sin_family = 12345;
    WSASetLastError(0);
    assert_int_equal(GetNameInfoW((const SOCKADDR *)&address, sizeof(address), node, 64, NULL, 0,
                         NI_NUMERICHOST),
        SPEC_WSAEAFNOSUPPORT);
    assert_int_equal(WSAGetLastError(),
        DIFFERS(SPEC_WSAEAFNOSUPPORT, 0, "GetNameInfoW: Wine does not set the last error"));
}

/* gethostname, gethostbyname and gethostbyaddr have Windows' errors. */
static void test_this_host(void **state)
{
    char name[256], kept[4] = "abc";

    (void)state;
    SetLastError(0xbeef);
    assert_int_equal(gethostname(name, sizeof(name)), 0);
    assert_win_error(0xbeef);
    assert_true(strlen(name) > 0);
    assert_int_equal(gethostname(kept, 0), -1);
    assert_win_error(SPEC_WSAEFAULT);
    SetLastError(0);
    assert_int_equal(gethostname(name, (int)strlen(name)), -1); /* no room for the end */
    assert_win_error(SPEC_WSAEFAULT);
    assert_int_equal(gethostname(NULL, 256), -1);
    assert_win_error(SPEC_WSAEFAULT);
    assert_string_equal(kept, "abc");
    assert_non_null(gethostbyname(NULL));
}

static void test_hosts_by_name(void **state)
{
    const HOSTENT *host;
    const ULONG loopback = htonl(INADDR_LOOPBACK);
    ULONG address;

    (void)state;
    SetLastError(0xbeef);
    host = gethostbyname("10.1.2.3");
    assert_win_error(0);
    assert_non_null(host);
    assert_int_equal(host->h_addrtype, AF_INET);
    assert_int_equal(host->h_length, 4);
    memcpy(&address, host->h_addr_list[0], 4);
    assert_int_equal(address, htonl(0x0a010203));
    assert_null(host->h_addr_list[1]);
    assert_non_null(gethostbyname("localhost"));
    assert_null(gethostbyname("no such host"));
    assert_win_error(SPEC_WSAHOST_NOT_FOUND);
    assert_non_null(gethostbyaddr((const char *)&loopback, 4, AF_INET));
    assert_null(gethostbyaddr((const char *)&loopback, 2, AF_INET));
    assert_win_error(DIFFERS(SPEC_WSAEFAULT, SPEC_WSAEAFNOSUPPORT,
        "gethostbyaddr: Wine has one code for a length and a family that do not fit"));
    assert_null(gethostbyaddr((const char *)&loopback, 4, 12345));
    assert_win_error(SPEC_WSAEAFNOSUPPORT);
}

static DWORD WINAPI ask_elsewhere(LPVOID parameter)
{
    (void)parameter;
    return gethostbyname("10.9.9.9") ? 0 : 1;
}

/* Each thread has its own answer. */
static void test_answers_of_threads(void **state)
{
    const HOSTENT *host = gethostbyname("10.1.2.3");
    HANDLE thread = CreateThread(NULL, 0, ask_elsewhere, NULL, 0, NULL);
    ULONG address;
    DWORD failed = 1;

    (void)state;
    assert_non_null(host);
    assert_wait(WaitForSingleObject(thread, LONG_MS), WAIT_OBJECT_0);
    assert_true(GetExitCodeThread(thread, &failed));
    assert_int_equal(failed, 0);
    memcpy(&address, host->h_addr_list[0], 4);
    assert_int_equal(address, htonl(0x0a010203));
    CloseHandle(thread);
}

static void test_hosts_before_startup(void **state)
{
    struct addrinfo *found;
    ADDRINFOW *wide;
    WSADATA data;

    (void)state;
    assert_int_equal(WSACleanup(), 0);
    assert_null(gethostbyname("10.1.2.3"));
    assert_win_error(SPEC_WSANOTINITIALISED);
    assert_int_equal(getaddrinfo("10.1.2.3", NULL, NULL, &found),
        DIFFERS(SPEC_WSANOTINITIALISED, 0, "getaddrinfo: Wine answers before WSAStartup"));
    assert_int_equal(GetAddrInfoW(L"10.1.2.3", NULL, NULL, &wide),
        DIFFERS(SPEC_WSANOTINITIALISED, 0, "both run at once"));
    assert_int_equal(WSAStartup(MAKEWORD(2, 2), &data), 0);
}

static void test_narrow(void **state)
{
    ADDRINFOA hints = { .ai_flags = AI_NUMERICHOST, .ai_family = AF_INET };
    ADDRINFOA *found = NULL;
    char node[64];

    (void)state;
    assert_true(GetAddrInfo == GetAddrInfoA && FreeAddrInfo == FreeAddrInfoA);
    assert_true(GetNameInfo == GetNameInfoA);
    assert_int_equal(GetAddrInfoA("10.1.2.3", "80", &hints, &found), 0);
    assert_int_equal(GetNameInfoA(found->ai_addr, (socklen_t)found->ai_addrlen, node, 64, NULL, 0,
                         NI_NUMERICHOST),
        0);
    assert_string_equal(node, "10.1.2.3");
    FreeAddrInfoA(found);
}

/* The codes of Windows' headers, under both names. */
static void test_codes(void **state)
{
    (void)state;
    assert_int_equal(EAI_AGAIN, SPEC_WSATRY_AGAIN);
    assert_int_equal(EAI_BADFLAGS, SPEC_WSAEINVAL);
    assert_int_equal(EAI_FAIL, SPEC_WSANO_RECOVERY);
    assert_int_equal(EAI_FAMILY, SPEC_WSAEAFNOSUPPORT);
    assert_int_equal(EAI_MEMORY, SPEC_WSA_NOT_ENOUGH_MEMORY);
    assert_int_equal(EAI_NODATA, SPEC_WSANO_DATA);
    assert_int_equal(EAI_NONAME, SPEC_WSAHOST_NOT_FOUND);
    assert_int_equal(EAI_SERVICE, SPEC_WSATYPE_NOT_FOUND);
    assert_int_equal(EAI_SOCKTYPE, SPEC_WSAESOCKTNOSUPPORT);
}

static void test_what_is_not_found_narrow(void **state)
{
    struct addrinfo numeric = { .ai_flags = AI_NUMERICHOST, .ai_family = AF_INET };
    struct addrinfo family = { .ai_family = 12345 };
    struct addrinfo service = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM };
    struct addrinfo *found = (struct addrinfo *)(ULONG_PTR)8;

    (void)state;
    assert_no_address(getaddrinfo("no.number", NULL, &numeric, &found), SPEC_WSAHOST_NOT_FOUND);
    assert_null(found);
    assert_no_address(getaddrinfo(NULL, NULL, &numeric, &found), SPEC_WSAHOST_NOT_FOUND);
    assert_no_address(getaddrinfo("10.1.2.3", NULL, &family, &found), SPEC_WSAEAFNOSUPPORT);
    assert_no_address(
        getaddrinfo("10.1.2.3", "no-such-service", &service, &found), SPEC_WSATYPE_NOT_FOUND);
    assert_null(found);
    SetLastError(0xbeef);
    assert_int_equal(getaddrinfo("10.1.2.3", "80", &service, &found), 0);
    assert_win_error(0);
    freeaddrinfo(found);
}

static void test_name_of_an_address_narrow(void **state)
{
    struct sockaddr_in address = { .sin_family = AF_INET };
    char node[64];

    (void)state;
    address.sin_addr.s_addr = htonl(0x0a010203);
    WSASetLastError(0);
    assert_int_equal(
        getnameinfo((struct sockaddr *)&address, sizeof(address), node, 8, NULL, 0, NI_NUMERICHOST),
        DIFFERS(SPEC_ERROR_INSUFFICIENT_BUFFER, -12,
            "getnameinfo: Wine answers with the code of Linux"));
    assert_int_equal(
        WSAGetLastError(), DIFFERS(SPEC_ERROR_INSUFFICIENT_BUFFER, 0, "both run at once"));
    address.sin_family = 12345;
    assert_int_equal(getnameinfo((struct sockaddr *)&address, sizeof(address), node, 64, NULL, 0,
                         NI_NUMERICHOST),
        SPEC_WSAEAFNOSUPPORT);
}

/* A line of the system, without its end. */
static void test_text_of_a_code(void **state)
{
    const char *text = gai_strerrorA(EAI_NONAME);

    (void)state;
    assert_true(strlen(text) > 5);
    assert_null(strchr(text, '\n'));
    assert_true(gai_strerror == gai_strerrorA);
    assert_int_equal(wcslen(gai_strerrorW(EAI_NONAME)), strlen(text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_ipv6_and_its_name),
        cmocka_unit_test(test_any_address_of_each_type),
        cmocka_unit_test(test_what_is_not_found),
        cmocka_unit_test(test_name_of_an_address),
        cmocka_unit_test(test_this_host),
        cmocka_unit_test(test_hosts_by_name),
        cmocka_unit_test(test_answers_of_threads),
        cmocka_unit_test(test_hosts_before_startup),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_codes),
        cmocka_unit_test(test_what_is_not_found_narrow),
        cmocka_unit_test(test_name_of_an_address_narrow),
        cmocka_unit_test(test_text_of_a_code),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data) != 0)
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
