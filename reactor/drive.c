/* SPDX-License-Identifier: MIT */
/*
 * drive.c - who drives: threads that wait, threads that look, the background thread; and what a driver does.
 *
 * The background thread is in one of these states:
 *
 *   attends  asleep until something in the set is ready, or a deadline is due: nobody else has waited or polled for a
 *   tick
 *   ticks    asleep for a tick, and not on the set: threads of the program are at work. Ticks get longer while they
 *            are. What has been ready for a whole one is served, since the program may look at some sources alone
 *   parked   asleep until it is woken: a thread of the program drives, and nothing else has happened for some ticks.
 *            The driver that stops, without another to follow it, wakes it
 *
 * It attends by poll on the set, not in the set: so a thread of the program that comes to wait drives at once, and only
 * has to send it away, before the next event would wake both.
 */
#include "reactor/internal.h"

#include "util/clock.h"
#include "util/futex.h"
#include "util/thread.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { EVENTS = 32, TICK_NS = 400000, TICKS_MAX = 8, PARK_TICKS = 4 };

atomic_uint reactor_activity;

/* sleeping */

/* Nanoseconds from now to the deadline; 0 when passed, REACTOR_NEVER for none. */
static uint64_t left_ns(uint64_t deadline_ns)
{
    uint64_t now_ns;

    if (!deadline_ns || deadline_ns == REACTOR_NEVER)
        return deadline_ns;
    now_ns = clock_now_ns();
    return now_ns < deadline_ns ? deadline_ns - now_ns : 0;
}

static struct timespec timespec_of(uint64_t ns)
{
    return (struct timespec){ (time_t)(ns / 1000000000u), (long)(ns % 1000000000u) };
}

