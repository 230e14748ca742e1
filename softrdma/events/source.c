/* SPDX-License-Identifier: MIT */
/*
 * source.c - see source.h. Sources that are soon stand in one list. All have the same delay, so the list is in the
 * order of their times, and one deadline of the reactor serves it.
 *
 * Most acknowledgements go out with data before their source's time has come. While threads poll, such a source stays
 * in the list, although it is idle: it expires for nothing, once in SRD_SOON_MS, and the next message needs no new
 * entry. A thread that is about to sleep takes it out of the list, since so short a timer costs the sleeper more than a
 * new entry: some 3 us where a hypervisor has to set it.
 */
#include "softrdma/events/source.h"

#include "softrdma/events/patience.h"
#include "softrdma/process.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/lock.h"
#include "util/log.h"

#include <string.h>

enum { SOON_IDLE = 16 }; /* the most idle sources that stay in the list when it is served */

static struct {
    struct lock lock; /* LOCK_SRD_CHANNEL; guards deadlines, the list, calls of reactor_update */
    struct list_head soon; /* sources in the order of soon_ms, each with a reference */
    atomic_uint n_soon;
    struct reactor_source timer; /* serves the list when it expires */
    bool timer_added;
    uint64_t timer_ms; /* the timer's deadline */
} sources = {
    .lock = LOCK_INIT(LOCK_SRD_CHANNEL, "softrdma sources"),
    .soon = { { &sources.soon.n, &sources.soon.n } },
    .timer_ms = UINT64_MAX,
};

static _Thread_local bool in_background;
/* The sources that this thread's srd_sources_poll has found ready; NULL: the thread is in no such call. */
static _Thread_local struct found {
    struct srd_source *only; /* referenced */
    unsigned count;
} * found;

bool srd_in_background(void)
{
    return in_background;
}

static struct srd_source *of_reactor(struct reactor_source *source)
{
    return container_of(source, struct srd_source, reactor);
}

static uint64_t ns_of(uint64_t ms)
{
    return ms == UINT64_MAX ? REACTOR_NEVER : ms * 1000000u;
}

/* --- sources that are soon ---------------------------------------------------------------------------------------- */

static void start_timer_locked(uint64_t ms)
{
    lock_assert_held(&sources.lock);
    sources.timer_ms = ms;
    reactor_deadline(&sources.timer, ns_of(ms));
}

static void count_soon_locked(unsigned more)
{
    atomic_store_explicit(&sources.n_soon,
        atomic_load_explicit(&sources.n_soon, memory_order_relaxed) + more, memory_order_relaxed);
}

static void take_out_locked(struct srd_source *source)
{
    lock_assert_held(&sources.lock);
    list_del(&source->soon_node);
    srd_watch_clear(&source->watch, SRD_WATCH_SOON); /* pairs with srd_source_is_soon */
    count_soon_locked(-1u);
}

void srd_source_soon(struct srd_source *source)
{
    uint64_t ms = clock_now_ms() + SRD_SOON_MS;

    lock_acquire(&sources.lock);
    if (source->added && !list_linked(&source->soon_node)) {
        srd_source_ref(source);
        source->soon_ms = ms;
        list_add_tail(&sources.soon, &source->soon_node);
        srd_watch_set(&source->watch, SRD_WATCH_SOON);
        count_soon_locked(1);
        if (ms < sources.timer_ms)
            start_timer_locked(ms);
    }
    lock_release(&sources.lock);
}

/* Has the reactor watch for what ops->interest returns now; for nothing while the source is paused. */
static int update_locked(struct srd_source *source)
{
    bool paused = srd_watch_has(&source->watch, SRD_WATCH_PAUSED);

    lock_assert_held(&sources.lock);
    return reactor_update(&source->reactor, paused ? 0 : source->ops->interest(source));
}

