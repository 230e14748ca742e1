/* SPDX-License-Identifier: MIT */
#include "util/outlet.h"

#include "util/held_signal.h"
#include "util/linux_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/*
 * Opens the same pipe or terminal anew, non-blocking, writes, and closes it at once: while a writing end of a pipe is
 * open, its reader sees no end of file. Where it cannot be opened (no /proc, no free descriptor, no permission), the
 * function polls before it writes; another writer may then take the space in between.
 */
static ssize_t write_reopened(int fd, const char *line, size_t octets)
{
    char path[sizeof("/proc/self/fd/") + 12];
    struct pollfd room = { .fd = fd, .events = POLLOUT };
    ssize_t written = -1;
    int own;

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own >= 0) {
        written = write(own, line, octets);
        close(own);
    } else if (poll(&room, 1, 0) == 1 && room.revents & POLLOUT) {
        written = write(fd, line, octets);
    }
    return written;
}

static ssize_t write_now(int fd, const char *line, size_t octets)
{
    struct iovec piece = { (char *)line, octets };
    struct stat what;
    ssize_t written;

    if (fstat(fd, &what))
        return -1;
    if (S_ISREG(what.st_mode) || S_ISBLK(what.st_mode)) /* such a write waits for no reader */
        return write(fd, line, octets);
    if (S_ISSOCK(what.st_mode))
        return send(fd, line, octets, MSG_DONTWAIT);
    written = pwritev2(fd, &piece, 1, -1, RWF_NOWAIT);
    if (written < 0 && (errno == EOPNOTSUPP || errno == ENOSYS))
        written = write_reopened(fd, line, octets);
    return written;
}

bool outlet_write(int fd, const char *line, size_t octets)
{
    struct held_signal sigpipe, sigxfsz; /* a file at RLIMIT_FSIZE raises SIGXFSZ */
    bool written;

    held_signal_begin(&sigpipe, SIGPIPE);
    held_signal_begin(&sigxfsz, SIGXFSZ);
    written = write_now(fd, line, octets) > 0;
    held_signal_end(&sigxfsz, !written && errno == EFBIG);
    held_signal_end(&sigpipe, !written && errno == EPIPE);
    return written;
}
