/* SPDX-License-Identifier: MIT */
/* transfer.c - ReadFile, WriteFile, and what else the kind of the handle does (io.h). */
#include "winobj/requests/io.h"

/* The file of an I/O handle, referenced; NULL with the last error. Clears *done. */
static struct win_file *transfer_file(HANDLE handle, DWORD *done, const OVERLAPPED *overlapped)
{
    struct win_file *file;

    if (done)
        *done = 0;
    if (!done && !overlapped) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return NULL;
    }
    file = win_file_pin(handle);
    if (file && file->ops && file->ops->io)
        return file;
    if (file)
        win_file_unref(file);
    SetLastError(file ? ERROR_INVALID_FUNCTION : ERROR_INVALID_HANDLE);
    return NULL;
}

static BOOL transfer_end(struct win_file *file, DWORD error, DWORD bytes, DWORD *done)
{
    win_file_unref(file);
    if (done)
        *done = bytes;
    if (!error)
        return TRUE;
    SetLastError(error);
    return FALSE;
}

/*
 * ReadFile - reads from a file, pipe, console or socket.
 * bytes       room in buffer
 * done        out: octets that were read; may be NULL with overlapped, and is not to be trusted then
 * overlapped  with FILE_FLAG_OVERLAPPED: the request ends when it can; NULL: the call waits, and only a file of a disk
 *             refuses it. Without that flag it may give the place in the file, and the call waits all the same
 * Returns     TRUE; at the end of a file without FILE_FLAG_OVERLAPPED TRUE with 0 octets. FALSE with ERROR_IO_PENDING
 *             (the request has begun), ERROR_HANDLE_EOF, ERROR_BROKEN_PIPE (the writers are gone),
 *             ERROR_ACCESS_DENIED (not opened for reading), ERROR_INVALID_HANDLE, ERROR_INVALID_PARAMETER,
 *             ERROR_INVALID_FUNCTION (a file of NetworkDirect), ERROR_LOCK_VIOLATION, ERROR_NOT_ENOUGH_MEMORY.
 */
BOOL WINAPI ReadFile(
    HANDLE handle, LPVOID buffer, DWORD bytes, LPDWORD done, LPOVERLAPPED overlapped)
{
    struct win_file *file = transfer_file(handle, done, overlapped);
    DWORD error = ERROR_INVALID_FUNCTION, moved = 0;

    if (!file)
        return FALSE;
    if (file->ops->io->read)
        error = file->ops->io->read(file, buffer, bytes, &moved, overlapped);
    return transfer_end(file, error, moved, done);
}

/*
 * WriteFile - writes to a file, pipe, console or socket. It has ReadFile's parameters and errors; besides
 * ERROR_NO_DATA (the pipe's readers are gone), ERROR_DISK_FULL.
 */
BOOL WINAPI WriteFile(
    HANDLE handle, LPCVOID buffer, DWORD bytes, LPDWORD done, LPOVERLAPPED overlapped)
{
    struct win_file *file = transfer_file(handle, done, overlapped);
    DWORD error = ERROR_INVALID_FUNCTION, moved = 0;

    if (!file)
        return FALSE;
    if (file->ops->io->write)
        error = file->ops->io->write(file, buffer, bytes, &moved, overlapped);
    return transfer_end(file, error, moved, done);
}

/* The file of an I/O handle, referenced; NULL with ERROR_INVALID_HANDLE. */
static struct win_file *io_file(HANDLE handle)
{
    struct win_file *file = win_file_pin(handle);

    if (file && file->ops && file->ops->io)
        return file;
    if (file)
        win_file_unref(file);
    SetLastError(ERROR_INVALID_HANDLE);
    return NULL;
}

/*
 * FlushFileBuffers - returns when what was written is on the disk; of a named pipe: when the other end has read it; of
 * an anonymous pipe or a device: at once.
 * FALSE with ERROR_ACCESS_DENIED (not opened for writing), ERROR_INVALID_HANDLE, ERROR_IO_DEVICE, ERROR_DISK_FULL,
 * ERROR_BROKEN_PIPE (the other end was closed meanwhile), ERROR_PIPE_NOT_CONNECTED, ERROR_PIPE_LISTENING.
 */
BOOL WINAPI FlushFileBuffers(HANDLE handle)
{
    struct win_file *file = io_file(handle);
    DWORD error;

    if (!file)
        return FALSE;
    error = file->ops->io->flush ? file->ops->io->flush(file) : ERROR_INVALID_HANDLE;
    return transfer_end(file, error, 0, NULL);
}

/* GetFileType - FILE_TYPE_DISK, FILE_TYPE_CHAR or FILE_TYPE_PIPE. FILE_TYPE_UNKNOWN with ERROR_INVALID_HANDLE, or 0. */
DWORD WINAPI GetFileType(HANDLE handle)
{
    struct win_file *file = io_file(handle);
    DWORD type;

    if (!file)
        return FILE_TYPE_UNKNOWN;
    type = file->ops->io->type ? file->ops->io->type(file) : FILE_TYPE_UNKNOWN;
    win_file_unref(file);
    SetLastError(ERROR_SUCCESS);
    return type;
}

/*
 * PeekNamedPipe - looks into a pipe, with a name or without, and takes nothing out of it. Never waits.
 * buffer, bytes  out: what is there, as much as has room; NULL, 0. A handle that reads messages sees the first one
 * got            out: octets in buffer; may be NULL
 * total          out: octets that are there; may be NULL
 * left           out: octets of the first message that buffer has not; 0 of a pipe of octets; may be NULL
 * Returns        FALSE with ERROR_BROKEN_PIPE (nothing is there, and the other end is closed),
 *                ERROR_PIPE_NOT_CONNECTED, ERROR_PIPE_LISTENING, ERROR_ACCESS_DENIED (a handle that does not read),
 *                ERROR_INVALID_FUNCTION (a file), ERROR_INVALID_HANDLE. Any thread.
 * Source: PeekNamedPipe function (namedpipeapi.h).
 */
BOOL WINAPI PeekNamedPipe(
    HANDLE handle, LPVOID buffer, DWORD bytes, LPDWORD got, LPDWORD total, LPDWORD left)
{
    struct win_peek peek = { .buffer = buffer, .bytes = buffer ? bytes : 0 };
    struct win_file *file = io_file(handle);
    DWORD error;

    if (!file)
        return FALSE;
    error = file->ops->io->peek ? file->ops->io->peek(file, &peek) : ERROR_INVALID_HANDLE;
    if (!error && total)
        *total = peek.total;
    if (!error && left)
        *left = peek.left;
    return transfer_end(file, error, error ? 0 : peek.got, got);
}
