/* SPDX-License-Identifier: MIT */
/* serve_attributes.c - what a file is, as SMB2 has it. Source: [MS-FSCC] 2.4, 2.6. */
#include "serve.h"
#include "smb2_octets.h"

#include <errno.h>
#include <time.h>

enum { TICKS = 10000000, SECTOR = 512 }; /* of a second; of st_blocks */
static const int64_t since_1601 = 11644473600;

uint64_t serve_time(struct timespec time)
{
    if (time.tv_sec < -since_1601)
        return 0;
    return (uint64_t)(time.tv_sec + since_1601) * TICKS + (uint64_t)time.tv_nsec / 100;
}

uint64_t serve_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return serve_time(now);
}

uint32_t serve_attributes(const struct stat *stat)
{
    uint32_t attributes = S_ISDIR(stat->st_mode) ? SERVE_DIRECTORY : SERVE_ARCHIVE;

    return attributes | (stat->st_mode & 0222 ? 0 : SERVE_READ_ONLY);
}

/* No file system here need keep the time of creation: the older of the two others stands for it. */
void serve_put_times(uint8_t *to, const struct stat *stat)
{
    uint64_t write = serve_time(stat->st_mtim), change = serve_time(stat->st_ctim);

    put64(to, write < change ? write : change);
    put64(to + 8, serve_time(stat->st_atim));
    put64(to + 16, write);
    put64(to + 24, change);
}

void serve_put_sizes(uint8_t *to, const struct stat *stat)
{
    bool file = S_ISREG(stat->st_mode);

    put64(to, file ? (uint64_t)stat->st_blocks * SECTOR : 0);
    put64(to + 8, file ? (uint64_t)stat->st_size : 0);
}

/* Zero and -1 and -2 are no times ([MS-FSCC] 2.4.7). */
static struct timespec time_of(uint64_t ticks)
{
    struct timespec time = { .tv_nsec = UTIME_OMIT };

    if (ticks && (int64_t)ticks > 0) {
        time.tv_sec = (time_t)((int64_t)(ticks / TICKS) - since_1601);
        time.tv_nsec = (long)(ticks % TICKS) * 100;
    }
    return time;
}

uint32_t serve_set_times(int fd, uint64_t access, uint64_t write)
{
    const struct timespec times[] = { time_of(access), time_of(write) };

    return futimens(fd, times) ? serve_status(errno) : 0;
}
