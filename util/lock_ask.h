/* SPDX-License-Identifier: MIT */
/*
 * lock_ask.h - a lock whose holder works for others, too: a thread that finds it taken asks the holder, and goes.
 *
 * What it asks by is a bit of the lock's own word (lock.h). It is set in the operation that finds the lock taken, and
 * the lock is given up in an operation that finds it clear. So nothing comes between "it is taken, leave it to its
 * holder" and "the holder has looked": one of the two has the lock afterwards, and knows. Where nobody asks, taking and
 * leaving cost what they cost otherwise.
 *
 * The holder that takes a request sees what the asking thread has stored before. lock_release drops requests: who calls
 * it does anew what may have been asked for.
 */
#ifndef UTIL_LOCK_ASK_H
#define UTIL_LOCK_ASK_H

#include "util/lock.h"

/* In a word that is not LOCK_FREE; above all counts, and below what says that threads sleep. */
enum { LOCK_ASKED = 1 << 28 };

/* Another thread came, sleeps, or has asked: the same, but for what debug builds check. */
bool lock_leave_rest(struct lock *lock);

/* Takes the lock, or asks its holder: one of the two, whatever that does meanwhile. Returns whether it took it. */
static inline bool lock_try_or_ask(struct lock *lock)
{
    while (!lock_try(lock)) /* all bits of LOCK_FREE are set: to ask nobody changes nothing */
        if (atomic_fetch_or_explicit(&lock->word, LOCK_ASKED, memory_order_acq_rel) != LOCK_FREE)
            return false;
    return true;
}

/* Gives the lock up. False: a thread has asked, so it is still held; do what is to be done, and leave again. */
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

/* Gives it up in any case. Returns whether a thread has asked for what this one has not done. */
static inline bool lock_leave_undone(struct lock *lock)
{
    bool asked = false;

    while (!lock_leave(lock))
        asked = true;
    return asked;
}

#endif
