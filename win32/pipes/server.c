/* SPDX-License-Identifier: MIT */
/* server.c - CreateNamedPipe, ConnectNamedPipe, DisconnectNamedPipe. */
#include "win32/pipes/pipe.h"

#include "winobj/status.h"

#define OPEN_KNOWN                                                                                 \
    (PIPE_ACCESS_DUPLEX | FILE_FLAG_FIRST_PIPE_INSTANCE | FILE_FLAG_WRITE_THROUGH |                \
        FILE_FLAG_OVERLAPPED | WRITE_DAC)
#define MODE_KNOWN                                                                                 \
    (PIPE_TYPE_MESSAGE | PIPE_READMODE_MESSAGE | PIPE_NOWAIT | PIPE_REJECT_REMOTE_CLIENTS)

enum { WAIT_DEFAULT_MS = 50 };

/* An instance that listens. A Win32 error; on success the handle. */
static DWORD make(const char *name, const struct pipe_about *about, DWORD open_mode, bool inherit,
    struct win_pipe *like, HANDLE *handle)
{
    DWORD error =
        pipe_place_make(name, about, open_mode & FILE_FLAG_FIRST_PIPE_INSTANCE, &like->place);
    int fd;

    if (error)
        return error;
    if ((fd = pipe_place_listen(&like->place)) < 0) {
        pipe_place_close(&like->place);
        return pipe_error(-fd);
    }
    *handle = pipe_open(like, fd, PIPE_LISTENS, inherit);
    return *handle == INVALID_HANDLE_VALUE ? GetLastError() : ERROR_SUCCESS;
}

/*
 * CreateNamedPipeA, CreateNamedPipeW - makes a pipe, or another instance of one; a client may open it from now on.
 * name       \\.\pipe\NAME; case does not count in ASCII. Processes of the same user find it
 * open_mode  PIPE_ACCESS_DUPLEX, PIPE_ACCESS_INBOUND (the server reads), PIPE_ACCESS_OUTBOUND; FILE_FLAG_OVERLAPPED,
 *            FILE_FLAG_FIRST_PIPE_INSTANCE (WRITE_OWNER is the same bit); FILE_FLAG_WRITE_THROUGH and WRITE_DAC
 *            have no effect
 * mode       PIPE_TYPE_BYTE or PIPE_TYPE_MESSAGE, PIPE_READMODE_MESSAGE, PIPE_NOWAIT; PIPE_REJECT_REMOTE_CLIENTS has no
 *            effect: no client is remote
 * most       instances, 1 to PIPE_UNLIMITED_INSTANCES (255, which is also how many there can be); the first decides
 * out_bytes, in_bytes  what GetNamedPipeInfo tells; the kernel sizes its buffers itself. A message of more than some
 *            200 KiB (net.core.wmem_max) is refused by WriteFile: ERROR_NO_SYSTEM_RESOURCES
 * wait_ms    of WaitNamedPipe with NMPWAIT_USE_DEFAULT_WAIT; 0: 50 ms
 * attributes bInheritHandle: whether CreateProcess may hand it on; may be NULL. A descriptor is not looked at
 * Returns    INVALID_HANDLE_VALUE with ERROR_INVALID_NAME (another path, an empty name), ERROR_FILENAME_EXCED_RANGE
 *            (255 octets), ERROR_INVALID_PARAMETER (modes, most), ERROR_ACCESS_DENIED (it exists, and is to be the
 *            first; it differs in type or access; /dev/shm/ndspi-USER is another user's), ERROR_PIPE_BUSY (all
 *            instances exist), ERROR_TOO_MANY_OPEN_FILES, ERROR_NO_SYSTEM_RESOURCES, ERROR_NOT_ENOUGH_MEMORY.
 * Threads    any
 * Source: CreateNamedPipeW function (namedpipeapi.h).
 */
