/* SPDX-License-Identifier: MIT */
#include "tools/stat/snapshot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { COMPLAINTS = 20 }; /* most complaints about other users' files in the program's life */

static bool is_wanted(const struct stat_snapshot *snapshot, ULONG process)
{
    for (size_t i = 0; i < snapshot->n_wanted; i++)
        if (snapshot->wanted[i] == process)
            return true;
    return !snapshot->n_wanted;
}

static struct stat_row *one_more(struct stat_snapshot *snapshot)
{
    if (snapshot->count == snapshot->room) {
        size_t room = snapshot->room ? 2 * snapshot->room : 16;
        struct stat_row *rows = realloc(snapshot->rows, room * sizeof(*rows));

        if (!rows) {
            snapshot->no_memory = true;
            return NULL;
        }
        snapshot->rows = rows;
        snapshot->room = room;
    }
    return &snapshot->rows[snapshot->count++];
}

const char *stat_owner_text(ULONG user, char text[STAT_OWNER])
{
    *text = 0;
    if (user != geteuid())
        snprintf(text, STAT_OWNER, "user %u's ", (unsigned)user);
    return text;
}

/* Complains about a file that is not valid. Any user may have root's ndstat see such files again and again. */
static void complain(const ND_LINUX_PROCESS *process)
{
    static unsigned complaints;
    char owner[STAT_OWNER];

    stat_owner_text(process->UserId, owner);
    if (*owner && complaints++ >= COMPLAINTS)
        return;
    if (process->Form)
        fprintf(stderr,
            "ndstat: %s%s is of form %u, which this version of ndspi does not read: the process "
            "has loaded another one\n",
            owner, process->Name, (unsigned)process->Form);
    else
        fprintf(stderr, "ndstat: %s%s is damaged\n", owner, process->Name);
}

static VOID take_row(VOID *context, const ND_LINUX_PROCESS *process)
{
    struct stat_snapshot *snapshot = context;
    struct stat_row row = { .process = process->ProcessId, .user = process->UserId };
    struct stat_row *at;

    if (process->Damaged) {
        snapshot->damaged++;
        complain(process);
        return;
    }
    if (!is_wanted(snapshot, process->ProcessId))
        return;
    snprintf(row.source, sizeof(row.source), "%s", process->Name);
    snprintf(row.program, sizeof(row.program), "%s", process->Program);
    snprintf(row.device, sizeof(row.device), "%s", process->Device);
    row.serial = process->Serial;
    row.port = process->Port;
    row.version = process->Version;
    row.adapter_id = process->AdapterId;
    row.fresh = process->Fresh;
    row.counters = *process->Counters;
    if ((at = one_more(snapshot)))
        *at = row;
}

HRESULT stat_take(struct stat_snapshot *snapshot, ULONG wait_ms)
{
    struct timespec now;
    HRESULT status;

    snapshot->rows = NULL;
    snapshot->count = snapshot->room = snapshot->damaged = 0;
    snapshot->no_memory = false;
    status = NdLinuxDescribeCounters(wait_ms, take_row, snapshot);
    clock_gettime(CLOCK_MONOTONIC, &now);
    snapshot->taken_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    return snapshot->no_memory ? ND_NO_MEMORY : status;
}

void stat_free(struct stat_snapshot *snapshot)
{
    free(snapshot->rows);
    snapshot->rows = NULL;
    snapshot->count = snapshot->room = 0;
}

const struct stat_row *stat_before(const struct stat_snapshot *earlier, const struct stat_row *row)
{
    for (size_t i = 0; i < earlier->count; i++)
        if (earlier->rows[i].serial == row->serial && earlier->rows[i].user == row->user &&
            strcmp(earlier->rows[i].source, row->source) == 0)
            return &earlier->rows[i];
    return NULL;
}
