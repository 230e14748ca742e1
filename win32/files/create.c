/* SPDX-License-Identifier: MIT */
/* create.c - CreateFile for files, directories and devices. */
#include "win32/files/plain.h"

#include "win32/pipes/names.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

/* The attributes among the flags that Linux does not keep; they have no effect. */
#define ATTRIBUTES_IGNORED                                                                         \
    (FILE_ATTRIBUTE_NORMAL | FILE_ATTRIBUTE_TEMPORARY | FILE_ATTRIBUTE_HIDDEN |                    \
        FILE_ATTRIBUTE_SYSTEM | FILE_ATTRIBUTE_ARCHIVE)
#define FLAGS_KNOWN                                                                                \
    (ATTRIBUTES_IGNORED | FILE_ATTRIBUTE_READONLY | FILE_FLAG_WRITE_THROUGH |                      \
        FILE_FLAG_OVERLAPPED | FILE_FLAG_RANDOM_ACCESS | FILE_FLAG_SEQUENTIAL_SCAN |               \
        FILE_FLAG_DELETE_ON_CLOSE | FILE_FLAG_BACKUP_SEMANTICS)
#define ACCESS_KNOWN                                                                               \
    (GENERIC_READ | GENERIC_WRITE | GENERIC_EXECUTE | GENERIC_ALL | FILE_ALL_ACCESS)

struct opening {
    char *path;
    DWORD access; /* PLAIN_* */
    DWORD share, disposition, flags;
    enum plain_console console;
    bool existed;
};

char *files_path(LPCSTR name)
{
    char *path;

    if (!name || !*name) {
        SetLastError(ERROR_PATH_NOT_FOUND);
        return NULL;
    }
    if (!strncmp(name, "\\\\?\\", 4) || !strncmp(name, "\\\\.\\", 4))
        name += 4;
    if (!strcasecmp(name, "NUL"))
        name = "/dev/null";
    else if (!strcasecmp(name, "CONIN$") || !strcasecmp(name, "CONOUT$"))
        name = "/dev/tty";
    if (!(path = strdup(name))) {
        SetLastError(ERROR_NOT_ENOUGH_MEMORY);
        return NULL;
    }
    for (char *c = path; (c = strchr(c, '\\'));)
        *c = '/';
    return path;
}

static DWORD plain_access(DWORD access, DWORD flags)
{
    DWORD result = 0;

    if (access & (GENERIC_READ | GENERIC_ALL | FILE_READ_DATA))
        result |= PLAIN_READ;
    if (access & (GENERIC_WRITE | GENERIC_ALL | FILE_WRITE_DATA))
        result |= PLAIN_WRITE;
    else if (access & FILE_APPEND_DATA)
        result |= PLAIN_APPEND;
    if (access & (GENERIC_EXECUTE | GENERIC_ALL | FILE_EXECUTE))
        result |= PLAIN_EXECUTE;
    if ((access & (DELETE | GENERIC_ALL)) || (flags & FILE_FLAG_DELETE_ON_CLOSE))
        result |= PLAIN_DELETE;
    return result;
}

/*
 * A file that is only read is opened for writing, too, since an exclusive lock needs that; but not a program, which no
 * process could start meanwhile, nor a pipe, which would get a second writer.
 */
static bool read_alone(const struct opening *opening)
{
    struct stat status;

    return !(opening->access & PLAIN_WRITES) && opening->disposition != CREATE_ALWAYS &&
           opening->disposition != TRUNCATE_EXISTING && !stat(opening->path, &status) &&
           (S_ISFIFO(status.st_mode) || (S_ISREG(status.st_mode) && (status.st_mode & 0111)));
}

/* Opens the path with openat, and more flags. */
static int open_path(const struct opening *opening, int more)
{
    const mode_t mode = opening->flags & FILE_ATTRIBUTE_READONLY ? 0444 : 0666;
    const bool writes = opening->access & PLAIN_WRITES;
    int fd;

    more |= O_CLOEXEC | O_NOCTTY | (opening->flags & FILE_FLAG_WRITE_THROUGH ? O_DSYNC : 0) |
            (opening->access & PLAIN_APPEND ? O_APPEND : 0);
    if (read_alone(opening))
        return open(opening->path, more | O_RDONLY, mode);
    fd = open(opening->path, more | O_RDWR, mode);
    if (fd >= 0 || (errno != EACCES && errno != EISDIR && errno != EROFS && errno != EPERM &&
                       errno != ETXTBSY))
        return fd;
    return open(opening->path, more | (writes ? O_WRONLY : O_RDONLY), mode);
}