static int milliseconds_of(uint64_t ns)
{
    uint64_t ms = ns / 1000000u + !!(ns % 1000000u);

    if (ns == REACTOR_NEVER)
        return -1;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

/*
 * epoll_wait on the set, in nanoseconds where the kernel can (Linux 5.11, and no filter that does not know the call).
 */
static int set_wait(struct epoll_event *events, uint64_t ns)
{
    static atomic_bool coarse;
    struct timespec timeout = timespec_of(ns);
    int count;

    if (!ns || ns == REACTOR_NEVER || atomic_load_explicit(&coarse, memory_order_relaxed))
        return epoll_wait(reactor.set_fd, events, EVENTS, milliseconds_of(ns));
    count = epoll_pwait2(reactor.set_fd, events, EVENTS, &timeout, NULL);
    if (count >= 0 || errno == EINTR)
        return count;
    atomic_store_explicit(&coarse, true, memory_order_relaxed);
    return epoll_wait(reactor.set_fd, events, EVENTS, milliseconds_of(ns));
}

/* one turn */

/* From here to its end the source is not freed, and reactor_remove_sync waits. */
static struct reactor_source *begin_locked(struct reactor_source *source)
{
    lock_assert_held(&reactor.lock);
    if (source) {
        reactor_ref(source);
        reactor.running = source;
    }
    return source;
}

static void end(struct reactor_source *source)
{
    bool last, waited;

    lock_acquire(&reactor.lock);
    last = atomic_fetch_sub_explicit(&source->refs, 1, memory_order_acq_rel) == 1;
    reactor.running = NULL;
    waited = reactor.syncers;
    if (waited)
        atomic_fetch_add_explicit(&reactor.ended, 1, memory_order_relaxed);
    lock_release(&reactor.lock);
    if (waited)
        futex_wake(&reactor.ended, INT_MAX);
    if (last && source->ops->free)
        source->ops->free(source);
}

static void run_events(const struct epoll_event *events, int count, enum reactor_how how)
{
    for (int i = 0; i < count; i++) {
        struct reactor_source *source;

        if (events[i].data.u64 == REACTOR_KICK)
            continue; /* it was edge-triggered: nothing to drain */
        lock_acquire(&reactor.lock);
        source = begin_locked(reactor_find_locked(events[i].data.u64));
        /* Of several sources of a device the busy one is the better host: what it sleeps for needs no descriptor. */
        if (source && source->ops->sleep)
            reactor.host = source;
        lock_release(&reactor.lock);
        if (!source)
            continue;
        source->ops->ready(source, events[i].events, how);
        end(source);
    }
}

static void run_expired(enum reactor_how how)
{
    uint64_t next_ns = atomic_load_explicit(&reactor.next_deadline_ns, memory_order_relaxed),
             now_ns;
    struct reactor_source *source;

    if (next_ns == REACTOR_NEVER || next_ns > (now_ns = clock_now_ns()))
        return;
    for (;;) {
        lock_acquire(&reactor.lock);
        source = begin_locked(reactor_take_due_locked(now_ns));
        lock_release(&reactor.lock);
        if (!source)
            return;
        source->ops->expired(source, how);
        end(source);
    }
}

/* Those that are asked for meanwhile are for the next turn. */
static void run_asked(enum reactor_how how)
{
    struct list_head asked;

    if (!atomic_load_explicit(&reactor.any_runs, memory_order_relaxed))
        return;
    list_init(&asked);
    lock_acquire(&reactor.lock);
    list_splice_tail(&asked, &reactor.runs);
    atomic_store_explicit(&reactor.any_runs, false, memory_order_relaxed);
    for (struct list_node *node; (node = list_pop(&asked));) {
        struct reactor_source *source = begin_locked(list_entry(node, struct reactor_source, run));

        lock_release(&reactor.lock);
        source->ops->run(source, how);
        end(source);
        lock_acquire(&reactor.lock);
    }
    lock_release(&reactor.lock);
}

static void run_all(const struct epoll_event *events, int count, enum reactor_how how)
{
    reactor_turning = true;
    run_events(events, count, how);
    run_expired(how);
    run_asked(how);
    reactor_turning = false;
}

/* A turn without sleep. The caller drives. set: whether to look at the descriptors, too */
static void turn_at_once(enum reactor_how how, bool set)
{
    struct epoll_event events[EVENTS];
    struct reactor_source *host = NULL;

    if (how != REACTOR_BACKGROUND) {
        lock_acquire(&reactor.lock);
        host = begin_locked(reactor.host);
        lock_release(&reactor.lock);
    }
    if (host) {
        reactor_turning = true;
        host->ops->ready(host, 0, how);
        end(host);
        reactor_turning = false;
    }
    run_all(events, set ? set_wait(events, 0) : 0, how);
}

/*
 * Sleeps in the set, or in the host. Returns the number of events, -EINTR; *work: the host has work, and ready is
 * called.
 */
static int sleep_ns(struct reactor_source *host, uint64_t ns, struct epoll_event *events,
    int cancel_state, bool *work)
{
    int count, state;
    bool others;

    if (host) {
        *work = host->ops->sleep(host, milliseconds_of(ns), &others);
        count = others ? set_wait(events, 0) : 0;
        return count < 0 ? 0 : count;
    }
    pthread_setcancelstate(cancel_state, &state);
    count = set_wait(events, ns);
    pthread_setcancelstate(state, NULL);
    return count < 0 ? -errno : count;
}

/* When the driver wakes at the latest. 0: at once. */
static uint64_t until_locked(uint64_t deadline_ns)
{
    uint64_t next_ns = atomic_load_explicit(&reactor.next_deadline_ns, memory_order_relaxed);

    lock_assert_held(&reactor.lock);
    if (!list_empty(&reactor.runs))
        return 0;
    return next_ns < deadline_ns ? next_ns : deadline_ns;
}

/* Sleeps until something is ready or due, then runs that. Returns 0 or -EINTR. */
static int turn(struct reactor_waiter *me, uint64_t deadline_ns, int cancel_state)
{
    enum reactor_whom whom = REACTOR_NOBODY;
    struct epoll_event events[EVENTS];
    struct reactor_source *host;
    bool work = false;
    int count = 0;
    uint64_t ns;

    lock_acquire(&reactor.lock);
    reactor.driver_until_ns = until_locked(deadline_ns);
    if (!(ns = left_ns(reactor.driver_until_ns))) {
        lock_release(&reactor.lock);
        turn_at_once(REACTOR_WAITING, true);
        return 0;
    }
    host = begin_locked(reactor.host);
    if (reactor.background == BACKGROUND_ATTENDS)
        whom = reactor_background_locked();
    /* Who changes what is slept for, after the lock is dropped, sees the mode, and kicks. */
    atomic_store(&me->mode, WAITER_EPOLL);
    lock_release(&reactor.lock);
    reactor_wake(whom);
    /* Pairs with reactor_signal: either that sees the mode, or this sees the word. */
    if (!(atomic_load(&me->word) & WAITER_SIGNAL))
        count = sleep_ns(host, ns, events, cancel_state, &work);
    atomic_store(&me->mode, WAITER_AWAKE);
    if (host && work) {
        reactor_turning = true;
        host->ops->ready(host, 0, REACTOR_WAITING);
        reactor_turning = false;
    }
    if (host)
        end(host);
    run_all(events, count, REACTOR_WAITING);
    return count < 0 ? count : 0;
}

/* who drives */

static bool drive_locked(struct reactor_waiter *me)
{
    lock_assert_held(&reactor.lock);
    if (reactor.driver || !atomic_load_explicit(&reactor.source_count, memory_order_relaxed))
        return false;
    reactor.driver = me;
    return true;
}

/* Has a follower drive, if there is one and nobody drives. Returns it, for wake_follower. */
static struct reactor_waiter *appoint_locked(void)
{
    struct list_node *node = NULL;
    struct reactor_waiter *next;

    lock_assert_held(&reactor.lock);
    if (!reactor.driver && atomic_load_explicit(&reactor.source_count, memory_order_relaxed))
        node = list_pop(&reactor.followers);
    if (!node)
        return NULL;
    next = list_entry(node, struct reactor_waiter, link);
    atomic_fetch_or(&next->word, WAITER_DRIVE);
    return reactor.driver = next;
}

static void wake_follower(struct reactor_waiter *follower)
{
    if (follower && atomic_load(&follower->mode) == WAITER_FUTEX)
        futex_wake(&follower->word, 1);
}

/*
 * Nobody drives now. Does the background thread sleep beyond what is to do? What is due while it ticks, it sees in
 * time.
 */
static enum reactor_whom left_alone_locked(void)
{
    bool wake = false;

    switch (reactor.background) {
    case BACKGROUND_AWAKE: break;
    case BACKGROUND_PARKED: wake = true; break;
    case BACKGROUND_ATTENDS:
        wake = until_locked(reactor.background_until_ns) != reactor.background_until_ns;
        break;
    case BACKGROUND_TICKS: wake = !list_empty(&reactor.runs); break;
    }
    return wake ? reactor_background_locked() : REACTOR_NOBODY;
}

/* The caller drives no longer. */
static void stop(enum reactor_how how)
{
    enum reactor_whom whom = REACTOR_NOBODY;
    struct reactor_waiter *next;

    if (how == REACTOR_WAITING)
        reactor_active();
    lock_acquire(&reactor.lock);
    reactor.driver = NULL;
    if (!(next = appoint_locked()))
        whom = left_alone_locked();
    lock_release(&reactor.lock);
    wake_follower(next);
    reactor_wake(whom);
}

/* Drives, or joins the followers. Returns whether it drives. */
static bool join(struct reactor_waiter *me)
{
    bool drives;

    lock_acquire(&reactor.lock);
    drives = drive_locked(me);
    if (!drives)
        list_add_tail(&reactor.followers, &me->link);
    lock_release(&reactor.lock);
    return drives;
}

/* Whether it was appointed since. */
static bool appointed(struct reactor_waiter *me)
{
    return atomic_fetch_and(&me->word, ~(uint32_t)WAITER_DRIVE) & WAITER_DRIVE;
}

/* Leaves the followers. Returns whether it has to drive, or to stop. */
static bool unfollow(struct reactor_waiter *me)
{
    lock_acquire(&reactor.lock);
    if (list_linked(&me->link))
        list_del(&me->link);
    lock_release(&reactor.lock);
    return appointed(me);
}

/* The C library knows no futex call that ends for a cancellation, so it may come at any moment of this one. */
static int futex_wait_cancelable(struct reactor_waiter *me, const struct timespec *timeout)
{
    int state, type, result;

    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state);
    result = futex_wait(&me->word, 0, timeout);
    pthread_setcancelstate(state, NULL);
    pthread_setcanceltype(type, NULL);
    return result;
}