void srd_source_update(struct srd_source *source)
{
    int error;

    if (source->process != srd_generation)
        return;
    lock_acquire(&sources.lock);
    error = update_locked(source);
    lock_release(&sources.lock);
    if (error)
        log_limited(
            LOG_ERROR, LOG_SOFT, "epoll_ctl on a connection: %s; it may stall", strerror(-error));
}

static void pause_source(struct srd_source *source)
{
    srd_watch_set(&source->watch, SRD_WATCH_PAUSED);
    srd_source_soon(source);
    srd_source_update(source);
}

static void resume(struct srd_source *source)
{
    if (srd_watch_take(&source->watch, SRD_WATCH_PAUSED))
        srd_source_update(source);
}

void srd_source_leave(struct srd_source *source)
{
    if (source->process != srd_generation)
        return;
    srd_watch_take(&source->watch, SRD_WATCH_POLLED);
    resume(source);
    if (source->ops->left)
        source->ops->left(source);
}

/* The background thread is in a source's function from here to leave_background. */
static void enter_background(struct srd_source *source)
{
    in_background = true;
    srd_watch_set(&source->watch, SRD_WATCH_ATTENDED);
}

static void leave_background(struct srd_source *source)
{
    in_background = false;
    srd_watch_clear(&source->watch, SRD_WATCH_ATTENDED);
}

static void serve_expired(struct srd_source *source, bool background)
{
    if (background)
        enter_background(source);
    source->ops->expired(source);
    if (background)
        leave_background(source);
}

static struct srd_source *take_due(uint64_t now_ms)
{
    struct srd_source *source = NULL;

    lock_acquire(&sources.lock);
    if (!list_empty(&sources.soon)) {
        source = list_entry(sources.soon.n.next, struct srd_source, soon_node);
        if (source->soon_ms > now_ms)
            source = NULL;
        else
            take_out_locked(source);
    }
    lock_release(&sources.lock);
    return source;
}

static void timer_expired(struct reactor_source *timer, enum reactor_how how)
{
    uint64_t now_ms = clock_now_ms();
    struct srd_source *source;

    (void)timer;
    while ((source = take_due(now_ms))) {
        serve_expired(source, how == REACTOR_BACKGROUND);
        if (srd_watch_has(&source->watch, SRD_WATCH_PAUSED)) {
            if (srd_watch_take(&source->watch, SRD_WATCH_POLLED))
                srd_source_soon(source);
            else
                resume(source);
        }
        srd_source_unref(source);
    }
    lock_acquire(&sources.lock);
    start_timer_locked(
        list_empty(&sources.soon)
            ? UINT64_MAX
            : list_entry(sources.soon.n.next, struct srd_source, soon_node)->soon_ms);
    lock_release(&sources.lock);
}

static bool is_idle(struct srd_source *source)
{
    return source->ops->idle && source->ops->idle(source);
}

static bool is_spent(struct srd_source *source)
{
    return source->ops->spent && source->ops->spent(source) &&
           !srd_watch_has(&source->watch, SRD_WATCH_PAUSED);
}

/* Whether the calling thread made it attentive, and no other thread has polled it since. */
static bool is_watched_here(struct srd_source *source)
{
    return srd_watch_has(&source->watch, SRD_WATCH_ATTENTIVE) &&
           atomic_load_explicit(&source->looker, memory_order_relaxed) == srd_source_here();
}

/*
 * Takes the source to serve next out of the list. The first few idle sources stay in it (see the top of this file); the
 * others are served although they are idle, so that the next thread does not walk over many of them again. end: spent
 * sources are taken out, too, and those that this thread made attentive.
 */
static struct srd_source *take_soon(bool end)
{
    struct srd_source *found = NULL;
    unsigned idle = 0;

    lock_acquire(&sources.lock);
    list_for_each (&sources.soon, node) {
        struct srd_source *source = list_entry(node, struct srd_source, soon_node);

        if (idle < SOON_IDLE && is_idle(source) &&
            !(end && (is_spent(source) || is_watched_here(source)))) {
            idle++;
            continue;
        }
        found = source;
        take_out_locked(source);
        break;
    }
    lock_release(&sources.lock);
    return found;
}

