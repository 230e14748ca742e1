/* SPDX-License-Identifier: MIT */
/*
 * linux_calls.h - functions that glibc has and another C library may lack (musl 1.2.3 lacks them all), under their
 * names. util/CMakeLists.txt looks for each.
 */
#ifndef UTIL_LINUX_CALLS_H
#define UTIL_LINUX_CALLS_H

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef NDSPI_NO_PWRITEV2
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 0x00000008
#endif
#ifndef RWF_APPEND
#define RWF_APPEND 0x00000010
#endif

static inline ssize_t pwritev2(
    int fd, const struct iovec *pieces, int count, off_t offset, int flags)
{
    /* The kernel's upper half of the offset is for 32 bits. */
    return syscall(SYS_pwritev2, fd, pieces, count, offset, 0l, flags);
}
#endif

#ifdef NDSPI_NO_EPOLL_PWAIT2
static inline int epoll_pwait2(int set, struct epoll_event *events, int count,
    const struct timespec *timeout, const sigset_t *mask)
{
    enum { KERNEL_SIGSET_OCTETS = 8 };

    return (int)syscall(
        SYS_epoll_pwait2, set, events, count, timeout, mask, (size_t)KERNEL_SIGSET_OCTETS);
}
#endif

#ifdef NDSPI_NO_PIDFD
#include <signal.h>

static inline int pidfd_open(pid_t pid, unsigned flags)
{
    return (int)syscall(SYS_pidfd_open, pid, flags);
}

static inline int pidfd_send_signal(int pidfd, int number, siginfo_t *info, unsigned flags)
{
    return (int)syscall(SYS_pidfd_send_signal, pidfd, number, info, flags);
}
#else
#include <sys/pidfd.h>
#endif

#endif
