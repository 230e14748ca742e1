/* SPDX-License-Identifier: MIT */
/*
 * srwlock.c - slim reader/writer locks: one word of Windows' size, no registration, nothing to free.
 *
 * The low half is the state: the number of readers, or SRW_READERS for a writer, and two bits: readers wait, writers
 * wait. The high half counts the wake-ups of writers, which sleep on it, so that waking the readers wakes no writer.
 * New readers wait while a writer does. A lock is not recursive; any thread may release it.
 */
#include <windows.h>

#include "util/futex.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define SRW_READERS      (UINT32_C(0x3fffffff))
#define SRW_WRITTEN      SRW_READERS
#define SRW_READERS_WAIT (UINT32_C(1) << 30)
#define SRW_WRITERS_WAIT (UINT32_C(1) << 31)

struct srw {
    _Atomic uint32_t state;  /* futex word of readers */
    _Atomic uint32_t wakeup; /* futex word of writers */
};

C_ASSERT(sizeof(struct srw) == sizeof(SRWLOCK));

static struct srw *srw_of(PSRWLOCK lock)
{
    return (struct srw *)lock;
}

static bool may_read(uint32_t state)
{
    return (state & SRW_READERS) < SRW_READERS - 1 &&
           !(state & (SRW_READERS_WAIT | SRW_WRITERS_WAIT));
}

static bool is_free(uint32_t state)
{
    return !(state & SRW_READERS);
}

static bool change(struct srw *srw, uint32_t *state, uint32_t to, memory_order order)
{
    return atomic_compare_exchange_strong_explicit(
        &srw->state, state, to, order, memory_order_relaxed);
}

/* Wakes a writer after a release, or all readers if no writer waits. Some thread waits. */
static void wake_next(struct srw *srw, uint32_t state)
{
    if (state == SRW_WRITERS_WAIT) {
        if (change(srw, &state, 0, memory_order_relaxed)) {
            atomic_fetch_add_explicit(&srw->wakeup, 1, memory_order_release);
            futex_wake(&srw->wakeup, 1);
            return;
        }
    }
    if (state == (SRW_WRITERS_WAIT | SRW_READERS_WAIT)) {
        if (!change(srw, &state, SRW_READERS_WAIT, memory_order_relaxed))
            return; /* another thread took the lock: its release wakes */
        atomic_fetch_add_explicit(&srw->wakeup, 1, memory_order_release);
        if (futex_wake(&srw->wakeup, 1) > 0)
            return;
        state = SRW_READERS_WAIT; /* no writer slept: wake the readers */
    }
    if (state == SRW_READERS_WAIT && change(srw, &state, 0, memory_order_relaxed))
        futex_wake(&srw->state, INT_MAX);
}

/* Spins for a while: programs hold such locks briefly. Returns the state seen last. */
static uint32_t spin(struct srw *srw, bool for_reader)
{
    uint32_t state = atomic_load_explicit(&srw->state, memory_order_relaxed);

    for (int i = 0; i < 100; i++) {
        if (for_reader ? state != SRW_WRITTEN || (state & (SRW_READERS_WAIT | SRW_WRITERS_WAIT))
                       : is_free(state) || (state & SRW_WRITERS_WAIT))
            break;
        YieldProcessor();
        state = atomic_load_explicit(&srw->state, memory_order_relaxed);
    }
    return state;
}

static void read_contended(struct srw *srw)
{
    uint32_t state = spin(srw, true);

    for (;;) {
        if (may_read(state)) {
            if (change(srw, &state, state + 1, memory_order_acquire))
                return;
            continue;
        }
        if (!(state & SRW_READERS_WAIT) &&
            !change(srw, &state, state | SRW_READERS_WAIT, memory_order_relaxed))
            continue;
        futex_wait(&srw->state, state | SRW_READERS_WAIT, NULL);
        state = spin(srw, true);
    }
}

