/* SPDX-License-Identifier: MIT */
/*
 * adapter_run.c - what waiting threads do for an adapter: its source's callbacks, and the device's asynchronous events.
 */
#include "ndspi/core/adapter/adapter.h"

#include "util/log.h"

#include <errno.h>
#include <sys/epoll.h>

/* With completion events alone there is no need to ask for the others each time; every so often there is. */
enum { LOOK_AT_ALL_EVERY = 16 };

static __thread unsigned running;

bool nd_adapter_running(void)
{
    return running;
}

/* The caller pins the child. */
static void note_usual(struct nd_adapter *adapter, struct nd_child *child)
{
    if (atomic_load_explicit(&adapter->usual, memory_order_relaxed) == child)
        return;
    lock_acquire(&adapter->lock);
    atomic_store_explicit(&adapter->usual, child, memory_order_relaxed);
    lock_release(&adapter->lock);
}

/*
 * One completion event. A queue that is being destroyed waits for the acknowledgement of its events: no pin can be had
 * of it any more, so it is acknowledged at once.
 */
static bool run_cq_event(struct nd_adapter *adapter)
{
    struct nd_child *child;
    struct ibv_cq *ibv;
    void *context;

    if (adapter->verbs->get_cq_event(adapter->channel, &ibv, &context))
        return false;
    child = context;
    if (!nd_object_try_pin(child->object)) {
        adapter->verbs->ack_cq_events(ibv, 1);
        return true;
    }
    note_usual(adapter, child);
    child->ops->completion(child);
    nd_object_unpin(child->object);
    return true;
}

void nd_adapter_take_left(struct nd_adapter *adapter)
{
    if (atomic_load_explicit(&adapter->left, memory_order_relaxed) &&
        atomic_exchange_explicit(&adapter->left, false, memory_order_relaxed))
        run_cq_event(adapter);
}

/*
 * Where taking an event is a system call, a leader that is woken by one looks first at the queue that the last one was
 * for: mostly that is what its thread waits for, and then the thread goes on at once. The event stays in the channel
 * until the next Notify, when the peer has its answer.
 */
static bool run_usual(struct nd_adapter *adapter)
{
    struct nd_child *child;
    bool told;

    lock_acquire(&adapter->lock);
    child = atomic_load_explicit(&adapter->usual, memory_order_relaxed);
    if (child && !nd_object_try_pin(child->object))
        child = NULL;
    lock_release(&adapter->lock);
    if (!child)
        return false;
    told = child->ops->early(child);
    if (told)
        atomic_store_explicit(&adapter->left, true, memory_order_relaxed);
    nd_object_unpin(child->object);
    return told;
}

/* Whom an event is about, pinned; NULL: on its way out, or not one that is told. */
static struct nd_child *find_child(const struct ibv_async_event *event)
{
    struct nd_child *child = NULL;

    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: child = event->element.cq->cq_context; break;
    case IBV_EVENT_SRQ_LIMIT_REACHED:
    case IBV_EVENT_SRQ_ERR: child = event->element.srq->srq_context; break;
    default: break;
    }
    return child && nd_object_try_pin(child->object) ? child : NULL;
}

static void handle_async(
    struct nd_adapter *adapter, enum ibv_event_type type, struct nd_child *child)
{
    log_write(LOG_DEBUG, LOG_DEVICE, "asynchronous event %d", type);
    if (type == IBV_EVENT_DEVICE_FATAL)
        nd_adapter_remove(adapter);
    if (!child)
        return;
    child->ops->event(child, type);
    nd_object_unpin(child->object);
}

/*
 * Acknowledged before it is handled: what it leads to may be the end of its object, which waits for that. Completion
 * events that no device has raised show at the same descriptor (verbs/shim/shim.h).
 */
static void run_async(struct nd_adapter *adapter)
{
    struct ibv_async_event event;

    while (!adapter->verbs->get_async_event(adapter->port.context, &event)) {
        struct nd_child *child = find_child(&event);

        adapter->verbs->ack_async_event(&event);
        handle_async(adapter, event.event_type, child);
    }
    while (run_cq_event(adapter))
        ;
}

static void run_others(struct nd_adapter *adapter, unsigned ready)
{
    if (ready & 1u << ND_READY_CM)
        nd_cm_dispatch(&adapter->cm);
    if (ready & 1u << ND_READY_ASYNC)
        run_async(adapter);
}

