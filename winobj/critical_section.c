/* SPDX-License-Identifier: MIT */
/* critical_section.c - critical sections: recursive mutexes. */
#include <windows.h>

#include <pthread.h>

/* InitializeCriticalSection - makes a section; cannot fail on Linux. It must not be in use. */
void WINAPI InitializeCriticalSection(LPCRITICAL_SECTION section)
{
    pthread_mutexattr_t attr;

    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&section->Mutex, &attr);
    pthread_mutexattr_destroy(&attr);
}

/* The spin count is a hint that is not taken. TRUE. */
BOOL WINAPI InitializeCriticalSectionAndSpinCount(LPCRITICAL_SECTION section, DWORD spin_count)
{
    (void)spin_count;
    InitializeCriticalSection(section);
    return TRUE;
}

/* Also FALSE with ERROR_INVALID_PARAMETER for a flag other than CRITICAL_SECTION_NO_DEBUG_INFO. */
BOOL WINAPI InitializeCriticalSectionEx(LPCRITICAL_SECTION section, DWORD spin_count, DWORD flags)
{
    if (flags & ~(DWORD)CRITICAL_SECTION_NO_DEBUG_INFO) {
        SetLastError(ERROR_INVALID_PARAMETER);
        return FALSE;
    }
    return InitializeCriticalSectionAndSpinCount(section, spin_count);
}

/* EnterCriticalSection - waits until no other thread is inside; a thread may enter several times. */
void WINAPI EnterCriticalSection(LPCRITICAL_SECTION section)
{
    pthread_mutex_lock(&section->Mutex);
}

/* TryEnterCriticalSection - FALSE: another thread is inside. */
BOOL WINAPI TryEnterCriticalSection(LPCRITICAL_SECTION section)
{
    return pthread_mutex_trylock(&section->Mutex) == 0;
}

/* LeaveCriticalSection - takes one EnterCriticalSection back; by the thread that is inside. */
void WINAPI LeaveCriticalSection(LPCRITICAL_SECTION section)
{
    pthread_mutex_unlock(&section->Mutex);
}

/* DeleteCriticalSection - nobody may be inside or come again. */
void WINAPI DeleteCriticalSection(LPCRITICAL_SECTION section)
{
    pthread_mutex_destroy(&section->Mutex);
}
