/* SPDX-License-Identifier: MIT */
/* source.c - what waits have to move: the list of sources, and running them one thread at a time. See source.h. */
#include "winobj/waits/source.h"

#include "winobj/provider.h"

#include "util/futex.h"

#include <errno.h>
#include <sys/epoll.h>

enum source_running { RUN_IDLE, RUNNING, RUN_AGAIN, RUN_AGAIN_LEADING };

struct lock win_progress_lock = LOCK_INIT(LOCK_WIN_WAITER, "progress");
static struct list_head sources = { { &sources.n, &sources.n } };
static atomic_uint source_count;

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
 * A leader's mark outdoes the other: a leader whose lead_fd stays readable and a service thread that does not serve it
 * would keep each other busy for ever.
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

void win_sources_insert_locked(struct win_source_state *state)
{
    lock_assert_held(&win_progress_lock);
    list_add_tail(&sources, &state->link);
    atomic_fetch_add_explicit(&source_count, 1, memory_order_relaxed);
}

void win_sources_delete_locked(struct win_source_state *state)
{
    lock_assert_held(&win_progress_lock);
    list_del(&state->link);
    atomic_fetch_sub_explicit(&source_count, 1, memory_order_relaxed);
}

void win_sources_forked(void)
{
    list_init(&sources);
    atomic_store_explicit(&source_count, 0, memory_order_relaxed);
}

void win_source_await_unpinned(struct win_source_state *state)
{
    win_source_unpin(state);
    while (!atomic_load_explicit(&state->gone, memory_order_acquire))
        futex_wait(&state->gone, 0, NULL);
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
