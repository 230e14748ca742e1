/* SPDX-License-Identifier: MIT */
/* lock.c - the contended path of lock.h, and the level checks of debug builds. */
#include "util/lock.h"

#include "util/futex.h"
#include "util/lock_ask.h"
#include "util/pause.h"

#include <stdio.h>
#include <stdlib.h>

enum { SPINS = 100 };

/* Sets LOCK_SLEEPERS, and keeps LOCK_ASKED. Returns whether the lock was free, and is taken now. */
static bool take_or_mark(struct lock *lock, uint32_t *word)
{
    uint32_t is = atomic_load_explicit(&lock->word, memory_order_relaxed);

    do
        *word = LOCK_SLEEPERS | (is == LOCK_FREE ? 0 : is & LOCK_ASKED);
    while (!atomic_compare_exchange_strong_explicit(
        &lock->word, &is, *word, memory_order_acquire, memory_order_relaxed));
    return is == LOCK_FREE;
}

/*
 * A thread that has slept takes the lock with LOCK_SLEEPERS still set, since others may sleep too: so its own release
 * wakes the next.
 */
void lock_sleep_(struct lock *lock)
{
    uint32_t word;

    for (int i = 0; i < SPINS; i++) {
        uint32_t expected = LOCK_FREE;
        if (atomic_load_explicit(&lock->word, memory_order_relaxed) == LOCK_FREE &&
            atomic_compare_exchange_strong_explicit(
                &lock->word, &expected, LOCK_TAKEN, memory_order_acquire, memory_order_relaxed))
            return;
        processor_pause();
    }
    while (!take_or_mark(lock, &word))
        futex_wait(&lock->word, word, NULL);
}

/* Another thread came while the lock was held. The caller still has it; the exchange gives it up. */
void lock_release_rest(struct lock *lock)
{
    if (atomic_exchange_explicit(&lock->word, LOCK_FREE, memory_order_release) >= LOCK_SLEEPERS / 2)
        futex_wake(&lock->word, 1);
}

/* The caller has the lock; another thread came, sleeps, or has asked. */
bool lock_leave_rest(struct lock *lock)
{
    uint32_t is = atomic_load_explicit(&lock->word, memory_order_relaxed);

    for (;;) {
        bool asked = is & LOCK_ASKED;

        if (!atomic_compare_exchange_strong_explicit(&lock->word, &is,
                asked ? is & ~(uint32_t)LOCK_ASKED : LOCK_FREE, memory_order_acq_rel,
                memory_order_relaxed))
            continue;
        if (!asked && is >= LOCK_SLEEPERS / 2)
            futex_wake(&lock->word, 1);
        return !asked;
    }
}

#ifndef NDEBUG

enum { HELD_MAX = 24 };

struct held {
    const struct lock *lock[HELD_MAX];
    int count;
};

static _Thread_local struct held held;

static _Noreturn void die(const char *what, const struct lock *lock, const struct lock *other)
{
    fprintf(stderr, "ndspi: lock error: %s: %s (level %d)", what,
        lock->name ? lock->name : "uninitialised", lock->level);
    if (other)
        fprintf(stderr, " while holding %s (level %d)", other->name, other->level);
    fputc('\n', stderr);
    abort();
}

void lock_debug_init(struct lock *lock, enum lock_level level, const char *name)
{
    lock->level = level;
    lock->name = name;
    atomic_init(&lock->owner, NULL);
}

void lock_debug_check(struct lock *lock)
{
    if (!lock->name)
        die("used before init", lock, NULL);
    if (atomic_load_explicit(&lock->owner, memory_order_relaxed) == &held)
        die("taken twice by one thread", lock, NULL);
    for (int i = 0; i < held.count; i++)
        if (held.lock[i]->level >= lock->level)
            die("taken out of order", lock, held.lock[i]);
}

void lock_debug_taken(struct lock *lock)
{
    if (held.count == HELD_MAX)
        die("too many locks held", lock, NULL);
    held.lock[held.count++] = lock;
    atomic_store_explicit(&lock->owner, &held, memory_order_relaxed);
}

void lock_debug_dropped(struct lock *lock)
{
    lock_debug_assert_held(lock);
    atomic_store_explicit(&lock->owner, NULL, memory_order_relaxed);
    for (int i = held.count - 1; i >= 0; i--) {
        if (held.lock[i] != lock)
            continue;
        for (held.count--; i < held.count; i++)
            held.lock[i] = held.lock[i + 1];
        return;
    }
}

void lock_debug_assert_held(struct lock *lock)
{
    if (atomic_load_explicit(&lock->owner, memory_order_relaxed) != &held)
        die("not held by this thread", lock, NULL);
}

#endif
