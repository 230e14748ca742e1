/* SPDX-License-Identifier: MIT */
/*
 * pending.h - the posted requests and the regions that each names, so that the checker can report a region that is
 * taken back under one. The queue itself tells which have ended (nd_queue_outstanding); results that were not fetched
 * count as ended, too. A lock for each queue keeps the requests here in the order of the queue.
 */
#ifndef NDSPI_CHECK_PENDING_H
#define NDSPI_CHECK_PENDING_H

#include "ndspi/check/memory.h"

/* A list of version 2, or of version 1. */
struct nd_check_list {
    const ND2_SGE *v2;
    const ND_SGE *v1;
    size_t n;
    ULONG flags;
    enum nd_check_use use;
};

/* An entry of it; index in: less than n. */
struct nd_check_entry nd_check_list_entry(const struct nd_check_list *list, size_t index);
/* Whether it names regions, or is inline as a whole. */
bool nd_check_list_names(const struct nd_check_list *list);

/*
 * nd_check_order - before a method that takes a place in a receive or initiator queue: until nd_check_taken no other
 * thread posts there.
 * nd_check_taken - after it.
 * list  in: what it names
 */
void nd_check_order(const struct nd_check_call *call, bool receives);
void nd_check_taken(const struct nd_check_call *call, HRESULT hr, const struct nd_check_list *list);

/* A request that is pending; call NULL: none. */
struct nd_check_pending {
    const char *call;
    const char *kind; /* of the object */
    const void *object;
};

/*
 * nd_check_pending_on - the first request that names a region, has not ended, and is not silent: a silent one may have
 * ended.
 * object, name  in: as of nd_check_deregistered
 * It asks the queues, without nd_check_lock.
 */
struct nd_check_pending nd_check_pending_on(const struct nd_checked *object, UINT64 name);

/* Makes the queues of a queue pair or endpoint. NULL: there is no memory, so its requests are not checked. */
struct nd_check_queue *nd_check_queues_make(void);
/* Its last Release, and the end of its memory. */
void nd_check_queues_end_locked(struct nd_checked *checked);
void nd_check_queues_free(struct nd_checked *checked);
/* In the child of a fork: no thread posts there. */
void nd_check_queues_forked_locked(struct nd_checked *checked);

#endif
