/* SPDX-License-Identifier: MIT */
/*
 * affinity.c - the processors on which threads may run. Linux has affinities of threads only: this file keeps that of
 * the process, and SetProcessAffinityMask sets it for every thread of the process; new threads inherit it.
 */
#include "win32/fork.h"
#include "win32/system/processor.h"
#include "win32/threads/thread.h"

#include "util/lock.h"
#include "util/processors.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static struct lock process_lock = LOCK_INIT(LOCK_WIN_HANDLES, "process affinity");
WIN_HELD_OVER_FORK(process_lock);
static cpu_set_t process_set; /* process_lock */

__attribute__((constructor(200))) static void affinity_load(void)
{
    if (sched_getaffinity(0, sizeof(process_set), &process_set))
        processors_online(&process_set);
}

static cpu_set_t process_allowed(void)
{
    cpu_set_t online, allowed;

    processors_online(&online);
    lock_acquire(&process_lock);
    CPU_AND(&allowed, &process_set, &online);
    lock_release(&process_lock);
    return allowed;
}

static const KAFFINITY ALL = ~(KAFFINITY)0;

struct change {
    cpu_set_t allowed;
    const GROUP_AFFINITY *to; /* NULL: only reads before */
    bool keep_group;          /* the mask of to is for the thread's present group */
    GROUP_AFFINITY before;
};

static bool change_apply(int id, void *argument)
{
    struct change *change = argument;
    unsigned group = 0;
    KAFFINITY allowed, mask;
    cpu_set_t set;

    if (sched_getaffinity(id, sizeof(set), &set)) {
        SetLastError(ERROR_NOT_SUPPORTED); /* more processors than a cpu_set_t has */
        return false;
    }
    while (group < CPU_SETSIZE / WIN_GROUP_SIZE - 1 && !win_group_mask(&set, group))
        group++;
    change->before = (GROUP_AFFINITY){ .Group = (WORD)group, .Mask = win_group_mask(&set, group) };
    if (!change->to)
        return true;
    group = change->keep_group ? group : change->to->Group;
    allowed = win_group_mask(&change->allowed, group);
    mask = change->keep_group && change->to->Mask == ALL ? allowed : change->to->Mask;
    win_group_set(&set, group, mask);
    if (mask && !(mask & ~allowed) && !sched_setaffinity(id, sizeof(set), &set))
        return true;
    SetLastError(ERROR_INVALID_PARAMETER);
    return false;
}

static bool change_run(HANDLE thread, struct change *change)
{
    change->allowed = process_allowed();
    return win_thread_apply(thread, change_apply, change);
}

/*
 * SetThreadAffinityMask - lets a thread run on some processors of its group: the lowest group in which it may run.
 * mask     all bits set: all that the process may use
 * Returns  the mask before; 0 with ERROR_INVALID_PARAMETER (no processor, or one that the process may not use, or that
 *          the thread's cpuset does not have), ERROR_INVALID_HANDLE.
 */
DWORD_PTR WINAPI SetThreadAffinityMask(HANDLE thread, DWORD_PTR mask)
{
    GROUP_AFFINITY to = { .Mask = mask };
    struct change change = { .to = &to, .keep_group = true };

    return change_run(thread, &change) ? change.before.Mask : 0;
}

/* SetThreadGroupAffinity - SetThreadAffinityMask for any group. before: out, or NULL. */
BOOL WINAPI SetThreadGroupAffinity(
    HANDLE thread, const GROUP_AFFINITY *affinity, PGROUP_AFFINITY before)
{
    struct change change = { .to = affinity };

    if (!affinity || affinity->Reserved[0] || affinity->Reserved[1] || affinity->Reserved[2] ||
        affinity->Group >= CPU_SETSIZE / WIN_GROUP_SIZE) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    if (!change_run(thread, &change))
        return FALSE;
    if (before)
        *before = change.before;
    return TRUE;
}

