/* SPDX-License-Identifier: MIT */
/*
 * test_socket_lengths.c - in C++ accept, getsockname, getpeername, recvfrom and getsockopt take int * as on Windows.
 * Source: Microsoft's pages of these functions, MinGW's headers, and Wine.
 */
#include "tests/support/win32_test.h"
#include "tests/unit/win32/sockets/socket_lengths.h"

static void test_lengths_are_int(void **state)
{
    struct lengths lengths;

    (void)state;
    memset(&lengths, 0, sizeof(lengths));
    assert_true(lengths_are_int(&lengths));
    assert_int_equal(lengths.own, 16);
    assert_int_equal(lengths.accepted, 16);
    assert_int_equal(lengths.peer, 16);
    assert_int_equal(lengths.option, 4);
    assert_int_equal(lengths.received, 2);
    assert_true(lengths.found && lengths.none);
    assert_int_equal(lengths.failed, -1);
    assert_int_equal(lengths.left, 3);
    assert_int_equal(lengths.error, SPEC_WSAEFAULT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths_are_int),
    };
    WSADATA data;

    if (WSAStartup(MAKEWORD(2, 2), &data))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
