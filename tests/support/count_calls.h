/* SPDX-License-Identifier: MIT */
/*
 * count_calls.h - counts the calling thread's system calls, by standing in front of the C library's functions. For one
 * source of a program that is not built with a sanitizer, which stands there itself.
 */
#ifndef TESTS_SUPPORT_COUNT_CALLS_H
#define TESTS_SUPPORT_COUNT_CALLS_H

#include <dlfcn.h>
#include <stdarg.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

static _Thread_local struct {
    unsigned epolls, reads, writes, receives, sends;
    unsigned others; /* futexes, changes of the epoll set */
} calls;

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#pragma GCC visibility push(default) /* the library's calls are to come here too */

int epoll_wait(int epfd, struct epoll_event *events, int room, int timeout)
{
    calls.epolls++;
    return NEXT(epoll_wait)(epfd, events, room, timeout);
}

int epoll_ctl(int epfd, int op, int fd, struct epoll_event *event)
{
    calls.others++;
    return NEXT(epoll_ctl)(epfd, op, fd, event);
}

ssize_t read(int fd, void *buffer, size_t size)
{
    calls.reads++;
    return NEXT(read)(fd, buffer, size);
}

ssize_t write(int fd, const void *buffer, size_t size)
{
    calls.writes++;
    return NEXT(write)(fd, buffer, size);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    calls.receives++;
    return NEXT(recvmsg)(fd, message, flags);
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    calls.sends++;
    return NEXT(sendmsg)(fd, message, flags);
}

/* Futex calls. */
long syscall(long number, ...)
{
    long a[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    calls.others++;
    return NEXT(syscall)(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#pragma GCC visibility pop

#endif
