/* SPDX-License-Identifier: MIT */
/* lock.c - levels and spin locks of ndkwdm.h. A thread that finds a lock taken sleeps. */
#include "ndk/dispatch/level.h"

#include "util/futex.h"

#include <stdatomic.h>
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

/* ---- spin locks: a word in the first half of KSPIN_LOCK ---- */

enum { FREE, TAKEN, CONTENDED };

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
    _Atomic uint32_t *word = word_of(lock);
    uint32_t free = FREE;

    if (atomic_compare_exchange_strong_explicit(
            word, &free, TAKEN, memory_order_acquire, memory_order_relaxed))
        return;
    while (atomic_exchange_explicit(word, CONTENDED, memory_order_acquire) != FREE)
        futex_wait(word, CONTENDED, NULL);
}

static void drop(PKSPIN_LOCK lock)
{
    _Atomic uint32_t *word = word_of(lock);

    if (atomic_exchange_explicit(word, FREE, memory_order_release) == CONTENDED)
        futex_wake(word, 1);
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
    uint32_t free = FREE;

    NT_ASSERT(ndk_level() >= DISPATCH_LEVEL);
    return atomic_compare_exchange_strong_explicit(
        word_of(lock), &free, TAKEN, memory_order_acquire, memory_order_relaxed);
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
