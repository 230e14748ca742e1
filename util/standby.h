/* SPDX-License-Identifier: MIT */
/*
 * standby.h - a background thread that steps aside while the program's own threads do the work.
 *
 * softrdma's progress thread (connections that nobody polls) needs this. It sleeps in epoll_wait on descriptors armed
 * with EPOLLONESHOT. When one fires while foreground threads are at work, it leaves that descriptor disarmed and keeps
 * it on a list of its own ("aside"); it looks every STANDBY_TICK_US whether they still are, and arms it again when not.
 *
 *   foreground polls        standby_active() on each look: one relaxed store, no system call
 *   foreground sleeps       standby_sleep_begin(), sleep on the same descriptors, standby_sleep_end()
 *   background, per loop    standby_park(): true: it may sleep without a tick, and the first foreground thread that
 *                           ends its sleep kicks it; else it sleeps for STANDBY_TICK_US
 *
 * So an idle process costs no CPU, a polling one costs the background thread one look a tick, and what nobody looks
 * at is served within two ticks.
 */
#ifndef UTIL_STANDBY_H
#define UTIL_STANDBY_H

#include <stdatomic.h>
#include <stdbool.h>

enum { STANDBY_TICK_US = 400 };

struct standby {
    atomic_uint activity; /* bumped by foreground threads; torn or lost updates are harmless */
    atomic_int sleepers;  /* foreground threads asleep on the descriptors */
    /* background thread sleeps without a tick; pairs with sleepers (both seq_cst) */
    atomic_int parked;
    int kick_fd; /* eventfd; the background thread has it in its epoll set */
};

/* Returns 0 or a negative errno. */
int standby_init(struct standby *standby);
void standby_fini(struct standby *standby);

/* Wakes the background thread out of epoll_wait. Any thread. */
void standby_kick(struct standby *standby);
/* Background thread: empties kick_fd after it showed readable. */
void standby_kicked(struct standby *standby);

/* A foreground thread has just looked for work itself. */
static inline void standby_active(struct standby *standby)
{
    atomic_store_explicit(&standby->activity,
        atomic_load_explicit(&standby->activity, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* A foreground thread goes to sleep on the descriptors, or ends that sleep. */
static inline void standby_sleep_begin(struct standby *standby)
{
    atomic_fetch_add(&standby->sleepers, 1);
}

static inline void standby_sleep_end(struct standby *standby)
{
    standby_active(standby);
    if (atomic_fetch_sub(&standby->sleepers, 1) == 1 && atomic_load(&standby->parked) &&
        atomic_exchange(&standby->parked, 0))
        standby_kick(standby);
}

/* Whether a foreground thread sleeps on the descriptors now. */
static inline bool standby_attended(struct standby *standby)
{
    return atomic_load_explicit(&standby->sleepers, memory_order_relaxed) > 0;
}

/*
 * standby_quiet - background thread, once a tick: has nobody been at work since the last call?
 * seen  inout: the activity count at the last look
 */
static inline bool standby_quiet(struct standby *standby, unsigned *seen)
{
    unsigned now = atomic_load_explicit(&standby->activity, memory_order_relaxed);
    bool quiet = now == *seen && !standby_attended(standby);

    *seen = now;
    return quiet;
}

/*
 * standby_park - background thread, with descriptors aside and no activity for some ticks: may it sleep without a
 * tick? True while a foreground thread sleeps on them; that thread kicks when it stops. Call standby_unpark after
 * every epoll_wait.
 */
static inline bool standby_park(struct standby *standby)
{
    atomic_store(&standby->parked, 1);
    if (atomic_load(&standby->sleepers) > 0)
        return true;
    atomic_store(&standby->parked, 0);
    return false;
}

static inline void standby_unpark(struct standby *standby)
{
    atomic_store(&standby->parked, 0);
}

#endif