/* Returns 0 or -EINTR. */
static int follow(struct reactor_waiter *me, uint64_t deadline_ns, int cancel_state)
{
    uint64_t ns = left_ns(deadline_ns);
    struct timespec timeout = timespec_of(ns);
    const struct timespec *limit = ns == REACTOR_NEVER ? NULL : &timeout;
    int result;

    if (!ns)
        return 0;
    atomic_store(&me->mode, WAITER_FUTEX);
    result = cancel_state == PTHREAD_CANCEL_ENABLE ? futex_wait_cancelable(me, limit)
                                                   : futex_wait(&me->word, 0, limit);
    result = result && errno == EINTR ? -EINTR : 0;
    atomic_store(&me->mode, WAITER_AWAKE);
    return result;
}

/* A wait under way; on the stack of its thread. */
struct wait {
    struct reactor_waiter *me;
    bool drives;
};

/* Until signalled, or the deadline. */
static int wait_until(struct wait *wait, uint64_t deadline_ns, int cancel_state)
{
    struct reactor_waiter *me = wait->me;
    int error = 0;

    while (!error && !(atomic_load(&me->word) & WAITER_SIGNAL)) {
        if (!left_ns(deadline_ns))
            return -ETIMEDOUT;
        if (wait->drives) {
            error = turn(me, deadline_ns, cancel_state);
        } else {
            error = follow(me, deadline_ns, cancel_state);
            wait->drives = appointed(me);
        }
    }
    return atomic_load(&me->word) & WAITER_SIGNAL ? 0 : error;
}

