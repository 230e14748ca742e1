/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - the counters of all processes of the user at one moment, for root those of all users, for ndstat's forms
 * of output.
 */
#ifndef TOOLS_STAT_SNAPSHOT_H
#define TOOLS_STAT_SNAPSHOT_H

#include <winsock2.h>

#include <ndspi_linux.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { STAT_NAME = 64 };

/* One adapter of one process. */
struct stat_row {
    ULONG user;
    char source[STAT_NAME]; /* identifies the user's process, and is never reused, unlike its id */
    ULONG process, serial;  /* serial numbers the adapters of a process, and is never reused */
    char program[STAT_NAME], device[STAT_NAME];
    ULONG port, version;
    UINT64 adapter_id;
    bool fresh;
    ND_LINUX_COUNTERS counters;
};

struct stat_snapshot {
    struct stat_row *rows;
    size_t count, room, damaged;
    bool no_memory;
    uint64_t taken_ns;
    const ULONG *wanted; /* processes; n_wanted 0: all */
    size_t n_wanted;
};

/*
 * stat_take - asks every process.
 * snapshot  inout: wanted and n_wanted in, the rest out; to be freed by stat_free, also after a failure
 * wait_ms   in: how long to wait for processes that do not answer; then their last figures are reported
 * Returns as NdLinuxDescribeCounters does.
 */
HRESULT stat_take(struct stat_snapshot *snapshot, ULONG wait_ms);
void stat_free(struct stat_snapshot *snapshot);

/* Names the user of a process, "user 1000's ", if it is not this program's; otherwise "". Returns text. */
enum { STAT_OWNER = 32 };
const char *stat_owner_text(ULONG user, char text[STAT_OWNER]);

/* Finds the adapter of a row in an earlier snapshot. NULL: it was not there. */
const struct stat_row *stat_before(const struct stat_snapshot *earlier, const struct stat_row *row);

static inline UINT64 stat_value(const struct stat_row *row, const ND_LINUX_COUNTER *counter)
{
    return *(const UINT64 *)(const void *)((const char *)&row->counters + counter->Offset);
}

#endif
