/* SPDX-License-Identifier: MIT */
/*
 * deliver.h - completions on their way to Windows objects, which only threads of the Windows program may touch.
 *
 * All completions of the core go into one queue. A thread of the program that is inside a call (nd_wine_enter) delivers
 * those that it caused before its call returns; a thread of the program that otherwise only drives adapters
 * (nd_deliver_serve) delivers those that the library's own threads caused. One thread delivers at a time, in the order
 * of the queue, and holds no lock meanwhile: Wine's system calls go to another process.
 *
 * A call that must have delivered something when it returns (CancelOverlappedRequests, the last Release, an overlapped
 * call that ended at once) leaves with nd_wine_leave_settled, which waits for everything that any thread has queued so
 * far.
 */
#ifndef WINE_DELIVER_H
#define WINE_DELIVER_H

#include "ndspi/core/base.h"

#include "util/list.h"

#include <stdatomic.h>

struct reactor_waiter;

struct nd_delivery {
    struct list_node link;
    /* Does it. Threads: of the program. No lock is held. */
    void (*run)(struct nd_delivery *delivery);
};

struct nd_wine_thread {
    bool inside;                   /* may use Wine's system calls */
    bool queued;                   /* something, in this call */
    struct reactor_waiter *waiter; /* that it looks with; NULL: it does not */
};

extern __thread struct nd_wine_thread nd_wine_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern atomic_uint nd_undelivered;

/*
 * nd_deliver_init - once, before anything else. False: it failed, and logged why.
 * look  in: what the serving thread calls a while after nd_deliver_look_later
 */
bool nd_deliver_init(void (*look)(void));

/* Any thread, any lock. */
void nd_deliver_look_later(void);

/*
 * Queues a delivery, which stays the caller's memory until run is called. Any thread, any lock below LOCK_WINE_QUEUE.
 */
void nd_deliver(struct nd_delivery *delivery);

/* Returns when everything queued before has been delivered. Threads: of the program, no lock held. */
void nd_deliver_settle(void);

/* Looks for something to deliver, as a wait does before it sleeps. Threads: of the program, no lock held. */
void nd_deliver_look(void);

/* Settles until done says so; sleeps between deliveries. */
void nd_deliver_wait(bool (*done)(const void *context), const void *context);

/*
 * Delivers what the library's threads queue, for ever. The calling thread is also the reactor's background thread, and
 * delivers what it completes as such.
 */
void nd_deliver_serve(void);

static inline void nd_wine_enter(void)
{
    nd_wine_thread.inside = true;
}

static inline void nd_wine_leave(void)
{
    if (__builtin_expect(nd_wine_thread.queued, 0))
        nd_deliver_settle();
}

/* Relaxed: what this call must have delivered was queued under a lock that this thread has held since. */
static inline void nd_wine_leave_settled(void)
{
    if (nd_wine_thread.queued || atomic_load_explicit(&nd_undelivered, memory_order_relaxed))
        nd_deliver_settle();
}

#endif
