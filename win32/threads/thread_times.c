/* SPDX-License-Identifier: MIT */
/* thread_times.c - GetThreadTimes; descriptions of threads. */
#include "win32/threads/description.h"
#include "win32/threads/thread.h"
#include "win32/threads/thread_object.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* FILETIME counts 100 ns since 1601; Unix counts from 1970. */
#define UNIX_EPOCH UINT64_C(116444736000000000)

uint64_t win_thread_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return UNIX_EPOCH + (uint64_t)now.tv_sec * 10000000 + (uint64_t)now.tv_nsec / 100;
}

static uint64_t units_of(const struct timeval *time)
{
    return (uint64_t)time->tv_sec * 10000000 + (uint64_t)time->tv_usec * 10;
}

/* What the calling thread has used of processors. */
static void own_times(struct win_thread_times *times)
{
    struct rusage used;

    getrusage(RUSAGE_THREAD, &used);
    times->kernel = units_of(&used.ru_stime);
    times->user = units_of(&used.ru_utime);
}

void win_thread_times_end(struct win_thread_times *times)
{
    own_times(times);
    times->ended = win_thread_now();
}

/* Reads what another thread, which lives, has used of processors; the kernel counts it in ticks. */
static bool read_times(int id, void *argument)
{
    struct win_thread_times *times = argument;
    unsigned long user = 0, kernel = 0;
    char path[64], line[512], *name_end;
    const uint64_t unit = 10000000u / (uint64_t)sysconf(_SC_CLK_TCK);
    FILE *file;

    snprintf(path, sizeof(path), "/proc/self/task/%d/stat", id);
    if (!(file = fopen(path, "re")))
        return false;
    if (fgets(line, sizeof(line), file) && (name_end = strrchr(line, ')')))
        sscanf(name_end, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &kernel);
    fclose(file);
    times->user = user * unit;
    times->kernel = kernel * unit;
    return true;
}

static FILETIME filetime(uint64_t units)
{
    return (FILETIME){ (DWORD)units, (DWORD)(units >> 32) };
}

/*
 * GetThreadTimes - when a thread began and ended, and what it has used of processors.
 * thread        a handle, or GetCurrentThread()
 * begun         [out] CreateThread's time; of a thread that other code made that of its first handle
 * ended         [out] 0 while it runs
 * kernel, user  [out] of another thread that runs in steps of 10 ms
 * Returns       FALSE with ERROR_INVALID_HANDLE, ERROR_NOACCESS (a NULL pointer), ERROR_NOT_SUPPORTED (no /proc). Any
 *               thread.
 * Source: GetThreadTimes function (processthreadsapi.h).
 */
BOOL WINAPI GetThreadTimes(
    HANDLE handle, LPFILETIME begun, LPFILETIME ended, LPFILETIME kernel, LPFILETIME user)
{
    struct win_thread *thread;
    struct win_thread_times times;

    if (!begun || !ended || !kernel || !user) {
        SetLastError(ERROR_NOACCESS);
        return FALSE;
    }
    if (!(thread = win_thread_pin(handle)))
        return FALSE;
    win_thread_lock_life();
    times = thread->times;
    if (!times.ended && atomic_load(&thread->id) == GetCurrentThreadId())
        own_times(&times);
    else if (!times.ended && atomic_load(&thread->id))
        read_times((int)atomic_load(&thread->id), &times);
    win_thread_unlock_life();
    win_object_unref(&thread->waitable.object);
    *begun = filetime(times.begun);
    *ended = filetime(times.ended);
    *kernel = filetime(times.kernel);
    *user = filetime(times.user);
    return TRUE;
}

/* The name that Linux shows, as far as it fits. */
static bool show(int id, void *text)
{
    char path[64];
    ssize_t done = -1;
    int fd;

    snprintf(path, sizeof(path), "/proc/self/task/%d/comm", id);
    if ((fd = open(path, O_WRONLY | O_CLOEXEC)) >= 0) {
        done = write(fd, text, strlen(text));
        close(fd);
    }
    return done >= 0;
}

bool win_thread_describe(HANDLE handle, char *text)
{
    struct win_thread *thread = win_thread_pin(handle);
    char *before;

    if (!thread)
        return false;
    win_thread_lock_life();
    before = thread->description;
    thread->description = text;
    if (!thread->ended && *text && atomic_load(&thread->id))
        show((int)atomic_load(&thread->id), text);
    win_thread_unlock_life();
    free(before);
    win_object_unref(&thread->waitable.object);
    return true;
}

bool win_thread_description(HANDLE handle, char **text)
{
    struct win_thread *thread = win_thread_pin(handle);

    if (!thread)
        return false;
    win_thread_lock_life();
    *text = strdup(thread->description ? thread->description : "");
    win_thread_unlock_life();
    win_object_unref(&thread->waitable.object);
    return true;
}