/* Everything that is ready. Who does not lead is beside the device's own thread, and moves nothing for it. */
static void run_all(struct nd_adapter *adapter, bool leading)
{
    struct epoll_event events[ND_READY_KINDS];
    int count = epoll_wait(adapter->epoll_fd, events, ND_READY_KINDS, 0);
    bool fetch_only = !leading && adapter->verbs->progress_fetch_only;
    unsigned ready = 0;

    if (fetch_only)
        adapter->verbs->progress_fetch_only(true);
    for (int i = 0; i < count; i++)
        ready |= 1u << events[i].data.u32;
    while (ready & 1u << ND_READY_CQ && run_cq_event(adapter))
        ;
    run_others(adapter, ready);
    if (fetch_only)
        adapter->verbs->progress_fetch_only(false);
}

static bool prepare(void *context)
{
    struct nd_adapter *adapter = context;

    return !adapter->verbs->progress_sleep || adapter->verbs->progress_sleep(adapter->port.context);
}

static void finish(void *context)
{
    struct nd_adapter *adapter = context;

    if (adapter->verbs->progress_wake)
        adapter->verbs->progress_wake(adapter->port.context);
}

/*
 * A leader is most often woken for one completion event: that is asked for first, and alone unless more are known of.
 * Asking for it moves the embedded device, too, and hands over what that brings without a detour over a descriptor.
 * What else is ready keeps the descriptor readable, so the next run finds it.
 */
static bool run_cq_events(struct nd_adapter *adapter)
{
    unsigned known = atomic_exchange_explicit(&adapter->events, 0, memory_order_relaxed);
    bool found = run_cq_event(adapter);

    while (found && known-- > 1 && run_cq_event(adapter))
        ;
    return found;
}

/* Of what the leader was told. */
static void run_ready(struct nd_adapter *adapter, unsigned ready)
{
    bool found = false;

    if (ready == 1u << ND_READY_CQ && !adapter->verbs->progress_wait && run_usual(adapter))
        return;
    if (ready & (ND_SINK_READY_DEVICE | 1u << ND_READY_CQ))
        found = run_cq_events(adapter);
    if (ready & ND_SINK_READY_DEVICE && (!found || ++adapter->runs % LOOK_AT_ALL_EVERY == 0))
        run_all(adapter, true);
    else if (ready != ND_SINK_READY_ANY)
        run_others(adapter, ready);
}

static void run(void *context, bool leading, unsigned ready)
{
    struct nd_adapter *adapter = context;

    if (!nd_object_try_pin(&adapter->object))
        return;
    running++;
    if (leading)
        run_ready(adapter, ready);
    else
        run_all(adapter, false);
    nd_adapter_unpin(adapter);
    running--;
}

static int watch(void *context, int fd, bool watched)
{
    struct nd_adapter *adapter = context;

    if (watched)
        return adapter->verbs->progress_watch(adapter->port.context, fd);
    adapter->verbs->progress_unwatch(adapter->port.context, fd);
    return 0;
}

static bool wait(void *context, int timeout_ms, bool *watched)
{
    struct nd_adapter *adapter = context;
    unsigned events = adapter->verbs->progress_wait(adapter->channel, timeout_ms, watched);

    atomic_store_explicit(&adapter->events, events, memory_order_relaxed);
    return events > 0;
}

const struct nd_sink_source_ops nd_adapter_source_ops = {
    .prepare = prepare,
    .finish = finish,
    .run = run,
    .watch = watch,
    .wait = wait,
};

/*
 * A child that was not told yet, pinned, or NULL. What it is told may free other objects: no lock then. Youngest first,
 * hence a queue pair before its completion queues: a client that hears of it can post no more.
 */
static struct nd_child *next_to_tell(struct nd_adapter *adapter)
{
    struct nd_child *found = NULL;

    lock_acquire(&adapter->lock);
    list_for_each (&adapter->children, node) {
        struct nd_child *child = list_entry(node, struct nd_child, link);

        if (!found && !child->told && nd_object_try_pin(child->object)) {
            child->told = true;
            found = child;
        }
    }
    lock_release(&adapter->lock);
    return found;
}

void nd_adapter_remove(struct nd_adapter *adapter)
{
    struct nd_child *child;

    if (atomic_exchange(&adapter->removed, true))
        return;
    log_write(LOG_ERROR, LOG_DEVICE, "%s is gone: everything on it fails", adapter->device->name);
    while ((child = next_to_tell(adapter))) {
        child->ops->removed(child);
        nd_object_unpin(child->object);
    }
    nd_cm_removed(&adapter->cm);
}
