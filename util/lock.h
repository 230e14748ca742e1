/* SPDX-License-Identifier: MIT */
/*
 * lock.h - the project's mutex: one word, inline when free, with a level that debug builds check.
 *
 * Every lock has a level; a thread takes locks of strictly rising level only. Debug builds abort with both names
 * where that is broken, or where lock_assert_held fails. lock_try may be used against the order (it cannot deadlock).
 * docs/internals/locks.md has the levels; that table and this enum change together.
 */
#ifndef UTIL_LOCK_H
#define UTIL_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum lock_level {
    LOCK_NDK_OPENING = 3, /* ndk: the list of open devices; held while one is opened */
    LOCK_CHECK_POST = 5,  /* the order in which checked requests are posted (ndspi/check) */
    /* ndspi/core */
    LOCK_PROVIDER = 10,
    LOCK_BOARD = 15, /* the list of adapters that other processes see */
    LOCK_ADAPTER = 20,
    LOCK_LISTENER = 30,
    LOCK_CONNECTOR = 40,
    LOCK_CM_ID = 44,      /* the owner of a connection id */
    LOCK_CM_TIMER = 46,   /* an adapter's deadlines */
    LOCK_QP = 50,         /* a queue pair's connection side: claim, state, flush */
    LOCK_SRQ_LIMIT = 52,  /* a shared receive queue's limit in the device, and its waiters */
    LOCK_NDK_QUEUES = 53, /* ndk: the queue pairs of a protection domain */
    LOCK_QP_QUEUE = 54,   /* one request ring (initiator or receive), SRQ */
    LOCK_CQ_SIZE = 56, /* a completion queue's size; held over the device's call that resizes it */
    LOCK_CQ = 58,
    LOCK_MEMORY = 60, /* MR and MW */
    /* ndspi/verbs/shim: called from all of the above, never calls up */
    LOCK_SHIM_QP = 70,   /* held over the device's control calls */
    LOCK_SHIM_RING = 72, /* held over posts to the device */
    LOCK_SHIM_CQ = 74,
    LOCK_RDMA_CORE = 80, /* held over a call that takes a static lock of rdma-core's */
    /* softrdma: called from all of the above, never calls up */
    LOCK_SRD_EXCHANGE = 105, /* the exchange that connects one queue pair by number and address */
    LOCK_SRD_CM = 110,       /* one rdma_cm_id */
    LOCK_SRD_MEET = 115,     /* the connections that are offered to a listener */
    LOCK_SRD_ORDER = 117,    /* the list of connects that wait for a listener */
    LOCK_SRD_RX = 120,       /* the thread that reads a connection's socket */
    LOCK_SRD_TX = 130,       /* the thread that writes it */
    LOCK_SRD_SQ = 140,
    LOCK_SRD_RQ = 150,     /* receive queue or shared receive queue */
    LOCK_SRD_MEMORY = 160, /* STag table */
    LOCK_SRD_CQ = 170,
    LOCK_SRD_DEVICE = 176,  /* the shared contexts, the table of queue pairs */
    LOCK_SRD_CHANNEL = 180, /* completion channel, event channel, async queue, softrdma's sources */
    LOCK_SRD_CLOSE = 185,   /* other processes' descriptors, which a thread closes: a leaf */
    /* delivery of overlapped completions: held over calls of winobj, see docs/internals/completion.md */
    LOCK_PENDING = 200,
    /* Winsock's sockets: held over their system calls and the completion of their requests */
    LOCK_WIN_LISTENER = 202, /* the AcceptEx of a listener */
    LOCK_WIN_SOCKET = 203,   /* the requests of a socket or named pipe */
    LOCK_FILE_USERS = 204,   /* the callbacks for the end of a file */
    /* ndk: the calls of the consumer that are to be made; they are queued under PENDING */
    LOCK_NDK_MEMORY = 205, /* a domain's local tokens; an adapter's mappings */
    LOCK_NDK_POOL = 206,
    LOCK_CHECK = 207, /* the records of the checker of programs (ndspi/check) */
    LOCK_NDK_WORKER = 208,
    LOCK_NDK_VERIFIER = 209, /* the records of the checker of consumers: a leaf */
    /* winobj */
    LOCK_WIN_FILE = 210,
    LOCK_WIN_OBJECT = 220,  /* event, port, thread */
    LOCK_WIN_INLET = 225,   /* the pipes of ports that other processes post to */
    LOCK_WIN_NAMES = 230,   /* objects with names, of all processes of the user */
    LOCK_WIN_PARCELS = 235, /* processes that ask for handles of this one */
    LOCK_WIN_INHERIT = 237, /* the handles that are kept for processes that begin */
    LOCK_WIN_HANDLES = 240,
    LOCK_WIN_RING = 245, /* the queues of io_uring; held over its system calls */
    /* wine, in winobj's place: its files, and the results to be delivered */
    LOCK_WINE_FILES = 250,
    LOCK_WINE_QUEUE = 260,
    LOCK_REACTOR = 270, /* sources, deadlines, who drives: a leaf */
};

