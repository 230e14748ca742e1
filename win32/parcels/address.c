/* SPDX-License-Identifier: MIT */
/* address.c - the sockets of processes that take handles (address.h). */
#include "win32/parcels/address.h"

#include "win32/names/names.h"

#include "util/descriptor.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BACKLOG = 64 };

#ifdef __GLIBC__
#define LIBRARY ""
#else
#define LIBRARY ".musl"
#endif

/* What the names of this namespace's sockets begin with. False with errno. */
static bool prefix_of(char prefix[48])
{
    struct stat status;

    if (stat("/proc/self/ns/pid", &status))
        return false;
    snprintf(prefix, 48, "handles.%lu" LIBRARY ".", (unsigned long)status.st_ino);
    return true;
}

bool parcel_address(unsigned process, struct sockaddr_un *address)
{
    char directory[NAMES_PATH], prefix[48];

    if (!names_directory(directory) || !prefix_of(prefix))
        return false;
    *address = (struct sockaddr_un){ .sun_family = AF_UNIX };
    return snprintf(address->sun_path, sizeof(address->sun_path), "%s/%s%u", directory, prefix,
               process) > 0;
}

/* The user's directory, locked: so no new process that reuses a number makes its socket meanwhile. */
static int lock_directory(void)
{
    char path[NAMES_PATH];
    int fd;

    if (!names_directory(path))
        return -1;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return -1;
    while (flock(fd, LOCK_EX))
        if (errno != EINTR) {
            close(fd);
            return -1;
        }
    return fd;
}

/* Removes the sockets of processes that have ended. */
static void remove_stale(int directory)
{
    char prefix[48];
    const int copy = descriptor_copy(directory);
    DIR *entries = copy < 0 ? NULL : fdopendir(copy);
    const struct dirent *entry;

    if (!entries) {
        if (copy >= 0)
            close(copy);
        return;
    }
    while (prefix_of(prefix) && (entry = readdir(entries))) {
        const size_t length = strlen(prefix);
        char *end;
        long process;

        if (strncmp(entry->d_name, prefix, length) != 0)
            continue;
        process = strtol(entry->d_name + length, &end, 10);
        if (process > 0 && !*end && kill((pid_t)process, 0) && errno == ESRCH)
            unlinkat(directory, entry->d_name, 0);
    }
    closedir(entries);
}

/* The caller holds the directory's lock. */
static int listen_locked(void)
{
    struct sockaddr_un address;
    int fd;

    if (!parcel_address((unsigned)getpid(), &address))
        return -1;
    unlink(address.sun_path); /* an earlier process of this number may have left it */
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (!bind(fd, (struct sockaddr *)&address, sizeof(address)) && !chmod(address.sun_path, 0600) &&
        !(listen)(fd, BACKLOG)) /* whatever the umask */
        return fd;
    close(fd);
    return -1;
}

int parcel_listen(void)
{
    const int directory = lock_directory();
    int fd, error;

    if (directory < 0)
        return -1;
    remove_stale(directory);
    fd = listen_locked();
    error = errno;
    close(directory);
    errno = error;
    return fd;
}

void parcel_listen_end(void)
{
    struct sockaddr_un address;

    if (parcel_address((unsigned)getpid(), &address))
        unlink(address.sun_path);
}
