/* SPDX-License-Identifier: MIT */
/* standard.h - the standard streams of ndinfo and ndstat, which a caller may have closed, or led to a full disk. */
#ifndef TOOLS_STANDARD_H
#define TOOLS_STANDARD_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/*
 * standard_reserve - before anything else is opened: the numbers of standard streams that are closed go to /dev/null,
 * opened so that a transfer fails as before (EBADF). Else a socket would get the number, and what is printed.
 */
static inline void standard_reserve(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) < 0)
            return; /* without /dev no number is taken, and none is safe */
}

/*
 * standard_end - writes what is left; a full disk shows only now. Returns the exit status, which is failed if not all
 * of the output was written; says why.
 */
static inline int standard_end(const char *program, int status, int failed)
{
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    fprintf(stderr, "%s: cannot write to standard output: %s\n", program, strerror(errno));
    return failed;
}

#endif