/* Opens or makes it. Returns a descriptor, or -1 with errno. */
static int open_disposed(struct opening *opening)
{
    int fd;

    opening->existed = false;
    switch (opening->disposition) {
    case CREATE_NEW: return open_path(opening, O_CREAT | O_EXCL);
    case CREATE_ALWAYS:
    case OPEN_ALWAYS:
        fd = open_path(opening, O_CREAT | O_EXCL);
        if (fd >= 0 || errno != EEXIST)
            return fd;
        break;
    default: break;
    }
    opening->existed = true;
    fd = open_path(opening, 0);
    if (fd >= 0 || errno != ENOENT || opening->disposition == OPEN_EXISTING ||
        opening->disposition == TRUNCATE_EXISTING)
        return fd;
    /* Another process has deleted it meanwhile, or it is a dangling link, which O_EXCL refuses. */
    opening->existed = false;
    return open_path(opening, O_CREAT);
}

DWORD files_path_error(const char *path, int error)
{
    char *folder = strdup(path), *slash;
    DWORD result = files_error(error);

    for (size_t end = folder ? strlen(folder) : 0; end > 1 && folder[end - 1] == '/';)
        folder[--end] = 0;
    slash = folder ? strrchr(folder, '/') : NULL;
    if (error == ENOENT && slash && slash != folder) {
        *slash = 0;
        if (access(folder, F_OK))
            result = ERROR_PATH_NOT_FOUND;
    }
    free(folder);
    return result;
}

/* Checks the open file against the arguments; empties it if the disposition says so. A Win32 error. */
static DWORD settle_open(const struct opening *opening, int fd, struct plain_file *plain)
{
    const bool empties = opening->existed && (opening->disposition == CREATE_ALWAYS ||
                                                 opening->disposition == TRUNCATE_EXISTING);
    struct stat status;
    DWORD error;

    if (fstat(fd, &status))
        return files_error(errno);
    if (S_ISDIR(status.st_mode) && !(opening->flags & FILE_FLAG_BACKUP_SEMANTICS))
        return ERROR_ACCESS_DENIED;
    plain->type = plain_type(fd);
    if (!S_ISREG(status.st_mode))
        return ERROR_SUCCESS;
    if (opening->existed && !(status.st_mode & 0222) &&
        (empties || (opening->access & (PLAIN_WRITES | PLAIN_DELETE))))
        return ERROR_ACCESS_DENIED;
    /* A handle that does not share writing refuses the emptying, too, as a write. */
    if ((error = share_take(fd, opening->access | (empties ? PLAIN_WRITE : 0), opening->share)))
        return error;
    if (empties && ftruncate(fd, 0))
        return files_error(errno);
    if (opening->flags & (FILE_FLAG_RANDOM_ACCESS | FILE_FLAG_SEQUENTIAL_SCAN))
        posix_fadvise(fd, 0, 0,
            opening->flags & FILE_FLAG_RANDOM_ACCESS ? POSIX_FADV_RANDOM : POSIX_FADV_SEQUENTIAL);
    return ERROR_SUCCESS;
}

/* The path stays right when the program changes its folder. */
static char *absolute(const char *path)
{
    return realpath(path, NULL);
}

static HANDLE open_file(struct opening *opening, bool inherit)
{
    int fd = open_disposed(opening);
    struct plain_file plain = {
        .fd = fd, .access = opening->access, .flags = opening->flags, .console = opening->console
    };
    HANDLE handle;
    DWORD error;

    if (fd < 0) {
        SetLastError(files_path_error(opening->path, errno));
        return INVALID_HANDLE_VALUE;
    }
    error = settle_open(opening, fd, &plain);
    if (!error && (opening->flags & FILE_FLAG_DELETE_ON_CLOSE) &&
        !(plain.path = absolute(opening->path)))
        error = files_error(errno);
    if (!error && (handle = plain_open(&plain, inherit)) != INVALID_HANDLE_VALUE) {
        SetLastError(opening->existed && (opening->disposition == CREATE_ALWAYS ||
                                             opening->disposition == OPEN_ALWAYS)
                         ? ERROR_ALREADY_EXISTS
                         : ERROR_SUCCESS);
        return handle;
    }
    close(fd);
    free(plain.path);
    if (error)
        SetLastError(error);
    return INVALID_HANDLE_VALUE;
}

