/* SPDX-License-Identifier: MIT */
/*
 * file_size.h - gives files their size. Where a limit is smaller (ulimit -f), the kernel sends SIGXFSZ besides failing,
 * which would end the program; here it only fails, with EFBIG.
 */
#ifndef UTIL_FILE_SIZE_H
#define UTIL_FILE_SIZE_H

#include "util/held_signal.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

/* Calls posix_fallocate, again when a signal handler has interrupted it. Returns 0 or an errno. */
static inline int file_reserve(int fd, off_t from, off_t octets)
{
    struct held_signal sigxfsz;
    int error;

    held_signal_begin(&sigxfsz, SIGXFSZ);
    while ((error = posix_fallocate(fd, from, octets)) == EINTR)
        ;
    held_signal_end(&sigxfsz, error == EFBIG);
    return error;
}

/* Calls ftruncate. Returns 0 or an errno. */
static inline int file_resize(int fd, off_t octets)
{
    struct held_signal sigxfsz;
    int error;

    held_signal_begin(&sigxfsz, SIGXFSZ);
    error = ftruncate(fd, octets) ? errno : 0;
    held_signal_end(&sigxfsz, error == EFBIG);
    return error;
}

/* Whether writes could raise SIGXFSZ: one system call, where holding the signal makes three. */
static inline bool file_size_is_limited(void)
{
    struct rlimit most;

    return getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur != RLIM_INFINITY;
}

#endif
