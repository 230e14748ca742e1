/* SPDX-License-Identifier: MIT */
/* winobj.h - what the group "winobj" measures; each function runs in a process of its own and returns nanoseconds. */
#ifndef TESTS_BENCH_WINOBJ_H
#define TESTS_BENCH_WINOBJ_H

#include "tests/bench/process.h"

#include <windows.h>

/* Two threads on two processors, count round trips; winobj_turns.c. */
uint64_t winobj_event_turns(unsigned count);
uint64_t winobj_port_turns(unsigned count);
uint64_t winobj_eventfd_turns(unsigned count);
/* One of 64 objects is signalled, and answered with one more. */
uint64_t winobj_wait64_turns(unsigned count);
uint64_t winobj_poll64_turns(unsigned count);

/* The public functions; an error ends the process. */

static inline HANDLE new_event(void)
{
    HANDLE event = CreateEvent(NULL, FALSE, FALSE, NULL);

    if (!event)
        bench_die("CreateEvent: %u", (unsigned)GetLastError());
    return event;
}

static inline void set(HANDLE event)
{
    if (!SetEvent(event))
        bench_die("SetEvent: %u", (unsigned)GetLastError());
}

static inline void await(HANDLE event)
{
    if (WaitForSingleObject(event, INFINITE) != WAIT_OBJECT_0)
        bench_die("WaitForSingleObject: %u", (unsigned)GetLastError());
}

static inline HANDLE new_port(void)
{
    HANDLE port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 1);

    if (!port)
        bench_die("CreateIoCompletionPort: %u", (unsigned)GetLastError());
    return port;
}

static inline void post(HANDLE port, unsigned turn)
{
    if (!PostQueuedCompletionStatus(port, turn, 1, NULL))
        bench_die("PostQueuedCompletionStatus: %u", (unsigned)GetLastError());
}

static inline void fetch(HANDLE port, unsigned turn)
{
    OVERLAPPED *overlapped;
    ULONG_PTR key;
    DWORD octets;

    if (!GetQueuedCompletionStatus(port, &octets, &key, &overlapped, INFINITE))
        bench_die("GetQueuedCompletionStatus: %u", (unsigned)GetLastError());
    if (octets != turn || key != 1)
        bench_die(
            "packet %u with key %u came in place of %u", (unsigned)octets, (unsigned)key, turn);
}

#endif
