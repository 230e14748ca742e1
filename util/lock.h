/* SPDX-License-Identifier: MIT */
/*
 * lock.h - the project's mutex: one word, inline when free, with a level that debug builds check.
 *
 * Every lock has a level; a thread takes locks of strictly rising level only. Debug builds abort with both names
 * where that is broken, or where lock_assert_held fails. lock_try may be used against the order (it cannot deadlock).
 * The levels are told in docs/design.md, "Lock levels"; that table and this enum change together.
 */
#ifndef UTIL_LOCK_H
#define UTIL_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum lock_level {
    /* ndspi/core */
    LOCK_PROVIDER = 10,
    LOCK_ADAPTER = 20,
    LOCK_LISTENER = 30,
    LOCK_CONNECTOR = 40,
    LOCK_CM_ID = 44,       /* whose a connection id is */
    LOCK_CM_TIMER = 46,    /* an adapter's deadlines */
    LOCK_QP = 50,        /* a queue pair's connection side: claim, state, flush */
    LOCK_QP_QUEUE = 54,  /* one request ring (initiator or receive), SRQ */
    LOCK_CQ = 58,
    LOCK_MEMORY = 60,    /* MR and MW */
    /* softrdma: called from all of the above, never calls up */
    LOCK_SRD_CM = 110,     /* one rdma_cm_id */
    LOCK_SRD_RX = 120,     /* whoever reads a connection's socket */
    LOCK_SRD_TX = 130,     /* whoever writes it */
    LOCK_SRD_SQ = 140,
    LOCK_SRD_RQ = 150,     /* receive queue or shared receive queue */
    LOCK_SRD_MEMORY = 160, /* STag table */
    LOCK_SRD_CQ = 170,
    LOCK_SRD_LOOP = 176, /* the engine's sources, the table of queue pairs: leaves but for timers */
    LOCK_SRD_CHANNEL = 180, /* completion channel, event channel, async queue, timers */
    /* delivery of overlapped completions: held while winobj is told, see docs/design.md */
    LOCK_PENDING = 200,
    /* winobj */
    LOCK_WIN_FILE = 210,
    LOCK_WIN_OBJECT = 220, /* event, port, thread */
    LOCK_WIN_WAITER = 230,
    LOCK_WIN_HANDLES = 240,
};

struct lock {
    _Atomic uint32_t word; /* 0 free, 1 taken, 2 taken and someone sleeps */
#ifndef NDEBUG
    int level;
    const char *name;
    _Atomic(const void *) owner; /* address of the owner's thread-local stack of held locks */
#endif
};

#ifndef NDEBUG
#define LOCK_INIT(lock_level_, lock_name_) { .level = (lock_level_), .name = (lock_name_) }
void lock_debug_init(struct lock *lock, enum lock_level level, const char *name);
void lock_debug_check(struct lock *lock);
void lock_debug_taken(struct lock *lock);
void lock_debug_dropped(struct lock *lock);
void lock_debug_assert_held(struct lock *lock);
#else
#define LOCK_INIT(lock_level_, lock_name_) { 0 }
#define lock_debug_init(lock, level, name) ((void)(level), (void)(name))
#define lock_debug_check(lock) ((void)0)
#define lock_debug_taken(lock) ((void)0)
#define lock_debug_dropped(lock) ((void)0)
#define lock_debug_assert_held(lock) ((void)(lock))
#endif

void lock_sleep_(struct lock *lock);
void lock_wake_(struct lock *lock);

static inline void lock_init(struct lock *lock, enum lock_level level, const char *name)
{
    atomic_init(&lock->word, 0);
    lock_debug_init(lock, level, name);
}

static inline bool lock_try(struct lock *lock)
{
    uint32_t free_ = 0;

    if (!atomic_compare_exchange_strong_explicit(
            &lock->word, &free_, 1, memory_order_acquire, memory_order_relaxed))
        return false;
    lock_debug_taken(lock);
    return true;
}

static inline void lock_acquire(struct lock *lock)
{
    uint32_t free_ = 0;

    lock_debug_check(lock);
    if (__builtin_expect(!atomic_compare_exchange_strong_explicit(
                             &lock->word, &free_, 1, memory_order_acquire, memory_order_relaxed),
            0))
        lock_sleep_(lock);
    lock_debug_taken(lock);
}

static inline void lock_release(struct lock *lock)
{
    lock_debug_dropped(lock);
    if (__builtin_expect(atomic_exchange_explicit(&lock->word, 0, memory_order_release) == 2, 0))
        lock_wake_(lock);
}

/* At the top of each function named _locked. */
static inline void lock_assert_held(struct lock *lock)
{
    lock_debug_assert_held(lock);
}

#endif
