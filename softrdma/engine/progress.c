/* SPDX-License-Identifier: MIT */
/*
 * progress.c - the thread that moves connections nobody looks at, above all passive targets of a peer's reads and
 * writes. It steps aside for threads of the program; see loop.h and util/standby.h.
 */
#include "softrdma/engine/engine.h"

#include "util/clock.h"
#include "util/log.h"
#include "util/thread.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>

enum { EVENTS = 64, PARK_TICKS = 4 };

static struct {
    unsigned seen;        /* foreground activity at the last look */
    uint64_t looked_ns;   /* when that was */
    unsigned quiet_ticks; /* looks in a row without activity anywhere */
} progress;

static _Thread_local bool is_self;

bool srd_progress_is_self(void)
{
    return is_self;
}

static void put_aside(struct srd_source *source)
{
    lock_acquire(&srd_engine.lock);
    srd_engine_aside_locked(source);
    lock_release(&srd_engine.lock);
}

/* Whether the source was polled itself since the last call, and not left since. Engine lock held. */
static bool polled_locked(struct srd_source *source)
{
    unsigned activity = atomic_load_explicit(&source->activity, memory_order_relaxed);
    bool changed = activity != source->seen;

    lock_assert_held(&srd_engine.lock);
    source->seen = activity;
    return changed && activity != source->left;
}

static bool foreground_busy(void)
{
    unsigned activity = atomic_load_explicit(&srd_engine.standby.activity, memory_order_relaxed);

    return standby_attended(&srd_engine.standby) ||
           (activity != progress.seen &&
               activity != atomic_load_explicit(&srd_engine.left, memory_order_relaxed));
}

/* Puts a source that is ready aside, if somebody else is at work on it. */
static bool left_to_others(struct srd_source *source)
{
    bool others;

    lock_acquire(&srd_engine.lock);
    others = polled_locked(source) || foreground_busy();
    if (others)
        srd_engine_aside_locked(source);
    lock_release(&srd_engine.lock);
    return others;
}

static void serve(struct srd_source *source, uint32_t events)
{
    bool alone;

    atomic_store(&source->attended, true);
    alone = source->ops->ready(source, events, true);
    atomic_store(&source->attended, false);
    if (alone) {
        srd_engine_rearm(source);
    } else {
        /* Armed, it would fire over and over, and keep the other from the processor if they share one. */
        put_aside(source);
        progress.quiet_ticks = 0;
    }
}

static void arrived(uint64_t token, uint32_t events)
{
    struct srd_source *source;

    if (token == UINT64_MAX) {
        standby_kicked(&srd_engine.standby);
        return;
    }
    source = srd_engine_find(token);
    if (!source)
        return;
    if (left_to_others(source))
        progress.quiet_ticks = 0;
    else
        serve(source, events);
    srd_source_unref(source);
}

static struct srd_source *next_handed_locked(void)
{
    lock_assert_held(&srd_engine.lock);
    list_for_each (&srd_engine.aside, node) {
        struct srd_source *source = list_entry(node, struct srd_source, aside_node);

        if (!source->handed)
            continue;
        source->handed = false;
        srd_source_ref(source);
        return source;
    }
    return NULL;
}

/* Takes over those aside that somebody has left, whatever goes on elsewhere. */
static void serve_handed(void)
{
    struct srd_source *source;

    if (!atomic_exchange_explicit(&srd_engine.handed, false, memory_order_relaxed))
        return;
    lock_acquire(&srd_engine.lock);
    while ((source = next_handed_locked())) {
        lock_release(&srd_engine.lock);
        serve(source, EPOLLIN | EPOLLOUT);
        srd_source_unref(source);
        lock_acquire(&srd_engine.lock);
    }
    lock_release(&srd_engine.lock);
}

/* Once a tick: which of those aside does nobody look at any more? */
static void look_aside(void)
{
    unsigned activity = atomic_load_explicit(&srd_engine.standby.activity, memory_order_relaxed);
    bool calm = activity == progress.seen,
         quiet = standby_quiet(&srd_engine.standby, &progress.seen);
    struct list_head looking;

    list_init(&looking);
    progress.quiet_ticks = calm ? progress.quiet_ticks + 1 : 0;
    lock_acquire(&srd_engine.lock);
    list_splice_tail(&looking, &srd_engine.aside);
    for (;;) {
        struct list_node *node = list_pop(&looking);
        struct srd_source *source;

        if (!node)
            break;
        source = list_entry(node, struct srd_source, aside_node);
        list_add_tail(&srd_engine.aside, node);
        if (polled_locked(source) || !quiet)
            continue;
        srd_source_ref(source);
        lock_release(&srd_engine.lock);
        serve(source, EPOLLIN | EPOLLOUT);
        srd_source_unref(source);
        lock_acquire(&srd_engine.lock);
    }
    lock_release(&srd_engine.lock);
}

/* Whether to look after those aside at the next tick; not while threads sleep soundly in the foreground set. */
static bool must_tick(void)
{
    bool none;

    lock_acquire(&srd_engine.lock);
    none = list_empty(&srd_engine.aside);
    lock_release(&srd_engine.lock);
    return !none && (progress.quiet_ticks < PARK_TICKS || !standby_park(&srd_engine.standby));
}

/* How long to sleep, ns; -1: until something happens. */
static int64_t sleep_ns(void)
{
    uint64_t now_ns = clock_now_ns();
    uint64_t until_ns =
        srd_timer_sleep_until(must_tick() ? now_ns + STANDBY_TICK_US * 1000 : UINT64_MAX);

    if (until_ns == UINT64_MAX)
        return -1;
    return until_ns > now_ns ? (int64_t)(until_ns - now_ns) : 0;
}

static int wait_events(struct epoll_event *events, int64_t ns)
{
    /* no epoll_pwait2: Linux before 5.11, or a filter of system calls that does not know it */
    static bool coarse;
    struct timespec timeout = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

    if (!coarse) {
        int count =
            epoll_pwait2(srd_engine.prog_fd, events, EVENTS, ns < 0 ? NULL : &timeout, NULL);
        if (count >= 0 || errno == EINTR)
            return count;
        coarse = true;
    }
    return epoll_wait(
        srd_engine.prog_fd, events, EVENTS, ns < 0 ? -1 : (int)((ns + 999999) / 1000000));
}

static void run(void *unused)
{
    struct epoll_event events[EVENTS];

    (void)unused;
    is_self = true;
    for (;;) {
        int count = wait_events(events, sleep_ns());
        uint64_t now_ns = clock_now_ns();

        standby_unpark(&srd_engine.standby);
        for (int i = 0; i < count; i++)
            arrived(events[i].data.u64, events[i].events);
        serve_handed();
        if (now_ns - progress.looked_ns >= STANDBY_TICK_US * 1000) {
            progress.looked_ns = now_ns;
            look_aside();
        }
        srd_timer_run();
    }
}

/* Returns 0 or a negative errno. */
static int start_locked(void)
{
    int error = thread_start_detached("softrdma", run, NULL);

    if (error) {
        log_write(LOG_ERROR, LOG_SOFT, "cannot start the progress thread: %s", strerror(-error));
        return error;
    }
    srd_engine.threaded = true;
    return 0;
}

int srd_source_add(struct srd_source *source)
{
    int error;

    lock_acquire(&srd_engine.lock);
    error = srd_engine_open_locked();
    if (!error && !srd_engine.threaded)
        error = start_locked();
    if (!error)
        error = srd_engine_add_locked(source);
    lock_release(&srd_engine.lock);
    return error;
}
