/* SPDX-License-Identifier: MIT */
/* plain.c - the kind of I/O handles over a descriptor (plain.h). */
#include "win32/files/plain.h"

#include "reactor/reactor.h"
#include "util/descriptor.h"
#include "util/file_size.h"
#include "util/linux_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

/* What the kernel moves at once is less than 2 GiB by a page, and pages differ. */
enum { AT_ONCE_LEAST = 1 << 30 };

/*
 * A descriptor from another program may be one that does not block; the transfer waits all the same. Whether it is to
 * be tried again.
 */
static bool wait_until(int fd, short events)
{
    struct pollfd ready = { .fd = fd, .events = events };

    if (errno != EAGAIN)
        return false;
    while (poll(&ready, 1, -1) < 0)
        if (errno != EINTR)
            return false;
    return true;
}

int plain_read(
    const struct plain_file *plain, void *buffer, DWORD bytes, int64_t offset, DWORD *done)
{
    ssize_t n;

    *done = 0;
    do {
        char *to = (char *)buffer + *done;

        do
            n = offset < 0 ? read(plain->fd, to, bytes - *done)
                           : pread(plain->fd, to, bytes - *done, offset + (int64_t)*done);
        while (n < 0 && (errno == EINTR || wait_until(plain->fd, POLLIN)));
        if (n < 0)
            return -errno;
        *done += (DWORD)n;
    } while (n >= AT_ONCE_LEAST && *done < bytes && plain->type == FILE_TYPE_DISK);
    return 0;
}

static ssize_t write_once(const struct plain_file *plain, const struct iovec *rest, int64_t offset)
{
    if (offset == PLACE_END)
        return pwritev2(plain->fd, rest, 1, 0, RWF_APPEND);
    if (offset < 0)
        return write(plain->fd, rest->iov_base, rest->iov_len);
    return pwrite(plain->fd, rest->iov_base, rest->iov_len, offset);
}

/*
 * Calls write_once, and keeps two signals from the program: SIGPIPE, which a pipe without readers raises, and SIGXFSZ,
 * which a limit on the size of files raises.
 */
static ssize_t write_quietly(
    const struct plain_file *plain, const struct iovec *rest, int64_t offset)
{
    const bool disk = plain->type == FILE_TYPE_DISK;
    struct held_signal held;
    ssize_t n;

    if (disk && !file_size_is_limited())
        return write_once(plain, rest, offset);
    held_signal_begin(&held, disk ? SIGXFSZ : SIGPIPE);
    n = write_once(plain, rest, offset);
    held_signal_end(&held, n < 0 && errno == (disk ? EFBIG : EPIPE));
    return n;
}

int plain_write(
    const struct plain_file *plain, const void *buffer, DWORD bytes, int64_t offset, DWORD *done)
{
    const char *from = buffer;

    for (*done = 0; *done < bytes;) {
        struct iovec rest = { (void *)(from + *done), bytes - *done };
        ssize_t n;

        n = write_quietly(plain, &rest, offset < 0 ? offset : offset + (int64_t)*done);
        if (n < 0 && (errno == EINTR || wait_until(plain->fd, POLLOUT)))
            continue;
        if (n < 0)
            return -errno;
        *done += (DWORD)n;
    }
    return 0;
}

/* The place of a transfer on a handle without FILE_FLAG_OVERLAPPED: the descriptor's own, unless it is given. */
static int64_t place(const struct plain_file *plain, const OVERLAPPED *overlapped, bool writes)
{
    if (plain->type != FILE_TYPE_DISK)
        return PLACE_NONE;
    if (overlapped)
        return place_of(plain, overlapped_offset(overlapped), writes);
    if (writes && plain->access & PLAIN_APPEND)
        return PLACE_END;
    return lseek(plain->fd, 0, SEEK_CUR);
}

