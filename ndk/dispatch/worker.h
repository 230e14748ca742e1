/* SPDX-License-Identifier: MIT */
/*
 * worker.h - threads that call the consumer's functions, at DISPATCH_LEVEL.
 *
 * A worker runs its calls in the order given, one at a time. All callbacks of one object go to one worker; so they
 * neither overlap nor change their order. An idle worker waits in the reactor (reactor/reactor.h): it drives the
 * devices, and runs the resulting calls at once.
 */
#ifndef NDK_DISPATCH_WORKER_H
#define NDK_DISPATCH_WORKER_H

#include <ndktypes.h>

#include "util/list.h"
#include "util/lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <sys/types.h>

struct reactor_waiter;

/* One call, in its owner: run may free it. */
struct ndk_call {
    struct list_node link;
    void (*run)(struct ndk_call *call);
};

struct ndk_worker {
    struct lock lock; /* LOCK_NDK_WORKER: calls */
    struct list_head calls;
    struct reactor_waiter *waiter; /* its thread's */
    pid_t thread;
    _Atomic uint32_t state; /* a futex: where its thread is between start and stop */
    atomic_bool stopping;
};

/*
 * ndk_worker_start - begins to serve.
 * name  in: of its thread, as of thread_start_detached
 * Returns 0 or a negative errno.
 */
int ndk_worker_start(struct ndk_worker *worker, const char *name);
/*
 * Returns when all given calls have run and the thread no longer uses the worker. Not to be called from one of its
 * calls.
 */
void ndk_worker_stop(struct ndk_worker *worker);

/* Has the worker's thread run the call. Any thread; any lock below LOCK_NDK_WORKER may be held. Cannot fail. */
void ndk_worker_give(struct ndk_worker *worker, struct ndk_call *call);

/* Runs a call in this thread, at DISPATCH_LEVEL. */
void ndk_call_here(struct ndk_call *call);

/* NULL, or what the checker does before each call, in its thread. Set once, before the calls that it is for. */
extern void (*_Atomic ndk_call_begins)(void);

/* ---- the workers for the completion queues of an adapter ---- */

enum { NDK_POOL_MOST = 4 };

struct ndk_pool {
    struct lock lock; /* LOCK_NDK_POOL: below */
    unsigned count, next;
    struct ndk_pool_worker {
        struct ndk_worker worker;
        bool taken, pinned;
        GROUP_AFFINITY affinity; /* pinned: to these processors */
    } workers[NDK_POOL_MOST];
};

/* One worker for each processor, NDK_POOL_MOST at most. Returns 0 or a negative errno. */
int ndk_pool_start(struct ndk_pool *pool);
void ndk_pool_stop(struct ndk_pool *pool);

/*
 * ndk_pool_choose - a worker for a queue, until the pool stops.
 * affinity  in, may be NULL: the processors it shall run on, a hint. It prefers a worker pinned to them, then pins one
 *           that serves no queue yet; else any
 */
struct ndk_worker *ndk_pool_choose(struct ndk_pool *pool, const GROUP_AFFINITY *affinity);

#endif
