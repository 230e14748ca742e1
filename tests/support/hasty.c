/* SPDX-License-Identifier: MIT */
/*
 * hasty.c - in LD_PRELOAD: the clock of a program goes HASTY (its environment) times as fast as the world's. Its waits
 * by Windows' functions are so much shorter, and its tick count so much faster; nothing changes inside libraries.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <windows.h>

#define REAL(function) ((__typeof__(&function))dlsym(RTLD_NEXT, #function))

static ULONGLONG rate(void)
{
    const char *text = getenv("HASTY");
    int times = text ? atoi(text) : 1;

    return times > 1 ? (ULONGLONG)times : 1;
}

static DWORD hasty(DWORD ms)
{
    return ms == INFINITE ? ms : (DWORD)((ms + rate() - 1) / rate());
}

VOID WINAPI Sleep(DWORD ms)
{
    REAL(Sleep)(hasty(ms));
}

ULONGLONG WINAPI GetTickCount64(VOID)
{
    return REAL(GetTickCount64)() * rate();
}

BOOL WINAPI QueryPerformanceCounter(LARGE_INTEGER *ticks)
{
    BOOL done = REAL(QueryPerformanceCounter)(ticks);

    ticks->QuadPart *= (LONGLONG)rate();
    return done;
}

DWORD WINAPI WaitForSingleObject(HANDLE handle, DWORD ms)
{
    return REAL(WaitForSingleObject)(handle, hasty(ms));
}

DWORD WINAPI WaitForMultipleObjects(DWORD count, const HANDLE *handles, BOOL all, DWORD ms)
{
    return REAL(WaitForMultipleObjects)(count, handles, all, hasty(ms));
}

BOOL WINAPI GetQueuedCompletionStatusEx(
    HANDLE port, LPOVERLAPPED_ENTRY entries, ULONG room, PULONG removed, DWORD ms, BOOL alertable)
{
    return REAL(GetQueuedCompletionStatusEx)(port, entries, room, removed, hasty(ms), alertable);
}
