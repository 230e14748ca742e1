/* SPDX-License-Identifier: MIT */
/* mapping_name.c - names of shared memory (mapping_name.h). */
#include "winobj/memory/mapping_name.h"

#include "util/file_size.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static bool fail(DWORD error)
{
    SetLastError(error);
    return false;
}

static DWORD error_of(int error)
{
    switch (error) {
    case EACCES:
    case EPERM: return ERROR_ACCESS_DENIED;
    case EMFILE:
    case ENFILE: return ERROR_TOO_MANY_OPEN_FILES;
    case ENOENT: return ERROR_FILE_NOT_FOUND;
    case EFBIG:
    case ENOSPC: return ERROR_COMMITMENT_LIMIT;
    default: return ERROR_NOT_ENOUGH_MEMORY;
    }
}

/* The name of the file: it has the user, and whether the name is Global or Local; slashes are escaped. */
static bool file_name(const char *name, char file[NAME_MAX])
{
    bool global = !strncmp(name, "Global\\", 7);
    int length = snprintf(file, NAME_MAX, "/ndspi.%u.%c.", (unsigned)geteuid(), global ? 'g' : 'l');

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

/*
 * The file, unless it is another user's, who made it first: /dev/shm is everyone's, and his processes could write what
 * this one reads, take the memory away, or hold the lock for ever. -1 with errno.
 */
static int own(int fd)
{
    struct stat status;

    if (fd < 0 || (!fstat(fd, &status) && status.st_uid == geteuid()))
        return fd;
    close(fd);
    errno = EACCES;
    return -1;
}

/* Opens and locks the user's lock file, which is empty and never removed; close unlocks. -1 with the last error. */
static int names_lock(void)
{
    char file[NAME_MAX];
    int fd;

    snprintf(file, sizeof(file), "/ndspi.%u", (unsigned)geteuid());
    fd = own(shm_open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0600));
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
static int open_used(const char *file)
{
    int fd = shm_open(file, O_RDWR | O_CLOEXEC, 0);

    if (fd < 0 && errno == EACCES) /* read-only memory */
        fd = shm_open(file, O_RDONLY | O_CLOEXEC, 0);
    fd = own(fd);
    if (fd < 0 || lock(fd, LOCK_EX | LOCK_NB))
        return fd;
    shm_unlink(file);
    close(fd);
    errno = ENOENT;
    return -1;
}

/* Removes the memory of all the user's processes that have died. Most of its names are asked for only once. */
static void remove_unused(void)
{
    DIR *folder = opendir("/dev/shm"); /* shm_open's */
    char prefix[32], file[NAME_MAX + 2];
    const struct dirent *entry;
    int fd;

    if (!folder)
        return; /* they stay */
    snprintf(prefix, sizeof(prefix), "ndspi.%u.", (unsigned)geteuid());
    while ((entry = readdir(folder))) {
        if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
            continue;
        snprintf(file, sizeof(file), "/%s", entry->d_name);
        if ((fd = open_used(file)) >= 0)
            close(fd);
    }
    closedir(folder);
}

/* A new file. -1 with errno. */
static int create(const char *file, uint64_t size, bool writable)
{
    int fd = shm_open(file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), error;

    if (fd < 0)
        return -1;
    error = reserve(fd, size);
    if (!error && !writable && fchmod(fd, 0400))
        error = -errno;
    if (!error)
        return fd;
    shm_unlink(file);
    close(fd);
    errno = -error;
    return -1;
}

/* The same, with the room that dead processes had. A process looks for that once, and whenever there is no room. */
static int create_anyhow(const char *file, uint64_t size, bool writable)
{
    static atomic_bool looked;
    bool first = !atomic_exchange(&looked, true);
    int fd;

    if (first)
        remove_unused();
    fd = create(file, size, writable);
    if (fd >= 0 || errno != ENOSPC || first)
        return fd;
    remove_unused();
    return create(file, size, writable);
}

int win_name_open(const char *name, uint64_t size, bool writable, bool *existed)
{
    char file[NAME_MAX];
    int names, fd;

    if (!file_name(name, file) || (names = names_lock()) < 0)
        return -1;
    fd = open_used(file);
    *existed = fd >= 0;
    if (fd < 0 && errno == ENOENT && size)
        fd = create_anyhow(file, size, writable);
    if (fd < 0 || lock(fd, LOCK_SH)) {
        SetLastError(error_of(errno));
        if (fd >= 0)
            close(fd);
        fd = -1;
    }
    close(names);
    return fd;
}

void win_name_close(const char *name, int fd)
{
    DWORD error = GetLastError();
    char file[NAME_MAX];
    struct stat status;
    int names = names_lock(); /* if that fails the name stays, like one of a dead process */

    /* A file without links was removed: the name may belong to other memory now. */
    if (names >= 0 && file_name(name, file) && !lock(fd, LOCK_EX | LOCK_NB) &&
        !fstat(fd, &status) && status.st_nlink)
        shm_unlink(file);
    close(fd);
    if (names >= 0)
        close(names);
    SetLastError(error);
}
