/* SPDX-License-Identifier: MIT */
/*
 * sync.h - critical sections, SRW locks, condition variables, one-time initialisation, waiting on addresses. All have
 * Windows' size. All but critical sections need no freeing, and are initialised by zeros.
 */
#ifndef WINCOMPAT_SYNC_H
#define WINCOMPAT_SYNC_H

#include <wincompat/error.h>

WINCOMPAT_BEGIN

/* critical sections */

typedef struct _RTL_CRITICAL_SECTION {
    PVOID Words[5]; /* in every processor's build: a pthread_mutex_t is larger on some */
} RTL_CRITICAL_SECTION, CRITICAL_SECTION, *PRTL_CRITICAL_SECTION, *PCRITICAL_SECTION,
    *LPCRITICAL_SECTION;

#define CRITICAL_SECTION_NO_DEBUG_INFO 0x01000000
WINOBJ_API void WINAPI InitializeCriticalSection(LPCRITICAL_SECTION section);
WINOBJ_API BOOL WINAPI InitializeCriticalSectionAndSpinCount(
    LPCRITICAL_SECTION section, DWORD spin_count);
WINOBJ_API BOOL WINAPI InitializeCriticalSectionEx(
    LPCRITICAL_SECTION section, DWORD spin_count, DWORD flags);
WINOBJ_API void WINAPI EnterCriticalSection(LPCRITICAL_SECTION section);
WINOBJ_API BOOL WINAPI TryEnterCriticalSection(LPCRITICAL_SECTION section);
WINOBJ_API void WINAPI LeaveCriticalSection(LPCRITICAL_SECTION section);
WINOBJ_API void WINAPI DeleteCriticalSection(LPCRITICAL_SECTION section);

/* slim reader/writer locks */

typedef struct _RTL_SRWLOCK {
    PVOID Ptr;
} RTL_SRWLOCK, *PRTL_SRWLOCK, SRWLOCK, *PSRWLOCK;
/* clang-format off */
#define RTL_SRWLOCK_INIT { 0 }
/* clang-format on */
#define SRWLOCK_INIT RTL_SRWLOCK_INIT
WINOBJ_API void WINAPI InitializeSRWLock(PSRWLOCK lock);
WINOBJ_API void WINAPI AcquireSRWLockShared(PSRWLOCK lock);
WINOBJ_API void WINAPI AcquireSRWLockExclusive(PSRWLOCK lock);
WINOBJ_API BOOLEAN WINAPI TryAcquireSRWLockShared(PSRWLOCK lock);
WINOBJ_API BOOLEAN WINAPI TryAcquireSRWLockExclusive(PSRWLOCK lock);
WINOBJ_API void WINAPI ReleaseSRWLockShared(PSRWLOCK lock);
WINOBJ_API void WINAPI ReleaseSRWLockExclusive(PSRWLOCK lock);

/* condition variables */

typedef struct _RTL_CONDITION_VARIABLE {
    PVOID Ptr;
} RTL_CONDITION_VARIABLE, *PRTL_CONDITION_VARIABLE, CONDITION_VARIABLE, *PCONDITION_VARIABLE;
/* clang-format off */
#define RTL_CONDITION_VARIABLE_INIT            { 0 }
/* clang-format on */
#define CONDITION_VARIABLE_INIT                RTL_CONDITION_VARIABLE_INIT
#define RTL_CONDITION_VARIABLE_LOCKMODE_SHARED 0x1
#define CONDITION_VARIABLE_LOCKMODE_SHARED     RTL_CONDITION_VARIABLE_LOCKMODE_SHARED
WINOBJ_API void WINAPI InitializeConditionVariable(PCONDITION_VARIABLE variable);
WINOBJ_API void WINAPI WakeConditionVariable(PCONDITION_VARIABLE variable);
WINOBJ_API void WINAPI WakeAllConditionVariable(PCONDITION_VARIABLE variable);
WINOBJ_API BOOL WINAPI SleepConditionVariableCS(
    PCONDITION_VARIABLE variable, PCRITICAL_SECTION section, DWORD timeout_ms);
WINOBJ_API BOOL WINAPI SleepConditionVariableSRW(
    PCONDITION_VARIABLE variable, PSRWLOCK lock, DWORD timeout_ms, ULONG flags);

/* one-time initialisation */

typedef union _RTL_RUN_ONCE {
    PVOID Ptr;
} RTL_RUN_ONCE, *PRTL_RUN_ONCE, INIT_ONCE, *PINIT_ONCE, *LPINIT_ONCE;
/* clang-format off */
#define RTL_RUN_ONCE_INIT           { 0 }
/* clang-format on */
#define INIT_ONCE_STATIC_INIT       RTL_RUN_ONCE_INIT
#define INIT_ONCE_CHECK_ONLY        0x1u
#define INIT_ONCE_ASYNC             0x2u
#define INIT_ONCE_INIT_FAILED       0x4u
#define INIT_ONCE_CTX_RESERVED_BITS 2
typedef BOOL(WINAPI *PINIT_ONCE_FN)(PINIT_ONCE once, PVOID parameter, PVOID *context);
WINOBJ_API void WINAPI InitOnceInitialize(PINIT_ONCE once);
WINOBJ_API BOOL WINAPI InitOnceExecuteOnce(
    PINIT_ONCE once, PINIT_ONCE_FN function, PVOID parameter, LPVOID *context);
WINOBJ_API BOOL WINAPI InitOnceBeginInitialize(
    LPINIT_ONCE once, DWORD flags, PBOOL pending, LPVOID *context);
WINOBJ_API BOOL WINAPI InitOnceComplete(LPINIT_ONCE once, DWORD flags, LPVOID context);

/* waiting on addresses */

WINOBJ_API BOOL WINAPI WaitOnAddress(
    volatile VOID *address, PVOID compare, SIZE_T size, DWORD timeout_ms);
WINOBJ_API void WINAPI WakeByAddressSingle(PVOID address);
WINOBJ_API void WINAPI WakeByAddressAll(PVOID address);

C_ASSERT(sizeof(SRWLOCK) == sizeof(void *));
C_ASSERT(sizeof(CONDITION_VARIABLE) == sizeof(void *));
C_ASSERT(sizeof(INIT_ONCE) == sizeof(void *));

WINCOMPAT_END

#endif
