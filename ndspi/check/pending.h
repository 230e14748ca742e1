/* SPDX-License-Identifier: MIT */
/*
 * pending.h - the requests that are posted, and which regions each names, so that a region that is taken back under one
 * can be told of. What has ended the queue itself says (nd_queue_outstanding): results that were not fetched count as
 * ended, too. A lock for each queue gives requests here the order that they have there.
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
 * nd_check_order - before a method that takes a place of a queue, of receives or of an initiator: until nd_check_taken
 * no other thread posts there.
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
 * nd_check_pending_on - the first request that names a region, has not ended, and does not succeed silently: such a one
 * may have.
 * object, name  in: as of nd_check_deregistered
 * It asks the queues, without nd_check_lock.
 */
struct nd_check_pending nd_check_pending_on(const struct nd_checked *object, UINT64 name);

/* Of a queue pair or endpoint; NULL: no memory, and nothing of it is found. */
struct nd_check_queue *nd_check_queues_make(void);
/* Its last Release, and the end of its memory. */
void nd_check_queues_end_locked(struct nd_checked *checked);
void nd_check_queues_free(struct nd_checked *checked);
/* In the child of a fork: no thread posts there. */
void nd_check_queues_forked_locked(struct nd_checked *checked);

#endif
