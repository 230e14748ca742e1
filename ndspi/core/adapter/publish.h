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
    struct list_node link; /* the list of publish.c; its lock */
    unsigned process;      /* changes with each fork: the list is that process's */
    uint32_t serial;       /* counts the adapters that this process has opened; never reused */
};

/*
 * The first follows the opening of an adapter, the second precedes its closing: after it no thread reads the adapter
 * any more. No lock held.
 */
void nd_publish(struct nd_adapter *adapter);
void nd_unpublish(struct nd_adapter *adapter);

#endif
