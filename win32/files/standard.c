/* SPDX-License-Identifier: MIT */
/* standard.c - anonymous pipes, the standard handles. */
#include "win32/files/plain.h"
#include "win32/fork.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIPE_SIZE_MAX = 1 << 20 }; /* what Linux gives every user */

/* The three handles; NULL until they are asked for. Under standard_lock. */
static HANDLE standard[3];
static struct lock standard_lock = LOCK_INIT(LOCK_WIN_FILE, "standard handles");
WIN_HELD_OVER_FORK(standard_lock);

DWORD plain_type(int fd)
{
    struct stat status;

    if (fstat(fd, &status))
        return FILE_TYPE_UNKNOWN;
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode) || S_ISBLK(status.st_mode))
        return FILE_TYPE_DISK;
    return S_ISCHR(status.st_mode) ? FILE_TYPE_CHAR : FILE_TYPE_PIPE;
}

static HANDLE pipe_end(int fd, DWORD access, bool inherit)
{
    struct plain_file plain = { .fd = fd, .type = FILE_TYPE_PIPE, .access = access };

    return plain_open(&plain, inherit);
}

/*
 * CreatePipe - a pipe without a name; transfers on it wait. ReadFile fails with ERROR_BROKEN_PIPE when the last handle
 * for writing is closed, here and in other processes; WriteFile with ERROR_NO_DATA when the last one for reading is.
 * attributes  in: bInheritHandle: whether CreateProcess may hand both on; may be NULL
 * size        how many octets it is to hold, at least; 0, or more than 1 MiB: as many as Linux likes
 * Returns     FALSE with ERROR_INVALID_PARAMETER, ERROR_TOO_MANY_OPEN_FILES, ERROR_NOT_ENOUGH_MEMORY.
 */
BOOL WINAPI CreatePipe(
    PHANDLE read_end, PHANDLE write_end, LPSECURITY_ATTRIBUTES attributes, DWORD size)
{
    const bool inherit = attributes && attributes->bInheritHandle;
    HANDLE reads, writes;
    int ends[2];

    if (!read_end || !write_end) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    if (pipe2(ends, O_CLOEXEC)) {
        SetLastError(files_error(errno));
        return FALSE;
    }
    if (size && size <= PIPE_SIZE_MAX)
        fcntl(
            ends[0], F_SETPIPE_SZ, (int)size); /* a wish: the user's pipes together have a limit */
    if ((reads = pipe_end(ends[0], PLAIN_READ, inherit)) == INVALID_HANDLE_VALUE) {
        close(ends[0]);
        close(ends[1]);
        return FALSE;
    }
    if ((writes = pipe_end(ends[1], PLAIN_WRITE, inherit)) == INVALID_HANDLE_VALUE) {
        CloseHandle(reads);
        close(ends[1]);
        return FALSE;
    }
    *read_end = reads;
    *write_end = writes;
    return TRUE;
}

/* The place of STD_INPUT_HANDLE and so on; false with ERROR_INVALID_HANDLE. */
static bool standard_index(DWORD which, unsigned *index)
{
    *index = STD_INPUT_HANDLE - which;
    if (*index < 3)
        return true;
    SetLastError(ERROR_INVALID_HANDLE);
    return false;
}

/* A handle over one of the first three descriptors, which it does not close; NULL: that is not open. */
static HANDLE standard_open(int fd)
{
    int flags = fcntl(fd, F_GETFL);
    struct plain_file plain = { .fd = fd, .borrowed = true };
    HANDLE handle;

    if (flags < 0)
        return NULL;
    plain.type = plain_type(fd);
    if (isatty(fd))
        plain.console = fd ? PLAIN_CONSOLE_OUTPUT : PLAIN_CONSOLE_INPUT;
    plain.access = (flags & O_ACCMODE) == O_RDONLY   ? PLAIN_READ
                   : (flags & O_ACCMODE) == O_WRONLY ? PLAIN_WRITE
                                                     : PLAIN_READ | PLAIN_WRITE;
    handle = plain_open(&plain, true);
    return handle == INVALID_HANDLE_VALUE ? NULL : handle;
}

/*
 * GetStdHandle - the handle of standard input, output or error: the one that SetStdHandle has set, or one over
 * descriptor 0, 1 or 2, which CloseHandle leaves open.
 * which    STD_INPUT_HANDLE, STD_OUTPUT_HANDLE, STD_ERROR_HANDLE
 * Returns  NULL: the process has none. INVALID_HANDLE_VALUE with ERROR_INVALID_HANDLE: another number.
 */
HANDLE WINAPI GetStdHandle(DWORD which)
{
    HANDLE handle, before;
    unsigned index;

    if (!standard_index(which, &index))
        return INVALID_HANDLE_VALUE;
    lock_acquire(&standard_lock);
    handle = standard[index];
    lock_release(&standard_lock);
    if (handle)
        return handle;
    if (!(handle = standard_open((int)index)))
        return NULL;
    lock_acquire(&standard_lock);
    before = standard[index];
    if (!before)
        standard[index] = handle;
    lock_release(&standard_lock);
    if (!before)
        return handle;
    CloseHandle(handle); /* another thread has made one */
    return before;
}

/*
 * SetStdHandle - what GetStdHandle returns from now on; the descriptors, and so the streams of C, stay as they are.
 * Returns FALSE with ERROR_INVALID_HANDLE (another number).
 */
BOOL WINAPI SetStdHandle(DWORD which, HANDLE handle)
{
    unsigned index;

    if (!standard_index(which, &index))
        return FALSE;
    lock_acquire(&standard_lock);
    standard[index] = handle;
    lock_release(&standard_lock);
    return TRUE;
}
