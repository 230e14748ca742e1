/* SPDX-License-Identifier: MIT */
/*
 * plain.h - I/O handles over a descriptor on which a transfer may simply block: files, directories, devices, anonymous
 * pipes, standard handles. A file opened with FILE_FLAG_OVERLAPPED has its transfers done by threads of the pool
 * (queue.c).
 */
#ifndef WIN32_FILES_PLAIN_H
#define WIN32_FILES_PLAIN_H

#include "winobj/requests/io.h"

#include "util/list.h"

/* The end of the console that a handle is. A terminal has no such ends, so who creates the handle stores it. */
enum plain_console { PLAIN_NO_CONSOLE, PLAIN_CONSOLE_INPUT, PLAIN_CONSOLE_OUTPUT };

/* win_file_room of the kind. All but ranges is constant once there is a handle. */
struct plain_file {
    int fd;
    DWORD type;   /* FILE_TYPE_* */
    DWORD access; /* PLAIN_* */
    DWORD flags;  /* FILE_FLAG_* as opened */
    enum plain_console console;
    bool borrowed;           /* the descriptor stays open at the end: 0, 1, 2 */
    atomic_bool shared;      /* another process has the open file, too: its locks are both' */
    char *path;              /* NULL: has none; of FILE_FLAG_DELETE_ON_CLOSE, absolute */
    struct list_head ranges; /* locked by this handle (range.c), under the file's lock */
};

enum {
    PLAIN_READ = 1,
    PLAIN_WRITE = 2,
    PLAIN_DELETE = 4,
    PLAIN_APPEND = 8, /* writes at the end alone; the descriptor has O_APPEND */
    PLAIN_EXECUTE = 16,
    PLAIN_WRITES = PLAIN_WRITE | PLAIN_APPEND
};

/*
 * A new handle over a descriptor, which belongs to it, and may be inherited or not; INVALID_HANDLE_VALUE with the last
 * error: the caller's still.
 */
HANDLE plain_open(const struct plain_file *like, bool inherit);

/* The file that a parcel describes, whose descriptor it takes over; INVALID_HANDLE_VALUE with the last error. */
HANDLE plain_receive(const struct win_parcel *parcel);

/* The FILE_TYPE_* of a descriptor. */
DWORD plain_type(int fd);

/* The plain file of a handle, whose file is referenced; NULL with ERROR_INVALID_HANDLE. */
struct win_file *plain_pin(HANDLE handle, struct plain_file **plain);

/* Transfers at a place of the file; PLACE_NONE: at the descriptor's position. 0, or a negative errno. */
int plain_read(
    const struct plain_file *plain, void *buffer, DWORD bytes, int64_t offset, DWORD *done);
int plain_write(
    const struct plain_file *plain, const void *buffer, DWORD bytes, int64_t offset, DWORD *done);

/* PeekNamedPipe of an anonymous pipe (peek.c). A Win32 error. */
DWORD plain_peek(struct win_file *file, struct win_peek *peek);

/*
 * Begin an overlapped transfer, or a wait for octets that another handle has locked. Return ERROR_IO_PENDING, or an
 * error: nothing has begun.
 */
DWORD queue_read(struct win_file *file, void *buffer, DWORD bytes, OVERLAPPED *overlapped);
DWORD queue_write(struct win_file *file, const void *buffer, DWORD bytes, OVERLAPPED *overlapped);
DWORD lock_wait(struct win_file *file, uint64_t bytes, bool exclusive, OVERLAPPED *overlapped);

/* The place that an OVERLAPPED names. */
static inline uint64_t overlapped_offset(const OVERLAPPED *overlapped)
{
    return (uint64_t)overlapped->OffsetHigh << 32 | overlapped->Offset;
}

/* Places of a transfer: the descriptor's own (or it is no file), the file's end, a place that no file has. */
enum { PLACE_NONE = -1, PLACE_END = -2, PLACE_INVALID = -3 };

/* The place that an OVERLAPPED's offset names; all bits set mean the end of the file to a write, as all do where it
 * may only append. */
static inline int64_t place_of(const struct plain_file *plain, uint64_t offset, bool writes)
{
    if (writes && (offset == UINT64_MAX || plain->access & PLAIN_APPEND))
        return PLACE_END;
    return offset > INT64_MAX ? PLACE_INVALID : (int64_t)offset;
}

/* The Win32 error and the NTSTATUS of an errno (positive or negative). */
DWORD files_error(int error);
LONG files_status(int error);

/* files_error of what a path names; ENOENT of a folder on the way is another error than that of its last part. */
DWORD files_path_error(const char *path, int error);

/* A path of the program as one of Linux, which the caller frees; NULL with the last error. */
char *files_path(LPCSTR name);

/*
 * The sharing of a file between handles, also of other processes: locks of the open file description beyond any octet
 * a file can have. share_take returns ERROR_SUCCESS or ERROR_SHARING_VIOLATION; share_deletable whether no handle
 * refuses to share the deletion.
 */
DWORD share_take(int fd, DWORD access, DWORD share);
bool share_deletable(int fd);

/*
 * Whether a transfer may touch the octets: no other handle has locked them. range_lock with wait blocks while another
 * handle has them; both return ERROR_SUCCESS or ERROR_LOCK_VIOLATION, range_lock also other errors.
 */
DWORD range_check(const struct plain_file *plain, uint64_t offset, uint64_t bytes, bool writes);
DWORD range_lock(struct win_file *file, uint64_t offset, uint64_t bytes, bool exclusive, bool wait);
DWORD range_unlock(struct win_file *file, uint64_t offset, uint64_t bytes);
void range_free_all(struct plain_file *plain);

#endif
