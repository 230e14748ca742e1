/* SPDX-License-Identifier: MIT */
#include "tests/support/haste.h"

#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define OURS           __attribute__((visibility("default")))
#define NEXT(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

static atomic_uint changes; /* odd: the others change */
static atomic_uint rate = 1;
static _Atomic int64_t since_ns, gained_ns;

static int64_t ns_of(const struct timespec *time)
{
    return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static struct timespec time_of(int64_t ns)
{
    return (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
}

static int64_t real_ns(void)
{
    struct timespec now;

    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    return ns_of(&now);
}

uint64_t haste_real_ms(void)
{
    return (uint64_t)(real_ns() / 1000000);
}

/* ---- the rate ---- */

static int64_t gained_until(int64_t now_ns)
{
    return atomic_load(&gained_ns) +
           (now_ns - atomic_load(&since_ns)) * ((int64_t)atomic_load(&rate) - 1);
}

static void change(unsigned to)
{
    const int64_t now_ns = real_ns();

    atomic_fetch_add(&changes, 1);
    atomic_store(&gained_ns, gained_until(now_ns));
    atomic_store(&since_ns, now_ns);
    atomic_store(&rate, to);
    atomic_fetch_add(&changes, 1);
}

void haste_begin(unsigned to)
{
    change(to);
}

void haste_end(void)
{
    change(1);
}

void haste_skip_ms(unsigned ms)
{
    change(atomic_load(&rate));
    atomic_fetch_add(&gained_ns, (int64_t)ms * 1000000);
}

/* ---- what the C library has, too ---- */

OURS int clock_gettime(clockid_t id, struct timespec *now)
{
    const int result = (int)syscall(SYS_clock_gettime, id, now);
    int64_t gained;
    unsigned before;

    if (result)
        return result;
    do {
        before = atomic_load(&changes);
        gained = gained_until(real_ns());
    } while (before & 1 || atomic_load(&changes) != before);
    *now = time_of(ns_of(now) + gained);
    return 0;
}

enum { SLICE_NS = 10000000 }; /* so long a sleeper does not hear that the rate changes */

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return ns_of(&now);
}

/* Whether a sleep has not ended yet, and how long to sleep next. */
static bool goes_on(int64_t end_ns, struct timespec *slice)
{
    const unsigned by = atomic_load(&rate);
    const int64_t left_ns = (end_ns - now_ns()) / (by ? by : 1);

    *slice = time_of(left_ns < SLICE_NS ? left_ns + 1 : SLICE_NS);
    return left_ns >= 0;
}

OURS int ppoll(
    struct pollfd *all, nfds_t count, const struct timespec *limit, const sigset_t *signals)
{
    const int64_t end_ns = limit ? now_ns() + ns_of(limit) : 0;
    struct timespec slice;
    int ready = 0;

    if (!limit || !ns_of(limit))
        return NEXT(ppoll)(all, count, limit, signals);
    while (!ready && goes_on(end_ns, &slice))
        ready = NEXT(ppoll)(all, count, &slice, signals);
    return ready;
}

#ifndef NDSPI_NO_EPOLL_PWAIT2 /* util/linux_calls.h calls the kernel itself: such sleeps take their time */
OURS int epoll_pwait2(int set, struct epoll_event *events, int room, const struct timespec *limit,
    const sigset_t *signals)
{
    const int64_t end_ns = limit ? now_ns() + ns_of(limit) : 0;
    struct timespec slice;
    int ready = 0;

    if (!limit || !ns_of(limit))
        return NEXT(epoll_pwait2)(set, events, room, limit, signals);
    while (!ready && goes_on(end_ns, &slice))
        ready = NEXT(epoll_pwait2)(set, events, room, &slice, signals);
    return ready;
}
#endif

OURS int epoll_wait(int set, struct epoll_event *events, int room, int ms)
{
    const int64_t end_ns = now_ns() + (int64_t)ms * 1000000;
    struct timespec slice;
    int ready = 0;

    if (ms <= 0)
        return NEXT(epoll_wait)(set, events, room, ms);
    while (!ready && goes_on(end_ns, &slice))
        ready = NEXT(epoll_wait)(set, events, room, (int)(slice.tv_nsec / 1000000) + 1);
    return ready;
}
