/* SPDX-License-Identifier: MIT */
/* source.c - the table of sources, their descriptors in the epoll set, and the heap of their deadlines. */
#include "reactor/internal.h"

#include "util/futex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum { FIRST_SLOTS = 64 };

void reactor_source_init(
    struct reactor_source *source, const struct reactor_source_ops *ops, int fd)
{
    memset(source, 0, sizeof(*source));
    source->ops = ops;
    source->fd = fd;
    atomic_init(&source->refs, 1);
    source->process = reactor.process;
    source->slot = REACTOR_NO_SLOT;
    source->deadline_ns = REACTOR_NEVER;
    source->heap_index = REACTOR_NOT_IN_HEAP;
    list_node_init(&source->run);
}

void reactor_ref(struct reactor_source *source)
{
    atomic_fetch_add_explicit(&source->refs, 1, memory_order_relaxed);
}

void reactor_unref(struct reactor_source *source)
{
    if (atomic_fetch_sub_explicit(&source->refs, 1, memory_order_acq_rel) == 1 && source->ops->free)
        source->ops->free(source);
}

void reactor_wake(enum reactor_whom whom)
{
    if (whom == REACTOR_THE_DRIVER)
        reactor_kick(reactor.kick_fd);
    else if (whom == REACTOR_THE_BACKGROUND)
        reactor_kick(reactor.background_fd);
}

enum reactor_whom reactor_background_locked(void)
{
    lock_assert_held(&reactor.lock);
    if (reactor.background == BACKGROUND_AWAKE)
        return REACTOR_NOBODY;
    reactor.background = BACKGROUND_AWAKE;
    return REACTOR_THE_BACKGROUND;
}

/* ---- deadlines ---- */

static void place_locked(uint32_t index, struct reactor_source *source)
{
    reactor.heap[index] = source;
    source->heap_index = index;
}