/* The end of the console that CONIN$ or CONOUT$ names. */
static enum plain_console console_of(LPCSTR name)
{
    if (name && (!strncmp(name, "\\\\?\\", 4) || !strncmp(name, "\\\\.\\", 4)))
        name += 4;
    if (name && !strcasecmp(name, "CONIN$"))
        return PLAIN_CONSOLE_INPUT;
    return name && !strcasecmp(name, "CONOUT$") ? PLAIN_CONSOLE_OUTPUT : PLAIN_NO_CONSOLE;
}

static HANDLE open_pipe(
    const char *name, DWORD access, DWORD disposition, DWORD flags, bool inherit)
{
    DWORD error = ERROR_INVALID_PARAMETER;
    HANDLE handle = INVALID_HANDLE_VALUE;

    if (disposition == OPEN_EXISTING || disposition == OPEN_ALWAYS)
        error = pipe_client(name, access, flags, inherit, &handle);
    if (error)
        SetLastError(error);
    return handle;
}

/*
 * CreateFileA, CreateFileW - opens a file, a directory or a device, or makes a file.
 * name         a path of Linux; backslashes are slashes; \\?\ in front has no effect. NUL, CONIN$, CONOUT$;
 *              \\.\pipe\NAME: a named pipe's client (OPEN_EXISTING or OPEN_ALWAYS; share does not count)
 * access       GENERIC_*, DELETE, FILE_*: what the handle may do; FILE_APPEND_DATA without FILE_WRITE_DATA: each write
 *              goes to the end of the file, wherever it says, and writes of several handles do not meet. FILE_EXECUTE
 *              counts as reading to share; the other rights have no effect. 0: attributes alone
 * share        FILE_SHARE_*: what other handles may do, of all processes that use this library; it does not bind other
 *              programs
 * attributes   in: bInheritHandle: whether CreateProcess may hand it on; may be NULL. A descriptor is not looked at
 * disposition  CREATE_NEW to TRUNCATE_EXISTING
 * flags        FILE_FLAG_* of the header. FILE_ATTRIBUTE_READONLY of a new file; other attributes have no effect
 * model        NULL
 * Returns      a handle for CloseHandle; the last error is ERROR_ALREADY_EXISTS when CREATE_ALWAYS or OPEN_ALWAYS found
 *              the file, else 0. INVALID_HANDLE_VALUE with ERROR_FILE_NOT_FOUND, ERROR_PATH_NOT_FOUND,
 *              ERROR_FILE_EXISTS, ERROR_ACCESS_DENIED (also: a directory without FILE_FLAG_BACKUP_SEMANTICS; a
 *              read-only file to be written), ERROR_SHARING_VIOLATION, ERROR_INVALID_PARAMETER (an unknown value;
 *              TRUNCATE_EXISTING without GENERIC_WRITE), ERROR_PIPE_BUSY (all instances
 *              have clients: WaitNamedPipe), ERROR_NOT_SUPPORTED (model),
 *              ERROR_TOO_MANY_OPEN_FILES, ERROR_NOT_ENOUGH_MEMORY, ERROR_DISK_FULL.
 */
HANDLE WINAPI CreateFileA(LPCSTR name, DWORD access, DWORD share, LPSECURITY_ATTRIBUTES attributes,
    DWORD disposition, DWORD flags, HANDLE model)
{
    struct opening opening = {
        .access = plain_access(access, flags),
        .share = share,
        .disposition = disposition,
        .flags = flags,
    };
    const bool inherit = attributes && attributes->bInheritHandle;
    const char *pipe = name ? pipe_name_of(name) : NULL;
    HANDLE handle;

    if (model) {
        SetLastError(ERROR_NOT_SUPPORTED);
        return INVALID_HANDLE_VALUE;
    }
    if ((access & ~ACCESS_KNOWN) || (flags & ~FLAGS_KNOWN) || (share & ~7u) ||
        disposition < CREATE_NEW || disposition > TRUNCATE_EXISTING ||
        (disposition == TRUNCATE_EXISTING && !(opening.access & PLAIN_WRITE))) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return INVALID_HANDLE_VALUE;
    }
    opening.console = console_of(name);
    if (pipe)
        return open_pipe(pipe, access, disposition, flags, inherit);
    if (!(opening.path = files_path(name)))
        return INVALID_HANDLE_VALUE;
    handle = open_file(&opening, inherit);
    free(opening.path);
    return handle;
}
