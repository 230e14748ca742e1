/* SPDX-License-Identifier: MIT */
#include "ndspi/core/places.h"

#include "ndspi/core/board.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { USERS = 4096, ENTRIES = 1 << 16 }; /* limits, since any user may fill these folders */

static const char shared_memory[] = "/dev/shm", runtime[] = "/run/user";

/* Opens an entry of the folder: no link, and nothing of another file system. */
static int open_within(int folder, const char *name, int flags)
{
    const struct open_how how = { .flags = (uint64_t)(flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK),
        .resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_XDEV };
    long fd = syscall(SYS_openat2, folder, name, &how, sizeof(how));

    return fd < 0 ? -errno : (int)fd;
}

int nd_place_open(const struct nd_place *place, const char *name, const char *end, int flags)
{
    char entry[NAME_MAX + 8];
    struct stat status;
    int fd;

    if (snprintf(entry, sizeof(entry), "%s%s", name, end) >= (int)sizeof(entry))
        return -ENAMETOOLONG;
    if (place->foreign)
        fd = open_within(place->fd, entry, flags);
    else if ((fd = openat(place->fd, entry, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK)) < 0)
        fd = -errno;
    if (fd >= 0 && (fstat(fd, &status) || status.st_uid != place->owner)) {
        close(fd);
        fd = -EACCES;
    }
    return fd;
}

/* ---- other users' ---- */

/* Takes the descriptor over, if it is that user's folder, which no other may enter. */
static int add_foreign(struct nd_places *places, int fd, uid_t owner)
{
    struct nd_place *list;
    struct stat status;

    if (fd < 0)
        return 0;
    if (fstat(fd, &status) || status.st_uid != owner || status.st_mode & 077 ||
        places->count == USERS) {
        close(fd);
        return 0;
    }
    list = realloc(places->list, (places->count + 1) * sizeof(*list));
    if (!list) {
        close(fd);
        return -ENOMEM;
    }
    list[places->count++] = (struct nd_place){ .fd = fd, .owner = owner, .foreign = true };
    places->list = list;
    return 0;
}

/* Finds the number of another user after `begin`. Returns false if it is no such name. */
static bool is_users(const char *name, const char *begin, uid_t *user)
{
    size_t octets = strlen(begin);
    unsigned long number;
    char *end;

    if (strncmp(name, begin, octets) != 0 || name[octets] < '0' || name[octets] > '9')
        return false;
    errno = 0;
    number = strtoul(name + octets, &end, 10);
    *user = (uid_t)number;
    return !errno && !*end && number == *user && *user != geteuid();
}

/*
 * Returns whether the descriptor (O_PATH) is in a tmpfs, as the kernel has it: asking the file system itself could mean
 * to ask one that the user has put there.
 */
static bool is_tmpfs(int fd)
{
    char path[64], line[4096];
    bool is = false;
    int id = -1, at;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
    if (!(file = fopen(path, "re")))
        return false;
    while (id < 0 && fgets(line, sizeof(line), file))
        if (sscanf(line, "mnt_id: %d", &at) == 1)
            id = at;
    fclose(file);
    if (id < 0 || !(file = fopen("/proc/self/mountinfo", "re")))
        return false;
    while (!is && fgets(line, sizeof(line), file))
        is = sscanf(line, "%d", &at) == 1 && at == id && strstr(line, " - tmpfs ");
    fclose(file);
    return is;
}

/* The folder ndspi in /run/user/USER, which is a file system of its own. Returns a descriptor, or a negative number. */
static int open_runtime(int folder, const char *name)
{
    int user = openat(folder, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), fd = -EACCES;

    if (user < 0)
        return -errno;
    if (is_tmpfs(user))
        fd = open_within(user, "ndspi", O_RDONLY | O_DIRECTORY);
    close(user);
    return fd;
}

static int add_all(struct nd_places *places, const char *folder)
{
    bool is_runtime = folder == runtime;
    const struct dirent *entry;
    DIR *entries = opendir(folder);
    int error = 0;
    uid_t user;

    if (!entries)
        return 0;
    for (unsigned i = 0; !error && i < ENTRIES && (entry = readdir(entries)); i++)
        if (is_users(entry->d_name, is_runtime ? "" : "ndspi-", &user))
            error = add_foreign(places,
                is_runtime ? open_runtime(dirfd(entries), entry->d_name)
                           : open_within(dirfd(entries), entry->d_name, O_RDONLY | O_DIRECTORY),
                user);
    closedir(entries);
    return error;
}

/* ---- all ---- */

static int add_own(struct nd_places *places)
{
    char path[ND_BOARD_PATH];
    int error = nd_board_directory(path, false), fd;

    if (error)
        return error == -ENOENT ? 0 : error;
    nd_board_clean(path);
    if ((fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)) < 0)
        return -errno;
    if (!(places->list = malloc(sizeof(*places->list)))) {
        close(fd);
        return -ENOMEM;
    }
    places->list[places->count++] = (struct nd_place){ .fd = fd, .owner = geteuid() };
    return 0;
}

int nd_places_open(struct nd_places *places)
{
    int error;

    *places = (struct nd_places){ .count = 0 };
    error = add_own(places);
    if (!error && geteuid() == 0)
        error = add_all(places, runtime);
    if (!error && geteuid() == 0)
        error = add_all(places, shared_memory);
    return error;
}

void nd_places_close(struct nd_places *places)
{
    for (size_t i = 0; i < places->count; i++)
        close(places->list[i].fd);
    free(places->list);
    *places = (struct nd_places){ .count = 0 };
}
