/* SPDX-License-Identifier: MIT */
/*
 * srwlock.c - slim reader/writer locks: one word of Windows' size, no registration, nothing to free.
 *
 * The low half is the state: readers, or all of SRW_READERS for the writer, and who waits. The high half counts what
 * waiting writers are woken by, so that a writer is not woken for readers' sake. Writers that wait keep new readers
 * out. A lock is not recursive, and need not be released by the thread that took it.
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

/* The state was released and somebody waits: a writer first, all readers when there is none. */
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
            return; /* taken meanwhile: whoever has it wakes */
        atomic_fetch_add_explicit(&srw->wakeup, 1, memory_order_release);
        if (futex_wake(&srw->wakeup, 1) > 0)
            return;
        state = SRW_READERS_WAIT; /* no writer slept: the readers, then */
    }
    if (state == SRW_READERS_WAIT && change(srw, &state, 0, memory_order_relaxed))
        futex_wake(&srw->state, INT_MAX);
}

/* Looks a while before it sleeps: such locks are held briefly. */
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
            SRW_WRITERS_WAIT; /* another writer may sleep, too: who takes the lock keeps the mark */
        seen = atomic_load_explicit(&srw->wakeup, memory_order_acquire);
        state = atomic_load_explicit(&srw->state, memory_order_relaxed);
        if (is_free(state) || !(state & SRW_WRITERS_WAIT))
            continue;
        futex_wait(&srw->wakeup, seen, NULL);
        state = spin(srw, false);
    }
}

/* A lock that is released without being held is broken for everybody: Windows raises an exception there. */
static void not_owned(void)
{
    fputs("winobj: an SRW lock was released that is not held this way\n", stderr);
    abort();
}

/* InitializeSRWLock - makes a lock free; the same as SRWLOCK_INIT. */
void WINAPI InitializeSRWLock(PSRWLOCK lock)
{
    lock->Ptr = NULL;
}

/* AcquireSRWLockShared - waits until no writer has or wants the lock. */
void WINAPI AcquireSRWLockShared(PSRWLOCK lock)
{
    struct srw *srw = srw_of(lock);
    uint32_t state = atomic_load_explicit(&srw->state, memory_order_relaxed);

    if (!may_read(state) || !change(srw, &state, state + 1, memory_order_acquire))
        read_contended(srw);
}

/* TryAcquireSRWLockShared - TRUE: taken. FALSE: a writer has it or waits for it; the last error is left alone. */
BOOLEAN WINAPI TryAcquireSRWLockShared(PSRWLOCK lock)
{
    struct srw *srw = srw_of(lock);
    uint32_t state = atomic_load_explicit(&srw->state, memory_order_relaxed);

    while (may_read(state))
        if (change(srw, &state, state + 1, memory_order_acquire))
            return TRUE;
    return FALSE;
}

/* ReleaseSRWLockShared - ends the program where no reader has the lock. */
void WINAPI ReleaseSRWLockShared(PSRWLOCK lock)
{
    struct srw *srw = srw_of(lock);
    uint32_t before = atomic_fetch_sub_explicit(&srw->state, 1, memory_order_release);

    if (is_free(before) || (before & SRW_READERS) == SRW_WRITTEN)
        not_owned();
    if (is_free(before - 1) && ((before - 1) & SRW_WRITERS_WAIT))
        wake_next(srw, before - 1);
}

/* AcquireSRWLockExclusive - waits until nobody has the lock. */
void WINAPI AcquireSRWLockExclusive(PSRWLOCK lock)
{
    struct srw *srw = srw_of(lock);
    uint32_t state = 0;

    if (!change(srw, &state, SRW_WRITTEN, memory_order_acquire))
        write_contended(srw);
}

/* TryAcquireSRWLockExclusive - TRUE: taken. FALSE: somebody has it; the last error is left alone. */
BOOLEAN WINAPI TryAcquireSRWLockExclusive(PSRWLOCK lock)
{
    struct srw *srw = srw_of(lock);
    uint32_t state = atomic_load_explicit(&srw->state, memory_order_relaxed);

    while (is_free(state))
        if (change(srw, &state, state | SRW_WRITTEN, memory_order_acquire))
            return TRUE;
    return FALSE;
}

/* ReleaseSRWLockExclusive - ends the program where no writer has the lock. */
void WINAPI ReleaseSRWLockExclusive(PSRWLOCK lock)
{
    struct srw *srw = srw_of(lock);
    uint32_t before = atomic_fetch_sub_explicit(&srw->state, SRW_WRITTEN, memory_order_release);

    if ((before & SRW_READERS) != SRW_WRITTEN)
        not_owned();
    if (before != SRW_WRITTEN)
        wake_next(srw, before - SRW_WRITTEN);
}
