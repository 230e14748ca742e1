/* SPDX-License-Identifier: MIT */
/* futexes.c - preloaded into ndperf: says at its end how often a thread slept on a futex, or woke another. */
#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static unsigned long futexes;

long syscall(long number, ...)
{
    __typeof__(&syscall) next = (__typeof__(&syscall))dlsym(RTLD_NEXT, "syscall");
    long a[6];
    va_list list;

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_futex)
        __atomic_fetch_add(&futexes, 1, __ATOMIC_RELAXED);
    return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

__attribute__((destructor)) static void say(void)
{
    fprintf(stderr, "futex calls: %lu\n", futexes);
}
