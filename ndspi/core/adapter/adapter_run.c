/* SPDX-License-Identifier: MIT */
/* adapter_run.c - what waiting threads do for an adapter: its source's callbacks, and the device's asynchronous events. */
#include "ndspi/core/adapter/adapter.h"

#include "ndspi/core/queue/cq.h"
#include "ndspi/core/queue/qp.h"
#include "ndspi/core/queue/srq.h"

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

/*
 * One completion event. A queue that is being destroyed waits for the acknowledgement of its events: no pin can be had of
 * it any more, so it is acknowledged at once.
 */
static bool run_cq_event(struct nd_adapter *adapter)
{
    struct ibv_cq *ibv;
    struct nd_cq *cq;
    void *context;

    if (adapter->verbs->get_cq_event(adapter->channel, &ibv, &context))
        return false;
    cq = context;
    if (!nd_object_try_pin(&cq->object)) {
        adapter->verbs->ack_cq_events(ibv, 1);
        return true;
    }
    nd_cq_event(cq);
    nd_object_unpin(&cq->object);
    return true;
}

/* Whose object an event is about, pinned; NULL: on its way out, or not one that is told. */
static struct nd_object *find_object(const struct ibv_async_event *event)
{
    struct nd_object *object = NULL;

    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: object = event->element.cq->cq_context; break;
    case IBV_EVENT_SRQ_LIMIT_REACHED:
    case IBV_EVENT_SRQ_ERR: object = event->element.srq->srq_context; break;
    default: break;
    }
    return object && nd_object_try_pin(object) ? object : NULL;
}

static void handle_async(
    struct nd_adapter *adapter, enum ibv_event_type type, struct nd_object *object)
{
    log_write(LOG_DEBUG, LOG_DEVICE, "asynchronous event %d", type);
    if (type == IBV_EVENT_DEVICE_FATAL)
        nd_adapter_remove(adapter);
    if (!object)
        return;
    switch (type) {
    case IBV_EVENT_CQ_ERR: nd_cq_fail((struct nd_cq *)object, ND_BUFFER_OVERFLOW); break;
    case IBV_EVENT_SRQ_LIMIT_REACHED: nd_srq_event((struct nd_srq *)object); break;
    case IBV_EVENT_SRQ_ERR: nd_srq_fail((struct nd_srq *)object, ND_INTERNAL_ERROR); break;
    default: break;
    }
    nd_object_unpin(object);
}

/* Acknowledged before it is handled: what it leads to may be the end of its object, which waits for that. */
static void run_async(struct nd_adapter *adapter)
{
    struct ibv_async_event event;

    while (!adapter->verbs->get_async_event(adapter->port.context, &event)) {
        struct nd_object *object = find_object(&event);

        adapter->verbs->ack_async_event(&event);
        handle_async(adapter, event.event_type, object);
    }
}

static void run_all(struct nd_adapter *adapter)
{
    struct epoll_event ready[ND_READY_KINDS];
    int count = epoll_wait(adapter->epoll_fd, ready, ND_READY_KINDS, 0);

    for (int i = 0; i < count; i++) {
        switch (ready[i].data.u32) {
        case ND_READY_CQ:
            while (run_cq_event(adapter))
                ;
            break;
        case ND_READY_CM: nd_cm_dispatch(&adapter->cm); break;
        case ND_READY_ASYNC: run_async(adapter); break;
        }
    }
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
 * A leader is most often woken for one completion event: that is asked for first, and alone unless more are known of. Asking
 * for it moves the embedded device, too, and hands over what that brings without a detour over a descriptor. What else is
 * ready keeps the descriptor readable, so the next run finds it.
 */
static bool run_cq_events(struct nd_adapter *adapter)
{
    unsigned known = atomic_exchange_explicit(&adapter->events, 0, memory_order_relaxed);
    bool found = run_cq_event(adapter);

    while (found && known-- > 1 && run_cq_event(adapter))
        ;
    return found;
}

static void run(void *context, bool leading)
{
    struct nd_adapter *adapter = context;

    if (!nd_object_try_pin(&adapter->object))
        return;
    running++;
    if (!leading || !run_cq_events(adapter) || ++adapter->runs % LOOK_AT_ALL_EVERY == 0)
        run_all(adapter);
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

/* A queue that was not told yet, pinned, or NULL. What it is told may free other objects: no lock then. */
static struct nd_object *next_lost(struct nd_adapter *adapter, bool *is_cq)
{
    struct nd_object *object = NULL;

    lock_acquire(&adapter->lock);
    list_for_each (&adapter->cqs, node) {
        struct nd_cq *cq = list_entry(node, struct nd_cq, adapter_link);

        if (!object && !cq->lost && nd_object_try_pin(&cq->object)) {
            cq->lost = *is_cq = true;
            object = &cq->object;
        }
    }
    list_for_each (&adapter->srqs, node) {
        struct nd_srq *srq = list_entry(node, struct nd_srq, adapter_link);

        if (!object && !srq->lost && nd_object_try_pin(&srq->object)) {
            srq->lost = true;
            object = &srq->object;
        }
    }
    lock_release(&adapter->lock);
    return object;
}

void nd_adapter_remove(struct nd_adapter *adapter)
{
    struct nd_object *object;
    bool is_cq = false;

    if (atomic_exchange(&adapter->removed, true))
        return;
    log_write(LOG_ERROR, LOG_DEVICE, "%s is gone: everything on it fails", adapter->device->name);
    lock_acquire(&adapter->lock);
    list_for_each (&adapter->qps, node)
        nd_qp_remove(list_entry(node, struct nd_qp, adapter_link));
    lock_release(&adapter->lock);
    while ((object = next_lost(adapter, &is_cq))) {
        if (is_cq)
            nd_cq_fail((struct nd_cq *)object, ND_DEVICE_REMOVED);
        else
            nd_srq_fail((struct nd_srq *)object, ND_DEVICE_REMOVED);
        nd_object_unpin(object);
        is_cq = false;
    }
    nd_cm_removed(&adapter->cm);
}
