/* SPDX-License-Identifier: MIT */
/*
 * order.h - connects that wait for a listener (NDSPI_SOFT_PATIENCE_MS), in the order of the program's calls.
 *
 * Only the first of those with one destination tries; when it is connected, or has failed, the next one does. So the
 * peer gets them in the order in which it would have got them had it listened in time: perftest gives its queue pairs
 * to requests in that order.
 *
 * Lock: LOCK_SRD_ORDER, below that of an id. An id is entered only between its connect and its destruction.
 */
#ifndef SOFTRDMA_CM_ORDER_H
#define SOFTRDMA_CM_ORDER_H

#include <stdbool.h>

struct sockaddr;
struct srd_id;

/*
 * srd_order_call_locked   a call of connect begins. True: earlier ones wait for its destination; it is entered behind
 *                         them. waits: whether it may wait at all.
 * srd_order_enter_locked  it was refused, and waits from now on, if it does not yet; its place is that of its call.
 * srd_order_leave_locked  it is connected, or fails, or is taken back; nothing if it does not wait.
 */
bool srd_order_call_locked(struct srd_id *id, bool waits);
void srd_order_enter_locked(struct srd_id *id);
void srd_order_leave_locked(struct srd_id *id);

/* Whether no earlier one waits for its destination. */
bool srd_order_is_first(struct srd_id *id);
/* The first that waits for a destination, with a reference; NULL: none. */
struct srd_id *srd_order_first(const struct sockaddr *dst);

#endif
