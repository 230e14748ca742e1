/* SPDX-License-Identifier: MIT */
/* duplicate.c - DuplicateHandle. */
#include "winobj/handles/handle.h"
#include "winobj/threads/thread.h"

static HANDLE duplicate(HANDLE handle)
{
    struct win_object *object;
    HANDLE result;

    if (handle == GetCurrentThread())
        return win_thread_self_handle();
    if (handle == GetCurrentProcess()) {
        SetLastError(ERROR_NOT_SUPPORTED);
        return NULL;
    }
    if (!(object = win_handle_pin(handle, NULL))) {
        SetLastError(ERROR_INVALID_HANDLE);
        return NULL;
    }
    result = win_handle_add(object);
    win_object_unref(object);
    return result;
}

/*
 * DuplicateHandle - another handle of an object, which lives until its last handle is closed.
 * from_process  GetCurrentProcess(): handles of other processes do not exist
 * to_process    the same; may be NULL if to is
 * handle        of any kind that this library makes, or GetCurrentThread(): the duplicate then means the calling thread
 *               in every other thread, too
 * to            out; NULL: makes no duplicate
 * access        ignored, as inherit is: a handle has all rights, and is not inherited
 * options       DUPLICATE_SAME_ACCESS; DUPLICATE_CLOSE_SOURCE closes handle, even if the duplication fails
 * Returns       FALSE with ERROR_INVALID_HANDLE (not open; another process), ERROR_INVALID_PARAMETER (another option;
 *               neither to nor DUPLICATE_CLOSE_SOURCE), ERROR_NOT_SUPPORTED (GetCurrentProcess(): this library has no
 *               objects for processes), ERROR_NOT_ENOUGH_MEMORY.
 */
BOOL WINAPI DuplicateHandle(HANDLE from_process, HANDLE handle, HANDLE to_process, LPHANDLE to,
    DWORD access, BOOL inherit, DWORD options)
{
    const bool close_it = options & DUPLICATE_CLOSE_SOURCE;
    HANDLE made = NULL;
    DWORD error = 0;

    (void)access;
    (void)inherit;
    if (to)
        *to = NULL;
    if (from_process != GetCurrentProcess())
        error = ERROR_INVALID_HANDLE;
    else if ((options & ~(DWORD)(DUPLICATE_SAME_ACCESS | DUPLICATE_CLOSE_SOURCE)) ||
             (!to && !close_it))
        error = ERROR_INVALID_PARAMETER;
    if (error) {
        SetLastError(error);
        return FALSE;
    }
    if (to && to_process != GetCurrentProcess())
        error = ERROR_INVALID_HANDLE;
    else if (to && !(made = duplicate(handle)))
        error = GetLastError();
    if (close_it && handle != GetCurrentThread() && handle != GetCurrentProcess() &&
        !CloseHandle(handle) && !error)
        error = ERROR_INVALID_HANDLE;
    if (error) {
        if (made)
            CloseHandle(made); /* another thread closed handle meanwhile */
        SetLastError(error);
        return FALSE;
    }
    if (to)
        *to = made;
    return TRUE;
}
