/* SPDX-License-Identifier: MIT */
/* clock.c - clocks and processor times. */
#include <windows.h>

#include "util/clock.h"

#include <stdio.h>
#include <unistd.h>

/* FILETIME counts 100 ns since 1601; Unix counts from 1970. */
#define FILETIME_UNIX_EPOCH UINT64_C(116444736000000000)

static FILETIME filetime(uint64_t units)
{
    return (FILETIME){ .dwLowDateTime = (DWORD)units, .dwHighDateTime = (DWORD)(units >> 32) };
}

/* QueryPerformanceCounter - a clock that no time service adjusts, in nanoseconds. FALSE: NULL (ERROR_NOACCESS). */
BOOL WINAPI QueryPerformanceCounter(LARGE_INTEGER *count)
{
    struct timespec ts;

    if (!count) {
        SetLastError(ERROR_NOACCESS);
        return FALSE;
    }
    clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
    count->QuadPart = (LONGLONG)ts.tv_sec * 1000000000 + ts.tv_nsec;
    return TRUE;
}

BOOL WINAPI QueryPerformanceFrequency(LARGE_INTEGER *counts_per_second)
{
    if (!counts_per_second) {
        SetLastError(ERROR_NOACCESS);
        return FALSE;
    }
    counts_per_second->QuadPart = 1000000000;
    return TRUE;
}

/* GetTickCount64 - milliseconds since the system started, sleep not counted. */
ULONGLONG WINAPI GetTickCount64(void)
{
    return clock_now_ms();
}

DWORD WINAPI GetTickCount(void)
{
    return (DWORD)clock_now_ms();
}

/* timeGetTime - GetTickCount. */
DWORD WINAPI timeGetTime(void)
{
    return GetTickCount();
}

/*
 * timeBeginPeriod, timeEndPeriod - ask for timers of some resolution; they are always finer than a millisecond here, so
 * there is nothing to change. TIMERR_NOCANDO: a period of 0.
 */
MMRESULT WINAPI timeBeginPeriod(UINT period_ms)
{
    return period_ms ? TIMERR_NOERROR : TIMERR_NOCANDO;
}

MMRESULT WINAPI timeEndPeriod(UINT period_ms)
{
    return timeBeginPeriod(period_ms);
}

/* GetSystemTimeAsFileTime, GetSystemTimePreciseAsFileTime - the time of day, UTC. */
void WINAPI GetSystemTimeAsFileTime(LPFILETIME time)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    *time = filetime(
        FILETIME_UNIX_EPOCH + (uint64_t)ts.tv_sec * 10000000u + (uint64_t)ts.tv_nsec / 100);
}

void WINAPI GetSystemTimePreciseAsFileTime(LPFILETIME time)
{
    GetSystemTimeAsFileTime(time);
}

/*
 * GetSystemTimes - the time that all processors together spent since the system started. As on Windows the kernel's
 * time contains the idle time. Each pointer may be NULL. Errors: ERROR_NOT_SUPPORTED (no /proc).
 */
BOOL WINAPI GetSystemTimes(PFILETIME idle, PFILETIME kernel, PFILETIME user)
{
    unsigned long long t[7], unit = 10000000ull / (unsigned long long)sysconf(_SC_CLK_TCK);
    FILE *stat = fopen("/proc/stat", "re");
    int got = 0;

    if (stat) {
        got = fscanf(stat, "cpu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2], &t[3],
            &t[4], &t[5], &t[6]);
        fclose(stat);
    }
    if (got != 7) {
        SetLastError(ERROR_NOT_SUPPORTED);
        return FALSE;
    }
    /* user nice system idle iowait irq softirq */
    if (idle)
        *idle = filetime((t[3] + t[4]) * unit);
    if (kernel)
        *kernel = filetime((t[2] + t[3] + t[4] + t[5] + t[6]) * unit);
    if (user)
        *user = filetime((t[0] + t[1]) * unit);
    return TRUE;
}
