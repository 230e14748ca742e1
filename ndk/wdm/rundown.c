/* SPDX-License-Identifier: MIT */
/* rundown.c - rundown protection of ndkwdm.h: the count of users, doubled, and bit 0: it is run down. */
#include "ndk/verifier/passive.h"

#include "util/futex.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { RUN_DOWN = 1, USER = 2 };

/* The first half: no more than 2^31 users. */
static _Atomic uint32_t *word_of(PEX_RUNDOWN_REF ref)
{
    return (_Atomic uint32_t *)&ref->Count;
}

VOID ExInitializeRundownProtection(PEX_RUNDOWN_REF ref)
{
    ref->Count = 0;
}

BOOLEAN ExAcquireRundownProtection(PEX_RUNDOWN_REF ref)
{
    return ExAcquireRundownProtectionEx(ref, 1);
}

BOOLEAN ExAcquireRundownProtectionEx(PEX_RUNDOWN_REF ref, ULONG count)
{
    uint32_t now = atomic_load_explicit(word_of(ref), memory_order_relaxed);

    while (!(now & RUN_DOWN))
        if (atomic_compare_exchange_weak_explicit(
                word_of(ref), &now, now + count * USER, memory_order_acquire, memory_order_relaxed))
            return TRUE;
    return FALSE;
}

VOID ExReleaseRundownProtection(PEX_RUNDOWN_REF ref)
{
    ExReleaseRundownProtectionEx(ref, 1);
}

VOID ExReleaseRundownProtectionEx(PEX_RUNDOWN_REF ref, ULONG count)
{
    uint32_t users = count * USER;

    /* The last user of one that is run down: from here on only the address is used. */
    if (atomic_fetch_sub_explicit(word_of(ref), users, memory_order_release) == (users | RUN_DOWN))
        futex_wake(word_of(ref), INT32_MAX);
}

VOID ExWaitForRundownProtectionRelease(PEX_RUNDOWN_REF ref)
{
    uint32_t now = atomic_fetch_or_explicit(word_of(ref), RUN_DOWN, memory_order_acquire);

    ndk_wait_expected("ExWaitForRundownProtectionRelease", "EX_RUNDOWN_REF", ref);
    while ((now | RUN_DOWN) != RUN_DOWN) {
        futex_wait(word_of(ref), now | RUN_DOWN, NULL);
        now = atomic_load_explicit(word_of(ref), memory_order_acquire);
    }
}

VOID ExRundownCompleted(PEX_RUNDOWN_REF ref)
{
    atomic_store_explicit(word_of(ref), RUN_DOWN, memory_order_release);
}

VOID ExReInitializeRundownProtection(PEX_RUNDOWN_REF ref)
{
    ref->Count = 0;
}
