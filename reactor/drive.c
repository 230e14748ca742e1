/* SPDX-License-Identifier: MIT */
/* drive.c - chooses the driver among threads that wait and threads that look, and the next one when a driver stops. */
#include "reactor/internal.h"

#include "util/futex.h"

#include <errno.h>
#include <pthread.h>

/* The turns that run_rest makes at most, after reactor_wait and reactor_wait_awake: a run may ask for another run. */
enum { REST_TURNS = 8, AWAKE_TURNS = 4 };

atomic_uint reactor_activity;

bool reactor_drive_locked(struct reactor_waiter *me)
{
    lock_assert_held(&reactor.lock);
    if (reactor.driver || !atomic_load_explicit(&reactor.source_count, memory_order_relaxed))
        return false;
    reactor.driver = me;
    return true;
}

/* Its callers are the only functions that change the list. */
static void count_followers_locked(unsigned more)
{
    lock_assert_held(&reactor.lock);
    atomic_store_explicit(&reactor.follower_count,
        atomic_load_explicit(&reactor.follower_count, memory_order_relaxed) + more,
        memory_order_relaxed);
}

bool reactor_is_wanted(struct reactor_waiter *waiter)
{
    return reactor_is_signalled(waiter) ||
           atomic_load_explicit(&reactor.any_runs, memory_order_relaxed) ||
           atomic_load_explicit(&reactor.follower_count, memory_order_relaxed);
}

struct reactor_waiter *reactor_appoint_locked(void)
{
    struct list_node *node = NULL;
    struct reactor_waiter *next;

    lock_assert_held(&reactor.lock);
    if (!reactor.driver && atomic_load_explicit(&reactor.source_count, memory_order_relaxed))
        node = list_pop(&reactor.followers);
    if (!node)
        return NULL;
    count_followers_locked(-1u);
    next = list_entry(node, struct reactor_waiter, link);
    atomic_fetch_or(&next->word, WAITER_DRIVE);
    return reactor.driver = next;
}

void reactor_wake_follower(struct reactor_waiter *follower)
{
    if (follower && atomic_load(&follower->mode) == WAITER_FUTEX)
        futex_wake(&follower->word, 1);
}

/*
 * No thread drives now. Returns the thread to wake: the background thread, if it sleeps beyond the next work. While it
 * ticks it meets deadlines by itself.
 */
static enum reactor_whom left_alone_locked(void)
{
    bool wake = false;

    switch (reactor.background) {
    case BACKGROUND_AWAKE: break;
    case BACKGROUND_PARKED: wake = true; break;
    case BACKGROUND_ATTENDS:
        wake = reactor_until_locked(reactor.background_until_ns) != reactor.background_until_ns;
        break;
    case BACKGROUND_TICKS: wake = !list_empty(&reactor.runs); break;
    }
    return wake ? reactor_background_locked() : REACTOR_NOBODY;
}

void reactor_stop(enum reactor_how how)
{
    enum reactor_whom whom = REACTOR_NOBODY;
    struct reactor_waiter *next;

    if (how == REACTOR_WAITING)
        reactor_active();
    lock_acquire(&reactor.lock);
    reactor.driver = NULL;
    if (!(next = reactor_appoint_locked()))
        whom = left_alone_locked();
    lock_release(&reactor.lock);
    reactor_wake_follower(next);
    reactor_wake(whom);
}

static bool drive(struct reactor_waiter *me)
{
    bool drives;

    lock_acquire(&reactor.lock);
    drives = reactor_drive_locked(me);
    lock_release(&reactor.lock);
    return drives;
}

/* Drives, or joins the followers. Returns whether it drives. */
static bool join(struct reactor_waiter *me)
{
    bool drives;

    lock_acquire(&reactor.lock);
    drives = reactor_drive_locked(me);
    if (!drives) {
        list_add_tail(&reactor.followers, &me->link);
        count_followers_locked(1);
    }
    lock_release(&reactor.lock);
    return drives;
}

/* Takes WAITER_DRIVE. Returns whether reactor_appoint_locked had set it. */
static bool appointed(struct reactor_waiter *me)
{
    return atomic_fetch_and(&me->word, ~(uint32_t)WAITER_DRIVE) & WAITER_DRIVE;
}

/* Leaves the followers. Returns whether it was made the driver, so that it has to drive, or to call reactor_stop. */
static bool unfollow(struct reactor_waiter *me)
{
    lock_acquire(&reactor.lock);
    if (list_linked(&me->link)) {
        list_del(&me->link);
        count_followers_locked(-1u);
    }
    lock_release(&reactor.lock);
    return appointed(me);
}

/* futex is no cancellation point of the C library, so cancellation is asynchronous during the call. */
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

