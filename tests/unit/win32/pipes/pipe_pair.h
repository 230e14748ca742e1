/* SPDX-License-Identifier: MIT */
/* pipe_pair.h - a named pipe with both ends in the test's process. */
#ifndef TESTS_UNIT_WIN32_PIPES_PIPE_PAIR_H
#define TESTS_UNIT_WIN32_PIPES_PIPE_PAIR_H

#include "tests/support/win32_test.h"

#include <stdio.h>

static HANDLE server, client;

static inline const char *pipe_path(void)
{
    static char path[64];

    snprintf(
        path, sizeof(path), "\\\\.\\pipe\\ndspi-test-%lu", (unsigned long)GetCurrentProcessId());
    return path;
}

static inline HANDLE make_server(DWORD open_mode, DWORD mode, DWORD most)
{
    return CreateNamedPipe(pipe_path(), open_mode, mode, most, 4096, 2048, 0, NULL);
}

static inline HANDLE make_client(DWORD access, DWORD flags)
{
    return CreateFileA(pipe_path(), access, 0, NULL, OPEN_EXISTING, flags, NULL);
}

/* A connected pair; flags: FILE_FLAG_OVERLAPPED or 0, of both. */
static inline void pair(DWORD flags, DWORD mode)
{
    server = make_server(PIPE_ACCESS_DUPLEX | flags, mode, 1);
    assert_true(server != INVALID_HANDLE_VALUE);
    client = make_client(GENERIC_READ | GENERIC_WRITE, flags);
    assert_true(client != INVALID_HANDLE_VALUE);
}

static inline int close_pair(void **state)
{
    (void)state;
    if (server && server != INVALID_HANDLE_VALUE)
        CloseHandle(server);
    if (client && client != INVALID_HANDLE_VALUE)
        CloseHandle(client);
    server = client = NULL;
    return 0;
}

static inline void put(HANDLE end, const char *text)
{
    DWORD done = 0;

    assert_true(WriteFile(end, text, (DWORD)strlen(text), &done, NULL));
    assert_int_equal(done, strlen(text));
}

static inline void get(HANDLE end, const char *text)
{
    char buffer[64];
    DWORD done = 0;

    assert_true(ReadFile(end, buffer, sizeof(buffer), &done, NULL));
    assert_int_equal(done, strlen(text));
    assert_memory_equal(buffer, text, done);
}

#endif