/* The thread may have been canceled in its sleep. */
static void end_wait(void *argument)
{
    struct wait *wait = argument;

    atomic_store(&wait->me->mode, WAITER_AWAKE);
    if (wait->drives || unfollow(wait->me))
        stop(REACTOR_WAITING);
}

static int wait_cancelable(struct wait *wait, uint64_t deadline_ns)
{
    int result;

    pthread_cleanup_push(end_wait, wait);
    result = wait_until(wait, deadline_ns, PTHREAD_CANCEL_ENABLE);
    pthread_cleanup_pop(0);
    return result;
}

int reactor_wait(struct reactor_waiter *me, uint64_t deadline_ns, int cancel_state)
{
    struct wait wait = { me, join(me) };
    int state, result;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    result = cancel_state == PTHREAD_CANCEL_ENABLE ? wait_cancelable(&wait, deadline_ns)
                                                   : wait_until(&wait, deadline_ns, cancel_state);
    end_wait(&wait);
    atomic_fetch_and(&me->word, ~(uint32_t)WAITER_SIGNAL);
    pthread_setcancelstate(state, NULL);
    return result;
}

void reactor_look(void)
{
    struct reactor_waiter *me;
    bool drives;

    if (!atomic_load_explicit(&reactor.source_count, memory_order_relaxed) ||
        !(me = reactor_waiter_self()))
        return;
    lock_acquire(&reactor.lock);
    drives = drive_locked(me);
    lock_release(&reactor.lock);
    if (!drives)
        return;
    turn_at_once(REACTOR_LOOKING, true);
    stop(REACTOR_LOOKING);
}

/* the background thread */

static struct reactor_waiter background_waiter;

static struct {
    unsigned seen;        /* activity when it looked last */
    uint64_t busy_ns;     /* when that had changed last */
    unsigned ticks;       /* how long it sleeps while the program is at work, in ticks */
    unsigned quiet_ticks; /* sleeps in a row without a change, while somebody drove */
    bool
        ready; /* something in the set was ready after the last tick: the program may not look at all sources */
} background;