/* Sleeps on the waiter's futex. Returns 0 or -EINTR. */
static int follow(struct reactor_waiter *me, uint64_t deadline_ns, int cancel_state)
{
    uint64_t ns = reactor_left_ns(deadline_ns);
    struct timespec timeout = reactor_timespec_of(ns);
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

/* Waits until the thread is signalled, or the deadline has passed. */
static int wait_until(struct wait *wait, uint64_t deadline_ns, int cancel_state)
{
    struct reactor_waiter *me = wait->me;
    int error = 0;

    while (!error && !(atomic_load(&me->word) & WAITER_SIGNAL)) {
        if (!reactor_left_ns(deadline_ns))
            return -ETIMEDOUT;
        if (wait->drives) {
            error = reactor_turn(me, deadline_ns, cancel_state);
        } else {
            error = follow(me, deadline_ns, cancel_state);
            wait->drives = appointed(me);
        }
    }
    return atomic_load(&me->word) & WAITER_SIGNAL ? 0 : error;
}

/* Also a cleanup handler: the thread may have been canceled in its sleep. */
static void end_wait(void *argument)
{
    struct wait *wait = argument;

    atomic_store(&wait->me->mode, WAITER_AWAKE);
    if (wait->drives || unfollow(wait->me))
        reactor_stop(REACTOR_WAITING);
}

static int wait_cancelable(struct wait *wait, uint64_t deadline_ns)
{
    int result;

    pthread_cleanup_push(end_wait, wait);
    result = wait_until(wait, deadline_ns, PTHREAD_CANCEL_ENABLE);
    pthread_cleanup_pop(0);
    return result;
}

/*
 * Calls run of the sources that are still to be run: that costs less here than to wake the background thread for it, as
 * reactor_stop would. One message that completes requests of two queues leaves such a source. A source that asks again
 * in each turn is left to the background thread.
 * until  the function stops once this waiter is signalled; NULL: it was signalled before
 */
static void run_rest(int turns, struct reactor_waiter *until)
{
    for (int i = 0; i < turns && !(until && reactor_is_signalled(until)) &&
                    atomic_load_explicit(&reactor.any_runs, memory_order_relaxed);
         i++)
        reactor_turn_at_once(REACTOR_WAITING, false);
}

static _Atomic(reactor_before_fn *) before_wait;

void reactor_before_wait(reactor_before_fn *function)
{
    atomic_store_explicit(&before_wait, function, memory_order_release);
}

static _Atomic(reactor_exit_fn *) before_exit;

void reactor_before_exit(reactor_exit_fn *function)
{
    atomic_store_explicit(&before_exit, function, memory_order_release);
}

void reactor_exits(void)
{
    reactor_exit_fn *function = atomic_load_explicit(&before_exit, memory_order_acquire);

    if (function)
        function();
}

int reactor_wait(struct reactor_waiter *me, uint64_t deadline_ns, int cancel_state)
{
    reactor_before_fn *before = atomic_load_explicit(&before_wait, memory_order_acquire);
    struct wait wait = { .me = me };
    int state, result;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
    if (before) {
        /* The thread drives first, so that a reactor_run in before wakes no other thread. */
        wait.drives = drive(me);
        before(me, deadline_ns);
    }
    if (!wait.drives)
        wait.drives = join(me);
    result = cancel_state == PTHREAD_CANCEL_ENABLE ? wait_cancelable(&wait, deadline_ns)
                                                   : wait_until(&wait, deadline_ns, cancel_state);
    if (wait.drives)
        run_rest(REST_TURNS, NULL);
    end_wait(&wait);
    atomic_fetch_and(&me->word, ~(uint32_t)WAITER_SIGNAL);
    pthread_setcancelstate(state, NULL);
    return result;
}

bool reactor_wait_awake(struct reactor_waiter *me)
{
    reactor_before_fn *before = atomic_load_explicit(&before_wait, memory_order_acquire);
    bool drives = before && drive(me);

    if (drives) {
        before(me, REACTOR_NEVER);
        run_rest(AWAKE_TURNS, me);
        reactor_stop(REACTOR_WAITING);
    }
    return atomic_fetch_and(&me->word, ~(uint32_t)WAITER_SIGNAL) & WAITER_SIGNAL;
}

void reactor_look(void)
{
    struct reactor_waiter *me;
    bool drives;

    if (!atomic_load_explicit(&reactor.source_count, memory_order_relaxed) ||
        !(me = reactor_waiter_self()))
        return;
    lock_acquire(&reactor.lock);
    drives = reactor_drive_locked(me);
    lock_release(&reactor.lock);
    if (!drives)
        return;
    reactor_turn_at_once(REACTOR_LOOKING, true);
    reactor_stop(REACTOR_LOOKING);
}

void reactor_leave(void)
{
    enum reactor_whom whom = REACTOR_NOBODY;

    lock_acquire(&reactor.lock);
    reactor.activity_at_leave = atomic_load_explicit(&reactor_activity, memory_order_relaxed);
    if (reactor.background == BACKGROUND_TICKS && !reactor.driver)
        whom = reactor_background_locked();
    lock_release(&reactor.lock);
    reactor_wake(whom);
}