static void write_contended(struct srw *srw)
{
    uint32_t state = spin(srw, false), others = 0, seen;

    for (;;) {
        if (is_free(state)) {
            if (change(srw, &state, state | SRW_WRITTEN | others, memory_order_acquire))
                return;
            continue;
        }
        if (!(state & SRW_WRITERS_WAIT) &&
            !change(srw, &state, state | SRW_WRITERS_WAIT, memory_order_relaxed))
            continue;
        others =
            SRW_WRITERS_WAIT; /* another writer may sleep, too: keep the bit when taking the lock */
        seen = atomic_load_explicit(&srw->wakeup, memory_order_acquire);
        state = atomic_load_explicit(&srw->state, memory_order_relaxed);
        if (is_free(state) || !(state & SRW_WRITERS_WAIT))
            continue;
        futex_wait(&srw->wakeup, seen, NULL);
        state = spin(srw, false);
    }
}

/* Ends the program after a release of a lock that was not held: Windows raises an exception there. */
static void not_owned(void)
{
    fputs("winobj: the program released an SRW lock that it did not hold this way\n", stderr);
    abort();
}

/* InitializeSRWLock - makes a lock free, as SRWLOCK_INIT does. */
void WINAPI InitializeSRWLock(PSRWLOCK lock)
{
    lock->Ptr = NULL;
}

/* AcquireSRWLockShared - waits until no writer holds the lock or waits for it. */
void WINAPI AcquireSRWLockShared(PSRWLOCK lock)
{
    struct srw *srw = srw_of(lock);
    uint32_t state = atomic_load_explicit(&srw->state, memory_order_relaxed);

    if (!may_read(state) || !change(srw, &state, state + 1, memory_order_acquire))
        read_contended(srw);
}

/* TryAcquireSRWLockShared - TRUE: acquired. FALSE: a writer holds it or waits for it; the last error stays. */
BOOLEAN WINAPI TryAcquireSRWLockShared(PSRWLOCK lock)
{
    struct srw *srw = srw_of(lock);
    uint32_t state = atomic_load_explicit(&srw->state, memory_order_relaxed);

    while (may_read(state))
        if (change(srw, &state, state + 1, memory_order_acquire))
            return TRUE;
    return FALSE;
}

/* ReleaseSRWLockShared - releases a reader's lock; ends the program if no reader holds it. */
void WINAPI ReleaseSRWLockShared(PSRWLOCK lock)
{
    struct srw *srw = srw_of(lock);
    uint32_t before = atomic_fetch_sub_explicit(&srw->state, 1, memory_order_release);

    if (is_free(before) || (before & SRW_READERS) == SRW_WRITTEN)
        not_owned();
    if (is_free(before - 1) && ((before - 1) & SRW_WRITERS_WAIT))
        wake_next(srw, before - 1);
}

/* AcquireSRWLockExclusive - waits until no thread holds the lock. */
void WINAPI AcquireSRWLockExclusive(PSRWLOCK lock)
{
    struct srw *srw = srw_of(lock);
    uint32_t state = 0;

    if (!change(srw, &state, SRW_WRITTEN, memory_order_acquire))
        write_contended(srw);
}

/* TryAcquireSRWLockExclusive - TRUE: acquired. FALSE: another thread holds it; the last error stays. */
BOOLEAN WINAPI TryAcquireSRWLockExclusive(PSRWLOCK lock)
{
    struct srw *srw = srw_of(lock);
    uint32_t state = atomic_load_explicit(&srw->state, memory_order_relaxed);

    while (is_free(state))
        if (change(srw, &state, state | SRW_WRITTEN, memory_order_acquire))
            return TRUE;
    return FALSE;
}

/* ReleaseSRWLockExclusive - releases the writer's lock; ends the program if no writer holds it. */
void WINAPI ReleaseSRWLockExclusive(PSRWLOCK lock)
{
    struct srw *srw = srw_of(lock);
    uint32_t before = atomic_fetch_sub_explicit(&srw->state, SRW_WRITTEN, memory_order_release);

    if ((before & SRW_READERS) != SRW_WRITTEN)
        not_owned();
    if (before != SRW_WRITTEN)
        wake_next(srw, before - SRW_WRITTEN);
}
