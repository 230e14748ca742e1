/* SPDX-License-Identifier: MIT */
/*
 * forward.h - how the preload library gives a name of rdma-core to a function of softrdma. Signature, errors and
 * semantics are those of rdma-core's call (softrdma.h); the compiler compares the first with rdma-core's headers.
 */
#ifndef SOFTRDMA_PRELOAD_FORWARD_H
#define SOFTRDMA_PRELOAD_FORWARD_H

#include "softrdma/softrdma.h"

/* Exports a name; preload.map has its version. */
#define PRELOAD __attribute__((visibility("default")))

#define FORWARD(type, name, target, params, args)                                                  \
    PRELOAD type name params                                                                       \
    {                                                                                              \
        return target args;                                                                        \
    }

#define FORWARD_VOID(name, target, params, args)                                                   \
    PRELOAD void name params                                                                       \
    {                                                                                              \
        target args;                                                                               \
    }

#endif