/* The thread may block in a system call: from now on the background thread does the library's work. */
static void before_blocking(const struct plain_file *plain)
{
    if (plain->type != FILE_TYPE_DISK)
        reactor_leave();
}

/* Ends a transfer that waited, though the program gave an OVERLAPPED; moves the descriptor as the transfer did. */
static DWORD ended(
    struct win_file *file, OVERLAPPED *overlapped, int64_t offset, DWORD error, DWORD done)
{
    const struct plain_file *plain = win_file_room(file);

    if (!overlapped)
        return error;
    if (!error && plain->type == FILE_TYPE_DISK) {
        if (offset == PLACE_END)
            lseek(plain->fd, 0, SEEK_END);
        else
            lseek(plain->fd, (off_t)(offset + done), SEEK_SET);
    }
    if (error)
        return error;
    return win_io_succeed(file, overlapped, done);
}

/* Whether a call does its transfer itself; that of an overlapped file on a disk has no place without an OVERLAPPED. */
static bool waits(const struct plain_file *plain, const OVERLAPPED *overlapped)
{
    return !(plain->flags & FILE_FLAG_OVERLAPPED) || (!overlapped && plain->type == FILE_TYPE_PIPE);
}

static DWORD file_read(
    struct win_file *file, void *buffer, DWORD bytes, DWORD *done, OVERLAPPED *overlapped)
{
    const struct plain_file *plain = win_file_room(file);
    int64_t offset;
    DWORD error;
    int result;

    if (!(plain->access & PLAIN_READ))
        return ERROR_ACCESS_DENIED;
    if (!waits(plain, overlapped))
        return overlapped ? queue_read(file, buffer, bytes, overlapped) : ERROR_INVALID_PARAMETER;
    offset = place(plain, overlapped, false);
    if (offset == PLACE_INVALID)
        return ERROR_INVALID_PARAMETER;
    if (offset >= 0 && (error = range_check(plain, (uint64_t)offset, bytes, false)))
        return error;
    before_blocking(plain);
    result = plain_read(plain, buffer, bytes, overlapped ? offset : PLACE_NONE, done);
    error = result ? files_error(result) : ERROR_SUCCESS;
    if (!error && !*done && bytes && plain->type == FILE_TYPE_PIPE)
        error = ERROR_BROKEN_PIPE;
    if (!error && !*done && bytes && overlapped && plain->type == FILE_TYPE_DISK)
        error = ERROR_HANDLE_EOF;
    return ended(file, overlapped, offset, error, *done);
}

static DWORD file_write(
    struct win_file *file, const void *buffer, DWORD bytes, DWORD *done, OVERLAPPED *overlapped)
{
    const struct plain_file *plain = win_file_room(file);
    int64_t offset;
    DWORD error;
    int result;

    if (!(plain->access & PLAIN_WRITES))
        return ERROR_ACCESS_DENIED;
    if (!waits(plain, overlapped))
        return overlapped ? queue_write(file, buffer, bytes, overlapped) : ERROR_INVALID_PARAMETER;
    offset = place(plain, overlapped, true);
    if (offset == PLACE_INVALID)
        return ERROR_INVALID_PARAMETER;
    if (offset >= 0 && (error = range_check(plain, (uint64_t)offset, bytes, true)))
        return error;
    before_blocking(plain);
    result = plain_write(plain, buffer, bytes, overlapped ? offset : PLACE_NONE, done);
    return ended(file, overlapped, offset, result ? files_error(result) : ERROR_SUCCESS, *done);
}

static DWORD file_flush(struct win_file *file)
{
    const struct plain_file *plain = win_file_room(file);

    if (!(plain->access & PLAIN_WRITES))
        return ERROR_ACCESS_DENIED;
    return plain->type == FILE_TYPE_DISK && fsync(plain->fd) ? files_error(errno) : ERROR_SUCCESS;
}

static int file_descriptor(struct win_file *file)
{
    const struct plain_file *plain = win_file_room(file);

    return descriptor_copy(plain->fd);
}

