/* SPDX-License-Identifier: MIT */
/* adapter_run.c - what waiting threads do for an adapter: the callbacks of its sources. */
#include "ndspi/core/adapter/adapter.h"

#include "util/log.h"

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
 * Where taking an event is a system call, a waiting thread that is woken by one looks first at the queue that the last
 * one was for: mostly that is what its thread waits for, and then the thread goes on at once. The event stays in the
 * channel until the next Notify, when the peer has its answer.
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

static struct nd_adapter *adapter_of(struct reactor_source *source)
{
    return container_of(source, struct nd_adapter, channel_source);
}

static void channel_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct nd_adapter *adapter = adapter_of(source);

    (void)events;
    if (!nd_object_try_pin(&adapter->object))
        return;
    if (how == REACTOR_BACKGROUND)
        while (run_cq_event(adapter))
            ;
    else if (how != REACTOR_WAITING || !run_usual(adapter))
        run_cq_event(adapter); /* what else there is keeps the descriptor readable */
    nd_adapter_unpin(adapter);
}

/* The embedded device has an event; it has this run again while there are more. */
static void channel_run(struct reactor_source *source, enum reactor_how how)
{
    struct nd_adapter *adapter = adapter_of(source);

    (void)how;
    if (!nd_object_try_pin(&adapter->object))
        return;
    run_cq_event(adapter);
    nd_adapter_unpin(adapter);
}

static void async_ready(struct reactor_source *source, uint32_t events, enum reactor_how how)
{
    struct nd_adapter *adapter = container_of(source, struct nd_adapter, async_source);

    (void)events, (void)how;
    if (!nd_object_try_pin(&adapter->object))
        return;
    run_async(adapter);
    nd_adapter_unpin(adapter);
}

const struct reactor_source_ops nd_adapter_channel_ops = { .ready = channel_ready,
    .run = channel_run };
const struct reactor_source_ops nd_adapter_async_ops = { .ready = async_ready };

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