/* Returns whether any source was taken out. */
static bool run_soon(bool end)
{
    /* A source that becomes soon again meanwhile waits for the next call. */
    unsigned count = atomic_load_explicit(&sources.n_soon, memory_order_relaxed);
    struct srd_source *source;
    bool any = false;

    while (count-- && (source = take_soon(end))) {
        any = true;
        if (end && is_watched_here(source))
            srd_source_leave(source);
        if (!end || !is_spent(source)) /* asked again, now that the source is out of the list */
            serve_expired(source, false);
        if (srd_watch_has(&source->watch, SRD_WATCH_PAUSED))
            srd_source_soon(source);
        srd_source_unref(source);
    }
    return any;
}

void srd_run_soon(void)
{
    run_soon(false);
}

void srd_end_soon(void)
{
    if (!run_soon(true))
        return;
    lock_acquire(&sources.lock);
    if (list_empty(&sources.soon))
        start_timer_locked(UINT64_MAX);
    lock_release(&sources.lock);
}

/*
 * Sends owed acknowledgements before the process ends: a program may end as soon as it has its results, and a device in
 * hardware would acknowledge by itself. The program may end in a signal's handler, within a call that has the lock.
 */
static void send_owed_acks(void)
{
    if (!lock_try(&sources.lock))
        return;
    lock_release(&sources.lock);
    run_soon(true);
}

__attribute__((destructor)) static void end(void)
{
    reactor_before_exit(NULL);
    send_owed_acks();
}

/* --- deadlines ---------------------------------------------------------------------------------------------------- */

static void set_deadline_locked(struct srd_source *source, uint64_t deadline_ms)
{
    lock_assert_held(&sources.lock);
    atomic_store_explicit(&source->deadline_ms, deadline_ms, memory_order_relaxed);
    reactor_deadline(&source->reactor, ns_of(deadline_ms));
}

void srd_source_deadline(struct srd_source *source, uint64_t deadline_ms)
{
    lock_acquire(&sources.lock);
    set_deadline_locked(source, deadline_ms);
    lock_release(&sources.lock);
}

void srd_source_set_due(struct srd_source *source, uint64_t deadline_ms)
{
    lock_acquire(&sources.lock);
    if (deadline_ms < atomic_load_explicit(&source->deadline_ms, memory_order_relaxed))
        set_deadline_locked(source, deadline_ms);
    lock_release(&sources.lock);
}

/* --- the reactor's callbacks -------------------------------------------------------------------------------------- */

static struct srd_source *polled_for(struct srd_source *source)
{
    return source->of ? source->of : source;
}

static bool serve_ready(struct srd_source *source, uint32_t events, bool background)
{
    bool served;

    if (background)
        enter_background(polled_for(source));
    served = source->ops->ready(source, events, background);
    if (background)
        leave_background(polled_for(source));
    return served;
}

static void note_found(struct srd_source *source)
{
    source = polled_for(source);
    if (!found)
        return;
    if (found->count++ == 0) {
        srd_source_ref(source);
        found->only = source;
    } else if (found->only) {
        srd_source_unref(found->only);
        found->only = NULL;
    }
}

bool srd_sources_poll(struct srd_source **only)
{
    struct found now = { 0 }, *before = found;
    bool any;

    found = &now;
    any = reactor_poll();
    found = before;
    *only = now.only;
    return any;
}

/*
 * If a thread polls the source, the background thread pauses it instead of serving it. A thread that waits may be the
 * same that polled before, so it serves the source, and pauses it if it finds that another thread has served it.
 */