static DWORD file_type(struct win_file *file)
{
    return ((const struct plain_file *)win_file_room(file))->type;
}

/* This process deletes the file when it closes it, even if the other still uses it. */
static DWORD file_carry(struct win_file *file, struct win_parcel *parcel)
{
    struct plain_file *plain = win_file_room(file);

    if ((parcel->fd = file_descriptor(file)) < 0)
        return files_error(errno);
    atomic_store(&plain->shared, true);
    parcel->kind = WIN_PARCEL_FILE;
    parcel->numbers[0] = plain->type;
    parcel->numbers[1] = (plain->access & PLAIN_READ ? GENERIC_READ : 0) |
                         (plain->access & PLAIN_WRITE ? GENERIC_WRITE : 0) |
                         (plain->access & PLAIN_APPEND ? FILE_APPEND_DATA : 0) |
                         (plain->access & PLAIN_DELETE ? DELETE : 0);
    parcel->numbers[2] = plain->flags & ~(DWORD)FILE_FLAG_DELETE_ON_CLOSE;
    parcel->numbers[3] = plain->console;
    return ERROR_SUCCESS;
}

HANDLE plain_receive(const struct win_parcel *parcel)
{
    const DWORD access = parcel->numbers[1];
    struct plain_file plain = {
        .fd = parcel->fd,
        .type = parcel->numbers[0],
        .access =
            (access & GENERIC_READ ? PLAIN_READ : 0) | (access & GENERIC_WRITE ? PLAIN_WRITE : 0) |
            (access & FILE_APPEND_DATA ? PLAIN_APPEND : 0) | (access & DELETE ? PLAIN_DELETE : 0),
        .flags = parcel->numbers[2],
        .console = (enum plain_console)parcel->numbers[3],
        .shared = true,
    };
    const HANDLE handle = plain_open(&plain, true);

    if (handle == INVALID_HANDLE_VALUE)
        close(plain.fd);
    return handle;
}

static void file_closed(struct win_file *file)
{
    const struct plain_file *plain = win_file_room(file);
    struct flock all = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

    if (!plain->borrowed &&
        !atomic_load(&plain->shared)) /* now: a pool thread may use the descriptor for longer */
        fcntl(plain->fd, F_OFD_SETLK, &all);
    if (plain->flags & FILE_FLAG_DELETE_ON_CLOSE)
        unlink(plain->path);
}

static void file_destroy(struct win_file *file)
{
    struct plain_file *plain = win_file_room(file);

    range_free_all(plain);
    if (!plain->borrowed)
        close(plain->fd);
    free(plain->path);
}

static const struct win_io_ops plain_io = {
    .read = file_read,
    .write = file_write,
    .flush = file_flush,
    .peek = plain_peek,
    .type = file_type,
    .descriptor = file_descriptor,
    .closed = file_closed,
    .destroy = file_destroy,
    .carry = file_carry,
};

static const struct win_file_ops plain_ops = {
    .room = sizeof(struct plain_file),
    .io = &plain_io,
};

HANDLE plain_open(const struct plain_file *like, bool inherit)
{
    struct win_file *file = win_file_new(&plain_ops, &plain_ops);
    struct plain_file *plain;
    HANDLE handle;

    if (!file) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return INVALID_HANDLE_VALUE;
    }
    plain = win_file_room(file);
    *plain = *like;
    list_init(&plain->ranges);
    if ((handle = win_file_open(file))) {
        if (inherit)
            win_handle_set_inherit(handle, true);
        return handle;
    }
    win_file_free(file);
    return INVALID_HANDLE_VALUE;
}

struct win_file *plain_pin(HANDLE handle, struct plain_file **plain)
{
    struct win_file *file = win_file_get(handle, &plain_ops);

    if (!file) {
        SetLastError(ERROR_INVALID_HANDLE);
        return NULL;
    }
    *plain = win_file_room(file);
    return file;
}
