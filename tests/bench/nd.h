/* SPDX-License-Identifier: MIT */
/* nd.h - what the ends of both NetworkDirect versions share. */
#ifndef TESTS_BENCH_ND_H
#define TESTS_BENCH_ND_H

#include "tests/bench/wire.h"

#include <windows.h>

#include <ndspi.h>

/* Ends the process unless hr says that something has succeeded. */
static inline void nd_check(HRESULT hr, const char *call)
{
    if (FAILED(hr) || hr == ND_PENDING)
        bench_die("%s: 0x%08x", call, (unsigned)hr);
}

/* A port for file if the test waits on one; otherwise NULL. After connecting: no other packets come. */
static inline HANDLE nd_port(const struct bench_test *test, HANDLE file)
{
    HANDLE port = test->wait == BENCH_PORT ? CreateIoCompletionPort(file, NULL, 0, 1) : NULL;

    if (test->wait == BENCH_PORT && !port)
        bench_die("CreateIoCompletionPort: %u", (unsigned)GetLastError());
    return port;
}

/* Returns the OVERLAPPED of the packet. */
static inline OVERLAPPED *nd_port_wait(HANDLE port)
{
    OVERLAPPED *done;
    ULONG_PTR key;
    DWORD octets;

    if (!GetQueuedCompletionStatus(port, &octets, &key, &done, INFINITE))
        bench_die("GetQueuedCompletionStatus: %u", (unsigned)GetLastError());
    return done;
}

#endif