static void on_ready(struct reactor_source *reactor, uint32_t events, enum reactor_how how)
{
    struct srd_source *source = of_reactor(reactor);
    bool background = how == REACTOR_BACKGROUND, alone;

    if (how == REACTOR_LOOKING) {
        srd_watch_note(&source->watch, SRD_WATCH_FOUND);
        note_found(source);
        source->ops->ready(source, events, false);
        return;
    }
    alone = !srd_watch_take(&source->watch, SRD_WATCH_POLLED) ||
            srd_watch_take(&source->watch, SRD_WATCH_FOUND);
    if (background && !alone)
        pause_source(source);
    else if (!serve_ready(source, events, background) && (background || !alone))
        pause_source(source);
}

static void on_expired(struct reactor_source *reactor, enum reactor_how how)
{
    struct srd_source *source = of_reactor(reactor);

    lock_acquire(&sources.lock);
    /* The deadline may have been set anew since the reactor found it. */
    if (atomic_load_explicit(&source->deadline_ms, memory_order_relaxed) <= clock_now_ms())
        atomic_store_explicit(&source->deadline_ms, UINT64_MAX, memory_order_relaxed);
    lock_release(&sources.lock);
    srd_watch_touch(&source->watch); /* pairs with srd_source_is_soon, though nothing changes */
    serve_expired(source, how == REACTOR_BACKGROUND);
}

static void on_free(struct reactor_source *reactor)
{
    struct srd_source *source = of_reactor(reactor);

    source->ops->free(source);
}

static const struct reactor_source_ops reactor_ops = {
    .ready = on_ready, .expired = on_expired, .free = on_free, .shared = true
};
static const struct reactor_source_ops timer_ops = { .expired = timer_expired };

void srd_source_init(struct srd_source *source, const struct srd_source_ops *ops, int fd)
{
    memset(source, 0, sizeof(*source));
    reactor_source_init(&source->reactor, &reactor_ops, fd);
    source->ops = ops;
    source->fd = fd;
    source->process = srd_generation;
    atomic_init(&source->deadline_ms, UINT64_MAX);
    list_node_init(&source->soon_node);
}

static void before_wait(struct reactor_waiter *waiter, uint64_t deadline_ns)
{
    srd_end_soon();
    srd_patience_wait(waiter, deadline_ns);
}

/* Adds the timer, unless it is there. Returns 0 or a negative errno. */
static int add_timer_locked(void)
{
    int error;

    lock_assert_held(&sources.lock);
    if (sources.timer_added)
        return 0;
    reactor_source_init(&sources.timer, &timer_ops, -1);
    if ((error = reactor_add(&sources.timer, 0)))
        return error;
    reactor_before_wait(before_wait);
    reactor_before_exit(send_owed_acks);
    sources.timer_added = true;
    return 0;
}

int srd_source_add(struct srd_source *source)
{
    int error;

    lock_acquire(&sources.lock);
    if (!(error = add_timer_locked()))
        error = reactor_add(&source->reactor, source->ops->interest(source));
    source->added = !error;
    lock_release(&sources.lock);
    if (error)
        log_write(LOG_ERROR, LOG_SOFT,
            "cannot wait for a socket: %s; check the limits of open files and threads (ulimit -n, "
            "-u)",
            strerror(-error));
    return error;
}

void srd_source_remove(struct srd_source *source)
{
    bool was_soon;

    if (source->process != srd_generation)
        return;
    lock_acquire(&sources.lock);
    source->added = false;
    was_soon = list_linked(&source->soon_node);
    if (was_soon)
        take_out_locked(source);
    lock_release(&sources.lock);
    reactor_remove(&source->reactor);
    if (was_soon)
        srd_source_unref(source); /* it is not the last reference: the caller has one */
}

static void forked(void)
{
    lock_init(&sources.lock, LOCK_SRD_CHANNEL, "softrdma sources");
    list_init(&sources.soon);
    atomic_store(&sources.n_soon, 0);
    sources.timer_added = false;
    sources.timer_ms = UINT64_MAX;
    in_background = false;
}

FORK_CHILD(forked);
