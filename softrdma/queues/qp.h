/* SPDX-License-Identifier: MIT */
/*
 * qp.h - queue pair: both queues, the stream, and the state that verbs show.
 *
 * Its creator pins it until it is destroyed; so do its connection (conn.h), each thread that found it by its number,
 * and the list of queue pairs that wait for a shared receive. Dropping the last pin frees it.
 */
#ifndef SOFTRDMA_QUEUES_QP_H
#define SOFTRDMA_QUEUES_QP_H

#include "softrdma/context/context.h"
#include "softrdma/events/source.h"
#include "softrdma/queues/counts.h"
#include "softrdma/queues/rq.h"
#include "softrdma/softrdma.h"
#include "softrdma/queues/sq.h"
#include "softrdma/queues/stream_state.h"

struct srd_conn;

/* The requests that wr_* calls build (qp_ex.c), between wr_start and wr_complete; one thread uses them. */
struct srd_draft;
struct srd_drafts {
    uint8_t *memory;
    uint32_t stride_octets, room, count;
    struct srd_draft *current; /* the draft that setters change; NULL after an error */
    int error;
};

/*
 * Callbacks of a queue pair that its program may connect by number and address (cm/exchange.c). The caller holds no
 * lock of softrdma, except in free.
 */
struct srd_qp_exchange {
    const struct srd_qp_exchange_ops {
        /* Checks, and changes nothing: returns 0, or EINVAL if attr names no possible peer. */
        int (*check)(struct srd_qp *qp, const struct ibv_qp_attr *attr);
        /*
         * The program moved it to RTR or RTS; named: that call named the peer. Returns 0, or in RTR a positive errno.
         */
        int (*moved)(struct srd_qp *qp, bool named);
        /* A request may have been queued while there was no connection. */
        void (*posted)(struct srd_qp *qp);
        /* The queue pair was reset, or is being destroyed; it has no connection any more. */
        void (*forget)(struct srd_qp *qp, bool destroyed);
        void (*free)(struct srd_qp_exchange *exchange); /* the queue pair's memory is being freed */
    } * ops;
};

struct srd_qp {
    union {
        struct ibv_qp qp;    /* must be first; sq.lock guards state */
        struct ibv_qp_ex ex; /* its calls are set if the program asked for the extended ones */
    };
    uint8_t padding[512]; /* zero: some callers read beyond the public struct */

    /* has a reference, from srd_device_bind_conn to _unbind_conn; sq.lock guards it; users call srd_qp_conn */
    struct srd_conn *conn;
    struct lock rx_lock;          /* LOCK_SRD_RX: see stream.h */
    struct srd_counts rx_counts;  /* rx_lock guards them */
    struct lock tx_lock;          /* LOCK_SRD_TX */
    struct srd_counts tx_counts;  /* tx_lock guards them */
    _Atomic uint64_t retransmits; /* TCP's, on connections that were closed */
    atomic_uint pins;
    struct srd_async failed_event;
    atomic_bool mute; /* it is being destroyed or reset: requests end without completions */

    struct srd_sq sq;
    struct srd_rq *rq; /* own_rq, or the SRQ's */
    struct srd_rq own_rq;
    struct list_node waiting_node; /* place in rq->waiting */
    struct srd_stream stream;
    struct srd_drafts drafts;
    struct srd_qp_exchange *exchange; /* NULL: connected by ids alone */

    /* attributes of srd_modify_qp that the stream reads */
    _Atomic int remote_access; /* IBV_ACCESS_REMOTE_*: the most that the peer may do here */
    atomic_uchar rnr_retries;  /* 7: for ever */
    atomic_uchar rnr_timer;    /* min_rnr_timer */
    atomic_bool keep_posted;   /* srd_keep_posted was called */

    struct ibv_qp_init_attr init_attr;
    struct ibv_qp_attr attr; /* what srd_modify_qp set, for srd_query_qp alone; sq.lock guards it */
};

static inline struct srd_qp *srd_qp_from(struct ibv_qp *qp)
{
    return (struct srd_qp *)qp;
}

static inline void srd_qp_pin(struct srd_qp *qp)
{
    atomic_fetch_add_explicit(&qp->pins, 1, memory_order_relaxed);
}

