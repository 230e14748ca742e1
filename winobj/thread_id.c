/* SPDX-License-Identifier: MIT */
/* thread_id.c - the number of the calling thread, asked of the kernel once; the values that stand for the caller. */
#include <windows.h>

#include "util/fork.h"

#include <unistd.h>

static _Thread_local DWORD self_id;

/* GetCurrentProcess, GetCurrentThread - values for functions that take such a handle; CloseHandle does nothing. */
HANDLE WINAPI GetCurrentProcess(void)
{
    return (HANDLE)(LONG_PTR)-1;
}

HANDLE WINAPI GetCurrentThread(void)
{
    return (HANDLE)(LONG_PTR)-2;
}

/* GetCurrentThreadId - the kernel's id of the calling thread, unique in the system. */
DWORD WINAPI GetCurrentThreadId(void)
{
    if (!self_id)
        self_id = (DWORD)gettid();
    return self_id;
}

static void renew_id(void)
{
    self_id = 0;
}

FORK_CHILD(renew_id);
