/* SPDX-License-Identifier: MIT */
/*
 * peek.c - PeekNamedPipe of an anonymous pipe: tee copies what is there into another one, which is read. A standard
 * handle may also be a stream socket, which the kernel lets a program look into.
 */
#include "win32/files/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Copies octets that are there. A Win32 error. */
static DWORD copy(const struct plain_file *plain, struct win_peek *peek)
{
    const DWORD bytes = peek->bytes < peek->total ? peek->bytes : peek->total;
    DWORD error = ERROR_SUCCESS;
    ssize_t n = 0;
    int ends[2];

    n = (recv)(plain->fd, peek->buffer, bytes, MSG_PEEK | MSG_DONTWAIT);
    if (n >= 0 || errno != ENOTSOCK) {
        peek->got = n > 0 ? (DWORD)n : 0;
        return n < 0 && errno != EAGAIN ? files_error(errno) : ERROR_SUCCESS;
    }
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return files_error(errno);
    /* if this fails, fewer octets are seen */
    fcntl(ends[0], F_SETPIPE_SZ, fcntl(plain->fd, F_GETPIPE_SZ));
    if (tee(plain->fd, ends[1], bytes, SPLICE_F_NONBLOCK) < 0 && errno != EAGAIN)
        error = files_error(errno);
    if (!error && (n = read(ends[0], peek->buffer, bytes)) < 0 && errno != EAGAIN)
        error = files_error(errno);
    peek->got = n > 0 ? (DWORD)n : 0;
    close(ends[0]);
    close(ends[1]);
    return error;
}

DWORD plain_peek(struct win_file *file, struct win_peek *peek)
{
    const struct plain_file *plain = win_file_room(file);
    struct pollfd end = { .fd = plain->fd };
    int total = 0;
    bool hung;

    if (plain->type != FILE_TYPE_PIPE)
        return ERROR_INVALID_FUNCTION;
    if (!(plain->access & PLAIN_READ))
        return ERROR_ACCESS_DENIED;
    /* asked before the copy: a closed end sends no more */
    hung = poll(&end, 1, 0) == 1 && (end.revents & POLLHUP);
    if (ioctl(plain->fd, FIONREAD, &total))
        return files_error(errno);
    peek->total = (DWORD)total;
    if (total)
        return peek->bytes ? copy(plain, peek) : ERROR_SUCCESS;
    return hung ? ERROR_BROKEN_PIPE : ERROR_SUCCESS;
}
