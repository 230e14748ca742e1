/* SPDX-License-Identifier: MIT */
/*
 * pending.h - the posted requests and the regions that each names, so that the checker can report a region that is
 * deregistered while one is pending. nd_queue_outstanding says which have ended; requests whose results were not
 * fetched count as ended, too. A lock for each queue keeps the requests here in the order of the queue.
 */
#ifndef NDSPI_CHECK_PENDING_H
#define NDSPI_CHECK_PENDING_H

#include "ndspi/check/memory.h"

/* The list of a request; v1 or v2 is NULL. */
struct nd_check_list {
    const ND2_SGE *v2;
    const ND_SGE *v1;
    size_t n;
    ULONG flags;
    enum nd_check_use use;
};

/* One entry of the list; index  in: less than n. */
struct nd_check_entry nd_check_list_entry(const struct nd_check_list *list, size_t index);
/* Returns whether the list names regions. If not, all of it is inline data. */
bool nd_check_list_names(const struct nd_check_list *list);

/*
 * nd_check_order - keeps other threads from posting to the receive or initiator queue until nd_check_taken. It precedes
 * a method that takes a place there.
 * nd_check_taken - records the request if the method has taken a place.
 * list  in: what the request names
 */
void nd_check_order(const struct nd_check_call *call, bool receives);
void nd_check_taken(const struct nd_check_call *call, HRESULT hr, const struct nd_check_list *list);

/* A pending request; call NULL: there is none. */
struct nd_check_pending {
    const char *call;
    const char *kind; /* the name of the object's kind */
    const void *object;
};

/*
 * nd_check_pending_on - the first request that names a region, has not ended, and is not silent: a silent one may have
 * ended.
 * object, name  in: the region, as in nd_check_deregistered
 * It asks the queues, without nd_check_lock.
 */
struct nd_check_pending nd_check_pending_on(const struct nd_checked *object, UINT64 name);

/* Makes the queues of a queue pair or endpoint. NULL: there is no memory, so its requests are not checked. */
struct nd_check_queue *nd_check_queues_make(void);
/* The first forgets the queues' requests at the object's last Release, the second frees the queues. */
void nd_check_queues_end_locked(struct nd_checked *checked);
void nd_check_queues_free(struct nd_checked *checked);
/* Initialises the queues' locks in the child of a fork, where no thread posts. */
void nd_check_queues_forked_locked(struct nd_checked *checked);

#endif
