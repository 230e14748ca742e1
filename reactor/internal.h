/* SPDX-License-Identifier: MIT */
/*
 * internal.h - what the reactor's files share. A process has one reactor. Each file calls those before it in this list:
 * waiter.c (the reactor; a thread's waiter), source.c (the table of sources, the epoll set, deadlines), turn.c (sleeps
 * in the set, runs callbacks), drive.c (chooses the thread that drives), background.c (the background thread), life.c
 * (the reactor's creation, forks). "The set" is the epoll set of all sources' descriptors; a source is due when its
 * deadline has passed.
 */
#ifndef REACTOR_INTERNAL_H
#define REACTOR_INTERNAL_H

#include "reactor/reactor.h"

#include "util/clock.h"
#include "util/lock.h"

#include <time.h>

enum { REACTOR_NO_SLOT = UINT32_MAX, REACTOR_NOT_IN_HEAP = UINT32_MAX };

/* The epoll data of kick_fd; a source's descriptor has the source's token there. */
#define REACTOR_KICK UINT64_MAX

enum reactor_waiter_bits { WAITER_SIGNAL = 1, WAITER_DRIVE = 2 };
enum reactor_waiter_mode { WAITER_AWAKE, WAITER_FUTEX, WAITER_EPOLL };

struct reactor_waiter {
    /* word and mode pair with each other: both seq_cst */
    _Atomic uint32_t word; /* reactor_waiter_bits; other threads set them, the owner clears them */
    _Atomic uint32_t mode; /* reactor_waiter_mode; the owner sets it, to EPOLL under the lock */
    struct list_node link; /* place among the followers or in the pool; under the lock */
    unsigned runs;         /* number of turns with sources to run; most did not look at the set */
};

struct reactor_slot {
    struct reactor_source *source; /* one reference */
    uint32_t generation, next_free;
};

/* How the background thread sleeps; background.c. */
enum reactor_background_state {
    BACKGROUND_AWAKE,
    BACKGROUND_ATTENDS,
    BACKGROUND_TICKS,
    BACKGROUND_PARKED
};

struct reactor {
    struct lock lock; /* LOCK_REACTOR; guards all members that do not say otherwise */
    unsigned process; /* number of forks between this process and its first ancestor */
    bool open;        /* the two descriptors below are open; they stay open */
    int set_fd;       /* the epoll set */
    int kick_fd;      /* an eventfd in the set, which wakes the driver */

    struct reactor_slot *slots;
    uint32_t slot_count, free_slot;
    atomic_uint source_count; /* read without the lock */

    struct reactor_source **heap; /* sources with a deadline, the earliest first */
    uint32_t heap_count, heap_room;
    _Atomic uint64_t next_deadline_ns; /* heap's first; read without the lock */

    struct list_head runs; /* sources whose run is to be called */
    atomic_bool any_runs;  /* read without the lock */

    struct reactor_waiter *driver;
    uint64_t driver_until_ns; /* while its mode is WAITER_EPOLL: when its sleep ends by itself */
    struct list_head followers;
    atomic_uint follower_count;     /* read without the lock */
    struct reactor_source *running; /* the source whose callback runs */
    unsigned syncers;               /* number of threads that sleep in reactor_remove_sync */
    _Atomic uint32_t ended;         /* number of callbacks that ended; the syncers' futex */

    bool background_there; /* the background thread was started, or a thread was lent as it */
    atomic_bool lent;      /* read without the lock */
    int background_fd;     /* an eventfd, which wakes the background thread */
    enum reactor_background_state background;
    uint64_t background_until_ns;
    unsigned activity_at_leave; /* reactor_activity at the last reactor_leave */
};

extern struct reactor reactor;
extern _Thread_local bool reactor_turning; /* the calling thread is in a callback, or between two */

/* waiter.c */
void reactor_kick(int fd);
void reactor_drain(int fd);
/* The child of a fork calls it; its one thread keeps its waiter. */
void reactor_waiters_forked(void);

/* source.c */

/* The thread that the caller has to wake after it has dropped the lock. */
enum reactor_whom { REACTOR_NOBODY, REACTOR_THE_DRIVER, REACTOR_THE_BACKGROUND };
void reactor_wake(enum reactor_whom whom);
/* Has the background thread woken: returns REACTOR_THE_BACKGROUND, or REACTOR_NOBODY if it is awake or about to be. */
enum reactor_whom reactor_background_locked(void);

/* Puts a source into the table, and its descriptor into the set. Returns 0 or a negative errno. */
int reactor_insert_locked(struct reactor_source *source, uint32_t events);
/* Returns the source that an event's token names, or NULL. */
struct reactor_source *reactor_find_locked(uint64_t token);
/* Takes the earliest source that is due off the heap. Returns NULL when none is due. */
struct reactor_source *reactor_take_due_locked(uint64_t now_ns);

/* turn.c; the caller drives */

/* Returns the latest time at which the driver has to wake. 0: it must not sleep. */
uint64_t reactor_until_locked(uint64_t deadline_ns);
/* Sleeps until a source is ready or due, then runs callbacks. Returns 0 or -EINTR. */
int reactor_turn(struct reactor_waiter *me, uint64_t deadline_ns, int cancel_state);
/* Runs the callbacks of sources that are ready or due, without a sleep. set: whether to look at the set, too. */
void reactor_turn_at_once(enum reactor_how how, bool set);

/* drive.c */

/* Makes the caller the driver, unless another thread drives, or no source is there. Returns whether it drives now. */
bool reactor_drive_locked(struct reactor_waiter *me);
/* The caller drives no longer. */
void reactor_stop(enum reactor_how how);
/* Makes a follower the driver, if one is there and no thread drives. Returns it, for reactor_wake_follower, or NULL. */
struct reactor_waiter *reactor_appoint_locked(void);
/* Wakes a follower that was made the driver; NULL is allowed. The lock is not held. */
void reactor_wake_follower(struct reactor_waiter *follower);

/* background.c: the thread's function; never returns. */
void reactor_background_main(void *unused);

/* Returns the nanoseconds from now to the deadline; 0 when it has passed, REACTOR_NEVER when there is none. */
static inline uint64_t reactor_left_ns(uint64_t deadline_ns)
{
    uint64_t now_ns;

    if (!deadline_ns || deadline_ns == REACTOR_NEVER)
        return deadline_ns;
    now_ns = clock_now_ns();
    return now_ns < deadline_ns ? deadline_ns - now_ns : 0;
}

static inline struct timespec reactor_timespec_of(uint64_t ns)
{
    return (struct timespec){ (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
}

#endif
