/* SPDX-License-Identifier: MIT */
/*
 * publish.h - shows what this process counts to the user's other processes (core/board.h): from the first adapter's
 * opening until the process ends. NDSPI_COUNTERS=0: not at all. A failure is logged once and harms nothing. A forked
 * child shows its own adapters alone, under a name of its own.
 */
#ifndef NDSPI_CORE_ADAPTER_PUBLISH_H
#define NDSPI_CORE_ADAPTER_PUBLISH_H

#include "util/list.h"

#include <stdint.h>

struct nd_adapter;

/* Embedded in an adapter. */
struct nd_published {
    struct list_node link; /* of the list of publish.c; under its lock */
    unsigned process;      /* whose list: a number that changes with each fork */
    uint32_t serial; /* of this board's adapters in their order; none gets one that another had */
};

/* The adapter is open; it is being closed: after nd_unpublish no thread reads it any more. No lock held. */
void nd_publish(struct nd_adapter *adapter);
void nd_unpublish(struct nd_adapter *adapter);

#endif
