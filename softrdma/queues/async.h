/* SPDX-License-Identifier: MIT */
/* async.h - a context's asynchronous events, about its queue pairs, completion queues and shared receive queues. */
#ifndef SOFTRDMA_QUEUES_ASYNC_H
#define SOFTRDMA_QUEUES_ASYNC_H

#include "softrdma/softrdma.h"
#include "util/list.h"

#include <stdatomic.h>

/*
 * A record of an event. An object that has events contains a record, zero at first, so its first event needs no memory.
 */
struct srd_async {
    struct list_node node; /* place in the queue, then in async_unacked */
    struct ibv_async_event event;
    atomic_bool used; /* own records: the record is taken by an event */
    bool own;         /* the object contains the record; otherwise it was allocated */
};

/*
 * srd_async_raise - raises an asynchronous event on the context (any thread; LOCK_SRD_CHANNEL).
 * own  in: the record of the event's object; while an event has it that is not acknowledged, another one is allocated
 */
void srd_async_raise(
    struct ibv_context *context, const struct ibv_async_event *event, struct srd_async *own);

/* Drops the queued events of a queue pair, CQ or SRQ that is being destroyed, and waits for the unacknowledged ones. */
void srd_async_forget(struct ibv_context *context, const void *element);

#endif
