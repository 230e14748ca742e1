/* SPDX-License-Identifier: MIT */
/* duplicate.c - DuplicateHandle. */
#include "winobj/handles/handle.h"

#include "winobj/process/process.h"
#include "winobj/threads/thread.h"

static HANDLE duplicate(HANDLE handle)
{
    struct win_object *object;
    HANDLE result;

    if (handle == GetCurrentThread())
        return win_thread_self_handle();
    if (handle == GetCurrentProcess())
        return OpenProcess(PROCESS_ALL_ACCESS, FALSE, GetCurrentProcessId());
    if (!(object = win_handle_pin(handle, NULL))) {
        SetLastError(ERROR_INVALID_HANDLE);
        return NULL;
    }
    result = win_handle_add(object);
    win_object_unref(object);
    return result;
}

/* ERROR_SUCCESS for the calling process, by whichever handle. */
static DWORD check_process(HANDLE handle)
{
    struct win_process *process;
    DWORD error;

    if (handle == GetCurrentProcess())
        return ERROR_SUCCESS;
    if (!(process = win_process_pin(handle, PROCESS_DUP_HANDLE)))
        return GetLastError();
    error = win_process_id(process) == GetCurrentProcessId() ? ERROR_SUCCESS : ERROR_NOT_SUPPORTED;
    win_object_unref((struct win_object *)process);
    return error;
}

/*
 * DuplicateHandle - another handle of an object, which lives until its last handle is closed.
 * from_process  GetCurrentProcess(), or a handle of the calling process with PROCESS_DUP_HANDLE
 * to_process    the same; may be NULL if to is
 * handle        of any kind that this library makes, or GetCurrentThread(), GetCurrentProcess(): the duplicate then
 *               means the calling thread, or process, in every other thread or child, too
 * to            out; NULL: makes no duplicate
 * access        ignored: a handle has all rights
 * inherit       CreateProcess may hand the duplicate on
 * options       DUPLICATE_SAME_ACCESS; DUPLICATE_CLOSE_SOURCE closes handle, even if the duplication fails
 * Returns       FALSE with ERROR_INVALID_HANDLE (not open), ERROR_INVALID_PARAMETER (another option; neither to nor
 *               DUPLICATE_CLOSE_SOURCE), ERROR_ACCESS_DENIED (the handle of a process lacks the right),
 *               ERROR_NOT_SUPPORTED (another process: an object of a name is opened there by its name; inherit, of
 *               what cannot be inherited: SetHandleInformation),
 *               ERROR_NOT_ENOUGH_MEMORY, and for GetCurrentProcess() an error of OpenProcess.
 */
BOOL WINAPI DuplicateHandle(HANDLE from_process, HANDLE handle, HANDLE to_process, LPHANDLE to,
    DWORD access, BOOL inherit, DWORD options)
{
    const bool close_it = options & DUPLICATE_CLOSE_SOURCE;
    HANDLE made = NULL;
    DWORD error = 0;

    (void)access;
    if (to)
        *to = NULL;
    if (!(error = check_process(from_process)) &&
        ((options & ~(DWORD)(DUPLICATE_SAME_ACCESS | DUPLICATE_CLOSE_SOURCE)) ||
            (!to && !close_it)))
        error = ERROR_INVALID_PARAMETER;
    if (error) {
        SetLastError(error);
        return FALSE;
    }
    if (to && !(error = check_process(to_process)) && !(made = duplicate(handle)))
        error = GetLastError();
    if (made && inherit)
        error = win_handle_set_inherit(made, true);
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