/* How it is to sleep, and until when. */
static void background_decide_locked(void)
{
    unsigned activity = atomic_load_explicit(&reactor_activity, memory_order_relaxed);
    uint64_t now_ns = clock_now_ns();

    lock_assert_held(&reactor.lock);
    reactor.background = BACKGROUND_TICKS;
    if (activity != background.seen) {
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
        reactor.background_until_ns = until_locked(reactor.background_until_ns);
}

/* Sleeps as decided. Returns whether something in the set is ready; set: whether to sleep on that, too */
static bool background_sleep(bool set, uint64_t until_ns)
{
    struct pollfd fds[2] = { { .fd = reactor.background_fd, .events = POLLIN },
        { .fd = reactor.set_fd, .events = POLLIN } };
    uint64_t ns = left_ns(until_ns), kicks;
    struct timespec timeout = timespec_of(ns);

    if (ppoll(fds, set ? 2 : 1, ns == REACTOR_NEVER ? NULL : &timeout, NULL) <= 0)
        return false;
    if (fds[0].revents)
        while (read(reactor.background_fd, &kicks, sizeof(kicks)) < 0 && errno == EINTR)
            ;
    return fds[1].revents;
}

/* After a tick: whether something in the set has been ready for the whole of it, so that nobody looks at that. */
static bool background_left_over(void)
{
    struct pollfd set = { .fd = reactor.set_fd, .events = POLLIN };
    bool before = background.ready;

    background.ready = poll(&set, 1, 0) > 0;
    return before && background.ready;
}

/* Drives, if something is to be done and nobody else has it in hand. Returns whether it does. */
static bool background_drive_locked(bool ready)
{
    uint64_t next_ns = atomic_load_explicit(&reactor.next_deadline_ns, memory_order_relaxed);

    lock_assert_held(&reactor.lock);
    if (!ready && list_empty(&reactor.runs) && left_ns(next_ns))
        return false;
    return drive_locked(&background_waiter);
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
    else /* who polled meanwhile has begun to look for itself */
        ready = ready &&
                atomic_load_explicit(&reactor_activity, memory_order_relaxed) == background.seen;
    lock_acquire(&reactor.lock);
    reactor.background = BACKGROUND_AWAKE;
    drives = background_drive_locked(ready);
    lock_release(&reactor.lock);
    if (!drives)
        return;
    turn_at_once(REACTOR_BACKGROUND, ready);
    stop(REACTOR_BACKGROUND);
}

static void background_main(void *unused)
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

/* sources that come first */

/* Makes the set. Returns 0 or a negative errno. */
static int open_locked(void)
{
    struct epoll_event event = { .events = EPOLLIN | EPOLLET, .data.u64 = REACTOR_KICK };
    int error;

    lock_assert_held(&reactor.lock);
    if (reactor.open)
        return 0;
    reactor.set_fd = epoll_create1(EPOLL_CLOEXEC);
    reactor.kick_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    reactor.background_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (reactor.set_fd >= 0 && reactor.kick_fd >= 0 && reactor.background_fd >= 0 &&
        !epoll_ctl(reactor.set_fd, EPOLL_CTL_ADD, reactor.kick_fd, &event)) {
        reactor.open = true;
        return 0;
    }
    error = -errno;
    close(reactor.set_fd);
    close(reactor.kick_fd);
    close(reactor.background_fd);
    reactor.set_fd = reactor.kick_fd = reactor.background_fd = -1;
    return error;
}

static int start_locked(void)
{
    int error = open_locked();

    if (error || reactor.background_there)
        return error;
    error = thread_start_detached("ndspi", background_main, NULL);
    reactor.background_there = !error;
    return error;
}

int reactor_lend(void)
{
    int error = -EBUSY;

    lock_acquire(&reactor.lock);
    if (!reactor.background_there && !(error = open_locked()))
        reactor.background_there = true;
    lock_release(&reactor.lock);
    return error;
}

int reactor_add(struct reactor_source *source, uint32_t events)
{
    enum reactor_whom whom = REACTOR_NOBODY;
    struct reactor_waiter *next = NULL;
    int error;

    lock_acquire(&reactor.lock);
    if (!(error = start_locked()) && !(error = reactor_insert_locked(source, events))) {
        next = appoint_locked();
        /* A driver that sleeps elsewhere goes to sleep in this one. */
        if (reactor.host == source && reactor.driver && !next &&
            atomic_load(&reactor.driver->mode) == WAITER_EPOLL)
            whom = REACTOR_THE_DRIVER;
    }
    lock_release(&reactor.lock);
    wake_follower(next);
    reactor_wake(whom);
    return error;
}

/* fork: the child has none of the parent's threads, and its descriptors are the parent's */

static void fork_begin(void)
{
    lock_acquire(&reactor.lock);
}

static void fork_end(void)
{
    lock_release(&reactor.lock);
}

static void fork_child(void)
{
    lock_release(&reactor.lock);
    if (reactor.open) {
        close(reactor.set_fd);
        close(reactor.kick_fd);
        close(reactor.background_fd);
    }
    reactor.open = reactor.background_there = false;
    reactor.set_fd = reactor.kick_fd = reactor.background_fd = -1;
    reactor.process++;
    reactor.slots = NULL; /* given up, with the references in it */
    reactor.slot_count = 0;
    reactor.free_slot = REACTOR_NO_SLOT;
    atomic_store(&reactor.source_count, 0);
    reactor.heap = NULL;
    reactor.heap_count = 0;
    atomic_store(&reactor.next_deadline_ns, REACTOR_NEVER);
    list_init(&reactor.runs);
    atomic_store(&reactor.any_runs, false);
    list_init(&reactor.sleepers);
    reactor.host = reactor.running = NULL;
    reactor.driver = NULL;
    list_init(&reactor.followers);
    reactor.syncers = 0;
    reactor.background = BACKGROUND_AWAKE;
    reactor_turning = false;
    reactor_waiters_forked();
}

__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(fork_begin, fork_end, fork_child);
}
