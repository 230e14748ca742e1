/* SPDX-License-Identifier: MIT */
/*
 * timer.c - the deadlines of all sources: a binary heap, each entry with a reference. The progress thread serves it,
 * and threads of the program that are about to sleep serve what is soon.
 *
 * A source that is often soon and mostly not when the time has come (an acknowledgement that rode on data) does not
 * clear its deadline: it expires for nothing, once in SRD_SOON_MS.
 */
#include "softrdma/engine/engine.h"
#include "softrdma/process.h"

#include "util/clock.h"
#include "util/log.h"

#include <errno.h>
#include <stdlib.h>

enum { SOON_LOOKED_AT = 8 };

static struct {
    struct lock lock; /* LOCK_SRD_CHANNEL */
    struct srd_source **heap;
    int count, room;
    int reserved;        /* sources that the engine has: each may get a deadline */
    uint64_t awaited_ms; /* the progress thread sleeps no longer than this */
    atomic_uint n_soon;  /* sources */
} timers = { .lock = LOCK_INIT(LOCK_SRD_CHANNEL, "softrdma timers") };

static uint64_t deadline_of(const struct srd_source *source)
{
    return atomic_load_explicit(&source->deadline_ms, memory_order_relaxed);
}

static void place(int index, struct srd_source *source)
{
    timers.heap[index] = source;
    source->heap_index = index;
}