static void sift_locked(uint32_t index, struct reactor_source *source)
{
    while (index > 0 && reactor.heap[(index - 1) / 2]->deadline_ns > source->deadline_ns) {
        place_locked(index, reactor.heap[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    for (uint32_t child; (child = 2 * index + 1) < reactor.heap_count; index = child) {
        if (child + 1 < reactor.heap_count &&
            reactor.heap[child + 1]->deadline_ns < reactor.heap[child]->deadline_ns)
            child++;
        if (reactor.heap[child]->deadline_ns >= source->deadline_ns)
            break;
        place_locked(index, reactor.heap[child]);
    }
    place_locked(index, source);
}

static void set_deadline_locked(struct reactor_source *source, uint64_t deadline_ns)
{
    uint32_t index = source->heap_index;
    struct reactor_source *last;

    source->deadline_ns = deadline_ns;
    if (deadline_ns != REACTOR_NEVER) {
        sift_locked(index == REACTOR_NOT_IN_HEAP ? reactor.heap_count++ : index, source);
    } else if (index != REACTOR_NOT_IN_HEAP) {
        last = reactor.heap[--reactor.heap_count];
        source->heap_index = REACTOR_NOT_IN_HEAP;
        if (last != source)
            sift_locked(index, last);
    }
    atomic_store_explicit(&reactor.next_deadline_ns,
        reactor.heap_count ? reactor.heap[0]->deadline_ns : REACTOR_NEVER, memory_order_relaxed);
}

struct reactor_source *reactor_take_due_locked(uint64_t now_ns)
{
    struct reactor_source *source = reactor.heap_count ? reactor.heap[0] : NULL;

    lock_assert_held(&reactor.lock);
    if (!source || source->deadline_ns > now_ns)
        return NULL;
    set_deadline_locked(source, REACTOR_NEVER);
    return source;
}

/* Returns the thread to wake because it would sleep beyond the deadline. A background thread that ticks would not. */
static enum reactor_whom sleeps_too_long_locked(uint64_t deadline_ns)
{
    if (reactor.driver) {
        if (atomic_load(&reactor.driver->mode) != WAITER_EPOLL ||
            deadline_ns >= reactor.driver_until_ns)
            return REACTOR_NOBODY;
        reactor.driver_until_ns = deadline_ns;
        return REACTOR_THE_DRIVER;
    }
    if (reactor.background != BACKGROUND_ATTENDS || deadline_ns >= reactor.background_until_ns)
        return REACTOR_NOBODY;
    return reactor_background_locked();
}

void reactor_deadline(struct reactor_source *source, uint64_t deadline_ns)
{
    enum reactor_whom whom = REACTOR_NOBODY;

    if (source->process != reactor.process)
        return;
    lock_acquire(&reactor.lock);
    if (source->slot != REACTOR_NO_SLOT && source->deadline_ns != deadline_ns) {
        set_deadline_locked(source, deadline_ns);
        if (deadline_ns != REACTOR_NEVER)
            whom = sleeps_too_long_locked(deadline_ns);
    }
    lock_release(&reactor.lock);
    reactor_wake(whom);
}

void reactor_run(struct reactor_source *source)
{
    enum reactor_whom whom = REACTOR_NOBODY;

    if (source->process != reactor.process)
        return;
    lock_acquire(&reactor.lock);
    if (source->slot != REACTOR_NO_SLOT && !list_linked(&source->run)) {
        list_add_tail(&reactor.runs, &source->run);
        atomic_store_explicit(&reactor.any_runs, true, memory_order_relaxed);
        /* A driver that is awake looks at the list before it sleeps, and when it stops driving. */
        if (!reactor.driver)
            whom = reactor_background_locked();
        else if (atomic_load(&reactor.driver->mode) == WAITER_EPOLL)
            whom = REACTOR_THE_DRIVER;
    }
    lock_release(&reactor.lock);
    reactor_wake(whom);
}

/* ---- the table ---- */

/* Makes room for one source more, and for its deadline. Returns 0 or a negative errno. */
static int reserve_locked(void)
{
    uint32_t old = reactor.slot_count, count = old ? old * 2 : FIRST_SLOTS;
    struct reactor_slot *slots;
    struct reactor_source **heap;

    if (reactor.free_slot != REACTOR_NO_SLOT)
        return 0;
    if (!(heap = realloc(reactor.heap, count * sizeof(struct reactor_source *))))
        return -ENOMEM;
    reactor.heap = heap;
    if (!(slots = realloc(reactor.slots, count * sizeof(*slots))))
        return -ENOMEM;
    for (uint32_t i = old; i < count; i++)
        slots[i] = (struct reactor_slot){ .generation = 1,
            .next_free = i + 1 < count ? i + 1 : REACTOR_NO_SLOT };
    reactor.slots = slots;
    reactor.slot_count = count;
    reactor.free_slot = old;
    return 0;
}

static uint64_t token_of(const struct reactor_source *source)
{
    return (uint64_t)source->generation << 32 | source->slot;
}

struct reactor_source *reactor_find_locked(uint64_t token)
{
    uint32_t slot = (uint32_t)token;

    lock_assert_held(&reactor.lock);
    if (slot >= reactor.slot_count || reactor.slots[slot].generation != token >> 32)
        return NULL;
    return reactor.slots[slot].source;
}

/* Makes the set wait for these events of the source. Returns 0 or a negative errno. */
static int apply_locked(struct reactor_source *source, uint32_t events)
{
    struct epoll_event event = { .events = events, .data.u64 = token_of(source) };
    int op = !events ? EPOLL_CTL_DEL : source->events ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

    if (events == source->events || source->fd < 0)
        return 0;
    if (epoll_ctl(reactor.set_fd, op, source->fd, &event))
        return -errno;
    source->events = events;
    return 0;
}

static void drop_slot_locked(struct reactor_source *source)
{
    struct reactor_slot *slot = &reactor.slots[source->slot];

    slot->source = NULL;
    slot->generation++;
    slot->next_free = reactor.free_slot;
    reactor.free_slot = source->slot;
    source->slot = REACTOR_NO_SLOT;
}

int reactor_insert_locked(struct reactor_source *source, uint32_t events)
{
    struct reactor_slot *slot;
    int error;

    lock_assert_held(&reactor.lock);
    if ((error = reserve_locked()))
        return error;
    slot = &reactor.slots[reactor.free_slot];
    source->slot = reactor.free_slot;
    source->generation = slot->generation;
    source->process = reactor.process; /* a child of a fork may add a source that its parent made */
    source->events = 0;
    source->deadline_ns = REACTOR_NEVER;
    source->heap_index = REACTOR_NOT_IN_HEAP;
    list_node_init(&source->run);
    reactor.free_slot = slot->next_free;
    slot->source = source;
    if ((error = apply_locked(source, events))) {
        drop_slot_locked(source);
        return error;
    }
    reactor_ref(source);
    atomic_fetch_add_explicit(&reactor.source_count, 1, memory_order_relaxed);
    return 0;
}

int reactor_update(struct reactor_source *source, uint32_t events)
{
    int error = 0;

    if (source->process != reactor.process)
        return 0;
    lock_acquire(&reactor.lock);
    if (source->slot != REACTOR_NO_SLOT)
        error = apply_locked(source, events);
    lock_release(&reactor.lock);
    return error;
}

/* Returns whether the source was added; then the reactor's reference is the caller's. */
static bool remove_locked(struct reactor_source *source)
{
    lock_assert_held(&reactor.lock);
    if (source->slot == REACTOR_NO_SLOT)
        return false;
    apply_locked(source, 0);
    set_deadline_locked(source, REACTOR_NEVER);
    list_del(&source->run);
    drop_slot_locked(source);
    atomic_fetch_sub_explicit(&reactor.source_count, 1, memory_order_relaxed);
    return true;
}

static bool take_out(struct reactor_source *source)
{
    bool removed;

    if (source->process != reactor.process)
        return false;
    lock_acquire(&reactor.lock);
    removed = remove_locked(source);
    lock_release(&reactor.lock);
    return removed;
}

void reactor_remove(struct reactor_source *source)
{
    if (take_out(source))
        reactor_unref(source);
}

static void await_its_callback(struct reactor_source *source)
{
    lock_acquire(&reactor.lock);
    while (reactor.running == source && !reactor_turning) {
        uint32_t seen = atomic_load_explicit(&reactor.ended, memory_order_relaxed);

        reactor.syncers++;
        lock_release(&reactor.lock);
        futex_wait(&reactor.ended, seen, NULL);
        lock_acquire(&reactor.lock);
        reactor.syncers--;
    }
    lock_release(&reactor.lock);
}

void reactor_remove_sync(struct reactor_source *source)
{
    bool removed = take_out(source);

    if (source->process != reactor.process)
        return;
    await_its_callback(source);
    if (removed)
        reactor_unref(source);
}
