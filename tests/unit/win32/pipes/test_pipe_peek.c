/* SPDX-License-Identifier: MIT */
/* test_pipe_peek.c - PeekNamedPipe, of named pipes and of what else it takes. */
#include "pipe_pair.h"

#ifndef _WIN32 /* sockets as standard handles */
#include <sys/socket.h>
#include <unistd.h>
#endif

static void test_peek(void **state)
{
    DWORD got, total, left;
    char buffer[8];

    (void)state;
    pair(0, PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE);
    assert_true(PeekNamedPipe(server, buffer, 8, &got, &total, &left));
    assert_int_equal(got, 0);
    assert_int_equal(total, 0);
    assert_int_equal(left, 0);
    put(client, "abcde");
    put(client, "xyz");
    assert_true(PeekNamedPipe(server, buffer, 3, &got, &total, &left));
    assert_int_equal(got, 3);
    assert_memory_equal(buffer, "abc", 3);
    assert_int_equal(total, 8);
    assert_int_equal(left, 2);
    get(server, "abcde");
    assert_true(PeekNamedPipe(server, NULL, 0, NULL, &total, NULL));
    assert_int_equal(total, 3);
    get(server, "xyz");
    assert_true(CloseHandle(client));
    client = NULL;
    assert_fails(PeekNamedPipe(server, NULL, 0, NULL, &total, NULL), SPEC_ERROR_BROKEN_PIPE);
    assert_fails(
        PeekNamedPipe((HANDLE)0x12345670, NULL, 0, NULL, &total, NULL), SPEC_ERROR_INVALID_HANDLE);
    close_pair(NULL);
    pair(0, PIPE_TYPE_BYTE);
    put(client, "abcde");
    assert_true(PeekNamedPipe(server, buffer, 3, &got, &total, &left));
    assert_int_equal(got, 3);
    assert_int_equal(total, 5);
    get(server, "abcde");
}

static void test_peek_of_an_anonymous_pipe(void **state)
{
    DWORD got, total;
    char buffer[8];

    (void)state;
    assert_true(CreatePipe(&server, &client, NULL, 0));
    assert_true(PeekNamedPipe(server, buffer, 8, &got, &total, NULL));
    assert_int_equal(total, 0);
    put(client, "abcde");
    assert_true(PeekNamedPipe(server, buffer, 3, &got, &total, NULL));
    assert_int_equal(got, 3);
    assert_memory_equal(buffer, "abc", 3);
    assert_int_equal(total, 5);
    get(server, "abcde");
    assert_true(CloseHandle(client));
    client = NULL;
    assert_fails(PeekNamedPipe(server, NULL, 0, NULL, &total, NULL), SPEC_ERROR_BROKEN_PIPE);
}

/* Three writes are three pages in the pipe, and their octets need but two. */
static void test_peek_of_what_was_written_in_parts(void **state)
{
    static char out[3 * 2100], in[sizeof(out)];
    DWORD done, got = 0, total = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(out); i++)
        out[i] = (char)(i * 7 + i / 256);
    assert_true(CreatePipe(&server, &client, NULL, 16384));
    for (int i = 0; i < 3; i++)
        assert_true(WriteFile(client, out + i * 2100, 2100, &done, NULL));
    assert_true(PeekNamedPipe(server, in, sizeof(in), &got, &total, NULL));
    assert_int_equal(got, 6300);
    assert_int_equal(total, 6300);
    assert_memory_equal(in, out, sizeof(in));
}

#ifndef _WIN32 /* sockets as standard handles */
static void test_peek_of_a_socket_as_a_standard_handle(void **state)
{
    int ends[2], before = dup(0);
    DWORD got = 77, total = 77;
    char buffer[8];
    HANDLE in;

    (void)state;
    assert_int_equal((socketpair)(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    assert_int_equal(dup2(ends[0], 0), 0);
    in = GetStdHandle(STD_INPUT_HANDLE);
    assert_true(PeekNamedPipe(in, buffer, 8, &got, &total, NULL));
    assert_int_equal(got, 0);
    assert_int_equal(total, 0);
    assert_int_equal(write(ends[1], "abcde", 5), 5);
    assert_true(PeekNamedPipe(in, buffer, 3, &got, &total, NULL));
    assert_int_equal(got, 3);
    assert_memory_equal(buffer, "abc", 3);
    assert_int_equal(total, 5);
    get(in, "abcde");
    close(ends[1]);
    assert_fails(PeekNamedPipe(in, buffer, 8, &got, &total, NULL), SPEC_ERROR_BROKEN_PIPE);
    close(ends[0]);
    dup2(before, 0);
    close(before);
}
#endif

int main(void)
{
#define ROW(name) cmocka_unit_test_setup_teardown(name, NULL, close_pair)
    const struct CMUnitTest tests[] = {
        ROW(test_peek),
        ROW(test_peek_of_an_anonymous_pipe),
        ROW(test_peek_of_what_was_written_in_parts),
#ifndef _WIN32
        ROW(test_peek_of_a_socket_as_a_standard_handle),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
