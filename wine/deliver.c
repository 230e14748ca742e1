/* SPDX-License-Identifier: MIT */
#include "wine/deliver.h"

#include "reactor/reactor.h"
#include "util/clock.h"
#include "util/futex.h"
#include "util/lock.h"
#include "util/log.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>

__thread struct nd_wine_thread nd_wine_thread;
atomic_uint nd_undelivered;

static struct {
    struct lock lock;
    struct list_head queue;
    uint64_t queued, delivered; /* numbers of deliveries since the start */
    bool busy;                  /* a thread delivers */
    /* runs so that the serving thread delivers; its deadline is that of the next look */
    struct reactor_source source;
    bool lent, ready;
    void (*look)(void);
    bool look_now;              /* the deadline has passed; the serving thread's alone */
    atomic_bool look_scheduled; /* the deadline is set; seq_cst, cleared before look looks */
    _Atomic uint32_t rounds;    /* number of batches delivered; waiting threads sleep on it */
    atomic_uint sleepers;       /* threads that sleep on rounds; both are seq_cst, as a pair */
} state = { .lock = LOCK_INIT(LOCK_WINE_QUEUE, "Wine's deliveries"),
    .queue = { { &state.queue.n, &state.queue.n } } };

/* The time from nd_deliver_look_later to the look, so the longest that a closed file keeps its pending requests. */
enum { LOOK_MS = 100 };

static void run(struct reactor_source *source, enum reactor_how how)
{
    (void)source;
    (void)how;
    nd_wine_thread.queued = true; /* another thread has queued a delivery for this one to make */
}

static void expired(struct reactor_source *source, enum reactor_how how)
{
    (void)source;
    (void)how;
    state.look_now = true;
}

static const struct reactor_source_ops source_ops = { .run = run, .expired = expired };

bool nd_deliver_init(void (*look)(void))
{
    int error;

    if (state.ready)
        return true;
    state.look = look;
    reactor_source_init(&state.source, &source_ops, -1);
    error = state.lent ? 0 : reactor_lend();
    state.lent = state.lent || !error;
    if (error || (error = reactor_add(&state.source, 0))) {
        log_write(LOG_ERROR, LOG_WIN, "cannot prepare the delivery thread: %s", strerror(-error));
        return false;
    }
    return state.ready = true;
}

void nd_deliver_look_later(void)
{
    if (!atomic_load(&state.look_scheduled) && !atomic_exchange(&state.look_scheduled, true))
        reactor_deadline(&state.source, clock_now_ns() + LOOK_MS * 1000000u);
}

void nd_deliver(struct nd_delivery *delivery)
{
    struct reactor_waiter *looks = nd_wine_thread.waiter;
    bool call = false;

    lock_acquire(&state.lock);
    list_add_tail(&state.queue, &delivery->link);
    state.queued++;
    atomic_fetch_add_explicit(&nd_undelivered, 1, memory_order_relaxed);
    if (nd_wine_thread.inside)
        nd_wine_thread.queued = true;
    else
        call = true;
    lock_release(&state.lock);
    if (call)
        reactor_run(&state.source);
    else if (looks)
        reactor_signal(looks);
}

void nd_deliver_look(void)
{
    nd_wine_thread.waiter = reactor_waiter_self();
    if (nd_wine_thread.waiter)
        reactor_wait_awake(nd_wine_thread.waiter);
    nd_wine_thread.waiter = NULL;
}

static void sleep_until_round(uint32_t seen)
{
    atomic_fetch_add(&state.sleepers, 1);
    futex_wait(&state.rounds, seen, NULL);
    atomic_fetch_sub(&state.sleepers, 1);
}

/* Makes the deliveries that are queued now. The lock is held on entry and on return. */
static void run_batch_locked(void)
{
    struct list_head batch;
    struct list_node *node;
    unsigned count = 0;

    lock_assert_held(&state.lock);
    list_init(&batch);
    list_splice_tail(&batch, &state.queue);
    state.busy = true;
    lock_release(&state.lock);
    while ((node = list_pop(&batch))) {
        struct nd_delivery *delivery = list_entry(node, struct nd_delivery, link);

        delivery->run(delivery);
        count++;
    }
    lock_acquire(&state.lock);
    state.busy = false;
    state.delivered += count;
    atomic_fetch_sub_explicit(&nd_undelivered, count, memory_order_relaxed);
    atomic_fetch_add(&state.rounds, 1);
    if (atomic_load(&state.sleepers))
        futex_wake(&state.rounds, INT_MAX);
}

static void deliver_queued(void)
{
    uint64_t until;

    nd_wine_thread.queued = false;
    lock_acquire(&state.lock);
    until = state.queued;
    while (state.delivered < until) {
        if (state.busy) {
            uint32_t seen = atomic_load(&state.rounds);

            lock_release(&state.lock);
            sleep_until_round(seen);
            lock_acquire(&state.lock);
        } else {
            run_batch_locked();
        }
    }
    lock_release(&state.lock);
}

/* A delivery may queue another: a file is closed after its last request. */
void nd_deliver_all(void)
{
    do
        deliver_queued();
    while (nd_wine_thread.queued);
}

void nd_deliver_wait(bool (*done)(const void *context), const void *context)
{
    for (;;) {
        uint32_t seen = atomic_load(&state.rounds);

        nd_deliver_all(); /* also finishes the delivery that makes done return true */
        if (done(context))
            return;
        sleep_until_round(seen);
    }
}

static void turn(void)
{
    if (state.look_now) {
        state.look_now = false;
        atomic_store(&state.look_scheduled, false);
        state.look();
    }
    nd_wine_leave();
}

void nd_deliver_serve(void)
{
    pthread_setname_np(pthread_self(), "ndspi-deliver");
    reactor_serve(turn);
}
