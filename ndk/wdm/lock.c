/* SPDX-License-Identifier: MIT */
/* lock.c - levels, spin locks and fast mutexes of ndkwdm.h. A thread that finds a lock taken sleeps. */
#include "ndk/verifier/passive.h"
#include "ndk/wdm/stop.h"

#include "util/futex.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

KIRQL KeGetCurrentIrql(void)
{
    return ndk_level();
}

VOID KeRaiseIrql(KIRQL level, PKIRQL before)
{
    NT_ASSERT(level >= ndk_level());
    *before = ndk_level_raise(level);
}

KIRQL KeRaiseIrqlToDpcLevel(void)
{
    return ndk_level_raise(DISPATCH_LEVEL);
}

VOID KeLowerIrql(KIRQL before)
{
    NT_ASSERT(before <= ndk_level());
    ndk_level_restore(before);
}

VOID NdkwdmAssertFailed(const char *condition, const char *file, int line)
{
    fprintf(stderr, "%s:%d: NT_ASSERT(%s) failed\n", file, line, condition);
    abort();
}

/* ---- the word of a lock ---- */

enum { FREE, TAKEN, CONTENDED };

static bool try_take(_Atomic uint32_t *word)
{
    uint32_t free = FREE;

    return atomic_compare_exchange_strong_explicit(
        word, &free, TAKEN, memory_order_acquire, memory_order_relaxed);
}

static void take_word(_Atomic uint32_t *word)
{
    if (try_take(word))
        return;
    while (atomic_exchange_explicit(word, CONTENDED, memory_order_acquire) != FREE)
        futex_wait(word, CONTENDED, NULL);
}

static void drop_word(_Atomic uint32_t *word)
{
    if (atomic_exchange_explicit(word, FREE, memory_order_release) == CONTENDED)
        futex_wake(word, 1);
}

/* ---- spin locks: a word in the first half of KSPIN_LOCK ---- */

static _Atomic uint32_t *word_of(PKSPIN_LOCK lock)
{
    return (_Atomic uint32_t *)lock;
}

VOID KeInitializeSpinLock(PKSPIN_LOCK lock)
{
    *lock = 0;
}

static void take(PKSPIN_LOCK lock)
{
    take_word(word_of(lock));
}

static void drop(PKSPIN_LOCK lock)
{
    drop_word(word_of(lock));
}

VOID KeAcquireSpinLock(PKSPIN_LOCK lock, PKIRQL before)
{
    *before = ndk_level_raise(DISPATCH_LEVEL);
    take(lock);
}

VOID KeReleaseSpinLock(PKSPIN_LOCK lock, KIRQL before)
{
    drop(lock);
    ndk_level_restore(before);
}

VOID KeAcquireSpinLockAtDpcLevel(PKSPIN_LOCK lock)
{
    NT_ASSERT(ndk_level() >= DISPATCH_LEVEL);
    take(lock);
}

BOOLEAN KeTryToAcquireSpinLockAtDpcLevel(PKSPIN_LOCK lock)
{
    NT_ASSERT(ndk_level() >= DISPATCH_LEVEL);
    return try_take(word_of(lock));
}

VOID KeReleaseSpinLockFromDpcLevel(PKSPIN_LOCK lock)
{
    drop(lock);
}

VOID KeAcquireInStackQueuedSpinLock(PKSPIN_LOCK lock, PKLOCK_QUEUE_HANDLE handle)
{
    handle->LockQueue.Next = NULL;
    handle->LockQueue.Lock = lock;
    KeAcquireSpinLock(lock, &handle->OldIrql);
}

VOID KeReleaseInStackQueuedSpinLock(PKLOCK_QUEUE_HANDLE handle)
{
    KeReleaseSpinLock(handle->LockQueue.Lock, handle->OldIrql);
}