/* GetThreadGroupAffinity - the processors on which a thread may run, in the lowest group that has any. */
BOOL WINAPI GetThreadGroupAffinity(HANDLE thread, PGROUP_AFFINITY affinity)
{
    struct change change = { .to = NULL };

    if (!affinity) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    if (!change_run(thread, &change))
        return FALSE;
    *affinity = change.before;
    return TRUE;
}

static bool is_this_process(HANDLE process)
{
    if (process == GetCurrentProcess())
        return true;
    SetLastError(ERROR_INVALID_HANDLE);
    return false;
}

/*
 * GetProcessAffinityMask - processors of group 0: those the process may use (by its start or SetProcessAffinityMask),
 * and those online.
 * process  GetCurrentProcess(), else FALSE with ERROR_INVALID_HANDLE
 */
BOOL WINAPI GetProcessAffinityMask(HANDLE process, PDWORD_PTR process_mask, PDWORD_PTR system_mask)
{
    cpu_set_t allowed = process_allowed(), online;

    if (!is_this_process(process))
        return FALSE;
    processors_online(&online);
    *process_mask = win_group_mask(&allowed, 0);
    *system_mask = win_group_mask(&online, 0);
    return TRUE;
}

/*
 * GetProcessGroupAffinity - the groups in which the process may use processors.
 * process  GetCurrentProcess(), else FALSE with ERROR_INVALID_HANDLE
 * count    in: room of groups; out: how many there are
 * groups   out: their numbers; may be NULL for no room
 * Returns  FALSE with ERROR_INSUFFICIENT_BUFFER (groups is left alone), ERROR_INVALID_PARAMETER (NULL).
 */
BOOL WINAPI GetProcessGroupAffinity(HANDLE process, PUSHORT count, PUSHORT groups)
{
    cpu_set_t allowed = process_allowed();
    USHORT found[CPU_SETSIZE / WIN_GROUP_SIZE], needed = 0;

    if (!is_this_process(process))
        return FALSE;
    if (!count || (*count && !groups)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    for (unsigned group = 0; group < ARRAYSIZE(found); group++)
        if (win_group_mask(&allowed, group))
            found[needed++] = (USHORT)group;
    if (*count < needed) {
        *count = needed;
        SetLastError(ERROR_INSUFFICIENT_BUFFER);
        return FALSE;
    }
    memcpy(groups, found, needed * sizeof(*groups));
    *count = needed;
    return TRUE;
}

/*
 * Sets every thread's affinity. Returns for how many; a thread that starts meanwhile inherits it, or the next pass
 * finds it.
 */
static unsigned set_all(const cpu_set_t *set)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    unsigned done = 0;

    while (tasks && (task = readdir(tasks)))
        if (task->d_name[0] != '.' && !sched_setaffinity(atoi(task->d_name), sizeof(*set), set))
            done++;
    if (tasks)
        closedir(tasks);
    return done;
}

/*
 * SetProcessAffinityMask - lets all threads run on some processors of group 0, and overrides their own affinities.
 * process  GetCurrentProcess(), else FALSE with ERROR_INVALID_HANDLE
 * Returns  FALSE with ERROR_INVALID_PARAMETER (no processor, or one that is not there or not in the cpuset).
 */
BOOL WINAPI SetProcessAffinityMask(HANDLE process, DWORD_PTR mask)
{
    cpu_set_t online, set;

    if (!is_this_process(process))
        return FALSE;
    processors_online(&online);
    win_group_set(&set, 0, mask);
    if (!mask || (mask & ~win_group_mask(&online, 0)) || sched_setaffinity(0, sizeof(set), &set)) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    lock_acquire(&process_lock);
    process_set = set;
    lock_release(&process_lock);
    /* A thread made during a pass by a thread not reached yet is found by the next pass. */
    for (unsigned before = 0, now = set_all(&set); now != before;) {
        before = now;
        now = set_all(&set);
    }
    return TRUE;
}
