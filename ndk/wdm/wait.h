/* SPDX-License-Identifier: MIT */
/*
 * wait.h - times as drivers give them: in 100 ns, negative from now on, else since 1601-01-01 UTC; and what waits know
 * of their objects.
 */
#ifndef NDK_WDM_WAIT_H
#define NDK_WDM_WAIT_H

#include <ndkwdm.h>

#include <stdint.h>
#include <time.h>

/* KEVENT.Reserved[0]: what begins with it. KeInitializeEvent makes an event. */
enum { NDK_KEVENT, NDK_KTIMER, NDK_THREAD };

/* 1601 to 1970. */
#define NDK_EPOCH_100NS 116444736000000000LL

/* The time now, in units of 100 ns since 1601. */
static inline LONGLONG ndk_system_time(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return NDK_EPOCH_100NS + (LONGLONG)now.tv_sec * 10000000 + now.tv_nsec / 100;
}

/* Nanoseconds from now on; 0: it has passed. */
static inline uint64_t ndk_left_ns(const LARGE_INTEGER *time)
{
    LONGLONG left = time->QuadPart > 0 ? time->QuadPart - ndk_system_time() : -time->QuadPart;

    if (left <= 0)
        return 0;
    return left > INT64_MAX / 100 ? (uint64_t)INT64_MAX : (uint64_t)left * 100;
}

#endif
