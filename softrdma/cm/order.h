/* SPDX-License-Identifier: MIT */
/*
 * order.h - connects that wait for a listener (NDSPI_SOFT_PATIENCE_MS), in the order of the program's calls.
 *
 * Of the connects with one destination only the first tries; when it is connected, or has failed, the next one does. So
 * the peer gets them in the order in which it would have got them had it listened in time: perftest gives its queue
 * pairs to requests in that order.
 *
 * LOCK_SRD_ORDER guards the list; it is taken under an id's lock. An id is in the list only between its connect and its
 * destruction.
 */
#ifndef SOFTRDMA_CM_ORDER_H
#define SOFTRDMA_CM_ORDER_H

#include <stdbool.h>

struct sockaddr;
struct srd_id;

/*
 * srd_order_call_locked   begins a call of connect. True: earlier ones wait for its destination, and the id has entered
 *                         the list behind them. waits: whether it may wait at all
 * srd_order_enter_locked  enters a refused id, unless it is in the list; its place is that of its call
 * srd_order_leave_locked  takes an id off that is connected, or fails, or is taken back; it need not be in the list
 */
bool srd_order_call_locked(struct srd_id *id, bool waits);
void srd_order_enter_locked(struct srd_id *id);
void srd_order_leave_locked(struct srd_id *id);

/* Whether the id is the first that waits for its destination. */
bool srd_order_is_first(struct srd_id *id);
/* Returns the first id that waits for a destination, with a reference; NULL: none. */
struct srd_id *srd_order_first(const struct sockaddr *dst);

#endif
