/* SPDX-License-Identifier: MIT */
/* qp.h - queue pairs. */
#ifndef NDK_QUEUE_QP_H
#define NDK_QUEUE_QP_H

#include "ndk/queue/queue.h"

#include "ndspi/core/queue/qp.h"

struct ndk_qp {
    struct ndk_object object; /* first */
    struct ndk_pd *pd;
    struct ndk_knower knower; /* its entry of pd->queues */
    struct nd_qp core;
};

#endif
