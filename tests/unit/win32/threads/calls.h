/* SPDX-License-Identifier: MIT */
/* calls.h - what callbacks of the pool count, and how a test waits for them. */
#ifndef TESTS_UNIT_WIN32_THREADS_CALLS_H
#define TESTS_UNIT_WIN32_THREADS_CALLS_H

#include "tests/support/win32_test.h"

static HANDLE called,
    go; /* auto-reset: a call is in there; manual-reset: calls that wait may go on */
static volatile LONG calls, ended, inside, most;

static inline void forget_calls(void **state)
{
    (void)state;
    calls = ended = inside = most = 0;
    assert_true(ResetEvent(called));
    assert_true(ResetEvent(go));
}

/* While calls may be running. */
static inline LONG now_in(volatile LONG *counter)
{
    return InterlockedCompareExchange(counter, 0, 0);
}

static inline void await_calls(LONG count)
{
    while (now_in(&calls) < count)
        assert_wait(WaitForSingleObject(called, LONG_MS), WAIT_OBJECT_0);
}

#endif
