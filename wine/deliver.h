/* SPDX-License-Identifier: MIT */
/*
 * deliver.h - brings completions to Windows objects, which only threads of the Windows program may touch.
 *
 * All completions of the core go into one queue. A thread of the program that is inside a call (nd_wine_enter) delivers
 * those that it caused before its call returns. Completions that the library's own threads cause are delivered by
 * the serving thread, a thread of the program that otherwise only drives adapters (nd_deliver_serve). One thread
 * delivers at a time, in the order of the queue, without a lock: Wine's system calls go to another process.
 *
 * A call whose completions have to be delivered when it returns (CancelOverlappedRequests, the last Release, an
 * overlapped call that ended at once) ends with nd_wine_leave_delivered, which waits for every completion that any
 * thread has queued so far.
 */
#ifndef WINE_DELIVER_H
#define WINE_DELIVER_H

#include "ndspi/core/base.h"

#include "util/list.h"

#include <stdatomic.h>

struct reactor_waiter;

struct nd_delivery {
    struct list_node link;
    /* Makes the delivery, on a thread of the program with no lock held. */
    void (*run)(struct nd_delivery *delivery);
};

struct nd_wine_thread {
    bool inside; /* the thread is in a unix call, so it may use Wine's system calls */
    bool queued; /* the thread has queued a delivery in this call */
    struct reactor_waiter *waiter; /* the waiter of its nd_deliver_look; NULL: it is not in one */
};

extern __thread struct nd_wine_thread nd_wine_thread
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
extern atomic_uint nd_undelivered;

/*
 * nd_deliver_init - prepares delivery. Called before all other functions. False: it failed, and logged why.
 * look  in: the function that the serving thread calls a while after nd_deliver_look_later
 */
bool nd_deliver_init(void (*look)(void));

/* Has the serving thread call the look of nd_deliver_init after a while. Any thread, any lock. */
void nd_deliver_look_later(void);

/*
 * Queues a delivery, which stays the caller's memory until run is called. Any thread, any lock below LOCK_WINE_QUEUE.
 */
void nd_deliver(struct nd_delivery *delivery);

/* Returns when every delivery that was queued before has been made. Threads: the program's, no lock held. */
void nd_deliver_all(void);

/* Looks for something to deliver, as a wait does before it sleeps. Threads: the program's, no lock held. */
void nd_deliver_look(void);

/* Calls nd_deliver_all until done returns true; sleeps between deliveries. */
void nd_deliver_wait(bool (*done)(const void *context), const void *context);

/*
 * Makes the calling thread the serving thread; never returns. The thread is also the reactor's background thread, and
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
        nd_deliver_all();
}

/* The load is relaxed: this call's completions were queued under a lock that this thread has held since. */
static inline void nd_wine_leave_delivered(void)
{
    if (nd_wine_thread.queued || atomic_load_explicit(&nd_undelivered, memory_order_relaxed))
        nd_deliver_all();
}

#endif