/* Makes a queue pair that is in no table yet and has the caller's pin. NULL: there is no memory. */
struct srd_qp *srd_qp_alloc(struct ibv_pd *pd, const struct ibv_qp_init_attr *attr);
void srd_qp_unpin(struct srd_qp *qp);

/*
 * Whether sends are accepted: in RTS, or SQD; sq.lock is held. The error state is srd_sq.flushing. With an exchange
 * also in RTR: perftest's ib_send_bw leaves the end there that gives credits, which it does on iWARP devices alone.
 */
static inline bool srd_qp_may_send(const struct srd_qp *qp)
{
    return qp->qp.state == IBV_QPS_RTS || qp->qp.state == IBV_QPS_SQD ||
           (qp->qp.state == IBV_QPS_RTR && qp->exchange);
}

/* Entries of context->ops. */
int srd_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr);
struct ibv_qp *srd_create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr);

/* ibv_bind_mw(3), which binds type 1 windows. */
int srd_bind_mw(struct ibv_qp *qp, struct ibv_mw *mw, struct ibv_mw_bind *bind);
/* Posts as srd_post_send does, but either the whole list or, with an error, nothing. */
int srd_post_all(struct ibv_qp *qp, struct ibv_send_wr *wr);

/*
 * srd_device_add_qp - gives a queue pair its 24-bit number. Returns 0 or ENOMEM (also when the table is full).
 * srd_device_remove_qp - takes the number back: srd_device_find_qp does not find the queue pair any more.
 * srd_device_find_qp - returns the queue pair with a number, pinned (srd_qp_pin); NULL when there is none.
 */
int srd_device_add_qp(struct ibv_context *context, struct srd_qp *qp, uint32_t *qp_num);
void srd_device_remove_qp(struct ibv_context *context, uint32_t qp_num);
struct srd_qp *srd_device_find_qp(struct srd_device *device, uint32_t qp_num);

/*
 * srd_device_add_port    has queue pairs of the device take numbers that name the port
 * srd_device_join_port   gives a queue pair, which no other thread knows yet, such a number in place of its own.
 *                        Returns its port; NULL: none has a number left.
 * srd_device_leave_port  ends the use of a port by a removed queue pair. Returns whether that was the last one: then
 *                        the port is the caller's
 */
void srd_device_add_port(struct srd_device *device, struct srd_qp_port *port);
struct srd_qp_port *srd_device_join_port(struct srd_qp *qp);
bool srd_device_leave_port(struct srd_device *device, struct srd_qp_port *port);

/*
 * srd_device_bind_conn - makes conn the connection of a queue pair that was found: qp->conn has a reference now. The
 * caller sets conn->qp before. Returns 0, EINVAL (the queue pair was destroyed since), EISCONN.
 * srd_device_unbind_conn - takes the connection off; its reference is the caller's. NULL: there was none.
 */
int srd_device_bind_conn(struct srd_device *device, struct srd_qp *qp, struct srd_conn *conn);
struct srd_conn *srd_device_unbind_conn(struct srd_qp *qp);

/*
 * srd_qp_conn - returns the queue pair's connection, with a reference for the caller (srd_conn_unref, no lock held);
 * NULL: there is none. The caller needs its own reference: another thread may take the connection off meanwhile.
 */
struct srd_conn *srd_qp_conn(struct srd_qp *qp);

static inline struct srd_conn *srd_qp_conn_locked(struct srd_qp *qp)
{
    lock_assert_held(&qp->sq.lock);
    if (qp->conn)
        srd_source_ref((struct srd_source *)qp->conn); /* its first member (conn.h) has the count */
    return qp->conn;
}

/* The connection on which a thread that has posted sends; conn NULL: there is none. */
struct srd_way {
    struct srd_conn *conn;
    /* the thread has the send side's lock, and so needs no reference, since srd_conn_detach takes that lock, too */
    bool entered;
};

static inline struct srd_way srd_qp_way_locked(struct srd_qp *qp)
{
    struct srd_way way = { qp->conn, qp->conn && lock_try(&qp->tx_lock) };

    if (!way.entered)
        srd_qp_conn_locked(qp);
    return way;
}

#endif