static void sift(int index, struct srd_source *source)
{
    while (index > 0 && deadline_of(timers.heap[(index - 1) / 2]) > deadline_of(source)) {
        place(index, timers.heap[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    for (int child; (child = 2 * index + 1) < timers.count; index = child) {
        if (child + 1 < timers.count &&
            deadline_of(timers.heap[child + 1]) < deadline_of(timers.heap[child]))
            child++;
        if (deadline_of(timers.heap[child]) >= deadline_of(source))
            break;
        place(index, timers.heap[child]);
    }
    place(index, source);
}

static void set_soon_locked(struct srd_source *source, unsigned soon)
{
    unsigned was = atomic_exchange(
        &source->soon, soon); /* pairs with srd_source_is_soon, though nothing changes */

    if (was != soon)
        atomic_store_explicit(&timers.n_soon,
            atomic_load_explicit(&timers.n_soon, memory_order_relaxed) + soon - was,
            memory_order_relaxed);
}

static void take_out_locked(struct srd_source *source)
{
    int index = source->heap_index;
    struct srd_source *last = timers.heap[--timers.count];

    source->heap_index = -1;
    atomic_store_explicit(&source->deadline_ms, UINT64_MAX, memory_order_relaxed);
    set_soon_locked(source, 0);
    if (last != source)
        sift(index, last);
}

static bool room_locked(int wanted)
{
    int room = timers.room ? timers.room * 2 : 64;
    struct srd_source **heap;

    if (wanted <= timers.room)
        return true;
    heap = realloc(timers.heap, (size_t)room * sizeof(*heap));
    if (!heap)
        return false;
    timers.heap = heap;
    timers.room = room;
    return true;
}

int srd_timer_reserve(void)
{
    bool room;

    lock_acquire(&timers.lock);
    room = room_locked(timers.reserved + 1);
    if (room)
        timers.reserved++;
    lock_release(&timers.lock);
    return room ? 0 : -ENOMEM;
}

void srd_timer_release(void)
{
    lock_acquire(&timers.lock);
    timers.reserved--;
    lock_release(&timers.lock);
}

/* Returns whether the caller has to wake the progress thread. */
static bool put_in_locked(struct srd_source *source, uint64_t deadline_ms)
{
    bool known = source->heap_index >= 0;

    if (!known && !room_locked(timers.count + 1)) {
        log_limited(LOG_ERROR, LOG_SOFT, "no memory for a timer; a connection may wait for ever");
        return false;
    }
    atomic_store_explicit(&source->deadline_ms, deadline_ms, memory_order_relaxed);
    if (!known) {
        srd_source_ref(source);
        timers.count++;
    }
    sift(known ? source->heap_index : timers.count - 1, source);
    if (deadline_ms >= timers.awaited_ms)
        return false;
    timers.awaited_ms = deadline_ms;
    return true;
}

void srd_source_deadline(struct srd_source *source, uint64_t deadline_ms)
{
    bool kick = false, drop = false;

    lock_acquire(&timers.lock);
    if (deadline_ms != UINT64_MAX) {
        set_soon_locked(source, 0);
        kick = put_in_locked(source, deadline_ms);
    } else if (source->heap_index >= 0) {
        take_out_locked(source);
        drop = true;
    }
    lock_release(&timers.lock);
    if (kick)
        standby_kick(&srd_engine.standby);
    if (drop)
        srd_source_unref(source); /* not the last: the caller has one */
}

static void due(struct srd_source *source, uint64_t deadline_ms, bool soon)
{
    bool kick = false;

    lock_acquire(&timers.lock);
    if (deadline_ms < deadline_of(source)) {
        kick = put_in_locked(source, deadline_ms);
        set_soon_locked(source, soon && source->heap_index >= 0);
    }
    lock_release(&timers.lock);
    if (kick)
        standby_kick(&srd_engine.standby);
}

void srd_timer_due(struct srd_source *source, uint64_t deadline_ms)
{
    due(source, deadline_ms, false);
}

void srd_source_soon(struct srd_source *source)
{
    due(source, clock_now_ms() + SRD_SOON_MS, true);
}

uint64_t srd_timer_sleep_until(uint64_t at_most_ns)
{
    uint64_t until_ns = at_most_ns;

    lock_acquire(&timers.lock);
    if (timers.count && deadline_of(timers.heap[0]) <= at_most_ns / 1000000u)
        until_ns = deadline_of(timers.heap[0]) * 1000000u;
    timers.awaited_ms = until_ns / 1000000u;
    lock_release(&timers.lock);
    return until_ns;
}

void srd_timer_run(void)
{
    uint64_t now_ms = clock_now_ms();
    struct srd_source *source;

    for (;;) {
        lock_acquire(&timers.lock);
        source = timers.count && deadline_of(timers.heap[0]) <= now_ms ? timers.heap[0] : NULL;
        if (source)
            take_out_locked(source);
        lock_release(&timers.lock);
        if (!source)
            return;
        atomic_store(&source->attended, true);
        source->ops->expired(source);
        atomic_store(&source->attended, false);
        srd_source_unref(source);
    }
}

/*
 * What to serve next of what is soon. What is idle keeps its deadline, to expire for nothing: its acknowledgement has
 * ridden on data, as most do, and the next message needs no new one. To look for others is worth it among few; of many
 * the first is served, unless something else is due before: then the progress thread serves both.
 */
static struct srd_source *find_soon_locked(void)
{
    unsigned left = atomic_load_explicit(&timers.n_soon, memory_order_relaxed);

    for (int i = 0; left && i < timers.count && i < SOON_LOOKED_AT; i++) {
        struct srd_source *source = timers.heap[i];

        if (!atomic_load_explicit(&source->soon, memory_order_relaxed))
            continue;
        if (!source->ops->idle || !source->ops->idle(source))
            return source;
        left--;
    }
    return left && atomic_load_explicit(&timers.heap[0]->soon, memory_order_relaxed)
               ? timers.heap[0]
               : NULL;
}

static struct srd_source *next_soon(void)
{
    struct srd_source *source;

    lock_acquire(&timers.lock);
    source = find_soon_locked();
    if (source)
        take_out_locked(source);
    lock_release(&timers.lock);
    return source;
}

void srd_timer_run_soon(void)
{
    /* What is put in again meanwhile waits: its turn has been. */
    unsigned count = atomic_load_explicit(&timers.n_soon, memory_order_relaxed);
    struct srd_source *source;

    while (count-- && (source = next_soon())) {
        source->ops->expired(source);
        srd_source_unref(source);
    }
}

static void forked(void)
{
    lock_init(&timers.lock, LOCK_SRD_CHANNEL, "softrdma timers");
    timers.heap = NULL;
    timers.count = timers.room = timers.reserved = 0;
    timers.awaited_ms = 0;
    atomic_store(&timers.n_soon, 0);
}

SRD_AT_FORK(forked)
