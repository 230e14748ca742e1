/* SPDX-License-Identifier: MIT */
/*
 * exchange.h - queue pairs that programs connect by number and address, which they exchange out of band.
 *
 * The number of such a queue pair says where peers reach it: the upper 16 bits are a TCP port of this process, and the
 * GID is the address. The connection manager connects two of them as it connects others, with ids that the program does
 * not see:
 *
 *   IDLE --RTR--> ASKING --refused--> WAITING --the peer's Request--> JOINED --end--> LOST
 *                    +------accepted---------------------------------->
 *
 * Each end asks the other when its program moves it to RTR. The first end is refused, since the other is not ready, and
 * waits for the other's attempt, which then succeeds. When both have asked, the Request of the end with the smaller
 * address and number wins: the other end yields, and the winner keeps the other's Request until its own is answered. So
 * no end retries, and only the program's requests wait for a timer.
 *
 * As on InfiniBand an absent peer causes no flush, and receives stay posted. Requests that have waited too long for the
 * peer fail with IBV_WC_RETRY_EXC_ERR, before a connection and after its end alike.
 *
 * The private data of Requests and Replies has both numbers, and the sequence number that the sender expects (rq_psn).
 * An end accepts a Request only from the named peer's address to its own named address, with both numbers right, and
 * from RTS on with its own sequence number.
 */
#ifndef SOFTRDMA_CM_EXCHANGE_H
#define SOFTRDMA_CM_EXCHANGE_H

#include "softrdma/cm/id.h"
#include "softrdma/queues/qp.h"

struct srd_exchange_port {
    struct srd_qp_port base; /* must be first */
    struct rdma_cm_id *id;   /* is bound; listens from the first move to RTR on */
};

/* exchange_port.c */

/*
 * srd_exchange_join    gives the queue pair, which no other thread knows yet, a number that names a port: one that the
 *                      device has, or a new one. Returns 0 or a positive errno.
 * srd_exchange_leave   ends the use of a port by a removed queue pair; the last one frees the port. No lock held.
 * srd_exchange_listen  listens for peers at the port. Returns 0 or a positive errno.
 */
int srd_exchange_join(struct srd_qp *qp, struct srd_exchange_port **port);
void srd_exchange_leave(struct srd_device *device, struct srd_exchange_port *port);
int srd_exchange_listen(struct srd_exchange_port *port);

/* Returns the channel of the ids' events, which srd_exchange_join makes. */
struct rdma_event_channel *srd_exchange_channel(void);

/* exchange.c: acts on an event of that channel, and acknowledges it. The reactor calls it, for one event at a time. */
void srd_exchange_event(struct rdma_cm_event *event);

#endif
