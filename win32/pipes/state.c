/* SPDX-License-Identifier: MIT */
/* state.c - what programs ask of an open named pipe: its mode, its kind, its other end; a transaction. */
#include "win32/pipes/pipe.h"

#include <sys/socket.h>
#include <unistd.h>

static BOOL answer(struct win_pipe *pipe, DWORD error)
{
    pipe_unpin(pipe);
    if (error)
        SetLastError(error);
    return !error;
}

/*
 * TransactNamedPipe - writes a message and reads the answer, as one request.
 * read        out: octets of the answer, when the call returns; may be NULL with overlapped
 * overlapped  with FILE_FLAG_OVERLAPPED; else the call waits
 * Returns     FALSE with ERROR_IO_PENDING, ERROR_MORE_DATA (the answer is longer: ReadFile has the rest),
 *             ERROR_BAD_PIPE (the handle does not read messages), ERROR_PIPE_BUSY (there is something to read
 *             already), ERROR_ACCESS_DENIED (the handle does not both read and write), and those of ReadFile and
 *             WriteFile. Any thread.
 * Source: TransactNamedPipe function (namedpipeapi.h).
 */
BOOL WINAPI TransactNamedPipe(HANDLE handle, LPVOID out, DWORD out_bytes, LPVOID in, DWORD in_bytes,
    LPDWORD read, LPOVERLAPPED overlapped)
{
    struct win_pipe *pipe = pipe_pin(handle);
    DWORD error, got = 0;

    if (!pipe)
        return FALSE;
    if (!read && !overlapped)
        error = ERROR_INVALID_PARAMETER;
    else if (!pipe->reads || !pipe->writes)
        error = ERROR_ACCESS_DENIED;
    else
        error = pipe_do(pipe,
            &(struct pipe_request){ .kind = PIPE_TRANSACT,
                .out = out,
                .out_bytes = out_bytes,
                .in = in,
                .in_bytes = in_bytes },
            &got, overlapped);
    if (read)
        *read = got;
    return answer(pipe, error);
}

/*
 * SetNamedPipeHandleState - how a handle reads.
 * mode      in: PIPE_READMODE_MESSAGE (pipes of messages) or PIPE_READMODE_BYTE, PIPE_NOWAIT; NULL: as it is
 * most, ms  NULL: they are for pipes of other machines
 * Returns   FALSE with ERROR_INVALID_PARAMETER, ERROR_ACCESS_DENIED (a client without GENERIC_WRITE or
 *           FILE_WRITE_ATTRIBUTES), ERROR_INVALID_HANDLE. Any thread.
 * Source: SetNamedPipeHandleState function (namedpipeapi.h).
 */
BOOL WINAPI SetNamedPipeHandleState(HANDLE handle, LPDWORD mode, LPDWORD most, LPDWORD ms)
{
    struct win_pipe *pipe = pipe_pin(handle);
    DWORD error = ERROR_SUCCESS;

    if (!pipe)
        return FALSE;
    if (!pipe->sets)
        error = ERROR_ACCESS_DENIED;
    else if (most || ms || (mode && (*mode & ~(DWORD)(PIPE_READMODE_MESSAGE | PIPE_NOWAIT))) ||
             (mode && (*mode & PIPE_READMODE_MESSAGE) && !pipe->message))
        error = ERROR_INVALID_PARAMETER;
    if (!error && mode) {
        lock_acquire(&pipe->lock);
        pipe->message_reads = *mode & PIPE_READMODE_MESSAGE;
        pipe->at_once = *mode & PIPE_NOWAIT;
        lock_release(&pipe->lock);
    }
    return answer(pipe, error);
}

/*
 * GetNamedPipeHandleState - how a handle reads, and how many instances the pipe has.
 * mode       out: PIPE_READMODE_MESSAGE, PIPE_NOWAIT; may be NULL
 * instances  out; may be NULL
 * most, ms   NULL: they are for pipes of other machines
 * user, size  NULL and 0: clients are of the same user, and none is impersonated
 * Returns    FALSE with ERROR_INVALID_PARAMETER (most, ms), ERROR_NOT_SUPPORTED (user), ERROR_INVALID_HANDLE. Any
 *            thread.
 * Source: GetNamedPipeHandleStateW function (namedpipeapi.h).
 */
