/* SPDX-License-Identifier: MIT */
/*
 * lock_ask.h - a lock whose holder works for others, too: a thread that finds it taken asks the holder to do its work,
 * and goes on.
 *
 * A thread asks by a bit of the lock's own word (lock.h). One atomic operation finds the lock taken and sets the bit;
 * one atomic operation finds the bit clear and gives the lock up. So no request falls between "the lock is taken, leave
 * the work to its holder" and "the holder has looked": afterwards one of the two threads has the lock, and knows of the
 * work. Where no thread asks, both operations cost as much as those of lock.h.
 *
 * The holder that takes a request sees what the asking thread has stored before. lock_release drops requests: its
 * caller then looks itself for whatever may have been asked.
 */
#ifndef UTIL_LOCK_ASK_H
#define UTIL_LOCK_ASK_H

#include "util/lock.h"

/* A bit of a word that is not LOCK_FREE, above the count of threads and below LOCK_SLEEPERS. */
enum { LOCK_ASKED = 1 << 28 };

/* lock_leave's slow path, when another thread came, sleeps, or has asked; without the checks of debug builds. */
bool lock_leave_rest(struct lock *lock);

/* Either takes the lock or asks its holder, whatever the holder does meanwhile. Returns whether it took the lock. */
static inline bool lock_try_or_ask(struct lock *lock)
{
    while (!lock_try(lock)) /* LOCK_FREE has all bits set, so the bit does not change a free lock */
        if (atomic_fetch_or_explicit(&lock->word, LOCK_ASKED, memory_order_acq_rel) != LOCK_FREE)
            return false;
    return true;
}

/* Gives the lock up. False: a thread has asked, so the lock is still held; do what was asked, then call this again. */
static inline bool lock_leave(struct lock *lock)
{
    uint32_t expected = LOCK_TAKEN;

    lock_debug_dropped(lock);
    if (__builtin_expect(atomic_compare_exchange_strong_explicit(&lock->word, &expected, LOCK_FREE,
                             memory_order_release, memory_order_relaxed),
            1))
        return true;
    if (lock_leave_rest(lock))
        return true;
    lock_debug_taken(lock);
    return false;
}

/* Gives the lock up in any case. Returns whether a thread has asked, whose work is not done then. */
static inline bool lock_leave_undone(struct lock *lock)
{
    bool asked = false;

    while (!lock_leave(lock))
        asked = true;
    return asked;
}

#endif
