/* SPDX-License-Identifier: MIT */
/* duplicate.c - DuplicateHandle. */
#include "winobj/handles/handle.h"

#include "win32/parcels/ask.h"
#include "win32/parcels/open.h"
#include "win32/parcels/work.h"
#include "win32/process/process.h"
#include "win32/threads/thread.h"

#include <unistd.h>

/* A duplication, and its two processes. */
struct duplication {
    struct win_process *from, *to; /* referenced; NULL: the calling one */
    HANDLE handle;
    bool wanted; /* a handle in to */
    bool inherit, then_close;
    HANDLE made;
};

/* ERROR_SUCCESS with the process of a handle; NULL for the calling one, by whichever handle. */
static DWORD find_process(HANDLE handle, struct win_process **process)
{
    *process = NULL;
    if (handle == GetCurrentProcess())
        return ERROR_SUCCESS;
    if (!(*process = win_process_pin(handle, PROCESS_DUP_HANDLE)))
        return GetLastError();
    if (win_process_id(*process) == GetCurrentProcessId()) {
        win_object_unref((struct win_object *)*process);
        *process = NULL;
    }
    return ERROR_SUCCESS;
}

static void forget_process(struct win_process *process)
{
    if (process)
        win_object_unref((struct win_object *)process);
}

static DWORD close_here(HANDLE handle)
{
    if (handle == GetCurrentThread() || handle == GetCurrentProcess())
        return ERROR_SUCCESS;
    return CloseHandle(handle) ? ERROR_SUCCESS : ERROR_INVALID_HANDLE;
}

static DWORD inside_this(struct duplication *dup)
{
    DWORD error;

    dup->made =
        dup->handle == GetCurrentThread() ? win_thread_self_handle() : parcel_copy(dup->handle);
    error = dup->made ? parcel_inherit(dup->made, dup->inherit) : GetLastError();
    if (dup->then_close && close_here(dup->handle) && !error) {
        CloseHandle(dup->made); /* another thread closed handle meanwhile */
        error = ERROR_INVALID_HANDLE;
    }
    return error;
}

static DWORD give_away(struct duplication *dup)
{
    struct win_object *object = NULL;
    struct win_parcel parcel;
    DWORD error = win_parcel_pack(dup->handle, &parcel, &object);

    if (!error) {
        error = parcel_ask_give(dup->to, &parcel, dup->inherit, &dup->made);
        if (parcel.fd >= 0)
            close(parcel.fd);
        win_object_unref(object);
    }
    if (dup->then_close && close_here(dup->handle) && !error)
        error = ERROR_INVALID_HANDLE;
    return error;
}

static DWORD open_here(struct duplication *dup, const struct win_parcel *parcel)
{
    if (!win_parcel_is_sound(parcel)) {
        if (parcel->fd >= 0)
            close(parcel->fd);
        return ERROR_NOT_SUPPORTED;
    }
    if (!(dup->made = win_parcel_open(parcel)))
        return GetLastError();
    return parcel_inherit(dup->made, dup->inherit);
}

/*
 * Fetches from another process, for this one or a third one. The keeper keeps the object alive until it has been
 * opened.
 */
static DWORD fetch(struct duplication *dup)
{
    struct win_parcel parcel;
    int keeper;
    DWORD error = parcel_ask_take(dup->from, dup->handle, dup->then_close, &parcel, &keeper);

    if (error)
        return error;
    if (!dup->to)
        error = open_here(dup, &parcel);
    else {
        error = parcel_ask_give(dup->to, &parcel, dup->inherit, &dup->made);
        if (parcel.fd >= 0)
            close(parcel.fd);
    }
    close(keeper);
    return error;
}

static DWORD duplicate(struct duplication *dup)
{
    if (!dup->from && !dup->to)
        return inside_this(dup);
    if (!dup->from)
        return give_away(dup);
    if (dup->to && win_process_id(dup->from) == win_process_id(dup->to))
        return parcel_ask_copy(dup->from, dup->handle, dup->then_close, dup->inherit, &dup->made);
    return fetch(dup);
}

static DWORD close_source(const struct duplication *dup)
{
    return dup->from ? parcel_ask_close(dup->from, dup->handle) : close_here(dup->handle);
}

/*
 * DuplicateHandle - another handle of an object, which lives until its last handle is closed.
 * from_process  the owner of handle: GetCurrentProcess(), or a handle of a process with PROCESS_DUP_HANDLE
 * to_process    the process that gets the duplicate: as from_process; may be NULL if to is
 * handle        of any kind that this library makes, or GetCurrentThread(), GetCurrentProcess(): the duplicate then
 *               means the calling thread, or from_process, in every other thread or process, too
 * to            out; NULL: makes no duplicate
 * access        ignored: a handle has all rights
 * inherit       CreateProcess may hand the duplicate on
 * options       DUPLICATE_SAME_ACCESS; DUPLICATE_CLOSE_SOURCE closes handle, even if the duplication fails, unless
 *               from_process could not be asked
 * Another process takes part if it uses this library, and CreateProcess started it or it has had what others fetch
 * (parcels/serve.h); from_process and to_process may both be other processes. What can go there is what CreateProcess
 * hands on (create.c), and sockets whichever handle they have. The call waits for that process: ask.h.
 * Returns       FALSE with ERROR_INVALID_HANDLE (not open), ERROR_INVALID_PARAMETER (another option; neither to nor
 *               DUPLICATE_CLOSE_SOURCE), ERROR_ACCESS_DENIED (the handle of a process lacks the right; the process has
 *               ended; it is another user's), ERROR_NOT_SUPPORTED (another process cannot have the object, or takes no
 *               part; inherit, of what cannot be inherited: SetHandleInformation), ERROR_TIMEOUT (a process does not
 *               answer), ERROR_NOT_ENOUGH_MEMORY, ERROR_TOO_MANY_OPEN_FILES (also in the other process), and for
 *               GetCurrentProcess() an error of OpenProcess.
 */
BOOL WINAPI DuplicateHandle(HANDLE from_process, HANDLE handle, HANDLE to_process, LPHANDLE to,
    DWORD access, BOOL inherit, DWORD options)
{
    struct duplication dup = { .handle = handle,
        .wanted = to != NULL,
        .inherit = inherit,
        .then_close = options & DUPLICATE_CLOSE_SOURCE };
    DWORD error;

    (void)access;
    if (to)
        *to = NULL;
    if (!(error = find_process(from_process, &dup.from)) &&
        ((options & ~(DWORD)(DUPLICATE_SAME_ACCESS | DUPLICATE_CLOSE_SOURCE)) ||
            (!dup.wanted && !dup.then_close)))
        error = ERROR_INVALID_PARAMETER;
    else if (!error && dup.wanted && (error = find_process(to_process, &dup.to))) {
        if (dup.then_close)
            close_source(&dup);
    } else if (!error)
        error = dup.wanted ? duplicate(&dup) : close_source(&dup);
    forget_process(dup.from);
    forget_process(dup.to);
    if (error) {
        SetLastError(error);
        return FALSE;
    }
    if (to)
        *to = dup.made;
    return TRUE;
}
