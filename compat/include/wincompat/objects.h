/* SPDX-License-Identifier: MIT */
/*
 * objects.h - mutexes, semaphores, timers. The processes of a user share mutexes and semaphores by name; a timer has
 * none.
 */
#ifndef WINCOMPAT_OBJECTS_H
#define WINCOMPAT_OBJECTS_H

#include <wincompat/handle.h>

WINCOMPAT_BEGIN

/* mutexes */

#define CREATE_MUTEX_INITIAL_OWNER 0x1
WINOBJ_API HANDLE WINAPI CreateMutexA(LPSECURITY_ATTRIBUTES attributes, BOOL owned, LPCSTR name);
WINOBJ_API HANDLE WINAPI CreateMutexW(LPSECURITY_ATTRIBUTES attributes, BOOL owned, LPCWSTR name)
    WINCOMPAT_WIDE("CreateMutexW");
#define CreateMutex WINCOMPAT_AW(CreateMutex)
WINOBJ_API HANDLE WINAPI CreateMutexExA(
    LPSECURITY_ATTRIBUTES attributes, LPCSTR name, DWORD flags, DWORD access);
WINOBJ_API HANDLE WINAPI CreateMutexExW(LPSECURITY_ATTRIBUTES attributes, LPCWSTR name, DWORD flags,
    DWORD access) WINCOMPAT_WIDE("CreateMutexExW");
#define CreateMutexEx      WINCOMPAT_AW(CreateMutexEx)
#define MUTEX_MODIFY_STATE 0x1
#define MUTEX_ALL_ACCESS   0x1F0001
WINOBJ_API HANDLE WINAPI OpenMutexA(DWORD access, BOOL inherit, LPCSTR name);
WINOBJ_API HANDLE WINAPI OpenMutexW(DWORD access, BOOL inherit, LPCWSTR name)
    WINCOMPAT_WIDE("OpenMutexW");
#define OpenMutex WINCOMPAT_AW(OpenMutex)
WINOBJ_API BOOL WINAPI ReleaseMutex(HANDLE mutex);

/* semaphores */

WINOBJ_API HANDLE WINAPI CreateSemaphoreA(
    LPSECURITY_ATTRIBUTES attributes, LONG units, LONG most, LPCSTR name);
WINOBJ_API HANDLE WINAPI CreateSemaphoreW(LPSECURITY_ATTRIBUTES attributes, LONG units, LONG most,
    LPCWSTR name) WINCOMPAT_WIDE("CreateSemaphoreW");
#define CreateSemaphore WINCOMPAT_AW(CreateSemaphore)
WINOBJ_API HANDLE WINAPI CreateSemaphoreExA(LPSECURITY_ATTRIBUTES attributes, LONG units, LONG most,
    LPCSTR name, DWORD flags, DWORD access);
WINOBJ_API HANDLE WINAPI CreateSemaphoreExW(LPSECURITY_ATTRIBUTES attributes, LONG units, LONG most,
    LPCWSTR name, DWORD flags, DWORD access) WINCOMPAT_WIDE("CreateSemaphoreExW");
#define CreateSemaphoreEx      WINCOMPAT_AW(CreateSemaphoreEx)
#define SEMAPHORE_MODIFY_STATE 0x2
#define SEMAPHORE_ALL_ACCESS   0x1F0003
WINOBJ_API HANDLE WINAPI OpenSemaphoreA(DWORD access, BOOL inherit, LPCSTR name);
WINOBJ_API HANDLE WINAPI OpenSemaphoreW(DWORD access, BOOL inherit, LPCWSTR name)
    WINCOMPAT_WIDE("OpenSemaphoreW");
#define OpenSemaphore WINCOMPAT_AW(OpenSemaphore)
WINOBJ_API BOOL WINAPI ReleaseSemaphore(HANDLE semaphore, LONG units, LPLONG before);

/* timers */

#define TIMER_QUERY_STATE                     0x1
#define TIMER_MODIFY_STATE                    0x2
#define TIMER_ALL_ACCESS                      0x1F0003
#define CREATE_WAITABLE_TIMER_MANUAL_RESET    0x1
#define CREATE_WAITABLE_TIMER_HIGH_RESOLUTION 0x2
typedef VOID(CALLBACK *PTIMERAPCROUTINE)(LPVOID context, DWORD low, DWORD high);
WINOBJ_API HANDLE WINAPI CreateWaitableTimerA(
    LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, LPCSTR name);
WINOBJ_API HANDLE WINAPI CreateWaitableTimerW(
    LPSECURITY_ATTRIBUTES attributes, BOOL manual_reset, LPCWSTR name);
#define CreateWaitableTimer WINCOMPAT_AW(CreateWaitableTimer)
WINOBJ_API HANDLE WINAPI CreateWaitableTimerExA(
    LPSECURITY_ATTRIBUTES attributes, LPCSTR name, DWORD flags, DWORD access);
WINOBJ_API HANDLE WINAPI CreateWaitableTimerExW(
    LPSECURITY_ATTRIBUTES attributes, LPCWSTR name, DWORD flags, DWORD access);
#define CreateWaitableTimerEx WINCOMPAT_AW(CreateWaitableTimerEx)
WINOBJ_API BOOL WINAPI SetWaitableTimer(HANDLE timer, const LARGE_INTEGER *due, LONG period_ms,
    PTIMERAPCROUTINE routine, LPVOID context, BOOL resume);
WINOBJ_API BOOL WINAPI CancelWaitableTimer(HANDLE timer);

WINCOMPAT_END

#endif
