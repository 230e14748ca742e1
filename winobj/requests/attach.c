/* SPDX-License-Identifier: MIT */
/* attach.c - CreateIoCompletionPort. */
#include "winobj/requests/file.h"
#include "winobj/requests/port.h"
#include "winobj/requests/remote_port.h"

/*
 * CreateIoCompletionPort - makes a port, attaches a file to one, or both.
 * file         a file handle, or INVALID_HANDLE_VALUE for a port alone
 * port         the port to attach to, or NULL to make one
 * concurrency  ignored: any number of threads may take packets
 * Returns the port. NULL with ERROR_INVALID_HANDLE (not a port), ERROR_INVALID_PARAMETER (a port without a file given
 * with INVALID_HANDLE_VALUE; not a file; a file attached already), ERROR_NOT_ENOUGH_MEMORY, ERROR_NOT_SUPPORTED (a port
 * of another process: only that one can attach files to it).
 */
HANDLE WINAPI CreateIoCompletionPort(HANDLE file, HANDLE port, ULONG_PTR key, DWORD concurrency)
{
    HANDLE result = port;
    struct win_port *pinned;
    DWORD error;

    (void)concurrency;
    if (port && file == INVALID_HANDLE_VALUE) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    if (!port && (result = win_port_create()))
        win_handle_offer();
    if (!result || file == INVALID_HANDLE_VALUE)
        return result;
    if (!(pinned = win_port_pin(result))) {
        win_remote_port_refuse(result, "CreateIoCompletionPort");
        return NULL;
    }
    error = win_file_attach(file, pinned, key);
    win_port_unpin(pinned);
    if (!error)
        return result;
    if (!port)
        CloseHandle(result);
    SetLastError(error);
    return NULL;
}
