/* SPDX-License-Identifier: MIT */
#include "copy.h"

#include <string.h>
#include <unistd.h>

enum { SHOW_EVERY_MS = 100 };

static double seconds_since(const struct timespec *then)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

/* Bytes in a second, as "1.2 GB/s". */
static const char *rate_text(uint64_t bytes, double seconds, char *text, size_t size)
{
    static const char *const units[] = { "B/s", "kB/s", "MB/s", "GB/s" };
    double rate = seconds > 0 ? (double)bytes / seconds : 0;
    size_t unit = 0;

    for (; rate >= 1000 && unit < 3; unit++)
        rate /= 1000;
    snprintf(text, size, "%.*f %s", rate < 10 && unit ? 2 : 0, rate, units[unit]);
    return text;
}

void copy_progress_begin(
    struct copy_progress *progress, const char *name, uint64_t size, bool quiet)
{
    memset(progress, 0, sizeof(*progress));
    progress->name = name;
    progress->size = size;
    progress->quiet = quiet;
    clock_gettime(CLOCK_MONOTONIC, &progress->began);
    progress->showed = progress->began;
}

void copy_progress_add(struct copy_progress *progress, uint64_t bytes)
{
    char rate[32];

    progress->done += bytes;
    if (progress->quiet || !isatty(STDERR_FILENO) ||
        seconds_since(&progress->showed) * 1000 < SHOW_EVERY_MS)
        return;
    clock_gettime(CLOCK_MONOTONIC, &progress->showed);
    progress->shown = true;
    fprintf(stderr, "\r\033[K%s: %3.0f %% of %.1f MB, %s", progress->name,
        100.0 * (double)progress->done / (double)progress->size, (double)progress->size / 1e6,
        rate_text(progress->done, seconds_since(&progress->began), rate, sizeof(rate)));
}

void copy_progress_fail(struct copy_progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}

void copy_progress_end(
    struct copy_progress *progress, const char *way, const uint8_t checksum[COPY_CHECKSUM])
{
    double seconds = seconds_since(&progress->began);
    char rate[32], sum[2 * COPY_CHECKSUM + 1];

    copy_progress_fail(progress);
    if (progress->quiet)
        return;
    printf("%s: %s %llu bytes in %.3f s, %s, xxh128 %s\n", progress->name, way,
        (unsigned long long)progress->done, seconds,
        rate_text(progress->done, seconds, rate, sizeof(rate)), copy_sum_text(checksum, sum));
    fflush(stdout);
}
