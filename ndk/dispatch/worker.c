/* SPDX-License-Identifier: MIT */
#include "ndk/dispatch/worker.h"

#include "ndk/dispatch/level.h"
#include "reactor/reactor.h"

#include "util/futex.h"
#include "util/thread.h"

#include <errno.h>
#include <pthread.h>

enum { STARTING, RUNNING, FAILED, STOPPED };

static void set_state(struct ndk_worker *worker, uint32_t state)
{
    atomic_store_explicit(&worker->state, state, memory_order_release);
    /* A worker that has stopped may be freed by now: futex_wake uses its address alone. */
    futex_wake(&worker->state, 1);
}

/* Sleeps while the worker is in this state. Returns the next one. */
static uint32_t state_after(struct ndk_worker *worker, uint32_t state)
{
    uint32_t now;

    while ((now = atomic_load_explicit(&worker->state, memory_order_acquire)) == state)
        futex_wait(&worker->state, state, NULL);
    return now;
}

static struct ndk_call *take(struct ndk_worker *worker)
{
    struct list_node *node;

    lock_acquire(&worker->lock);
    node = list_pop(&worker->calls);
    lock_release(&worker->lock);
    return node ? list_entry(node, struct ndk_call, link) : NULL;
}

void (*_Atomic ndk_call_begins)(void);

void ndk_call_here(struct ndk_call *call)
{
    void (*begins)(void) = atomic_load_explicit(&ndk_call_begins, memory_order_acquire);
    KIRQL before = ndk_level_raise(DISPATCH_LEVEL);

    if (begins)
        begins();
    call->run(call);
    ndk_level_restore(before);
}

static void serve(void *argument)
{
    struct ndk_worker *worker = argument;
    struct ndk_call *call;

    worker->thread = gettid();
    if (!(worker->waiter = reactor_waiter_self())) {
        set_state(worker, FAILED);
        return;
    }
    set_state(worker, RUNNING);
    for (;;) {
        if ((call = take(worker)))
            ndk_call_here(call);
        else if (atomic_load_explicit(&worker->stopping, memory_order_acquire))
            break;
        else
            reactor_wait(worker->waiter, REACTOR_NEVER, PTHREAD_CANCEL_DISABLE);
    }
    set_state(worker, STOPPED);
}

int ndk_worker_start(struct ndk_worker *worker, const char *name)
{
    int rc;

    lock_init(&worker->lock, LOCK_NDK_WORKER, "worker of NDKPI");
    list_init(&worker->calls);
    atomic_init(&worker->state, STARTING);
    atomic_init(&worker->stopping, false);
    if ((rc = thread_start_detached(name, serve, worker)))
        return rc;
    return state_after(worker, STARTING) == FAILED ? -ENOMEM : 0;
}

void ndk_worker_stop(struct ndk_worker *worker)
{
    struct reactor_waiter *waiter = worker->waiter;

    atomic_store_explicit(&worker->stopping, true, memory_order_release);
    reactor_signal(waiter);
    state_after(worker, RUNNING);
}

void ndk_worker_give(struct ndk_worker *worker, struct ndk_call *call)
{
    struct reactor_waiter *waiter = worker->waiter; /* the call may end the worker */

    list_node_init(&call->link);
    lock_acquire(&worker->lock);
    list_add_tail(&worker->calls, &call->link);
    lock_release(&worker->lock);
    reactor_signal(waiter);
}