VOID KeAcquireInStackQueuedSpinLockAtDpcLevel(PKSPIN_LOCK lock, PKLOCK_QUEUE_HANDLE handle)
{
    handle->LockQueue.Next = NULL;
    handle->LockQueue.Lock = lock;
    KeAcquireSpinLockAtDpcLevel(lock);
}

VOID KeReleaseInStackQueuedSpinLockFromDpcLevel(PKLOCK_QUEUE_HANDLE handle)
{
    KeReleaseSpinLockFromDpcLevel(handle->LockQueue.Lock);
}

/* ---- fast mutexes: Count is the word ---- */

static _Atomic uint32_t *count_of(PFAST_MUTEX mutex)
{
    return (_Atomic uint32_t *)&mutex->Count;
}

VOID ExInitializeFastMutex(PFAST_MUTEX mutex)
{
    *mutex = (FAST_MUTEX){ .Count = FREE };
}

/* Another thread may read the owner; only the thread itself finds itself there. */
static void own(PFAST_MUTEX mutex, PKTHREAD thread)
{
    __atomic_store_n(&mutex->Owner, thread, __ATOMIC_RELAXED);
}

static void take_mutex(const char *call, PFAST_MUTEX mutex)
{
    PKTHREAD self = KeGetCurrentThread();

    ndk_wait_expected(call, "FAST_MUTEX", mutex);
    if (__atomic_load_n(&mutex->Owner, __ATOMIC_RELAXED) == self)
        ndk_stop("%s: the thread has the mutex already, so it would wait for itself", call);
    take_word(count_of(mutex));
    own(mutex, self);
}

static void drop_mutex(PFAST_MUTEX mutex)
{
    own(mutex, NULL);
    drop_word(count_of(mutex));
}

VOID ExAcquireFastMutexUnsafe(PFAST_MUTEX mutex)
{
    take_mutex("ExAcquireFastMutexUnsafe", mutex);
}

VOID ExReleaseFastMutexUnsafe(PFAST_MUTEX mutex)
{
    drop_mutex(mutex);
}

VOID ExAcquireFastMutex(PFAST_MUTEX mutex)
{
    take_mutex("ExAcquireFastMutex", mutex);
    mutex->OldIrql = ndk_level_raise(APC_LEVEL);
}

VOID ExReleaseFastMutex(PFAST_MUTEX mutex)
{
    KIRQL before = (KIRQL)mutex->OldIrql;

    drop_mutex(mutex);
    ndk_level_restore(before);
}

BOOLEAN ExTryToAcquireFastMutex(PFAST_MUTEX mutex)
{
    ndk_wait_expected("ExTryToAcquireFastMutex", "FAST_MUTEX", mutex);
    if (!try_take(count_of(mutex)))
        return FALSE;
    own(mutex, KeGetCurrentThread());
    mutex->OldIrql = ndk_level_raise(APC_LEVEL);
    return TRUE;
}

/* ---- guarded mutexes ---- */

VOID KeInitializeGuardedMutex(PKGUARDED_MUTEX mutex)
{
    ExInitializeFastMutex(mutex);
}

VOID KeAcquireGuardedMutex(PKGUARDED_MUTEX mutex)
{
    take_mutex("KeAcquireGuardedMutex", mutex);
}

VOID KeAcquireGuardedMutexUnsafe(PKGUARDED_MUTEX mutex)
{
    take_mutex("KeAcquireGuardedMutexUnsafe", mutex);
}

VOID KeReleaseGuardedMutex(PKGUARDED_MUTEX mutex)
{
    drop_mutex(mutex);
}

VOID KeReleaseGuardedMutexUnsafe(PKGUARDED_MUTEX mutex)
{
    drop_mutex(mutex);
}

BOOLEAN KeTryToAcquireGuardedMutex(PKGUARDED_MUTEX mutex)
{
    ndk_wait_expected("KeTryToAcquireGuardedMutex", "KGUARDED_MUTEX", mutex);
    if (!try_take(count_of(mutex)))
        return FALSE;
    own(mutex, KeGetCurrentThread());
    return TRUE;
}
