/* SPDX-License-Identifier: MIT */
/*
 * priority.c - thread priorities, as nice values: on Linux each thread has its own. NORMAL is the nice value that the
 * process started with, until SetPriorityClass sets another. Raising a priority needs a privilege (CAP_SYS_NICE,
 * RLIMIT_NICE), also back to NORMAL.
 */
#include "win32/threads/priority.h"

#include "win32/threads/thread.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/resource.h>

static const struct {
    int priority, nice;
} levels[] = { { THREAD_PRIORITY_NORMAL, 0 }, { THREAD_PRIORITY_BELOW_NORMAL, 4 },
    { THREAD_PRIORITY_LOWEST, 8 }, { THREAD_PRIORITY_IDLE, 19 },
    { THREAD_PRIORITY_ABOVE_NORMAL, -4 }, { THREAD_PRIORITY_HIGHEST, -8 },
    { THREAD_PRIORITY_TIME_CRITICAL, -20 } };

static atomic_int normal_nice;

__attribute__((constructor(200))) static void priority_load(void)
{
    normal_nice = getpriority(PRIO_PROCESS, 0);
}

int win_normal_nice(void)
{
    return normal_nice;
}

void win_normal_nice_set(int nice)
{
    normal_nice = nice;
}

static int level_nice(size_t i)
{
    int nice = normal_nice + levels[i].nice;

    return nice < -20 ? -20 : nice > 19 ? 19 : nice;
}

static bool priority_set(int id, void *argument)
{
    const int *nice = argument;

    if (!setpriority(PRIO_PROCESS, (id_t)id, *nice))
        return true;
    SetLastError(errno == EACCES || errno == EPERM ? ERROR_ACCESS_DENIED : ERROR_INVALID_HANDLE);
    return false;
}

/*
 * SetThreadPriority - sets a thread's priority.
 * priority  one of the seven levels
 * Returns   FALSE with ERROR_INVALID_PARAMETER (no such level; background modes are not supported),
 *           ERROR_ACCESS_DENIED (no privilege to raise it), ERROR_INVALID_HANDLE.
 */
BOOL WINAPI SetThreadPriority(HANDLE thread, int priority)
{
    for (size_t i = 0; i < ARRAYSIZE(levels); i++)
        if (levels[i].priority == priority) {
            int nice = level_nice(i);

            return win_thread_apply(thread, priority_set, &nice);
        }
    SetLastError(ERROR_INVALID_PARAMETER);
    return FALSE;
}

static bool priority_get(int id, void *argument)
{
    errno = 0;
    *(int *)argument = getpriority(PRIO_PROCESS, (id_t)id);
    if (!errno)
        return true;
    SetLastError(ERROR_INVALID_HANDLE);
    return false;
}

/*
 * GetThreadPriority - the level nearest to a thread's nice value; THREAD_PRIORITY_ERROR_RETURN with
 * ERROR_INVALID_HANDLE.
 */
int WINAPI GetThreadPriority(HANDLE thread)
{
    size_t nearest = 0;
    int nice;

    if (!win_thread_apply(thread, priority_get, &nice))
        return THREAD_PRIORITY_ERROR_RETURN;
    for (size_t i = 1; i < ARRAYSIZE(levels); i++)
        if (abs(level_nice(i) - nice) < abs(level_nice(nearest) - nice))
            nearest = i;
    return levels[nearest].priority;
}
