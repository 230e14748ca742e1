/* SPDX-License-Identifier: MIT */
/*
 * background.c - the background thread. It is in one of these states:
 *
 *   attends  it sleeps until a descriptor in the set is ready, or a source is due: no thread of the program has waited
 *            or polled for a tick
 *   ticks    it sleeps for a tick, and not on the set: threads of the program wait or poll. Ticks get longer as long as
 *            they do. It serves a source that was ready for a whole tick, since the program may poll only some sources
 *   parked   it sleeps until it is woken: a thread of the program drives, and nothing else has happened for some ticks.
 *            A driver that stops, with no follower to take its place, wakes it
 *
 * While it attends it calls ppoll on the epoll descriptor, not epoll_wait: so a thread of the program that begins to
 * wait drives at once, and only has to wake this thread, which then leaves the set, before the next event wakes both.
 */
#include "reactor/internal.h"

#include "util/clock.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

enum { TICK_NS = 400000, TICKS_MAX = 8, PARK_TICKS = 4 };

static struct reactor_waiter background_waiter;

static struct {
    unsigned seen;        /* reactor_activity when this thread looked last */
    uint64_t busy_ns;     /* when this thread last found that it had changed */
    unsigned ticks;       /* length of its sleep while the program waits or polls, in ticks */
    unsigned quiet_ticks; /* sleeps in a row without a change while another thread drove */
    bool ready;           /* a descriptor in the set was ready after the last tick */
} background;

/* Decides the state to sleep in, and until when. */
static void background_decide_locked(void)
{
    unsigned activity = atomic_load_explicit(&reactor_activity, memory_order_relaxed);
    uint64_t now_ns = clock_now_ns();

    lock_assert_held(&reactor.lock);
    reactor.background = BACKGROUND_TICKS;
    if (activity == reactor.activity_at_leave && !reactor.driver) {
        background.seen = activity;
        background.quiet_ticks = 0;
        reactor.background = BACKGROUND_ATTENDS;
    } else if (activity != background.seen) {
        background.seen = activity;
        background.busy_ns = now_ns;
        background.quiet_ticks = 0;
        background.ticks = background.ticks < TICKS_MAX / 2 ? background.ticks * 2 : TICKS_MAX;
    } else if (now_ns - background.busy_ns >= TICK_NS) {
        background.quiet_ticks = reactor.driver ? background.quiet_ticks + 1 : 0;
        if (!reactor.driver)
            reactor.background = BACKGROUND_ATTENDS;
        else if (background.quiet_ticks >= PARK_TICKS)
            reactor.background = BACKGROUND_PARKED;
    }
    if (!background.ticks || reactor.background == BACKGROUND_ATTENDS)
        background.ticks = 1;
    reactor.background_until_ns = reactor.background == BACKGROUND_TICKS
                                      ? now_ns + background.ticks * (uint64_t)TICK_NS
                                      : REACTOR_NEVER;
    if (!reactor.driver)
        reactor.background_until_ns = reactor_until_locked(reactor.background_until_ns);
}

/* Sleeps as decided. set: whether to sleep on the set, too. Returns whether a descriptor in the set is ready. */
static bool background_sleep(bool set, uint64_t until_ns)
{
    struct pollfd fds[2] = { { .fd = reactor.background_fd, .events = POLLIN },
        { .fd = reactor.set_fd, .events = POLLIN } };
    uint64_t ns = reactor_left_ns(until_ns);
    struct timespec timeout = reactor_timespec_of(ns);

    if (ppoll(fds, set ? 2 : 1, ns == REACTOR_NEVER ? NULL : &timeout, NULL) <= 0)
        return false;
    if (fds[0].revents)
        reactor_drain(reactor.background_fd);
    return fds[1].revents;
}

/* Whether, after a tick, a source was ready for the whole tick, which means that no thread serves it. */
static bool background_left_over(void)
{
    struct pollfd set = { .fd = reactor.set_fd, .events = POLLIN };
    bool before = background.ready;

    background.ready = poll(&set, 1, 0) > 0;
    return before && background.ready;
}

/*
 * Makes this thread the driver, if there is work and no other thread drives. Returns whether it drives. It also drives
 * without sources: a kick that came after its driver had stopped leaves kick_fd ready until a driver drains it.
 */
static bool background_drive_locked(bool ready)
{
    uint64_t next_ns = atomic_load_explicit(&reactor.next_deadline_ns, memory_order_relaxed);

    lock_assert_held(&reactor.lock);
    if (reactor.driver || (!ready && list_empty(&reactor.runs) && reactor_left_ns(next_ns)))
        return false;
    reactor.driver = &background_waiter;
    return true;
}

static void background_round(void)
{
    enum reactor_background_state state;
    uint64_t until_ns;
    bool ready, drives;

    lock_acquire(&reactor.lock);
    background_decide_locked();
    state = reactor.background;
    until_ns = reactor.background_until_ns;
    lock_release(&reactor.lock);
    ready = background_sleep(state == BACKGROUND_ATTENDS, until_ns);
    if (state == BACKGROUND_TICKS)
        ready = background_left_over();
    else /* if a thread of the program has polled meanwhile, it looks itself */
        ready = ready &&
                atomic_load_explicit(&reactor_activity, memory_order_relaxed) == background.seen;
    lock_acquire(&reactor.lock);
    reactor.background = BACKGROUND_AWAKE;
    drives = background_drive_locked(ready);
    lock_release(&reactor.lock);
    if (!drives)
        return;
    reactor_turn_at_once(REACTOR_BACKGROUND, ready);
    reactor_stop(REACTOR_BACKGROUND);
}

void reactor_background_main(void *unused)
{
    (void)unused;
    for (;;)
        background_round();
}

void reactor_serve(void (*turn_ended)(void))
{
    for (;;) {
        background_round();
        turn_ended();
    }
}
