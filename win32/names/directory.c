/* SPDX-License-Identifier: MIT */
/* directory.c - where the processes of a user find what they share by name. */
#include "win32/names/names.h"

#include "util/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Where the folder can be: the first place that another user has not taken. */
enum { MEMORY, SESSION };

static bool is_own_folder(const struct stat *status)
{
    return S_ISDIR(status->st_mode) && status->st_uid == geteuid() && !(status->st_mode & 077);
}

static void say_taken(const char *path, const struct stat *status)
{
    if (status->st_uid != geteuid())
        log_limited(LOG_ERROR, LOG_WIN,
            "%s belongs to user %u: this user's objects with names, named pipes and inherited "
            "handles fail until root or that user removes it",
            path, (unsigned)status->st_uid);
    else
        log_limited(LOG_ERROR, LOG_WIN,
            "%s is no folder that this user alone may enter: objects with names, named pipes and "
            "inherited handles fail until it is removed, or closed to others (chmod 700)",
            path);
}

/* Makes the folder at need. 0 or an errno; EACCES: another user has taken the name, which status tells. */
static int make(const char *path, struct stat *status)
{
    bool made = !mkdir(path, 0700);

    if (!made && errno != EEXIST)
        return errno;
    if (lstat(path, status))
        return errno;
    if (!is_own_folder(status))
        return EACCES;
    /* umask, whatever it was when the folder was made */
    return (status->st_mode & 0700) == 0700 || !chmod(path, 0700) ? 0 : errno;
}

/* Where sessions have files, no other user can make any; there is no such place without a session. */
static bool has_session(void)
{
    struct stat status;
    char path[NAMES_PATH];

    snprintf(path, sizeof(path), "/run/user/%u", (unsigned)geteuid());
    return !lstat(path, &status) && is_own_folder(&status);
}

static void path_at(int place, char path[NAMES_PATH])
{
    snprintf(path, NAMES_PATH, place == SESSION ? "/run/user/%u/ndspi" : "/dev/shm/ndspi-%u",
        (unsigned)geteuid());
}

bool names_directory(char path[NAMES_PATH])
{
    /* A process keeps to its place: its objects are there. The user is in it, since a process can become another's. */
    static _Atomic uint64_t chosen;
    const uint64_t session = (uint64_t)geteuid() << 1 | 1;
    struct stat status, other;
    int error;

    if (atomic_load(&chosen) != session) {
        path_at(MEMORY, path);
        error = make(path, &status);
        if (!error || error != EACCES || !has_session()) {
            if (error == EACCES)
                say_taken(path, &status);
            errno = error;
            return !error;
        }
    }
    path_at(SESSION, path);
    error = make(path, &other);
    if (error == EACCES)
        say_taken(path, &other);
    if (!error)
        atomic_store(&chosen, session);
    errno = error;
    return !error;
}

int names_folder(void)
{
    char path[NAMES_PATH];

    return names_directory(path) ? open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
}

/* A file that this user made with a mask, and could not open himself, may be opened from now on. */
static bool unlocked(int folder, const char *name)
{
    struct stat status;

    return !fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) && S_ISREG(status.st_mode) &&
           status.st_uid == geteuid() && (status.st_mode & 0600) != 0600 &&
           !fchmodat(folder, name, 0600, 0);
}

int names_file(int folder, const char *name, int flags)
{
    const int more = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
    struct stat status;
    int fd = openat(folder, name, flags | more, 0600);

    if (fd < 0 && errno == EACCES && flags & O_CREAT && unlocked(folder, name))
        fd = openat(folder, name, flags | more, 0600);
    if (fd < 0)
        return -1;
    if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_uid == geteuid() &&
        (!(flags & O_CREAT) || (status.st_mode & 0600) == 0600 || !fchmod(fd, 0600)))
        return fd;
    close(fd);
    errno = EACCES;
    return -1;
}
