/* SPDX-License-Identifier: MIT */
/* async.h - asynchronous events of a context: of its queue pairs, completion queues and shared receive queues. */
#ifndef SOFTRDMA_QUEUES_ASYNC_H
#define SOFTRDMA_QUEUES_ASYNC_H

#include "softrdma/softrdma.h"
#include "util/list.h"

#include <stdatomic.h>

/* A record of an event. Each object that has events has one, zero at first, so that its first needs no memory. */
struct srd_async {
    struct list_node node; /* in the queue, then in async_unacked */
    struct ibv_async_event event;
    atomic_bool used; /* of an object's own: it stands for an event now */
    bool own;
};

/*
 * srd_async_raise - raises an asynchronous event on the context (any thread; LOCK_SRD_CHANNEL).
 * own  in: the record of the object that the event is of; another one is allocated while that waits to be acknowledged
 */
void srd_async_raise(
    struct ibv_context *context, const struct ibv_async_event *event, struct srd_async *own);

/* The object behind element (queue pair, CQ, SRQ) is going: drops its queued events, waits for the unacked ones. */
void srd_async_forget(struct ibv_context *context, const void *element);

#endif
