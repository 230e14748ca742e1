/* SPDX-License-Identifier: MIT */
#include "tests/support/watch_clock.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

static int seconds = -1; /* as many as it counts may pass */

static void begin(void)
{
    seconds = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE);
    if (seconds < 0)
        abort();
}

__attribute__((constructor)) static void watch_clock_begin(void)
{
    begin();
}

void watch_clock_forked(void)
{
    close(seconds);
    begin();
}

void watch_second(void)
{
    const uint64_t one = 1;

    if (write(seconds, &one, sizeof(one)) != sizeof(one))
        abort();
}

bool watch_is_up_to_date(void)
{
    struct pollfd some = { .fd = seconds, .events = POLLIN };

    return poll(&some, 1, 0) == 0;
}

__attribute__((visibility("default"))) int nanosleep(
    const struct timespec *pause, struct timespec *left)
{
    struct pollfd some = { .fd = seconds, .events = POLLIN };
    uint64_t one;
    int error;

    if (pause->tv_sec == 1 && !pause->tv_nsec) {
        if (poll(&some, 1, 1000) == 1 && read(seconds, &one, sizeof(one)) != sizeof(one))
            abort();
        return 0;
    }
    error = clock_nanosleep(CLOCK_MONOTONIC, 0, pause, left);
    errno = error ? error : errno;
    return error ? -1 : 0;
}
