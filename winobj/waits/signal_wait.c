/* SPDX-License-Identifier: MIT */
/* signal_wait.c - SignalObjectAndWait. */
#include "winobj/waits/dispatch.h"

/* Signals an object of whichever kind; false with the last error. */
static bool signal_any(HANDLE handle)
{
    return SetEvent(handle) ||
           (GetLastError() == ERROR_INVALID_HANDLE &&
               (ReleaseSemaphore(handle, 1, NULL) ||
                   (GetLastError() == ERROR_INVALID_HANDLE && ReleaseMutex(handle))));
}

/*
 * SignalObjectAndWait - SetEvent, ReleaseSemaphore of one unit or ReleaseMutex, then WaitForSingleObjectEx. As on
 * Windows another thread may see the signal before the wait begins.
 * signal     in: an event, a semaphore or a mutex
 * wait       in: any object that can be waited for
 * alertable  whether APCs of the calling thread end the wait; the signal is given all the same
 * Returns    as WaitForSingleObjectEx; WAIT_FAILED with ERROR_INVALID_HANDLE (either; signal is then not signalled),
 *            ERROR_NOT_OWNER, ERROR_TOO_MANY_POSTS. Any thread.
 * Source: SignalObjectAndWait function (synchapi.h).
 */
DWORD WINAPI SignalObjectAndWait(HANDLE signal, HANDLE wait, DWORD timeout_ms, BOOL alertable)
{
    struct win_waitable *waitable = win_waitable_pin(wait);
    DWORD result = WAIT_FAILED;

    if (!waitable) {
        SetLastError(ERROR_INVALID_HANDLE);
        return WAIT_FAILED;
    }
    if (signal_any(signal))
        result = WaitForSingleObjectEx(wait, timeout_ms, alertable);
    win_object_unref(&waitable->object);
    return result;
}
