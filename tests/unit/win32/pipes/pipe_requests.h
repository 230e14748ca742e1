/* SPDX-License-Identifier: MIT */
/* pipe_requests.h - overlapped requests on a named pipe whose ends are both the test's. */
#ifndef PIPE_REQUESTS_H
#define PIPE_REQUESTS_H

#include "pipe_pair.h"

static HANDLE port, events[4];

static inline int setup(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        if (!(events[i] = CreateEventA(NULL, TRUE, FALSE, NULL)))
            return -1;
    return 0;
}

static inline int teardown(void **state)
{
    for (int i = 0; i < 4; i++)
        CloseHandle(events[i]);
    if (port)
        CloseHandle(port);
    port = NULL;
    return close_pair(state);
}

#define assert_pending(call) assert_fails(call, SPEC_ERROR_IO_PENDING)

static inline void assert_result(
    HANDLE end, OVERLAPPED *overlapped, BOOL expected, DWORD bytes, DWORD error)
{
    DWORD done = 77;

    SetLastError(0xdead);
    assert_int_equal(GetOverlappedResult(end, overlapped, &done, TRUE), expected);
    if (expected)
        assert_int_equal(done, bytes);
    else
        assert_win_error(error);
}

static inline OVERLAPPED *packet(BOOL expected, DWORD bytes, DWORD error)
{
    DWORD got = 77;
    ULONG_PTR key = 0;
    OVERLAPPED *overlapped = NULL;

    SetLastError(0);
    assert_int_equal(GetQueuedCompletionStatus(port, &got, &key, &overlapped, LONG_MS), expected);
    assert_int_equal(got, bytes);
    assert_int_equal(key, 9);
    if (!expected)
        assert_win_error(error);
    return overlapped;
}

/* By an end that is overlapped. */
static inline void put_message(HANDLE end, const char *text)
{
    OVERLAPPED write = { .hEvent = events[3] };

    assert_true(WriteFile(end, text, (DWORD)strlen(text), NULL, &write) ||
                GetLastError() == ERROR_IO_PENDING);
    assert_result(end, &write, TRUE, (DWORD)strlen(text), 0);
}

#endif
