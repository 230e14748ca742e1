/* SPDX-License-Identifier: MIT */
/* standard.h - the standard streams of ndinfo and ndstat, which a caller may have closed, or led to a full disk. */
#ifndef TOOLS_STANDARD_H
#define TOOLS_STANDARD_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/*
 * standard_reserve - opens /dev/null in the place of each closed standard stream, in a mode in which a transfer still
 * fails (EBADF). Otherwise a socket would get the number, and the program's output. It is called before anything else
 * is opened.
 */
static inline void standard_reserve(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
            return; /* there is no /dev, so it cannot reserve any number */
}

/*
 * standard_end - writes the rest of the output, which may show only now that a disk is full. Returns the exit status,
 * which is failed if not all of the output was written; then it has printed why.
 */
static inline int standard_end(const char *program, int status, int failed)
{
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    fprintf(stderr, "%s: cannot write to standard output: %s\n", program, strerror(errno));
    return failed;
}

#endif
