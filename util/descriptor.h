/* SPDX-License-Identifier: MIT */
/*
 * descriptor.h - descriptors above the standard ones, 0 to 2: where a program has closed one of those, the next open
 * has its number, and what the program or its child writes there would go to a socket of the library's.
 */
#ifndef UTIL_DESCRIPTOR_H
#define UTIL_DESCRIPTOR_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Duplicates a descriptor above the standard ones; exec closes the duplicate. Returns -1 with errno. */
static inline int descriptor_copy(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/*
 * Returns fd, or a duplicate where fd is a standard descriptor, which it closes. Returns -1, and leaves none open, when
 * fd is -1 (errno stays) or cannot be duplicated (with errno).
 */
static inline int descriptor_raise(int fd)
{
    int copy, error;

    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    copy = descriptor_copy(fd);
    error = errno;
    close(fd);
    errno = error;
    return copy;
}

#endif
