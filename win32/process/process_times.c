/* SPDX-License-Identifier: MIT */
/* process_times.c - process_times.h, GetProcessTimes. */
#include "win32/process/process_times.h"

#include "win32/process/process.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* FILETIME counts 100 ns since 1601; Unix counts from 1970. */
#define UNIX_EPOCH UINT64_C(116444736000000000)

static uint64_t units_of(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 10000000 + (uint64_t)now.tv_nsec / 100;
}

bool win_process_read_times(DWORD id, struct win_process_times *times)
{
    const uint64_t tick = 10000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    const uint64_t now = UNIX_EPOCH + units_of(CLOCK_REALTIME),
                   since_boot = units_of(CLOCK_BOOTTIME);
    unsigned long user, kernel;
    unsigned long long begun;
    char path[64], line[1024], state, *name_end = NULL;
    FILE *file;

    snprintf(path, sizeof(path), "/proc/%u/stat", (unsigned)id);
    if (!(file = fopen(path, "re")))
        return false;
    if (fgets(line, sizeof(line), file))
        name_end = strrchr(line, ')');
    fclose(file);
    if (!name_end ||
        sscanf(name_end,
            ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %*d %*d %*d %*d %*d %*d %llu",
            &state, &user, &kernel, &begun) != 4)
        return false;
    times->begun = now - since_boot + begun * tick;
    times->ended = state == 'Z' || state == 'X' ? now : 0;
    times->kernel = kernel * tick;
    times->user = user * tick;
    return true;
}

static uint64_t used(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 10000000 + (uint64_t)time->tv_usec * 10;
}

static bool times_of(HANDLE handle, struct win_process_times *times)
{
    struct win_process *process;
    struct rusage usage;
    bool known;

    if (handle == GetCurrentProcess()) {
        known = win_process_read_times((DWORD)getpid(), times);
        getrusage(RUSAGE_SELF, &usage);
        times->kernel = used(&usage.ru_stime);
        times->user = used(&usage.ru_utime);
    } else {
        process =
            win_process_pin(handle, PROCESS_QUERY_INFORMATION | PROCESS_QUERY_LIMITED_INFORMATION);
        if (!process)
            return false;
        known = win_process_times(process, times);
        win_object_unref((struct win_object *)process);
    }
    if (!known)
        SetLastError(ERROR_NOT_SUPPORTED);
    return known;
}

static FILETIME filetime(uint64_t units)
{
    return (FILETIME){ (DWORD)units, (DWORD)(units >> 32) };
}

/*
 * GetProcessTimes - when a process began and ended, and what its threads have used of processors. Needs
 * PROCESS_QUERY_INFORMATION or PROCESS_QUERY_LIMITED_INFORMATION.
 * process       a handle, or GetCurrentProcess()
 * begun         [out] in steps of 10 ms
 * ended         [out] when this process learned of it; 0 while it runs
 * kernel, user  [out] of another process in steps of 10 ms
 * Returns       FALSE with ERROR_INVALID_HANDLE, ERROR_ACCESS_DENIED (the handle lacks the right), ERROR_NOACCESS (a
 *               NULL pointer), ERROR_NOT_SUPPORTED (no /proc; it has ended, and another process, its parent, has waited
 *               for it). Any thread.
 * Source: GetProcessTimes function (processthreadsapi.h).
 */
BOOL WINAPI GetProcessTimes(
    HANDLE process, LPFILETIME begun, LPFILETIME ended, LPFILETIME kernel, LPFILETIME user)
{
    struct win_process_times times;

    if (!begun || !ended || !kernel || !user) {
        SetLastError(ERROR_NOACCESS);
        return FALSE;
    }
    if (!times_of(process, &times))
        return FALSE;
    *begun = filetime(times.begun);
    *ended = filetime(times.ended);
    *kernel = filetime(times.kernel);
    *user = filetime(times.user);
    return TRUE;
}
