/* SPDX-License-Identifier: MIT */
/* turn.c - one turn of a driver: it sleeps until a source is ready or due, and runs the callbacks. */
#include "reactor/internal.h"

#include "util/clock.h"
#include "util/futex.h"
#include "util/linux_calls.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/epoll.h>

enum { EVENTS = 32, LOOK_RUNS = 16 };

bool reactor_in_turn(void)
{
    return reactor_turning;
}

static int milliseconds_of(uint64_t ns)
{
    uint64_t ms = ns / 1000000u + !!(ns % 1000000u);

    if (ns == REACTOR_NEVER)
        return -1;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

/*
 * Waits for the set: epoll_pwait2, with nanoseconds, where the kernel has it (Linux 5.11) and no seccomp filter refuses
 * it; otherwise epoll_wait.
 */
static int set_wait(struct epoll_event *events, uint64_t ns)
{
    static atomic_bool coarse;
    struct timespec timeout = reactor_timespec_of(ns);
    int count;

    if (!ns || ns == REACTOR_NEVER || atomic_load_explicit(&coarse, memory_order_relaxed))
        return epoll_wait(reactor.set_fd, events, EVENTS, milliseconds_of(ns));
    count = epoll_pwait2(reactor.set_fd, events, EVENTS, &timeout, NULL);
    if (count >= 0 || errno == EINTR)
        return count;
    atomic_store_explicit(&coarse, true, memory_order_relaxed);
    return epoll_wait(reactor.set_fd, events, EVENTS, milliseconds_of(ns));
}

/* Begins a callback: until end(), the source is not freed, and reactor_remove_sync waits. */
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

/*
 * Takes the last event first: epoll lists first the descriptors that were ready in the turn before. So a connection
 * that sends turn after turn does not hold up one that has just become ready.
 */
static void run_events(const struct epoll_event *events, int count, enum reactor_how how)
{
    for (int i = count - 1; i >= 0; i--) {
        struct reactor_source *source;

        if (events[i].data.u64 == REACTOR_KICK) {
            reactor_drain(reactor.kick_fd);
            continue;
        }
        lock_acquire(&reactor.lock);
        source = begin_locked(reactor_find_locked(events[i].data.u64));
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

/* Calls run of the sources that wait for it. A reactor_run meanwhile is for the next turn. */
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

void reactor_turn_at_once(enum reactor_how how, bool set)
{
    struct epoll_event events[EVENTS];
    int count = set ? set_wait(events, 0) : 0;

    run_all(events, count, how);
}

/* Returns the source of an event if it is shared, with a reference; else NULL. */
static struct reactor_source *find_shared(uint64_t token)
{
    struct reactor_source *source;

    lock_acquire(&reactor.lock);
    source = reactor_find_locked(token);
    if (source && source->ops->shared)
        reactor_ref(source);
    else
        source = NULL;
    lock_release(&reactor.lock);
    return source;
}

bool reactor_poll(void)
{
    struct epoll_event events[EVENTS];
    bool any = false;
    int count = 0;

    if (atomic_load_explicit(&reactor.source_count, memory_order_relaxed))
        count = set_wait(events, 0);
    for (int i = 0; i < count; i++) {
        struct reactor_source *source = find_shared(events[i].data.u64);

        if (!source)
            continue; /* also for a kick, which stays: the driver drains it */
        any = true;
        source->ops->ready(source, events[i].events, REACTOR_LOOKING);
        reactor_unref(source);
    }
    return any;
}

/* Waits for the set with this cancel state. Returns the number of events, or a negative errno. */
static int sleep_ns(uint64_t ns, struct epoll_event *events, int cancel_state)
{
    int count, state;

    pthread_setcancelstate(cancel_state, &state);
    count = set_wait(events, ns);
    pthread_setcancelstate(state, NULL);
    return count < 0 ? -errno : count;
}

uint64_t reactor_until_locked(uint64_t deadline_ns)
{
    uint64_t next_ns = atomic_load_explicit(&reactor.next_deadline_ns, memory_order_relaxed);

    lock_assert_held(&reactor.lock);
    if (!list_empty(&reactor.runs))
        return 0;
    return next_ns < deadline_ns ? next_ns : deadline_ns;
}

/*
 * Whether a turn that does not sleep looks at the set. If a source is to be run, it mostly does not: that source's run
 * may end the wait. At least one turn in LOOK_RUNS looks.
 */
static bool looks_at_set_locked(struct reactor_waiter *me)
{
    lock_assert_held(&reactor.lock);
    return list_empty(&reactor.runs) || ++me->runs % LOOK_RUNS == 0;
}

int reactor_turn(struct reactor_waiter *me, uint64_t deadline_ns, int cancel_state)
{
    enum reactor_whom whom = REACTOR_NOBODY;
    bool set;
    struct epoll_event events[EVENTS];
    int count = 0;
    uint64_t ns;

    lock_acquire(&reactor.lock);
    reactor.driver_until_ns = reactor_until_locked(deadline_ns);
    if (!(ns = reactor_left_ns(reactor.driver_until_ns))) {
        set = looks_at_set_locked(me);
        lock_release(&reactor.lock);
        reactor_turn_at_once(REACTOR_WAITING, set);
        return 0;
    }
    if (reactor.background == BACKGROUND_ATTENDS)
        whom = reactor_background_locked();
    /* A thread that adds work after the lock is dropped sees the mode, and kicks. */
    atomic_store(&me->mode, WAITER_EPOLL);
    lock_release(&reactor.lock);
    reactor_wake(whom);
    /* Pairs with reactor_signal: either it sees the mode, or this thread sees the word. */
    if (!(atomic_load(&me->word) & WAITER_SIGNAL))
        count = sleep_ns(ns, events, cancel_state);
    atomic_store(&me->mode, WAITER_AWAKE);
    run_all(events, count, REACTOR_WAITING);
    return count < 0 ? count : 0;
}
