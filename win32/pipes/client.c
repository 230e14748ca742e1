/* SPDX-License-Identifier: MIT */
/* client.c - the client's side of named pipes: CreateFile of a pipe's name, WaitNamedPipe, CallNamedPipe. */
#include "win32/pipes/pipe.h"

#include <strings.h>
#include <unistd.h>

const char *pipe_name_of(LPCSTR path)
{
    if (strncasecmp(path, "\\\\.\\pipe\\", 9) && strncasecmp(path, "\\\\?\\pipe\\", 9))
        return NULL;
    return path + 9;
}

/* Whether the pipe lets a client have that access. */
static bool allows(const struct pipe_about *about, const struct win_pipe *like)
{
    return (!like->reads || (about->access & PIPE_ACCESS_OUTBOUND)) &&
           (!like->writes || (about->access & PIPE_ACCESS_INBOUND));
}

/* Connects to an instance. Returns a Win32 error; handle out: on success. */
static DWORD open_client(const char *name, struct win_pipe *like, bool inherit, HANDLE *handle)
{
    DWORD error = pipe_place_find(name, &like->place);
    int fd;

    if (error)
        return error;
    error = allows(like->place.about, like) ? pipe_place_connect(&like->place, &fd)
                                            : ERROR_ACCESS_DENIED;
    if (error) {
        pipe_place_close(&like->place);
        return error;
    }
    like->message = like->place.about->message;
    *handle = pipe_open(like, fd, PIPE_IS_CONNECTED, inherit);
    return *handle == INVALID_HANDLE_VALUE ? GetLastError() : ERROR_SUCCESS;
}

DWORD pipe_client(const char *name, DWORD access, DWORD flags, bool inherit, HANDLE *handle)
{
    struct win_pipe like = {
        .reads = access & (GENERIC_READ | GENERIC_ALL | FILE_READ_DATA),
        .writes = access & (GENERIC_WRITE | GENERIC_ALL | FILE_WRITE_DATA),
        .sets = access & (GENERIC_WRITE | GENERIC_ALL | FILE_WRITE_ATTRIBUTES),
        .overlapped = flags & FILE_FLAG_OVERLAPPED,
    };

    *handle = INVALID_HANDLE_VALUE;
    return open_client(name, &like, inherit, handle);
}

/*
 * WaitNamedPipeA, WaitNamedPipeW - waits until an instance of a pipe listens, so that CreateFile can open it; another
 * client may take it first.
 * timeout_ms  NMPWAIT_USE_DEFAULT_WAIT (0: the server's choice), NMPWAIT_WAIT_FOREVER, NMPWAIT_NOWAIT (1 ms)
 * Returns     FALSE with ERROR_SEM_TIMEOUT, ERROR_FILE_NOT_FOUND (no instance exists), ERROR_INVALID_NAME (no path of a
 *             pipe), ERROR_ACCESS_DENIED, ERROR_FILENAME_EXCED_RANGE, ERROR_TOO_MANY_OPEN_FILES,
 *             ERROR_NO_SYSTEM_RESOURCES. The waiting thread does none of the library's work.
 * Source: WaitNamedPipeW function (namedpipeapi.h).
 */
BOOL WINAPI WaitNamedPipeA(LPCSTR name, DWORD timeout_ms)
{
    const char *own = name ? pipe_name_of(name) : NULL;
    struct pipe_place place;
    DWORD error = own ? pipe_place_find(own, &place) : ERROR_INVALID_NAME;

    if (!error) {
        error = pipe_place_wait(
            &place, timeout_ms == NMPWAIT_USE_DEFAULT_WAIT ? place.about->wait_ms : timeout_ms);
        pipe_place_close(&place);
    }
    if (error)
        SetLastError(error);
    return !error;
}

/* Opens a pipe, and waits for an instance if all are busy. */
static DWORD open_patiently(LPCSTR name, DWORD timeout_ms, HANDLE *handle)
{
    DWORD error;

    while ((error = pipe_client(pipe_name_of(name), GENERIC_READ | GENERIC_WRITE, 0, false,
                handle)) == ERROR_PIPE_BUSY &&
           timeout_ms != NMPWAIT_NOWAIT)
        if (!WaitNamedPipeA(name, timeout_ms))
            return GetLastError();
    return error;
}

/*
 * CallNamedPipeA, CallNamedPipeW - opens a pipe of messages, writes one, reads one, and closes it again.
 * read        out: octets of the answer
 * timeout_ms  how long to wait for an instance, as in WaitNamedPipe; NMPWAIT_NOWAIT: not at all
 * Returns     FALSE with the errors of WaitNamedPipe and TransactNamedPipe, ERROR_PIPE_BUSY (NMPWAIT_NOWAIT),
 *             ERROR_MORE_DATA (the answer is longer: its beginning is there, the rest is lost),
 *             ERROR_INVALID_PARAMETER (a pipe of octets; read is NULL).
 * Source: CallNamedPipeW function (winbase.h).
 */
BOOL WINAPI CallNamedPipeA(LPCSTR name, LPVOID out, DWORD out_bytes, LPVOID in, DWORD in_bytes,
    LPDWORD read, DWORD timeout_ms)
{
    DWORD mode = PIPE_READMODE_MESSAGE, error;
    HANDLE pipe;

    if (!name || !pipe_name_of(name) || !read) {
        SetLastError(read ? ERROR_INVALID_NAME : ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    *read = 0;
    if (!(error = open_patiently(name, timeout_ms, &pipe))) {
        if (!SetNamedPipeHandleState(pipe, &mode, NULL, NULL) ||
            !TransactNamedPipe(pipe, out, out_bytes, in, in_bytes, read, NULL))
            error = GetLastError();
        CloseHandle(pipe);
    }
    if (error)
        SetLastError(error);
    return !error;
}
