/* SPDX-License-Identifier: MIT */
/* source.c - what waits have to move: registration of sources, and running them one thread at a time. See source.h. */
#include "winobj/source.h"

#include "winobj/fork.h"
#include "winobj/lead.h"
#include "winobj/provider.h"
#include "winobj/service.h"

#include "util/futex.h"
#include "util/log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum source_running { RUN_IDLE, RUNNING, RUN_AGAIN, RUN_AGAIN_LEADING };

struct lock win_progress_lock = LOCK_INIT(LOCK_WIN_WAITER, "progress");
static struct list_head sources = { { &sources.n, &sources.n } };
static atomic_uint source_count;
static uint64_t last_id;
static bool opened;    /* what comes with the first source is there */
static unsigned forks; /* between this process and its first ancestor */

bool win_sources_any_locked(void)
{
    lock_assert_held(&win_progress_lock);
    return !list_empty(&sources);
}

bool win_sources_any(void)
{
    return atomic_load_explicit(&source_count, memory_order_relaxed);
}

int win_epoll_add(int epfd, int fd, uint32_t events, uint64_t id)
{
    struct epoll_event event = { .events = events, .data.u64 = id };

    return epoll_ctl(epfd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

void win_source_unpin(struct win_source_state *state)
{
    if (atomic_fetch_sub_explicit(&state->pins, 1, memory_order_acq_rel) == 1) {
        atomic_store_explicit(&state->gone, 1, memory_order_release);
        futex_wake(&state->gone, 1);
    }
}

/*
 * A leader's mark outdoes the other: a leader whose lead_fd stays readable and a service thread that does not serve it would
 * keep each other busy for ever.
 */
void win_source_run(struct win_source_state *state, bool leading, unsigned ready)
{
    const unsigned again = leading ? RUN_AGAIN_LEADING : RUN_AGAIN;
    unsigned now = RUN_IDLE;

    while (!atomic_compare_exchange_strong_explicit(&state->running, &now,
        now == RUN_IDLE ? RUNNING : again, memory_order_acquire, memory_order_relaxed))
        if (now >= again)
            return;
    if (now != RUN_IDLE)
        return;
    for (;;) {
        unsigned expected = RUNNING;

        state->source->run(state->source, leading, ready);
        ready = WIN_SOURCE_ANY;
        if (atomic_compare_exchange_strong_explicit(
                &state->running, &expected, RUN_IDLE, memory_order_release, memory_order_relaxed))
            return;
        /* A leader stays one, whoever asked. */
        if (atomic_exchange_explicit(&state->running, RUNNING, memory_order_acquire) ==
            RUN_AGAIN_LEADING)
            leading = true;
    }
}

void win_sources_collect_locked(struct list_head *led)
{
    lock_assert_held(&win_progress_lock);
    list_init(led);
    list_for_each (&sources, node) {
        struct win_source_state *state = list_entry(node, struct win_source_state, link);
        atomic_fetch_add_explicit(&state->pins, 1, memory_order_relaxed);
        state->ready = 0;
        list_add_tail(led, &state->led);
    }
}

struct win_source_state *win_source_find(uint64_t id)
{
    struct win_source_state *found = NULL;

    lock_acquire(&win_progress_lock);
    list_for_each (&sources, node)
        if (list_entry(node, struct win_source_state, link)->id == id)
            found = list_entry(node, struct win_source_state, link);
    if (found)
        atomic_fetch_add_explicit(&found->pins, 1, memory_order_relaxed);
    lock_release(&win_progress_lock);
    return found;
}

struct win_source_state *win_source_with_lead_fd_locked(int lead_fd)
{
    lock_assert_held(&win_progress_lock);
    list_for_each (&sources, node) {
        struct win_source_state *state = list_entry(node, struct win_source_state, link);

        if (lead_fd >= 0 && state->source->lead_fd == lead_fd)
            return state;
    }
    return NULL;
}

/* Once per process; again after a failure. First use of a rarely taken lock: no call blocks. */
static int open_locked(void)
{
    int error;

    lock_assert_held(&win_progress_lock);
    if (opened)
        return 0;
    if ((error = win_lead_open_locked()) < 0)
        return error;
    if ((error = win_service_open_locked()) < 0) {
        win_lead_close();
        return error;
    }
    opened = true;
    return 0;
}

DWORD win_service_lend(int fd)
{
    int error = -EBUSY;

    lock_acquire(&win_progress_lock);
    if (!opened) {
        win_service_lend_locked(fd);
        if ((error = open_locked()) < 0)
            win_service_lend_locked(-1);
    }
    lock_release(&win_progress_lock);
    if (error)
        log_write(LOG_ERROR, LOG_WIN, "cannot prepare the service thread: %s", strerror(-error));
    return error == -EBUSY ? ERROR_BUSY : error ? ERROR_NO_SYSTEM_RESOURCES : ERROR_SUCCESS;
}

/* Puts the descriptors of a source, which is not on the list yet, where they are slept on. */
static int watch_locked(struct win_source_state *state)
{
    int error = win_lead_watch_locked(state);

    if (error < 0)
        return error;
    if ((error = win_service_watch_locked(state)) < 0) {
        win_lead_unwatch_locked(state);
        win_lead_let_go_locked(state);
    }
    return error;
}

DWORD win_source_add(struct win_source *source)
{
    struct win_source_state *state = calloc(1, sizeof(*state));
    int error;

    if (!state)
        return ERROR_NOT_ENOUGH_MEMORY;
    state->source = source;
    state->forks = forks;
    atomic_init(&state->pins, 1);
    list_node_init(&state->led);
    list_node_init(&state->aside);

    lock_acquire(&win_progress_lock);
    state->id = ++last_id;
    if ((error = open_locked()) < 0 || (error = watch_locked(state)) < 0) {
        lock_release(&win_progress_lock);
        log_write(
            LOG_ERROR, LOG_WIN, "cannot watch an adapter's descriptors: %s", strerror(-error));
        free(state);
        return ERROR_NO_SYSTEM_RESOURCES;
    }
    list_add_tail(&sources, &state->link);
    atomic_fetch_add_explicit(&source_count, 1, memory_order_relaxed);
    win_lead_sources_changed_locked();
    source->state = state;
    lock_release(&win_progress_lock);
    return ERROR_SUCCESS;
}

void win_source_remove(struct win_source *source)
{
    struct win_source_state *state = source->state;

    if (state->forks != forks)
        return; /* nothing of it runs in this process */
    lock_acquire(&win_progress_lock);
    atomic_store_explicit(&state->dead, true, memory_order_release);
    list_del(&state->link);
    win_lead_unwatch_locked(state);
    win_service_unwatch_locked(state);
    atomic_fetch_sub_explicit(&source_count, 1, memory_order_relaxed);
    /* Whoever has it pinned lets go: the leader at its next round, the service thread at its next look. */
    win_lead_sources_changed_locked();
    lock_release(&win_progress_lock);
    standby_kick(&win_service_standby);
    win_source_unpin(state);
    while (!atomic_load_explicit(&state->gone, memory_order_acquire))
        futex_wait(&state->gone, 0, NULL);
    lock_acquire(&win_progress_lock);
    win_lead_let_go_locked(state);
    lock_release(&win_progress_lock);
    free(state);
    source->state = NULL;
}

void win_progress_fork_begin(void)
{
    lock_acquire(&win_progress_lock);
}

void win_progress_fork_end(void)
{
    lock_release(&win_progress_lock);
}

/* The child has none of our threads, and its parent's adapters are not its own: it starts empty. */
void win_progress_forked(void)
{
    list_init(&sources);
    atomic_store_explicit(&source_count, 0, memory_order_relaxed);
    forks++;
    win_lead_forked();
    if (!opened)
        return;
    win_lead_close();
    win_service_close();
    opened = false;
}