/*
 * The word counts the threads that came while the lock was held; acquire and release are one instruction and one branch
 * each. A sleeper sets LOCK_SLEEPERS, so that the holder knows that it must futex_wake. If a thread came meanwhile, the
 * release has a second step, and the lock is free only after that: from there on the releasing thread uses only the
 * lock's address, so the next holder may free its memory.
 */
enum { LOCK_TAKEN = 0, LOCK_SLEEPERS = 1 << 30 };
#define LOCK_FREE UINT32_MAX

struct lock {
    _Atomic uint32_t word;
#ifndef NDEBUG
    int level;
    const char *name;
    _Atomic(const void *) owner; /* address of the owner's thread-local stack of held locks */
#endif
};

#ifndef NDEBUG
#define LOCK_INIT(lock_level_, lock_name_)                                                         \
    {                                                                                              \
        .word = LOCK_FREE, .level = (lock_level_), .name = (lock_name_)                            \
    }
void lock_debug_init(struct lock *lock, enum lock_level level, const char *name);
void lock_debug_check(struct lock *lock);
void lock_debug_taken(struct lock *lock);
void lock_debug_dropped(struct lock *lock);
void lock_debug_assert_held(struct lock *lock);
#else
#define LOCK_INIT(lock_level_, lock_name_)                                                         \
    {                                                                                              \
        .word = LOCK_FREE                                                                          \
    }
#define lock_debug_init(lock, level, name) ((void)(level), (void)(name))
#define lock_debug_check(lock)             ((void)0)
#define lock_debug_taken(lock)             ((void)0)
#define lock_debug_dropped(lock)           ((void)0)
#define lock_debug_assert_held(lock)       ((void)(lock))
#endif

void lock_sleep_(struct lock *lock);
void lock_release_rest(struct lock *lock);

static inline void lock_init(struct lock *lock, enum lock_level level, const char *name)
{
    atomic_init(&lock->word, LOCK_FREE);
    lock_debug_init(lock, level, name);
}

static inline bool lock_try(struct lock *lock)
{
    uint32_t expected = LOCK_FREE;

    if (!atomic_compare_exchange_strong_explicit(
            &lock->word, &expected, LOCK_TAKEN, memory_order_acquire, memory_order_relaxed))
        return false;
    lock_debug_taken(lock);
    return true;
}

/* Counts one more thread that wants the lock. Returns whether it has the lock: no other thread wanted it. */
static inline bool lock_count_(struct lock *lock)
{
    return __builtin_expect(
        atomic_fetch_add_explicit(&lock->word, 1, memory_order_acquire) == LOCK_FREE, 1);
}

/* Counts one less. Returns whether the lock is free now: no other thread wants it. */
static inline bool lock_discount_(struct lock *lock)
{
    return __builtin_expect(
        (int32_t)(atomic_fetch_sub_explicit(&lock->word, 1, memory_order_release) - 1) < 0, 1);
}

/*
 * lock_acquire_quick - takes the lock if it is free. False: it is not, and the caller must go on to lock_acquire, since
 * the word already counts it. It is for hot functions that want no call in-line: they call a slow form of themselves
 * then.
 */
static inline bool lock_acquire_quick(struct lock *lock)
{
    lock_debug_check(lock);
    if (!lock_count_(lock))
        return false;
    lock_debug_taken(lock);
    return true;
}

static inline void lock_acquire(struct lock *lock)
{
    lock_debug_check(lock);
    if (!lock_count_(lock))
        lock_sleep_(lock);
    lock_debug_taken(lock);
}

/*
 * Releases the lock, unless another thread came meanwhile. False: one came, so the lock is still held, and the caller
 * has to call lock_release_rest at once.
 */
static inline bool lock_release_quick(struct lock *lock)
{
    lock_debug_dropped(lock);
    return lock_discount_(lock);
}

static inline void lock_release(struct lock *lock)
{
    if (!lock_release_quick(lock))
        lock_release_rest(lock);
}

/*
 * lock_hold, lock_drop - lock_acquire and lock_release for a function that holds any number of locks of a kind at once:
 * debug builds neither count these locks nor check their order, which the function has to keep itself.
 */
static inline void lock_hold(struct lock *lock)
{
    if (!lock_count_(lock))
        lock_sleep_(lock);
}

static inline void lock_drop(struct lock *lock)
{
    if (!lock_discount_(lock))
        lock_release_rest(lock);
}

/* Each function named _locked calls it at its top. */
static inline void lock_assert_held(struct lock *lock)
{
    lock_debug_assert_held(lock);
}

#endif
