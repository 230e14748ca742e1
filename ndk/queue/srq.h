/* SPDX-License-Identifier: MIT */
/* srq.h - shared receive queues. */
#ifndef NDK_QUEUE_SRQ_H
#define NDK_QUEUE_SRQ_H

#include "ndk/queue/cq.h"

#include "ndspi/core/queue/srq.h"

struct ndk_srq {
    struct ndk_object object; /* first */
    struct ndk_pd *pd;
    NDK_FN_SRQ_NOTIFICATION_CALLBACK notify; /* NULL: none is wanted */
    PVOID notify_context;
    struct ndk_notice notice;
    struct nd_srq core;
};

#endif
