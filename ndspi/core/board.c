/* SPDX-License-Identifier: MIT */
#include "ndspi/core/board.h"

#include "ndspi/core/places.h"

#include "util/held_signal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Checks that it is a directory of this user's that no other may enter. */
static int check(const char *path, bool alone)
{
    struct stat status;

    if (lstat(path, &status))
        return -errno;
    if (!S_ISDIR(status.st_mode))
        return -ENOTDIR;
    return status.st_uid != geteuid() || (alone && status.st_mode & 077) ? -EACCES : 0;
}

/* The owner may enter, whatever the umask was when the folder was made. */
static int open_up(const char *path)
{
    struct stat status;

    if (lstat(path, &status))
        return -errno;
    return (status.st_mode & 0700) == 0700 || !chmod(path, 0700) ? 0 : -errno;
}

int nd_board_directory(char path[ND_BOARD_PATH], bool make)
{
    const char *base = getenv("XDG_RUNTIME_DIR");
    int octets, error;

    if (base && base[0] == '/' && !check(base, true))
        octets = snprintf(path, ND_BOARD_PATH, "%s/ndspi", base);
    else
        octets = snprintf(path, ND_BOARD_PATH, "/dev/shm/ndspi-%u", (unsigned)geteuid());
    if (octets >= ND_BOARD_PATH - 64) /* leaves room for the names of entries */
        return -ENAMETOOLONG;
    if (make && mkdir(path, 0700) && errno != EEXIST)
        return -errno;
    error = check(path, true);
    return error || !make ? error : open_up(path);
}

int nd_board_ask(const struct nd_place *place, const char *name)
{
    struct held_signal sigpipe; /* the owner may end between the open and the write */
    struct stat status;
    int fd = nd_place_open(place, name, ND_BOARD_ASK, O_WRONLY), error = 0;

    if (fd < 0)
        return fd;
    held_signal_begin(&sigpipe, SIGPIPE);
    if (fstat(fd, &status) || !S_ISFIFO(status.st_mode))
        error = -EINVAL;
    else if (write(fd, "?", 1) != 1 &&
             errno != EAGAIN) /* full: the owner was asked already, and has not answered yet */
        error = -errno;
    held_signal_end(&sigpipe, error == -EPIPE);
    close(fd);
    return error;
}

bool nd_board_name(const char *entry, const char *end, char name[NAME_MAX + 1])
{
    size_t begin = strlen(ND_BOARD_BEGIN), octets = strlen(entry), tail = strlen(end);

    if (strncmp(entry, ND_BOARD_BEGIN, begin) != 0 || octets <= begin + tail || octets > NAME_MAX ||
        strcmp(entry + octets - tail, end) != 0 ||
        strspn(entry + begin, "0123456789.") < octets - tail - begin)
        return false;
    memcpy(name, entry, octets - tail);
    name[octets - tail] = 0;
    return true;
}

static void remove_entry(const char *directory, const char *name, const char *end)
{
    char path[ND_BOARD_PATH];

    if (snprintf(path, sizeof(path), "%s/%s%s", directory, name, end) < (int)sizeof(path))
        unlink(path);
}

/* Returns true if there is no FIFO, or no process has it open for reading. */
static bool is_unread(const char *directory, const char *name, const char *end)
{
    char path[ND_BOARD_PATH];
    int fd;

    if (snprintf(path, sizeof(path), "%s/%s%s", directory, name, end) >= (int)sizeof(path))
        return false;
    fd = open(path, O_WRONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return errno == ENXIO || errno == ENOENT;
    close(fd);
    return false;
}

/*
 * Returns whether the entry is of a process that was killed before its FIFO had a name. A live process opens its FIFO
 * at once.
 */
static bool is_forsaken(const char *directory, const char *entry)
{
    size_t begin = strlen(ND_BOARD_FRESH);
    long process;

    if (strncmp(entry, ND_BOARD_FRESH, begin) != 0)
        return false;
    process = strtol(entry + begin, NULL, 10);
    return process > 0 && process <= INT_MAX && kill((pid_t)process, 0) && errno == ESRCH &&
           is_unread(directory, entry, "");
}

static bool is_of_board(const char *entry, char name[NAME_MAX + 1])
{
    return nd_board_name(entry, ND_BOARD_ASK, name) || nd_board_name(entry, ND_BOARD_TEXT, name) ||
           nd_board_name(entry, ND_BOARD_NEW, name);
}

void nd_board_clean(const char *directory)
{
    DIR *entries = opendir(directory);
    const struct dirent *entry;
    char name[NAME_MAX + 1];

    if (!entries)
        return;
    while ((entry = readdir(entries))) {
        if (is_of_board(entry->d_name, name) && is_unread(directory, name, ND_BOARD_ASK)) {
            remove_entry(directory, name, ND_BOARD_NEW);
            remove_entry(directory, name, ND_BOARD_TEXT);
            remove_entry(directory, name, ND_BOARD_ASK);
        } else if (is_forsaken(directory, entry->d_name)) {
            remove_entry(directory, entry->d_name, "");
        }
    }
    closedir(entries);
}
