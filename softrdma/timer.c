/* SPDX-License-Identifier: MIT */
/* timer.c - the deadlines of all sources: a binary heap, each entry with a reference. The progress thread serves it. */
#include "softrdma/engine.h"
#include "softrdma/process.h"

#include "util/clock.h"
#include "util/log.h"

#include <errno.h>
#include <stdlib.h>

static struct {
    struct lock lock; /* LOCK_SRD_CHANNEL */
    struct srd_source **heap;
    int count, room;
    int reserved;        /* sources that the engine has: each may get a deadline */
    uint64_t awaited_ms; /* the progress thread sleeps no longer than this */
} timers = { .lock = LOCK_INIT(LOCK_SRD_CHANNEL, "softrdma timers") };

static void place(int index, struct srd_source *source)
{
    timers.heap[index] = source;
    source->heap_index = index;
}

static void sift(int index, struct srd_source *source)
{
    while (index > 0 && timers.heap[(index - 1) / 2]->deadline_ms > source->deadline_ms) {
        place(index, timers.heap[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    for (int child; (child = 2 * index + 1) < timers.count; index = child) {
        if (child + 1 < timers.count &&
            timers.heap[child + 1]->deadline_ms < timers.heap[child]->deadline_ms)
            child++;
        if (timers.heap[child]->deadline_ms >= source->deadline_ms)
            break;
        place(index, timers.heap[child]);
    }
    place(index, source);
}

static void take_out_locked(struct srd_source *source)
{
    int index = source->heap_index;
    struct srd_source *last = timers.heap[--timers.count];

    source->heap_index = -1;
    source->deadline_ms = UINT64_MAX;
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

void srd_source_deadline(struct srd_source *source, uint64_t deadline_ms)
{
    bool kick = false, drop = false, full = false;

    lock_acquire(&timers.lock);
    if (deadline_ms == source->deadline_ms) {
        lock_release(&timers.lock);
        return;
    }
    if (deadline_ms == UINT64_MAX) {
        take_out_locked(source);
        drop = true;
    } else if (source->heap_index < 0) {
        full = !room_locked(timers.count + 1);
        if (!full) {
            source->deadline_ms = deadline_ms;
            srd_source_ref(source);
            timers.count++;
            sift(timers.count - 1, source);
        }
    } else {
        source->deadline_ms = deadline_ms;
        sift(source->heap_index, source);
    }
    if (!full && deadline_ms < timers.awaited_ms) {
        timers.awaited_ms = deadline_ms;
        kick = true;
    }
    lock_release(&timers.lock);
    if (full)
        log_limited(LOG_ERROR, LOG_SOFT, "no memory for a timer; a connection may wait for ever");
    if (kick)
        standby_kick(&srd_engine.standby);
    if (drop)
        srd_source_unref(source); /* not the last: the caller has one */
}

uint64_t srd_timer_next(void)
{
    uint64_t next;

    lock_acquire(&timers.lock);
    next = timers.awaited_ms = timers.count ? timers.heap[0]->deadline_ms : UINT64_MAX;
    lock_release(&timers.lock);
    return next;
}

void srd_timer_run(void)
{
    uint64_t now_ms = clock_now_ms();
    struct srd_source *source;

    for (;;) {
        lock_acquire(&timers.lock);
        source = timers.count && timers.heap[0]->deadline_ms <= now_ms ? timers.heap[0] : NULL;
        if (source)
            take_out_locked(source);
        lock_release(&timers.lock);
        if (!source)
            return;
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
}

SRD_AT_FORK(forked)
