/* SPDX-License-Identifier: MIT */
/*
 * pool.c - BindIoCompletionCallback: a process-wide completion port and the threads that call back. A packet's key is the
 * function to call. A thread is added whenever all are busy in callbacks, up to a bound, so a callback that waits for another
 * one does not stop everything.
 */
#include <windows.h>

#include "winobj/status.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { POOL_THREADS = 64 };

static pthread_once_t pool_once = PTHREAD_ONCE_INIT;
static HANDLE pool_port;
static atomic_int pool_threads, pool_idle;

static bool pool_grow(void);

static void *pool_thread(void *unused)
{
    (void)unused;
    for (;;) {
        OVERLAPPED_ENTRY entry;
        ULONG taken;
        BOOL got = GetQueuedCompletionStatusEx(pool_port, &entry, 1, &taken, INFINITE, FALSE);
        LPOVERLAPPED_COMPLETION_ROUTINE function;
        LONG status;

        if (!got)
            continue; /* the port is never closed: memory was short, and there will be some */
        if (atomic_fetch_sub(&pool_idle, 1) == 1)
            pool_grow();
        function = (LPOVERLAPPED_COMPLETION_ROUTINE)entry.lpCompletionKey;
        status = (LONG)entry.Internal;
        function(status >= 0 ? ERROR_SUCCESS : win_error_from_status(status),
            status >= 0 ? entry.dwNumberOfBytesTransferred : 0, entry.lpOverlapped);
        atomic_fetch_add(&pool_idle, 1);
    }
    return NULL;
}

/* One thread more, asleep. False: there are enough, or none can be had. */
static bool pool_grow(void)
{
    pthread_attr_t attr;
    sigset_t all, before;
    pthread_t thread;
    int error;

    if (atomic_fetch_add(&pool_threads, 1) >= POOL_THREADS) {
        atomic_fetch_sub(&pool_threads, 1);
        return false;
    }
    atomic_fetch_add(&pool_idle, 1);
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(&thread, &attr, pool_thread, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
    if (!error)
        return true;
    atomic_fetch_sub(&pool_idle, 1);
    atomic_fetch_sub(&pool_threads, 1);
    return false;
}

static void pool_start(void)
{
    pool_port = CreateIoCompletionPort(INVALID_HANDLE_VALUE, NULL, 0, 0);
    if (pool_port && !pool_grow()) {
        CloseHandle(pool_port);
        pool_port = NULL;
    }
}

/*
 * BindIoCompletionCallback - the file's completed requests are handed to a function, on a thread of the library.
 * file      not attached to a port yet; for the rest of its life
 * function  called with a Win32 error, the bytes, and the OVERLAPPED; it may block, and runs on several threads at once
 * flags     must be 0
 * Returns   FALSE with ERROR_INVALID_PARAMETER (no function, flags, attached already), ERROR_INVALID_HANDLE
 *           (no file), ERROR_NOT_ENOUGH_MEMORY (no thread).
 */
BOOL WINAPI BindIoCompletionCallback(
    HANDLE file, LPOVERLAPPED_COMPLETION_ROUTINE function, ULONG flags)
{
    if (!function || flags || file == INVALID_HANDLE_VALUE) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    pthread_once(&pool_once, pool_start);
    if (!pool_port) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return FALSE;
    }
    return CreateIoCompletionPort(file, pool_port, (ULONG_PTR)function, 0) != NULL;
}
