/* SPDX-License-Identifier: MIT */
/* file_routine.c - ReadFileEx, WriteFileEx: the calling thread calls a routine when the transfer has ended. */
#include "winobj/requests/file.h"
#include "winobj/requests/routine.h"
#include "winobj/status.h"
#include "win32/threads/thread.h"

/* Whether a file may have requests with routines: a port is another way to be told. */
static bool usable(HANDLE handle)
{
    struct win_file *file = win_file_pin(handle);
    bool ported = file && atomic_load_explicit(&file->port, memory_order_relaxed);

    if (!file)
        SetLastError(ERROR_INVALID_HANDLE);
    else if (ported)
        SetLastError(ERROR_INVALID_PARAMETER);
    if (file)
        win_file_unref(file);
    return file && !ported;
}

/* Puts the routine into the list, for the calling thread. */
static bool begin(HANDLE handle, OVERLAPPED *overlapped, LPOVERLAPPED_COMPLETION_ROUTINE function)
{
    struct win_object *thread;
    struct win_apcs *apcs;
    bool added;

    if (!overlapped || !function) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return false;
    }
    if (!usable(handle) || !(thread = win_thread_self_pin(&apcs)))
        return false;
    added = win_routine_add(overlapped,
        &(struct win_routine_call){ .completion = function, .error_of = win_error_from_status },
        thread, apcs);
    win_object_unref(thread);
    return added;
}

/* done: what ReadFile or WriteFile has returned. */
static BOOL end(OVERLAPPED *overlapped, BOOL done, DWORD bytes)
{
    struct win_routine *left;

    if (!done && GetLastError() == ERROR_IO_PENDING)
        done = TRUE;
    else if ((left = win_routine_take(overlapped))) {
        if (done) /* a file without FILE_FLAG_OVERLAPPED */
            win_routine_post(left, 0, bytes);
        else
            win_routine_drop(left);
    }
    if (done)
        SetLastError(ERROR_SUCCESS);
    return done;
}

/*
 * ReadFileEx - reads from a file, pipe or socket, and has the calling thread call function(error, octets, overlapped)
 * in an alertable wait once that has ended.
 * file        opened with FILE_FLAG_OVERLAPPED; without it the call waits for the end of the transfer
 * overlapped  hEvent is the program's own: no event is looked for
 * function    of the calling thread; it is not called if this fails, or if the thread ends before
 * Returns     TRUE: begun or ended. FALSE with ERROR_INVALID_PARAMETER (no overlapped, no function, a file with a
 *             port), ERROR_INVALID_HANDLE, ERROR_NOT_ENOUGH_MEMORY, or the errors of ReadFile.
 * Source: ReadFileEx function (fileapi.h).
 */
BOOL WINAPI ReadFileEx(HANDLE file, LPVOID buffer, DWORD bytes, LPOVERLAPPED overlapped,
    LPOVERLAPPED_COMPLETION_ROUTINE function)
{
    DWORD done = 0;

    return begin(file, overlapped, function) &&
           end(overlapped, ReadFile(file, buffer, bytes, &done, overlapped), done);
}

/*
 * WriteFileEx - writes as WriteFile does, and has the routine called as ReadFileEx does, with the errors of both.
 * Source: WriteFileEx function (fileapi.h).
 */
BOOL WINAPI WriteFileEx(HANDLE file, LPCVOID buffer, DWORD bytes, LPOVERLAPPED overlapped,
    LPOVERLAPPED_COMPLETION_ROUTINE function)
{
    DWORD done = 0;

    return begin(file, overlapped, function) &&
           end(overlapped, WriteFile(file, buffer, bytes, &done, overlapped), done);
}
