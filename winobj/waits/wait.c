/* SPDX-License-Identifier: MIT */
/* wait.c - the WaitFor functions. */
#include "winobj/waits/alert.h"
#include "winobj/waits/dispatch.h"
#include "winobj/waits/waiter.h"

static void objects_unpin(struct win_waitable **objects, DWORD count)
{
    while (count--)
        win_object_unref(&objects[count]->object);
}

/* Pins the objects of a wait; all: no object may occur twice. Returns ERROR_SUCCESS, or the error of the wait. */
static DWORD objects_pin(
    struct win_waitable **objects, const HANDLE *handles, DWORD count, bool all)
{
    DWORD error = ERROR_SUCCESS, pinned = 0;

    while (!error && pinned < count) {
        if (!(objects[pinned] = win_waitable_pin(handles[pinned]))) {
            error = ERROR_INVALID_HANDLE;
            break;
        }
        for (DWORD i = 0; all && i < pinned; i++)
            if (objects[i] == objects[pinned] ||
                (objects[i]->name >= 0 && objects[i]->name == objects[pinned]->name))
                error = ERROR_INVALID_PARAMETER;
        pinned++;
    }
    if (error)
        objects_unpin(objects, pinned);
    return error;
}

/*
 * WaitForMultipleObjectsEx - waits for any or all of up to 64 events, threads, processes, mutexes, semaphores, timers,
 * and I/O handles (files, pipes, sockets), which are not signalled from the beginning of a request until one without an
 * event has ended.
 * alertable  APCs of the calling thread (QueueUserAPC) end the wait: they run, and it returns WAIT_IO_COMPLETION. An
 *            object that is signalled already comes first, and the APCs stay queued
 * Returns WAIT_OBJECT_0 + the lowest index satisfied (WAIT_ABANDONED_0 + it: a mutex whose owner ended; for all: one of
 * them is such a mutex), WAIT_TIMEOUT, or WAIT_FAILED with ERROR_INVALID_PARAMETER (count 0 or above
 * MAXIMUM_WAIT_OBJECTS, NULL array, one object twice in a wait for all), ERROR_INVALID_HANDLE (also a
 * device, a console, a file of NetworkDirect), ERROR_NOT_ENOUGH_MEMORY.
 * A waiting thread does the library's pending work (docs/internals/threads.md).
 */
DWORD WINAPI WaitForMultipleObjectsEx(
    DWORD count, const HANDLE *handles, BOOL all, DWORD timeout_ms, BOOL alertable)
{
    struct win_waitable *objects[MAXIMUM_WAIT_OBJECTS];
    DWORD result, error = ERROR_INVALID_PARAMETER;

    if (count && count <= MAXIMUM_WAIT_OBJECTS && handles)
        error = objects_pin(objects, handles, count, all);
    if (error) {
        SetLastError(error);
        return WAIT_FAILED;
    }
    result = win_waitables_wait(
        objects, count, all, timeout_ms ? win_deadline_ns(timeout_ms) : 0, alertable);
    objects_unpin(objects, count);
    if (result == WAIT_IO_COMPLETION)
        win_apcs_run();
    return result;
}

/* WaitForMultipleObjects - WaitForMultipleObjectsEx that is not alertable. */
DWORD WINAPI WaitForMultipleObjects(DWORD count, const HANDLE *handles, BOOL all, DWORD timeout_ms)
{
    return WaitForMultipleObjectsEx(count, handles, all, timeout_ms, FALSE);
}

/* WaitForSingleObject, WaitForSingleObjectEx - wait for one object. */
DWORD WINAPI WaitForSingleObject(HANDLE handle, DWORD timeout_ms)
{
    return WaitForMultipleObjectsEx(1, &handle, FALSE, timeout_ms, FALSE);
}

DWORD WINAPI WaitForSingleObjectEx(HANDLE handle, DWORD timeout_ms, BOOL alertable)
{
    return WaitForMultipleObjectsEx(1, &handle, FALSE, timeout_ms, alertable);
}
