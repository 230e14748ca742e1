/* SPDX-License-Identifier: MIT */
/*
 * deferred.h - work that the thread which triggers it must not do: it may block for long (rdma_destroy_id waits for
 * peers), or it waits for the callback that triggered it (an adapter destroyed in its own run).
 *
 * One thread for the process, made when first needed, asleep when idle, all signals blocked. Jobs run one after the
 * other in the order given.
 */
#ifndef NDSPI_CORE_DEFERRED_H
#define NDSPI_CORE_DEFERRED_H

#include "ndspi/core/exported.h"
#include "util/list.h"

#include <stdbool.h>

struct nd_deferred {
    struct list_node link;
    void (*run)(struct nd_deferred *job); /* may free the job; called without locks */
};

/*
 * nd_defer - gives a job to the thread for deferred work. Any thread, any locks held. Cannot fail: if no thread can be
 * started now (logged), the job waits until a later call starts one.
 */
void nd_defer(struct nd_deferred *job) __attribute__((visibility("default")));

/* Waits until every job given before this call has been run. Not from a job. */
void nd_deferred_drain(void);

#endif
