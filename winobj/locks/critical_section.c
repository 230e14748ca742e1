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

/* Ignores the spin count, which is a hint. TRUE. */
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

/* LeaveCriticalSection - undoes one EnterCriticalSection; only the thread that is inside may call it. */
void WINAPI LeaveCriticalSection(LPCRITICAL_SECTION section)
{
    pthread_mutex_unlock(&section->Mutex);
}

/* DeleteCriticalSection - ends a section. No thread may be inside or enter again. */
void WINAPI DeleteCriticalSection(LPCRITICAL_SECTION section)
{
    pthread_mutex_destroy(&section->Mutex);
}
