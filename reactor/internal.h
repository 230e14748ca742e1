/* SPDX-License-Identifier: MIT */
/*
 * internal.h - the one reactor of the process, as its files share it. Each calls those before it: waiter.c (the
 * reactor; a thread's waiter), source.c (the table of sources, the set, deadlines), turn.c (sleeps in the set, runs
 * callbacks), drive.c (which thread of the program does), background.c (the background thread), life.c (its first
 * source, forks).
 */
#ifndef REACTOR_INTERNAL_H
#define REACTOR_INTERNAL_H

#include "reactor/reactor.h"

#include "util/clock.h"
#include "util/lock.h"

#include <time.h>

enum { REACTOR_NO_SLOT = UINT32_MAX, REACTOR_NOT_IN_HEAP = UINT32_MAX };

/* Stands in epoll data where a source has its token. */
#define REACTOR_KICK UINT64_MAX

enum reactor_waiter_bits { WAITER_SIGNAL = 1, WAITER_DRIVE = 2 };
enum reactor_waiter_mode { WAITER_AWAKE, WAITER_FUTEX, WAITER_EPOLL };

struct reactor_waiter {
    /* word and mode pair with each other: both seq_cst */
    _Atomic uint32_t word; /* reactor_waiter_bits; others set them, the owner clears them */
    _Atomic uint32_t mode; /* reactor_waiter_mode; set by the owner; to EPOLL under the lock */
    struct list_node link; /* of the followers, or of the pool; lock */
    unsigned runs;         /* turns with sources to run; most did not look at the set */
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
    struct lock lock; /* LOCK_REACTOR; all but what says otherwise */
    unsigned process; /* how many forks are between this process and its first ancestor */
    bool open;
    int set_fd,
        kick_fd; /* the epoll set; the eventfd by which its sleeper is woken. They stay once open */

    struct reactor_slot *slots;
    uint32_t slot_count, free_slot;
    atomic_uint source_count; /* read without the lock */

    struct reactor_source **heap; /* by deadline, the earliest first */
    uint32_t heap_count, heap_room;
    _Atomic uint64_t next_deadline_ns; /* heap's first; read without the lock */

    struct list_head runs;
    atomic_bool any_runs; /* read without the lock */

    struct reactor_waiter *driver;
    uint64_t driver_until_ns; /* while its mode is WAITER_EPOLL: when it wakes by itself */
    struct list_head followers;
    atomic_uint follower_count;     /* read without the lock */
    struct reactor_source *running; /* whose callback runs */
    unsigned syncers;               /* threads in reactor_remove_sync */
    _Atomic uint32_t ended;         /* what these sleep on: callbacks that ended */

    bool background_there; /* started or lent */
    atomic_bool lent;      /* read without the lock */
    int background_fd;     /* eventfd by which it is woken */
    enum reactor_background_state background;
    uint64_t background_until_ns;
    unsigned left; /* activity when a thread went to sleep elsewhere */
};

extern struct reactor reactor;
extern _Thread_local bool reactor_turning; /* the calling thread is in a callback, or between two */

/* waiter.c */
void reactor_kick(int fd);
void reactor_drain(int fd);
/* Child of a fork: its one thread keeps its waiter. */
void reactor_waiters_forked(void);

/* source.c */

/* The thread that the caller has to wake after it has dropped the lock. */
enum reactor_whom { REACTOR_NOBODY, REACTOR_THE_DRIVER, REACTOR_THE_BACKGROUND };
void reactor_wake(enum reactor_whom whom);
/* The background thread, if it is not awake already, or about to be. */
enum reactor_whom reactor_background_locked(void);

/* Into the table and the set. Returns 0 or a negative errno. */
int reactor_insert_locked(struct reactor_source *source, uint32_t events);
/* The source that an event is for, or NULL. */
struct reactor_source *reactor_find_locked(uint64_t token);
/* Takes the first one due off the heap; NULL when none is. */
struct reactor_source *reactor_take_due_locked(uint64_t now_ns);

/* turn.c; the caller drives */

/* Returns the time at which the driver wakes at the latest. 0: at once. */
uint64_t reactor_until_locked(uint64_t deadline_ns);
/* Sleeps until something is ready or due, then runs that. Returns 0 or -EINTR. */
int reactor_turn(struct reactor_waiter *me, uint64_t deadline_ns, int cancel_state);
/* Runs what is ready or due, without a sleep. set: whether to look at the descriptors, too. */
void reactor_turn_at_once(enum reactor_how how, bool set);

/* drive.c */

/* Makes the caller the driver, unless there is one, or nothing to drive. Returns whether the caller drives now. */
bool reactor_drive_locked(struct reactor_waiter *me);
/* The caller drives no longer. */
void reactor_stop(enum reactor_how how);
/* Makes a follower the driver, if there is one and no thread drives. Returns it, for reactor_wake_follower. */
struct reactor_waiter *reactor_appoint_locked(void);
/* Without the lock. follower: may be NULL */
void reactor_wake_follower(struct reactor_waiter *follower);

/* background.c: the thread's function; never returns. */
void reactor_background_main(void *unused);

/* Nanoseconds from now to the deadline; 0 when passed, REACTOR_NEVER for none. */
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
