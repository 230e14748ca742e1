/* SPDX-License-Identifier: MIT */
/* mapping_name.c - names of shared memory (mapping_name.h). */
#include "win32/memory/mapping_name.h"

#include "win32/names/names.h"

#include "util/file_size.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PREFIX "section."

static bool fail(DWORD error)
{
    SetLastError(error);
    return false;
}

static DWORD error_of(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
    case ELOOP:
    case EISDIR:
    case ENXIO:
    case EAGAIN: return ERROR_ACCESS_DENIED;
    case EMFILE:
    case ENFILE: return ERROR_TOO_MANY_OPEN_FILES;
    case ENOENT: return ERROR_FILE_NOT_FOUND;
    case EFBIG:
    case ENOSPC: return ERROR_COMMITMENT_LIMIT;
    default: return ERROR_NOT_ENOUGH_MEMORY;
    }
}

/* The name of the file: it has whether the name is Global or Local; slashes are escaped. */
static bool file_name(const char *name, char file[NAME_MAX])
{
    bool global = !strncmp(name, "Global\\", 7);
    int length = snprintf(file, NAME_MAX, PREFIX "%c.", global ? 'g' : 'l');

    name += global ? 7 : strncmp(name, "Local\\", 6) ? 0 : 6;
    if (!*name)
        return fail(ERROR_INVALID_NAME);
    for (; *name; name++) {
        if (*name == '\\')
            return fail(ERROR_PATH_NOT_FOUND);
        if (length + 4 > NAME_MAX)
            return fail(ERROR_FILENAME_EXCED_RANGE);
        length += *name == '/' || *name == '%' ? snprintf(file + length, 4, "%%%02x", *name)
                                               : snprintf(file + length, 2, "%c", *name);
    }
    return true;
}

static int lock(int fd, int operation)
{
    int result;

    while ((result = flock(fd, operation)) && errno == EINTR)
        ;
    return result;
}

/* Opens and locks the lock file, which is empty and never removed; close unlocks. -1 with the last error. */
static int sections_lock(int folder)
{
    int fd = names_file(folder, "sections", O_RDWR | O_CREAT);

    if (fd >= 0 && !lock(fd, LOCK_EX))
        return fd;
    SetLastError(error_of(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

/*
 * Gives a new file its size and all its pages: a program would die by SIGBUS when it touched one that a full file
 * system has not. By parts: a signal undoes the part under way. Negative errno.
 */
static int reserve(int fd, uint64_t size)
{
    const uint64_t part_most = UINT64_C(16) << 20;
    struct statvfs room;

    if (size > INT64_MAX ||
        (!fstatvfs(fd, &room) && room.f_blocks && size / room.f_frsize > room.f_bavail))
        return -ENOSPC; /* fail at once, without taking the last free pages */
    for (uint64_t at = 0, part; at < size; at += part) {
        int error;

        part = size - at < part_most ? size - at : part_most;
        if ((error = file_reserve(fd, (off_t)at, (off_t)part)))
            return -error;
    }
    return 0;
}

/*
 * Opens the file of a name for which some process has a handle; removes the file if all such processes have died. -1
 * with errno; ENOENT: there is none.
 */
static int open_used(int folder, const char *file)
{
    int fd = names_file(folder, file, O_RDWR);

    if (fd < 0 && errno == EACCES) /* read-only memory */
        fd = names_file(folder, file, O_RDONLY);
    if (fd < 0 || lock(fd, LOCK_EX | LOCK_NB))
        return fd;
    unlinkat(folder, file, 0);
    close(fd);
    errno = ENOENT;
    return -1;
}

/* Removes the memory of all the user's processes that have died. Most of its names are asked for only once. */
static void remove_unused(int folder)
{
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *files = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;
    int fd;

    if (!files) { /* they stay */
        if (copy >= 0)
            close(copy);
        return;
    }
    while ((entry = readdir(files)))
        if (!strncmp(entry->d_name, PREFIX, strlen(PREFIX)) &&
            (fd = open_used(folder, entry->d_name)) >= 0)
            close(fd);
    closedir(files);
}

/* A new file. -1 with errno. */
static int create(int folder, const char *file, uint64_t size, bool writable)
{
    int fd = names_file(folder, file, O_RDWR | O_CREAT | O_EXCL), error;

    if (fd < 0)
        return -1;
    error = reserve(fd, size);
    if (!error && !writable && fchmod(fd, 0400))
        error = -errno;
    if (!error)
        return fd;
    unlinkat(folder, file, 0);
    close(fd);
    errno = -error;
    return -1;
}

/*
 * Calls create, and frees the room that dead processes had: before a process's first file, and whenever there is no
 * room.
 */
static int create_anyhow(int folder, const char *file, uint64_t size, bool writable)
{
    static atomic_bool looked;
    bool first = !atomic_exchange(&looked, true);
    int fd;

    if (first)
        remove_unused(folder);
    fd = create(folder, file, size, writable);
    if (fd >= 0 || errno != ENOSPC || first)
        return fd;
    remove_unused(folder);
    return create(folder, file, size, writable);
}

/* Both: the folder, whose descriptor is to be closed, and the lock. -1 with the last error, and nothing is open. */
static int folder_lock(int *folder)
{
    int sections;

    *folder = names_folder();
    if (*folder < 0) {
        SetLastError(error_of(errno));
        return -1;
    }
    sections = sections_lock(*folder);
    if (sections < 0)
        close(*folder);
    return sections;
}

int win_name_open(const char *name, uint64_t size, bool writable, bool *existed)
{
    char file[NAME_MAX];
    int folder, sections, fd;

    if (!file_name(name, file) || (sections = folder_lock(&folder)) < 0)
        return -1;
    fd = open_used(folder, file);
    *existed = fd >= 0;
    if (fd < 0 && errno == ENOENT && size)
        fd = create_anyhow(folder, file, size, writable);
    if (fd < 0 || lock(fd, LOCK_SH)) {
        SetLastError(error_of(errno));
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    close(sections);
    close(folder);
    return fd;
}

void win_name_close(const char *name, int fd)
{
    DWORD error = GetLastError();
    char file[NAME_MAX];
    struct stat status;
    int folder, sections = folder_lock(
                    &folder); /* if that fails the name stays, like one of a dead process */

    /* A file without links was removed: the name may belong to other memory now. */
    if (sections >= 0 && file_name(name, file) && !lock(fd, LOCK_EX | LOCK_NB) &&
        !fstat(fd, &status) && status.st_nlink)
        unlinkat(folder, file, 0);
    close(fd);
    if (sections >= 0) {
        close(sections);
        close(folder);
    }
    SetLastError(error);
}
