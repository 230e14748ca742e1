/* SPDX-License-Identifier: MIT */
/* mutex.h - fast and guarded mutexes, a part of ndkwdm.h. */
#ifndef NDKWDM_MUTEX_H
#define NDKWDM_MUTEX_H

#include <ndkwdm/level.h>
#include <ndkwdm/thread.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The members are the library's. */
typedef struct _FAST_MUTEX {
    LONG Count;
    PKTHREAD Owner;
    ULONG Contention;
    DECLSPEC_ALIGN(8) KEVENT Event;
    ULONG OldIrql;
} FAST_MUTEX, *PFAST_MUTEX;

/* mutex out: free. */
VOID ExInitializeFastMutex(PFAST_MUTEX mutex);
/*
 * Takes it, and raises the thread to APC_LEVEL; a thread that finds it taken sleeps. The program ends if the thread has
 * it already. Below DISPATCH_LEVEL.
 */
VOID ExAcquireFastMutex(PFAST_MUTEX mutex);
/* Undoes both. */
VOID ExReleaseFastMutex(PFAST_MUTEX mutex);
/* ExAcquireFastMutex without a wait. FALSE: another thread has it, and the level stays. */
BOOLEAN ExTryToAcquireFastMutex(PFAST_MUTEX mutex);
/* The first two without a change of level. */
VOID ExAcquireFastMutexUnsafe(PFAST_MUTEX mutex);
VOID ExReleaseFastMutexUnsafe(PFAST_MUTEX mutex);

/* The same without a change of level: what Windows holds off meanwhile, APCs, is never there. */
typedef FAST_MUTEX KGUARDED_MUTEX, *PKGUARDED_MUTEX;

VOID KeInitializeGuardedMutex(PKGUARDED_MUTEX mutex);
VOID KeAcquireGuardedMutex(PKGUARDED_MUTEX mutex);
VOID KeAcquireGuardedMutexUnsafe(PKGUARDED_MUTEX mutex);
VOID KeReleaseGuardedMutex(PKGUARDED_MUTEX mutex);
VOID KeReleaseGuardedMutexUnsafe(PKGUARDED_MUTEX mutex);
/* Without a wait. FALSE: it is taken. */
BOOLEAN KeTryToAcquireGuardedMutex(PKGUARDED_MUTEX mutex);

#ifdef __cplusplus
}
#endif

#endif