HANDLE WINAPI CreateNamedPipeA(LPCSTR name, DWORD open_mode, DWORD mode, DWORD most,
    DWORD out_bytes, DWORD in_bytes, DWORD wait_ms, LPSECURITY_ATTRIBUTES attributes)
{
    const struct pipe_about about = {
        .access = open_mode & PIPE_ACCESS_DUPLEX,
        .message = mode & PIPE_TYPE_MESSAGE,
        .most = most,
        .out_bytes = out_bytes,
        .in_bytes = in_bytes,
        .wait_ms = wait_ms ? wait_ms : WAIT_DEFAULT_MS,
    };
    struct win_pipe like = {
        .server = true,
        .message = about.message,
        .reads = open_mode & PIPE_ACCESS_INBOUND,
        .writes = open_mode & PIPE_ACCESS_OUTBOUND,
        .sets = true,
        .overlapped = open_mode & FILE_FLAG_OVERLAPPED,
        .message_reads = mode & PIPE_READMODE_MESSAGE,
        .at_once = mode & PIPE_NOWAIT,
    };
    const char *own = name ? pipe_name_of(name) : NULL;
    HANDLE handle = INVALID_HANDLE_VALUE;
    DWORD error;

    if (!own)
        error = ERROR_INVALID_NAME;
    else if ((open_mode & ~(DWORD)OPEN_KNOWN) || !about.access || (mode & ~(DWORD)MODE_KNOWN) ||
             (like.message_reads && !like.message) || !most || most > PIPE_UNLIMITED_INSTANCES)
        error = ERROR_INVALID_PARAMETER;
    else
        error =
            make(own, &about, open_mode, attributes && attributes->bInheritHandle, &like, &handle);
    if (error)
        SetLastError(error);
    return handle;
}

/*
 * ConnectNamedPipe - waits for a client.
 * overlapped  with FILE_FLAG_OVERLAPPED: ends when a client has come; NULL: the call waits
 * Returns     TRUE: a client has come during the call. FALSE with ERROR_IO_PENDING, ERROR_PIPE_CONNECTED (it came
 *             before, and is connected), ERROR_NO_DATA (the last client has closed its end: DisconnectNamedPipe first),
 *             ERROR_PIPE_LISTENING (PIPE_NOWAIT: none is there), ERROR_INVALID_FUNCTION (the client's end),
 *             ERROR_INVALID_HANDLE, ERROR_TOO_MANY_OPEN_FILES, ERROR_NO_SYSTEM_RESOURCES,
 *             ERROR_NOT_ENOUGH_MEMORY.
 * Threads     any
 * Source: ConnectNamedPipe function (namedpipeapi.h).
 */
BOOL WINAPI ConnectNamedPipe(HANDLE handle, LPOVERLAPPED overlapped)
{
    struct win_pipe *pipe = pipe_pin(handle);
    DWORD error = ERROR_INVALID_FUNCTION, done;

    if (!pipe)
        return FALSE;
    if (pipe->server)
        error = pipe_do(pipe, &(struct pipe_request){ .kind = PIPE_CONNECT }, &done, overlapped);
    pipe_unpin(pipe);
    if (error)
        SetLastError(error);
    return !error;
}

/*
 * DisconnectNamedPipe - ends the connection of an instance: the client's calls fail with ERROR_PIPE_NOT_CONNECTED, and
 * what it has not read is lost (FlushFileBuffers waits for it). ConnectNamedPipe makes it listen again. Requests that
 * are pending end with ERROR_PIPE_NOT_CONNECTED.
 * Returns  FALSE with ERROR_PIPE_NOT_CONNECTED (it is disconnected already), ERROR_INVALID_FUNCTION (the client's end),
 *          ERROR_INVALID_HANDLE. Any thread.
 * Source: DisconnectNamedPipe function (namedpipeapi.h).
 */
BOOL WINAPI DisconnectNamedPipe(HANDLE handle)
{
    struct win_pipe *pipe = pipe_pin(handle);
    DWORD error = ERROR_SUCCESS;

    if (!pipe)
        return FALSE;
    lock_acquire(&pipe->lock);
    if (!pipe->server)
        error = ERROR_INVALID_FUNCTION;
    else if (pipe->closed)
        error = ERROR_INVALID_HANDLE;
    else if (pipe->state == PIPE_IS_DISCONNECTED)
        error = ERROR_PIPE_NOT_CONNECTED;
    else
        pipe_disconnect_locked(pipe, STATUS_PIPE_DISCONNECTED);
    lock_release(&pipe->lock);
    pipe_unpin(pipe);
    if (error)
        SetLastError(error);
    return !error;
}
