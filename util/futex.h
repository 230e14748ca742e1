/* SPDX-License-Identifier: MIT */
/* futex.h - the two futex calls used here, process-private. */
#ifndef UTIL_FUTEX_H
#define UTIL_FUTEX_H

#include <linux/futex.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/*
 * Sleeps while *word == expected; timeout relative, NULL = none. Returns 0 or -1 with errno (EAGAIN, EINTR, ETIMEDOUT).
 */
static inline int futex_wait(
    _Atomic uint32_t *word, uint32_t expected, const struct timespec *timeout)
{
    return (int)syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected, timeout, NULL, 0);
}

static inline int futex_wake(_Atomic uint32_t *word, int count)
{
    return (int)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

#endif
