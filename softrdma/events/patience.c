/* SPDX-License-Identifier: MIT */
/* patience.c - see patience.h. */
#include "softrdma/events/patience.h"

#include "softrdma/process.h"
#include "util/clock.h"
#include "util/fork.h"
#include "util/lock.h"

#include <sched.h>
#include <unistd.h>

static struct {
    struct lock lock;            /* LOCK_SRD_CHANNEL; guards source */
    struct srd_source *source;   /* the source to poll, referenced; NULL: none */
    _Atomic(const void *) known; /* source, to be compared without the lock */
    atomic_uint left;            /* number of waits that may still poll in vain */
    atomic_uint waits;           /* number of waits while left is 0 */
    atomic_bool looking;         /* a thread polls source */
    _Atomic uint64_t since_ns;   /* when the wait that sleeps began; 0: none sleeps */
    _Atomic uint64_t looks_ns;   /* how long the next wait polls */
} patience = {
    .lock = LOCK_INIT(LOCK_SRD_CHANNEL, "softrdma patience"),
    .left = SRD_PATIENCE_WAITS,
    .looks_ns = SRD_PATIENCE_NS,
};

_Atomic uint64_t srd_patience_ns = UINT64_MAX;

/* Whether the calling thread may run on several processors; it may be bound to another set of them at any time. */
static bool has_processors(void)
{
    static _Thread_local unsigned asks;
    static _Thread_local bool several;
    cpu_set_t allowed;

    if (asks++ % SRD_PATIENCE_ASKS == 0)
        several = (sched_getaffinity(0, sizeof(allowed), &allowed)
                          ? sysconf(_SC_NPROCESSORS_ONLN) /* cpu_set_t has no room for so many */
                          : CPU_COUNT(&allowed)) > 1;
    return several;
}

/*
 * Returns how long to poll the source; 0: not at all. A polling thread would keep the peer from running if both had one
 * processor.
 */
static uint64_t patience_ns(struct srd_source *source, bool several)
{
    uint64_t ns = atomic_load_explicit(&srd_patience_ns, memory_order_relaxed);

    if (ns != UINT64_MAX)
        return ns;
    return several || (source->ops->apart && source->ops->apart(source))
               ? atomic_load_explicit(&patience.looks_ns, memory_order_relaxed)
               : 0;
}

uint64_t srd_patience_after(uint64_t slept_ns)
{
    uint64_t ns;

    if (slept_ns > SRD_PATIENCE_MAX_NS)
        return SRD_PATIENCE_NS;
    ns = slept_ns + slept_ns / 2;
    if (ns < SRD_PATIENCE_NS)
        return SRD_PATIENCE_NS;
    return ns < SRD_PATIENCE_MAX_NS ? ns : SRD_PATIENCE_MAX_NS;
}

/* Replaces the current source by another (NULL: none), if the current one is expected (NULL: any). */
static void replace(struct srd_source *source, const struct srd_source *expected)
{
    struct srd_source *old = NULL;

    lock_acquire(&patience.lock);
    if (patience.source != source && (!expected || patience.source == expected)) {
        old = patience.source;
        patience.source = source;
        atomic_store_explicit(&patience.known, source, memory_order_relaxed);
        if (source)
            srd_source_ref(source);
    }
    lock_release(&patience.lock);
    if (old)
        srd_source_unref(old);
}

void srd_patience_awaited(struct srd_source *source)
{
    uint64_t since_ns = atomic_exchange_explicit(&patience.since_ns, 0, memory_order_relaxed);

    if (since_ns)
        atomic_store_explicit(&patience.looks_ns, srd_patience_after(clock_now_ns() - since_ns),
            memory_order_relaxed);
    if (atomic_load_explicit(&patience.known, memory_order_relaxed) != source)
        replace(source, NULL);
}

void srd_patience_forget(struct srd_source *source)
{
    if (source->process == srd_generation)
        replace(NULL, source);
}

/* Whether this wait polls. */
static bool may_look(void)
{
    return atomic_load_explicit(&patience.left, memory_order_relaxed) ||
           atomic_fetch_add_explicit(&patience.waits, 1, memory_order_relaxed) %
                   SRD_PATIENCE_RARELY ==
               SRD_PATIENCE_RARELY - 1;
}

static struct srd_source *source_now(void)
{
    struct srd_source *source;

    lock_acquire(&patience.lock);
    source = patience.source;
    if (source)
        srd_source_ref(source);
    lock_release(&patience.lock);
    return source;
}

/* Polls the source until the wait is over or end_ns has come. Returns whether anything was received or sent. */
static bool look(struct srd_source *source, struct reactor_waiter *waiter, uint64_t end_ns)
{
    bool moved = false;

    do
        moved |= source->ops->poll(source, true);
    while (!reactor_is_wanted(waiter) && clock_now_ns() < end_ns);
    srd_source_leave(source);
    return moved;
}

static void learn(bool found)
{
    unsigned left = atomic_load_explicit(&patience.left, memory_order_relaxed);

    if (found)
        left = SRD_PATIENCE_WAITS;
    else if (left)
        left--;
    atomic_store_explicit(&patience.left, left, memory_order_relaxed);
}

static void look_and_learn(
    struct srd_source *source, struct reactor_waiter *waiter, uint64_t end_ns)
{
    bool moved = look(source, waiter, end_ns);

    if (!reactor_is_wanted(waiter))
        learn(false);
    else if (moved || reactor_is_signalled(waiter)) /* otherwise other work cut the poll short */
        learn(true);
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void srd_patience_wait(struct reactor_waiter *waiter, uint64_t deadline_ns)
{
    struct srd_source *source;
    uint64_t now_ns, ns;
    bool several;

    if (!atomic_load_explicit(&patience.known, memory_order_relaxed) ||
        reactor_is_signalled(waiter))
        return;
    now_ns = clock_now_ns();
    several = has_processors();
    if (may_look() && !atomic_exchange(&patience.looking, true)) {
        source = source_now();
        if (source && !srd_source_was_polled(source) && /* otherwise another thread polls it */
            (ns = patience_ns(source, several)))
            look_and_learn(source, waiter, earlier(now_ns + ns, deadline_ns));
        if (source)
            srd_source_unref(source);
        atomic_store(&patience.looking, false);
    }
    if (!reactor_is_wanted(waiter))
        atomic_store_explicit(&patience.since_ns, now_ns, memory_order_relaxed);
}

/* The child never drops the reference to the parent's source, since it frees none of the parent's objects. */
static void forked(void)
{
    lock_init(&patience.lock, LOCK_SRD_CHANNEL, "softrdma patience");
    patience.source = NULL;
    atomic_store(&patience.known, NULL);
    atomic_store(&patience.looking, false);
}

FORK_CHILD(forked);
