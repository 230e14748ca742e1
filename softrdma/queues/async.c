/* SPDX-License-Identifier: MIT */
/* async.c - asynchronous events of a context: queue pair, CQ and SRQ events. */
#include "softrdma/queues/cq.h"
#include "softrdma/context/context.h"
#include "util/futex.h"
#include "util/log.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>

/* Counts acknowledgements; srd_async_forget sleeps on it, so seldom that one word for the process is enough. */
static _Atomic uint32_t acks;

static const void *element(const struct ibv_async_event *event)
{
    /* Every member of the union is a pointer but the port number, and no event of a port is raised. */
    return event->element.cq;
}

static struct ibv_context *context_of(const struct ibv_async_event *event)
{
    switch (event->event_type) {
    case IBV_EVENT_CQ_ERR: return event->element.cq->context;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED: return event->element.srq->context;
    default: return event->element.qp->context;
    }
}

/* Returns the name of an event that softrdma raises. */
static const char *name_of(enum ibv_event_type type)
{
    switch (type) {
    case IBV_EVENT_CQ_ERR: return "IBV_EVENT_CQ_ERR";
    case IBV_EVENT_QP_FATAL: return "IBV_EVENT_QP_FATAL";
    case IBV_EVENT_QP_REQ_ERR: return "IBV_EVENT_QP_REQ_ERR";
    case IBV_EVENT_QP_ACCESS_ERR: return "IBV_EVENT_QP_ACCESS_ERR";
    case IBV_EVENT_QP_LAST_WQE_REACHED: return "IBV_EVENT_QP_LAST_WQE_REACHED";
    case IBV_EVENT_SRQ_LIMIT_REACHED: return "IBV_EVENT_SRQ_LIMIT_REACHED";
    default: return "of a queue pair";
    }
}

/* Returns the object's own record if it is free, otherwise an allocated one; NULL: no memory. */
static struct srd_async *take_record(struct srd_async *own)
{
    if (!atomic_exchange_explicit(&own->used, true, memory_order_acquire)) {
        own->own = true;
        return own;
    }
    return calloc(1, sizeof(*own));
}

static void give_record(struct srd_async *async)
{
    if (async && async->own)
        atomic_store_explicit(&async->used, false, memory_order_release);
    else
        free(async);
}

void srd_async_raise(
    struct ibv_context *context, const struct ibv_async_event *event, struct srd_async *own)
{
    struct srd_evq *q = &srd_context_from(context)->async;
    struct srd_async *async = take_record(own);

    if (!async) {
        log_limited(LOG_ERROR, LOG_SOFT, "no memory to report the asynchronous event %s",
            name_of(event->event_type));
        return;
    }
    async->event = *event;
    lock_acquire(&q->lock);
    srd_evq_push_locked(q, &async->node);
    lock_release(&q->lock);
}

static void take(struct srd_evq *q, struct list_node *node, void *arg)
{
    struct srd_context *context = container_of(q, struct srd_context, async);

    *(struct ibv_async_event *)arg = list_entry(node, struct srd_async, node)->event;
    list_add_tail(&context->async_unacked, node);
}

int srd_get_async_event(struct ibv_context *context, struct ibv_async_event *event)
{
    if (srd_stale(context)) {
        errno = EIO;
        return -1;
    }
    return srd_evq_get(&srd_context_from(context)->async, take, event);
}

static struct srd_async *find_locked(
    struct list_head *list, const void *wanted, const struct ibv_async_event *event)
{
    list_for_each (list, node) {
        struct srd_async *async = list_entry(node, struct srd_async, node);
        if (element(&async->event) == wanted &&
            (!event || async->event.event_type == event->event_type))
            return async;
    }
    return NULL;
}

void srd_ack_async_event(struct ibv_async_event *event)
{
    struct srd_context *context = srd_context_from(context_of(event));
    struct srd_async *async;

    lock_acquire(&context->async.lock);
    async = find_locked(&context->async_unacked, element(event), event);
    if (async)
        list_del(&async->node);
    lock_release(&context->async.lock);
    give_record(async);
    atomic_fetch_add_explicit(&acks, 1, memory_order_release);
    futex_wake(&acks, INT_MAX);
}

void srd_async_forget(struct ibv_context *ibv, const void *wanted)
{
    struct srd_context *context = srd_context_from(ibv);
    struct srd_async *async;
    uint32_t seen;
    bool unacked;

    if (srd_stale(ibv))
        return;
    do {
        lock_acquire(&context->async.lock);
        while ((async = find_locked(&context->async.queue, wanted, NULL)) != NULL) {
            list_del(&async->node);
            give_record(async);
        }
        srd_evq_announce_locked(&context->async);
        seen = atomic_load_explicit(&acks, memory_order_acquire);
        unacked = find_locked(&context->async_unacked, wanted, NULL);
        lock_release(&context->async.lock);
        if (unacked)
            futex_wait(&acks, seen, NULL);
    } while (unacked);
}