BOOL WINAPI GetNamedPipeHandleStateA(HANDLE handle, LPDWORD mode, LPDWORD instances, LPDWORD most,
    LPDWORD ms, LPSTR user, DWORD size)
{
    struct win_pipe *pipe = pipe_pin(handle);
    DWORD error = ERROR_SUCCESS;

    (void)size;
    if (!pipe)
        return FALSE;
    lock_acquire(&pipe->lock);
    if (user)
        error = ERROR_NOT_SUPPORTED;
    else if (most || ms)
        error = ERROR_INVALID_PARAMETER;
    else if (pipe->closed)
        error = ERROR_INVALID_HANDLE;
    if (!error && mode)
        *mode =
            (pipe->message_reads ? PIPE_READMODE_MESSAGE : 0) | (pipe->at_once ? PIPE_NOWAIT : 0);
    if (!error && instances)
        *instances = pipe_place_instances(&pipe->place);
    lock_release(&pipe->lock);
    return answer(pipe, error);
}

/*
 * GetNamedPipeInfo - the properties of a pipe.
 * flags     out: PIPE_SERVER_END (1) or PIPE_CLIENT_END (0), PIPE_TYPE_MESSAGE
 * out_bytes, in_bytes  out: as CreateNamedPipe was told
 * most      out: instances; PIPE_UNLIMITED_INSTANCES
 * Each may be NULL. Returns FALSE with ERROR_INVALID_HANDLE (also an anonymous pipe). Any thread.
 * Source: GetNamedPipeInfo function (namedpipeapi.h).
 */
BOOL WINAPI GetNamedPipeInfo(
    HANDLE handle, LPDWORD flags, LPDWORD out_bytes, LPDWORD in_bytes, LPDWORD most)
{
    struct win_pipe *pipe = pipe_pin(handle);
    const struct pipe_about *about;
    DWORD error = ERROR_SUCCESS;

    if (!pipe)
        return FALSE;
    lock_acquire(&pipe->lock);
    about = pipe->place.about;
    if (pipe->closed)
        error = ERROR_INVALID_HANDLE;
    if (!error && flags)
        *flags = (pipe->server ? PIPE_SERVER_END : PIPE_CLIENT_END) |
                 (pipe->message ? PIPE_TYPE_MESSAGE : PIPE_TYPE_BYTE);
    if (!error && out_bytes)
        *out_bytes = about->out_bytes;
    if (!error && in_bytes)
        *in_bytes = about->in_bytes;
    if (!error && most)
        *most = about->most;
    lock_release(&pipe->lock);
    return answer(pipe, error);
}

/* The number of the process at the end asked for: the other one, or this one. */
static BOOL process_of(HANDLE handle, PULONG id, bool of_server)
{
    struct win_pipe *pipe = pipe_pin(handle);
    struct ucred peer = { .pid = 0 };
    socklen_t length = sizeof(peer);
    DWORD error;

    if (!pipe)
        return FALSE;
    if (pipe->server == of_server) {
        *id = (ULONG)getpid();
        return answer(pipe, ERROR_SUCCESS);
    }
    lock_acquire(&pipe->lock);
    error = pipe_check_locked(pipe) ? ERROR_PIPE_NOT_CONNECTED : ERROR_SUCCESS;
    if (!error && (getsockopt)(pipe->channel->source.fd, SOL_SOCKET, SO_PEERCRED, &peer, &length))
        error = ERROR_PIPE_NOT_CONNECTED;
    lock_release(&pipe->lock);
    *id = (ULONG)peer.pid;
    return answer(pipe, error);
}

/*
 * GetNamedPipeClientProcessId, GetNamedPipeServerProcessId - the process that has, or has opened, the other end.
 * FALSE with ERROR_PIPE_NOT_CONNECTED, ERROR_INVALID_HANDLE. Any thread.
 * Source: GetNamedPipeClientProcessId function (winbase.h).
 */
BOOL WINAPI GetNamedPipeClientProcessId(HANDLE handle, PULONG id)
{
    return process_of(handle, id, false);
}

BOOL WINAPI GetNamedPipeServerProcessId(HANDLE handle, PULONG id)
{
    return process_of(handle, id, true);
}
