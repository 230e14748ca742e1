/* SPDX-License-Identifier: MIT */
/* cq.h - completion queues, and the callbacks of queues in general. */
#ifndef NDK_QUEUE_CQ_H
#define NDK_QUEUE_CQ_H

#include "ndk/queue/queue.h"

#include "ndspi/core/queue/cq.h"

/*
 * ndk_notice - has a worker call the consumer's callback when an arm ends: once for all arms that end while the call is
 * queued, and once more for those that end while it runs.
 */
struct ndk_notice {
    struct nd_call core; /* given to the core's arming function; the core ends it */
    struct ndk_call call;
    struct ndk_worker *worker;
    struct nd_object *pins; /* the queue, pinned while the callback is queued or runs */
    void (*tell)(struct ndk_notice *notice, NTSTATUS status);
    _Atomic uint32_t state;
    _Atomic int32_t status; /* the first failure, or STATUS_SUCCESS */
};

/* tell in: calls the consumer's function */
void ndk_notice_init(struct ndk_notice *notice, struct ndk_worker *worker, struct nd_object *pins,
    void (*tell)(struct ndk_notice *notice, NTSTATUS status));

struct ndk_cq {
    struct ndk_object object; /* first */
    struct ndk_adapter *adapter;
    NDK_FN_CQ_NOTIFICATION_CALLBACK notify;
    PVOID notify_context;
    struct ndk_notice notice;
    struct nd_cq core;
};

#endif
